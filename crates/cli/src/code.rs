//! MFA codes for roles, which the user reads from a device and types.
use ncirrus::store::MfaCodes;
use ncirrus::{Error, ErrorKind, Result};
use std::io::{BufRead, IsTerminal, Write};

/// Codes that are read from the terminal.
pub(crate) fn codes() -> MfaCodes {
    MfaCodes::by(ask)
}

fn ask(device: &str) -> Result<String> {
    if !std::io::stdin().is_terminal() {
        return Err(Error::invalid("it cannot be entered: standard input is not a terminal"));
    }
    let failed = |error: std::io::Error| Error::new(ErrorKind::Io { retryable: false }, error.to_string());
    let mut err = std::io::stderr().lock();
    write!(err, "code of {}: ", device.escape_default()).and_then(|()| err.flush()).map_err(failed)?;
    let mut code = String::new();
    std::io::stdin().lock().read_line(&mut code).map_err(failed)?;
    Ok(code)
}

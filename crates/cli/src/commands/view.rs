//! `ncirrus view`: pages in the browser.
use crate::CommandStatus;
use clap::Args as ClapArgs;
use ncirrus::store::{Scheme, Url};
use ncirrus::{Result, Session};
use ncirrus_serve::pages::{CoastlinePoints, LocalViewer, PageOptions, Secret};
use std::io::{self, Write};
use std::process::{Command, Stdio};
use tempfile::NamedTempFile;

/// Show datasets in the browser: definitions, storage, maps, series.
///
/// A server on this machine is started, and its first page is opened. The address contains a secret, so that other users
/// of the machine and other pages in the browser cannot read the data. The command runs until it is interrupted (Ctrl-C).
#[derive(ClapArgs)]
#[command(before_long_help = "Examples:
  ncirrus view sst.nc                      a dataset
  ncirrus view data/                       the datasets in a folder
  ncirrus view s3://bucket/2024            the datasets below a prefix
  ncirrus view --no-browser --port 8090 .  the current folder, for a browser on another machine")]
pub(crate) struct Args {
    /// Path or URL of a dataset, folder, prefix or bucket.
    #[arg(default_value = ".")]
    url: String,
    /// Print the address, and do not open it.
    #[arg(long)]
    no_browser: bool,
    /// Port on which pages are served [default: a free one].
    #[arg(long, value_name = "PORT", default_value_t = 0, hide_default_value = true)]
    port: u16,
}

pub(crate) fn run(args: &Args, session: &Session) -> Result<CommandStatus> {
    let options =
        PageOptions { hint: Some(crate::hint::hint), coastlines: COASTLINES, ..PageOptions::default() };
    let viewer = LocalViewer::new(&absolute(&args.url), options, session, &Secret::new()?)?;
    // Removed at the end: it has the secret.
    let mut page = None;
    viewer.run_until_interrupted(args.port, |address| {
        // A closed standard output does not matter as long as the browser shows the page.
        _ = writeln!(io::stdout(), "{address}");
        if !args.no_browser {
            page = show(address);
        }
        crate::message::print("the pages are served until this command is interrupted (Ctrl-C)");
    })?;
    drop(page);
    Ok(CommandStatus::SUCCESS)
}

/// The coastlines of pages, also of those that a server shows.
#[cfg(feature = "plot")]
pub(super) const COASTLINES: Option<fn(bool) -> CoastlinePoints> = Some(coastlines);
#[cfg(not(feature = "plot"))]
pub(super) const COASTLINES: Option<fn(bool) -> CoastlinePoints> = None;

/// The coastlines that pictures have, too; none if they cannot be decoded, which a test of their crate excludes.
#[cfg(feature = "plot")]
fn coastlines(is_fine: bool) -> CoastlinePoints {
    use ncirrus_plot::{CoastlineDetail, Coastlines};
    let detail = if is_fine { CoastlineDetail::Fine } else { CoastlineDetail::Coarse };
    Coastlines::of(detail).map_or_else(|_| Vec::new(), |coastlines| coastlines.lines)
}

/// A local path with all folders, as code that opens the dataset needs it.
fn absolute(given: &str) -> String {
    let is_path = !given.contains("://") && Url::parse(given).is_ok_and(|url| url.scheme() == Scheme::File);
    let path = std::path::absolute(given).ok().filter(|_| is_path);
    path.and_then(|path| path.into_os_string().into_string().ok()).unwrap_or_else(|| given.to_owned())
}

/// Opens the address in the user's browser. The browser receives a file that leads to the address, and that only the user can
/// read: other users see the arguments of programs.
fn show(address: &str) -> Option<NamedTempFile> {
    let opened = leading_page(address).and_then(|page| {
        let mut command = opener(&page.path().to_string_lossy())?;
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut started = command.spawn()?;
        // The opener ends soon; a process that ended is kept until it was waited for.
        std::thread::spawn(move || _ = started.wait());
        Ok(page)
    });
    match opened {
        Ok(page) => Some(page),
        Err(error) => {
            crate::message::print(format_args!(
                "no browser was started: {error}; hint: open the address above"
            ));
            None
        }
    }
}

fn leading_page(address: &str) -> io::Result<NamedTempFile> {
    let mut page = tempfile::Builder::new().prefix("ncirrus-view-").suffix(".html").tempfile()?;
    // The address has no letters with a meaning in HTML.
    write!(
        page,
        "<!doctype html><meta charset=\"utf-8\"><meta http-equiv=\"refresh\" content=\"0; url={address}\">\
         <title>ncirrus</title><a href=\"{address}\">ncirrus</a>"
    )?;
    page.flush()?;
    Ok(page)
}

/// The program that opens a file with the user's browser.
fn opener(path: &str) -> io::Result<Command> {
    let program = if cfg!(target_os = "macos") {
        "open"
    } else if cfg!(windows) {
        "explorer"
    } else if ["DISPLAY", "WAYLAND_DISPLAY"].iter().all(|name| std::env::var_os(name).is_none()) {
        return Err(io::Error::other("there is no display"));
    } else {
        "xdg-open"
    };
    let mut command = Command::new(program);
    command.arg(path);
    Ok(command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn only_the_user_can_read_the_page_that_leads_to_the_secret() {
        use std::os::unix::fs::PermissionsExt;
        let page = leading_page("http://127.0.0.1:1/secret/view/").unwrap();
        let mode = page.as_file().metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0);
        let text = std::fs::read_to_string(page.path()).unwrap();
        assert!(text.contains("url=http://127.0.0.1:1/secret/view/"));
    }

    #[test]
    fn addresses_stay_and_paths_become_absolute() {
        assert_eq!(absolute("s3://bucket/a"), "s3://bucket/a");
        assert!(std::path::Path::new(&absolute("a.nc")).is_absolute());
    }
}

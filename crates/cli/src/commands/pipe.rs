//! Standard input as a dataset, and standard output as the target of a file: both through a temporary file, so that
//! memory stays bounded.
use ncirrus::{Error, ErrorKind, Result};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::{SystemTime, UNIX_EPOCH};

/// Folders that are removed when the command ends.
static FOLDERS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Whether a name means standard input or output.
pub(crate) fn is_pipe(name: &str) -> bool {
    name == "-"
}

/// Whether a source has to be read once from beginning to end.
fn is_stream(name: &str) -> bool {
    is_pipe(name) || ["/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"].contains(&name) || is_fifo(name)
}

#[cfg(unix)]
fn is_fifo(name: &str) -> bool {
    use std::os::unix::fs::FileTypeExt;
    fs::metadata(name).is_ok_and(|metadata| metadata.file_type().is_fifo())
}

#[cfg(not(unix))]
fn is_fifo(_: &str) -> bool {
    false
}

/// The address of a source; piped input is first saved completely to a temporary file.
///
/// # Errors
/// `Io` if it cannot be read or saved.
pub(crate) fn source(name: &str) -> Result<String> {
    if !is_stream(name) {
        return Ok(name.to_owned());
    }
    let mut input: Box<dyn Read> = if is_pipe(name) {
        Box::new(io::stdin().lock())
    } else {
        Box::new(File::open(name).map_err(|error| failed(name, &error))?)
    };
    let path = place("stdin")?;
    let kept = create(&path).and_then(|mut file| io::copy(&mut input, &mut file));
    let bytes = kept.map_err(|error| failed(name, &error))?;
    if bytes == 0 {
        return Err(Error::malformed("the pipe was empty").at_object(name));
    }
    Ok(path.display().to_string())
}

/// A temporary file that is sent to standard output when it is complete.
pub(crate) struct Outlet(PathBuf);

impl Outlet {
    /// The path of a file with that extension.
    ///
    /// # Errors
    /// `Io` if no temporary folder can be created.
    pub(crate) fn new(ending: &str) -> Result<Self> {
        Ok(Self(place(&format!("stdout.{ending}"))?))
    }

    /// Its address.
    pub(crate) fn address(&self) -> String {
        self.0.display().to_string()
    }

    /// Sends the file.
    ///
    /// # Errors
    /// Errors of reading the file; a closed pipe is not an error.
    pub(crate) fn send(&self) -> Result<()> {
        let send = || -> io::Result<()> {
            let mut out = io::stdout().lock();
            io::copy(&mut File::open(&self.0)?, &mut out)?;
            out.flush()
        };
        super::finish(send()).map(|_| ())
    }
}

/// Removes the temporary files of pipes.
pub(crate) fn clear() {
    let folders = std::mem::take(&mut *FOLDERS.lock().unwrap_or_else(PoisonError::into_inner));
    folders.iter().for_each(|folder| _ = fs::remove_dir_all(folder));
}

/// A file in a temporary folder of its own, accessible by its owner only.
fn place(name: &str) -> Result<PathBuf> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
    let folder = std::env::temp_dir().join(format!("ncirrus-pipe-{}-{since}", std::process::id()));
    make_private(&folder).map_err(|error| failed(&folder.display().to_string(), &error))?;
    FOLDERS.lock().unwrap_or_else(PoisonError::into_inner).push(folder.clone());
    Ok(folder.join(name))
}

#[cfg(unix)]
fn make_private(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new().mode(0o700).create(folder)
}

#[cfg(not(unix))]
fn make_private(folder: &Path) -> io::Result<()> {
    fs::create_dir(folder)
}

fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).open(path)
}

fn failed(name: &str, error: &io::Error) -> Error {
    Error::new(ErrorKind::Io { retryable: false }, error.to_string()).at_object(name)
}

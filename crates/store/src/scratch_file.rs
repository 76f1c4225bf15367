//! Temporary bytes that do not fit in memory.
use crate::{fault, platform};
use ncirrus_layout::{Error, ErrorKind, Result};
use std::fmt;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// A file without a name: its space is freed when this is dropped or the process has ended, for whatever reason. Any
/// number of threads may read and write different parts of it at once.
pub struct ScratchFile {
    file: File,
    folder: PathBuf,
}

impl ScratchFile {
    /// An empty file in a folder, which is created if need be.
    ///
    /// # Errors
    /// `Denied` or `Io` if no file can be created there.
    pub fn create(folder: &Path) -> Result<Self> {
        let failed = |error| described(error, folder, "cannot be made");
        std::fs::create_dir_all(folder).map_err(failed)?;
        let file = platform::create_nameless(folder).map_err(failed)?;
        Ok(Self { file, folder: folder.to_owned() })
    }

    /// The default folder for such files: on Unix not in memory, as `/tmp` may be.
    pub fn usual_folder() -> PathBuf {
        let large = Path::new("/var/tmp");
        if cfg!(unix) && std::env::var_os("TMPDIR").is_none() && platform::check_writable(large).is_ok() {
            return large.to_owned();
        }
        std::env::temp_dir()
    }

    /// Free space in a folder, or where it will be created; `None` if unknown.
    pub fn room(folder: &Path) -> Option<u64> {
        folder.ancestors().find(|folder| folder.is_dir()).and_then(platform::room)
    }

    /// Writes all bytes at an offset.
    ///
    /// # Errors
    /// `Io` if there is no space.
    pub fn write_at(&self, offset: u64, body: &[u8]) -> Result<()> {
        platform::write_at(&self.file, body, offset)
            .map_err(|error| described(error, &self.folder, "cannot be written"))
    }

    /// Fills a buffer from an offset on.
    ///
    /// # Errors
    /// `Io`; `Internal` if part of the range was never written.
    pub fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<()> {
        let read = platform::read_at(&self.file, buffer, offset);
        let read = read.map_err(|error| described(error, &self.folder, "cannot be read"))?;
        if read < buffer.len() {
            return Err(Error::internal("the scratch file is shorter than what was written to it"));
        }
        Ok(())
    }
}

fn described(error: io::Error, folder: &Path, what: &str) -> Error {
    let kind = match error.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => ErrorKind::Denied,
        _ => ErrorKind::Io { retryable: false },
    };
    let why = fault::of_io(error, folder.display());
    let message = format!(
        "the scratch file, in the folder of the setting scratch, {what}: {}; another folder or more memory would help",
        why.message()
    );
    Error::new(kind, message).at_object(folder.display()).because(why)
}

impl fmt::Debug for ScratchFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ScratchFile(in {})", self.folder.display())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_the_folder_stays_empty() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("made");
        let file = ScratchFile::create(&inner).unwrap();
        file.write_at(5000, b"later").unwrap();
        file.write_at(0, b"first").unwrap();
        let mut read = [0; 5];
        file.read_at(5000, &mut read).unwrap();
        assert_eq!(&read, b"later");
        assert!(file.read_at(5001, &mut read).is_err());
        if cfg!(unix) {
            assert_eq!(std::fs::read_dir(&inner).unwrap().count(), 0);
        }
    }

    #[test]
    fn room_is_that_of_the_folder_that_will_hold_it() {
        let folder = tempfile::tempdir().unwrap();
        if cfg!(unix) {
            assert!(ScratchFile::room(&folder.path().join("not/there")).unwrap() > 0);
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_full_disk_is_reported_with_what_helps() {
        let file = File::options().write(true).open("/dev/full").unwrap();
        let file = ScratchFile { file, folder: "/scratch".into() };
        let error = file.write_at(0, b"x").unwrap_err().to_string();
        assert!(error.contains("setting scratch") && error.contains("no space"), "{error}");
        assert!(error.contains("/scratch"), "{error}");
    }
}

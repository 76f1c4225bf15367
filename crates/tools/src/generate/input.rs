//! Where texts come from: files, and pipes that are kept until they have been read twice.
use ncirrus::{Error, ErrorKind, Result, Session};
use ncirrus_cdl::parse::CdlText;
use ncirrus_layout::LockExt;
use ncirrus_store::ScratchFile;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Mutex;

/// A text that can be read at any offset.
pub struct TextInput(InputState);

enum InputState {
    File(Mutex<File>),
    Memory(Vec<u8>),
    Scratch { file: ScratchFile, len: u64 },
}

/// Bytes that are read from a pipe at once.
const PIECE_LEN: usize = 1 << 20;

impl TextInput {
    /// A local file; a pipe with a name is read as [`from_reader`](Self::from_reader) does it.
    ///
    /// # Errors
    /// `NotFound`, `Denied` or `Io`.
    pub fn open(path: &Path, session: &Session) -> Result<Self> {
        let failed = |error: io::Error| described(&error).at_object(path.display());
        let file = File::open(path).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        if metadata.is_dir() {
            return Err(Error::invalid("a folder is not a CDL text").at_object(path.display()));
        }
        if !metadata.is_file() {
            return Self::from_reader(file, session).map_err(|error| error.at_object(path.display()));
        }
        Ok(Self(InputState::File(Mutex::new(file))))
    }

    /// All that a reader gives: in memory up to a quarter of the session's, and beyond that in a file without a name in the
    /// session's scratch folder.
    ///
    /// # Errors
    /// `Io` if it cannot be read or kept.
    pub fn from_reader(mut reader: impl Read, session: &Session) -> Result<Self> {
        let mut kept = Vec::new();
        let max = (session.memory() / 4).max(PIECE_LEN);
        (&mut reader).take(max as u64 + 1).read_to_end(&mut kept).map_err(|error| described(&error))?;
        if kept.len() <= max {
            return Ok(Self(InputState::Memory(kept)));
        }
        let file = ScratchFile::create(&session.store_context().options.scratch_folder())?;
        file.write_at(0, &kept)?;
        let mut len = kept.len() as u64;
        kept.truncate(PIECE_LEN);
        kept.shrink_to_fit();
        loop {
            match reader.read(&mut kept) {
                Ok(0) => return Ok(Self(InputState::Scratch { file, len })),
                Ok(read) => {
                    file.write_at(len, kept.get(..read).unwrap_or_default())?;
                    len += read as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(described(&error)),
            }
        }
    }

    /// Whether the text waits in a scratch file.
    pub fn is_in_scratch(&self) -> bool {
        matches!(self.0, InputState::Scratch { .. })
    }
}

impl CdlText for TextInput {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        match &self.0 {
            InputState::Memory(bytes) => bytes.as_slice().read_at(offset, buffer),
            InputState::File(file) => {
                let mut file = file.guard();
                file.seek(SeekFrom::Start(offset))?;
                file.read(buffer)
            }
            InputState::Scratch { file, len } => {
                let left = usize::try_from(len.saturating_sub(offset)).unwrap_or(usize::MAX);
                let len = left.min(buffer.len());
                let part = buffer.get_mut(..len).unwrap_or_default();
                file.read_at(offset, part).map_err(io::Error::other)?;
                Ok(len)
            }
        }
    }
}

fn described(error: &io::Error) -> Error {
    let kind = match error.kind() {
        io::ErrorKind::NotFound => ErrorKind::NotFound,
        io::ErrorKind::PermissionDenied => ErrorKind::Denied,
        _ => ErrorKind::Io { retryable: false },
    };
    Error::new(kind, format!("the text cannot be read: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pipe_that_is_longer_than_the_memory_waits_in_a_scratch_file() {
        let folder = tempfile::tempdir().unwrap();
        let session = Session::builder().memory(4 << 20).scratch_folder(folder.path()).build().unwrap();
        let bytes: Vec<u8> = (0..5_000_000u32).map(|at| at.to_le_bytes()[at as usize % 3]).collect();
        for (len, in_scratch) in [(1 << 20, false), ((1 << 20) + 1, true), (bytes.len(), true)] {
            let text = TextInput::from_reader(&bytes[..len], &session).unwrap();
            assert_eq!(text.is_in_scratch(), in_scratch, "{len}");
            let mut part = [0; 1000];
            let offset = len - 999;
            assert_eq!(text.read_at(offset as u64, &mut part).unwrap(), 999);
            assert_eq!(part[..999], bytes[offset..len]);
            assert_eq!(text.read_at(len as u64 + 5, &mut part).unwrap(), 0);
        }
    }
}

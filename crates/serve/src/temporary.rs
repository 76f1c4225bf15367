//! The file that a response is written to before it is sent, which ends with it.
use crate::HttpError;
use crate::response::Pieces;
use bytes::Bytes;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;
use tempfile::TempDir;

/// Bytes of a piece.
const PIECE: u64 = 512 << 10;

/// A file in a folder of its own.
pub(crate) struct TemporaryFile {
    folder: TempDir,
    target: String,
    len: u64,
}

impl TemporaryFile {
    /// A file of that name below a folder, which is made if it is missing.
    pub(crate) fn new(folder: &Path, name: &str) -> Result<Self, HttpError> {
        std::fs::create_dir_all(folder).map_err(failed)?;
        let folder = tempfile::Builder::new().prefix("ncirrus-serve-").tempdir_in(folder).map_err(failed)?;
        let target = folder.path().join(name).to_string_lossy().into_owned();
        Ok(Self { folder, target, len: 0 })
    }

    /// Where it is written.
    pub(crate) fn target(&self) -> &str {
        &self.target
    }

    /// The file after it was written.
    pub(crate) fn complete(mut self) -> Result<Self, HttpError> {
        self.len = std::fs::metadata(&self.target).map_err(failed)?.len();
        Ok(self)
    }

    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// The bytes of a range, in pieces. The file is removed at their end.
    pub(crate) fn part(self, range: Range<u64>) -> Result<impl Pieces, HttpError> {
        let mut file = File::open(&self.target).map_err(failed)?;
        file.seek(SeekFrom::Start(range.start)).map_err(failed)?;
        let (folder, mut left) = (self.folder, range.end - range.start);
        Ok(move || {
            let _kept = &folder;
            let len = usize::try_from(left.min(PIECE)).unwrap_or(0);
            let mut bytes = vec![0; len];
            file.read_exact(&mut bytes).map_err(failed)?;
            left -= len as u64;
            Ok((len > 0).then(|| Bytes::from(bytes)))
        })
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is handed to map_err")]
fn failed(error: io::Error) -> HttpError {
    tracing::error!(target: "ncirrus::serve", "a temporary file: {error}");
    HttpError::internal("the server could not keep the file")
}

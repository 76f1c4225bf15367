//! Parts that wait in a scratch file, each at its own offset.
use crate::create::scratch::ScratchClaim;
use crate::{fault, platform};
use ncirrus_layout::{ObjectId, Result};
use std::fs::{File, OpenOptions};
use std::path::Path;

/// A scratch file, which is removed when dropped.
pub(super) struct SpillFile {
    claim: ScratchClaim,
    file: File,
}

impl SpillFile {
    pub(super) fn new(folder: &Path, object: &ObjectId) -> Result<Self> {
        let claim = ScratchClaim::file(&folder.join(format!("upload-{}", object.name())))?;
        let file = OpenOptions::new().read(true).write(true).open(claim.path());
        let file = file.map_err(|error| fault::of_io(error, claim.path().display()))?;
        Ok(Self { claim, file })
    }

    pub(super) fn write(&self, offset: u64, body: &[u8]) -> Result<()> {
        platform::write_at(&self.file, body, offset).map_err(|error| self.failed(error))
    }

    /// Fills a zeroed buffer; behind the end of the file it stays zero.
    pub(super) fn read(&self, offset: u64, mut buffer: Vec<u8>) -> Result<Vec<u8>> {
        self.read_into(offset, &mut buffer)?;
        Ok(buffer)
    }

    /// As [`read`](Self::read), into a slice.
    pub(super) fn read_into(&self, offset: u64, buffer: &mut [u8]) -> Result<()> {
        platform::read_at(&self.file, buffer, offset).map(|_| ()).map_err(|error| self.failed(error))
    }

    fn failed(&self, error: std::io::Error) -> ncirrus_layout::Error {
        fault::of_io(error, self.claim.path().display())
    }
}

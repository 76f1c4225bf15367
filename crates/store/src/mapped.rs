//! Arrays larger than memory: bytes in a memory-mapped file that is removed with its owner.
//!
//! One of the few modules with `unsafe`: a map is sound only while no other program truncates its file.
use crate::{fault, platform};
use memmap2::{MmapMut, MmapOptions};
use ncirrus_layout::{Error, Result};
use std::fmt;
use std::fs::File;
use std::path::Path;

/// Zero-initialised bytes in a file without a name: its space is freed when this is dropped or the process has ended,
/// for whatever reason. The operating system keeps in memory what fits.
pub struct MappedFile {
    /// `None` for no bytes at all, which cannot be mapped.
    map: Option<MmapMut>,
    /// Kept open because the file exists only as long as it is open.
    _file: Option<File>,
}

impl MappedFile {
    /// A file of `len` bytes in a folder, which is created if need be. Its space is allocated at once.
    ///
    /// # Errors
    /// `Limit` if this machine cannot address that much; `Denied`, or `Io` if there is no space.
    #[expect(unsafe_code, reason = "a file is mapped into memory")]
    pub fn create(folder: &Path, len: u64) -> Result<Self> {
        let addressed = usize::try_from(len).ok().filter(|len| isize::try_from(*len).is_ok());
        let Some(addressed) = addressed else {
            return Err(Error::limit(format!("{len} bytes are more than this machine can address")));
        };
        if addressed == 0 {
            return Ok(Self { map: None, _file: None });
        }
        let failed = |error| fault::of_io(error, folder.display());
        std::fs::create_dir_all(folder).map_err(failed)?;
        let file = platform::create_nameless(folder).map_err(failed)?;
        platform::reserve(&file, len).map_err(failed)?;
        // SAFETY: the file was created here, under an unknown name, and has none any more (or is not accessible to anyone
        // else): no other process can truncate or write it, and this one uses it only through this map. It has `len`
        // bytes, for which space is allocated, so no access can fail.
        let map = unsafe { MmapOptions::new().len(addressed).map_mut(&file) }.map_err(failed)?;
        Ok(Self { map: Some(map), _file: Some(file) })
    }

    /// The bytes; they start at the boundary of a page.
    pub fn bytes(&self) -> &[u8] {
        self.map.as_deref().unwrap_or_default()
    }

    /// The bytes, for writing.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        self.map.as_deref_mut().unwrap_or_default()
    }
}

impl fmt::Debug for MappedFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MappedFile({} bytes)", self.bytes().len())
    }
}

#[cfg(test)]
mod tests;

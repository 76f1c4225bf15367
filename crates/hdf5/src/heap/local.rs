//! The heap of names of an old-style group (docs/spec/hdf5-netcdf4.md C.1).
use crate::cursor::ByteCursor;
use crate::file::{FileAddress, Hdf5File};
use bytes::Bytes;
use ncirrus_layout::{Error, Step, View};
use std::sync::Arc;

/// The data segment of a local heap.
#[derive(Debug)]
pub(crate) struct LocalHeap {
    data: Bytes,
}

impl LocalHeap {
    /// Reads the heap, once.
    pub(crate) fn load(view: &dyn View, file: &Hdf5File, addr: FileAddress) -> Step<Arc<Self>> {
        file.memo(view, addr, "hdf5 local heap", || {
            let header = file.parse(view, addr, FIRST_READ)?;
            let mut cursor = ByteCursor::new(&header, "a local heap");
            cursor.signature(b"HEAP")?;
            cursor.version(&[0])?;
            cursor.skip(3)?;
            let len = cursor.len(file.sizes)?;
            cursor.len(file.sizes)?;
            let Some(segment) = cursor.addr(file.sizes)? else {
                return Ok((Self { data: Bytes::new() }, 0));
            };
            let data = file.parse_all(view, segment, len)?;
            let data = Bytes::copy_from_slice(ByteCursor::new(&data, "a local heap").take_u64(len)?);
            let cost = data.len();
            Ok((Self { data }, cost))
        })
    }

    /// The text at an offset, up to its NUL.
    pub(crate) fn text(&self, offset: u64) -> Result<&[u8], Error> {
        let rest = usize::try_from(offset).ok().and_then(|offset| self.data.get(offset..));
        let rest = rest.filter(|rest| !rest.is_empty()).ok_or_else(|| {
            let len = self.data.len();
            Error::malformed(format!("a name at offset {offset} of a local heap of {len} bytes"))
        })?;
        ByteCursor::new(rest, "a local heap").until_nul()
    }
}

/// The header, and in most files the names too; a view may fetch a whole block.
const FIRST_READ: u64 = 512;

#[cfg(test)]
mod tests;

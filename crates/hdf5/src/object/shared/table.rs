//! The table of shared messages: the heaps of messages by type (docs/spec/hdf5-netcdf4.md B.6).
use crate::address::FileAddress;
use crate::checksum::lookup3;
use crate::cursor::ByteCursor;
use crate::file::Hdf5File;
use crate::heap::FractalHeap;
use crate::object::kind;
use bytes::Bytes;
use ncirrus_layout::{Error, Step, View};
use std::sync::Arc;

/// The message of that type and heap id.
pub(super) fn find(view: &dyn View, file: &Hdf5File, kind: u16, id: Bytes) -> Step<Bytes> {
    let table = load(view, file)?;
    // The old form of a fill value is listed as the new one.
    let bit = if kind == kind::OLD_FILL { kind::FILL } else { kind };
    let index = table.iter().find(|index| index.types.checked_shr(u32::from(bit)).unwrap_or(0) & 1 != 0);
    let Some(heap) = index.and_then(|index| index.heap) else {
        return Err(Error::malformed(format!("no heap of shared messages of type {kind:#04x}")).into());
    };
    let found = FractalHeap::load(view, file, heap)?.objects(view, file, &[id])?;
    let none = || Err(Error::internal("a heap gave nothing for an id"));
    Ok(found.into_iter().next().unwrap_or_else(none)?)
}

/// One index of the table. Its list of messages is not needed for reading.
#[derive(Debug, Clone, Copy)]
struct SharedIndex {
    /// Bit n: messages of type n.
    types: u16,
    heap: Option<FileAddress>,
}

fn load(view: &dyn View, file: &Hdf5File) -> Step<Arc<Vec<SharedIndex>>> {
    let missing = || Error::malformed("a message shared through a table, but the file has none");
    let table = file.shared.ok_or_else(missing)?;
    file.memo(view, table.addr, "hdf5 shared messages", || {
        let len = u64::from(table.indexes) * (14 + 2 * u64::from(file.sizes.offsets)) + 8;
        let bytes = file.parse_all(view, table.addr, len)?;
        let mut cursor = ByteCursor::new(&bytes, "the table of shared messages");
        cursor.signature(b"SMTB")?;
        let indexes =
            (0..table.indexes).map(|_| index(&mut cursor, file)).collect::<Result<Vec<_>, Error>>()?;
        let summed = cursor.taken();
        if cursor.u32()? != lookup3(summed) {
            return Err(Error::malformed("the checksum of the table of shared messages is wrong").into());
        }
        let cost = indexes.len() * size_of::<SharedIndex>();
        Ok((indexes, cost))
    })
}

fn index(cursor: &mut ByteCursor<'_>, file: &Hdf5File) -> Result<SharedIndex, Error> {
    cursor.version(&[0])?;
    cursor.skip(1)?;
    let types = cursor.u16()?;
    cursor.skip(10)?;
    cursor.addr(file.sizes)?;
    Ok(SharedIndex { types, heap: cursor.addr(file.sizes)? })
}

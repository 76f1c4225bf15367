//! Variable-length elements: references to objects of global heaps (docs/spec/hdf5-netcdf4.md F.2).
use crate::address::{FieldSizes, FileAddress};
use crate::cursor::ByteCursor;
use crate::datatypes::Datatype;
use crate::file::Hdf5File;
use crate::heap;
use bytes::Bytes;
use ncirrus_layout::{Error, Result, Step, View};

/// Where the data of one element are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HeapHandle {
    /// Nowhere: a null string, an empty sequence.
    Null,
    /// Nowhere, for there are none.
    Empty,
    /// A number of base elements (bytes of text) in an object of a heap.
    Object { count: u32, collection: FileAddress, index: u32 },
}

impl HeapHandle {
    fn parse(element: &[u8], sizes: FieldSizes) -> Result<Self> {
        let mut cursor = ByteCursor::new(element, "variable-length element");
        let (count, addr, index) = (cursor.u32()?, cursor.addr(sizes)?, cursor.u32()?);
        Ok(match addr.filter(|addr| addr.0 != 0) {
            None => Self::Null,
            Some(_) if count == 0 => Self::Empty,
            Some(collection) => Self::Object { count, collection, index },
        })
    }
}

/// The bytes of every sequence: as many as its count, whatever the size of the heap object.
pub(super) fn sequences(
    view: &dyn View,
    file: &Hdf5File,
    datatype: &Datatype,
    base: &Datatype,
    raw: &[u8],
) -> Step<Vec<Bytes>> {
    let found = fetch(view, file, datatype, base.byte_len, raw)?;
    Ok(found.into_iter().map(Option::unwrap_or_default).collect())
}

/// The bytes of every text; `None` for a null.
pub(super) fn texts(
    view: &dyn View,
    file: &Hdf5File,
    datatype: &Datatype,
    raw: &[u8],
) -> Step<Vec<Option<Bytes>>> {
    fetch(view, file, datatype, 1, raw)
}

fn fetch(
    view: &dyn View,
    file: &Hdf5File,
    datatype: &Datatype,
    each: u64,
    raw: &[u8],
) -> Step<Vec<Option<Bytes>>> {
    let len = super::native::len_of(datatype)?;
    let handles = raw.chunks_exact(len).map(|element| HeapHandle::parse(element, file.sizes));
    let handles = handles.collect::<Result<Vec<_>>>()?;
    let wanted = handles.iter().filter_map(|handle| match handle {
        HeapHandle::Object { collection, index, .. } => Some((*collection, *index)),
        HeapHandle::Null | HeapHandle::Empty => None,
    });
    let mut objects = heap::objects(view, file, &wanted.collect::<Vec<_>>())?.into_iter();
    let data = handles.into_iter().map(|handle| match handle {
        HeapHandle::Null => Ok(None),
        HeapHandle::Empty => Ok(Some(Bytes::new())),
        HeapHandle::Object { count, collection, .. } => {
            let object =
                objects.next().ok_or_else(|| Error::internal("fewer heap objects than asked for"))?;
            let data = counted(&object, count, each).map_err(|error| file.at(collection, error))?;
            Ok(Some(data))
        }
    });
    Ok(data.collect::<Result<_>>()?)
}

/// The first `count` elements of `each` bytes.
fn counted(object: &Bytes, count: u32, each: u64) -> Result<Bytes> {
    let len = u64::from(count).checked_mul(each).and_then(|len| usize::try_from(len).ok());
    let len = len.filter(|len| *len <= object.len()).ok_or_else(|| {
        let have = object.len();
        Error::malformed(format!("{count} elements of {each} bytes in a heap object of {have} bytes"))
    })?;
    Ok(object.slice(..len))
}

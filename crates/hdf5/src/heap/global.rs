//! The heap of variable-length data (docs/spec/hdf5-netcdf4.md F.1).
use crate::address::{FieldSizes, FileAddress};
use crate::cursor::ByteCursor;
use crate::file::Hdf5File;
use bytes::Bytes;
use ncirrus_layout::{Error, Step, View, join};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// An object of a collection.
pub(crate) fn object(view: &dyn View, file: &Hdf5File, collection: FileAddress, index: u32) -> Step<Bytes> {
    let loaded = GlobalCollection::load(view, file, collection)?;
    Ok(loaded.object(index).map_err(|error| file.at(collection, error))?)
}

/// Several objects: each collection is read once, missing ones are requested together.
pub(crate) fn objects(view: &dyn View, file: &Hdf5File, of: &[(FileAddress, u32)]) -> Step<Vec<Bytes>> {
    let wanted: BTreeSet<FileAddress> = of.iter().map(|(collection, _)| *collection).collect();
    let mut budget = file.budget();
    let loaded = join(wanted, |addr| {
        let collection = GlobalCollection::load(view, file, addr)?;
        budget.take(collection.byte_len).map_err(|error| file.at(addr, error))?;
        Ok((addr, collection))
    })?;
    let collections: HashMap<FileAddress, Arc<GlobalCollection>> = loaded.into_iter().collect();
    let find = |(addr, index): &(FileAddress, u32)| {
        let collection = collections.get(addr).ok_or_else(|| Error::internal("a collection is missing"))?;
        collection.object(*index).map_err(|error| file.at(*addr, error))
    };
    Ok(of.iter().map(find).collect::<Result<_, Error>>()?)
}

/// The objects of a collection by their index.
#[derive(Debug)]
struct GlobalCollection {
    objects: HashMap<u32, Bytes>,
    byte_len: u64,
}

impl GlobalCollection {
    fn load(view: &dyn View, file: &Hdf5File, addr: FileAddress) -> Step<Arc<Self>> {
        file.memo(view, addr, "hdf5 global heap", || {
            let first = file.parse(view, addr, FIRST_READ)?;
            let mut cursor = ByteCursor::new(&first, "a global heap collection");
            cursor.signature(b"GCOL")?;
            cursor.version(&[1])?;
            cursor.skip(3)?;
            let len = cursor.len(file.sizes)?;
            let bytes = file.parse_all(view, addr, len)?;
            let bytes =
                Bytes::copy_from_slice(ByteCursor::new(&bytes, "a global heap collection").take_u64(len)?);
            let collection = Self::scan(&bytes, file.sizes);
            let cost = bytes.len() + collection.objects.len() * size_of::<(u32, Bytes)>();
            Ok((collection, cost))
        })
    }

    /// Finds the objects; damage ends the scan, and objects beyond it are not found.
    fn scan(bytes: &Bytes, sizes: FieldSizes) -> Self {
        let mut objects = HashMap::new();
        let mut cursor = ByteCursor::new(bytes, "a global heap collection");
        _ = cursor.skip(header_len(sizes));
        while let Ok(Some((index, object))) = next_object(&mut cursor, sizes) {
            objects.entry(index).or_insert_with(|| bytes.slice_ref(object));
        }
        Self { objects, byte_len: bytes.len() as u64 }
    }

    fn object(&self, index: u32) -> Result<Bytes, Error> {
        let missing = || Error::malformed(format!("no object {index} in this global heap collection"));
        self.objects.get(&index).cloned().ok_or_else(missing)
    }
}

/// The next object; `None` at the end and at free space, which comes last.
fn next_object<'a>(cursor: &mut ByteCursor<'a>, sizes: FieldSizes) -> Result<Option<(u32, &'a [u8])>, Error> {
    if cursor.left() < header_len(sizes) {
        return Ok(None);
    }
    let index = cursor.u16()?;
    cursor.skip(6)?;
    let len = cursor.len(sizes)?;
    cursor.skip(header_len(sizes) - 8 - usize::from(sizes.lengths))?;
    if index == 0 {
        return Ok(None);
    }
    let object = cursor.take_u64(len)?;
    let padding = object.len().wrapping_neg() % 8;
    cursor.skip(padding.min(cursor.left()))?;
    Ok(Some((u32::from(index), object)))
}

/// Bytes before the objects, and before each object's data: padded to 8 bytes whatever the width of lengths.
fn header_len(sizes: FieldSizes) -> usize {
    (8 + usize::from(sizes.lengths)).next_multiple_of(8)
}

/// Minimum size of collections; a view may fetch a whole block.
const FIRST_READ: u64 = 4096;

#[cfg(test)]
mod tests;

//! Data in other files (docs/spec/hdf5-netcdf4.md E.8).
use super::ExternalPart;
use crate::address::FieldSizes;
use crate::cursor::{ByteCursor, all_ones, escaped};
use crate::file::Hdf5File;
use crate::group::external_candidates;
use crate::heap::LocalHeap;
use ncirrus_layout::{Error, Extent, ObjectBytes, ObjectId, Result, Step, View, Want, join};

#[cfg(test)]
mod tests;

/// The list of external files in the message.
#[derive(Debug, PartialEq, Eq)]
struct ExternalSlots {
    heap: crate::address::FileAddress,
    /// Offset of the name in the heap, offset in the file, length.
    list: Vec<(u64, u64, Option<u64>)>,
}

/// The parts that a message lists; their names are in a local heap.
pub(super) fn parts(view: &dyn View, file: &Hdf5File, body: &[u8]) -> Step<Vec<ExternalPart>> {
    let slots = parse(body, file.sizes)?;
    let heap = LocalHeap::load(view, file, slots.heap)?;
    let part = |(name, offset, byte_len): (u64, u64, Option<u64>)| -> Result<ExternalPart> {
        Ok(ExternalPart { file: escaped(heap.text(name)?), offset, byte_len })
    };
    Ok(slots.list.into_iter().map(part).collect::<Result<_>>()?)
}

/// The locations of the first `need` bytes of all parts together. Data in absent or short files were never written.
pub(super) fn extents(
    view: &dyn View,
    file: &Hdf5File,
    parts: &[ExternalPart],
    need: u64,
) -> Step<Vec<Extent>> {
    let mut end = 0u64;
    let mut wanted = Vec::new();
    for part in parts {
        let start = end;
        end = part.byte_len.map_or(need, |len| start.saturating_add(len)).min(need);
        if start < end {
            wanted.push((part, start..end));
        }
    }
    let found = join(&wanted, |(part, _)| existing(view, file, &part.file))?;
    let extent = |((part, logical), found): (_, Option<(ObjectId, u64)>)| {
        let (part, mut logical): (&ExternalPart, std::ops::Range<u64>) = (part, logical);
        let (object, size) = found?;
        let there = size.checked_sub(part.offset)?;
        logical.end = logical.end.min(logical.start.saturating_add(there));
        (!logical.is_empty()).then_some(Extent { logical, object, offset: part.offset })
    };
    Ok(wanted.into_iter().zip(found).filter_map(extent).collect())
}

/// The file of that name, if it exists, and its size.
fn existing(view: &dyn View, file: &Hdf5File, name: &str) -> Step<Option<(ObjectId, u64)>> {
    for object in external_candidates(file, name) {
        if let Some(ObjectBytes { size, .. }) = view.read(&object, Want::Range(0..1))? {
            return Ok(Some((object, size)));
        }
    }
    Ok(None)
}

fn parse(body: &[u8], sizes: FieldSizes) -> Result<ExternalSlots> {
    let mut cursor = ByteCursor::new(body, "a list of external files");
    cursor.version(&[1])?;
    cursor.skip(3 + 2)?;
    let used = cursor.u16()?;
    let heap = cursor.addr(sizes)?;
    let heap = heap.ok_or_else(|| Error::malformed("a list of external files without names"))?;
    let unlimited = all_ones(sizes.lengths);
    let slot = |_| {
        let (name, offset) = (cursor.len(sizes)?, cursor.len(sizes)?);
        Ok((name, offset, Some(cursor.len(sizes)?).filter(|len| *len != unlimited)))
    };
    Ok(ExternalSlots { heap, list: (0..used).map(slot).collect::<Result<_>>()? })
}

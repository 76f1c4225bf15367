//! The header of a fractal heap.
use super::block::{DirectRef, FilteredBlock};
use super::id::HeapIds;
use super::table::DoublingTable;
use super::{FractalHeap, RootBlock};
use crate::address::FileAddress;
use crate::checksum::lookup3;
use crate::cursor::ByteCursor;
use crate::file::Hdf5File;
use crate::pipeline;
use ncirrus_layout::{Error, Step, View};
use ncirrus_model::CodecSpec;

pub(super) fn read(view: &dyn View, file: &Hdf5File, addr: FileAddress) -> Step<FractalHeap> {
    let first = file.parse(view, addr, FIRST_READ)?;
    let mut cursor = ByteCursor::new(&first, WHAT);
    cursor.signature(b"FRHP")?;
    cursor.version(&[0])?;
    cursor.skip(2)?;
    let filters_len = u64::from(cursor.u16()?);
    let (offsets, lengths) = (u64::from(file.sizes.offsets), u64::from(file.sizes.lengths));
    let filtered_len = if filters_len > 0 { lengths + 4 + filters_len } else { 0 };
    let len = 26 + 3 * offsets + 12 * lengths + filtered_len;
    let bytes = file.parse_all(view, addr, len)?;
    Ok(parse(&bytes, file, addr, filters_len)?)
}

fn parse(bytes: &[u8], file: &Hdf5File, addr: FileAddress, filters_len: u64) -> Result<FractalHeap, Error> {
    let mut cursor = ByteCursor::new(bytes, WHAT);
    cursor.skip(5)?;
    let id_len = cursor.u16()?;
    cursor.skip(2)?;
    let flags = cursor.u8()?;
    let managed = cursor.u32()?;
    cursor.len(file.sizes)?;
    let huge = cursor.addr(file.sizes)?;
    cursor.len(file.sizes)?;
    cursor.addr(file.sizes)?;
    cursor.skip(8 * usize::from(file.sizes.lengths))?;
    let width = u64::from(cursor.u16()?);
    let (first, largest) = (cursor.len(file.sizes)?, cursor.len(file.sizes)?);
    let table = DoublingTable { width, first, largest, bits: cursor.u16()? }.check()?;
    cursor.skip(2)?;
    let root = cursor.addr(file.sizes)?;
    let rows = cursor.u16()?;
    let is_filtered = filters_len > 0;
    let filtered = if is_filtered { Some(FilteredBlock::parse(&mut cursor, file.sizes)?) } else { None };
    let filters = if is_filtered { pipeline(cursor.take_u64(filters_len)?)? } else { Vec::new() };
    let summed = cursor.taken();
    if cursor.u32()? != lookup3(summed) {
        return Err(Error::malformed("the checksum of the header of a fractal heap is wrong"));
    }
    if rows > table.max_rows() {
        return Err(Error::malformed(format!("a fractal heap with {rows} rows of blocks")));
    }
    // Without rows, the root is a direct block (docs/spec/hdf5-netcdf4.md C.3).
    let root = root.map(|addr| match rows {
        0 => RootBlock::Direct(DirectRef { addr, offset: 0, len: first, filtered }),
        rows => RootBlock::Indirect { addr, rows },
    });
    let ids = HeapIds::new(id_len, table, managed, is_filtered);
    Ok(FractalHeap { addr, ids, table, checksums: flags & 2 != 0, root, huge, filters })
}

/// The filters of the heap.
fn pipeline(message: &[u8]) -> Result<Vec<CodecSpec>, Error> {
    Ok(pipeline::parse(message, 1)?.into_iter().map(|(filter, _)| filter).collect())
}

const WHAT: &str = "the header of a fractal heap";
/// Most headers are shorter; a view may fetch a whole block.
const FIRST_READ: u64 = 256;

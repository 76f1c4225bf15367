//! Attributes outside of the header: if one of them is too long for a message, all are stored in a fractal heap, with
//! B-trees by name and by number (docs/spec/hdf5-netcdf4.md C.5, D.4, F.3).
//!
//! Each is a huge object of the heap, stored separately; a tree is one leaf.
use super::FilePatch;
use super::out::ByteSink;
use super::space::SpaceAllocator;
use crate::address::{FieldSizes, FileAddress};
use crate::checksum::lookup3;
use bytes::Bytes;
use ncirrus_layout::{Error, Result};

/// An attribute in its header form.
#[derive(Debug)]
pub(crate) struct LooseAttribute {
    pub(crate) flags: u8,
    pub(crate) order: u16,
    pub(crate) body: Bytes,
}

/// The locations of attributes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DenseAttributes {
    pub(crate) heap: FileAddress,
    pub(crate) names: FileAddress,
    /// The index by number, if there is one.
    pub(crate) orders: Option<FileAddress>,
}

/// Stores attributes in a heap; `numbered`: with an index by number too.
///
/// # Errors
/// If one has no name.
pub(crate) fn dense(
    attributes: &[LooseAttribute],
    numbered: bool,
    sizes: FieldSizes,
    space: &mut SpaceAllocator,
) -> Result<(DenseAttributes, Vec<FilePatch>)> {
    let mut patches = Vec::new();
    let (mut huge, mut by_name, mut by_order) = (Vec::new(), Vec::new(), Vec::new());
    for (key, attribute) in (1u64..).zip(attributes) {
        let addr = space.take(attribute.body.len() as u64, 8);
        patches.push(FilePatch { addr, body: attribute.body.clone() });
        let mut place = ByteSink::new();
        place.addr(Some(addr), sizes).length(attribute.body.len() as u64, sizes).length(key, sizes);
        huge.push(place.finish());
        let (name, id) = (name_of(&attribute.body)?, heap_id(key, sizes));
        let hash = lookup3(name);
        let mut named = ByteSink::new();
        named.bytes(&id).u8(attribute.flags).u32(attribute.order.into()).u32(hash);
        by_name.push(((hash, name), named.finish()));
        let mut counted = ByteSink::new();
        counted.bytes(&id).u8(attribute.flags).u32(attribute.order.into());
        by_order.push((attribute.order, counted.finish()));
    }
    // By hash, then by name (docs/spec/hdf5-netcdf4.md C.4, records of type 8).
    by_name.sort_by_key(|(key, _)| *key);
    by_order.sort_by_key(|(order, _)| *order);
    let by_name: Vec<Bytes> = by_name.into_iter().map(|(_, record)| record).collect();
    let by_order: Vec<Bytes> = by_order.into_iter().map(|(_, record)| record).collect();
    let objects = tree(HUGE_OBJECTS, &huge, sizes, space, &mut patches)?;
    let names = tree(BY_NAME, &by_name, sizes, space, &mut patches)?;
    let orders = if numbered { Some(tree(BY_ORDER, &by_order, sizes, space, &mut patches)?) } else { None };
    let total = attributes.iter().map(|attribute| attribute.body.len() as u64).sum();
    let heap = heap(objects, attributes.len() as u64, total, sizes);
    let addr = space.take(heap.len() as u64, 8);
    patches.push(FilePatch { addr, body: heap });
    Ok((DenseAttributes { heap: addr, names, orders }, patches))
}

/// The name in an attribute message of any version, without the trailing NUL.
fn name_of(body: &[u8]) -> Result<&[u8]> {
    let start = if body.first() == Some(&3) { 9 } else { 8 };
    let name = body.get(start..).and_then(|rest| rest.split(|byte| *byte == 0).next());
    name.ok_or_else(|| Error::internal("an attribute without a name"))
}

/// The id of a huge object in a heap with ids of eight bytes: its key.
fn heap_id(key: u64, sizes: FieldSizes) -> [u8; 8] {
    const HUGE: u8 = 0x10;
    let mut id = [0; 8];
    let width = usize::from(sizes.lengths).min(7);
    let parts = id.iter_mut().skip(1).zip(key.to_le_bytes()).take(width);
    parts.for_each(|(place, byte)| *place = byte);
    id[0] = HUGE;
    id
}

/// A heap without managed objects, with the parameters that HDF5 uses for attributes.
fn heap(objects: FileAddress, count: u64, total: u64, sizes: FieldSizes) -> Bytes {
    const CHECKED_BLOCKS: u8 = 2;
    const MAX_MANAGED: u32 = 4096;
    let mut out = ByteSink::new();
    out.bytes(b"FRHP\0").u16(8).u16(0).u8(CHECKED_BLOCKS).u32(MAX_MANAGED);
    out.length(count, sizes).addr(Some(objects), sizes);
    // Free space of managed blocks, and its list.
    out.length(0, sizes).addr(None, sizes);
    // Managed objects: space, allocated space, allocation offset, count.
    (0..4).for_each(|_| _ = out.length(0, sizes));
    out.length(total, sizes).length(count, sizes);
    // Tiny objects.
    out.length(0, sizes).length(0, sizes);
    // Width, first and largest block, bits of offsets, initial rows; no block yet.
    out.u16(4).length(1024, sizes).length(64 << 10, sizes).u16(40).u16(1).addr(None, sizes).u16(0);
    out.checksum().finish()
}

/// A version 2 B-tree of one leaf.
fn tree(
    kind: u8,
    records: &[Bytes],
    sizes: FieldSizes,
    space: &mut SpaceAllocator,
    patches: &mut Vec<FilePatch>,
) -> Result<FileAddress> {
    let count = u16::try_from(records.len())
        .map_err(|_| Error::unsupported(format!("{} attributes of one object", records.len())))?;
    let mut leaf = ByteSink::new();
    leaf.bytes(b"BTLF\0").u8(kind);
    records.iter().for_each(|record| _ = leaf.bytes(record));
    leaf.checksum();
    let node_len = (leaf.len() as u64).next_multiple_of(MIN_NODE);
    let rest = node_len.saturating_sub(leaf.len() as u64);
    leaf.zeros(usize::try_from(rest).unwrap_or(0));
    let root = space.take(node_len, 8);
    patches.push(FilePatch { addr: root, body: leaf.finish() });
    let record_len = records.first().map_or(0, Bytes::len);
    let node_len = u32::try_from(node_len).map_err(|_| Error::limit("attributes of one object"))?;
    let mut head = ByteSink::new();
    head.bytes(b"BTHD\0").u8(kind).u32(node_len).u16(u16::try_from(record_len).unwrap_or(0)).u16(0);
    head.u8(100).u8(40).addr(Some(root), sizes).u16(count).length(u64::from(count), sizes);
    let body = head.checksum().finish();
    let addr = space.take(body.len() as u64, 8);
    patches.push(FilePatch { addr, body });
    Ok(addr)
}

/// Kinds of version 2 B-trees.
const HUGE_OBJECTS: u8 = 1;
const BY_NAME: u8 = 8;
const BY_ORDER: u8 = 9;
/// Size of the nodes that HDF5 uses for attributes.
const MIN_NODE: u64 = 512;

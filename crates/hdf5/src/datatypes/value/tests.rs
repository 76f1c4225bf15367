//! Values of elements in a small file: its global heap is made here.
mod forms;
mod heaps;
mod numbers;
mod references;

use super::values;
use crate::address::{FieldSizes, FileAddress};
use crate::datatypes::{
    BitField, CompoundMember, Datatype, DatatypeClass, FloatFormat, FloatOrder, MantissaNorm,
};
use crate::file::{Hdf5File, NodeRanks};
use crate::testing::{KEY, done, view};
use ncirrus_layout::{ByteOrder, Result, Tag};
use ncirrus_model::{Strings, Values};
use ncirrus_testkit::{MemoryView, ObjectView};
use std::collections::HashMap;

pub(super) const HEAP: u64 = 64;

/// A file with one collection of these objects, numbered from 1.
pub(super) fn file_with(objects: &[&[u8]]) -> (MemoryView, Hdf5File) {
    let mut collection = b"GCOL\x01\0\0\0".to_vec();
    collection.extend(4096_u64.to_le_bytes());
    for (index, object) in (1_u16..).zip(objects) {
        collection.extend(index.to_le_bytes());
        collection.extend([1, 0, 0, 0, 0, 0]);
        collection.extend((object.len() as u64).to_le_bytes());
        collection.extend(*object);
        collection.resize(collection.len().next_multiple_of(8), 0);
    }
    collection.resize(4096, 0);
    let bytes = [vec![0; 64], collection].concat();
    let size = bytes.len() as u64;
    let file = Hdf5File {
        object: ObjectView::id(KEY),
        tag: Tag::new("1"),
        size,
        base: 0,
        sizes: FieldSizes { offsets: 8, lengths: 8 },
        version: 2,
        root: FileAddress(8),
        ranks: NodeRanks::default(),
        shared: None,
        page: None,
        missing: 0,
        warnings: Vec::new(),
        losses: Vec::new(),
    };
    (view(bytes), file)
}

/// What the elements mean in such a file; the object at 800 has a path.
pub(super) fn read(objects: &[&[u8]], datatype: &Datatype, raw: &[u8], count: usize) -> Result<Values> {
    let (view, file) = file_with(objects);
    let paths = HashMap::from([(FileAddress(800), "/g/x".to_owned())]);
    done(values(&view, &file, datatype, raw, count, &paths))
}

/// An element of variable length: that many elements in that object of the heap.
pub(super) fn handle(count: u32, index: u32) -> Vec<u8> {
    at(count, HEAP, index)
}

pub(super) fn at(count: u32, addr: u64, index: u32) -> Vec<u8> {
    [count.to_le_bytes().as_slice(), &addr.to_le_bytes(), &index.to_le_bytes()].concat()
}

pub(super) fn of(byte_len: u64, class: DatatypeClass) -> Datatype {
    Datatype { byte_len, class, committed: None }
}

pub(super) fn integer(byte_len: u64, signed: bool, order: ByteOrder) -> Datatype {
    bits(byte_len, signed, order, 0, 8 * u16::try_from(byte_len).unwrap())
}

pub(super) fn bits(byte_len: u64, signed: bool, order: ByteOrder, offset: u16, precision: u16) -> Datatype {
    of(byte_len, DatatypeClass::Integer(BitField { order, signed, offset, precision }))
}

pub(super) fn short() -> Datatype {
    integer(2, true, ByteOrder::Little)
}

/// A format without gaps: mantissa, exponent, sign.
pub(super) fn format(
    order: FloatOrder,
    exponent: u8,
    mantissa: u8,
    bias: u32,
    norm: MantissaNorm,
) -> FloatFormat {
    FloatFormat {
        order,
        offset: 0,
        precision: u16::from(exponent) + u16::from(mantissa) + 1,
        sign: exponent + mantissa,
        exponent: (mantissa, exponent),
        mantissa: (0, mantissa),
        bias,
        norm,
    }
}

pub(super) fn single() -> Datatype {
    of(4, DatatypeClass::Float(format(FloatOrder::Little, 8, 23, 127, MantissaNorm::Implied)))
}

pub(super) fn compound(byte_len: u64, members: Vec<(&str, u64, Datatype)>) -> Datatype {
    let member = |(name, offset, datatype): (&str, u64, Datatype)| CompoundMember {
        name: name.to_owned(),
        offset,
        datatype,
    };
    of(byte_len, DatatypeClass::Compound(members.into_iter().map(member).collect()))
}

pub(super) fn sequence(base: Datatype) -> Datatype {
    of(16, DatatypeClass::Vlen(Box::new(base)))
}

pub(super) fn array(dims: &[u64], base: Datatype) -> Datatype {
    let byte_len = dims.iter().product::<u64>() * base.byte_len;
    of(byte_len, DatatypeClass::Array { dims: dims.to_vec(), base: Box::new(base) })
}

pub(super) fn strings(list: &[Option<&str>]) -> Values {
    Values::String(list.iter().copied().collect::<Strings>())
}

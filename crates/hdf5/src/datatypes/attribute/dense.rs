//! Attributes in a fractal heap, found through a B-tree.
use super::AttributeMessage;
use crate::address::{FieldSizes, FileAddress};
use crate::btree::{BtreeHeader, NodeRequest};
use crate::cursor::ByteCursor;
use crate::file::Hdf5File;
use crate::heap::FractalHeap;
use crate::object::{HeaderMessage, kind, resolve_record};
use bytes::Bytes;
use ncirrus_layout::{Error, Result, Step, View, both, join_each};

/// The attribute info message.
#[derive(Debug)]
pub(super) struct AttributeInfo {
    /// Whether the creation order of attributes is known.
    pub(super) tracked: bool,
    pub(super) heap: Option<FileAddress>,
    /// The B-tree by name, and the one by order.
    names: Option<FileAddress>,
    pub(super) orders: Option<FileAddress>,
}

/// A record of either tree.
#[derive(Debug)]
struct DenseRecord {
    id: Bytes,
    shared: bool,
    order: u32,
}

impl AttributeInfo {
    pub(super) fn parse(body: &[u8], sizes: FieldSizes) -> Result<Self> {
        let mut cursor = ByteCursor::new(body, "attribute info");
        cursor.version(&[0])?;
        let flags = cursor.u8()?;
        let tracked = flags & 1 != 0;
        cursor.skip(if tracked { 2 } else { 0 })?;
        let (heap, names) = (cursor.addr(sizes)?, cursor.addr(sizes)?);
        let orders = if flags & 2 != 0 { cursor.addr(sizes)? } else { None };
        Ok(Self { tracked, heap, names, orders })
    }

    /// The attributes in the heap as header messages; shared ones stay shared.
    pub(super) fn messages(&self, view: &dyn View, file: &Hdf5File) -> Step<Vec<HeaderMessage>> {
        let Some(heap) = self.heap else { return Ok(Vec::new()) };
        let tree = self.orders.or(self.names);
        let tree = tree.ok_or_else(|| Error::malformed("attributes in a heap without a B-tree"))?;
        let (records, heap) = both(records(view, file, tree), FractalHeap::load(view, file, heap))?;
        let own: Vec<Bytes> =
            records.iter().filter(|record| !record.shared).map(|record| record.id.clone()).collect();
        let mut own = heap.objects(view, file, &own)?.into_iter();
        let messages = records.iter().map(|record| {
            let order = u16::try_from(record.order).ok();
            let (flags, body) = if record.shared {
                (SHARED, Ok([[SHARED_VERSION, IN_HEAP].as_slice(), &record.id].concat().into()))
            } else {
                (0, own.next().unwrap_or_else(|| Err(Error::internal("fewer heap objects than ids"))))
            };
            Ok(HeaderMessage { kind: kind::ATTRIBUTE, flags, order, body: body? })
        });
        Ok(messages.collect::<Result<_>>()?)
    }

    /// The attributes in the heap; none if there is no heap.
    pub(super) fn attributes(&self, view: &dyn View, file: &Hdf5File) -> Step<Vec<AttributeMessage>> {
        let Some(heap) = self.heap else { return Ok(Vec::new()) };
        let tree = self.orders.or(self.names);
        let tree = tree.ok_or_else(|| Error::malformed("attributes in a heap without a B-tree"))?;
        let (records, heap) = both(records(view, file, tree), FractalHeap::load(view, file, heap))?;
        let own = records
            .iter()
            .filter(|record| !record.shared)
            .map(|record| record.id.clone())
            .collect::<Vec<_>>();
        let shared = records.iter().filter(|record| record.shared);
        let (own, shared) = both(
            heap.objects(view, file, &own),
            join_each(shared, |record| in_shared_heap(view, file, &record.id)),
        )?;
        let (mut own, mut shared) = (own.into_iter(), shared.into_iter());
        let found = records.iter().map(|record| {
            let body = if record.shared { shared.next() } else { own.next() };
            let body = body.unwrap_or_else(|| Err(Error::internal("fewer heap objects than ids")));
            AttributeMessage { order: Some(record.order), body }
        });
        Ok(found.collect())
    }
}

fn records(view: &dyn View, file: &Hdf5File, tree: FileAddress) -> Step<Vec<DenseRecord>> {
    let tree = BtreeHeader::load(view, file, tree, NodeRequest::Among)?;
    if !matches!(tree.kind, BY_NAME | BY_ORDER) {
        return Err(Error::malformed(format!("attributes in a B-tree of type {}", tree.kind)).into());
    }
    let records = tree.records(view, file)?;
    Ok(records.iter().map(|record| DenseRecord::parse(record)).collect::<Result<_>>()?)
}

impl DenseRecord {
    fn parse(bytes: &[u8]) -> Result<Self> {
        let mut cursor = ByteCursor::new(bytes, "attribute record");
        let id = Bytes::copy_from_slice(cursor.take(8)?);
        Ok(Self { id, shared: cursor.u8()? & 2 != 0, order: cursor.u32()? })
    }
}

/// The message with a heap id in the heap of shared messages.
fn in_shared_heap(view: &dyn View, file: &Hdf5File, id: &[u8]) -> Step<Bytes> {
    let record = [[SHARED_VERSION, IN_HEAP].as_slice(), id].concat();
    Ok(resolve_record(view, file, kind::ATTRIBUTE, &record)?.body)
}

const BY_NAME: u8 = 8;
const BY_ORDER: u8 = 9;
/// The record of a shared message in a heap (docs/spec/hdf5-netcdf4.md B.4).
const SHARED_VERSION: u8 = 3;
const IN_HEAP: u8 = 1;
/// The flag of shared messages.
const SHARED: u8 = 2;

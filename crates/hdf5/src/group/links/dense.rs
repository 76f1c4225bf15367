//! Densely stored links: link messages in a fractal heap, found through B-trees (C.2).
use super::{DenseLinks, FoundLinks, message};
use crate::btree::{BtreeHeader, NodeRequest};
use crate::cursor::ByteCursor;
use crate::file::Hdf5File;
use crate::heap::FractalHeap;
use bytes::Bytes;
use ncirrus_layout::{Error, Step, View, both};

/// The links of a heap.
pub(super) fn read(view: &dyn View, file: &Hdf5File, dense: &DenseLinks) -> Step<FoundLinks> {
    let mut found = FoundLinks::default();
    for object in bodies(view, file, dense)? {
        found.take(object.and_then(|object| message::parse(&object, file.sizes)));
    }
    Ok(found)
}

/// The link messages of a heap, by either of its trees.
pub(super) fn bodies(
    view: &dyn View,
    file: &Hdf5File,
    dense: &DenseLinks,
) -> Step<Vec<Result<Bytes, Error>>> {
    let Some(addr) = dense.by_name.or(dense.by_order) else {
        return Err(Error::malformed("dense links without a tree").into());
    };
    let (tree, heap) = both(
        BtreeHeader::load(view, file, addr, NodeRequest::Among),
        FractalHeap::load(view, file, dense.heap),
    )?;
    let records = tree.records(view, file)?;
    let ids = records.iter().map(|record| heap_id(&tree, record)).collect::<Result<Vec<_>, Error>>()?;
    heap.objects(view, file, &ids)
}

/// The heap id of a record.
fn heap_id(tree: &BtreeHeader, record: &Bytes) -> Result<Bytes, Error> {
    let mut cursor = ByteCursor::new(record, "a record of a tree of links");
    match tree.kind {
        BY_NAME => cursor.skip(4)?,
        BY_ORDER => cursor.skip(8)?,
        other => return Err(Error::malformed(format!("links in a tree of type {other}"))),
    }
    Ok(record.slice_ref(cursor.rest()))
}

/// Types of trees: by hash of the name, and by creation order.
const BY_NAME: u8 = 5;
const BY_ORDER: u8 = 6;

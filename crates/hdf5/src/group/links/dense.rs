//! Densely stored links: link messages in a fractal heap, found through B-trees (docs/spec/hdf5-netcdf4.md C.2).
use super::{Dense, Found, message};
use crate::btree::{Lies, Tree};
use crate::cursor::Cursor;
use crate::file::File;
use crate::heap::FractalHeap;
use bytes::Bytes;
use ncirrus_layout::{Error, Step, View, both};

/// The links of a heap.
pub(super) fn read(view: &dyn View, file: &File, dense: &Dense) -> Step<Found> {
    let mut found = Found::default();
    for object in bodies(view, file, dense)? {
        found.take(object.and_then(|object| message::parse(&object, file.sizes)));
    }
    Ok(found)
}

/// The link messages of a heap, by either of its trees.
pub(super) fn bodies(view: &dyn View, file: &File, dense: &Dense) -> Step<Vec<Result<Bytes, Error>>> {
    let Some(addr) = dense.by_name.or(dense.by_order) else {
        return Err(Error::malformed("dense links without a tree").into());
    };
    let (tree, heap) =
        both(Tree::load(view, file, addr, Lies::Among), FractalHeap::load(view, file, dense.heap))?;
    let records = tree.records(view, file)?;
    let ids = records.iter().map(|record| heap_id(&tree, record)).collect::<Result<Vec<_>, Error>>()?;
    heap.objects(view, file, &ids)
}

/// The heap id of a record.
fn heap_id(tree: &Tree, record: &Bytes) -> Result<Bytes, Error> {
    let mut cursor = Cursor::new(record, "a record of a tree of links");
    match tree.kind {
        BY_NAME => cursor.skip(4)?,
        BY_ORDER => cursor.skip(8)?,
        other => return Err(Error::malformed(format!("links in a tree of type {other}"))),
    }
    Ok(record.slice_ref(cursor.rest()))
}

/// Types of trees: hashes of names, numbers in the order of creation.
const BY_NAME: u8 = 5;
const BY_ORDER: u8 = 6;

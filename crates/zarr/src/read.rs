//! Reading: from metadata objects to a model and to sources of values.
//!
//! Opening walks the metadata objects of the store (`v2`, `v3`) into dialect-independent nodes (`node`), from which
//! `assemble` builds the model; a variable's chunks are then located by a function (`keys`, `shard`).
use crate::dialect::Dialect;
use crate::special::{ZARR_JSON, ZMETADATA};
use ncirrus_layout::{
    Confidence, Consolidated, Error, ErrorKind, ObjectId, OpenOptions, Step, View, Writing, join,
};
use ncirrus_model::StorageFacts;
use std::sync::Arc;

pub(crate) mod array;
mod assemble;
mod attributes;
mod catalog;
mod dimensions;
mod documents;
mod draft;
mod extension;
mod geo;
mod keys;
mod node;
mod one_byte;
mod provenance;
pub(crate) mod shard;
mod v2;
mod v3;
mod variable;

use catalog::ZarrCatalog;
use documents::{DocumentSource, ParsedDocument, read_document};
use node::{DatasetMetadata, usable};

/// How certain it is that the object is a Zarr dataset.
///
/// # Errors
/// As [`Driver::probe`](ncirrus_layout::Driver::probe).
pub(crate) fn probe(view: &dyn View, root: &ObjectId) -> Step<Confidence> {
    let mut refused = None;
    for names in [&[ZARR_JSON, ZMETADATA][..], &v2::MARKERS] {
        for document in join(names, |name| read_document(view, &root.child(name)))? {
            match document {
                Some(Ok(_)) => return Ok(Confidence::Yes),
                Some(Err(error)) if error.kind() == ErrorKind::Limit => {
                    refused.get_or_insert(error);
                }
                _ => {}
            }
        }
    }
    refused.map_or(Ok(Confidence::No), |error| Err(error.into()))
}

/// Opens a dataset, with `writing` for changes; without it the catalog is read-only.
///
/// # Errors
/// As [`Driver::open`](ncirrus_layout::Driver::open).
pub(crate) fn open(
    view: &dyn View,
    root: &ObjectId,
    options: &OpenOptions,
    writing: Option<Arc<dyn Writing>>,
) -> Step<ZarrCatalog> {
    let dataset = walk(view, root, options).map_err(|stall| stall.map_error(|error| error.by("zarr")))?;
    Ok(assemble::assemble(dataset, root, options, view.limits(), writing)?)
}

/// Reads all metadata objects. Round one requests the two objects that may hold everything (`docs/spec/nczarr.md`
/// 2.2).
fn walk(view: &dyn View, root: &ObjectId, options: &OpenOptions) -> Step<DatasetMetadata> {
    let mut first = join([ZARR_JSON, ZMETADATA], |name| read_document(view, &root.child(name)))?.into_iter();
    let (zarr_json, zmetadata) = (first.next().flatten(), first.next().flatten());
    let consolidated = match options.consolidated {
        Consolidated::Auto => documents::consolidated(view, root, zmetadata.as_ref())?,
        Consolidated::Never => None,
    };
    let is_v3 = usable(zarr_json.clone()).is_some_and(|json| v3::is_node(&json));
    let v2_documents = DocumentSource::new(view, root, consolidated, options.members);
    if is_v3 && !(options.prefer_v2 && v2::is_there(&v2_documents)?) {
        return v3::walk(view, root, zarr_json, options);
    }
    let is_used = v2_documents.is_consolidated() || options.consolidated == Consolidated::Never;
    let ignored = zmetadata.filter(|_| !is_used);
    let is_bare_read = ["zarr", "nczarr"].iter().any(|mode| options.address.has_mode(mode));
    match v2::walk(&v2_documents, is_bare_read)? {
        Some(mut dataset) => {
            dataset
                .root
                .lose(ignored.map(|document| lost_metadata(root, document.err())).into_iter().collect());
            Ok(dataset)
        }
        None => Err(not_zarr(root, &zarr_json).into()),
    }
}

/// Consolidated metadata take precedence over the members' own objects, and may have a different order: without them
/// it is unknown whether these are all.
fn lost_metadata(root: &ObjectId, error: Option<Error>) -> String {
    let invalid =
        || Error::malformed("it is not consolidated metadata of format 1").at_object(root.child(ZMETADATA));
    let error = error.unwrap_or_else(invalid);
    format!("the consolidated metadata cannot be read, the members' own are shown: {error}")
}

fn not_zarr(root: &ObjectId, zarr_json: &ParsedDocument) -> Error {
    match zarr_json {
        Some(Err(error)) => error.clone(),
        Some(Ok(_)) => Error::malformed("zarr.json is not of Zarr format 3").at_object(root.child(ZARR_JSON)),
        None => Error::not_found("no Zarr metadata (.zgroup, .zarray, .zattrs, zarr.json)").at_object(root),
    }
}

/// What the metadata state about the storage of the dataset as a whole.
fn facts_of(dataset: &DatasetMetadata) -> StorageFacts {
    let dialect = dataset.dialect;
    let zarr_format = dialect.form().version().to_string();
    StorageFacts {
        others: vec![("dialect", dialect.id().to_owned()), ("zarr_format", zarr_format)],
        consolidated: Some(dataset.consolidated),
        nczarr_version: dataset.superblock.clone(),
        superblock_version: Some(superblock_version(dialect)),
        ..StorageFacts::default()
    }
}

/// What the reference returns for `_SuperblockVersion`: the superblock's first number, 0 if there is none.
fn superblock_version(dialect: Dialect) -> u8 {
    match dialect {
        Dialect::Plain | Dialect::PlainXarray | Dialect::Xarray | Dialect::V3 => 0,
        Dialect::Nczarr3 => 3,
        Dialect::V1 | Dialect::V1Documented | Dialect::Draft2018 => 1,
        _ => 2,
    }
}

//! Icechunk repositories of spec versions 1 and 2, read only.
//!
//! Pure: all input comes through a view; the engine does the rest. A repository has snapshots, each of which is a
//! hierarchy of Zarr v3. The documents in it are read by the crate of Zarr: the snapshot is shown to it as a set of
//! `zarr.json` objects. The specification is docs/spec/icechunk-format.md.
#![forbid(unsafe_code)]

mod catalog;
mod chunk_place;
mod chunk_refs;
mod config;
mod config_value;
mod config_yaml;
mod driver;
mod envelope;
mod flat;
mod flex;
mod history;
mod id;
mod long_manifest;
mod manifest;
mod pages;
mod repo_info;
mod repository;
mod share;
mod snapshot;
mod snapshot_view;
mod state;
mod time;

#[cfg(test)]
mod tests;

pub use driver::IcechunkDriver;

/// For fuzzing: reads a file of a repository as each of the kinds that it may be, and inspects all that it has.
#[doc(hidden)]
pub fn inspect(bytes: &bytes::Bytes, limits: &ncirrus_layout::Limits) -> usize {
    let info = repo_info::RepoInfo::parse(bytes, limits).map_or(0, |info| info.snapshots.len());
    let snapshot = snapshot::Snapshot::parse(bytes, limits).map_or(0, |snapshot| snapshot.inspect());
    let manifest = manifest::Manifest::parse(bytes, limits).map_or(0, |manifest| manifest.inspect());
    let config = config::containers_in(bytes, limits).map_or(0, |found| found.len());
    let in_blocks = long_manifest::inspect(bytes, limits).map_or(0, |manifest| manifest.inspect());
    info + snapshot + manifest + in_blocks + config
}

/// For fuzzing: a file of a repository with its content decompressed; `None` if it is not one.
#[doc(hidden)]
pub fn uncompressed(bytes: &bytes::Bytes, limits: &ncirrus_layout::Limits) -> Option<Vec<u8>> {
    let kinds = [envelope::FileKind::RepoInfo, envelope::FileKind::Snapshot, envelope::FileKind::Manifest];
    let body = kinds.into_iter().find_map(|kind| envelope::open(bytes, kind, limits).ok())?.body;
    let mut file = bytes.get(..envelope::HEADER - 1)?.to_vec();
    file.push(0);
    file.extend_from_slice(&body);
    Some(file)
}

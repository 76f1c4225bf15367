//! Chunks that a copy leaves encoded are checked all the same: a damaged one is reported.
#![expect(clippy::panic, reason = "helpers of tests fail the test")]
use crate::support::{open, session, values};
use ncirrus::{
    Atomic, CodecSpec, CreateOptions, Dataset, DimensionLen, ErrorKind, Kind, Location, Selection, Session,
    Storage, Values,
};
use ncirrus_tools::{CopyOptions, copy};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

fn chain(ids: &[Value]) -> Vec<CodecSpec> {
    ids.iter().map(|id| CodecSpec::V2(id.as_object().unwrap().clone())).collect()
}

fn made(to: &Path, kind: Kind, filters: Vec<CodecSpec>, session: &Session) {
    let create = CreateOptions::new().kind(kind);
    let dataset = Dataset::create_with(to.to_str().unwrap(), &create, session).unwrap();
    dataset.root().add_dimension("x", DimensionLen::Fixed(3000)).unwrap();
    let variable = dataset.root().add_variable("v", Atomic::Int, &["x"]).unwrap();
    variable.set_storage(Storage::Chunked(vec![1000]), filters).unwrap();
    let numbers = (0..3000).map(|at| at * at % 1009).collect();
    variable.write_values(&Selection::all(&[3000]), &Values::Int(numbers)).unwrap();
    dataset.close().unwrap();
}

fn copied(from: &Path, to: &Path, kind: Kind, verify: bool, session: &Session) -> ncirrus::Result<()> {
    let create = CreateOptions::new().kind(kind);
    let options = CopyOptions::new().create(create).verify(verify);
    copy(&open(from, session)?, to.to_str().unwrap(), &options, session).map(|_| ())
}

/// Ways in which a chunk may be damaged.
fn damages(chunk: &[u8]) -> [(&'static str, Vec<u8>); 4] {
    let mut state = 7u32;
    let random = chunk.iter().map(|_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    });
    [
        ("empty", Vec::new()),
        ("cut", chunk[..chunk.len() / 2].to_vec()),
        ("cut by one", chunk[..chunk.len() - 1].to_vec()),
        ("random", random.collect()),
    ]
}

fn codecs() -> Vec<(&'static str, Vec<Value>)> {
    vec![
        ("none", vec![]),
        ("zlib", vec![json!({"id": "shuffle"}), json!({"id": "zlib", "level": 4})]),
        ("gzip", vec![json!({"id": "gzip", "level": 4})]),
        ("zstd", vec![json!({"id": "zstd", "level": 3})]),
        ("blosc", vec![json!({"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1, "blocksize": 0})]),
        ("lz4", vec![json!({"id": "lz4", "acceleration": 1})]),
        ("bz2", vec![json!({"id": "bz2", "level": 5})]),
        ("crc32", vec![json!({"id": "zlib", "level": 1}), json!({"id": "crc32"})]),
        ("shuffle", vec![json!({"id": "shuffle"})]),
    ]
}

#[test]
fn damaged_chunks_of_a_store_are_reported() {
    let (folder, session) = (tempfile::tempdir().unwrap(), session());
    for (name, filters) in codecs() {
        let from = folder.path().join(format!("{name}.zarr"));
        made(&from, Kind::Zarr2, chain(&filters), &session);
        let chunk = from.join("v/1");
        let whole = std::fs::read(&chunk).unwrap();
        // If nothing but the length can be checked, other numbers are valid, too.
        let shows = |damage: &str| damage != "random" || !matches!(name, "none" | "shuffle");
        for (damage, bytes) in damages(&whole).into_iter().filter(|(damage, _)| shows(damage)) {
            std::fs::write(&chunk, bytes).unwrap();
            let to = folder.path().join(format!("{name} {damage}.zarr"));
            let error = copied(&from, &to, Kind::Zarr2, false, &session).map_err(|error| error.kind());
            assert!(error.is_err(), "{name}, {damage}");
            assert!(!to.exists(), "{name}, {damage}");
        }
        std::fs::write(&chunk, whole).unwrap();
        let to = folder.path().join(format!("{name}_whole.zarr"));
        copied(&from, &to, Kind::Zarr2, true, &session).unwrap();
        assert_eq!(
            std::fs::read(to.join("v/1")).unwrap(),
            std::fs::read(&chunk).unwrap(),
            "{name} passes through"
        );
    }
}

fn place(path: &Path, session: &Session) -> (u64, usize) {
    let dataset = open(path, session).unwrap();
    let chunks = dataset.variable("v").unwrap().chunks(&Selection::all(&[3000])).unwrap();
    let Location::Bytes(_, range) = &chunks[1].stored.location else { panic!("{chunks:?}") };
    (range.start, usize::try_from(range.end - range.start).unwrap())
}

fn overwritten(
    folder: &Path,
    name: &str,
    filters: &[Value],
    change: impl Fn(&mut [u8]),
    session: &Session,
) -> PathBuf {
    let from = folder.join(format!("{name}.nc"));
    made(&from, Kind::Nc4, chain(filters), session);
    let (start, len) = place(&from, session);
    let mut bytes = std::fs::read(&from).unwrap();
    let start = usize::try_from(start).unwrap();
    change(&mut bytes[start..start + len]);
    std::fs::write(&from, bytes).unwrap();
    from
}

#[test]
fn random_chunks_of_a_file_are_reported() {
    let (folder, session) = (tempfile::tempdir().unwrap(), session());
    for (name, filters) in
        codecs().into_iter().filter(|(name, _)| !matches!(*name, "none" | "shuffle" | "gzip" | "crc32"))
    {
        let scribble = |chunk: &mut [u8]| {
            let random = damages(chunk)[3].1.clone();
            chunk.copy_from_slice(&random);
        };
        let from = overwritten(folder.path(), name, &filters, scribble, &session);
        let error = copied(&from, &folder.path().join(format!("{name}_copy.nc")), Kind::Nc4, false, &session);
        assert!(error.is_err(), "{name}");
    }
}

#[test]
fn verifying_decodes_damage_that_framing_does_not_show() {
    let (folder, session) = (tempfile::tempdir().unwrap(), session());
    // The last block of a Zstandard frame is changed; its lengths remain right.
    let filters = [json!({"id": "zstd", "level": 3})];
    let change = |chunk: &mut [u8]| {
        let middle = chunk.len() / 2;
        chunk[middle..].iter_mut().for_each(|byte| *byte = !*byte);
    };
    let from = overwritten(folder.path(), "zstd", &filters, change, &session);
    let damaged = open(&from, &session).unwrap().variable("v").unwrap();
    assert!(values(&damaged).is_err(), "the test needs a chunk that cannot be decoded");
    let error = copied(&from, &folder.path().join("verified.nc"), Kind::Nc4, true, &session).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Malformed);
}

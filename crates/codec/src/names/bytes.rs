//! Which codec chains encode the same elements to the same bytes.
use super::{CodecKind, complete, find, translate};
use crate::ChunkInfo;
use ncirrus_model::CodecSpec;

/// Codecs whose bytes are the same in HDF5 and Zarr. The others that HDF5 has frame their bytes differently (LZ4,
/// Fletcher-32, bit shuffle, zlib under the name of gzip) or work with parameters of the file.
const IN_ALL_SPACES: [CodecKind; 5] =
    [CodecKind::Zlib, CodecKind::Shuffle, CodecKind::Bzip2, CodecKind::Blosc, CodecKind::Zstd];
/// Codecs whose bytes are the same in Zarr v2 and v3, in addition to those.
const IN_ZARR: [CodecKind; 3] = [CodecKind::Gzip, CodecKind::Lz4, CodecKind::Zfp];

/// Whether chunks of that kind encoded by one chain would be decoded by the other to the same elements, and encoded by
/// it with equal parameters. True only if that is certain.
pub fn make_same_bytes(one: &[CodecSpec], other: &[CodecSpec], chunk: &ChunkInfo) -> bool {
    let (one, other) = (working(one), working(other));
    one.len() == other.len() && one.iter().zip(other).all(|(one, other)| make_same(one, other, chunk))
}

/// The codecs that change bytes.
fn working(specs: &[CodecSpec]) -> Vec<&CodecSpec> {
    specs.iter().filter(|spec| find(spec).is_none_or(|name| name.kind != CodecKind::Identity)).collect()
}

fn make_same(one: &CodecSpec, other: &CodecSpec, chunk: &ChunkInfo) -> bool {
    let kind = find(one).map(|name| name.kind);
    if one.space() == other.space() {
        // netcdf-c omits what szip needs, which then follows from the variable.
        let is_szip = kind == Some(CodecKind::Szip) && !matches!(one, CodecSpec::Hdf5 { .. });
        return !is_szip && equal(one, other, chunk);
    }
    let in_hdf5 = [one, other].iter().any(|spec| matches!(spec, CodecSpec::Hdf5 { .. }));
    let is_known =
        kind.is_some_and(|kind| IN_ALL_SPACES.contains(&kind) || (!in_hdf5 && IN_ZARR.contains(&kind)));
    // Translation drops what the other space cannot represent: equality must therefore hold in both directions.
    let is = |one: &CodecSpec, other: &CodecSpec| {
        translate(one, other.space(), &chunk.element).is_ok_and(|one| equal(&one, other, chunk))
    };
    is_known && kind == find(other).map(|name| name.kind) && is(one, other) && is(other, one)
}

fn equal(one: &CodecSpec, other: &CodecSpec, chunk: &ChunkInfo) -> bool {
    let firm = |spec: &CodecSpec| complete(spec, chunk, None).ok().map(without_what_makes_no_bytes);
    firm(one).is_some_and(|one| firm(other) == Some(one))
}

/// Removes what does not affect the bytes: whether a filter may be skipped, and a checksum without a value.
fn without_what_makes_no_bytes(mut spec: CodecSpec) -> CodecSpec {
    match &mut spec {
        CodecSpec::Hdf5 { optional, .. } => *optional = false,
        CodecSpec::V2(map) | CodecSpec::V3 { configuration: map, .. } => {
            if map.get("checksum") == Some(&false.into()) {
                map.remove("checksum");
            }
        }
    }
    spec
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CodecRegistry, CodecScratch, DecodedElement};
    use ncirrus_model::CodecSpace;
    use serde_json::json;

    fn chunk() -> ChunkInfo {
        ChunkInfo { shape: vec![16, 25], element: DecodedElement::sized(Some(4)) }
    }

    fn v2(value: &serde_json::Value) -> CodecSpec {
        CodecSpec::V2(value.as_object().cloned().unwrap_or_default())
    }

    fn everywhere(spec: &CodecSpec) -> Vec<CodecSpec> {
        let spaces = [CodecSpace::Hdf5, CodecSpace::V2, CodecSpace::V3];
        let found = spaces.iter().filter_map(|space| translate(spec, *space, &chunk().element).ok());
        found.map(|spec| complete(&spec, &chunk(), None).unwrap()).collect()
    }

    #[test]
    fn what_counts_as_the_same_is_decoded_by_the_other_space() {
        let elements: Vec<u8> = (0..1600u32).map(|at| (at * at / 7 % 251) as u8).collect();
        for (spec, expected) in [
            (json!({"id": "zlib", "level": 4}), 9),
            (json!({"id": "shuffle", "elementsize": 4}), 9),
            (json!({"id": "bz2", "level": 3}), 9),
            (json!({"id": "zstd", "level": 3}), 9),
            (json!({"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1, "blocksize": 0}), 9),
            (json!({"id": "blosc", "cname": "zstd", "clevel": 3, "shuffle": 2, "blocksize": 0}), 9),
            // Zarr's codecs in pairs.
            (json!({"id": "gzip", "level": 3}), 4),
            (json!({"id": "lz4", "acceleration": 1}), 4),
        ] {
            let (named, mut pairs) = (everywhere(&v2(&spec)), 0);
            for (one, other) in named.iter().flat_map(|one| named.iter().map(move |other| (one, other))) {
                if !make_same_bytes(std::slice::from_ref(one), std::slice::from_ref(other), &chunk()) {
                    continue;
                }
                pairs += i32::from(expected == 9 || one.space() != CodecSpace::Hdf5);
                let bind = |spec: &CodecSpec| {
                    CodecRegistry::builtin().bind(std::slice::from_ref(spec), &chunk()).unwrap()
                };
                let mut scratch = CodecScratch::default();
                let (encoded, mask) = bind(one).encode(&elements, &mut scratch).unwrap();
                assert_eq!(mask, 0, "{one:?}");
                let decoded = bind(other).decode(&encoded, 0, 1 << 20, &mut scratch).unwrap();
                assert!(decoded.as_ref() as &[u8] == elements.as_slice(), "{one:?} {other:?}");
            }
            assert_eq!(pairs, expected, "{spec}");
        }
    }

    #[test]
    fn other_levels_framings_and_sizes_are_not_the_same() {
        let same = |one: &CodecSpec, other: &CodecSpec| {
            make_same_bytes(std::slice::from_ref(one), std::slice::from_ref(other), &chunk())
        };
        let zlib = v2(&json!({"id": "zlib", "level": 4}));
        assert!(same(&CodecSpec::hdf5(1, &[4]), &zlib));
        assert!(!same(&CodecSpec::hdf5(1, &[5]), &zlib));
        assert!(!same(&CodecSpec::hdf5(1, &[4]), &v2(&json!({"id": "gzip", "level": 4}))));
        assert!(!same(&CodecSpec::hdf5(32004, &[]), &v2(&json!({"id": "lz4", "acceleration": 1}))));
        assert!(!same(&CodecSpec::hdf5(3, &[]), &v2(&json!({"id": "fletcher32"}))));
        let narrow = v2(&json!({"id": "shuffle", "elementsize": 2}));
        assert!(!same(&CodecSpec::hdf5(2, &[4]), &narrow) && !same(&narrow, &CodecSpec::hdf5(2, &[4])));
        assert!(!make_same_bytes(std::slice::from_ref(&zlib), &[], &chunk()));
        let bytes = CodecSpec::V3 { name: "bytes".to_owned(), configuration: serde_json::Map::new() };
        assert!(make_same_bytes(&[bytes, zlib.clone()], &[CodecSpec::hdf5(1, &[4])], &chunk()));
    }

    #[test]
    fn filters_without_a_known_name_are_the_same_as_themselves() {
        let unknown = [CodecSpec::hdf5(40_000, &[1, 2])];
        assert!(make_same_bytes(&unknown, &unknown, &chunk()));
        assert!(!make_same_bytes(&unknown, &[CodecSpec::hdf5(40_000, &[1])], &chunk()));
    }
}

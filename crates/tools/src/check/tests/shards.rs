//! Shards whose indexes are damaged, and those with bytes that belong to no chunk.
use super::*;

/// A variable of twelve chunks in two shards, whose index is at that end.
fn create_shards(tree: &Path, index_first: bool) {
    let options = CreateOptions::new().kind(Kind::Zarr3).consolidated(false);
    let new = Dataset::create_with(&address(tree), &options, &session()).unwrap();
    new.edit(|model| {
        let root = model.root();
        let x = model.add_dimension(root, "x", DimensionLen::Fixed(48))?;
        let v = model.add_variable(root, "v", Atomic::Int.into(), &[x])?;
        let variable = model.variable_mut(v).unwrap();
        variable.storage = Storage::Chunked(vec![4]);
        variable.shards = Some(ncirrus::Shards { shape: vec![24], index_first });
        Ok(())
    })
    .unwrap();
    new.variable("v").unwrap().write_all(&(0..48).collect::<Vec<i32>>()).unwrap();
    new.close().unwrap();
}

/// Replaces entries of the index of a shard of six chunks, and its checksum.
fn change_index(shard: &Path, index_first: bool, more: &[u8], change: impl FnOnce(&mut [[u64; 2]])) {
    const LEN: usize = 6 * 16 + 4;
    let mut bytes = std::fs::read(shard).unwrap();
    let at = if index_first { 0 } else { bytes.len() - LEN };
    let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
    let mut entries: Vec<[u64; 2]> =
        (0..6).map(|slot| [word(at + slot * 16), word(at + slot * 16 + 8)]).collect();
    change(&mut entries);
    let mut index: Vec<u8> = entries.concat().iter().flat_map(|number| number.to_le_bytes()).collect();
    index.extend(crc32c(&index).to_le_bytes());
    if index_first {
        bytes[..LEN].copy_from_slice(&index);
        bytes.extend_from_slice(more);
    } else {
        bytes.truncate(at);
        bytes.extend_from_slice(more);
        bytes.extend_from_slice(&index);
    }
    std::fs::write(shard, bytes).unwrap();
}

/// CRC-32C, bit by bit.
fn crc32c(bytes: &[u8]) -> u32 {
    let bit = |sum: u32, _| if sum & 1 == 1 { (sum >> 1) ^ 0x82f6_3b78 } else { sum >> 1 };
    !bytes.iter().fold(u32::MAX, |sum, byte| (0..8).fold(sum ^ u32::from(*byte), bit))
}

/// How a shard is damaged.
type ShardDamage = fn(&mut [[u64; 2]]);

#[test]
fn shards_are_checked_by_their_indexes() {
    let cases: [(&str, ShardDamage, &[u8], &[&str]); 6] = [
        ("nothing", |_| {}, b"", &[]),
        ("bytes left over", |_| {}, b"old bytes", &["bytes-unused"]),
        ("outside", |entries| entries[2][1] += 1000, b"", &["outside-object", "bytes-unused"]),
        ("far outside", |entries| entries[2] = [u64::MAX - 3, 16], b"", &["outside-object", "bytes-unused"]),
        ("overlap", |entries| entries[3][0] -= 4, b"", &["storage-overlap", "bytes-unused"]),
        ("absent", |entries| entries[1] = [u64::MAX; 2], b"", &["bytes-unused", "chunks-absent"]),
    ];
    for index_first in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        for (name, change, more, expected) in cases {
            let tree = folder.path().join(name);
            create_shards(&tree, index_first);
            change_index(&tree.join("v/c/1"), index_first, more, change);
            let report = checked(&address(&tree), &CheckOptions::new().quick(true).absent(true));
            assert_eq!(codes(&report), expected, "{name}: {report}");
            let is_damaged =
                expected.iter().any(|code| matches!(*code, "outside-object" | "storage-overlap"));
            assert_eq!(report.is_sound(), !is_damaged, "{name}");
            let place = report.findings.first().filter(|finding| finding.severity == Severity::Error);
            if let Some(found) = place {
                let chunk = if name == "overlap" { 24 + 3 * 4 } else { 24 + 2 * 4 };
                assert_eq!(found.chunk, Some(vec![chunk]), "{name}");
                assert!(found.object.as_ref().is_some_and(|object| object.ends_with("v/c/1")), "{name}");
            }
            if name == "absent" {
                assert_eq!(report.absent[0].starts, [[28]]);
            }
            assert_eq!(report.chunks, if name == "absent" { 11 } else { 12 }, "{name}");
        }
    }
}

#[test]
fn a_damaged_index_of_a_shard_is_reported_and_the_other_shards_are_checked() {
    let folder = tempfile::tempdir().unwrap();
    let tree = folder.path().join("a.zarr");
    create_shards(&tree, false);
    let shard = tree.join("v/c/0");
    let mut bytes = std::fs::read(&shard).unwrap();
    let at = bytes.len() - 30;
    bytes[at] ^= 1;
    std::fs::write(&shard, &bytes).unwrap();
    change_index(&tree.join("v/c/1"), false, b"?", |_| {});
    let report = checked(&address(&tree), &CheckOptions::new().quick(true));
    assert_eq!(codes(&report), ["checksum-wrong", "bytes-unused"], "{report}");
    std::fs::write(&shard, b"short").unwrap();
    let report = checked(&address(&tree), &CheckOptions::new().quick(true));
    assert_eq!(codes(&report), ["chunk-damaged", "bytes-unused"], "{report}");
    assert!(!report.is_sound());
}

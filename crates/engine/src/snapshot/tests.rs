use super::*;
use ncirrus_layout::StoreId;

fn filled(parts: &[Range<u64>]) -> ObjectBlocks {
    let mut blocks = ObjectBlocks::default();
    for part in parts {
        let bytes: Vec<u8> = part.clone().map(|at| u8::try_from(at).unwrap()).collect();
        blocks.insert(part.start, bytes.into());
    }
    blocks
}

#[test]
fn a_range_is_found_across_blocks_but_not_across_gaps() {
    let blocks = filled(&[0..10, 8..20, 30..40, 40..45]);
    let found = |range: Range<u64>| blocks.find(&range).map(|bytes| bytes.to_vec());
    assert_eq!(found(3..5), Some(vec![3, 4]));
    assert_eq!(found(0..20), Some((0..20).collect()));
    assert_eq!(found(35..45), Some((35..45).collect()));
    assert_eq!(found(15..31), None);
    assert_eq!(found(44..46), None);
}

#[test]
fn blocks_within_others_are_dropped() {
    let blocks = filled(&[3..5, 7..8, 0..10, 2..4]);
    assert_eq!(blocks.0.len(), 1);
    assert_eq!(blocks.find(&(0..10)).unwrap().len(), 10);
}

#[test]
fn wants_are_cut_at_the_end_of_the_object() {
    assert_eq!(resolve(&Want::Range(5..50), 10), 5..10);
    assert_eq!(resolve(&Want::Parse(20..50), 10), 10..10);
    assert_eq!(resolve(&Want::Suffix(4), 10), 6..10);
    assert_eq!(resolve(&Want::Suffix(40), 10), 0..10);
}

#[test]
fn a_changed_tag_is_noticed() {
    let store = ncirrus_store::MemoryStore::new("memory:t").shared();
    let snapshot = StoreSnapshot::new(store, 1000, None);
    let object = ObjectId::new(StoreId::new("memory:t"), "a");
    assert!(snapshot.check(&object, &Tag::new("1")).is_ok());
    assert!(snapshot.check(&object, &Tag::new("1")).is_ok());
    assert_eq!(snapshot.check(&object, &Tag::new("2")).unwrap_err().kind(), ErrorKind::Changed);
}

#[test]
fn a_range_is_found_across_what_is_pinned_and_what_is_cached() {
    let snapshot = StoreSnapshot::new(ncirrus_store::MemoryStore::new("memory:t").shared(), 1000, None);
    let object = ObjectId::new(StoreId::new("memory:t"), "a");
    let blob = |range: Range<u64>| {
        let bytes: Vec<u8> = range.clone().map(|at| u8::try_from(at).unwrap()).collect();
        Some(ObjectBytes { bytes: bytes.into(), offset: range.start, size: 40, tag: Tag::new("1") })
    };
    let mut finished = PinnedBytes::default();
    finished.take(&snapshot, &object, blob(0..10)).unwrap();
    finished.take(&snapshot, &object, blob(20..30)).unwrap();
    snapshot.keep(finished);
    let mut held = PinnedBytes::default();
    held.take(&snapshot, &object, blob(10..20)).unwrap();
    let mut found = |range: Range<u64>| {
        let found = held.find(&snapshot, &object, &Want::Range(range))?;
        Some(found.unwrap().bytes.to_vec())
    };
    assert_eq!(found(8..22), Some((8..22).collect()));
    assert_eq!(found(25..31), None);
}

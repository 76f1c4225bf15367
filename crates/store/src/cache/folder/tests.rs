use super::*;
use bytes::Bytes;
use ncirrus_layout::StoreId;
use proptest::prelude::*;
use std::path::Path;
use std::time::Duration;

fn object(key: &str) -> ObjectId {
    ObjectId::new(StoreId::new("https://host/folder"), key)
}

fn entry(bytes: usize) -> CacheEntry {
    let blocks = vec![(0, vec![1; bytes / 2].into()), (1 << 20, Bytes::from(vec![2; bytes - bytes / 2]))];
    CacheEntry { driver: Some("hdf5".into()), tag: Tag::new("\"abc\""), size: 1 << 30, blocks }
}

fn bytes_in(folder: &Path) -> u64 {
    CacheFolder::of_indexes(folder.into(), 0).list().unwrap().iter().map(|(_, len, _)| len).sum()
}

#[test]
fn what_is_kept_is_found_for_that_object_alone() {
    let folder = tempfile::tempdir().unwrap();
    let cache = CacheFolder::of_indexes(folder.path().join("made/on/demand"), 1 << 20);
    cache.keep(&object("a"), &entry(10_000));
    assert_eq!(cache.find(&object("a")), Some(entry(10_000)));
    assert_eq!(cache.find(&object("b")), None);
    cache.forget(&object("a"));
    assert_eq!(cache.find(&object("a")), None);
}

#[cfg(unix)]
#[test]
fn kept_bytes_are_unreadable_for_other_users() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let cache = CacheFolder::of_indexes(folder.path().into(), 1 << 20);
    cache.keep(&object("a"), &entry(10_000));
    let (.., file) = cache.list().unwrap().remove(0);
    assert_eq!(fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn what_does_not_last_or_must_not_be_kept_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let cache = CacheFolder::of_indexes(folder.path().into(), 1 << 20);
    for tag in ["", "W/\"abc\"", "-123", "Sat, 21 Nov 2026 10:00:00 GMT-123", "2026-11-21 10:00:00 UTC-5"] {
        cache.keep(&object("a"), &CacheEntry { tag: Tag::new(tag), ..entry(10_000) });
    }
    cache.keep(&object("a").with_query("token=secret"), &entry(10_000));
    let marked = ObjectId::new(StoreId::new("https://host/folder").marked("0123456789abcdef"), "a");
    cache.keep(&marked, &entry(10_000));
    cache.keep(&object("a"), &entry((4 << 10) - 1));
    cache.keep(&object("a"), &entry(2 << 20));
    assert_eq!(bytes_in(folder.path()), 0);
}

#[test]
fn the_files_used_longest_ago_go_first() {
    let folder = tempfile::tempdir().unwrap();
    let cache = CacheFolder::of_indexes(folder.path().into(), 35_000);
    for (age, key) in [(3, "a"), (2, "b"), (1, "c"), (0, "d")] {
        cache.keep(&object(key), &entry(10_000));
        let file = File::options().append(true).open(cache.file((&object(key)).into()).unwrap()).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(100 * age)).unwrap();
    }
    cache.touch(&object("a"));
    cache.shrink();
    assert!(bytes_in(folder.path()) <= 35_000);
    let kept = ["a", "b", "c", "d"].map(|key| cache.find(&object(key)).is_some());
    assert_eq!(kept, [true, false, true, true]);
}

#[test]
fn a_folder_that_cannot_be_written_is_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "not a folder").unwrap();
    let cache = CacheFolder::of_indexes(file, 1 << 20);
    assert!(cache.warning().unwrap().contains("no index cache"));
    cache.keep(&object("a"), &entry(10_000));
    assert_eq!(cache.find(&object("a")), None);
}

#[test]
fn files_of_another_version_are_ignored_and_removed() {
    let folder = tempfile::tempdir().unwrap();
    let cache = CacheFolder::of_indexes(folder.path().into(), 1 << 20);
    fs::write(cache.file((&object("a")).into()).unwrap(), b"ncirrus cache\x02 and so on").unwrap();
    assert_eq!(cache.find(&object("a")), None);
    assert_eq!(bytes_in(folder.path()), 0);
}

proptest! {
    #[test]
    fn damaged_and_cut_files_are_no_entries(at in any::<prop::sample::Index>(), bit in 0u8..8) {
        let file = entry(5000).encode("address");
        prop_assert_eq!(CacheEntry::decode(file.clone(), "address"), Some(entry(5000)));
        prop_assert_eq!(CacheEntry::decode(file.clone(), "another"), None);
        let at = at.index(file.len());
        prop_assert_eq!(CacheEntry::decode(file[..at].to_vec(), "address"), None);
        let mut damaged = file;
        damaged[at] ^= 1 << bit;
        prop_assert_eq!(CacheEntry::decode(damaged, "address"), None);
    }
}

use super::*;
use ncirrus_layout::ErrorKind;

#[test]
fn what_is_written_is_read_and_the_folder_stays_empty() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("made/if/need/be");
    let mut file = MappedFile::create(&place, 100_000).unwrap();
    assert!(file.bytes().iter().all(|byte| *byte == 0));
    file.bytes_mut()[99_999] = 7;
    assert_eq!((file.bytes().len(), file.bytes()[99_999]), (100_000, 7));
    if cfg!(unix) {
        assert_eq!(std::fs::read_dir(&place).unwrap().count(), 0, "it has no name that could be left behind");
    }
    drop(file);
    assert_eq!(std::fs::read_dir(&place).unwrap().count(), 0);
}

#[test]
fn no_bytes_need_no_file() {
    let file = MappedFile::create(Path::new("/there/is/no/such/folder"), 0).unwrap();
    assert!(file.bytes().is_empty());
}

#[test]
fn more_than_there_is_room_for_is_an_error_at_once() {
    let folder = tempfile::tempdir().unwrap();
    for (len, kind) in [(u64::MAX, ErrorKind::Limit), (1 << 62, ErrorKind::Io { retryable: false })] {
        assert_eq!(MappedFile::create(folder.path(), len).unwrap_err().kind(), kind, "{len}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

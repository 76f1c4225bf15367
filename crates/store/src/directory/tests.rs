//! What is special about files.
use super::*;
use crate::tests::now;
use ncirrus_layout::ErrorKind;
use std::thread;

fn store() -> (tempfile::TempDir, DirectoryStore) {
    let folder = tempfile::tempdir().unwrap();
    let store = DirectoryStore::new(folder.path());
    (folder, store)
}

fn names(store: &DirectoryStore) -> Vec<String> {
    let listing = LocalStore::list(store, &store.root(), None).unwrap();
    listing.entries.into_iter().map(|entry| entry.name).collect()
}

#[test]
fn unfinished_files_are_not_listed() {
    let (folder, store) = store();
    store.put(&store.root().child("a"), b"1", &PutCondition::None).unwrap();
    fs::write(folder.path().join(".a.1-0011223344556677.put.ncirrus-tmp"), "half").unwrap();
    fs::write(folder.path().join(".hidden"), "1").unwrap();
    assert_eq!(names(&store), [".hidden", "a"]);
}

#[test]
fn prefixes_that_become_empty_go() {
    let (folder, store) = store();
    let object = store.root().child("a/b/c");
    store.put(&object, b"1", &PutCondition::None).unwrap();
    store.put(&store.root().child("a/d"), b"1", &PutCondition::None).unwrap();
    store.delete(&object).unwrap();
    assert!(!folder.path().join("a/b").exists() && folder.path().join("a/d").exists());
    store.delete_tree(&store.root().child("a")).unwrap();
    assert!(folder.path().exists());
}

#[test]
fn names_that_are_too_long_are_absent() {
    let (_folder, store) = store();
    let object = store.root().child(&"x".repeat(300));
    assert_eq!(store.read(&object, &Want::All).unwrap(), None);
    assert_eq!(store.put(&object, b"", &PutCondition::None).unwrap_err().kind(), ErrorKind::Invalid);
    let longest = store.root().child(&"x".repeat(255));
    store.put(&longest, b"1", &PutCondition::None).unwrap();
    assert_eq!(names(&store).len(), 1);
}

#[test]
fn a_file_read_through_a_kept_handle_is_the_one_that_was_put_last() {
    let folder = tempfile::tempdir().unwrap();
    let (store, object) = DirectoryStore::of_file(folder.path().join("x.nc")).unwrap();
    let read = || store.read(&object, &Want::All).unwrap().map(|blob| blob.bytes);
    assert_eq!(read(), None);
    for body in [&b"one"[..], b"two", b"three"] {
        store.put(&object, body, &PutCondition::None).unwrap();
        assert_eq!(read().as_deref(), Some(body));
    }
    store.write_at(&object, 0, b"T").unwrap();
    assert_eq!(read().as_deref(), Some(&b"Three"[..]));
    store.delete(&object).unwrap();
    assert_eq!(read(), None);
}

#[test]
fn only_one_of_many_creates_an_object() {
    let (_folder, store) = store();
    let object = store.root().child("a/b/lock");
    let winners: usize = thread::scope(|scope| {
        let run = || store.put(&object, b"mine", &PutCondition::Absent).is_ok();
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(run)).collect();
        threads.into_iter().map(|thread| usize::from(thread.join().unwrap())).sum()
    });
    assert_eq!(winners, 1);
}

#[test]
fn readers_see_whole_objects_while_others_put_and_delete() {
    let (_folder, store) = store();
    let object = store.root().child("a/b/c");
    thread::scope(|scope| {
        for byte in [b'x', b'y'] {
            let (store, object) = (&store, &object);
            scope.spawn(move || {
                for _ in 0..200 {
                    store.put(object, &[byte; 5000], &PutCondition::None).unwrap();
                    store.delete(object).unwrap();
                }
            });
        }
        for _ in 0..500 {
            if let Some(blob) = store.read(&object, &Want::All).unwrap() {
                assert!(blob.bytes.len() == 5000 && blob.bytes.iter().all(|byte| *byte == blob.bytes[0]));
            }
        }
    });
}

#[test]
fn a_barrier_is_fine_with_few_files_many_and_gone_ones() {
    let (folder, store) = store();
    for count in [1, 3, 40] {
        for i in 0..count {
            store.put(&store.root().child(&format!("d/{i}")), b"1", &PutCondition::None).unwrap();
        }
        fs::remove_file(folder.path().join("d/0")).unwrap();
        store.barrier().unwrap();
    }
    fs::remove_dir_all(folder.path()).unwrap();
    store.note(&folder.path().join("d/1"));
    store.barrier().unwrap();
}

#[test]
fn large_directories_are_listed_in_pages() {
    let entries = (0..page::PAGE + 10).map(|i| ListEntry { name: format!("{i:08}"), is_prefix: false });
    let first = page::cut(entries.clone(), None);
    let second = page::cut(entries.clone(), first.next.as_deref());
    assert_eq!((first.entries.len(), second.entries.len(), second.next), (page::PAGE, 10, None));
    assert!(entries.eq(first.entries.into_iter().chain(second.entries)));
}

#[cfg(unix)]
#[test]
fn links_are_followed_and_pipes_are_refused() {
    let (folder, store) = store();
    fs::create_dir(folder.path().join("real")).unwrap();
    fs::write(folder.path().join("real/x"), "1").unwrap();
    std::os::unix::fs::symlink("real", folder.path().join("link")).unwrap();
    let found = store.read(&store.root().child("link/x"), &Want::All).unwrap();
    assert_eq!(found.unwrap().bytes.as_ref(), b"1");
    let listing = LocalStore::list(&store, &store.root(), None).unwrap();
    assert!(listing.entries.iter().all(|entry| entry.is_prefix));
    rustix::fs::mkfifoat(rustix::fs::CWD, folder.path().join("pipe"), rustix::fs::Mode::RUSR).unwrap();
    let error = store.read(&store.root().child("pipe"), &Want::All).unwrap_err();
    assert_eq!(error.message(), "not a regular file");
}

#[cfg(target_os = "linux")]
#[test]
fn names_that_are_no_text_are_not_listed() {
    use std::os::unix::ffi::OsStrExt;
    let (folder, store) = store();
    fs::write(folder.path().join(std::ffi::OsStr::from_bytes(b"\xff")), "1").unwrap();
    assert_eq!(names(&store), [""; 0]);
}

#[cfg(target_os = "linux")]
#[test]
fn files_and_folders_whose_names_are_no_text_are_apart() {
    use std::os::unix::ffi::OsStrExt;
    let folder = tempfile::tempdir().unwrap();
    let at = |folder: &[u8], name: &[u8]| {
        [folder, name].map(std::ffi::OsStr::from_bytes).iter().collect::<PathBuf>()
    };
    let paths = [
        at(b"\xe9", b"\xe9.nc"),
        at(b"\xe9", b"\xe8.nc"),
        at(b"\xe8", b"\xe9.nc"),
        at(b"\xe8", "\u{fffd}.nc".as_bytes()),
    ];
    let places = paths.each_ref().map(|path| DirectoryStore::of_file(folder.path().join(path)).unwrap());
    for ((store, object), body) in places.iter().zip([b"0", b"1", b"2", b"3"]) {
        store.put(object, body, &PutCondition::None).unwrap();
        let copy = store.name_for_copy(object);
        store.put(&copy, body, &PutCondition::None).unwrap();
        store.replace(&copy, object).unwrap();
    }
    for (((store, object), path), body) in places.iter().zip(&paths).zip([b"0", b"1", b"2", b"3"]) {
        assert_eq!(fs::read(folder.path().join(path)).unwrap(), body);
        assert_eq!(store.read(object, &Want::All).unwrap().unwrap().bytes.as_ref(), body);
        assert_eq!(places.iter().filter(|(_, other)| other == object).count(), 1, "{object}");
    }
    let (store, _) = &places[0];
    for key in ["\0", "\0e", "a/\0E9", "../\0e9", "\0e9/"] {
        assert_eq!(
            store.read(&store.root().child(key), &Want::All).unwrap_err().kind(),
            ErrorKind::Invalid,
            "{key:?}"
        );
    }
}

#[test]
fn the_current_directory_needs_no_name() {
    let store = DirectoryStore::new("");
    assert_eq!(store.root().child("x.nc").to_string(), "x.nc");
    let (store, object) = DirectoryStore::of_file("Cargo.toml").unwrap();
    let found = now(store.shared().get(&object, &Want::Range(0..9))).unwrap().unwrap();
    assert_eq!(found.bytes.as_ref(), b"[package]");
    assert_eq!(DirectoryStore::of_file("..").unwrap_err().kind(), ErrorKind::Invalid);
}

#[test]
fn new_objects_have_their_own_names_from_the_start_in_new_trees() {
    let (folder, store) = store();
    let unseen = DirectoryStore::new(folder.path()).unseen();
    let path = folder.path().join("a/b");
    let named = |store: &DirectoryStore| {
        let (_, name) = store.create(&path).unwrap();
        let is_own = name == path;
        fs::remove_file(name).unwrap();
        is_own
    };
    assert!(named(&unseen) && !named(&store));
    fs::write(&path, "old").unwrap();
    let (_, name) = unseen.create(&path).unwrap();
    assert!(
        temporary::is_temporary(&name.file_name().unwrap().to_string_lossy()),
        "what is there is replaced at once"
    );
    fs::remove_file(name).unwrap();
    let object = unseen.root().child("a/b");
    unseen.put(&object, b"new", &PutCondition::None).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"new");
    assert_eq!(unseen.put(&object, b"x", &PutCondition::Absent).unwrap_err().kind(), ErrorKind::Conflict);
    assert_eq!(
        unseen.put(&unseen.root().child("a"), b"x", &PutCondition::None).unwrap_err().kind(),
        ErrorKind::Conflict
    );
    assert_eq!(names(&unseen), ["a"]);
}

#[test]
fn a_file_that_is_changed_stays_open_until_another_takes_its_place() {
    let (folder, store) = store();
    let handles = HandleBudget::new(4);
    let store = store.sharing(&handles);
    let [object, other] = ["a", "b"].map(|key| store.root().child(key));
    let content = || fs::read(folder.path().join("a")).unwrap();
    let writes = |offset, bytes: &[u8]| store.write_at(&object, offset, bytes).unwrap();
    writes(0, b"one");
    writes(3, b"two");
    assert_eq!((content(), handles.open_count()), (b"onetwo".to_vec(), 1));

    store.put(&object, b"put", &PutCondition::None).unwrap();
    assert_eq!(handles.open_count(), 0);
    writes(0, b"P");
    assert_eq!(content(), b"Put");

    store.put(&other, b"other", &PutCondition::None).unwrap();
    store.replace(&other, &object).unwrap();
    writes(0, b"O");
    assert_eq!(content(), b"Other");

    store.rename(&object, &other).unwrap();
    writes(0, b"new");
    assert_eq!((content(), fs::read(folder.path().join("b")).unwrap()), (b"new".to_vec(), b"Other".to_vec()));

    store.delete(&object).unwrap();
    store.resize(&object, 2).unwrap();
    assert_eq!((content(), handles.open_count()), (vec![0, 0], 1));
    drop(store);
    assert_eq!(handles.open_count(), 0);
}

#[test]
fn an_object_that_is_read_whole_is_not_kept_open() {
    let (_folder, store) = store();
    let handles = HandleBudget::new(4);
    let store = store.sharing(&handles);
    let [whole, part] = ["whole", "part"].map(|key| store.root().child(key));
    for object in [&whole, &part] {
        store.put(object, b"bytes", &PutCondition::None).unwrap();
    }
    store.read_into(&part, 1, &mut [0; 2]).unwrap();
    let mut buffer = Vec::new();
    assert_eq!(store.read_whole(&whole, 5, &mut buffer).unwrap(), Some(5));
    assert_eq!((buffer.as_slice(), handles.open_count()), (b"bytes".as_slice(), 1));
}

#[test]
fn what_is_held_is_changed_whatever_has_its_name_now() {
    let folder = tempfile::tempdir().unwrap();
    let [path, moved, other] = ["x.nc", "moved.nc", "other.nc"].map(|name| folder.path().join(name));
    fs::write(&path, "0000").unwrap();
    let (store, object) = DirectoryStore::of_file(&path).unwrap();
    let store = store.holding(&object, HeldFor::Changing).unwrap();
    fs::rename(&path, &moved).unwrap();
    store.write_at(&object, 0, b"1").unwrap();
    assert!(!path.exists(), "nothing comes to the old name");
    fs::write(&other, "other").unwrap();
    fs::rename(&other, &path).unwrap();
    store.write_at(&object, 1, b"2").unwrap();
    store.resize(&object, 3).unwrap();
    store.barrier().unwrap();
    assert_eq!((fs::read(&path).unwrap(), fs::read(&moved).unwrap()), (b"other".to_vec(), b"120".to_vec()));
    assert_eq!(store.stat(&object).unwrap().unwrap().0, 3);
    let copy = store.name_for_copy(&object);
    store.write_at(&copy, 0, b"rewritten").unwrap();
    let error = store.delete(&object).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict);
    assert!(error.message().contains("moved or replaced"), "{error}");
    store.put(&object, b"put", &PutCondition::None).unwrap();
    assert_eq!(fs::read(&moved).unwrap(), b"put");
    store.replace(&copy, &object).unwrap();
    assert_eq!(
        (fs::read(&path).unwrap(), fs::read(&moved).unwrap()),
        (b"other".to_vec(), b"rewritten".to_vec())
    );
    fs::rename(&moved, &path).unwrap();
    store.write_at(&copy, 0, b"rewritten").unwrap();
    store.replace(&copy, &object).unwrap();
    store.write_at(&object, 0, b"R").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"Rewritten");
}

#[test]
fn a_file_that_is_held_for_reading_is_read_as_it_was_opened() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.nc");
    fs::write(&path, "one").unwrap();
    let (store, object) = DirectoryStore::of_file(&path).unwrap();
    let store = store.holding(&object, HeldFor::Reading).unwrap();
    let (_, tag) = store.stat(&object).unwrap().unwrap();
    let read = || store.read(&object, &Want::All).unwrap().map(|blob| (blob.bytes.to_vec(), blob.tag));
    fs::write(&path, "longer").unwrap();
    assert_eq!(read(), Some((b"longer".to_vec(), tag.clone())), "its state is not looked at");
    assert_ne!(store.stat_by_name(&object).unwrap().unwrap().1, tag);
    fs::remove_file(&path).unwrap();
    fs::write(&path, "another").unwrap();
    assert_eq!(read(), Some((b"longer".to_vec(), tag)));
    fs::remove_file(&path).unwrap();
    assert_eq!((read().map(|(bytes, _)| bytes.len()), store.stat_by_name(&object).unwrap()), (Some(6), None));
}

#[test]
fn the_first_bytes_of_a_file_that_is_opened_to_be_read_are_read_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.nc");
    let opened = |content: &[u8]| {
        fs::write(&path, content).unwrap();
        let (store, object) = DirectoryStore::of_file(&path).unwrap();
        let (file, metadata) = (File::open(&path).unwrap(), fs::metadata(&path).unwrap());
        (store.reading_on(&object, file, &metadata), object)
    };
    let front = usize::try_from(FRONT).unwrap();
    let read = |(store, object): &(DirectoryStore, ObjectId), want| {
        let blob = store.read(object, &want).unwrap().unwrap();
        (blob.bytes.to_vec(), blob.offset, blob.size)
    };
    let first = |(store, object): &(DirectoryStore, ObjectId)| {
        let mut head = [0; 4];
        let len = store.read_into(object, 0, &mut head).unwrap().unwrap();
        head[..len].to_vec()
    };
    let short = opened(b"one");
    fs::write(&path, "longer").unwrap();
    assert_eq!((first(&short), first(&short)), (b"one".to_vec(), b"one".to_vec()));
    assert_eq!(read(&short, Want::Parse(0..FRONT)), (b"one".to_vec(), 0, 3));
    assert_eq!(
        read(&short, Want::Parse(0..FRONT)),
        (b"longer".to_vec(), 0, 6),
        "later reads see the file as it is"
    );
    assert_eq!(first(&short), b"long");
    let long = opened(&vec![7; front + 1]);
    fs::write(&path, vec![8; front + 1]).unwrap();
    assert_eq!(read(&long, Want::Parse(2..FRONT)), (vec![7; front - 2], 2, FRONT + 1));
    let long = opened(&vec![7; front + 1]);
    fs::write(&path, vec![8; front + 1]).unwrap();
    assert_eq!(read(&long, Want::All), (vec![8; front + 1], 0, FRONT + 1), "there is more than was read");
    // What changes the file is read.
    let (store, object) = opened(b"one");
    store.write_at(&object, 0, b"t").unwrap();
    assert_eq!(read(&(store, object), Want::All).0, b"tne");
}

#[cfg(unix)]
#[test]
fn a_file_that_is_rewritten_keeps_its_other_names() {
    let folder = tempfile::tempdir().unwrap();
    let (path, other) = (folder.path().join("x.nc"), folder.path().join("other.nc"));
    fs::write(&path, "old bytes").unwrap();
    fs::hard_link(&path, &other).unwrap();
    let (store, object) = DirectoryStore::of_file(&path).unwrap();
    for new in [&b"longer than the old bytes"[..], b"short", b"", b"again"] {
        let copy = store.name_for_copy(&object);
        store.put(&copy, new, &PutCondition::None).unwrap();
        store.replace(&copy, &object).unwrap();
        assert_eq!(fs::read(&path).unwrap(), new);
        assert_eq!(fs::read(&other).unwrap(), new);
        assert_eq!(names(&store), ["other.nc", "x.nc"]);
    }
}

#[cfg(unix)]
#[test]
fn a_file_that_is_rewritten_keeps_its_links_and_who_may_read_it() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let (path, link) = (folder.path().join("x.nc"), folder.path().join("link.nc"));
    fs::write(&path, "old").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    std::os::unix::fs::symlink("x.nc", &link).unwrap();
    let (store, object) = DirectoryStore::of_file(&link).unwrap();
    let store = store.holding(&object, HeldFor::Changing).unwrap();
    let copy = store.name_for_copy(&object);
    store.write_at(&copy, 0, b"new").unwrap();
    store.replace(&copy, &object).unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::read(&path).unwrap(), b"new");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(names(&store), ["link.nc", "x.nc"]);
}

#[test]
fn of_two_stores_that_replace_one_state_one_succeeds() {
    // Stores of their own stand for programs: they share no lock in memory.
    let folder = tempfile::tempdir().unwrap();
    let seed = DirectoryStore::new(folder.path());
    let mut tag = seed.put(&seed.root().child("z/0"), b"0", &PutCondition::None).unwrap();
    for round in 0..200 {
        let when = PutCondition::Matches(tag.clone());
        let put = |writer: u8| {
            let store = DirectoryStore::new(folder.path());
            store.put(&store.root().child("z/0"), &[writer], &when)
        };
        let done: Vec<_> = thread::scope(|scope| {
            let puts = [1_u8, 2, 3].map(|writer| scope.spawn(move || put(writer)));
            puts.into_iter().map(|put| put.join().unwrap()).collect()
        });
        let tags: Vec<_> = done.iter().filter_map(|put| put.as_ref().ok()).collect();
        assert_eq!(tags.len(), 1, "round {round}");
        let refused = done.iter().filter_map(|put| put.as_ref().err());
        refused.for_each(|error| assert_eq!(error.kind(), ErrorKind::Conflict));
        tag = tags[0].clone();
    }
}

#[test]
fn states_of_one_length_have_tags_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let store = DirectoryStore::new(folder.path());
    let object = store.root().child("x");
    let tags: std::collections::HashSet<_> =
        (0..500_u32).map(|_| store.put(&object, b"same", &PutCondition::None).unwrap()).collect();
    assert_eq!(tags.len(), 500);
}

#[test]
#[cfg(unix)]
fn a_link_to_nothing_is_an_error_not_an_absent_object() {
    let (folder, store) = store();
    std::os::unix::fs::symlink("nowhere", folder.path().join("0")).unwrap();
    assert_eq!(names(&store), ["0"]);
    let object = store.root().child("0");
    let mut buffer = Vec::new();
    for error in [
        LocalStore::read(&store, &object, &Want::All).map(drop),
        store.read_whole(&object, 10, &mut buffer).map(drop),
        store.read_into(&object, 0, &mut [0; 4]).map(drop),
        store.opened(&object).map(drop),
    ] {
        let error = error.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
        assert_eq!(error.message(), "a symbolic link to a file that does not exist");
    }
    fs::write(folder.path().join("nowhere"), b"1").unwrap();
    assert_eq!(store.read_whole(&object, 10, &mut buffer).unwrap(), Some(1));
}

#[test]
#[cfg(unix)]
fn an_object_that_may_not_be_read_is_denied() {
    use std::os::unix::fs::PermissionsExt;
    let (folder, store) = store();
    let object = store.root().child("v/0");
    store.put(&object, b"1", &PutCondition::None).unwrap();
    for (path, mode) in [("v/0", 0o000), ("v", 0o400), ("v", 0o000)] {
        let path = folder.path().join(path);
        let before = fs::metadata(&path).unwrap().permissions();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        let is_privileged = fs::read(folder.path().join("v/0")).is_ok();
        let read = LocalStore::read(&store, &object, &Want::All);
        let into = store.read_into(&object, 0, &mut [0; 1]);
        fs::set_permissions(&path, before).unwrap();
        if !is_privileged {
            assert_eq!(read.unwrap_err().kind(), ErrorKind::Denied, "{}", path.display());
            assert_eq!(into.unwrap_err().kind(), ErrorKind::Denied, "{}", path.display());
        }
    }
}

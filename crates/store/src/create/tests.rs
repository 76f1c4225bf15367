//! Creation is all or nothing, on the local file system and in memory.
use super::*;
use crate::tests::now;
use crate::{PutCondition, open};
use ncirrus_layout::ErrorKind;
use ncirrus_layout::Want;
use std::fs;
use std::path::Path;

mod trees;

fn context() -> StoreContext {
    StoreContext::default()
}

fn stage(path: &Path, shape: DatasetShape, clobber: OverwritePolicy) -> Result<StagedDataset> {
    now(create(path.to_str().unwrap(), shape, clobber, &context()))
}

fn put(staged: &StagedDataset, name: &str, body: &'static [u8]) {
    now(staged.store.put(&staged.root.child(name), body.into(), PutCondition::None)).unwrap();
}

fn make_tree(path: &Path, clobber: OverwritePolicy, body: &'static [u8]) -> Result<()> {
    let staged = stage(path, DatasetShape::Tree, clobber)?;
    put(&staged, ".zgroup", body);
    put(&staged, "v/.zarray", b"{}");
    put(&staged, "v/0.0", body);
    now(staged.commit())
}

fn make_file(path: &Path, clobber: OverwritePolicy, body: &[u8]) -> Result<()> {
    let staged = stage(path, DatasetShape::Object, clobber)?;
    staged.store.local().unwrap().write_at(&staged.root, 0, body)?;
    now(staged.commit())
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_tree_appears_on_commit_and_is_replaced_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.zarr");
    let staged = stage(&path, DatasetShape::Tree, OverwritePolicy::Never).unwrap();
    put(&staged, ".zgroup", b"{}");
    assert!(!path.exists());
    assert_eq!(staged.name, "x");
    let store = Arc::clone(&staged.store);
    let document = staged.root.child(".zgroup");
    let exclusion = || store.local().unwrap().exclusion(&document).unwrap();
    assert_eq!(exclusion(), crate::Exclusion::Alone);
    now(staged.commit()).unwrap();
    assert_ne!(exclusion(), crate::Exclusion::Alone, "others can see it now");
    assert_eq!(names(folder.path()), ["x.zarr"]);
    assert_eq!(make_tree(&path, OverwritePolicy::Never, b"1").unwrap_err().message(), "exists already");
    make_tree(&path, OverwritePolicy::Replace, b"2").unwrap();
    assert_eq!(fs::read(path.join("v/0.0")).unwrap(), b"2");
    assert_eq!(names(folder.path()), ["x.zarr"]);
}

#[test]
fn writers_that_replace_a_tree_at_the_same_time_all_succeed_and_keep_foreign_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.zarr");
    // Each writer has variables of its own, and many, so that listing them takes long enough for another writer.
    let make = |writer: usize, clobber| {
        let staged = stage(&path, DatasetShape::Tree, clobber)?;
        put(&staged, ".zgroup", b"{}");
        (0..20).for_each(|at| put(&staged, &format!("v{writer}-{at}/.zarray"), b"{}"));
        now(staged.commit())
    };
    make(0, OverwritePolicy::Never).unwrap();
    fs::create_dir(path.join("by hand")).unwrap();
    fs::write(path.join("by hand/notes.txt"), b"kept").unwrap();
    let replace = |writer| (0..25).try_for_each(|_| make(writer, OverwritePolicy::Replace));
    std::thread::scope(|scope| {
        let writers: Vec<_> = (0..4).map(|writer| scope.spawn(move || replace(writer))).collect();
        for writer in writers {
            writer.join().unwrap().unwrap();
        }
    });
    assert_eq!(fs::read(path.join("by hand/notes.txt")).unwrap(), b"kept");
    assert_eq!(names(&path).len(), 22, "{:?}", names(&path));
    assert_eq!(names(folder.path()), ["x.zarr"]);
}

#[test]
fn writers_that_replace_a_file_at_the_same_time_do_not_remove_each_others_new_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.nc");
    make_file(&path, OverwritePolicy::Never, b"CDF old").unwrap();
    let replace = || (0..500).try_for_each(|_| make_file(&path, OverwritePolicy::Replace, b"CDF new"));
    std::thread::scope(|scope| {
        let writers: Vec<_> = (0..4).map(|_| scope.spawn(replace)).collect();
        for writer in writers {
            writer.join().unwrap().unwrap();
        }
    });
    assert_eq!(fs::read(&path).unwrap(), b"CDF new");
    assert_eq!(names(folder.path()), ["x.nc"]);
}

#[test]
fn a_file_appears_on_commit_and_is_replaced_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.nc");
    make_file(&path, OverwritePolicy::Never, b"CDF one").unwrap();
    let refused = make_file(&path, OverwritePolicy::Never, b"two").unwrap_err();
    assert_eq!((refused.kind(), refused.message()), (ErrorKind::Conflict, "exists already"));
    make_file(&path, OverwritePolicy::Replace, b"CDF 2").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"CDF 2");
    assert_eq!(names(folder.path()), ["x.nc"]);
}

#[test]
fn what_is_not_committed_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    for (name, shape) in
        [("x.zarr", DatasetShape::Tree), ("x.nc", DatasetShape::Object), ("x.zip", DatasetShape::Tree)]
    {
        let staged = stage(&folder.path().join(name), shape, OverwritePolicy::Replace).unwrap();
        if shape == DatasetShape::Tree {
            put(&staged, "a/b", b"1");
        }
        drop(staged);
        let staged = stage(&folder.path().join(name), shape, OverwritePolicy::Replace).unwrap();
        now(staged.abort()).unwrap();
    }
    assert_eq!(names(folder.path()), [""; 0]);
}

#[test]
fn only_datasets_and_empty_directories_are_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("home");
    fs::create_dir(&home).unwrap();
    fs::write(home.join("letter.txt"), "dear").unwrap();
    let refused = make_tree(&home, OverwritePolicy::Replace, b"1").unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Conflict);
    assert!(refused.message().contains("without Zarr metadata"), "{refused}");
    assert_eq!(
        make_file(&home, OverwritePolicy::Replace, b"1").unwrap_err().message(),
        "a directory is in the way"
    );
    assert_eq!(fs::read(home.join("letter.txt")).unwrap(), b"dear");
    let empty = folder.path().join("empty");
    fs::create_dir(&empty).unwrap();
    make_tree(&empty, OverwritePolicy::Replace, b"1").unwrap();
    assert!(empty.join(".zgroup").exists());
    assert_eq!(
        make_tree(Path::new(".."), OverwritePolicy::Replace, b"1").unwrap_err().kind(),
        ErrorKind::Invalid
    );
}

#[test]
fn a_target_that_appears_meanwhile_is_a_conflict() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.zarr");
    let staged = stage(&path, DatasetShape::Tree, OverwritePolicy::Never).unwrap();
    put(&staged, ".zgroup", b"mine");
    make_tree(&path, OverwritePolicy::Never, b"theirs").unwrap();
    assert_eq!(now(staged.commit()).unwrap_err().message(), "exists already");
    assert_eq!(fs::read(path.join(".zgroup")).unwrap(), b"theirs");
    assert_eq!(names(folder.path()), ["x.zarr"]);
}

#[test]
fn leftovers_of_killed_runs_go_and_those_in_use_stay() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.zarr");
    let stale = folder.path().join(".x.zarr.4242-00112233aabbccdd.ncirrus-tmp");
    fs::create_dir_all(stale.join("v")).unwrap();
    fs::write(stale.join("v/0"), "1").unwrap();
    let file = folder.path().join(".x.zarr.4242-00112233aabbccde.ncirrus-tmp");
    fs::write(&file, "1").unwrap();
    let of_another = folder.path().join(".xx.zarr.4242-00112233aabbccdd.ncirrus-tmp");
    fs::write(&of_another, "1").unwrap();
    let of_a_longer_name = folder.path().join(".x.zarr.b.4242-00112233aabbccdd.ncirrus-tmp");
    fs::write(&of_a_longer_name, "1").unwrap();
    let first = stage(&path, DatasetShape::Tree, OverwritePolicy::Never).unwrap();
    assert!(!stale.exists() && !file.exists() && of_another.exists() && of_a_longer_name.exists());
    put(&first, ".zgroup", b"first");
    let second = stage(&path, DatasetShape::Tree, OverwritePolicy::Replace).unwrap();
    put(&second, ".zgroup", b"second");
    now(first.commit()).unwrap();
    now(second.commit()).unwrap();
    assert_eq!(fs::read(path.join(".zgroup")).unwrap(), b"second");
    assert_eq!(names(folder.path()).len(), 3);
}

#[test]
fn a_missing_folder_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let error = make_file(&folder.path().join("no/x.nc"), OverwritePolicy::Never, b"1").unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("no such file or directory (in {})", folder.path().join("no").display())
    );
}

#[cfg(unix)]
#[test]
fn a_folder_without_leave_to_write_is_named() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let closed = folder.path().join("closed");
    fs::create_dir(&closed).unwrap();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o555)).unwrap();
    if fs::write(closed.join("probe"), "").is_ok() {
        println!("skipped: this user may write everywhere");
        return;
    }
    let error = make_tree(&closed.join("x.zarr"), OverwritePolicy::Never, b"1").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Denied);
    assert_eq!(error.to_string(), format!("permission denied (in {})", closed.display()));
}

#[cfg(unix)]
#[test]
fn a_link_stays_and_its_target_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("data")).unwrap();
    let target = folder.path().join("data/x.nc");
    fs::write(&target, "old").unwrap();
    let link = folder.path().join("link.nc");
    std::os::unix::fs::symlink(&target, &link).unwrap();
    make_file(&link, OverwritePolicy::Replace, b"new").unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::read(&target).unwrap(), b"new");
}

#[cfg(unix)]
#[test]
fn a_file_that_is_replaced_keeps_who_may_read_it() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.nc");
    make_file(&path, OverwritePolicy::Never, b"old").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o440)).unwrap();
    make_file(&path, OverwritePolicy::Replace, b"new").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"new");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o440);
}

#[cfg(unix)]
#[test]
fn devices_are_not_replaced() {
    let error = make_file(Path::new("/dev/null"), OverwritePolicy::Replace, b"1").unwrap_err();
    assert_eq!(error.message(), "is not a regular file and is not replaced");
    let error = now(open("/dev/null", &context())).unwrap_err();
    assert_eq!(error.message(), "not a regular file");
}

#[test]
fn memory_changes_hands_on_commit() {
    let context = context();
    let stage = |clobber| now(create("memory://m/a/b", DatasetShape::Tree, clobber, &context));
    let first = stage(OverwritePolicy::Never).unwrap();
    put(&first, ".zgroup", b"1");
    put(&first, "old", b"1");
    let rival = stage(OverwritePolicy::Never).unwrap();
    put(&rival, ".zgroup", b"2");
    assert!(context.memory.find("m").unwrap().is_empty());
    now(first.commit()).unwrap();
    assert_eq!(now(rival.commit()).unwrap_err().kind(), ErrorKind::Conflict);
    assert_eq!(stage(OverwritePolicy::Never).unwrap_err().message(), "exists already");
    let second = stage(OverwritePolicy::Replace).unwrap();
    put(&second, ".zgroup", b"3");
    now(second.commit()).unwrap();
    assert_eq!(context.memory.find("m").unwrap().keys(), ["a/b/.zgroup"]);
    let opened = now(open("memory://m/a/b", &context)).unwrap();
    assert_eq!(opened.root.key(), "a/b");
    assert_eq!(now(open("memory://other", &context)).unwrap_err().kind(), ErrorKind::NotFound);
}

#[cfg(feature = "zip")]
#[test]
fn zip_files_are_created_updated_and_read() {
    for (name, layout, root) in
        [("root.zip", crate::ZipLayout::Root, ""), ("top.v1.zip", crate::ZipLayout::TopFolder, "top.v1")]
    {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        let address = path.to_str().unwrap();
        let context = StoreContext::from(StoreOptions { zip_layout: layout, ..StoreOptions::default() });
        let staged = now(create(address, DatasetShape::Tree, OverwritePolicy::Never, &context)).unwrap();
        put(&staged, ".zgroup", b"{}");
        put(&staged, "v/0.0", b"old chunk");
        put(&staged, "v/0.1", b"other chunk");
        now(staged.commit()).unwrap();
        let updated = now(update(address, &context)).unwrap();
        assert_eq!(updated.root.key(), root);
        put(&updated, "v/0.0", b"new");
        put(&updated, "w/0", b"more");
        let during = now(open(address, &context)).unwrap();
        now(updated.commit()).unwrap();
        let read = |opened: &crate::Opened, key: &str| {
            now(opened.store.get(&opened.root.child(key), &Want::All)).map(|blob| blob.map(|blob| blob.bytes))
        };
        assert_eq!(
            read(&during, "v/0.0").unwrap().as_deref(),
            Some(&b"old chunk"[..]),
            "the old file stays readable"
        );
        let after = now(open(address, &context)).unwrap();
        assert_eq!((after.root.key(), after.name.as_str()), (root, name.trim_end_matches(".zip")));
        assert_eq!(read(&after, "v/0.0").unwrap().as_deref(), Some(&b"new"[..]));
        assert_eq!(read(&after, "v/0.1").unwrap().as_deref(), Some(&b"other chunk"[..]));
        assert_eq!(read(&after, "w/0").unwrap().as_deref(), Some(&b"more"[..]));
        assert_eq!(names(folder.path()), [name]);
    }
}

#[cfg(feature = "zip")]
#[test]
fn one_program_at_a_time_changes_a_zip_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.zip");
    let address = path.to_str().unwrap();
    let context = StoreContext::default();
    let staged = now(create(address, DatasetShape::Tree, OverwritePolicy::Never, &context)).unwrap();
    put(&staged, ".zgroup", b"{}");
    put(&staged, "v/0", b"first");
    now(staged.commit()).unwrap();
    let bytes = fs::read(&path).unwrap();
    let one = now(update(address, &context)).unwrap();
    assert_eq!(now(update(address, &context)).unwrap_err().kind(), ErrorKind::Conflict);
    drop(one);
    let two = now(update(address, &context)).unwrap();
    put(&two, "v/0", b"second");
    // A program that looks at no locks.
    let others = folder.path().join("others");
    fs::write(&others, &bytes).unwrap();
    fs::rename(&others, &path).unwrap();
    assert_eq!(now(two.commit()).unwrap_err().kind(), ErrorKind::Conflict);
    assert_eq!(fs::read(&path).unwrap(), bytes);
    assert_eq!(names(folder.path()), ["a.zip"]);
}

#[cfg(feature = "zip")]
#[test]
fn zip_files_in_memory_are_sent_when_they_are_complete() {
    let folder = tempfile::tempdir().unwrap();
    let scratch = Some(folder.path().to_owned());
    let context = StoreContext::from(StoreOptions { scratch, ..StoreOptions::default() });
    let address = "memory://m/a/x.zip";
    let staged = now(create(address, DatasetShape::Tree, OverwritePolicy::Never, &context)).unwrap();
    put(&staged, "zarr.json", b"{}");
    assert!(context.memory.find("m").unwrap().is_empty());
    now(staged.commit()).unwrap();
    assert_eq!(names(folder.path()), [""; 0]);
    let again = now(create(address, DatasetShape::Tree, OverwritePolicy::Never, &context)).unwrap_err();
    assert_eq!(again.message(), "exists already");
    let updated = now(update(address, &context)).unwrap();
    put(&updated, "c/0", b"chunk");
    now(updated.commit()).unwrap();
    let opened = now(open(address, &context)).unwrap();
    let read = now(opened.store.get(&opened.root.child("c/0"), &Want::All)).unwrap().unwrap();
    assert_eq!(read.bytes.as_ref(), b"chunk");
    assert_eq!(opened.container.unwrap().1.key(), "a/x.zip");
}

/// Not a test of its own: the process that the next one kills.
#[test]
fn a_run_that_is_killed() {
    let Some(target) = std::env::var_os(KILLED) else { return };
    for name in ["x.zarr", "x.nc", "x.zip"] {
        let shape = if name == "x.nc" { DatasetShape::Object } else { DatasetShape::Tree };
        let staged = stage(&Path::new(&target).join(name), shape, OverwritePolicy::Replace).unwrap();
        let object = if shape == DatasetShape::Tree { staged.root.child("v/0") } else { staged.root.clone() };
        now(staged.store.put(&object, "half".into(), PutCondition::None)).unwrap();
        std::mem::forget(staged);
    }
    std::process::abort();
}

const KILLED: &str = "NCIRRUS_TEST_KILLED_RUN";

#[test]
fn a_killed_run_leaves_nothing_that_stops_the_next() {
    let folder = tempfile::tempdir().unwrap();
    make_tree(&folder.path().join("x.zarr"), OverwritePolicy::Never, b"old").unwrap();
    let killed = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "create::tests::a_run_that_is_killed"])
        .env(KILLED, folder.path())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .status()
        .unwrap();
    assert!(!killed.success());
    assert_eq!(names(folder.path()).len(), 4, "three leftovers: {:?}", names(folder.path()));
    assert_eq!(fs::read(folder.path().join("x.zarr/v/0.0")).unwrap(), b"old");
    make_tree(&folder.path().join("x.zarr"), OverwritePolicy::Replace, b"new").unwrap();
    make_file(&folder.path().join("x.nc"), OverwritePolicy::Never, b"new").unwrap();
    make_tree(&folder.path().join("x.zip"), OverwritePolicy::Never, b"new").unwrap();
    assert_eq!(names(folder.path()), ["x.nc", "x.zarr", "x.zip"]);
}

#[test]
fn directories_and_files_are_updated_in_place() {
    let folder = tempfile::tempdir().unwrap();
    let tree = folder.path().join("x.zarr");
    make_tree(&tree, OverwritePolicy::Never, b"1").unwrap();
    let updated = now(update(tree.to_str().unwrap(), &context())).unwrap();
    put(&updated, "v/0.0", b"2");
    now(updated.commit()).unwrap();
    assert_eq!(fs::read(tree.join("v/0.0")).unwrap(), b"2");
    let file = folder.path().join("x.nc");
    make_file(&file, OverwritePolicy::Never, b"CDF old").unwrap();
    let updated = now(update(file.to_str().unwrap(), &context())).unwrap();
    updated.store.local().unwrap().write_at(&updated.root, 4, b"new").unwrap();
    now(updated.commit()).unwrap();
    assert_eq!(fs::read(&file).unwrap(), b"CDF new");
    let missing = now(update(folder.path().join("no.nc").to_str().unwrap(), &context())).unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::NotFound);
}

#[test]
fn a_file_whose_name_has_a_fragment_goes_first() {
    let folder = tempfile::tempdir().unwrap();
    let odd = folder.path().join("x#zarr");
    fs::write(&odd, "CDF").unwrap();
    let opened = now(open(odd.to_str().unwrap(), &context())).unwrap();
    assert_eq!((opened.root.key(), opened.url.fragment().modes().is_empty()), ("x#zarr", true));
    make_tree(&folder.path().join("x"), OverwritePolicy::Never, b"1").unwrap();
    fs::remove_file(&odd).unwrap();
    let opened = now(open(odd.to_str().unwrap(), &context())).unwrap();
    assert!(opened.root.key().is_empty() && opened.url.fragment().modes().contains("zarr"));
}

#[test]
fn opening_reports_what_is_wrong() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file"), "1").unwrap();
    let message = |address: &str| now(open(address, &context())).unwrap_err().to_string();
    let missing = folder.path().join("missing.nc");
    let expected = format!("no such file or directory (in {})", missing.display());
    assert_eq!(message(missing.to_str().unwrap()), expected);
    assert_eq!(message(&format!("file://{}", missing.display())), expected);
    assert_eq!(
        message(folder.path().join("file/below").to_str().unwrap()).split(" (").next(),
        Some("no such file or directory")
    );
    assert_eq!(message("foo://bar/x"), "unknown scheme \"foo\" in foo://bar/x");
}

#[rstest::rstest]
#[case("/")]
#[case(".")]
#[case("..")]
#[case("src/..")]
fn the_working_directory_of_a_program_is_not_removed(#[case] path: &str) {
    assert_eq!(now(removal(path, &context())).unwrap_err().kind(), ErrorKind::Conflict);
}

#[cfg(unix)]
#[test]
fn a_link_to_where_nothing_is_yet_leads_there() {
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("scratch")).unwrap();
    let link = folder.path().join("out.nc");
    symlink("first.nc", &link).unwrap();
    symlink("scratch/out.nc", folder.path().join("first.nc")).unwrap();
    make_file(&link, OverwritePolicy::Never, b"1").unwrap();
    assert_eq!(fs::read(folder.path().join("scratch/out.nc")).unwrap(), b"1");
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    let circle = folder.path().join("circle.nc");
    symlink("circle.nc", &circle).unwrap();
    make_file(&circle, OverwritePolicy::Replace, b"1").unwrap_err();
    assert!(fs::symlink_metadata(&circle).unwrap().is_symlink());
}

//! Single files: options, errors, requests and memory.
use super::{assert_same, fits, optimized, text};
use crate::support::{session, temp};
use ncirrus::{
    Atomic, Attribute, CodecSpec, CreateOptions, Dataset, DimensionLen, ErrorKind, Kind, Location,
    OpenOptions, Selection, Session, Storage, Variable,
};
use ncirrus_testkit::http_server::{ServerPage, TestHttpServer};
use ncirrus_tools::{FileOutcome, OptimizeOptions, OptimizedFile, Profile, optimize};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// A series of maps as a model writes them: one record in a chunk, and space at the front for few of the metadata.
pub(super) fn made(path: &Path, steps: u64, side: u64, filters: Vec<CodecSpec>) {
    let session = Session::builder().threads(2).memory(64 << 20).durable(false).build().unwrap();
    let options = CreateOptions::new().kind(Kind::Nc4).reserve(Some(64));
    let dataset = Dataset::create_with(&text(path), &options, &session).unwrap();
    let root = dataset.root();
    root.add_dimension("time", DimensionLen::Unlimited(0)).unwrap();
    for name in ["y", "x"] {
        root.add_dimension(name, DimensionLen::Fixed(side)).unwrap();
    }
    let time = root.add_variable("time", Atomic::Double, &["time"]).unwrap();
    time.set_attribute(Attribute::text("units", "days since 2000-01-01")).unwrap();
    time.set_storage(Storage::Chunked(vec![1]), Vec::new()).unwrap();
    let maps = root.add_variable("maps", Atomic::Float, &["time", "y", "x"]).unwrap();
    maps.set_storage(Storage::Chunked(vec![1, side, side]), filters).unwrap();
    for step in 0..steps {
        let number = |at: u64| f32::from(u16::try_from((step * 31 + at * 7) % 60_000).unwrap());
        let map: Vec<f32> = (0..side * side).map(number).collect();
        time.write(&Selection::slab(&[step], &[1]), &[f64::from(u32::try_from(step).unwrap())]).unwrap();
        maps.write(&Selection::slab(&[step, 0, 0], &[1, side, side]), &map).unwrap();
    }
    dataset.close().unwrap();
}

pub(super) fn deflate() -> Vec<CodecSpec> {
    vec![CodecSpec::hdf5(2, &[]), CodecSpec::hdf5(1, &[1])]
}

pub(super) fn cmip7() -> OptimizeOptions<'static> {
    OptimizeOptions::new().profile(Profile::cmip7())
}

/// The only result.
pub(super) fn one(path: &Path, options: &OptimizeOptions<'_>, session: &Session) -> OptimizedFile {
    let mut files = optimize(&[text(path)], options, session).unwrap();
    assert_eq!(files.len(), 1);
    files.remove(0)
}

pub(super) fn failure(path: &str, options: &OptimizeOptions<'_>, session: &Session) -> (ErrorKind, String) {
    let files = optimize(&[path.to_owned()], options, session).unwrap();
    match &files[0].outcome {
        FileOutcome::Failed(error) => (error.kind(), error.to_string()),
        outcome => unreachable!("{path}: {outcome:?}"),
    }
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<String> = entries.map(|name| name.to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn a_dry_run_plans_what_a_run_does() {
    let (_guard, root) = temp();
    let (path, session) = (root.join("a.nc"), session());
    made(&path, 60, 128, deflate());
    let before = std::fs::read(&path).unwrap();
    let planned = one(&path, &cmip7().dry_run(true), &session);
    assert_eq!((planned.outcome.name(), names(&root)), ("planned", vec!["a.nc".to_owned()]));
    assert_eq!(std::fs::read(&path).unwrap(), before);
    let done = one(&path, &cmip7(), &session);
    assert_eq!(done.outcome.name(), "optimized");
    assert_eq!(done.variables, planned.variables);
    let shapes =
        |path: &str| done.variables.iter().find(|variable| variable.path == path).unwrap().to.clone();
    assert_eq!((shapes("/time"), shapes("/maps")), (Some(vec![60]), Some(vec![60, 128, 128])));
    let (old, new) = done.reads.unwrap();
    assert_eq!((old.variable.as_str(), new.variable.as_str()), ("/maps", "/maps"));
    assert_eq!((new.opening.requests, new.series.requests), (1, 1), "{new:?}");
    assert!(old.series.requests > new.series.requests, "{old:?} {new:?}");
    let (_, estimated) = planned.reads.unwrap();
    assert!(estimated.is_estimate && !new.is_estimate);
}

#[test]
fn each_chunk_of_the_original_is_decoded_once() {
    let (_guard, root) = temp();
    let (path, session) = (root.join("a.nc"), session());
    made(&path, 60, 128, deflate());
    let decoded = session.statistics().chunks_decoded;
    let file = one(&path, &cmip7(), &session);
    assert_eq!(file.outcome.name(), "optimized", "{file}");
    // The new file has one chunk of maps, which is decoded to check it. The times have no filters.
    assert_eq!(session.statistics().chunks_decoded - decoded, 60 + 1);
}

#[test]
fn only_the_metadata_of_a_file_with_good_chunks_move() {
    let (_guard, root) = temp();
    let (path, session) = (root.join("a.nc"), session());
    made(&path, 3, 1024, deflate());
    let original = root.join("original.nc");
    std::fs::copy(&path, &original).unwrap();
    let own = Profile::from_toml("own.toml", "base = \"cmip7\"\nwhole_times = false\nmin_chunk = 8").unwrap();
    let decoded = session.statistics().chunks_decoded;
    let file = one(&path, &OptimizeOptions::new().profile(own.clone()), &session);
    assert_eq!((file.outcome.name(), file.was_scattered), ("optimized", true), "{file}");
    assert!(file.variables.iter().all(|variable| !variable.recoded), "{file}");
    // Chunks that are moved are compared as bytes.
    assert_eq!(session.statistics().chunks_decoded, decoded);
    assert_same(&original, &path, &session);
    assert!(fits(&text(&path), &own, &session).0);
}

#[test]
fn a_damaged_chunk_that_is_moved_stays_as_it_is() {
    let (_guard, root) = temp();
    let (path, session) = (root.join("a.nc"), session());
    made(&path, 3, 1024, deflate());
    let maps = || {
        let dataset = Dataset::open_with(&text(&path), &OpenOptions::default(), &session).unwrap();
        dataset.variable("maps").unwrap()
    };
    let middle = |maps: &Variable| {
        let step = Selection::slab(&[1, 0, 0], &[1, 1024, 1024]);
        let Location::Bytes(_, range) = maps.chunks(&step).unwrap().remove(0).stored.location else {
            unreachable!("a chunk is a range of the file")
        };
        let bytes = std::fs::read(&path).unwrap();
        bytes[usize::try_from(range.start).unwrap()..usize::try_from(range.end).unwrap()].to_vec()
    };
    let whole = middle(&maps());
    let mut bytes = std::fs::read(&path).unwrap();
    let at = bytes.windows(whole.len()).position(|window| window == whole).unwrap();
    bytes[at + whole.len() / 2] ^= 1;
    std::fs::write(&path, &bytes).unwrap();
    let own = Profile::from_toml("own.toml", "base = \"cmip7\"\nwhole_times = false\nmin_chunk = 8").unwrap();
    let file = one(&path, &OptimizeOptions::new().profile(own), &session);
    assert_eq!(file.outcome.name(), "optimized", "{file}");
    assert_eq!(middle(&maps()), bytes[at..at + whole.len()]);
    let step = |step| maps().read_selection::<f32>(&Selection::slab(&[step, 0, 0], &[1, 1024, 1024]));
    assert!(step(0).is_ok() && step(1).is_err() && step(2).is_ok());
    // One that would be encoded again is found, and the file is kept.
    let before = std::fs::read(&path).unwrap();
    let again = Profile::from_toml("own.toml", "chunks = [\"maps:3,512,512\"]").unwrap();
    let (kind, message) = failure(&text(&path), &OptimizeOptions::new().profile(again), &session);
    assert!(kind == ErrorKind::Malformed && message.contains("maps"), "{kind:?}: {message}");
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

#[test]
fn a_folder_gets_all_files_and_keeps_what_it_has() {
    let (_guard, root) = temp();
    let (folder, session) = (root.join("out"), session());
    let paths: Vec<PathBuf> = ["a.nc", "b.nc"].map(|name| root.join(name)).to_vec();
    paths.iter().for_each(|path| made(path, 20, 32, deflate()));
    let originals: Vec<Vec<u8>> = paths.iter().map(|path| std::fs::read(path).unwrap()).collect();
    let options = cmip7().folder(folder.clone());
    // The folder is made, except by a dry run.
    optimized(&paths, &options.clone().dry_run(true), &session);
    assert!(!folder.exists());
    let first = optimized(&paths[..1], &options, &session);
    assert_eq!(first[0].outcome.name(), "optimized");
    // The list goes on where it ended.
    let all = optimized(&paths, &options, &session);
    let outcomes: Vec<&str> = all.iter().map(|file| file.outcome.name()).collect();
    assert_eq!(outcomes, ["unchanged", "optimized"]);
    for (path, original) in paths.iter().zip(&originals) {
        assert_eq!(&std::fs::read(path).unwrap(), original);
        assert_same(path, &folder.join(path.file_name().unwrap()), &session);
    }
    std::fs::write(folder.join("a.nc"), "something else").unwrap();
    assert_eq!(failure(&text(&paths[0]), &options, &session).0, ErrorKind::Conflict);
    assert_eq!(std::fs::read(folder.join("a.nc")).unwrap(), b"something else");
    let overwriting = options.clone().overwrite(true);
    assert_eq!(failure(&text(&paths[0]), &overwriting, &session).0, ErrorKind::Conflict);
    std::fs::copy(&paths[1], folder.join("a.nc")).unwrap();
    assert_eq!(one(&paths[0], &overwriting, &session).outcome.name(), "optimized");
    let other = root.join("other");
    std::fs::create_dir(&other).unwrap();
    std::fs::copy(&paths[0], other.join("a.nc")).unwrap();
    let both = [text(&paths[0]), text(&other.join("a.nc"))];
    assert_eq!(optimize(&both, &options, &session).unwrap_err().kind(), ErrorKind::Invalid);
    let file = cmip7().folder(paths[1].clone());
    assert_eq!(optimize(&both[..1], &file, &session).unwrap_err().kind(), ErrorKind::Invalid);
    let too_deep = cmip7().folder(root.join("absent/below"));
    assert_eq!(optimize(&both[..1], &too_deep, &session).unwrap_err().kind(), ErrorKind::NotFound);
    assert!(!root.join("absent").exists());
}

#[test]
fn a_file_keeps_its_mode_and_its_times_if_that_is_wanted() {
    let (_guard, root) = temp();
    let session = session();
    let then = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    for times in [true, false] {
        let path = root.join("a.nc");
        made(&path, 20, 32, deflate());
        std::fs::File::options().write(true).open(&path).unwrap().set_modified(then).unwrap();
        let read = SystemTime::UNIX_EPOCH + Duration::from_secs(900_000_000);
        let accessed = std::fs::FileTimes::new().set_accessed(read);
        std::fs::File::options().write(true).open(&path).unwrap().set_times(accessed).unwrap();
        let mut mode = std::fs::metadata(&path).unwrap().permissions();
        mode.set_readonly(true);
        std::fs::set_permissions(&path, mode.clone()).unwrap();
        assert_eq!(one(&path, &cmip7().times(times), &session).outcome.name(), "optimized");
        let metadata = std::fs::metadata(&path).unwrap();
        assert_eq!((metadata.permissions(), metadata.modified().unwrap() == then), (mode, times));
        assert_eq!(metadata.accessed().unwrap() == read, times);
        std::fs::remove_file(&path).unwrap();
    }
}

#[test]
fn what_cannot_be_optimized_is_reported_and_kept() {
    let (_guard, root) = temp();
    let session = session();
    let at = |name: &str| text(&root.join(name));
    made(&root.join("a.nc"), 20, 32, deflate());
    let classic = CreateOptions::new().kind(Kind::Nc3);
    let dataset = Dataset::create_with(&at("classic.nc"), &classic, &session).unwrap();
    dataset.root().add_dimension("x", DimensionLen::Fixed(3)).unwrap();
    dataset.close().unwrap();
    let whole = std::fs::read(root.join("a.nc")).unwrap();
    std::fs::write(root.join("cut.nc"), &whole[..whole.len() - 100]).unwrap();
    std::fs::write(root.join("block.nc"), [&[0; 512], &whole[..]].concat()).unwrap();
    std::fs::write(root.join("text.nc"), "no file").unwrap();
    std::fs::hard_link(root.join("a.nc"), root.join("linked.nc")).unwrap();
    let states = || -> Vec<Vec<u8>> {
        names(&root).iter().map(|name| std::fs::read(root.join(name)).unwrap()).collect()
    };
    let before = (names(&root), states());
    for (path, kind, reason) in [
        (at("absent.nc"), ErrorKind::NotFound, "absent.nc"),
        (root.to_str().unwrap().to_owned(), ErrorKind::Invalid, "is a folder"),
        ("https://example.org/a.nc".to_owned(), ErrorKind::Unsupported, "this machine"),
        ("s3://bucket/a.nc".to_owned(), ErrorKind::Unsupported, "this machine"),
        (at("classic.nc"), ErrorKind::Unsupported, "ncirrus copy -k nc4"),
        (at("cut.nc"), ErrorKind::Malformed, "shorter"),
        (at("block.nc"), ErrorKind::Unsupported, "512 bytes before"),
        (at("linked.nc"), ErrorKind::Conflict, "several names"),
    ] {
        let (found, message) = failure(&path, &cmip7(), &session);
        assert!(found == kind && message.contains(reason), "{path}: {found:?}: {message}");
    }
    assert!(matches!(one(&root.join("text.nc"), &cmip7(), &session).outcome, FileOutcome::Failed(_)));
    assert_eq!((names(&root), states()), before);
    // A failure does not keep the others from being optimized.
    std::fs::remove_file(root.join("linked.nc")).unwrap();
    let files = optimize(&[at("cut.nc"), at("a.nc"), at("a.nc")], &cmip7(), &session).unwrap();
    let outcomes: Vec<&str> = files.iter().map(|file| file.outcome.name()).collect();
    assert_eq!(outcomes, ["failed", "optimized"]);
}

#[cfg(unix)]
#[test]
fn a_file_in_a_folder_that_may_not_be_changed_is_kept() {
    use std::os::unix::fs::PermissionsExt;
    let (_guard, root) = temp();
    let (folder, session) = (root.join("closed"), session());
    std::fs::create_dir(&folder).unwrap();
    let path = folder.join("a.nc");
    made(&path, 20, 32, deflate());
    let before = std::fs::read(&path).unwrap();
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o555)).unwrap();
    // The super-user may write anywhere.
    let may_write = std::fs::write(folder.join("probe"), "").is_ok();
    if !may_write {
        assert_eq!(failure(&text(&path), &cmip7(), &session).0, ErrorKind::Denied);
        assert_eq!(std::fs::read(&path).unwrap(), before);
    }
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn rules_of_a_profile_choose_chunks_and_filters() {
    let (_guard, root) = temp();
    let (path, session) = (root.join("a.nc"), session());
    made(&path, 20, 32, deflate());
    let original = root.join("original.nc");
    std::fs::copy(&path, &original).unwrap();
    let text_of = "chunks = [\"maps:20,8,8\"]\nfilters = [\"maps,zstd,level=3\"]\nwhole_times = true\n";
    let own = Profile::from_toml("own.toml", text_of).unwrap();
    assert!(!fits(&text(&path), &own, &session).0);
    let file = one(&path, &OptimizeOptions::new().profile(own.clone()), &session);
    assert_eq!(file.outcome.name(), "optimized", "{file}");
    assert_same(&original, &path, &session);
    let dataset = Dataset::open_with(&text(&path), &OpenOptions::default(), &session).unwrap();
    let maps = dataset.variable("maps").unwrap();
    assert_eq!(maps.storage(), Storage::Chunked(vec![20, 8, 8]));
    assert_eq!(maps.filters().len(), 1);
    let (is_fit, report) = fits(&text(&path), &own, &session);
    assert!(is_fit, "{report}");
    assert_eq!(one(&path, &OptimizeOptions::new().profile(own), &session).outcome.name(), "unchanged");
}

#[test]
fn a_file_on_a_server_is_checked_with_at_most_three_requests() {
    let (_guard, root) = temp();
    let session = session();
    let server = TestHttpServer::start([]);
    made(&root.join("scattered.nc"), 3000, 48, Vec::new());
    made(&root.join("fitting.nc"), 3000, 48, Vec::new());
    optimized(&[root.join("fitting.nc")], &cmip7(), &session);
    for (name, is_fit) in [("scattered.nc", false), ("fitting.nc", true)] {
        let page = format!("/{name}");
        server.add(&page, ServerPage::Ranged(std::fs::read(root.join(name)).unwrap()));
        let before = server.requests().len();
        let (found, report) = fits(&server.url(&page), &Profile::cmip7(), &session);
        let requests = server.requests().split_off(before);
        assert!((1..=3).contains(&requests.len()), "{name}: {requests:?}");
        assert_eq!(found, is_fit, "{name}: {report}");
        assert_eq!(report.contains("profile-metadata"), !is_fit, "{name}: {report}");
    }
    server.add("/text.nc", ServerPage::Ranged(b"no file".to_vec()));
    assert!(!fits(&server.url("/text.nc"), &Profile::cmip7(), &session).0);
}

#[test]
fn a_check_of_the_storage_names_what_does_not_fit() {
    let (_guard, root) = temp();
    let (path, session) = (root.join("a.nc"), session());
    made(&path, 200, 64, deflate());
    let (is_fit, report) = fits(&text(&path), &Profile::cmip7(), &session);
    assert!(!is_fit);
    for code in ["profile-metadata: /:", "profile-not-one-chunk: /time:", "profile-small-chunks: /maps:"] {
        assert!(report.contains(code), "{code}: {report}");
    }
    let large = Profile::from_toml("own.toml", "min_chunk = 1\nmax_chunk = 1000").unwrap();
    assert!(fits(&text(&path), &large, &session).1.contains("profile-large-chunks: /maps:"));
    let zarr = root.join("a.zarr");
    Dataset::create_with(&text(&zarr), &CreateOptions::new().kind(Kind::NcZarr), &session)
        .unwrap()
        .close()
        .unwrap();
    let options = ncirrus_tools::CheckOptions::new().profile(Profile::cmip7());
    let error = ncirrus_tools::check(&text(&zarr), &options, &session).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
}

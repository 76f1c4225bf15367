//! Writers that are killed after any put, what they leave, and how it is removed.
use super::places::Place;
use super::server::{BUCKET, Manners, Server, session, settings};
use ncirrus::{
    Atomic, CreateOptions, Dataset, Dialect, DimensionLen, ErrorKind, Kind, OpenOptions, Result, Selection,
    Session, Values,
};
use ncirrus_testkit::sample::in_turn;
use ncirrus_tools::{leftovers, removal, remove, remove_leftover};

const KINDS: [(Kind, Option<Dialect>, bool); 3] =
    [(Kind::NcZarr, None, true), (Kind::NcZarr, None, false), (Kind::Zarr3, None, true)];

fn create(url: &str, kind: (Kind, Option<Dialect>, bool), overwrite: bool, session: &Session) -> Result<()> {
    let (consolidated, overwrite) = (kind.2, overwrite);
    let options =
        CreateOptions::new().kind(kind.0).dialect(kind.1).consolidated(consolidated).overwrite(overwrite);
    let dataset = Dataset::create_with(url, &options, session)?;
    dataset.edit(|model| {
        let root = model.root();
        let time = model.add_dimension(root, "time", DimensionLen::Unlimited(0))?;
        Ok(model.add_variable(root, "v", Atomic::Int.into(), &[time]).map(|_| ())?)
    })?;
    append(&dataset, 1)?;
    dataset.close()
}

fn append(dataset: &Dataset, value: i32) -> Result<()> {
    let variable = dataset.variable("/v")?;
    variable.write_values(&Selection::slab(&[variable.shape()[0]], &[2]), &Values::Int(vec![value; 2]))
}

fn update(url: &str, session: &Session) -> Result<()> {
    let dataset = Dataset::update_with(url, &OpenOptions::default(), session)?;
    append(&dataset, 2)?;
    dataset.close()
}

fn values(url: &str, session: &Session) -> Result<Vec<i32>> {
    let dataset = Dataset::open_with(url, &OpenOptions::default(), session)?;
    Ok(dataset.variable("/v")?.read()?.into_vec())
}

#[test]
fn a_killed_creation_is_absent_or_whole_and_is_taken_over() {
    let server = Server::start();
    let session = server.session();
    for (number, kind) in KINDS.into_iter().enumerate() {
        for puts in 0.. {
            let url = server.url(&format!("created-{number}-{puts}"));
            server.behave(Manners { puts: Some(puts), ..Manners::default() });
            let outcome = create(&url, kind, false, &session);
            server.behave(Manners::default());
            match values(&url, &session) {
                Ok(values) => assert_eq!(values, [1, 1], "{kind:?} after {puts} puts"),
                Err(error) => assert!(outcome.is_err(), "{kind:?} after {puts} puts: {error:?}"),
            }
            if outcome.is_ok() {
                assert!((4..40).contains(&puts), "{puts} puts");
                break;
            }
            create(&url, kind, true, &session)
                .unwrap_or_else(|error| panic!("{kind:?} after {puts} puts: {error:?}"));
            assert_eq!(values(&url, &session).unwrap(), [1, 1]);
        }
        assert!(!server.keys().iter().any(|key| key.contains(".ncirrus-")), "{:?}", server.keys());
    }
}

#[test]
fn a_killed_replacement_is_old_or_new_or_is_ended_by_clean() {
    let server = Server::start();
    let session = server.session();
    for (number, kind) in KINDS.into_iter().enumerate() {
        let (mut old, mut ended) = (0, 0);
        for puts in (0..).filter(|puts| in_turn(*puts + number, 3)) {
            let url = server.url(&format!("replaced-{number}-{puts}"));
            create(&url, kind, false, &session).unwrap();
            update(&url, &session).unwrap();
            server.behave(Manners { puts: Some(puts), ..Manners::default() });
            let outcome = create(&url, kind, true, &session);
            server.behave(Manners::default());
            let at = format!("{kind:?} after {puts} puts");
            match values(&url, &session) {
                Ok(values) if values == [1, 1, 2, 2] => old += 1,
                Ok(values) => assert_eq!(values, [1, 1], "{at}"),
                Err(error) => {
                    assert!(outcome.is_err(), "{at}: {error:?}");
                    let (found, _) = leftovers(&url, &session).unwrap();
                    assert_eq!(found.len(), 1, "{at}: {found:?}");
                    remove_leftover(&url, &found[0], &session).unwrap();
                    assert_eq!(values_of(&url, &session), [1, 1], "{at}");
                    ended += 1;
                }
            }
            for one in &leftovers(&url, &session).unwrap().0 {
                remove_leftover(&url, one, &session).unwrap();
            }
            let clean = values_of(&url, &session);
            assert!(clean == [1, 1] || clean == [1, 1, 2, 2], "{at}: {clean:?}");
            let left = server.keys().into_iter().find(|key| key.contains(".ncirrus-"));
            assert_eq!(left, None, "{at}");
            create(&url, kind, true, &session).unwrap_or_else(|error| panic!("{at}: {error:?}"));
            assert_eq!(values_of(&url, &session), [1, 1], "{at}");
            if outcome.is_ok() {
                assert!((8..60).contains(&puts), "{puts} puts");
                break;
            }
        }
        assert!(old > 1 && ended > 0, "{kind:?}: {old} old, {ended} ended");
    }
}

fn values_of(url: &str, session: &Session) -> Vec<i32> {
    values(url, session).unwrap()
}

#[test]
fn a_damaged_source_leaves_what_it_should_have_replaced() {
    let server = Server::start();
    let session = server.session();
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("source.zarr").to_str().unwrap().to_owned();
    for (number, kind) in KINDS.into_iter().enumerate() {
        let options = CreateOptions::new().kind(Kind::Zarr2).overwrite(true);
        let dataset = Dataset::create_with(&source, &options, &session).unwrap();
        dataset.root().add_dimension("x", DimensionLen::Fixed(40)).unwrap();
        let variable = dataset.root().add_variable("v", Atomic::Int, &["x"]).unwrap();
        let filters = vec![ncirrus::CodecSpec::hdf5(1, &[5])];
        variable.set_storage(ncirrus::Storage::Chunked(vec![4]), filters).unwrap();
        variable.write_all(&[5i32; 40]).unwrap();
        dataset.close().unwrap();
        std::fs::write(format!("{source}/v/9"), "damaged").unwrap();
        let url = server.url(&format!("kept-{number}"));
        create(&url, kind, false, &session).unwrap();
        let options = CreateOptions::new().kind(kind.0).consolidated(kind.2).overwrite(true);
        let options =
            ncirrus_tools::CopyOptions::new().create(options).filters(ncirrus_tools::Filters::Remove);
        let damaged = Dataset::open_with(&source, &OpenOptions::default(), &session).unwrap();
        let error = ncirrus_tools::copy(&damaged, &url, &options, &session).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Malformed, "{error:?}");
        assert_eq!(values_of(&url, &session), [1, 1], "{kind:?}");
    }
}

#[test]
fn a_killed_update_is_old_or_new_and_the_next_one_succeeds() {
    let server = Server::start();
    let session = server.session();
    for (number, kind) in KINDS.into_iter().enumerate() {
        for puts in 0.. {
            let url = server.url(&format!("updated-{number}-{puts}"));
            create(&url, kind, false, &session).unwrap();
            server.behave(Manners { puts: Some(puts), ..Manners::default() });
            let outcome = update(&url, &session);
            server.behave(Manners::default());
            let at = format!("{kind:?} after {puts} puts");
            let left = values(&url, &session).unwrap_or_else(|error| panic!("{at}: {error:?}"));
            if outcome.is_ok() {
                assert_eq!(left, [1, 1, 2, 2], "{at}");
                assert!((3..40).contains(&puts), "{at}");
                break;
            }
            if left == [1, 1] {
                update(&url, &session).unwrap_or_else(|error| panic!("{at}: the next writer: {error:?}"));
            }
            assert_eq!(values(&url, &session).unwrap(), [1, 1, 2, 2], "{at}");
        }
    }
}

#[test]
fn a_killed_creation_is_in_the_way_until_it_is_cleaned() {
    let server = Server::start();
    let session = server.session();
    create(&server.url("a/whole"), KINDS[0], false, &session).unwrap();
    server.behave(Manners { puts: Some(3), ..Manners::default() });
    create(&server.url("a/killed"), KINDS[0], false, &session).unwrap_err();
    server.behave(Manners::default());
    let refused = create(&server.url("a/killed"), KINDS[0], false, &session).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Conflict);
    assert!(refused.to_string().contains("clean"), "{refused}");
    let url = server.url("a");
    let (found, _) = leftovers(&url, &session).unwrap();
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0].place.ends_with("a/killed") && found[0].what.contains("unfinished dataset"),
        "{found:?}"
    );
    remove_leftover(&url, &found[0], &session).unwrap();
    assert!(!server.keys().iter().any(|key| key.starts_with("a/killed")), "{:?}", server.keys());
    assert_eq!(values(&server.url("a/whole"), &session).unwrap(), [1, 1]);
    create(&server.url("a/killed"), KINDS[0], false, &session).unwrap();
}

#[test]
fn what_others_put_below_a_killed_creation_stays() {
    let server = Server::start();
    let session = server.session();
    for (at, kind) in KINDS.iter().enumerate() {
        create(&server.url(&format!("p/x{at}")), *kind, false, &session).unwrap();
    }
    let folder = server.folder.path().join(BUCKET).join("p");
    std::fs::create_dir_all(folder.join("v")).unwrap();
    std::fs::write(folder.join("other.nc"), "CDF").unwrap();
    let before = server.keys();
    // The leftovers of a writer that was killed before its root was described.
    for (name, text) in [(".ncirrus-begun", "1"), ("v/.zarray", "{}"), ("v/0.0", "x"), ("zarr/c", "x")] {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let (found, _) = leftovers(&server.url("p"), &session).unwrap();
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].what.ends_with("of 4 objects"), "{found:?}");
    remove_leftover(&server.url("p"), &found[0], &session).unwrap();
    assert_eq!(server.keys(), before);
    for at in 0..KINDS.len() {
        assert_eq!(values(&server.url(&format!("p/x{at}")), &session).unwrap(), [1, 1]);
    }
}

#[test]
fn unfinished_uploads_are_found_and_ended() {
    let Some((place, _)) = Place::moto() else { return };
    let session = place.session();
    for key in ["up/one.nc", "up/two & three.nc", "upper.nc"] {
        place.begin_upload(key);
    }
    let (found, notes) = leftovers(&place.url("up"), &session).unwrap();
    let mut places: Vec<&str> = found.iter().map(|one| one.place.rsplit('/').next().unwrap()).collect();
    places.sort_unstable();
    assert_eq!(places, ["one.nc", "two & three.nc"], "{found:?} {notes:?}");
    for one in &found {
        remove_leftover(&place.url("up"), one, &session).unwrap();
    }
    assert_eq!(leftovers(&place.url("up"), &session).unwrap().0, []);
    assert_eq!(leftovers(&place.url("upper.nc"), &session).unwrap().0.len(), 1);
}

#[test]
fn a_dataset_is_removed_and_nothing_beside_it() {
    for place in [Some(Place::here()), Place::azurite()].into_iter().flatten() {
        let session = place.session();
        for key in ["d/b", "d/bc", "d/b2/inner"] {
            create(&place.url(key), KINDS[0], false, &session).unwrap();
        }
        let url = place.url("d/b");
        let removal = removal(&url, &session).unwrap();
        assert!(
            removal.is_tree && removal.keys.iter().all(|key| key.contains("/d/b/")),
            "{:?}",
            removal.keys
        );
        remove(&url, removal, &session).unwrap();
        assert_eq!(values(&url, &session).unwrap_err().kind(), ErrorKind::NotFound);
        for key in ["d/bc", "d/b2/inner"] {
            assert_eq!(values(&place.url(key), &session).unwrap(), [1, 1], "{}", place.name);
        }
        let whole = ncirrus_tools::removal(place.prefix.trim_end_matches('/'), &session).unwrap_err();
        assert_eq!(whole.kind(), ErrorKind::Conflict, "{whole:?}");
    }
}

#[test]
fn secrets_are_in_no_error_of_a_writer_that_is_killed() {
    let server = Server::with(Manners { puts: Some(2), ..Manners::default() });
    let secret = super::server::SECRET;
    let session = session(&settings(&server.address, super::server::KEY, secret));
    let error = create(&server.url("x"), KINDS[0], false, &session).unwrap_err();
    assert!(!format!("{error:?} {error}").contains(secret));
}

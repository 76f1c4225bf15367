//! Nothing remains of what could not be written.
use super::errors::{create as create_sst, open};
use super::server::{Manners, Server};
use ncirrus::{
    Atomic, CreateOptions, Dataset, DimensionLen, Error, ErrorKind, Kind, Selection, Session, Storage, Values,
};
use ncirrus_tools::{CopyOptions, GenerateOptions, NccopyOptions, copy, generate};

const KINDS: [Kind; 3] = [Kind::NcZarr, Kind::Zarr2, Kind::Zarr3];

/// A directory with the chunks of two variables, of which the last chunk is damaged.
fn damaged(folder: &std::path::Path, session: &Session) -> Dataset {
    let place = folder.join("damaged.zarr");
    let url = place.to_str().unwrap();
    let dataset = Dataset::create_with(url, &CreateOptions::new().kind(Kind::Zarr2), session).unwrap();
    let define = |model: &mut ncirrus::Model| {
        let root = model.root();
        let x = model.add_dimension(root, "x", DimensionLen::Fixed(8))?;
        for name in ["a", "b"] {
            let var = model.add_variable(root, name, Atomic::Int.into(), &[x])?;
            model.variable_mut(var).unwrap().storage = Storage::Chunked(vec![2]);
        }
        Ok(())
    };
    dataset.edit(define).unwrap();
    for name in ["a", "b"] {
        let values = Values::Int((0..8).collect());
        dataset.variable(name).unwrap().write_values(&Selection::all(&[8]), &values).unwrap();
    }
    dataset.close().unwrap();
    std::fs::write(place.join("b/3"), b"short").unwrap();
    open(url, session).unwrap()
}

fn copied(source: &Dataset, url: &str, kind: Kind, replaces: bool, session: &Session) -> Result<(), Error> {
    let create = CreateOptions::new().kind(kind).overwrite(replaces);
    copy(source, url, &CopyOptions::new().create(create), session).map(|_| ())
}

fn generated(text: &str, url: &str, kind: Kind, replaces: bool, session: &Session) -> Result<(), Error> {
    let create = CreateOptions::new().kind(kind).overwrite(replaces);
    generate(&text.as_bytes(), url, &GenerateOptions::new().create(create), session).map(|_| ())
}

const WRONG_TEXT: &str =
    "netcdf a { dimensions: x = 4; variables: int v(x); int w(x); data: v = 1, 2, 3, 4; w = 1, 2, what; }";
const TEXT: &str = "netcdf a { dimensions: x = 4; variables: int v(x); data: v = 1, 2, 3, 4; }";

#[test]
fn nothing_remains_of_a_tree_that_could_not_be_completed() {
    let (server, folder) = (Server::start(), tempfile::tempdir().unwrap());
    let session = server.session();
    let source = damaged(folder.path(), &session);
    for kind in KINDS {
        let url = server.url("new");
        copied(&source, &url, kind, false, &session).unwrap_err();
        assert_eq!(server.keys(), [""; 0], "copy to {kind:?}");
        generated(WRONG_TEXT, &url, kind, false, &session).unwrap_err();
        assert_eq!(server.keys(), [""; 0], "text to {kind:?}");
        let long = server.url(&format!("new/{}", "k".repeat(1020)));
        generated(TEXT, &long, kind, false, &session).unwrap_err();
        assert_eq!(server.keys(), [""; 0], "a long key, {kind:?}");
        generated(TEXT, &url, kind, false, &session).unwrap();
        let removal = ncirrus_tools::removal(&url, &session).unwrap();
        ncirrus_tools::remove(&url, removal, &session).unwrap();
    }
}

#[test]
fn a_tree_that_could_not_be_replaced_is_as_it_was() {
    let (server, folder) = (Server::start(), tempfile::tempdir().unwrap());
    let session = server.session();
    let source = damaged(folder.path(), &session);
    let url = server.url("old");
    create_sst(&url, &session).unwrap();
    let keys = server.keys();
    for kind in KINDS {
        copied(&source, &url, kind, true, &session).unwrap_err();
        generated(WRONG_TEXT, &url, kind, true, &session).unwrap_err();
        assert_eq!(server.keys(), keys, "{kind:?}");
        assert_eq!(
            open(&url, &session).unwrap().variable("/v").unwrap().read::<i32>().unwrap(),
            [1, 2, 3, 4]
        );
    }
}

#[test]
fn nothing_remains_when_closing_fails() {
    let server = Server::start();
    let session = server.session();
    let dataset =
        Dataset::create_with(&server.url("new"), &CreateOptions::new().kind(Kind::NcZarr), &session).unwrap();
    dataset
        .edit(|model| {
            let root = model.root();
            let x = model.add_dimension(root, "x", DimensionLen::Fixed(4))?;
            Ok(model.add_variable(root, "v", Atomic::Int.into(), &[x]).map(|_| ())?)
        })
        .unwrap();
    server.behave(Manners { refuses_puts_of: Some(".zarray"), ..Manners::default() });
    let values = Values::Int(vec![1, 2, 3, 4]);
    dataset.variable("v").unwrap().write_values(&Selection::all(&[4]), &values).unwrap();
    dataset.close().unwrap_err();
    assert_eq!(server.keys(), [""; 0]);
}

/// The third example of the documentation of NCZarr: a bucket without a key, and no mode.
#[test]
fn a_bucket_holds_a_tree_for_netcdf_c_and_no_object_without_a_key() {
    let server = Server::start();
    let session = server.session();
    let as_ncgen = || {
        let create = CreateOptions::new().kind(Kind::Nc4).overwrite(true);
        GenerateOptions::new().create(create).kind_by_text(true)
    };
    let bucket = format!("{}/bucket", server.address.replace("http://", "s3://"));
    generate(&WRONG_TEXT.as_bytes(), &bucket, &as_ncgen(), &session).unwrap_err();
    assert_eq!(server.keys(), [""; 0]);
    generate(&TEXT.as_bytes(), &bucket, &as_ncgen(), &session).unwrap();
    assert!(server.keys().contains(&".zgroup".to_owned()), "{:?}", server.keys());
    assert_eq!(open(&bucket, &session).unwrap().variable("v").unwrap().read::<i32>().unwrap(), [1, 2, 3, 4]);
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path().join("a.nc").to_str().unwrap().to_owned();
    generated(TEXT, &here, Kind::Nc3, false, &session).unwrap();
    let source = open(&here, &session).unwrap();
    let nccopy = NccopyOptions::new().kind(Kind::Nc4);
    ncirrus_tools::nccopy(&source, &format!("{bucket}/copy"), &nccopy, &session).unwrap();
    assert!(server.keys().contains(&"copy/.zgroup".to_owned()), "{:?}", server.keys());
    server.requests();
    for kind in [Kind::Nc3, Kind::Nc4] {
        let error = generated(TEXT, &bucket, kind, true, &session).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
    }
    let puts: Vec<String> =
        server.requests().into_iter().filter(|request| !request.starts_with("GET")).collect();
    assert_eq!(puts, [""; 0]);
}

fn define(dataset: &Dataset) {
    let define = |model: &mut ncirrus::Model| {
        let root = model.root();
        let x = model.add_dimension(root, "x", DimensionLen::Fixed(4))?;
        Ok(model.add_variable(root, "v", Atomic::Int.into(), &[x]).map(|_| ())?)
    };
    dataset.edit(define).unwrap();
    let values = Values::Int(vec![1, 2, 3, 4]);
    dataset.variable("v").unwrap().write_values(&Selection::all(&[4]), &values).unwrap();
}

#[test]
fn what_was_synced_stays_when_closing_fails() {
    let server = Server::start();
    let session = server.session();
    let url = server.url("synced");
    let dataset = Dataset::create_with(&url, &CreateOptions::new().kind(Kind::Zarr3), &session).unwrap();
    define(&dataset);
    dataset.sync().unwrap();
    dataset.root().set_attribute(ncirrus::Attribute::text("title", "later")).unwrap();
    server.behave(Manners { refuses_puts_of: Some("zarr.json"), ..Manners::default() });
    dataset.close().unwrap_err();
    server.behave(Manners::default());
    assert_eq!(open(&url, &session).unwrap().variable("/v").unwrap().read::<i32>().unwrap(), [1, 2, 3, 4]);
}

#[test]
fn an_aborted_tree_at_the_root_of_a_bucket_leaves_what_others_put_there() {
    let server = Server::start();
    let session = server.session();
    let bucket = format!("{}/bucket", server.address.replace("http://", "s3://"));
    let dataset = Dataset::create_with(&bucket, &CreateOptions::new().kind(Kind::Zarr3), &session).unwrap();
    define(&dataset);
    let options = CreateOptions::new().kind(Kind::Zarr3).consolidated(false);
    let other = Dataset::create_with(&server.url("other"), &options, &session).unwrap();
    define(&other);
    other.close().unwrap();
    let keys = server.keys();
    dataset.abort().unwrap();
    let left = server.keys();
    assert_eq!(left, keys.into_iter().filter(|key| key.contains("other")).collect::<Vec<_>>());
    assert_eq!(
        open(&server.url("other"), &session).unwrap().variable("/v").unwrap().read::<i32>().unwrap(),
        [1, 2, 3, 4]
    );
}

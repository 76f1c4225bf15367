//! Nothing remains of what could not be written.
use super::errors::{create as create_sst, open};
use super::server::{Manners, Server};
use ncirrus::{
    Atomic, CreateOptions, Dataset, DimensionLen, Error, Kind, Selection, Session, Storage, Values,
};
use ncirrus_tools::{CopyOptions, GenerateOptions, copy, generate};

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

use super::*;
use crate::{MemoryStore, StoreContext};
use futures_util::FutureExt;
use ncirrus_layout::{ErrorKind, Want};

fn shelf(url: &Url) -> Result<(Arc<dyn Store>, ObjectId)> {
    let store = MemoryStore::new(&format!("shelf://{}", url.host()));
    let root = store.root().child(url.path().trim_matches('/'));
    Ok((store.shared(), root))
}

fn context() -> StoreContext {
    let mut context = StoreContext::default();
    context.schemes.register("shelf", Arc::new(shelf)).unwrap();
    context
}

#[test]
fn addresses_of_a_registered_scheme_open_in_its_store() {
    let opened = crate::open("shelf://upper/a/b.zarr#mode=zarr", &context()).now_or_never().unwrap().unwrap();
    assert_eq!((opened.root.to_string(), opened.name.as_str()), ("shelf://upper/a/b.zarr".to_owned(), "b"));
    let nothing = opened.store.get(&opened.root, &Want::All).now_or_never().unwrap();
    assert_eq!(nothing.unwrap(), None);
}

#[test]
fn an_unknown_scheme_is_an_error_that_names_those_that_are_registered() {
    let error = |context: &StoreContext| {
        let opened = crate::open("foo://user:secret@bar/x?key=secret", context).now_or_never().unwrap();
        let error = opened.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid);
        error.message().to_owned()
    };
    assert_eq!(error(&StoreContext::default()), "unknown scheme \"foo\" in foo://bar/x");
    assert_eq!(error(&context()), "unknown scheme \"foo\" in foo://bar/x; registered are shelf");
}

#[test]
fn only_free_names_that_can_be_schemes_are_registered() {
    let mut schemes = context().schemes;
    for (name, kind) in [
        ("shelf", ErrorKind::Conflict),
        ("s3", ErrorKind::Invalid),
        ("file", ErrorKind::Invalid),
        ("Shelf", ErrorKind::Invalid),
        ("a", ErrorKind::Invalid),
        ("a b", ErrorKind::Invalid),
        ("", ErrorKind::Invalid),
        ("9p", ErrorKind::Invalid),
    ] {
        assert_eq!(schemes.register(name, Arc::new(shelf)).unwrap_err().kind(), kind, "{name:?}");
    }
    schemes.register("other-shelf", Arc::new(shelf)).unwrap();
    assert_eq!(schemes.names().collect::<Vec<_>>(), ["other-shelf", "shelf"]);
}

//! Errors say what is wrong, and show no secrets.
use super::places::Place;
use super::server::{KEY, Manners, SECRET, Server, session, settings};
use ncirrus::{
    Atomic, CreateOptions, Dataset, DimensionLen, Error, ErrorKind, Kind, OpenOptions, Selection, Session,
    Values,
};
use ncirrus_tools::CopyOptions;

pub(super) fn open(url: &str, session: &Session) -> Result<Dataset, Error> {
    Dataset::open_with(url, &OpenOptions::default(), session)
}

pub(super) fn create(url: &str, session: &Session) -> Result<(), Error> {
    let options = CreateOptions::new().kind(Kind::NcZarr);
    let dataset = Dataset::create_with(url, &options, session)?;
    dataset.edit(|model| {
        let root = model.root();
        let x = model.add_dimension(root, "x", DimensionLen::Fixed(4))?;
        Ok(model.add_variable(root, "v", Atomic::Int.into(), &[x]).map(|_| ())?)
    })?;
    dataset.variable("/v")?.write_values(&Selection::all(&[4]), &Values::Int(vec![1, 2, 3, 4]))?;
    dataset.close()
}

/// The full text of an error, which must contain none of the secrets.
pub(super) fn shown(error: &Error, secrets: &[&str]) -> String {
    let mut text = format!("{error} {error:?} {error:#?}");
    let mut cause = std::error::Error::source(error);
    while let Some(deeper) = cause {
        text.push_str(&format!(" {deeper} {deeper:?}"));
        cause = deeper.source();
    }
    for secret in secrets {
        assert!(!text.contains(secret), "a secret is shown: {text}");
    }
    assert!(
        !text.contains("X-Amz-Signature") && !text.contains("Signature="),
        "a signature is shown: {text}"
    );
    text
}

#[test]
fn a_tree_is_not_copied_over_itself_or_into_itself() {
    let server = Server::start();
    let session = server.session();
    let url = server.url("x.zarr");
    create(&url, &session).unwrap();
    let (keys, source) = (server.keys(), open(&url, &session).unwrap());
    let create = CreateOptions::new().kind(Kind::NcZarr).overwrite(true);
    let options = CopyOptions::new().create(create);
    let elsewhere = server.address.replace("http", "s3");
    for target in
        [url.clone(), format!("{url}/"), format!("{elsewhere}/bucket/x.zarr"), server.url("x.zarr/in.zarr")]
    {
        let error = ncirrus_tools::copy(&source, &target, &options, &session).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Conflict, "{error}");
        assert!(error.message().contains("the source"), "{error}");
    }
    assert_eq!(server.keys(), keys);
    ncirrus_tools::copy(&source, &server.url("y.zarr"), &options, &session).unwrap();
}

#[test]
fn wrong_keys_are_distinguished() {
    let server = Server::start();
    let url = server.url("any");
    let wrong = "this/is+not/the+secret+of/the+key+at+all";
    for (key, secret, says) in
        [("AKIDUNKNOWN", SECRET, "does not know the access key"), (KEY, wrong, "secret access key")]
    {
        let session = session(&settings(&server.address, key, secret));
        for error in [open(&url, &session).unwrap_err(), create(&url, &session).unwrap_err()] {
            let text = shown(&error, &[SECRET, wrong]);
            assert_eq!(error.kind(), ErrorKind::Denied, "{text}");
            assert!(error.to_string().contains(says), "{error}");
        }
        assert!(!format!("{:?}", settings(&server.address, key, secret).keys()).contains(secret));
    }
}

#[test]
fn a_missing_bucket_is_named() {
    for place in [Some(Place::here()), Place::moto().map(|(place, _)| place)].into_iter().flatten() {
        let secrets: Vec<&str> = place.secrets.iter().map(String::as_str).collect();
        let session = place.session();
        for error in [
            open("s3://absent/data", &session).unwrap_err(),
            create("s3://absent/data", &session).unwrap_err(),
        ] {
            shown(&error, &secrets);
            assert_eq!(error.kind(), ErrorKind::NotFound, "{}: {error:?}", place.name);
            assert!(
                error.to_string().contains("no such bucket") && error.to_string().contains("absent"),
                "{error}"
            );
        }
    }
}

#[test]
fn answers_of_amazon_are_explained() {
    let server = Server::start();
    create(&server.url("data"), &server.session()).unwrap();
    let dataset = open(&server.url("data"), &server.session()).unwrap();
    for (status, code, says) in [
        (400, "AuthorizationHeaderMalformed", "region"),
        (301, "PermanentRedirect", "region"),
        (400, "ExpiredToken", "expired"),
        (403, "RequestTimeTooSkewed", "clock"),
        (403, "InvalidAccessKeyId", "access key"),
        (403, "AccessDenied", "permission"),
        (403, "AuthenticationFailed", "account's key"),
    ] {
        server.behave(Manners { refuses: Some((status, code)), ..Manners::default() });
        let session = server.session();
        for error in [
            open(&server.url("data"), &session).unwrap_err(),
            dataset.variable("/v").unwrap().read::<i32>().unwrap_err(),
        ] {
            shown(&error, &[SECRET]);
            assert!(error.to_string().contains(says), "{code}: {error}");
        }
    }
}

#[test]
fn without_the_permission_to_list_what_is_absent_is_absent_for_a_probe_and_denied_for_a_chunk() {
    let server = Server::start();
    create(&server.url("data"), &server.session()).unwrap();
    std::fs::remove_file(server.folder.path().join("bucket/data/v/0")).unwrap();
    server.behave(Manners { no_lists: true, ..Manners::default() });
    let dataset = open(&server.url("data"), &server.session()).unwrap();
    let error = dataset.variable("/v").unwrap().read::<i32>().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Denied, "{error:?}");
    assert!(error.to_string().contains("permission to list"), "{error}");
}

#[test]
fn missing_permission_to_write_is_reported() {
    let Some((place, reported)) = Place::moto() else { return };
    create(&place.url("data"), &place.session()).unwrap();
    let keys = |who: &str| {
        (reported[who][0].as_str().unwrap().to_owned(), reported[who][1].as_str().unwrap().to_owned())
    };
    let endpoint = reported["endpoint"].as_str().unwrap();
    let (key, secret) = keys("nobody");
    let unknown = session(&settings(endpoint, &key, &secret));
    let error = open(&place.url("data"), &unknown).unwrap_err();
    shown(&error, &[&secret]);
    assert_eq!(error.kind(), ErrorKind::Denied, "{error:?}");
    let (key, secret) = keys("reader");
    let reader = session(&settings(endpoint, &key, &secret));
    assert_eq!(
        open(&place.url("data"), &reader).unwrap().variable("/v").unwrap().read::<i32>().unwrap(),
        [1, 2, 3, 4]
    );
}

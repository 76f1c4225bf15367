//! Large objects that several writers send as concurrent multipart uploads.
use super::places::Place;
use super::server::{KEY, Manners, SECRET, Server, settings};
use bytes::Bytes;
use ncirrus::store::{
    CloudContext, CloudStore, MultipartUpload, PutCondition, Store, StoreExt, StoreOptions, Url,
};
use ncirrus::{Error, ErrorKind};
use ncirrus_layout::{ObjectId, Tag, Want};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Minimum number of bytes of a part other than the last.
const PART: usize = 5 << 20;

fn connect(settings: BTreeMap<String, String>, url: &str) -> (CloudStore, ObjectId) {
    let context = CloudContext::from(StoreOptions { settings, ..StoreOptions::default() });
    let url = Url::parse(url).unwrap();
    let bucket = context.network.config.bucket(&url).unwrap().unwrap();
    let store = CloudStore::connect(&bucket, url.fragment(), &context).unwrap();
    let object = store.root().child(&bucket.key);
    (store, object)
}

/// An upload of three parts that is not yet completed.
async fn begin(store: &CloudStore, object: &ObjectId, fill: u8) -> Arc<dyn MultipartUpload> {
    let upload = store.multipart(object).unwrap();
    for (index, len) in [PART, PART, 7].into_iter().enumerate() {
        upload.part(index, Bytes::from(vec![fill; len])).await.unwrap();
    }
    upload
}

/// Two uploads are completed at once: the result of each, and the object.
async fn race(
    store: &CloudStore,
    object: &ObjectId,
    fills: [u8; 2],
    when: &PutCondition,
) -> ([Result<Tag, Error>; 2], Bytes) {
    let uploads = [begin(store, object, fills[0]).await, begin(store, object, fills[1]).await];
    let (one, other) = tokio::join!(uploads[0].complete(when.clone()), uploads[1].complete(when.clone()));
    let stored = store.get(object, &Want::All).await.unwrap().unwrap();
    ([one, other], stored.bytes)
}

fn check(name: &str, fills: [u8; 2], outcomes: &[Result<Tag, Error>; 2], stored: &Bytes) {
    let won = outcomes.iter().position(Result::is_ok).unwrap();
    let lost = outcomes[1 - won].as_ref().unwrap_err();
    assert_eq!(lost.kind(), ErrorKind::Conflict, "{name}: {lost:?}");
    assert_eq!(stored.len(), 2 * PART + 7);
    assert!(stored.iter().all(|byte| *byte == fills[won]), "{name}: the object is the winner's");
}

#[tokio::test]
async fn of_two_writers_of_one_large_object_one_is_reported() {
    let server = Server::with(Manners { ends_together: Some(2), ..Manners::default() });
    let (store, object) = connect(settings(&server.address, KEY, SECRET), &server.url("large"));
    let (outcomes, stored) = race(&store, &object, [1, 2], &PutCondition::Absent).await;
    check("new", [1, 2], &outcomes, &stored);
    let tag = outcomes.into_iter().find_map(Result::ok).unwrap();
    server.behave(Manners { ends_together: Some(2), ..Manners::default() });
    let (outcomes, stored) = race(&store, &object, [3, 4], &PutCondition::Matches(tag)).await;
    check("changed", [3, 4], &outcomes, &stored);
    let ends = |request: &&String| request.starts_with("POST") && request.contains("uploadId=");
    assert_eq!(server.requests().iter().filter(ends).count(), 4, "all of them came to the end");
    let begun = std::fs::read_dir(server.folder.path()).unwrap().filter_map(Result::ok);
    let parts = begun.filter(|entry| entry.file_name().to_string_lossy().contains("upload_id")).count();
    assert_eq!(parts, 0, "what lost is taken back");
}

#[tokio::test]
async fn of_two_writers_of_one_large_object_at_moto_one_is_reported() {
    let Some((place, _)) = Place::moto() else { return };
    let (store, object) = connect(place.settings.clone(), &place.url("large"));
    let (outcomes, stored) = race(&store, &object, [1, 2], &PutCondition::Absent).await;
    check(place.name, [1, 2], &outcomes, &stored);
}

#[tokio::test]
async fn of_two_writers_of_one_large_object_at_azurite_one_is_reported() {
    let Some(place) = Place::azurite() else { return };
    let (store, object) = connect(place.settings.clone(), &place.url("large"));
    let (outcomes, stored) = race(&store, &object, [1, 2], &PutCondition::Absent).await;
    check("new", [1, 2], &outcomes, &stored);
    let tag = outcomes.into_iter().find_map(Result::ok).unwrap();
    let (outcomes, stored) = race(&store, &object, [3, 4], &PutCondition::Matches(tag)).await;
    check("changed", [3, 4], &outcomes, &stored);
}

#[tokio::test]
async fn a_server_that_takes_no_condition_at_the_end_of_an_upload_gets_none() {
    let server = Server::with(Manners { no_condition_at_ends: true, ..Manners::default() });
    let (store, object) = connect(settings(&server.address, KEY, SECRET), &server.url("large"));
    let upload = begin(&store, &object, 1).await;
    upload.complete(PutCondition::Absent).await.unwrap();
    let upload = begin(&store, &object, 2).await;
    let error = upload.complete(PutCondition::Absent).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict, "looked at before: {error}");
}

//! The adapter over a store in memory, and settings from the configuration.
use super::*;
use crate::identity::{CredentialRegistry, MfaCodes};
use crate::opener::CloudOpener;
use futures_util::TryStreamExt;
use ncirrus_http::NetworkContext;
use ncirrus_layout::ErrorKind;
use ncirrus_store::StoreExt;
use ncirrus_store::{
    CloudProvider, Credentials, DatasetShape, OverwritePolicy, PutCondition, StoreContext, StoreOptions, Url,
    conformance,
};
use object_store::memory::InMemory;

fn run<T>(future: impl Future<Output = Result<T>>) -> Result<T> {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

/// Opens addresses of object stores and nothing else.
fn opening(options: StoreOptions) -> StoreContext {
    let NetworkContext { options, config, connections } = options.into();
    let (identities, codes) = (CredentialRegistry::default(), MfaCodes::default());
    let mut context = StoreContext::from(options);
    context.schemes.add(Arc::new(CloudOpener { config, connections, identities, codes }));
    context
}

fn store() -> CloudStore {
    CloudStore::new("s3://bucket", Arc::new(InMemory::new()))
}

#[test]
fn the_adapter_obeys_the_laws() {
    let store = store();
    run(conformance::writable(&store, &store.root())).unwrap();
    run(conformance::writable(&store, &store.root().child("a/b"))).unwrap();
}

#[test]
fn keys_are_not_escaped() {
    let inner = Arc::new(InMemory::new());
    let store = CloudStore::new("s3://bucket", inner.clone() as Arc<dyn ObjectStore>);
    let object = store.root().child("a b/100%/~x/\u{e9}");
    run(store.put(&object, Bytes::from_static(b"1"), PutCondition::None)).unwrap();
    let keys: Vec<ObjectMeta> = run(async { Ok(inner.list(None).try_collect().await.unwrap()) }).unwrap();
    assert_eq!(keys[0].location.as_ref(), "a b/100%/~x/\u{e9}");
}

#[test]
fn large_files_are_sent_in_parts() {
    let store = store();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("big");
    let bytes: Vec<u8> = (0..9_000_000_u32).flat_map(u32::to_le_bytes).collect();
    std::fs::write(&file, &bytes).unwrap();
    let object = store.root().child("big");
    run(StoreExt::upload(&store, &object, &file, PutCondition::Absent)).unwrap();
    let read = run(store.get(&object, &Want::All)).unwrap().unwrap();
    assert!(read.bytes == bytes);
    let again = run(StoreExt::upload(&store, &object, &file, PutCondition::Absent)).unwrap_err();
    assert_eq!(again.kind(), ErrorKind::Conflict);
}

#[test]
fn a_whole_bucket_is_not_removed() {
    let store = store();
    assert_eq!(run(store.delete_tree(&store.root())).unwrap_err().kind(), ErrorKind::Invalid);
}

#[test]
fn clients_of_every_provider_are_made_without_asking_anyone() {
    let options = StoreOptions { credentials: Credentials::Anonymous, ..StoreOptions::default() };
    for address in [
        "s3://bucket/a",
        "https://bucket.s3.eu-west-1.amazonaws.com/a",
        "http://localhost:9000/bucket/a#mode=s3",
        "gs://bucket/a",
        "abfs://box@account.dfs.core.windows.net/a",
    ] {
        let url = Url::parse(address).unwrap();
        let bucket = url.bucket().unwrap().unwrap();
        let store = CloudStore::connect(&bucket, url.fragment(), &options.clone().into()).unwrap();
        assert_eq!(store.root().child(&bucket.key).to_string(), format!("{}/a", bucket.address()));
    }
    let settings = [("aws_access_key_id", "AKIA"), ("AWS_SECRET_ACCESS_KEY", "hunter2")];
    let settings = settings.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    let options = StoreOptions { settings, ..options };
    let url = Url::parse("s3://bucket/a").unwrap();
    let store = CloudStore::connect(&url.bucket().unwrap().unwrap(), url.fragment(), &options.clone().into())
        .unwrap();
    let shown = format!("{store:?} {}", store.root());
    assert!(shown.contains("s3://bucket") && !shown.contains('@') && !shown.contains("hunter2"), "{shown}");
    assert!(store.root().store.mark().is_some_and(|mark| mark.len() == 16), "{:?}", store.root());
    let nowhere = BucketUrl {
        provider: CloudProvider::Azure,
        endpoint: None,
        region: None,
        name: "box".to_owned(),
        account: None,
        key: String::new(),
        alias: None,
        is_amazon: false,
    };
    let account = std::env::vars().any(|(name, _)| name.starts_with("AZURE_"));
    let made = CloudStore::connect(&nowhere, &UrlFragment::default(), &options.into());
    assert!(account || made.unwrap_err().kind() == ErrorKind::Invalid);
}

#[test]
fn failures_contain_no_secrets() {
    let error = object_store::Error::Generic {
        store: "x",
        source: "asked https://host/a?sig=hunter2 in vain\nand again".into(),
    };
    let reported = CloudFault::from(error).at(&store().root());
    assert_eq!(reported.message(), "asked https://host/a in vain and again");
}

#[test]
fn a_dataset_of_one_object_is_removed_alone_whatever_lies_below_its_name() {
    let kept = store();
    let connected = kept.clone();
    let connect = move |url: &Url| -> Result<_> {
        let root = connected.root().child(url.path().trim_matches('/'));
        Ok((Arc::new(connected.clone()) as Arc<dyn Store>, root))
    };
    let mut context = StoreContext::default();
    context.schemes.register("shelf", Arc::new(connect)).unwrap();
    let keys = ["a", "a.nc", "a.nc/b", "a.nc2"];
    run(async {
        for key in keys {
            kept.put(&kept.root().child(key), "x".into(), PutCondition::None).await?;
        }
        let found = ncirrus_store::removal("shelf://x/a.nc", &context).await?;
        assert_eq!(found.keys.len(), 1);
        found.run().await?;
        for key in keys {
            let there = kept.get(&kept.root().child(key), &Want::All).await?;
            assert_eq!(there.is_some(), key != "a.nc", "{key}");
        }
        Ok(())
    })
    .unwrap();
}

#[test]
fn a_listing_with_an_odd_key_is_reported_with_what_is_odd() {
    let error = object_store::Error::from(Path::parse("a//b").unwrap_err());
    let reported = CloudFault::from(error).at(&store().root());
    assert_eq!(reported.kind(), ErrorKind::Unsupported);
    assert!(reported.message().contains("\"a//b\"") && reported.message().contains("listings"), "{reported}");
}

#[test]
fn a_server_that_speaks_like_amazon_is_requested_over_http() {
    use ncirrus_testkit::http_server::{ServerPage, TestHttpServer};
    let server = TestHttpServer::start([
        ("/bucket/a/x.nc", ServerPage::Ranged(b"0123456789".to_vec())),
        ("/bucket/a/closed", ServerPage::Status("403 Forbidden\r\n")),
    ]);
    let options = StoreOptions { credentials: Credentials::Anonymous, retries: 0, ..StoreOptions::default() };
    let context = opening(options);
    let address = format!("{}#mode=s3", server.url("/bucket/a/x.nc"));
    run(async {
        let opened = ncirrus_store::open(&address, &context).await?;
        assert_eq!(opened.root.to_string(), server.url("/bucket/a/x.nc"));
        conformance::read_digits(opened.store.as_ref(), &opened.root).await?;
        let sibling = |name: &str| ObjectId::new(opened.root.store.clone(), format!("a/{name}"));
        assert_eq!(opened.store.get(&sibling("no"), &Want::All).await?, None);
        let denied = opened.store.get(&sibling("closed"), &Want::All).await.unwrap_err();
        assert_eq!(denied.kind(), ErrorKind::Denied);
        Ok(())
    })
    .unwrap();
    assert_eq!(server.requests()[1], "/bucket/a/x.nc bytes=2-4");
}

#[test]
fn an_object_is_sent_while_it_is_written() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let inner = Arc::new(InMemory::new());
    let kept = CloudStore::new("s3://bucket", inner.clone()).in_parts(inner);
    let (object, connected) = (kept.root().child("data/x.nc"), kept.clone());
    let connect = move |url: &Url| -> Result<_> {
        let root = connected.root().child(url.path().trim_matches('/'));
        Ok((Arc::new(connected.clone()) as Arc<dyn Store>, root))
    };
    let mut context = StoreContext::default();
    context.schemes.register("shelf", Arc::new(connect)).unwrap();
    let body: Vec<u8> = (0..3_000_000_u32).flat_map(u32::to_le_bytes).collect();
    let write = async |policy: OverwritePolicy| {
        let shape = DatasetShape::Object;
        let staged = ncirrus_store::create("shelf://x/data/x.nc", shape, policy, &context).await?;
        let local = staged.store.local().unwrap();
        for (index, piece) in body.chunks(1 << 20).enumerate().rev() {
            local.write_at(&staged.root, (index as u64) << 20, piece)?;
        }
        staged.commit().await
    };
    runtime.block_on(write(OverwritePolicy::Never)).unwrap();
    let refused = runtime.block_on(write(OverwritePolicy::Never)).unwrap_err();
    assert_eq!((refused.kind(), refused.message()), (ErrorKind::Conflict, "exists already"));
    runtime.block_on(write(OverwritePolicy::Replace)).unwrap();
    let read = runtime.block_on(kept.get(&object, &Want::All)).unwrap().unwrap();
    assert!(read.bytes == body);
}

#[test]
fn a_version_is_that_of_one_object_and_no_other_is_read_with_it() {
    let store = store().at_version("a/b", "v1");
    for key in ["a/b/.zgroup", "a/bc", "a", "c"] {
        let object = store.root().child(key);
        let error = run(store.get(&object, &Want::All)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported, "{key}: {error}");
        assert!(error.message().contains("versionId=v1"), "{error}");
        assert!(run(StoreExt::holds(&store, &object)).is_err(), "{key}");
    }
    let object = store.root().child("a/b");
    assert!(run(store.list(&object, None)).is_err(), "what lies below has no versions");
    assert_eq!(run(store.get(&object, &Want::All)).unwrap(), None, "the object itself is requested");
}

#[test]
fn versions_of_other_protocols_are_refused() {
    let context = opening(StoreOptions::default());
    for address in ["gs://bucket/a.nc?versionId=1", "az://box/a.nc?versionId=1"] {
        let error = run(ncirrus_store::open(address, &context)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported, "{address}: {error}");
    }
}

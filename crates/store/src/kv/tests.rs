//! One set of behaviours for every store.
use super::*;
use crate::{DirectoryStore, MemoryStore};

/// What every writable map does.
async fn behave(map: &ObjectMap) -> Result<()> {
    assert_eq!((map.len().await?, map.is_empty().await?, map.ith(0).await?), (0, true, None));
    assert_eq!(map.search("/").await?, [""; 0]);
    for (key, content) in
        [("/.zgroup", "{}"), ("/v/.zarray", "{...}"), ("/v/0.0", "0123456789"), ("w/x/y", "deep")]
    {
        map.set(key, content).await?;
    }
    assert_eq!(map.keys().await?, ["/.zgroup", "/v/.zarray", "/v/0.0", "/w/x/y"]);
    assert_eq!((map.len().await?, map.ith(2).await?), (4, Some("/v/0.0".to_owned())));
    assert_eq!(map.ith(4).await?, None);
    assert_eq!(map.search("/").await?, [".zgroup", "v", "w"]);
    assert_eq!(map.search("/v").await?, [".zarray", "0.0"]);
    assert_eq!(map.search("/v/0.0").await?, [""; 0]);
    assert_eq!(map.length("/v/0.0").await?, 10);
    assert_eq!(map.get("v/0.0").await?, "0123456789");
    assert_eq!(map.get_range("/v/0.0", 8..20).await?, "89");
    map.set("/v/0.0", "short").await?;
    assert_eq!(map.get("/v/0.0").await?, "short");
    keys_are_distinguished(map).await?;
    assert_eq!(map.remove("/v/0.0").await?, "short");
    assert_eq!(map.remove("/v/0.0").await.map_err(|failure| failure.code()), Err(-141));
    map.clear().await?;
    map.clear().await?;
    assert!(map.is_empty().await?);
    map.set("/again", "1").await
}

/// Results and their codes.
async fn keys_are_distinguished(map: &ObjectMap) -> Result<()> {
    assert_eq!((map.presence("/v/0.0").await?, map.exists("/v/0.0").await?), (KeyPresence::Object, true));
    assert_eq!((map.presence("/v").await?, map.exists("/v").await?), (KeyPresence::Prefix, false));
    assert_eq!((map.presence("/no").await?, map.exists("/no").await?), (KeyPresence::Absent, false));
    assert_eq!(
        [KeyPresence::Object, KeyPresence::Prefix, KeyPresence::Absent].map(KeyPresence::code),
        [0, -139, -141]
    );
    for key in ["/v", "/w/x"] {
        assert_eq!(map.get(key).await.map_err(|failure| failure.code()), Err(-139), "{key} is a prefix");
        assert_eq!(map.length(key).await.map_err(|failure| failure.code()), Err(-139));
        assert_eq!(map.remove(key).await.map_err(|failure| failure.code()), Err(-139));
        assert_eq!(
            map.set(key, "x").await.map_err(|failure| failure.code()),
            Err(-140),
            "a prefix is in the way"
        );
    }
    for key in ["/no", "/v/0.0/below"] {
        assert_eq!(map.get(key).await.map_err(|failure| failure.code()), Err(-141), "{key} is absent");
        assert_eq!(map.length(key).await.map_err(|failure| failure.code()), Err(-141));
        assert_eq!(map.search(key).await.map_err(|failure| failure.code()), Err(-141));
    }
    let blocked = map.set("/v/0.0/below", "x").await;
    assert_eq!(blocked.map_err(|failure| failure.code()), Err(-140), "an object is in the way");
    for key in ["../x", "/a/../../x"] {
        assert_eq!(map.get(key).await.map_err(|failure| failure.code()), Err(-36), "{key} leaves the map");
    }
    Ok(())
}

fn ready<T>(future: impl Future<Output = T>) -> T {
    futures_util::FutureExt::now_or_never(future).unwrap()
}

#[test]
fn maps_in_memory_behave() {
    let store = MemoryStore::new("memory://kv");
    ready(behave(&ObjectMap::new(store.shared(), store.root()))).unwrap();
    ready(behave(&ObjectMap::new(store.shared(), store.root().child("below/here")))).unwrap();
}

#[test]
fn maps_in_directories_behave() {
    let folder = tempfile::tempdir().unwrap();
    let store = DirectoryStore::new(folder.path().join("x.zarr"));
    let root = store.root();
    ready(behave(&ObjectMap::new(store.shared(), root))).unwrap();
}

#[cfg(feature = "zip")]
#[test]
fn maps_in_zip_files_behave() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.zip");
    let writer = crate::ZipWriterStore::create(&path, None).unwrap();
    ready(behave(&ObjectMap::new(writer.shared(), writer.root()))).unwrap();
    writer.finish().unwrap();
    let map = BlockingMap::open(path.to_str().unwrap(), &StoreContext::default()).unwrap();
    assert_eq!(
        map.get("/again").map(|bytes| bytes.len()).unwrap_or_default(),
        0,
        "the only entry is the root"
    );
}

#[test]
fn maps_in_object_stores_behave() {
    let store = Arc::new(crate::far::FarStore::new("s3://bucket"));
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let map = ObjectMap::new(store.clone(), store.root().child("a/b"));
    runtime.block_on(behave(&map)).unwrap();
    let refused = BlockingMap::new(store.clone(), store.root()).unwrap_err();
    assert_eq!(refused.code(), -128);
}

#[test]
fn a_map_is_created_empty() {
    let store = MemoryStore::new("memory://kv");
    let map = BlockingMap::create(store.shared(), store.root(), OverwritePolicy::Never).unwrap();
    map.set("/a", b"1").unwrap();
    let refused = BlockingMap::create(store.shared(), store.root(), OverwritePolicy::Never).unwrap_err();
    assert_eq!(
        (refused.code(), refused.to_string().as_str()),
        (-140, "an object is in the way (in memory://kv)")
    );
    let map = BlockingMap::create(store.shared(), store.root(), OverwritePolicy::Replace).unwrap();
    assert_eq!(map.len().unwrap(), 0);
}

#[cfg(unix)]
#[test]
fn denied_access_has_its_own_code() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("closed");
    std::fs::write(&path, "1").unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o000)).unwrap();
    if std::fs::read(&path).is_ok() {
        println!("skipped: this user may read everything");
        return;
    }
    let store = DirectoryStore::new(folder.path());
    let root = store.root();
    let map = BlockingMap::new(store.shared(), root).unwrap();
    assert_eq!(map.get("/closed").unwrap_err().code(), -77);
}

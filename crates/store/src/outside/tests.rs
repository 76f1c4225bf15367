use super::*;
use crate::StoreOptions;
use crate::store::PutCondition;
use ncirrus_layout::ErrorKind;

const PREFIX: &str = "memory://files/data/";

fn container() -> OutsideContainer {
    OutsideContainer { name: Some("files".into()), prefix: PREFIX.into(), ..OutsideContainer::default() }
}

/// A repository in memory, and a store in memory with `data/a.bin`, to which it refers.
fn store(rules: &[&str], local: bool) -> OutsideStore {
    let rules = rules.iter().map(|rule| ContainerRule::parse(rule).unwrap()).collect();
    let options = StoreOptions { containers: rules, local_references: local, ..StoreOptions::default() };
    let context = StoreContext::from(options);
    for (name, key) in
        [("files", "data/a.bin"), ("files", "secret.bin"), ("other", "a.bin"), ("repo", "repo")]
    {
        let memory = context.memory.create(name);
        let object = memory.root().child(key);
        LocalStore::put(&memory, &object, b"0123456789", &PutCondition::None).unwrap();
    }
    let inner: Arc<dyn Store> = context.memory.find("repo").unwrap().shared();
    OutsideStore::new(inner, Url::parse("memory://repo").unwrap(), &[container()], &context)
}

fn read(store: &OutsideStore, address: &str, change: impl FnOnce(&mut OutsideObject)) -> Result<Vec<u8>> {
    let mut outside = OutsideObject { address: address.into(), etag: None, unmodified_since: None };
    change(&mut outside);
    let object = outside.object(Store::id(store));
    let found = Store::get(store, &object, &Want::Range(2..5)).now_or_never().unwrap()?;
    Ok(found.unwrap().bytes.to_vec())
}

#[test]
fn objects_in_containers_are_read_if_the_user_allows_it() {
    let at = |rules: &[&str], local| read(&store(rules, local), "memory://files/data/a.bin", |_| {});
    for rules in [&["files=allow"][..], &["memory://files/data/=allow"], &["files=deny", "files=allow"]] {
        assert_eq!(at(rules, false).unwrap(), b"234", "{rules:?}");
    }
    assert_eq!(at(&[], true).unwrap(), b"234");
    assert_eq!(at(&["files=memory://other"], false).unwrap(), b"234");
    for (rules, local) in [(&[][..], false), (&["files=deny"], true), (&["files=allow", "files=deny"], false)]
    {
        let error = at(rules, local).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Denied);
        assert!(error.message().contains("\"files\" (memory://files/data/)"), "{error}");
    }
}

#[test]
fn nothing_outside_of_containers_is_read() {
    let store = store(&["files=allow"], true);
    for (address, kind) in [
        ("memory://files/secret.bin", ErrorKind::Denied),
        ("memory://files/database/a.bin", ErrorKind::Denied),
        ("memory://files/data/../secret.bin", ErrorKind::Malformed),
        ("memory://files/data/%2e%2e/secret.bin", ErrorKind::Malformed),
        ("memory://files/data/none.bin", ErrorKind::NotFound),
    ] {
        let error = read(&store, address, |_| {}).unwrap_err();
        assert_eq!(error.kind(), kind, "{address}: {error}");
    }
    let own = ObjectId::new(Store::id(&store).clone(), "repo");
    assert!(Store::get(&store, &own, &Want::All).now_or_never().unwrap().unwrap().is_some());
    assert!(Store::local(&store).is_none());
}

#[test]
fn an_object_in_another_state_is_refused() {
    let store = store(&["files=allow"], false);
    let error =
        read(&store, "memory://files/data/a.bin", |outside| outside.etag = Some("x".into())).unwrap_err();
    assert!(error.kind() == ErrorKind::Changed && error.message().contains("\"x\""), "{error}");
    let tag = Tag::new("\"abc\"").modified_at(10);
    let state = |etag: Option<&str>, unmodified_since| OutsideObject {
        address: "".into(),
        etag: etag.map(Into::into),
        unmodified_since,
    };
    for (etag, since, is_same) in [
        (Some("abc"), None, true),
        (Some("\"abc\""), None, true),
        (Some("abd"), None, false),
        (None, Some(10), true),
        (None, Some(9), false),
        (None, None, true),
    ] {
        assert_eq!(check_state(&state(etag, since), &tag).is_ok(), is_same, "{etag:?} {since:?}");
    }
}

#[test]
fn containers_have_settings() {
    let container = |settings: &[(&str, &str)]| OutsideContainer {
        prefix: "s3://bucket/".into(),
        settings: settings.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect(),
        ..OutsideContainer::default()
    };
    let named =
        |address: &str, settings: &[(&str, &str)]| with_settings(address, &container(settings)).unwrap();
    assert_eq!(named("s3://bucket/a b", &[]), None);
    assert_eq!(named("gcs://bucket/a", &[]).as_deref(), Some("gs://bucket/a"));
    assert_eq!(
        named("s3://bucket/a", &[("region", "eu-west-1"), ("anonymous", "true")]).as_deref(),
        Some("s3://bucket/a#aws.region=eu-west-1&aws.profile=anonymous")
    );
    assert_eq!(
        named("s3://bucket/a b", &[("endpoint_url", "https://store.example.org/")]).as_deref(),
        Some("https://store.example.org/bucket/a%20b#mode=s3")
    );
}

#[test]
fn rules_are_read_as_users_write_them() {
    assert_eq!(ContainerRule::parse("a=allow").unwrap(), ("a".into(), ContainerRule::Allow));
    assert_eq!(ContainerRule::parse("http://x/=deny").unwrap(), ("http://x/".into(), ContainerRule::Deny));
    let moved = ContainerRule::At("file:///data".into());
    assert_eq!(ContainerRule::parse("a=file:///data").unwrap(), ("a".into(), moved));
    for odd in ["", "a", "=allow", "a=yes", "a="] {
        assert!(ContainerRule::parse(odd).is_err(), "{odd}");
    }
}

//! Requests to Azure.
use super::requests::{RuleServer, answer, connect, object, read};
use super::*;
use bytes::Bytes;
use ncirrus_layout::ErrorKind;
use ncirrus_store::{PutCondition, StoreExt};
use std::time::{Duration, SystemTime};

const KEY: &str = "aHVudGVyMg==";

fn settings(server: &RuleServer) -> CloudContext {
    let settings = [
        ("azure_storage_endpoint", server.address.as_str()),
        ("azure_storage_account_name", "account"),
        ("azure_storage_account_key", KEY),
    ];
    let settings = settings.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    let mut context = context(&home(&[]), &[]);
    context.network.options.settings = settings;
    context
}

/// A server without objects that rejects the completion of puts with a condition.
fn taken(head: &str) -> String {
    match head {
        head if head.starts_with("head ") => answer("404 Not Found", "", ""),
        head if head.contains("comp=blocklist") && head.contains("if-none-match: *") => {
            answer("409 Conflict", "", "<Error><Code>BlobAlreadyExists</Code></Error>")
        }
        _ => answer("201 Created", "ETag: \"e\"\r\n", ""),
    }
}

#[test]
fn uploads_in_parts_end_with_their_condition() {
    let server = RuleServer::start(taken);
    let (store, object) = connect("az://box/large", &settings(&server));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let upload = |when| {
        let upload = store.multipart(&object).unwrap();
        runtime.block_on(async {
            upload.part(0, Bytes::from_static(b"part")).await?;
            upload.complete(when).await
        })
    };
    upload(PutCondition::None).unwrap();
    assert_eq!(upload(PutCondition::Absent).unwrap_err().kind(), ErrorKind::Conflict);
    let requested = server.requested();
    let conditional = |head: &&String| head.contains("if-none-match:");
    assert_eq!(
        requested.iter().filter(conditional).count(),
        1,
        "nothing but the end bears it: {requested:?}"
    );
}

/// Its clock is ahead by half an hour, and signatures are valid for a quarter of an hour.
fn ahead(head: &str) -> String {
    let now = SystemTime::now() + Duration::from_secs(1800);
    let signed = head.lines().find_map(|line| line.strip_prefix("date: ")).unwrap();
    let signed = httpdate::parse_http_date(&proper(signed)).unwrap();
    let differ = now.duration_since(signed).unwrap_or_else(|before| before.duration());
    if differ < Duration::from_secs(900) {
        return object("data");
    }
    let date = format!("Date: {}\r\n", httpdate::fmt_http_date(now));
    answer("403 Forbidden", &date, "<Error><Code>AuthenticationFailed</Code></Error>")
}

/// The test server passes heads on in lower case.
fn proper(date: &str) -> String {
    let word = |word: &str| {
        let (first, rest) = word.split_at(1);
        format!("{}{rest}", first.to_ascii_uppercase())
    };
    date.split(' ').map(word).collect::<Vec<_>>().join(" ").replace("Gmt", "GMT")
}

#[test]
fn requests_are_signed_by_the_servers_clock_where_it_differs() {
    let server = RuleServer::start(ahead);
    let context = settings(&server);
    let (store, object) = connect("az://box/k", &context);
    assert_eq!(read(&store, &object).unwrap().unwrap(), "data");
    assert_eq!(server.requested().len(), 2);
    assert_eq!(read(&store, &object).unwrap().unwrap(), "data");
    assert_eq!(server.requested().len(), 3, "the clock is known");
    let notes = context.identities.notes();
    assert!(notes.iter().any(|note| note.contains("min") && note.contains("behind")), "{notes:?}");
}

//! Listings with keys as servers give them.
use super::*;
use crate::identity::CloudContext;
use ncirrus_config::{ConfigSettings, ProcessEnvironment};
use ncirrus_http::NetworkContext;
use ncirrus_store::{Store, StoreExt, StoreOptions, Url};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

/// An S3-compatible server over a list of keys.
struct ListingServer {
    address: String,
    keys: Arc<Mutex<Vec<String>>>,
}

impl ListingServer {
    fn start(keys: &[&str]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let keys = Arc::new(Mutex::new(keys.iter().map(|key| (*key).to_owned()).collect()));
        let of_server = Arc::clone(&keys);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let keys = Arc::clone(&of_server);
                std::thread::spawn(move || serve(stream, &keys));
            }
        });
        Self { address, keys }
    }

    fn store(&self) -> CloudStore {
        let variables = [
            ("AWS_ACCESS_KEY_ID", "AKIA"),
            ("AWS_SECRET_ACCESS_KEY", "hunter2"),
            ("AWS_ENDPOINT_URL", &self.address),
        ];
        let environment =
            variables.iter().fold(ProcessEnvironment::default(), |all, (name, value)| all.with(name, value));
        let config = Arc::new(ConfigSettings::of_environment(environment));
        let options = StoreOptions { retries: 0, ..StoreOptions::default() };
        let context = CloudContext::from(NetworkContext { config, ..options.into() });
        let url = Url::parse("s3://bucket").unwrap();
        CloudStore::connect(&url.bucket().unwrap().unwrap(), url.fragment(), &context).unwrap()
    }
}

fn serve(stream: TcpStream, keys: &Mutex<Vec<String>>) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut stream = stream;
    loop {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if reader.read_line(&mut head).ok()? == 0 {
                return None;
            }
        }
        let len = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
        let mut body = String::new();
        reader.by_ref().take(len.unwrap_or(0)).read_to_string(&mut body).ok()?;
        let path = head.split(' ').nth(1)?;
        let (status, text) = answer(path, &body, &mut keys.lock().unwrap());
        let len = text.len();
        write!(stream, "HTTP/1.1 {status}\r\nContent-Length: {len}\r\n\r\n").ok()?;
        // Answers to HEAD have no body.
        if !head.starts_with("HEAD") {
            stream.write_all(text.as_bytes()).ok()?;
        }
    }
}

/// Lists two at a time.
fn answer(path: &str, body: &str, keys: &mut Vec<String>) -> (&'static str, String) {
    let url: reqwest::Url = format!("http://host{path}").parse().unwrap();
    let value = |name: &str| url.query_pairs().find(|pair| pair.0 == name).map(|pair| pair.1.into_owned());
    if value("delete").is_some() {
        let order = xml::parse(body).unwrap();
        let gone: Vec<_> =
            order.each("Object").filter_map(|object| object.text_of("Key").map(str::to_owned)).collect();
        keys.retain(|key| !gone.contains(key));
        return ("200 OK", "<DeleteResult><Deleted><Key>a</Key></Deleted></DeleteResult>".to_owned());
    }
    let (Some(prefix), Some(_)) = (value("prefix"), value("list-type")) else {
        return ("404 Not Found", String::new());
    };
    let mut found: Vec<(String, bool)> = keys
        .iter()
        .filter_map(|key| {
            let rest = key.strip_prefix(&prefix)?;
            let cut = value("delimiter").and_then(|_| rest.split_once('/'));
            Some(cut.map_or((key.clone(), false), |(first, _)| (format!("{prefix}{first}/"), true)))
        })
        .collect();
    found.sort();
    found.dedup();
    if let Some(after) = value("continuation-token") {
        found.retain(|(key, _)| *key > after);
    }
    let next = (found.len() > 2).then(|| found[1].0.clone());
    let entry = |(key, is_prefix): &(String, bool)| {
        if *is_prefix {
            format!("<CommonPrefixes><Prefix>{}</Prefix></CommonPrefixes>", xml::escaped(key))
        } else {
            format!("<Contents><Key>{}</Key><Size>{}</Size></Contents>", xml::escaped(key), key.len())
        }
    };
    let entries: String = found.iter().take(2).map(entry).collect();
    let next =
        next.map(|next| format!("<NextContinuationToken>{}</NextContinuationToken>", xml::escaped(&next)));
    let page =
        format!("<ListBucketResult xmlns=\"x\">{}{entries}</ListBucketResult>\n", next.unwrap_or_default());
    ("200 OK", page)
}

fn run<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

const KEYS: [&str; 12] = [
    "/first",
    "a/",
    "a/.zgroup",
    "a/../b",
    "a/./b",
    "a/b/c",
    "a//b",
    "a/bell\u{7}",
    "a/sub/",
    "a/x<&>\"y\"",
    "ab",
    "b",
];

fn names(store: &CloudStore, prefix: &str) -> Vec<(String, bool)> {
    let (prefix, mut names, mut page) = (store.root().child(prefix), Vec::new(), None);
    loop {
        let listing = run(store.list(&prefix, page.as_deref())).unwrap();
        names.extend(listing.entries.into_iter().map(|entry| (entry.name, entry.is_prefix)));
        page = listing.next;
        if page.is_none() {
            return names;
        }
    }
}

#[test]
fn keys_that_cannot_be_named_are_left_out_of_listings_and_reported() {
    let server = ListingServer::start(&KEYS);
    let store = server.store();
    let expected = [(".zgroup", false), ("b", true), ("sub", true), ("x<&>\"y\"", false)];
    assert_eq!(names(&store, "a"), expected.map(|(name, is_prefix)| (name.to_owned(), is_prefix)));
    assert_eq!(names(&store, "a/sub"), []);
    let reported = StoreExt::warnings(&store);
    let starts =
        ["keys below \"a/../\"", "keys below \"a/./\"", "keys below \"a//\"", "key \"a/bell\\u{7}\""];
    assert_eq!(reported.len(), starts.len(), "{reported:?}");
    assert!(starts.iter().all(|start| reported.iter().any(|line| line.starts_with(start))), "{reported:?}");
    let top = [("a", true), ("ab", false), ("b", false)];
    assert_eq!(names(&store, ""), top.map(|(name, is_prefix)| (name.to_owned(), is_prefix)));
    assert!(StoreExt::warnings(&store).iter().any(|line| line.starts_with("keys below \"/\"")));
}

#[test]
fn deep_listings_have_keys_that_cannot_be_named_apart() {
    let server = ListingServer::start(&KEYS);
    let store = server.store();
    let (mut named, mut unnamed, mut page) = (Vec::new(), Vec::new(), None);
    loop {
        let found =
            run(StoreExt::objects(&store, &store.root().child("a"), page.as_deref()).unwrap()).unwrap();
        named.extend(found.objects.into_iter().map(|(object, size)| (object.key().to_owned(), size)));
        unnamed.extend(found.unnamed.into_iter().map(|(key, _)| key));
        page = found.next;
        if page.is_none() {
            break;
        }
    }
    assert_eq!(named, ["a/.zgroup", "a/b/c", "a/x<&>\"y\""].map(|key| (key.to_owned(), key.len() as u64)));
    assert_eq!(unnamed, ["a/../b", "a/./b", "a//b", "a/bell\u{7}", "a/sub/"]);
}

#[test]
fn whatever_lies_below_a_prefix_is_removed_and_nothing_else() {
    let server = ListingServer::start(&KEYS);
    let store = server.store();
    let root = store.root().child("a");
    run(store.delete_tree(&root)).unwrap();
    assert_eq!(*server.keys.lock().unwrap(), ["/first", "ab", "b"]);
    assert_eq!(StoreExt::warnings(&store), [""; 0]);
}

#[test]
fn what_is_no_listing_is_an_error() {
    let page = "<ListBucketResult><NextContinuationToken>t&amp;</NextContinuationToken><Contents><Key>a&lt;</Key>\
                <Size>7</Size><LastModified>1970-01-01T00:00:01Z</LastModified></Contents><CommonPrefixes>\
                <Prefix>b/</Prefix><Prefix>c/</Prefix></CommonPrefixes></ListBucketResult>";
    let object = ListedKey {
        key: "a<".to_owned(),
        size: 7,
        changed: Some(SystemTime::UNIX_EPOCH + Duration::from_secs(1)),
    };
    let whole = ListingPage {
        objects: vec![object],
        prefixes: vec!["b/".to_owned(), "c/".to_owned()],
        next: Some("t&".to_owned()),
    };
    assert_eq!(parse(page), Ok(whole));
    for end in 0..page.len() {
        assert!(parse(&page[..end]).is_err(), "{end}");
    }
    assert!(parse("<html></html>").is_err());
    assert!(parse("<ListBucketResult><Contents><Key>a</Key></Contents></ListBucketResult>").is_err());
    assert!(parse("<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>").is_err());
}

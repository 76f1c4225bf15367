//! Errors of fragments name the fragment, and affect nothing else.
use super::made::{Made, claims, fragment, text_fragment, value};
use crate::support::{open, session, temp, values};
use ncirrus::{Dataset, Error, ErrorKind, MissingChunks, Selection, Session, Values};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;

fn v(dataset: &Dataset) -> Result<Vec<f64>, Error> {
    match values(&dataset.variable("v")?)? {
        Values::Double(numbers) => Ok(numbers),
        other => panic!("{other:?}"),
    }
}

/// The error of reading all of `v`.
#[track_caller]
fn failure(path: &Path, session: &Session) -> Error {
    open(path, session).and_then(|dataset| v(&dataset)).map(|_| ()).unwrap_err()
}

#[track_caller]
fn says(error: &Error, kind: ErrorKind, words: &[&str]) {
    let text = error.to_string();
    assert_eq!(error.kind(), kind, "{text}");
    words.iter().for_each(|word| assert!(text.contains(word), "{text:?} does not say {word:?}"));
}

#[test]
fn a_fragment_that_is_not_there_is_an_error_or_missing_values_that_are_reported() {
    let (_folder, root) = temp();
    let made = Made::new(&root, 3, 2, &session());
    std::fs::remove_file(made.fragment_path(1)).unwrap();
    let error = failure(&made.path(), &session());
    says(&error, ErrorKind::NotFound, &["fragment [1] is not there", "f1.nc", "/v"]);

    let lenient = Session::builder().fragments_absent(MissingChunks::Fill).build().unwrap();
    let dataset = open(&made.path(), &lenient).unwrap();
    let fill = 9.969_209_968_386_869e36;
    assert_eq!(v(&dataset).unwrap(), [value(0), value(1), fill, fill, value(4), value(5)]);
    let warnings = dataset.warnings();
    let due = "1 fragment is not there, the elements are missing: [1] of /v (f1.nc)";
    assert_eq!(warnings, [due]);
}

#[cfg(unix)]
#[test]
fn relative_fragments_are_beside_what_a_link_leads_to() {
    let (_folder, root) = temp();
    let (there, links) = (root.join("there"), root.join("links"));
    std::fs::create_dir_all(&there).unwrap();
    std::fs::create_dir_all(&links).unwrap();
    let made = Made::new(&there, 2, 2, &session());
    let link = links.join(made.path().file_name().unwrap());
    std::os::unix::fs::symlink(made.path(), &link).unwrap();
    let expected = [value(0), value(1), value(2), value(3)];
    assert_eq!(v(&open(&link, &session()).unwrap()).unwrap(), expected);
    // Files of the same name beside the link are others.
    std::fs::write(links.join("f1.nc"), "this is no dataset").unwrap();
    assert_eq!(v(&open(&link, &session()).unwrap()).unwrap(), expected);
    // What is only beside the link is found as before.
    std::fs::rename(made.fragment_path(1), links.join("f1.nc")).unwrap();
    assert_eq!(v(&open(&link, &session()).unwrap()).unwrap(), expected);
}

#[test]
fn the_others_are_read_all_the_same() {
    let (_folder, root) = temp();
    let made = Made::new(&root, 3, 2, &session());
    std::fs::write(made.fragment_path(1), "this is no dataset").unwrap();
    let dataset = open(&made.path(), &session()).unwrap();
    let last = dataset.variable("v").unwrap().values(&Selection::slab(&[4], &[2])).unwrap();
    assert_eq!(last, Values::Double(vec![value(4), value(5)]));
    says(&v(&dataset).unwrap_err(), ErrorKind::Malformed, &["fragment [1]", "f1.nc"]);
}

#[test]
fn a_fragment_that_is_cut_short_is_named() {
    let (_folder, root) = temp();
    let made = Made::new(&root, 2, 100, &session());
    let bytes = std::fs::read(made.fragment_path(1)).unwrap();
    for len in [0, 3, 20, 60, bytes.len() - 400] {
        std::fs::write(made.fragment_path(1), &bytes[..len]).unwrap();
        let text = failure(&made.path(), &session()).to_string();
        assert!(text.contains("fragment [1]") && text.contains("f1.nc"), "{len}: {text}");
    }
}

#[test]
fn a_fragment_of_another_shape_type_or_name_is_named() {
    let (_folder, root) = temp();
    let made = Made::new(&root, 2, 3, &session());
    fragment(&made.fragment_path(1), &[1.0, 2.0], &session());
    says(&failure(&made.path(), &session()), ErrorKind::Malformed, &["fragment [1]", "[2]", "[3]"]);
    text_fragment(&made.fragment_path(1), b"abc", &session());
    says(&failure(&made.path(), &session()), ErrorKind::Malformed, &["fragment [1]", "char", "double"]);
    made.write_master("m.nca", |_| "f0.nc".to_owned(), &session());
    let dataset = open(&made.path(), &session()).unwrap();
    assert_eq!(v(&dataset).unwrap(), [value(0), value(1), value(2)].repeat(2));
}

#[test]
fn a_fragment_that_was_replaced_is_opened_anew() {
    let (_folder, root) = temp();
    let (made, session) = (Made::new(&root, 2, 2, &session()), session());
    let dataset = open(&made.path(), &session).unwrap();
    assert_eq!(v(&dataset).unwrap(), made.due());
    let other = root.join("other.nc");
    fragment(&other, &[-1.0, -2.0], &session);
    std::fs::rename(other, made.fragment_path(1)).unwrap();
    assert_eq!(v(&dataset).unwrap(), [value(0), value(1), -1.0, -2.0]);
}

#[test]
fn masters_that_are_parts_of_each_other_are_refused() {
    let (_folder, root) = temp();
    let made = Made::master_only(&root, 1, 2, &session());
    made.write_master("a.nca", |_| "b.nca".to_owned(), &session());
    made.write_master("b.nca", |_| "a.nca".to_owned(), &session());
    let error = failure(&root.join("a.nca"), &session());
    says(&error, ErrorKind::Malformed, &["fragment [0]", "aggregated from itself"]);
}

#[test]
fn aggregations_of_aggregations_have_an_end() {
    let (_folder, root) = temp();
    let made = Made::new(&root, 1, 2, &session());
    for depth in 0..12u32 {
        let inner = if depth == 0 { "f0.nc".to_owned() } else { format!("{}.nca", depth - 1) };
        made.write_master(&format!("{depth}.nca"), |_| inner.clone(), &session());
    }
    let session = session();
    let dataset = open(&root.join("6.nca"), &session).unwrap();
    assert_eq!(v(&dataset).unwrap(), made.due());
    says(&failure(&root.join("11.nca"), &session), ErrorKind::Limit, &["8 deep"]);
}

#[test]
fn a_billion_fragments_that_are_only_claimed_are_refused() {
    let (_folder, root) = temp();
    let path = root.join("m.nca");
    claims(&path, 1_000_000_000, &session());
    let error = open(&path, &session())
        .and_then(|dataset| dataset.variable("v")?.values(&Selection::slab(&[500], &[1])))
        .map(|_| ())
        .unwrap_err();
    assert!(error.to_string().contains("/v"), "{error}");
}

#[test]
fn names_reach_other_folders_but_no_other_schemes() {
    let (_folder, root) = temp();
    let session = session();
    std::fs::create_dir(root.join("inner")).unwrap();
    let made = Made::master_only(&root.join("inner"), 1, 2, &session);
    fragment(&root.join("f0.nc"), &made.due(), &session);
    made.write_master("m.nca", |_| "../f0.nc".to_owned(), &session);
    assert_eq!(v(&open(&made.path(), &session).unwrap()).unwrap(), made.due());
    for (name, kind, word) in [
        ("urn:f0", ErrorKind::Unsupported, "the scheme \"urn\""),
        ("gopher://localhost/f0.nc", ErrorKind::Invalid, "gopher"),
    ] {
        made.write_master("m.nca", |_| name.to_owned(), &session);
        says(&failure(&made.path(), &session), kind, &["fragment [0]", word]);
    }
}

#[test]
#[cfg(feature = "http")]
fn a_fragment_that_cannot_be_reached_is_an_error_and_never_fill() {
    let (_folder, root) = temp();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            _ = stream.read(&mut [0; 4096]);
            _ = stream.write_all(
                b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
            );
        }
    });
    let made = Made::new(&root, 2, 2, &session());
    let far = |number| if number == 1 { format!("http://{address}/f1.nc") } else { "f0.nc".to_owned() };
    made.write_master("m.nca", far, &session());
    let stores = ncirrus::store::StoreOptions { retries: 0, ..Default::default() };
    let session = Session::builder().stores(stores).fragments_absent(MissingChunks::Fill).build().unwrap();
    let error = failure(&made.path(), &session);
    assert!(matches!(error.kind(), ErrorKind::Io { .. }), "{error:?}");
    says(&error, error.kind(), &["fragment [1]", "503"]);
}

#[test]
#[cfg(feature = "http")]
fn masters_behind_a_server_have_their_fragments_there() {
    let (_folder, root) = temp();
    let made = Made::new(&root, 3, 2, &session());
    let address = ncirrus_testkit::files_over_http::serve(&root, None);
    let dataset = Dataset::open(&format!("{address}/m.nca")).unwrap();
    assert_eq!(v(&dataset).unwrap(), made.due());
    let local = made.fragment_path(0).to_str().unwrap().to_owned();
    made.write_master("m.nca", |_| format!("file://{local}"), &session());
    let refused = Dataset::open(&format!("{address}/m.nca")).and_then(|dataset| v(&dataset)).unwrap_err();
    says(&refused, ErrorKind::Denied, &["fragment [0]", "of a remote dataset points to a local file"]);
    let trusting = Session::builder().local_fragments(true).build().unwrap();
    let dataset = Dataset::open_with(&format!("{address}/m.nca"), &Default::default(), &trusting).unwrap();
    assert_eq!(v(&dataset).unwrap(), [value(0), value(1)].repeat(3));
}

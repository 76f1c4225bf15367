use super::*;
use crate::group::lookup;
use crate::object::header;
use crate::testing::build::{FileBuilder, message, summed, words};
use crate::testing::{KEY, done, root, view};
use ncirrus_layout::ErrorKind;
use ncirrus_testkit::ObjectView;
use ncirrus_testkit::corpus::corpus;
use rstest::rstest;

/// A file with a committed type, and its address.
fn with_type() -> (FileBuilder, u64) {
    let mut file = FileBuilder::new();
    let addr = file.header(&[message(3, 0, b"type"), message(1, 2, &[2, 0, 48, 0, 0, 0, 0, 0, 0, 0])]);
    (file, addr)
}

fn resolve_in(file: FileBuilder, kind: u16, record: &[u8]) -> Result<ResolvedMessage, Error> {
    let view = view(file.finish(48));
    let file = done(crate::superblock::load(&view, &ObjectView::id(KEY)))?;
    done(resolve_record(&view, &file, kind, record))
}

#[test]
fn records_of_every_version_lead_to_the_object_that_holds_the_message() {
    let (_, addr) = with_type();
    let addr = words(&[addr]);
    for record in [
        [&[1, 0, 9, 9, 9, 9, 9, 9][..], &[7; 8], &addr].concat(),
        [&[2, 5][..], &addr].concat(),
        [&[3, 2][..], &addr].concat(),
    ] {
        let found = resolve_in(with_type().0, kind::DATATYPE, &record).expect("a message");
        assert_eq!(found.body.as_ref(), b"type");
        assert_eq!(found.committed.map(|addr| addr.0), Some(with_type().1));
    }
}

#[test]
fn messages_that_are_not_shared_are_their_own() {
    let (file, _) = with_type();
    let view = view(file.finish(48));
    let file = done(crate::superblock::load(&view, &ObjectView::id(KEY))).expect("a file");
    let message =
        HeaderMessage { kind: kind::DATATYPE, flags: 0, order: None, body: Bytes::from_static(b"own") };
    let found = done(resolve(&view, &file, &message)).expect("a message");
    assert_eq!((found.body.as_ref(), found.committed), (b"own".as_ref(), None));
}

#[rstest]
#[case::to_itself(kind::DATASPACE, &[3, 2, 48, 0, 0, 0, 0, 0, 0, 0], "twice over")]
#[case::not_there(kind::FILL, &[3, 2, 48, 0, 0, 0, 0, 0, 0, 0], "no message of type 0x05")]
#[case::nowhere(kind::FILL, &[2, 0, 255, 255, 255, 255, 255, 255, 255, 255], "without an object")]
#[case::no_way(kind::FILL, &[3, 7, 0, 0, 0, 0, 0, 0, 0, 0], "unknown kind 7")]
#[case::version(kind::FILL, &[4, 0], "version 4")]
#[case::short(kind::FILL, &[3, 1, 0, 0], "ends early")]
#[case::no_table(kind::FILL, &[3, 1, 0, 0, 0, 0, 0, 0, 0, 0], "the file has none")]
fn records_that_lead_nowhere_are_errors(#[case] kind: u16, #[case] record: &[u8], #[case] text: &str) {
    let error = resolve_in(with_type().0, kind, record).expect_err("no message");
    assert!(error.message().contains(text), "{error}");
}

#[test]
fn a_table_says_which_heap_holds_messages_of_a_type() {
    let mut file = FileBuilder::new();
    let index = |types: u16, heap: u64| {
        [&[0, 0][..], &types.to_le_bytes(), &[0; 10], &words(&[u64::MAX, heap])].concat()
    };
    let table = summed([b"SMTB".to_vec(), index(0x08, u64::MAX), index(0x20, 8)].concat());
    let table = file.put(&table);
    let message = |body: &[u8]| message(0x0f, 0, body);
    let extension = file.header(&[message(&[&[0][..], &words(&[table]), &[2]].concat())]);
    let end = file.bytes.len() as u64;
    file.bytes[..48].copy_from_slice(&crate::testing::build::superblock(2, 0, 0, extension, end, 48));
    let view = view(file.bytes);
    let file = done(crate::superblock::load(&view, &ObjectView::id(KEY))).expect("a file");
    let record = [3, 1, 0, 0, 0, 0, 0, 0, 0, 0];
    let error = |kind| done(resolve_record(&view, &file, kind, &record)).expect_err("no heap there");
    assert!(error(kind::DATASPACE).message().contains("no heap of shared messages of type 0x01"));
    assert!(error(kind::DATATYPE).message().contains("no heap of shared messages of type 0x03"));
    for kind in [kind::FILL, kind::OLD_FILL] {
        assert_eq!(error(kind).place().offset, Some(8), "the heap at address 8 is asked");
    }
}

#[test]
fn every_shared_message_of_real_files_is_found() {
    let Some(folder) = corpus("hdf5") else { return };
    let mut found = std::collections::BTreeMap::new();
    for (path, bytes) in crate::testing::files(&folder) {
        if !path.contains("sohm") {
            continue;
        }
        let view = view(bytes);
        let root = root(&view).expect("it opens");
        for link in &done(crate::group::links(&view, &root)).expect("links").list {
            let object = done(lookup(&view, &root, &link.name)).expect("an object");
            for message in done(header(&view, &object)).expect("a header").messages.iter() {
                let resolved = done(resolve(&view, &object.file, message));
                let resolved = resolved.unwrap_or_else(|error| panic!("{path} {}: {error}", link.name));
                if message.flags & SHARED != 0 {
                    assert!(!resolved.body.is_empty() && resolved.body != message.body);
                    *found.entry(message.kind).or_insert(0) += 1;
                }
            }
        }
    }
    for kind in [kind::DATASPACE, kind::OLD_FILL, kind::FILL, kind::PIPELINE, kind::ATTRIBUTE] {
        assert!(found.get(&kind).is_some_and(|count| *count > 0), "{kind:#x} of {found:?}");
    }
}

#[test]
fn errors_of_shared_messages_are_those_of_their_place() {
    let error =
        resolve_in(with_type().0, kind::DATATYPE, &[2, 0, 0, 1, 0, 0, 0, 0, 0, 0]).expect_err("too far");
    assert_eq!((error.kind(), error.place().offset), (ErrorKind::Malformed, Some(256)));
}

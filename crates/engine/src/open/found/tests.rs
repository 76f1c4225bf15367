use super::*;
use bytes::Bytes;
use ncirrus_layout::Tag;

fn found(text: &str) -> FoundInstead {
    let bytes = Bytes::copy_from_slice(text.as_bytes());
    FoundInstead::of(&ObjectBytes { size: bytes.len() as u64, offset: 0, tag: Tag::new("1"), bytes })
}

#[test]
fn pages_are_recognized_by_their_titles() {
    for (text, reported, may_be_folder) in [
        ("<html><body>x", "an HTML page, not data", false),
        (
            "\u{feff} \n<!DOCTYPE HTML>\n<title>A\n  \"b\"</title>",
            "an HTML page, not data: \"A \\\"b\\\"\"",
            false,
        ),
        ("<html><title>Index of /data</title>", "an HTML page, not data: \"Index of /data\"", true),
        ("<html><TITLE>Directory listing for /</TITLE>", "", true),
        ("<html><title>Earthdata Login</title>", "an HTML page to log in, not data: \"Ea", false),
        (
            "<html><title>Köln</title><input type='password'>",
            "an HTML page to log in, not data: \"Köln\"",
            false,
        ),
        ("<html><title></title>", "an HTML page, not data", false),
        ("<html><title>never ends", "an HTML page, not data", false),
    ] {
        let found = found(text);
        let error = found.describe("one");
        assert!(error.message().starts_with(reported), "{text}: {error}");
        assert_eq!(found.may_be_folder(), may_be_folder, "{text}");
    }
}

#[test]
fn lists_of_objects_may_stand_for_folders() {
    for (text, may_be_folder) in [
        ("<?xml version=\"1.0\"?><ListBucketResult/>", true),
        ("[{\"name\": \".zgroup\"}]", true),
        ("", true),
        ("plain words", false),
        ("PK\u{3}\u{4}", false),
    ] {
        assert_eq!(found(text).may_be_folder(), may_be_folder, "{text}");
    }
}

//! Entries by every compression method, and those that cannot be read.
use super::super::format::{self, EntryHeader};
use super::{HandmadeZip, keys, open, open_within, whole};
use crate::store::LocalStore;
use ncirrus_layout::{ErrorKind, Limits, ObjectId, Want};
use std::io::{Read, Write};

fn header(method: u16, content: &[u8], packed: &[u8]) -> EntryHeader {
    EntryHeader {
        needed: format::VERSION,
        flags: 0,
        method,
        crc: crc32fast::hash(content),
        compressed: packed.len() as u64,
        size: content.len() as u64,
        offset: 0,
    }
}

fn bzip2(content: &[u8]) -> Vec<u8> {
    let mut packed = Vec::new();
    bzip2::read::BzEncoder::new(content, bzip2::Compression::best()).read_to_end(&mut packed).unwrap();
    packed
}

fn lzma(content: &[u8], with_end: bool) -> Vec<u8> {
    let options = lzma_rust2::LzmaOptions::default();
    let mut packed = vec![9, 20, 5, 0, options.get_props()];
    packed.extend(options.dict_size.to_le_bytes());
    let mut writer = lzma_rust2::LzmaWriter::new_no_header(&mut packed, &options, with_end).unwrap();
    writer.write_all(content).unwrap();
    writer.finish().unwrap();
    packed
}

fn xz(content: &[u8]) -> Vec<u8> {
    let mut writer = lzma_rust2::XzWriter::new(Vec::new(), lzma_rust2::XzOptions::default()).unwrap();
    writer.write_all(content).unwrap();
    writer.finish().unwrap()
}

fn zstd(content: &[u8]) -> Vec<u8> {
    let mut packed = vec![0; zstd_safe::compress_bound(content.len())];
    let len = zstd_safe::compress(packed.as_mut_slice(), content, 3).unwrap();
    packed.truncate(len);
    packed
}

/// Literals only, which deflate and deflate64 encode alike.
fn deflate64(content: &[u8]) -> Vec<u8> {
    let mut packed = Vec::with_capacity(content.len() + 100);
    let mut stream = flate2::Compress::new(flate2::Compression::none(), false);
    stream.compress_vec(content, &mut packed, flate2::FlushCompress::Finish).unwrap();
    packed
}

/// Names, methods, and encoders.
type Encoder = fn(&[u8]) -> Vec<u8>;
const METHODS: [(&str, u16, Encoder); 7] = [
    ("deflate64", format::DEFLATE64, deflate64),
    ("bzip2", format::BZIP2, bzip2),
    ("lzma", format::LZMA, |content| lzma(content, false)),
    ("lzma with end marker", format::LZMA, |content| lzma(content, true)),
    ("zstd", format::ZSTD, zstd),
    ("zstd before 6.3.8", format::ZSTD_DRAFT, zstd),
    ("xz", format::XZ, xz),
];

#[test]
fn entries_of_every_method_are_read() {
    for (name, method, encode) in METHODS {
        for content in
            [Vec::new(), b"0123456789".to_vec(), (0..300_000_u32).map(|i| (i % 251) as u8).collect()]
        {
            let packed = encode(&content);
            let made = HandmadeZip::default().entry("d", header(method, &content, &packed), &packed);
            let store = open(made.finish()).unwrap();
            assert_eq!(whole(&store, "d").unwrap().as_ref(), Some(&content), "{name}");
            let object = ObjectId::new(LocalStore::id(&store).clone(), "d");
            if content.len() > 9 {
                let part = LocalStore::read(&store, &object, &Want::Range(2..5)).unwrap().unwrap();
                assert_eq!(part.bytes.as_ref(), &content[2..5], "{name}");
            }
        }
    }
}

#[test]
fn damaged_entries_of_every_method_are_errors() {
    let content: Vec<u8> = (0..3000_u32).map(|i| (i % 251) as u8).collect();
    for (name, method, encode) in METHODS {
        let packed = encode(&content);
        let cut = &packed[..packed.len() / 2];
        let declares = |size: u64| EntryHeader { size, ..header(method, &content, &packed) };
        for (what, header, bytes) in [
            ("cut", header(method, &content, cut), cut),
            ("empty", header(method, &content, b""), &b""[..]),
            ("too long", declares(100), &packed[..]),
            ("too short", declares(3001), &packed[..]),
            ("noise", header(method, &content, &[0xa5; 50]), &[0xa5; 50][..]),
        ] {
            let store = open(HandmadeZip::default().entry("d", header, bytes).finish()).unwrap();
            let error = whole(&store, "d").unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Malformed, "{name}, {what}: {error}");
        }
        let tight = Limits { chunk_bytes: 1000, ..Limits::default() };
        let made = HandmadeZip::default().entry("d", header(method, &content, &packed), &packed).finish();
        assert_eq!(
            whole(&open_within(&made, &tight).unwrap(), "d").unwrap_err().kind(),
            ErrorKind::Limit,
            "{name}"
        );
    }
}

#[test]
fn entries_that_cannot_be_read_are_listed_and_errors() {
    let plain = header(format::STORED, b"1234", b"1234");
    let bomb = EntryHeader { method: format::DEFLATED, size: 1 << 40, ..plain };
    for (header, kind, reported) in [
        (EntryHeader { flags: format::ENCRYPTED, ..plain }, ErrorKind::Unsupported, "encrypted"),
        (EntryHeader { flags: format::ENCRYPTED, method: 99, ..plain }, ErrorKind::Unsupported, "encrypted"),
        (EntryHeader { flags: format::PATCH, ..plain }, ErrorKind::Unsupported, "patch"),
        (EntryHeader { needed: 64, ..plain }, ErrorKind::Unsupported, "needs version 6.4"),
        (EntryHeader { method: 6, ..plain }, ErrorKind::Unsupported, "method 6 (imploded)"),
        (EntryHeader { method: 98, ..plain }, ErrorKind::Unsupported, "method 98 (PPMd)"),
        (EntryHeader { method: 1234, ..plain }, ErrorKind::Unsupported, "method 1234"),
        (EntryHeader { size: 5, ..plain }, ErrorKind::Malformed, "sizes differ"),
        (bomb, ErrorKind::Malformed, "declares more bytes"),
    ] {
        let bytes = HandmadeZip::default().entry("bad", header, b"1234").stored("ok", b"1").finish();
        let store = open(&bytes).unwrap();
        assert_eq!(keys(&store, ""), ["bad", "ok"]);
        let object = ObjectId::new(LocalStore::id(&store).clone(), "bad");
        assert!(LocalStore::stat(&store, &object).unwrap().is_some());
        for want in [Want::All, Want::Range(0..0), Want::Range(1..2), Want::AtMost(1)] {
            let error = LocalStore::read(&store, &object, &want).unwrap_err();
            assert_eq!(error.kind(), kind, "{error}");
            assert!(error.message().contains(reported), "{error}");
            assert!(error.place().object.as_ref().is_some_and(|object| object.ends_with("/bad")), "{error}");
        }
        assert_eq!(whole(&store, "ok").unwrap().as_deref(), Some(&b"1"[..]));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.zip");
        std::fs::write(&path, &bytes).unwrap();
        let error = super::ZipWriterStore::append(&path, &Limits::default()).unwrap_err();
        assert!(error.message().contains(reported), "{error}");
        assert_eq!(std::fs::read(&path).unwrap(), bytes, "nothing is changed");
    }
}

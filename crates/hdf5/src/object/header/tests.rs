use super::*;
use crate::testing::build::{FileBuilder, header, message, summed, words};
use crate::testing::{KEY, done, object, view};
use ncirrus_layout::ErrorKind;
use ncirrus_testkit::{ObjectView, StallingView, drive};
use proptest::prelude::*;
use rstest::rstest;

/// A message of a version 1 header.
fn old_message(kind: u8, flags: u8, body: &[u8]) -> Vec<u8> {
    let len = u8::try_from(body.len()).expect("short");
    [&[kind, 0, len, 0, flags, 0, 0, 0], body].concat()
}

/// A version 1 header that declares that many messages.
fn old_header(count: u8, messages: &[Vec<u8>]) -> Vec<u8> {
    let area = messages.concat();
    let len = u32::try_from(area.len()).expect("short").to_le_bytes();
    [&[1, 0, count, 0, 1, 0, 0, 0], len.as_slice(), &[0; 4], &area].concat()
}

fn read(file: FileBuilder, addr: u64) -> Result<Arc<ObjectHeader>, Error> {
    let view = view(file.finish(48));
    let file = done(crate::superblock::load(&view, &ObjectView::id(KEY)))?;
    done(super::header(&view, &object(&file, addr)))
}

/// The header made of these bytes.
fn read_one(bytes: &[u8]) -> Result<Arc<ObjectHeader>, Error> {
    let mut file = FileBuilder::new();
    let addr = file.put(bytes);
    read(file, addr)
}

fn kinds(header: &ObjectHeader) -> Vec<u16> {
    header.messages.iter().map(|message| message.kind).collect()
}

#[test]
fn old_messages_begin_at_byte_16_and_end_with_their_count() {
    let messages = [old_message(3, 1, &[7; 8]), old_message(0, 0, &[0; 16]), old_message(8, 0, &[9; 8])];
    let header = read_one(&old_header(3, &messages)).expect("a header");
    assert_eq!((kinds(&header), header.losses.len()), (vec![3, 8], 0));
    assert_eq!(header.messages[0].body.as_ref(), [7; 8]);
    let fewer = read_one(&old_header(1, &messages)).expect("a header");
    assert_eq!(kinds(&fewer), [3]);
    let more = read_one(&old_header(5, &messages)).expect("a header");
    assert_eq!(kinds(&more), [3, 8]);
    assert_eq!(more.losses, ["2 messages fewer than its header declares"]);
}

#[test]
fn old_messages_have_multiples_of_8_bytes() {
    let error = read_one(&old_header(1, &[old_message(3, 0, &[7; 12])])).expect_err("no header");
    assert_eq!(error.message(), "a message of 12 bytes, which is not a multiple of 8");
}

#[rstest]
#[case::unknown(0x8c, &[1; 8], false)]
#[case::comment(0x0d, b"a\ncomment", true)]
#[case::an_attribute_as_comment(0x0d, &[1, 0, 8, 0, 8, 0, 8, 0], false)]
#[case::time(0x12, &[1, 0, 0, 0, 1, 2, 3, 4], true)]
#[case::too_short_for_a_time(0x12, &[1, 0, 0, 0], false)]
#[case::another_version_of_time(0x12, &[3, 0, 0, 0, 1, 2, 3, 4], false)]
#[case::old_time(0x0e, b"20260102030405\0\0", true)]
#[case::an_attribute_as_old_time(0x0e, &[1; 16], false)]
#[case::old_fill(0x04, &[4, 0, 0, 0, 1, 2, 3, 4], true)]
#[case::an_attribute_as_old_fill(0x04, &[1, 0, 8, 0, 8, 0, 8, 0], false)]
fn messages_that_are_not_what_they_say_are_reported(
    #[case] kind: u8,
    #[case] body: &[u8],
    #[case] sound: bool,
) {
    let mut file = FileBuilder::new();
    let addr = file.header(&[message(kind, 0, body)]);
    assert_eq!(read(file, addr).expect("a header").losses.is_empty(), sound);
}

#[test]
fn the_count_of_old_messages_spans_all_chunks() {
    let mut file = FileBuilder::new();
    let next = file.put(&[old_message(5, 0, &[5; 8]), old_message(8, 0, &[8; 8])].concat());
    let lead = old_message(0x10, 0, &words(&[next, 32]));
    let addr = file.put(&old_header(3, &[old_message(3, 0, &[3; 8]), lead]));
    assert_eq!(kinds(&read(file, addr).expect("a header")), [3, 5]);
}

#[test]
fn continuations_are_read_in_the_order_in_which_they_occur() {
    let mut file = FileBuilder::new();
    let chunk = |messages: &[Vec<u8>]| summed([b"OCHK".to_vec(), messages.concat()].concat());
    let lead = |addr: u64, chunk: &[u8]| message(0x10, 0, &words(&[addr, chunk.len() as u64]));
    let inner = chunk(&[message(0x0d, 0, b"inner")]);
    let inner_at = file.put(&inner);
    let first = chunk(&[lead(inner_at, &inner), message(0x0d, 0, b"first")]);
    let first_at = file.put(&first);
    let second = chunk(&[message(0x0d, 0, b"second")]);
    let second_at = file.put(&second);
    let start = [lead(first_at, &first), message(0x0d, 0, b"start"), lead(second_at, &second)];
    let addr = file.header(&start);
    let found = read(file, addr).expect("a header");
    let texts: Vec<_> = found.messages.iter().map(|one| String::from_utf8_lossy(&one.body)).collect();
    assert_eq!(texts, ["start", "first", "second", "inner"]);
}

#[rstest]
#[case::plain(0, 4)]
#[case::indexed(4, 6)]
fn fewer_bytes_than_a_message_needs_are_a_gap(#[case] flags: u8, #[case] prefix: usize) {
    for gap in 0..prefix {
        let index = if flags == 4 { vec![9, 0] } else { vec![] };
        let one = [vec![0x0d, 2, 0, 0], index, b"ab".to_vec()].concat();
        let found = read_one(&header(flags, &[one, vec![0; gap]])).expect("a header");
        assert_eq!((kinds(&found), found.tracks_attributes), (vec![0x0d], flags == 4));
        assert_eq!(
            (found.messages[0].order, found.messages[0].body.as_ref()),
            ((flags == 4).then_some(9), b"ab".as_ref())
        );
    }
}

#[test]
fn times_and_limits_of_attributes_stand_before_the_length() {
    let area = message(0x0d, 0, b"text");
    for (flags, more) in [(0x20, 16), (0x10, 4), (0x30, 20)] {
        for (width, flag) in [(1, 0), (2, 1), (4, 2), (8, 3)] {
            let len = &(area.len() as u64).to_le_bytes()[..width];
            let prefix = [b"OHDR\x02".as_slice(), &[flags | flag], &vec![7; more], len].concat();
            let found = read_one(&summed([prefix, area.clone()].concat())).expect("a header");
            assert_eq!(found.messages[0].body.as_ref(), b"text");
        }
    }
    assert!(read_one(&header(0, &[])).expect("a header").messages.is_empty(), "no messages at all are legal");
}

#[test]
fn messages_that_every_reader_must_understand_refuse_the_object() {
    for (kind, flags, refused) in
        [(0x19, 0x80, true), (0xff, 0x80, true), (0x09, 0x80, true), (0x19, 0x38, false), (0x17, 0x80, false)]
    {
        let found = read_one(&header(0, &[message(kind, flags, b"?"), message(1, 0, b"!")]));
        assert_eq!(found.is_err(), refused, "type {kind:#x}, flags {flags:#x}");
        assert!(found.err().is_none_or(|error| error.kind() == ErrorKind::Unsupported));
    }
}

#[test]
fn of_two_dataspaces_the_first_is_taken() {
    let found = read_one(&header(0, &[message(1, 0, b"a"), message(1, 0, b"b")])).expect("a header");
    assert_eq!(found.find(1).map(|one| one.body.as_ref()), Some(b"a".as_slice()));
    assert!(found.losses[0].contains("dataspace"), "{:?}", found.losses);
}

#[test]
fn headers_that_continue_themselves_are_errors() {
    let mut file = FileBuilder::new();
    let at = file.next();
    let addr = file.put(&old_header(9, &[old_message(0x10, 0, &words(&[at, 40]))]));
    let error = read(file, addr).expect_err("a circle");
    assert!(error.message().contains("continues itself"), "{error}");

    let mut file = FileBuilder::new();
    let at = file.next();
    let chunk = |next: u64| summed([b"OCHK".to_vec(), message(0x10, 0, &words(&[next, 28]))].concat());
    assert_eq!(chunk(0).len(), 28);
    file.put(&chunk(at + 32));
    file.put(&chunk(at));
    let addr = file.header(&[message(0x10, 0, &words(&[at, 28]))]);
    assert!(read(file, addr).expect_err("a circle").message().contains("continues itself"));
}

#[test]
fn continuations_that_overlap_cannot_make_a_header_larger_than_the_file() {
    let mut file = FileBuilder::new();
    let area = file.put(&old_message(0, 0, &[0; 248]).repeat(40));
    let leads: Vec<_> = (0..12).map(|n| old_message(0x10, 0, &words(&[area + 8 * n, 2000]))).collect();
    let addr = file.put(&old_header(200, &leads));
    assert!(read(file, addr).expect_err("too much").message().contains("overlap"));
}

#[rstest]
#[case::beyond_the_chunk(summed([b"OHDR\x02\x00\x06".to_vec(), vec![1, 9, 0, 0, 0, 0]].concat()), "ends early")]
#[case::beyond_the_file([1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0].to_vec(), "beyond the end")]
#[case::cut_off(header(0, &[])[..11].to_vec(), "beyond the end")]
#[case::signature(b"DATA of another kind".to_vec(), "signature")]
#[case::flags(summed(b"OHDR\x02\x40\x00".to_vec()), "flags 0x40")]
#[case::wrong_sum([header(0, &[])[..10].to_vec(), vec![1, 2, 3, 4]].concat(), "checksum")]
fn damaged_headers_are_errors_that_name_the_place(#[case] bytes: Vec<u8>, #[case] text: &str) {
    let error = read_one(&bytes).expect_err("damage");
    assert!(error.message().contains(text), "{error}");
    assert_eq!((error.place().offset, error.place().object.is_some()), (Some(48), true));
}

#[test]
fn chunks_of_a_header_come_level_by_level() {
    let mut file = FileBuilder::new();
    file.put(&[0; 20_000]);
    let chunk = summed([b"OCHK".to_vec(), message(0x0d, 0, b"text")].concat());
    let mut leads = Vec::new();
    for _ in 0..5 {
        file.put(&[0; 2000]);
        leads.push(message(0x10, 0, &words(&[file.next(), chunk.len() as u64])));
        file.put(&chunk);
    }
    let addr = file.header(&leads);
    let rounds = StallingView::new(ObjectView::one(KEY, file.finish(48)));
    let found = drive(&rounds, |view| {
        let file = crate::superblock::load(view, &ObjectView::id(KEY))?;
        header_at(view, &file, FileAddress(addr))
    });
    assert_eq!(found.expect("a header").messages.len(), 5);
    assert_eq!(rounds.rounds(), 3, "superblock, header, all continuations");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn noise_is_read_or_refused(old: bool, count in 0..9u8, noise in prop::collection::vec(0..20u8, 0..300)) {
        let bytes = if old { old_header(count, &[noise]) } else { header(count & 4, &[noise]) };
        let mut file = FileBuilder::new();
        file.put(&[0; 64]);
        let addr = file.put(&bytes);
        if let Ok(found) = read(file, addr) {
            prop_assert!(found.messages.len() <= 300);
        }
    }

    #[test]
    fn prefixes_of_a_header_are_errors(cut in 1..200usize) {
        let whole = header(0, &[message(1, 0, &[1; 100]), message(3, 0, &[3; 80])]);
        let cut = cut.min(whole.len() - 1);
        prop_assert!(read_one(&whole[..cut]).is_err());
    }
}

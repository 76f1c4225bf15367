use super::*;
use crate::file::SharedTable;
use crate::object::header_at;
use crate::testing::build::{FileBuilder, header, message, superblock, words};
use crate::testing::{KEY, done, root, view};
use ncirrus_layout::ErrorKind;
use ncirrus_testkit::{ObjectView, StallingView, drive};
use rstest::rstest;

/// A superblock of version 0 or 1 with offsets and lengths of these widths, then `rest`.
fn old(version: u8, offsets: usize, lengths: usize, numbers: [u64; 3], driver: u64) -> Vec<u8> {
    let [base, end, root] = numbers;
    let mut bytes = SIGNATURE.to_vec();
    let widths = [u8::try_from(offsets).expect("small"), u8::try_from(lengths).expect("small")];
    bytes.extend([version, 0, 0, 0, 0, widths[0], widths[1], 0, 7, 0, 9, 0, 3, 0, 0, 0]);
    bytes.extend(if version == 1 { vec![11, 0, 0, 0] } else { vec![] });
    for addr in [base, u64::MAX, end, driver] {
        bytes.extend(&addr.to_le_bytes()[..offsets]);
    }
    bytes.extend(&[0; 8][..lengths]);
    bytes.extend(&root.to_le_bytes()[..offsets]);
    bytes.extend([0; 24]);
    bytes
}

/// A file with an empty root group behind the superblock that `make` makes of the root's address.
fn file_with(make: impl Fn(u64) -> Vec<u8>) -> Vec<u8> {
    let len = make(0).len();
    let mut bytes = make(len as u64);
    bytes.extend(header(0, &[]));
    bytes
}

fn opened(bytes: Vec<u8>) -> Result<Arc<Hdf5File>, Error> {
    done(load(&view(bytes), &ObjectView::id(KEY)))
}

#[rstest]
fn old_superblocks_have_offsets_and_lengths_of_any_width(
    #[values(0, 1)] version: u8,
    #[values(2, 4, 8)] offsets: usize,
    #[values(2, 4, 8)] lengths: usize,
) {
    let bytes = file_with(|root| old(version, offsets, lengths, [0, root + 14, root], u64::MAX));
    let view = view(bytes);
    let root = root(&view).expect("it opens");
    let file = &root.file;
    assert_eq!((usize::from(file.sizes.offsets), usize::from(file.sizes.lengths)), (offsets, lengths));
    assert_eq!((file.version, file.base, file.warnings.len()), (version, 0, 0), "{:?}", file.warnings);
    let chunk = if version == 1 { 11 } else { 32 };
    assert_eq!(file.ranks, NodeRanks { group_leaf: 7, group_internal: 9, chunk });
    assert!(done(header_at(&view, file, root.addr)).is_ok());
}

#[rstest]
#[case::old(|root| old(0, 8, 8, [0, root + 14, root], u64::MAX))]
#[case::new(|root| superblock(2, 0, 0, u64::MAX, root + 14, root))]
fn the_end_of_a_file_is_where_its_superblock_has_it(#[case] make: fn(u64) -> Vec<u8>) {
    let file = file_with(make);
    let end = file.len() as u64;
    assert_eq!(end_of_file(&file), Some(end));
    assert_eq!(end_of_file(&[&file[..], &[0xff; 600]].concat()), Some(end), "with room behind it");
    let behind = [&[b'u'; 1024][..], &file, &[7; 9]].concat();
    assert_eq!(end_of_file(&behind), Some(1024 + end), "behind a user block");
    for cut in 0..file.len() {
        assert_eq!(end_of_file(&file[..cut]), None, "cut at {cut}");
    }
    let foreign = [&b"CDF\x01"[..], &[0; 508], &file].concat();
    assert_eq!(end_of_file(&foreign), None, "what looks like one in a file of another format");
}

#[rstest]
#[case::zero(0)]
#[case::one_block(512)]
#[case::within_the_first_read(8192)]
#[case::beyond_the_first_read(1 << 16)]
fn the_signature_is_found_behind_user_blocks_of_any_length(#[case] len: usize) {
    let bytes = [vec![b'#'; len], file_with(|root| superblock(2, 0, 0, u64::MAX, 62, root))];
    let view = view(bytes.concat());
    assert_eq!(done(find(&view, &ObjectView::id(KEY))).expect("a search"), Some(len as u64));
    let root = root(&view).expect("it opens");
    assert_eq!((root.file.base, &root.file.warnings), (len as u64, &vec![]));
    assert!(done(header_at(&view, &root.file, root.addr)).is_ok(), "addresses count from the base");
}

#[test]
fn the_place_where_the_signature_was_found_wins_over_the_stored_base() {
    let stored = file_with(|root| superblock(2, 0, 512, u64::MAX, 512 + 62, root));
    assert_eq!(stored.len(), 62);
    let stripped = opened(stored.clone()).expect("it opens");
    assert_eq!((stripped.base, stripped.warnings.len()), (0, 0), "the end moves with the base");
    let moved = opened([vec![0; 1024], stored].concat()).expect("it opens");
    assert_eq!((moved.base, moved.warnings.len()), (1024, 0));
}

#[test]
fn files_that_are_too_short_or_were_not_closed_are_read_and_reported() {
    let short = opened(file_with(|root| superblock(2, 0, 0, u64::MAX, 1000, root))).expect("it opens");
    let reported: Vec<&str> = short.losses.iter().map(Error::message).collect();
    assert_eq!((reported, short.warnings.len()), (vec!["the file is cut off: 62 of 1000 bytes"], 0));
    for (version, flags, warned) in [(3, 1, true), (3, 5, true), (3, 2, false), (2, 1, false)] {
        let bytes = file_with(|root| superblock(version, flags, 0, u64::MAX, 0, root));
        let file = opened(bytes).expect("it opens");
        assert_eq!(
            !file.warnings.is_empty(),
            warned,
            "version {version}, flags {flags}: {:?}",
            file.warnings
        );
    }
}

#[test]
fn other_objects_are_not_hdf5() {
    for bytes in [vec![], vec![7; 600], SIGNATURE[..7].to_vec(), b"CDF\x01".to_vec(), vec![0; 100_000]] {
        assert_eq!(done(find(&view(bytes.clone()), &ObjectView::id(KEY))).expect("a search"), None);
        assert_eq!(opened(bytes).expect_err("no file").kind(), ErrorKind::Malformed);
    }
    let nothing = ncirrus_testkit::MemoryView::new(ObjectView::new());
    assert_eq!(done(find(&nothing, &ObjectView::id(KEY))).expect("a search"), None);
    assert_eq!(done(load(&nothing, &ObjectView::id(KEY))).expect_err("no file").kind(), ErrorKind::NotFound);
}

#[test]
fn a_search_is_cheap() {
    for (bytes, rounds, requests) in [
        (vec![0; 10_000], 1, 1),
        (vec![0; 1 << 20], 2, 7),
        ([b"CDF\x05".to_vec(), vec![0; 1 << 20]].concat(), 1, 1),
    ] {
        let view = StallingView::new(ObjectView::one(KEY, bytes));
        drive(&view, |view| find(view, &ObjectView::id(KEY))).expect("a search");
        assert_eq!((view.rounds(), view.requests().len()), (rounds, requests));
    }
}

#[test]
fn superblock_and_root_group_come_with_one_request() {
    let file = FileBuilder::new();
    let mut group = file.clone();
    let root = group.group(&[]);
    let view = StallingView::new(ObjectView::one(KEY, group.finish(root)));
    drive(&view, |view| {
        let file = load(view, &ObjectView::id(KEY))?;
        header_at(view, &file, file.root)
    })
    .expect("it opens");
    assert_eq!((view.rounds(), view.requests().len()), (1, 1));
}

#[rstest]
#[case::version(file_with(|root| superblock(4, 0, 0, u64::MAX, 62, root)), ErrorKind::Unsupported, "version 4")]
#[case::widths(old(0, 8, 8, [0, 96, 96], u64::MAX).into_iter().enumerate().map(|(at, byte)| if at == 13 { 3 } else { byte }).collect(), ErrorKind::Unsupported, "offsets of 3 bytes")]
#[case::checksum(file_with(|root| superblock(2, 0, 0, u64::MAX, 62, root)).into_iter().enumerate().map(|(at, byte)| if at == 40 { 3 } else { byte }).collect(), ErrorKind::Malformed, "checksum")]
#[case::no_root(superblock(2, 0, 0, u64::MAX, 62, u64::MAX), ErrorKind::Malformed, "no root group")]
#[case::cut_off(superblock(2, 0, 0, u64::MAX, 62, 48)[..40].to_vec(), ErrorKind::Malformed, "ends early")]
fn superblocks_that_cannot_be_read_are_errors(
    #[case] bytes: Vec<u8>,
    #[case] kind: ErrorKind,
    #[case] text: &str,
) {
    let error = opened(bytes).expect_err("a bad superblock");
    assert!(error.kind() == kind && error.message().contains(text), "{error:?}");
}

#[rstest]
#[case(b"NCSAmult", Some("several files"))]
#[case(b"NCSAfami", Some("split"))]
#[case(b"OTHERone", None)]
fn files_of_several_files_are_refused(#[case] id: &[u8; 8], #[case] refused: Option<&str>) {
    let block = [&[0, 0, 0, 0, 8, 0, 0, 0], id.as_slice(), &[0; 8]].concat();
    let with_block = |addr| old(0, 8, 8, [0, 0, addr + block.len() as u64], addr);
    let bytes = [with_block(96), block.clone(), header(0, &[])].concat();
    let extension = message(0x14, 0, &[b"\0", id.as_slice(), &[8, 0], &[0; 8]].concat());
    for bytes in [bytes, extended(&[extension])] {
        match (opened(bytes), refused) {
            (Ok(_), None) => {}
            (Err(error), Some(text)) => {
                assert!(
                    error.kind() == ErrorKind::Unsupported && error.message().contains(text),
                    "{error:?}"
                );
            }
            (other, _) => panic!("{other:?}"),
        }
    }
}

/// A file with a superblock extension of these messages.
fn extended(messages: &[Vec<u8>]) -> Vec<u8> {
    let mut file = FileBuilder::new();
    let root = file.group(&[]);
    let extension = file.header(messages);
    let end = file.bytes.len() as u64;
    file.bytes[..48].copy_from_slice(&superblock(2, 0, 0, extension, end, root));
    file.bytes
}

#[test]
fn the_extension_has_ranks_pages_and_the_table_of_shared_messages() {
    let ranks = message(0x13, 0, &[0, 1, 0, 2, 0, 3, 0]);
    let table = message(0x0f, 0, &[&[0][..], &words(&[77]), &[2]].concat());
    let space = message(0x17, 0, &[&[1, 1, 0][..], &words(&[1, 4096]), &[0; 10]].concat());
    let none = message(0x18, 0, &[&[0][..], &words(&[u64::MAX, 0])].concat());
    let file = opened(extended(&[ranks, table, space, none])).expect("it opens");
    assert_eq!(file.ranks, NodeRanks { group_leaf: 3, group_internal: 2, chunk: 1 });
    assert_eq!(file.shared, Some(SharedTable { addr: FileAddress(77), indexes: 2 }));
    assert_eq!((file.page, file.warnings.len()), (Some(4096), 0));
}

#[test]
fn a_metadata_cache_image_is_refused_and_damage_of_the_extension_is_a_loss() {
    let image = message(0x18, 0, &[&[0][..], &words(&[48, 100])].concat());
    let error = opened(extended(&[image])).expect_err("an image");
    assert!(error.kind() == ErrorKind::Unsupported && error.message().contains("cache image"), "{error:?}");
    let unknown = opened(extended(&[message(0x40, 0x80, &[])])).expect_err("a message");
    assert_eq!(unknown.kind(), ErrorKind::Unsupported);
    let short = opened(extended(&[message(0x13, 0, &[0, 1]), message(0x0f, 0, &[9])])).expect("it opens");
    assert_eq!((short.ranks, short.losses.len()), (NodeRanks::default(), 2), "{:?}", short.losses);
    let mut damaged = extended(&[]);
    *damaged.last_mut().expect("a byte") ^= 1;
    let damaged = opened(damaged).expect("it opens");
    assert!(damaged.losses[0].message().contains("checksum"), "{:?}", damaged.losses);
}

use super::*;
use crate::address::FileAddress;
use crate::superblock::load;
use crate::testing::build::{FileBuilder, words};
use crate::testing::{KEY, done, view};
use ncirrus_testkit::ObjectView;
use proptest::prelude::*;

const SIZES: FieldSizes = FieldSizes { offsets: 8, lengths: 8 };

fn list(slots: &[[u64; 3]]) -> Vec<u8> {
    let count = u16::try_from(slots.len()).expect("few").to_le_bytes();
    let slots: Vec<u64> = slots.iter().flatten().copied().collect();
    [&[1, 0, 0, 0], &count[..], &count, &words(&[512]), &words(&slots)].concat()
}

#[test]
fn files_are_listed_with_offsets_and_lengths() {
    let found = parse(&list(&[[8, 100, 12], [16, 0, u64::MAX]]), SIZES).expect("a list");
    assert_eq!(
        found,
        ExternalSlots { heap: FileAddress(512), list: vec![(8, 100, Some(12)), (16, 0, None)] }
    );
}

#[test]
fn cut_lists_are_errors() {
    let body = list(&[[8, 100, 12], [16, 0, u64::MAX]]);
    assert!((0..body.len()).all(|len| parse(&body[..len], SIZES).is_err()));
}

#[test]
fn bytes_of_files_that_are_absent_or_short_were_never_written() {
    let mut view = view(FileBuilder::new().finish(48));
    view.objects.put("folder/a", vec![1; 20]);
    view.objects.put("folder/b", vec![2; 6]);
    let file = done(load(&view, &ObjectView::id(KEY))).expect("a file");
    let part = |name: &str, offset, byte_len| ExternalPart { file: name.to_owned(), offset, byte_len };
    let parts = [
        part("a", 8, Some(10)),
        part("nowhere", 0, Some(4)),
        part("b", 2, Some(8)),
        part("b", 6, Some(1)),
        part("a", 0, None),
        part("a", 0, Some(5)),
    ];
    let found = done(extents(&view, &file, &parts, 30)).expect("extents");
    let extent = |logical, name: &str, offset| Extent { logical, object: ObjectView::id(name), offset };
    let expected =
        [extent(0..10, "folder/a", 8), extent(14..18, "folder/b", 2), extent(23..30, "folder/a", 0)];
    assert_eq!(found, expected);
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(rest in prop::collection::vec(any::<u8>(), 0..80)) {
        _ = parse(&[&[1][..], &rest].concat(), SIZES);
    }
}

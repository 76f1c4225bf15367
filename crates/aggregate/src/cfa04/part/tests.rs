use super::parts;
use ncirrus_layout::FragmentPart;
use proptest::prelude::*;
use rstest::rstest;

#[test]
fn slices_and_lists_are_recognized_by_their_brackets() {
    let found = parts("[[3, 11, 2], (0, 1,3 , 6), [4, 0, -1], (7,)]").unwrap().unwrap();
    assert_eq!(
        found,
        [
            FragmentPart::Slice { first: 3, last: 11, step: 2 },
            FragmentPart::Indices(vec![0, 1, 3, 6]),
            FragmentPart::Slice { first: 4, last: 0, step: -1 },
            FragmentPart::Indices(vec![7]),
        ]
    );
}

#[test]
fn an_empty_list_selects_everything() {
    assert_eq!(parts(" [ ] ").unwrap(), None);
}

#[rstest]
#[case("")]
#[case("[[1,2,1]")]
#[case("[[1,2]]")]
#[case("[[1,2,0]]")]
#[case("[[5,2,1]]")]
#[case("[[2,5,-1]]")]
#[case("[(1,2]]")]
#[case("[()]")]
#[case("[(-1,)]")]
#[case("[[1,2,1] [1,2,1]]")]
#[case("[[1,2,1],]")]
#[case("[1,2,1]")]
fn other_texts_are_refused(#[case] text: &str) {
    assert!(parts(text).is_err(), "{text}");
}

#[test]
fn every_beginning_of_a_text_is_refused() {
    let text = "[[3, 11, 2], (0, 1,3 , 6), [4, 0, -1], (7,)]";
    for end in 0..text.len() {
        assert!(parts(&text[..end]).is_err(), "{end}");
    }
}

proptest! {
    #[test]
    fn any_text_is_a_selection_or_an_error(text in "[\\[\\]() ,0-9-]{0,40}") {
        let _ = parts(&text);
    }
}

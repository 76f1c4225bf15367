//! Steps, memos, limits and errors.
use ncirrus_layout::{
    Error, ErrorKind, Limits, Memo, Need, ObjectId, Stall, Step, StoreId, Tag, Want, join, join_each, settle,
};

fn object(key: &str) -> ObjectId {
    ObjectId::new(StoreId::new("file:///data"), key)
}

fn need(key: &str) -> Stall {
    Need::Object { object: object(key), want: Want::All }.into()
}

#[test]
fn needs_of_all_items_travel_together_and_beat_failures() {
    let step = join(["a", "bad", "b"], |key| -> Step<()> {
        if key == "bad" { Err(Error::malformed("damage").into()) } else { Err(need(key)) }
    });
    let Err(Stall::Need(needs)) = step else { panic!("{step:?}") };
    assert_eq!(needs.len(), 2);
}

#[test]
fn the_first_failure_in_item_order_wins() {
    let step: Step<Vec<()>> = join(["one", "two"], |text| Err(Error::malformed(text).into()));
    assert!(matches!(step, Err(Stall::Fail(error)) if error.message() == "one"));
}

#[test]
fn join_each_keeps_an_error_per_item_but_never_hides_a_need() {
    let fail =
        |text: &str| -> Step<u8> { if text == "good" { Ok(1) } else { Err(Error::malformed(text).into()) } };
    let results = join_each(["bad", "good"], fail).unwrap();
    assert!(results[0].is_err() && *results[1].as_ref().unwrap() == 1);
    assert!(matches!(join_each(["x"], |key| -> Step<u8> { Err(need(key)) }), Err(Stall::Need(_))));
    assert!(settle::<u8>(Err(need("x"))).is_err());
    assert!(settle::<u8>(Err(Error::malformed("x").into())).unwrap().is_err());
}

#[test]
fn a_memo_forgets_what_was_used_longest_ago_and_never_exceeds_its_budget() {
    let memo = Memo::new(100);
    for number in 0..50u64 {
        memo.keep(&object("x"), None, number, "number", number, 10);
    }
    assert!(memo.find::<u64>(&object("x"), None, 0, "number").is_none());
    assert_eq!(memo.find::<u64>(&object("x"), None, 49, "number").as_deref(), Some(&49));
    assert!(memo.find::<u64>(&object("x"), Some(&Tag::new("other")), 49, "number").is_none());
    assert!(memo.find::<u32>(&object("x"), None, 49, "number").is_none(), "another type is not found");
    memo.forget(&object("x"));
    assert!(memo.find::<u64>(&object("x"), None, 49, "number").is_none());
}

#[test]
fn a_part_larger_than_the_budget_is_not_kept_for_long_but_is_returned() {
    let memo = Memo::new(10);
    assert_eq!(*memo.keep(&object("x"), None, 0, "big", 7u8, 1000), 7);
    assert!(memo.find::<u8>(&object("x"), None, 0, "big").is_none());
}

#[test]
fn limits_name_what_is_too_large_and_the_limit() {
    let limits = Limits { metadata_bytes: 10, ..Limits::default() };
    assert_eq!(limits.metadata_len(10, "header").unwrap(), 10);
    let error = limits.metadata_len(11, "header").unwrap_err();
    assert_eq!(
        (error.kind(), error.message()),
        (ErrorKind::Limit, "header has 11 bytes, more than the limit of 10")
    );
}

#[test]
fn the_innermost_place_stays_as_an_error_travels_up() {
    let error = Error::malformed("bad magic")
        .at_object("a")
        .at_object("b")
        .at_path("/v")
        .at_chunk(&[1, 2])
        .at_offset(8);
    assert_eq!(error.to_string(), "bad magic (/v, chunk [1, 2], in a, at byte 8)");
    assert_eq!(size_of::<Error>(), size_of::<usize>());
}

#[test]
fn keys_are_joined_by_one_slash() {
    assert_eq!(object("").child("a").child("b").key(), "a/b");
    assert_eq!(object("a").child("").key(), "a");
    assert_eq!(object("a/b").name(), "b");
    assert_eq!(object("a/b").to_string(), "file:///data/a/b");
}

use super::*;
use ncirrus_layout::StoreId;

fn object(key: &str) -> ObjectId {
    ObjectId::new(StoreId::new("test:"), key)
}

fn ranges(gap: u64, cap: u64, requested: &[(&str, Option<Range<u64>>)]) -> Vec<(String, Option<Range<u64>>)> {
    let requested = requested.iter().map(|(key, range)| (object(key), range.clone(), ())).collect();
    merge(requested, gap, cap)
        .into_iter()
        .map(|merged| (merged.object.key().to_owned(), merged.range))
        .collect()
}

#[test]
fn near_ranges_travel_together_and_far_ones_do_not() {
    let requested = [("a", Some(100..110)), ("a", Some(0..10)), ("a", Some(14..20)), ("b", Some(20..30))];
    let expected = [("a", Some(0..20)), ("a", Some(100..110)), ("b", Some(20..30))];
    assert_eq!(ranges(4, 1000, &requested), expected.map(|(key, range)| (key.to_owned(), range)));
}

#[test]
fn a_merged_range_stays_within_the_cap() {
    let requested = [("a", Some(0..10)), ("a", Some(10..20)), ("a", Some(20..30))];
    assert_eq!(ranges(4, 20, &requested), [("a".to_owned(), Some(0..20)), ("a".to_owned(), Some(20..30))]);
}

#[test]
fn a_whole_object_holds_its_ranges() {
    let requested = [("a", Some(5..6)), ("a", None)];
    assert_eq!(ranges(0, 1, &requested), [("a".to_owned(), None)]);
}

#[test]
fn requesters_get_their_own_part() {
    let merged = merge(vec![(object("a"), Some(8..9), 'x'), (object("a"), Some(0..2), 'y')], 10, 100);
    assert_eq!(merged.len(), 1);
    assert_eq!(merged[0].requesters, [(Some(0..2), 'y'), (Some(8..9), 'x')]);
}

#[test]
fn long_ranges_are_cut_at_the_cap() {
    assert_eq!(split(&(5..25), 8).collect::<Vec<_>>(), [5..13, 13..21, 21..25]);
    assert_eq!(split(&(5..5), 8).count(), 0);
}

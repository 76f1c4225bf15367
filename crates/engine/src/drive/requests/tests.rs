use super::*;
use ncirrus_layout::StoreId;
use proptest::prelude::*;
use std::iter::once;
use std::time::Duration;

const KIB: u64 = 1 << 10;

fn object() -> ObjectId {
    ObjectId::new(StoreId::new("memory:t"), "file")
}

fn facts() -> Facts {
    Facts {
        latency: Duration::from_millis(20),
        concurrency: 16,
        merge_gap: 512 * KIB,
        range_cap: 8 << 20,
        lists: false,
        writable: false,
    }
}

fn planned(ranges: &Ranges, size: Option<u64>) -> Vec<Want> {
    let state = State { size, there: Vec::new(), allowance: 256 * KIB };
    ranges.requests(&object(), &state, &facts()).into_iter().map(|(_, want)| want).collect()
}

fn parse(ranges: impl IntoIterator<Item = Range<u64>>) -> Ranges {
    Ranges { parse: ranges.into_iter().collect(), ..Ranges::default() }
}

#[test]
fn one_structure_alone_has_the_whole_allowance() {
    assert_eq!(planned(&parse(once(5000..5100)), None), [Want::Range(5000..5000 + 256 * KIB)]);
}

#[test]
fn structures_within_one_block_share_it() {
    let near = parse([3000..3010, 0..8, 200 * KIB..200 * KIB + 50]);
    assert_eq!(planned(&near, None), [Want::Range(0..256 * KIB)]);
}

#[test]
fn a_thousand_scattered_headers_bring_four_kilobytes_each() {
    let headers = (0..1000u64).map(|at| at * 100 * KIB..at * 100 * KIB + 512);
    let expected: Vec<Want> =
        (0..1000u64).map(|at| Want::Range(at * 100 * KIB..at * 100 * KIB + 4 * KIB)).collect();
    assert_eq!(planned(&parse(headers), None), expected);
}

#[test]
fn a_few_groups_share_the_allowance() {
    let far = parse([0..100, 50 << 20..(50 << 20) + 100]);
    let share = 128 * KIB;
    let expected = [Want::Range(0..share), Want::Range(50 << 20..(50 << 20) + share)];
    assert_eq!(planned(&far, None), expected);
}

#[test]
fn what_is_there_already_and_what_lies_beyond_the_end_does_not_come_along() {
    let there = vec![0..4 * KIB, 100 * KIB..200 * KIB];
    let state = State { size: Some(50 << 20), there, allowance: 256 * KIB };
    let requests = |range: Range<u64>| parse(once(range)).requests(&object(), &state, &facts());
    let expected = |range: Range<u64>| [(object(), Want::Range(range))];
    assert_eq!(requests(20 * KIB..21 * KIB), expected(20 * KIB..100 * KIB));
    assert_eq!(requests(90 * KIB..110 * KIB), expected(90 * KIB..(90 + 256) * KIB));
    assert_eq!(requests((50 << 20) - 100..(50 << 20) - 50), expected((50 << 20) - 100..50 << 20));
}

#[test]
fn small_objects_are_taken_whole_when_touched_again() {
    let ranges = parse(once(300 * KIB..300 * KIB + 10));
    assert_eq!(planned(&ranges, Some(SMALL_OBJECT)), [Want::All]);
    assert_ne!(planned(&ranges, Some(SMALL_OBJECT + 1)), [Want::All]);
    let suffix = Ranges { suffixes: vec![8, 4, 8], ..Ranges::default() };
    assert_eq!(planned(&suffix, Some(100)), [Want::Suffix(4), Want::Suffix(8)]);
}

#[test]
fn exact_ranges_are_not_widened_and_few_gaps_are_bridged() {
    let nodes = |count: u64, step: u64| Ranges {
        exact: (0..count).map(|at| at * step..at * step + 100).collect(),
        ..Ranges::default()
    };
    assert_eq!(planned(&nodes(2, 400 * KIB), None), [Want::Range(0..400 * KIB + 100)]);
    assert_eq!(planned(&nodes(100, 400 * KIB), None).len(), 100);
}

proptest! {
    #[test]
    fn every_need_is_met_and_the_surplus_is_bounded(
        starts in prop::collection::vec((0u64..1 << 28, 1u64..2000), 1..300),
        exact in prop::collection::vec((0u64..1 << 28, 1u64..2000), 0..50),
        allowance in (0u32..5).prop_map(|times| (256 * KIB) << times),
    ) {
        let range = |(start, len): &(u64, u64)| *start..start + len;
        let ranges = Ranges {
            parse: starts.iter().map(range).collect(),
            exact: exact.iter().map(range).collect(),
            ..Ranges::default()
        };
        let state = State { size: None, there: Vec::new(), allowance };
        let mut got = Vec::new();
        for (_, want) in ranges.requests(&object(), &state, &facts()) {
            let Want::Range(range) = want else { panic!("{want:?}") };
            got.push(range);
        }
        for need in ranges.parse.iter().chain(&ranges.exact) {
            prop_assert!(got.iter().any(|part| part.start <= need.start && need.end <= part.end));
        }
        let bytes: u64 = got.iter().map(|range| range.end - range.start).sum();
        let needed: u64 = starts.iter().chain(&exact).map(|(_, len)| len).sum();
        let widened = allowance.max(starts.len() as u64 * LEAST_BLOCK);
        let gaps = ROUND_GAPS.max((starts.len() + exact.len()) as u64 * LEAST_BLOCK);
        prop_assert!(bytes <= needed + widened + gaps, "{bytes} for {needed}");
    }
}

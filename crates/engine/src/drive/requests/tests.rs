use super::*;
use ncirrus_layout::StoreId;
use proptest::prelude::*;
use std::iter::once;
use std::time::Duration;

const KIB: u64 = 1 << 10;

fn object() -> ObjectId {
    ObjectId::new(StoreId::new("memory:t"), "file")
}

fn facts() -> StoreFacts {
    StoreFacts {
        latency: Duration::from_millis(20),
        concurrency: 16,
        merge_gap: 512 * KIB,
        range_cap: 8 << 20,
        lists: false,
        writable: false,
        isolated: false,
    }
}

fn planned(ranges: &ObjectRanges, size: Option<u64>) -> Vec<Want> {
    let state = ObjectState { size, there: Vec::new(), allowance: 256 * KIB };
    ranges.requests(&object(), &state, &facts()).into_iter().map(|(_, want)| want).collect()
}

fn parse(ranges: impl IntoIterator<Item = Range<u64>>) -> ObjectRanges {
    ObjectRanges { parse: ranges.into_iter().collect(), ..ObjectRanges::default() }
}

#[test]
fn one_structure_alone_has_the_whole_allowance() {
    assert_eq!(planned(&parse(once(0..100)), None), [Want::Range(0..256 * KIB)]);
    let far = parse(once(5 << 20..(5 << 20) + 100));
    assert_eq!(planned(&far, None), [Want::Range((5 << 20) - 64 * KIB..(5 << 20) + 192 * KIB)]);
}

#[test]
fn structures_within_one_block_share_it() {
    let near = parse([3000..3010, 0..8, 200 * KIB..200 * KIB + 50]);
    assert_eq!(planned(&near, None), [Want::Range(0..256 * KIB)]);
}

#[test]
fn a_thousand_scattered_headers_bring_four_kilobytes_each() {
    let headers = (1..1001u64).map(|at| at * 100 * KIB..at * 100 * KIB + 512);
    let expected: Vec<Want> =
        (1..1001u64).map(|at| Want::Range(at * 100 * KIB - KIB..at * 100 * KIB + 3 * KIB)).collect();
    assert_eq!(planned(&parse(headers), None), expected);
}

#[test]
fn a_few_groups_share_the_allowance() {
    let far = parse([0..100, 50 << 20..(50 << 20) + 100]);
    let (share, second) = (128 * KIB, (50 << 20) - 32 * KIB);
    let expected = [Want::Range(0..share), Want::Range(second..second + share)];
    assert_eq!(planned(&far, None), expected);
}

#[test]
fn what_is_there_already_and_what_lies_beyond_the_end_does_not_come_along() {
    let there = vec![0..4 * KIB, 100 * KIB..200 * KIB];
    let state = ObjectState { size: Some(50 << 20), there, allowance: 256 * KIB };
    let requests = |range: Range<u64>| parse(once(range)).requests(&object(), &state, &facts());
    let expected = |range: Range<u64>| [(object(), Want::Range(range))];
    assert_eq!(requests(20 * KIB..21 * KIB), expected(4 * KIB..100 * KIB));
    assert_eq!(requests(90 * KIB..110 * KIB), expected(90 * KIB..(90 + 256) * KIB));
    assert_eq!(requests(250 * KIB..251 * KIB), expected(200 * KIB..456 * KIB));
    let end = 50 << 20;
    assert_eq!(requests(end - 100..end - 50), expected(end - 100 - 64 * KIB..end));
}

#[test]
fn small_objects_are_taken_whole_when_touched_again() {
    let ranges = parse(once(300 * KIB..300 * KIB + 10));
    assert_eq!(planned(&ranges, Some(SMALL_OBJECT)), [Want::All]);
    assert_ne!(planned(&ranges, Some(SMALL_OBJECT + 1)), [Want::All]);
    let suffix = ObjectRanges { suffixes: vec![8, 4, 8], ..ObjectRanges::default() };
    assert_eq!(planned(&suffix, Some(100)), [Want::Suffix(4), Want::Suffix(8)]);
}

#[test]
fn exact_ranges_are_not_widened_and_few_gaps_are_bridged() {
    let nodes = |count: u64, step: u64| ObjectRanges {
        exact: (0..count).map(|at| at * step..at * step + 100).collect(),
        ..ObjectRanges::default()
    };
    assert_eq!(planned(&nodes(2, 400 * KIB), None), [Want::Range(0..400 * KIB + 100)]);
    assert_eq!(planned(&nodes(100, 400 * KIB), None).len(), 100);
}

fn state(size: u64, there: Range<u64>, allowance: u64) -> ObjectState {
    ObjectState { size: Some(size), there: vec![there], allowance }
}

/// Headers of 500 bytes in the given number of places, as far apart as possible.
fn headers(places: u64, size: u64) -> ObjectRanges {
    parse((1..=places).map(|at| at * (size / (places + 1))..at * (size / (places + 1)) + 500))
}

#[test]
fn when_many_places_are_a_good_part_of_an_object_all_of_it_is_taken_side_by_side() {
    let size = 11 << 20;
    let state = state(size, 0..256 * KIB, 4 << 20);
    let requests = headers(500, size).requests(&object(), &state, &facts());
    let ranges: Vec<Range<u64>> = requests
        .into_iter()
        .map(|(_, want)| match want {
            Want::Range(range) => range,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(ranges.len(), 11);
    assert_eq!((ranges[0].start, ranges[10].end), (256 * KIB, size));
    assert!(ranges.windows(2).all(|pair| pair[0].end == pair[1].start));
    assert!(ranges.iter().all(|range| range.end - range.start <= REST_BLOCK));
}

#[test]
fn few_places_and_large_objects_are_not_taken_whole() {
    let bytes = |ranges: ObjectRanges, size: u64, allowance: u64| -> u64 {
        let requests = ranges.requests(&object(), &state(size, 0..256 * KIB, allowance), &facts());
        let len = |(_, want): (ObjectId, Want)| match want {
            Want::Range(range) => range.end - range.start,
            other => panic!("{other:?}"),
        };
        requests.into_iter().map(len).sum()
    };
    // Each structure leads to the next one.
    assert_eq!(bytes(headers(1, 11 << 20), 11 << 20, 4 << 20), 4 << 20);
    // The members of a group of an object of 11 MiB, in the first round that asks for many places.
    assert_eq!(bytes(headers(20, 11 << 20), 11 << 20, 512 * KIB), 512 * KIB / 20 * 20);
    assert_eq!(bytes(headers(500, 200 << 20), 200 << 20, 4 << 20), (4 << 20) / 500 * 500);
}

#[test]
fn rounds_that_ask_for_many_places_again_or_take_long_bring_more() {
    let of = |before, scattered_before, places| {
        allowance(ReadRound { before, scattered_before }, places, &facts())
    };
    assert_eq!([0, 1, 4, 9].map(|before| of(before, 0, 1)), [256 * KIB, 512 * KIB, 4 << 20, 4 << 20]);
    assert_eq!([of(1, 0, 16), of(2, 1, 16), of(2, 1, 1)], [512 * KIB, 4 << 20, 1 << 20]);
    assert_eq!([of(1, 0, 17), of(1, 0, 1000), of(2, 1, 1000)], [1 << 20, 16 << 20, 16 << 20]);
}

proptest! {
    #[test]
    fn every_need_is_met_and_the_surplus_is_bounded(
        starts in prop::collection::vec((0u64..1 << 28, 1u64..2000), 1..300),
        exact in prop::collection::vec((0u64..1 << 28, 1u64..2000), 0..50),
        allowance in (0u32..5).prop_map(|times| (256 * KIB) << times),
    ) {
        let range = |(start, len): &(u64, u64)| *start..start + len;
        let ranges = ObjectRanges {
            parse: starts.iter().map(range).collect(),
            exact: exact.iter().map(range).collect(),
            ..ObjectRanges::default()
        };
        let state = ObjectState { size: None, there: Vec::new(), allowance };
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
        let widened = allowance.max(starts.len() as u64 * MIN_BLOCK);
        let gaps = ROUND_GAPS.max((starts.len() + exact.len()) as u64 * MIN_BLOCK);
        prop_assert!(bytes <= needed + widened + gaps, "{bytes} for {needed}");
    }
}

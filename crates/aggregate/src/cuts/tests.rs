use super::{AxisCells, AxisPart};
use proptest::prelude::*;
use std::ops::Range;

/// Parts by examining every block.
fn naive(spans: &[Range<u64>], range: &Range<u64>) -> Vec<AxisPart> {
    let mut parts = Vec::new();
    let mut at = range.start;
    for (cell, span) in spans.iter().enumerate() {
        if span.is_empty() || span.end <= range.start || span.start >= range.end {
            continue;
        }
        if at < span.start {
            parts.push(AxisPart { range: at..span.start, cell: None });
        }
        at = at.max(span.end);
        parts.push(AxisPart { range: span.clone(), cell: Some(cell as u64) });
    }
    if at < range.end {
        parts.push(AxisPart { range: at..range.end, cell: None });
    }
    parts
}

fn spans_of(steps: &[(u64, u64)]) -> Vec<Range<u64>> {
    let mut at = 0;
    let mut span = |(gap, size): &(u64, u64)| {
        let start = at + gap;
        at = start + size;
        start..at
    };
    steps.iter().map(&mut span).collect()
}

proptest! {
    #[test]
    fn parts_are_those_of_a_list_of_cells(
        steps in prop::collection::vec((0..2u64, 0..4u64), 0..12),
        start in 0..20u64,
        len in 0..20u64,
    ) {
        let spans = spans_of(&steps);
        let cuts = AxisCells::from_spans(spans.clone()).unwrap();
        prop_assert_eq!(cuts.count(), spans.len() as u64);
        let range = start..start + len;
        if !range.is_empty() {
            prop_assert_eq!(cuts.parts(&range), naive(&spans, &range));
        }
    }

    #[test]
    fn sizes_become_cells_one_after_the_other(sizes in prop::collection::vec(1..5u64, 1..10)) {
        let cuts = AxisCells::from_sizes(&sizes).unwrap();
        let mut at = 0;
        for (cell, size) in sizes.iter().enumerate() {
            prop_assert_eq!(cuts.span(cell as u64), at..at + size);
            at += size;
        }
        prop_assert_eq!(cuts.end(), at);
    }

    #[test]
    fn scaled_cells_never_descend(len in 1..5000u64, count in 1..500u64, cell in 0..500u64) {
        let cuts = AxisCells::Scaled { len, count };
        let (this, next) = (cuts.span(cell), cuts.span(cell + 1));
        prop_assert!(this.start <= next.start && this.end <= next.end && this.end <= len);
    }
}

#[test]
fn equal_sizes_need_no_list() {
    let cuts = AxisCells::from_sizes(&[4, 4, 4, 2]).unwrap();
    assert_eq!(cuts, AxisCells::Even { size: 4, count: 4, end: 14 });
    assert_eq!(AxisCells::from_sizes(&[4, 4, 5]).unwrap(), AxisCells::Ends(vec![4, 8, 13]));
}

#[test]
fn a_billion_cells_cost_nothing() {
    let cuts = AxisCells::Even { size: 3, count: 1_000_000_000, end: 3_000_000_000 };
    let parts = cuts.parts(&(1_499_999_999..1_500_000_001));
    assert_eq!(parts.len(), 2);
    assert_eq!(parts[0], AxisPart { range: 1_499_999_997..1_500_000_000, cell: Some(499_999_999) });
}

#[test]
fn cells_out_of_order_are_no_cuts() {
    assert_eq!(AxisCells::from_spans(vec![3..6, 0..3]), None);
}

#[test]
fn cells_that_share_more_than_an_element_are_no_cuts() {
    assert_eq!(AxisCells::from_spans(vec![0..4, 2..6]), None);
    assert_eq!(AxisCells::from_spans(vec![0..1, 0..4]), None);
    assert!(AxisCells::from_spans(vec![0..4, 3..6]).is_some());
}

#[test]
fn the_arithmetic_of_s3netcdf4_is_followed_to_the_element() {
    let cuts = AxisCells::Scaled { len: 49, count: 12 };
    let spans: Vec<Range<u64>> = (0..12).map(|cell| cuts.span(cell)).collect();
    assert_eq!(spans[..4], [0..4, 4..8, 8..12, 12..16]);
    assert_eq!(spans[11], 44..49);
}

#[test]
fn cuts_know_whether_they_leave_elements_out() {
    assert!(AxisCells::Scaled { len: 49, count: 12 }.covers(49));
    assert!(!AxisCells::Scaled { len: 13, count: 6 }.covers(14));
    assert!(AxisCells::Spans(vec![0..4, 3..6]).covers(6));
    assert!(!AxisCells::Spans(vec![0..4, 5..6]).covers(6));
    assert!(!AxisCells::Even { size: 2, count: 6, end: 12 }.covers(13));
}

#[test]
fn sizes_beyond_64_bits_are_refused() {
    assert!(AxisCells::from_sizes(&[u64::MAX, 1]).is_err());
}

use super::*;
use proptest::prelude::*;
use rstest::rstest;

/// The parameters of groups: 4 blocks of 512 bytes in a row, direct blocks up to 64 KiB.
const LINKS: DoublingTable = DoublingTable { width: 4, first: 512, largest: 65536, bits: 32 };

#[test]
fn rows_double_from_the_second_on() {
    let lens: Vec<_> = (0..5).map(|row| LINKS.block_len(row)).collect();
    assert_eq!(lens, [512, 512, 1024, 2048, 4096].map(Some));
    assert_eq!((LINKS.direct_rows(), LINKS.offset_width(), LINKS.max_rows()), (9, 4, 22));
    assert_eq!(LINKS.rows_below(9), 7, "131072 bytes are rows of 512 to 32768");
    assert_eq!(LINKS.block_len(64), None);
}

#[rstest]
#[case(0, 0, 0, 0)]
#[case(511, 0, 0, 0)]
#[case(512, 0, 1, 512)]
#[case(2047, 0, 3, 1536)]
#[case(2048, 1, 4, 2048)]
#[case(4096, 2, 8, 4096)]
#[case(5119, 2, 8, 4096)]
#[case(8192, 3, 12, 8192)]
fn offsets_lie_in_their_block(#[case] offset: u64, #[case] row: u16, #[case] index: u64, #[case] start: u64) {
    let slot = LINKS.slot(0, 8, offset).expect("a slot");
    assert_eq!((slot.row, slot.index, slot.offset), (row, index, start));
    let shifted = LINKS.slot(1 << 20, 8, (1 << 20) + offset).expect("a slot");
    assert_eq!((shifted.row, shifted.index, shifted.offset), (row, index, (1 << 20) + start));
}

#[test]
fn offsets_outside_of_the_rows_are_errors() {
    assert!(LINKS.slot(0, 1, 2048).is_err());
    assert!(LINKS.slot(100, 8, 99).is_err());
    assert!(LINKS.slot(0, 8, u64::MAX).is_err());
}

#[rstest]
#[case(DoublingTable { width: 0, ..LINKS })]
#[case(DoublingTable { width: 3, ..LINKS })]
#[case(DoublingTable { first: 0, ..LINKS })]
#[case(DoublingTable { first: 131_072, ..LINKS })]
#[case(DoublingTable { largest: 1000, ..LINKS })]
#[case(DoublingTable { bits: 65, ..LINKS })]
#[case(DoublingTable { bits: 10, ..LINKS })]
#[case(DoublingTable { first: 1 << 63, largest: 1 << 63, bits: 64, ..LINKS })]
fn impossible_tables_are_refused(#[case] table: DoublingTable) {
    assert!(table.check().is_err());
}

proptest! {
    #[test]
    fn every_offset_lies_in_the_block_that_covers_it_at_every_level(
        (width, first, more, bits) in (0..6u32, 0..20u32, 0..20u32, 0..=64u16),
        offset: u64,
    ) {
        let table = DoublingTable { width: 1 << width, first: 1 << first, largest: 1 << (first + more), bits };
        let Ok(table) = table.check() else { return Ok(()) };
        let (mut start, mut rows) = (0, table.max_rows());
        let mut levels = 0;
        while let Ok(slot) = table.slot(start, rows, offset) {
            prop_assert!(slot.offset <= offset && offset - slot.offset < slot.len);
            prop_assert_eq!(Some(slot.len), table.block_len(slot.row));
            let below = table.rows_below(slot.row);
            prop_assert!(below < rows, "each level has fewer rows");
            (start, rows) = (slot.offset, below);
            levels += 1;
            if slot.row < table.direct_rows() { break }
        }
        prop_assert!(levels <= 65);
    }
}

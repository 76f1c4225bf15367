//! What the sources say, and which of them counts.
use super::*;
use rstest::rstest;

#[rstest]
#[case("0", 0)]
#[case("512B", 512)]
#[case("2G", 2 << 30)]
#[case("2GiB", 2 << 30)]
#[case("50MB", 50_000_000)]
#[case("1.5 kB", 1500)]
#[case("3PB", 3_000_000_000_000_000)]
#[case("1EB", 1_000_000_000_000_000_000)]
fn sizes(#[case] text: &str, #[case] bytes: u64) {
    assert_eq!(parse_size(text), Ok(bytes));
}

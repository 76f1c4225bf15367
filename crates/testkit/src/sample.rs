//! Tests that compare long lists of cases take a part of them in the stages of `cargo xtask test`, and all of them in
//! `cargo xtask long`, which sets `NCIRRUS_ALL_CASES`.

/// Whether all cases are wanted.
#[must_use]
pub fn all_cases() -> bool {
    std::env::var_os("NCIRRUS_ALL_CASES").is_some()
}

/// Whether the case with this number is tested: one in so many, or each if all are wanted. The choice is the same in each
/// run, so that a failure is seen again.
#[must_use]
pub fn in_turn(number: usize, one_in: usize) -> bool {
    number.is_multiple_of(one_in) || all_cases()
}

//! Which bytes of an object of known size are meant.
use ncirrus_layout::Want;
use std::ops::Range;

/// The bytes that are wanted, cut at the end of the object.
pub fn resolve(want: &Want, size: u64) -> Range<u64> {
    match want {
        Want::All => 0..size,
        Want::Range(range) | Want::Parse(range) => {
            let start = range.start.min(size);
            start..range.end.clamp(start, size)
        }
        Want::Suffix(len) => size.saturating_sub(*len)..size,
    }
}

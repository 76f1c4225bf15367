//! Random values, selections, filters.
use super::oracle::Dim;
use ncirrus::{Atomic, AxisSelection, CodecSpec, Selection, Values};
use ncirrus_testkit::law::RandomSource;

pub(crate) fn below(random: &mut RandomSource, limit: usize) -> usize {
    usize::try_from(random.below(limit as u64)).unwrap()
}

pub(crate) fn word(random: &mut RandomSource) -> String {
    let words =
        ["", "a", "Zürich", "a rather long text with blanks", "0", "NaN", "tab\tand \"quotes\"", "𝔘nicode"];
    words[below(random, words.len())].to_owned()
}

/// Few distinct values, so that filters have something to do; often the special ones of the type.
pub(crate) fn values(random: &mut RandomSource, ty: Atomic, count: usize) -> Values {
    if ty == Atomic::String {
        return Values::String((0..count).map(|_| Some(word(random))).collect());
    }
    let len = ty.byte_len().unwrap();
    let style = random.below(4);
    let mut bytes = Vec::with_capacity(count * len);
    for _ in 0..count {
        let cell: [u8; 8] = match (style, random.below(8)) {
            (0, _) | (_, 0) => random.next_u64().to_ne_bytes(),
            (1, _) => [0; 8],
            (2, 1) => [0xff; 8],
            _ => small(random, ty),
        };
        bytes.extend(&cell[..len]);
    }
    Values::from_native_bytes(ty, &bytes).unwrap()
}

fn small(random: &mut RandomSource, ty: Atomic) -> [u8; 8] {
    let number = random.below(20);
    let mut cell = [0; 8];
    match ty {
        Atomic::Float => {
            cell[..4].copy_from_slice(&(f32::from(u8::try_from(number).unwrap()) * 0.1 - 0.5).to_ne_bytes());
        }
        Atomic::Double => {
            cell = (f64::from(u8::try_from(number).unwrap()) * 0.1 - 0.5).to_ne_bytes();
        }
        _ => cell = number.to_le_bytes(),
    }
    cell
}

/// An element that JSON can represent: NaNs other than the usual one have no representation there, and netCDF-C does
/// not support escapes in it.
pub(crate) fn spelled(random: &mut RandomSource, ty: Atomic, count: usize) -> Values {
    match values(random, ty, count) {
        Values::Float(list) => {
            Values::Float(list.into_iter().map(|x| if x.is_nan() { f32::NAN } else { x }).collect())
        }
        Values::Double(list) => {
            Values::Double(list.into_iter().map(|x| if x.is_nan() { f64::NAN } else { x }).collect())
        }
        Values::Char(list) => Values::Char(list.into_iter().map(|byte| b'a' + byte % 26).collect()),
        other => other,
    }
}

/// A box of the existing elements; if the variable may grow, sometimes past the end.
pub(crate) fn selection(random: &mut RandomSource, dims: &[Dim], grow: bool) -> Selection {
    let mut axes = Vec::new();
    for dim in dims {
        let room = if grow && dim.unlimited { dim.len + random.below(4) } else { dim.len };
        let all = random.below(3) == 0;
        let start = if all { 0 } else { random.below(room) };
        let count = if all { room } else { random.below(room - start + 1) };
        let stride = if random.below(4) == 0 { 2 } else { 1 };
        let slice = AxisSelection::Slice { start, count: count.div_ceil(stride), stride };
        let picks = !grow && room > 0 && random.below(4) == 0;
        axes.push(if picks { AxisSelection::Indices(picked(random, room)) } else { slice });
    }
    Selection::new(axes)
}

/// Some indices, in any order, possibly repeated.
fn picked(random: &mut RandomSource, room: u64) -> Vec<u64> {
    (0..1 + random.below(4)).map(|_| random.below(room)).collect()
}

/// Filters for a new variable, as HDF5 describes them.
pub(crate) fn filters(random: &mut RandomSource) -> Vec<CodecSpec> {
    let deflate = || CodecSpec::hdf5(1, &[4]);
    let shuffle = || CodecSpec::hdf5(2, &[]);
    let sum = || CodecSpec::hdf5(3, &[]);
    match random.below(7) {
        0 => vec![deflate()],
        1 => vec![shuffle(), deflate()],
        2 => vec![sum()],
        3 => vec![shuffle(), deflate(), sum()],
        4 => vec![CodecSpec::hdf5(32015, &[3])],
        5 => vec![CodecSpec::hdf5(307, &[9])],
        _ => Vec::new(),
    }
}

/// Filters of a copy, in the syntax of the command line.
pub(crate) fn rule(random: &mut RandomSource) -> &'static str {
    let rules = ["zstd", "blosc", "shuffle|zlib", "bz2", "lz4", "none", "zlib,level=1"];
    rules[below(random, rules.len())]
}

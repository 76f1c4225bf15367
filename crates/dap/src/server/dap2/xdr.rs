//! Values in XDR (docs/spec/dap.md 3.1).
use super::declared::{Declared, DeclaredKind};
use super::wanted::Wanted;
use crate::server::cuts::{Slice, count_of};
use ncirrus_layout::{Error, Result};
use ncirrus_model::{Atomic, Values};

/// The count of an array.
///
/// # Errors
/// `Limit` if 32 bits do not hold it.
pub(super) fn count_word(count: u64) -> Result<[u8; 4]> {
    let count = u32::try_from(count).map_err(|_| {
        Error::limit(format!("{count} elements: DAP2 holds at most {} of a variable", u32::MAX))
    })?;
    Ok(count.to_be_bytes())
}

/// Numbers in the machine's byte order as elements of an array, or as a scalar. Bytes of arrays are not padded yet.
///
/// # Errors
/// `Unsupported` for an integer that a `Float64` does not hold, except for the fill value.
pub(super) fn numbers(
    atomic: Atomic,
    mut bytes: Vec<u8>,
    is_array: bool,
    fill: Option<i128>,
) -> Result<Vec<u8>> {
    Ok(match atomic {
        Atomic::Byte | Atomic::UByte if is_array => bytes,
        // The value is in the last byte, and nothing in those before it.
        Atomic::Byte | Atomic::UByte => bytes.into_iter().flat_map(|byte| [0, 0, 0, byte]).collect(),
        Atomic::Short => widened(&bytes, |two| i32::from(i16::from_ne_bytes(two)).to_be_bytes()),
        Atomic::UShort => widened(&bytes, |two| u32::from(u16::from_ne_bytes(two)).to_be_bytes()),
        Atomic::Int | Atomic::UInt | Atomic::Float => {
            let words = bytes.as_chunks_mut::<4>().0.iter_mut();
            words.for_each(|word| *word = u32::from_ne_bytes(*word).to_be_bytes());
            bytes
        }
        Atomic::Double => {
            let words = bytes.as_chunks_mut::<8>().0.iter_mut();
            words.for_each(|word| *word = u64::from_ne_bytes(*word).to_be_bytes());
            bytes
        }
        Atomic::Int64 => {
            for word in bytes.as_chunks_mut::<8>().0 {
                *word = exact(i128::from(i64::from_ne_bytes(*word)), fill)?.to_be_bytes();
            }
            bytes
        }
        Atomic::UInt64 => {
            for word in bytes.as_chunks_mut::<8>().0 {
                *word = exact(i128::from(u64::from_ne_bytes(*word)), fill)?.to_be_bytes();
            }
            bytes
        }
        Atomic::Char | Atomic::String => return Err(Error::internal("text is not packed")),
    })
}

fn widened(bytes: &[u8], widen: impl Fn([u8; 2]) -> [u8; 4]) -> Vec<u8> {
    let mut out = vec![0; 2 * bytes.len()];
    let words = out.as_chunks_mut::<4>().0.iter_mut();
    words.zip(bytes.as_chunks::<2>().0).for_each(|(word, two)| *word = widen(*two));
    out
}

/// An integer as a `Float64`.
fn exact(value: i128, fill: Option<i128>) -> Result<f64> {
    #[expect(clippy::cast_precision_loss, reason = "what is lost is compared below")]
    let float = value as f64;
    #[expect(clippy::cast_possible_truncation, reason = "floats of 64-bit integers are within 128 bits")]
    let back = float as i128;
    if back == value || fill == Some(value) {
        return Ok(float);
    }
    let message = format!(
        "the value {value}: DAP2 has no integers of 64 bits, and Float64 does not hold it; DAP4 does"
    );
    Err(Error::unsupported(message))
}

/// A string.
pub(super) fn string(text: &[u8], out: &mut Vec<u8>) -> Result<()> {
    out.extend(count_word(text.len() as u64)?);
    out.extend(text);
    out.resize(out.len() + text.len().wrapping_neg() % 4, 0);
    Ok(())
}

/// Strings, or characters of `len` each, as strings; null characters at their ends are not sent.
pub(super) fn strings(values: &Values, len: usize, out: &mut Vec<u8>) -> Result<()> {
    match values {
        Values::String(strings) => strings.iter().try_for_each(|text| string(text.unwrap_or_default(), out)),
        Values::Char(text) => text.chunks(len.max(1)).try_for_each(|text| string(trimmed(text), out)),
        _ => Err(Error::internal("values other than text")),
    }
}

/// Text without the null characters at its end.
pub(super) fn trimmed(text: &[u8]) -> &[u8] {
    let end = text.iter().rposition(|byte| *byte != 0).map_or(0, |at| at + 1);
    text.get(..end).unwrap_or_default()
}

/// The compounds of a column that holds them, one after the other, without the count of the array.
pub(super) fn structures(
    declared: &Declared,
    wanted: &Wanted,
    values: &Values,
    out: &mut Vec<u8>,
) -> Result<()> {
    let Values::Compound { len, fields } = values else {
        return Err(Error::internal("values other than compounds"));
    };
    (0..*len).try_for_each(|at| members(declared, wanted, (fields, *len), at, out))
}

/// The members of one compound out of `len`.
fn members(
    declared: &Declared,
    wanted: &Wanted,
    (fields, len): (&[Values], usize),
    at: usize,
    out: &mut Vec<u8>,
) -> Result<()> {
    for inner in &wanted.members {
        let (Some(member), Some(column)) = (declared.members().get(inner.index), fields.get(inner.index))
        else {
            return Err(Error::internal("a compound without its members"));
        };
        let each = column.len() / len.max(1);
        let places = places(&inner.slices, &member.shape(), at * each);
        member_values(member, inner, column, &places, out)?;
    }
    Ok(())
}

/// The values of a member at these places of its column.
fn member_values(
    declared: &Declared,
    wanted: &Wanted,
    column: &Values,
    places: &[usize],
    out: &mut Vec<u8>,
) -> Result<()> {
    let is_array = !declared.dims.is_empty();
    let count = count_of(&wanted.slices).unwrap_or(0);
    let atomic = match (&declared.kind, column) {
        (DeclaredKind::Structure(_), Values::Compound { len, fields }) => {
            if is_array {
                out.extend(count_word(count)?);
            }
            return places.iter().try_for_each(|at| members(declared, wanted, (fields, *len), *at, out));
        }
        (DeclaredKind::Atomic(atomic), _) => *atomic,
        (DeclaredKind::Structure(_), _) => return Err(Error::internal("a structure without members")),
    };
    if let Values::String(texts) = column {
        if is_array {
            out.extend(count_word(count)?);
        }
        return places.iter().try_for_each(|at| string(texts.get(*at).unwrap_or_default(), out));
    }
    if is_array {
        out.extend(count_word(count)?);
        out.extend(count_word(count)?);
    }
    let bytes = column.as_bytes().ok_or_else(|| Error::internal("a member without a fixed size"))?;
    let size = atomic.byte_len().unwrap_or(1);
    let picked = places.iter().filter_map(|at| bytes.get(at * size..(at + 1) * size)).flatten().copied();
    let start = out.len();
    out.extend(numbers(atomic, picked.collect(), is_array, None)?);
    let padding = (out.len() - start).wrapping_neg() % 4;
    out.resize(out.len() + padding, 0);
    Ok(())
}

/// The numbers of the selected elements of an array whose first one has the number `first`.
fn places(slices: &[Slice], shape: &[u64], first: usize) -> Vec<usize> {
    let mut places = vec![0_usize];
    for (slice, len) in slices.iter().zip(shape) {
        let index = |at: u64| usize::try_from(slice.start + at * slice.stride).unwrap_or(usize::MAX);
        let len = usize::try_from(*len).unwrap_or(usize::MAX);
        let along = |place: usize| {
            (0..slice.count).map(move |at| place.saturating_mul(len).saturating_add(index(at)))
        };
        places = places.into_iter().flat_map(along).collect();
    }
    places.iter_mut().for_each(|place| *place = place.saturating_add(first));
    places
}

//! Values in XDR (docs/spec/dap.md 3.1).
use super::declared::{Declared, DeclaredKind};
use super::wanted::Wanted;
use crate::byte_order::reverse_each;
use crate::server::StepBytes;
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

/// Bytes in front of numbers of that type, which [`numbers`] needs for what they are in XDR.
pub(super) fn room(atomic: Atomic, count: u64, is_array: bool) -> usize {
    match atomic {
        Atomic::Byte | Atomic::UByte if !is_array => 3,
        Atomic::Short | Atomic::UShort => usize::try_from(count.saturating_mul(2)).unwrap_or(usize::MAX),
        _ => 0,
    }
}

/// Numbers in the machine's byte order as elements of an array, or as a scalar, in place. Bytes of arrays are not padded yet.
///
/// # Errors
/// `Unsupported` for an integer that a `Float64` does not hold, except for the fill value; `Internal` without the
/// [`room`].
pub(super) fn numbers(
    atomic: Atomic,
    bytes: &mut StepBytes,
    is_array: bool,
    fill: Option<i128>,
) -> Result<()> {
    match atomic {
        Atomic::Byte | Atomic::UByte if is_array => {}
        // The value is in the last byte, and nothing in those before it.
        Atomic::Byte | Atomic::UByte => {
            bytes.extend_front(3)?;
            bytes.as_mut().iter_mut().take(3).for_each(|byte| *byte = 0);
        }
        Atomic::Short => {
            bytes.extend_front(bytes.as_ref().len())?;
            widen(bytes.as_mut(), |two| i32::from(i16::from_ne_bytes(two)).to_be_bytes());
        }
        Atomic::UShort => {
            bytes.extend_front(bytes.as_ref().len())?;
            widen(bytes.as_mut(), |two| u32::from(u16::from_ne_bytes(two)).to_be_bytes());
        }
        Atomic::Int | Atomic::UInt | Atomic::Float => big_endian(bytes.as_mut(), 4),
        Atomic::Double => big_endian(bytes.as_mut(), 8),
        Atomic::Int64 => {
            for word in bytes.as_mut().as_chunks_mut::<8>().0 {
                *word = exact(i128::from(i64::from_ne_bytes(*word)), fill)?.to_be_bytes();
            }
        }
        Atomic::UInt64 => {
            for word in bytes.as_mut().as_chunks_mut::<8>().0 {
                *word = exact(i128::from(u64::from_ne_bytes(*word)), fill)?.to_be_bytes();
            }
        }
        Atomic::Char | Atomic::String => return Err(Error::internal("text is not packed")),
    }
    Ok(())
}

/// Numbers in the machine's order become big-endian.
fn big_endian(bytes: &mut [u8], size: usize) {
    if cfg!(target_endian = "little") {
        reverse_each(bytes, size);
    }
}

/// Numbers of 2 bytes in the second half become numbers of 4 bytes in the whole.
fn widen(bytes: &mut [u8], widen: impl Fn([u8; 2]) -> [u8; 4]) {
    const BLOCK: usize = 512;
    let half = bytes.len() / 2;
    let mut block = [0; BLOCK];
    for at in (0..half).step_by(BLOCK) {
        // What is written ends where the numbers begin that were not read yet, or before.
        let block = block.get_mut(..BLOCK.min(half - at)).unwrap_or_default();
        let Some(numbers) = bytes.get(half + at..half + at + block.len()) else { return };
        block.copy_from_slice(numbers);
        let Some(out) = bytes.get_mut(2 * at..2 * (at + block.len())) else { return };
        let words = out.as_chunks_mut::<4>().0.iter_mut();
        words.zip(block.as_chunks::<2>().0).for_each(|(word, two)| *word = widen(*two));
    }
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
    let room = room(atomic, places.len() as u64, is_array);
    let mut values = StepBytes::new(std::iter::repeat_n(0, room).chain(picked).collect(), room);
    numbers(atomic, &mut values, is_array, None)?;
    out.extend(values.as_ref());
    let padding = values.as_ref().len().wrapping_neg() % 4;
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Elements behind their room, as they are in XDR.
    fn encoded(atomic: Atomic, elements: &[u8], is_array: bool) -> Vec<u8> {
        let count = elements.len() / atomic.byte_len().unwrap();
        let room = room(atomic, count as u64, is_array) + 1;
        let mut bytes = StepBytes::new([&vec![0xee; room], elements].concat(), room);
        numbers(atomic, &mut bytes, is_array, None).unwrap();
        bytes.as_ref().to_vec()
    }

    #[test]
    fn short_integers_become_long_ones_where_they_are() {
        for count in [0, 1, 2, 255, 256, 257, 1000] {
            let signed: Vec<i16> = (0..count).map(|at| at * 31 - 15_000).collect();
            let native: Vec<u8> = signed.iter().flat_map(|number| number.to_ne_bytes()).collect();
            let wanted: Vec<u8> = signed.iter().flat_map(|number| i32::from(*number).to_be_bytes()).collect();
            assert_eq!(encoded(Atomic::Short, &native, true), wanted, "{count}");
            let bits = |number: &i16| u32::from(number.cast_unsigned()).to_be_bytes();
            let wanted: Vec<u8> = signed.iter().flat_map(bits).collect();
            assert_eq!(encoded(Atomic::UShort, &native, true), wanted, "{count}");
        }
    }

    #[test]
    fn numbers_of_four_bytes_are_reversed_one_by_one() {
        for count in 0..20_u32 {
            let numbers = (0..count).map(|at| at * 0x0102_0304);
            let native: Vec<u8> = numbers.clone().flat_map(u32::to_ne_bytes).collect();
            let wanted: Vec<u8> = numbers.flat_map(u32::to_be_bytes).collect();
            for atomic in [Atomic::Int, Atomic::UInt, Atomic::Float] {
                assert_eq!(encoded(atomic, &native, true), wanted, "{count}");
            }
        }
    }

    #[test]
    fn a_byte_alone_takes_a_word_and_those_of_an_array_do_not() {
        assert_eq!(encoded(Atomic::UByte, &[200], false), [0, 0, 0, 200]);
        assert_eq!(encoded(Atomic::UByte, &[200, 1], true), [200, 1]);
    }
}

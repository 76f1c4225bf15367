//! The hybrid of run lengths and packed bits in which Parquet stores levels and indices of dictionaries.
use ncirrus_layout::{Error, Result};

/// Reads `count` values of `width` bits each, 0 to 32.
///
/// # Errors
/// `Malformed` if there are fewer values, or for an invalid width.
pub(super) fn read(bytes: &[u8], width: u8, count: usize) -> Result<Vec<u32>> {
    if width > 32 {
        return Err(Error::malformed(format!("indices of {width} bits in a Parquet page")));
    }
    let (mut rest, mut values) = (bytes, Vec::new());
    while values.len() < count {
        let head = varint(&mut rest)?;
        let wanted = count - values.len();
        if head & 1 == 0 {
            let run = usize::try_from(head >> 1).unwrap_or(usize::MAX).min(wanted);
            let value = fixed(&mut rest, width)?;
            // A run without values would loop for as long as there are bytes; writers do not make them.
            if run == 0 {
                return Err(short());
            }
            values.resize(values.len() + run, value);
        } else {
            let groups = usize::try_from(head >> 1).map_err(|_| short())?;
            let packed = groups.checked_mul(usize::from(width)).ok_or_else(short)?;
            // Some writers omit the padding of the last group.
            let (run, after) = rest.split_at(packed.min(rest.len()));
            let held = if width == 0 { groups.saturating_mul(8) } else { run.len() * 8 / usize::from(width) };
            let take = wanted.min(groups.saturating_mul(8)).min(held);
            if take == 0 {
                return Err(short());
            }
            unpack(run, width, take, &mut values);
            rest = after;
        }
    }
    Ok(values)
}

/// Values of `width` bits, the lowest bits first.
fn unpack(bytes: &[u8], width: u8, count: usize, values: &mut Vec<u32>) {
    if width == 0 {
        return values.resize(values.len() + count, 0);
    }
    let (mut buffer, mut held, mut bytes) = (0u64, 0u8, bytes.iter());
    let mask = (1u64 << width) - 1;
    for _ in 0..count {
        while held < width {
            buffer |= u64::from(bytes.next().copied().unwrap_or(0)) << held;
            held += 8;
        }
        values.push(u32::try_from(buffer & mask).unwrap_or(u32::MAX));
        buffer >>= width;
        held -= width;
    }
}

fn fixed(rest: &mut &[u8], width: u8) -> Result<u32> {
    let len = usize::from(width.div_ceil(8));
    let (bytes, after) = rest.split_at_checked(len).ok_or_else(short)?;
    *rest = after;
    Ok(bytes.iter().rev().fold(0, |value, byte| value << 8 | u32::from(*byte)))
}

fn varint(rest: &mut &[u8]) -> Result<u64> {
    let mut value = 0u64;
    for shift in (0..64).step_by(7) {
        let (byte, after) = rest.split_first().ok_or_else(short)?;
        *rest = after;
        value |= u64::from(byte & 127) << shift;
        if *byte < 128 {
            return Ok(value);
        }
    }
    Err(Error::malformed("the length of a run in a Parquet page is invalid"))
}

/// Writes values as runs where they repeat, otherwise as packed bits.
pub(super) fn write(values: &[u32], width: u8) -> Vec<u8> {
    let (mut out, mut rest) = (Vec::new(), values);
    while let Some((value, _)) = rest.split_first() {
        let run = rest.iter().take_while(|other| *other == value).count();
        if run >= 8 || run == rest.len() {
            push_varint(&mut out, (run as u64) << 1);
            out.extend(value.to_le_bytes().iter().take(usize::from(width.div_ceil(8))));
            rest = rest.get(run..).unwrap_or_default();
            continue;
        }
        // Whole groups of eight up to the next run; the last group of all is padded.
        let groups = rest.chunks(8).take_while(|group| !repeats(group)).count().max(1);
        let (packed, after) = rest.split_at((groups * 8).min(rest.len()));
        push_varint(&mut out, (groups as u64) << 1 | 1);
        pack(packed, width, groups * 8, &mut out);
        rest = after;
    }
    out
}

fn repeats(group: &[u32]) -> bool {
    group.len() == 8 && group.windows(2).all(|pair| pair.first() == pair.last())
}

fn pack(values: &[u32], width: u8, count: usize, out: &mut Vec<u8>) {
    let (mut buffer, mut held) = (0u64, 0u8);
    for value in values.iter().copied().chain(std::iter::repeat(0)).take(count) {
        buffer |= u64::from(value) << held;
        held += width;
        while held >= 8 {
            out.push((buffer & 255) as u8);
            buffer >>= 8;
            held -= 8;
        }
    }
}

fn push_varint(out: &mut Vec<u8>, mut value: u64) {
    while value > 127 {
        out.push((value & 127) as u8 | 128);
        value >>= 7;
    }
    out.push((value & 127) as u8);
}

fn short() -> Error {
    Error::malformed("a Parquet page has fewer values than its header says")
}

//! `BloscLZ`, the compressor that is part of Blosc (docs/spec/hdf5-netcdf4.md G.3).
//!
//! A control byte below 32 announces that many literal bytes plus one; any other a repetition of decoded bytes: its
//! length minus two in the upper three bits, its distance minus one in the lower five and the next byte.
use crate::codec::{copy_match, copy_prefix};

/// The distance that announces a longer one.
const FAR: usize = 31 << 8;

/// Decodes everything; `None` if it does not fit or is damaged.
pub(super) fn decode(input: &[u8], out: &mut [u8]) -> Option<usize> {
    let (&first, mut rest) = input.split_first()?;
    // The upper bits of the first byte encode the level.
    let mut control = usize::from(first & 31);
    let mut at = 0usize;
    loop {
        if control < 32 {
            let (literal, behind) = rest.split_at_checked(control + 1)?;
            copy_prefix(literal, out.get_mut(at..at + literal.len())?);
            at += literal.len();
            rest = behind;
        } else {
            let len = length(control, &mut rest)?;
            let distance = distance(control, &mut rest)?;
            copy_match(out, at, distance, len)?;
            at += len;
        }
        let Some((&next, behind)) = rest.split_first() else { return Some(at) };
        (control, rest) = (usize::from(next), behind);
    }
}

fn length(control: usize, rest: &mut &[u8]) -> Option<usize> {
    let mut len = (control >> 5) - 1;
    if len == 6 {
        loop {
            let more = byte(rest)?;
            len = len.checked_add(more)?;
            if more != 255 {
                break;
            }
        }
    }
    len.checked_add(3)
}

fn distance(control: usize, rest: &mut &[u8]) -> Option<usize> {
    let (high, low) = ((control & 31) << 8, byte(rest)?);
    if high == FAR && low == 255 {
        let far = (byte(rest)? << 8) | byte(rest)?;
        return Some(far + 8192);
    }
    Some(high + low + 1)
}

fn byte(rest: &mut &[u8]) -> Option<usize> {
    let (&byte, behind) = rest.split_first()?;
    *rest = behind;
    Some(usize::from(byte))
}

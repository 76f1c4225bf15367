//! Numbers: the positions of their bits, and integers that are decoded bit by bit.
use super::DatatypeHead;
use crate::cursor::ByteCursor;
use crate::datatypes::{BitField, FloatFormat, FloatOrder, MantissaNorm};
use ncirrus_layout::{ByteOrder, Error, Result};

/// Checks that the bits lie inside the element.
pub(super) fn check_bits(head: DatatypeHead, offset: u16, precision: u16) -> Result<()> {
    let end = u64::from(offset) + u64::from(precision);
    if precision == 0 || end > head.byte_len.saturating_mul(8) {
        let len = head.byte_len;
        return Err(Error::malformed(format!(
            "a number of {precision} bits from bit {offset} in {len} bytes"
        )));
    }
    Ok(())
}

pub(super) fn float(cursor: &mut ByteCursor<'_>, head: DatatypeHead) -> Result<FloatFormat> {
    let (offset, precision) = (cursor.u16()?, cursor.u16()?);
    check_bits(head, offset, precision)?;
    let exponent = (cursor.u8()?, cursor.u8()?);
    let mantissa = (cursor.u8()?, cursor.u8()?);
    let bias = cursor.u32()?;
    let [_, sign, ..] = head.flags.to_le_bytes();
    for (what, first, len) in
        [("sign", sign, 1), ("exponent", exponent.0, exponent.1), ("mantissa", mantissa.0, mantissa.1)]
    {
        let end = u64::from(first) + u64::from(len);
        if len == 0 || end > head.byte_len.saturating_mul(8) {
            let whole = head.byte_len;
            return Err(Error::malformed(format!(
                "a {what} of {len} bits from bit {first} in {whole} bytes"
            )));
        }
    }
    let order = float_order(head)?;
    Ok(FloatFormat { order, offset, precision, sign, exponent, mantissa, bias, norm: norm(head)? })
}

fn float_order(head: DatatypeHead) -> Result<FloatOrder> {
    match (head.flags & 1, head.flags & 0x40) {
        (0, 0x40) if head.version >= 3 => {
            Err(Error::malformed("a floating-point number of unknown byte order"))
        }
        (1, 0x40) if head.version >= 3 && head.byte_len.is_multiple_of(2) => Ok(FloatOrder::Vax),
        (1, 0x40) if head.version >= 3 => {
            Err(Error::malformed(format!("a VAX floating-point number of {} bytes", head.byte_len)))
        }
        (0, _) => Ok(FloatOrder::Little),
        _ => Ok(FloatOrder::Big),
    }
}

fn norm(head: DatatypeHead) -> Result<MantissaNorm> {
    match head.flags >> 4 & 3 {
        0 => Ok(MantissaNorm::None),
        1 => Ok(MantissaNorm::MsbSet),
        2 => Ok(MantissaNorm::Implied),
        _ => Err(Error::malformed("a floating-point number of unknown normalisation")),
    }
}

/// `len` bits of an element from bit `first` on, the lowest being bit 0; at most 128.
pub(in crate::datatypes) fn element_bits(
    element: &[u8],
    order: FloatOrder,
    first: usize,
    len: usize,
) -> u128 {
    let byte = |significance: usize| match order {
        FloatOrder::Little => element.get(significance),
        FloatOrder::Big => element.len().checked_sub(significance + 1).and_then(|at| element.get(at)),
        FloatOrder::Vax => {
            let at = element.len().checked_sub(significance / 2 * 2 + 2);
            at.and_then(|at| element.get(at + significance % 2))
        }
    };
    let len = len.min(128);
    let mut bits = 0_u128;
    let mut done = 0;
    while done < len {
        let (whole, within) = ((first + done) / 8, (first + done) % 8);
        let here = (8 - within).min(len - done);
        let value = byte(whole).map_or(0, |byte| u128::from(*byte) >> within & ((1 << here) - 1));
        bits |= value << done;
        done += here;
    }
    bits
}

/// The integer of an element; `None` if it does not fit `i128`.
pub(in crate::datatypes) fn integer(element: &[u8], bits: BitField) -> Option<i128> {
    let order = match bits.order {
        ByteOrder::Little => FloatOrder::Little,
        ByteOrder::Big => FloatOrder::Big,
    };
    let precision = usize::from(bits.precision);
    if precision == 0 || precision > 128 {
        return None;
    }
    let value = element_bits(element, order, usize::from(bits.offset), precision);
    if !bits.signed {
        return i128::try_from(value).ok();
    }
    let unused = 128 - precision;
    Some((value << unused).cast_signed() >> unused)
}

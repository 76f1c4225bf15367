//! Columns of numbers.
use super::float::{self, KnownFloat, known};
use super::native::{float_type, integer_type};
use super::stored::{byte_order, is_whole};
use crate::datatypes::datatype::integer;
use crate::datatypes::{BitField, FloatFormat};
use ncirrus_layout::{ByteOrder, Error, Result};
use ncirrus_model::{Atomic, Values};

pub(super) fn integers(raw: &[u8], len: usize, bits: BitField) -> Result<Values> {
    let atomic = integer_type(len as u64, bits);
    let atomic = atomic.ok_or_else(|| Error::unsupported(format!("integers of {} bits", bits.precision)))?;
    if is_whole(len as u64, bits) && atomic.byte_len() == Some(len) {
        return Ok(copied(raw, len, atomic, bits.order));
    }
    Ok(each(raw, len, atomic, |element, native| {
        let value = integer(element, bits).unwrap_or(0).to_le_bytes();
        native.copy_from_slice(&value[..native.len()]);
        in_native_order(native, ByteOrder::Little);
    }))
}

pub(super) fn floats(raw: &[u8], len: usize, format: &FloatFormat) -> Result<Values> {
    let atomic = float_type(len as u64, format);
    let atomic = atomic.ok_or_else(|| Error::unsupported("floating-point numbers of this format"))?;
    let plain = matches!(known(len as u64, format), Some(KnownFloat::Single | KnownFloat::Double));
    if let (true, Some(order)) = (plain, byte_order(format.order)) {
        return Ok(copied(raw, len, atomic, order));
    }
    let values = raw.chunks_exact(len).map(|element| float::decode(element, format));
    #[expect(clippy::cast_possible_truncation, reason = "only formats of fewer bits are read as float")]
    let narrow = |value: f64| value as f32;
    Ok(match atomic {
        Atomic::Float => Values::Float(values.map(narrow).collect()),
        _ => Values::Double(values.collect()),
    })
}

/// Elements in native form except for the byte order.
fn copied(raw: &[u8], len: usize, atomic: Atomic, order: ByteOrder) -> Values {
    each(raw, len, atomic, |element, native| {
        native.copy_from_slice(element);
        in_native_order(native, order);
    })
}

fn in_native_order(native: &mut [u8], order: ByteOrder) {
    if order != ByteOrder::NATIVE {
        native.reverse();
    }
}

/// One value per element of `len` bytes.
fn each(raw: &[u8], len: usize, atomic: Atomic, convert: impl Fn(&[u8], &mut [u8])) -> Values {
    let mut values = Values::zeroed(atomic, raw.len() / len);
    let size = atomic.byte_len().unwrap_or(1);
    if let Some(native) = values.as_bytes_mut() {
        let elements = raw.chunks_exact(len).zip(native.chunks_exact_mut(size));
        elements.for_each(|(element, native)| convert(element, native));
    }
    values
}

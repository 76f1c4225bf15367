//! The forms of elements that the engine copies and decodes by itself.
use super::float::{Known, known};
use super::native::flattened;
use crate::word::{Bits, Class, Datatype, FloatFormat, FloatOrder, Padding};
use ncirrus_layout::{ByteOrder, StoredField, StoredType, TextEncoding};

/// The form that the engine copies without our help; `None` when [`values`](super::values) must decode the elements.
pub(crate) fn stored(datatype: &Datatype) -> Option<StoredType> {
    let byte_len = datatype.byte_len;
    match &datatype.class {
        Class::Integer(bits) | Class::BitField(bits) => integer(byte_len, *bits),
        Class::Enum { base, .. } => stored(base),
        Class::Float(format) => float(byte_len, format),
        Class::Text(_) if byte_len == 1 => Some(StoredType::Char),
        Class::Text(Padding::NulPadded) => {
            Some(StoredType::Text { byte_len, encoding: TextEncoding::NulPaddedEmpty })
        }
        Class::Text(Padding::SpacePadded) => {
            Some(StoredType::Text { byte_len, encoding: TextEncoding::SpacePadded })
        }
        Class::Opaque => Some(StoredType::Opaque { byte_len }),
        Class::Compound(members) if !members.is_empty() => {
            let fields = members.iter().map(|member| field(member.offset, &member.datatype));
            Some(StoredType::Compound { byte_len, fields: fields.collect::<Option<_>>()? })
        }
        Class::Complex(base) => {
            let fields = [field(0, base)?, field(base.byte_len, base)?];
            Some(StoredType::Compound { byte_len, fields: fields.into() })
        }
        // Text that ends at its first NUL has no form in the engine, which looks for the last byte that is no padding.
        Class::Text(Padding::NulTerminated) | Class::Compound(_) | Class::Array { .. } => None,
        Class::Time | Class::VlenText(_) | Class::Vlen(_) | Class::Reference(_) => None,
    }
}

fn field(offset: u64, datatype: &Datatype) -> Option<StoredField> {
    let (base, count) = flattened(datatype);
    Some(StoredField { offset, stored: stored(base)?, count })
}

fn integer(byte_len: u64, bits: Bits) -> Option<StoredType> {
    let size = u8::try_from(byte_len).ok().filter(|size| matches!(size, 1 | 2 | 4 | 8))?;
    let Bits { order, signed, .. } = bits;
    is_whole(byte_len, bits).then_some(StoredType::Integer { size, signed, order })
}

/// Whether an integer takes all bits of its bytes.
pub(super) fn is_whole(byte_len: u64, bits: Bits) -> bool {
    bits.offset == 0 && u64::from(bits.precision) == byte_len * 8
}

fn float(byte_len: u64, format: &FloatFormat) -> Option<StoredType> {
    let order = byte_order(format.order)?;
    Some(match known(byte_len, format)? {
        Known::BFloat16 => StoredType::BFloat16 { order },
        Known::Half => StoredType::Float { size: 2, order },
        Known::Single => StoredType::Float { size: 4, order },
        Known::Double => StoredType::Float { size: 8, order },
    })
}

pub(super) fn byte_order(order: FloatOrder) -> Option<ByteOrder> {
    match order {
        FloatOrder::Little => Some(ByteOrder::Little),
        FloatOrder::Big => Some(ByteOrder::Big),
        FloatOrder::Vax => None,
    }
}

//! Element forms that the engine copies and decodes itself.
use super::float::{KnownFloat, known};
use super::native::flattened;
use crate::datatypes::{BitField, Datatype, DatatypeClass, FloatFormat, FloatOrder, StringPadding};
use ncirrus_layout::{ByteOrder, StoredField, StoredType, TextEncoding};

/// The form that the engine can copy; `None` if [`values`](super::values) must decode the elements.
pub(crate) fn stored(datatype: &Datatype) -> Option<StoredType> {
    let byte_len = datatype.byte_len;
    match &datatype.class {
        DatatypeClass::Integer(bits) | DatatypeClass::BitField(bits) => integer(byte_len, *bits),
        DatatypeClass::Enum { base, .. } => stored(base),
        DatatypeClass::Float(format) => float(byte_len, format),
        DatatypeClass::Text(_) if byte_len == 1 => Some(StoredType::Char),
        DatatypeClass::Text(StringPadding::NulPadded) => {
            Some(StoredType::Text { byte_len, encoding: TextEncoding::NulPaddedEmpty })
        }
        DatatypeClass::Text(StringPadding::SpacePadded) => {
            Some(StoredType::Text { byte_len, encoding: TextEncoding::SpacePadded })
        }
        DatatypeClass::Opaque => Some(StoredType::Opaque { byte_len }),
        DatatypeClass::Compound(members) if !members.is_empty() => {
            let fields = members.iter().map(|member| field(member.offset, &member.datatype));
            Some(StoredType::Compound { byte_len, fields: fields.collect::<Option<_>>()? })
        }
        DatatypeClass::Complex(base) => {
            let fields = [field(0, base)?, field(base.byte_len, base)?];
            Some(StoredType::Compound { byte_len, fields: fields.into() })
        }
        // Text that ends at its first NUL has no form in the engine, which looks for the last byte that is not
        // padding.
        DatatypeClass::Text(StringPadding::NulTerminated)
        | DatatypeClass::Compound(_)
        | DatatypeClass::Array { .. } => None,
        DatatypeClass::Time
        | DatatypeClass::VlenText(_)
        | DatatypeClass::Vlen(_)
        | DatatypeClass::Reference(_) => None,
    }
}

fn field(offset: u64, datatype: &Datatype) -> Option<StoredField> {
    let (base, count) = flattened(datatype);
    Some(StoredField { offset, stored: stored(base)?, count })
}

fn integer(byte_len: u64, bits: BitField) -> Option<StoredType> {
    let size = u8::try_from(byte_len).ok().filter(|size| matches!(size, 1 | 2 | 4 | 8))?;
    let BitField { order, signed, .. } = bits;
    is_whole(byte_len, bits).then_some(StoredType::Integer { size, signed, order })
}

/// Whether an integer uses all bits of its bytes.
pub(super) fn is_whole(byte_len: u64, bits: BitField) -> bool {
    bits.offset == 0 && u64::from(bits.precision) == byte_len * 8
}

fn float(byte_len: u64, format: &FloatFormat) -> Option<StoredType> {
    let order = byte_order(format.order)?;
    Some(match known(byte_len, format)? {
        KnownFloat::BFloat16 => StoredType::BFloat16 { order },
        KnownFloat::Half => StoredType::Float { size: 2, order },
        KnownFloat::Single => StoredType::Float { size: 4, order },
        KnownFloat::Double => StoredType::Float { size: 8, order },
    })
}

pub(super) fn byte_order(order: FloatOrder) -> Option<ByteOrder> {
    match order {
        FloatOrder::Little => Some(ByteOrder::Little),
        FloatOrder::Big => Some(ByteOrder::Big),
        FloatOrder::Vax => None,
    }
}

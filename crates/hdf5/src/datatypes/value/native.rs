//! Datatypes in the data model (docs/spec/hdf5-netcdf4.md D.4).
use super::float;
use crate::datatypes::{BitField, Datatype, DatatypeClass, FloatFormat, NativeType};
use ncirrus_layout::{Error, Result};
use ncirrus_model::Atomic;

/// The data model's type for values of a datatype.
pub(crate) fn native(datatype: &Datatype) -> NativeType {
    match &datatype.class {
        DatatypeClass::Integer(bits) | DatatypeClass::BitField(bits) => {
            integer_type(datatype.byte_len, *bits).map_or_else(|| too_wide(*bits), NativeType::Atomic)
        }
        DatatypeClass::Enum { base, .. } => match native(base) {
            NativeType::Atomic(base) => NativeType::Enum(base),
            other => other,
        },
        DatatypeClass::Float(format) => {
            float_type(datatype.byte_len, format).map_or_else(|| odd_float(format), NativeType::Atomic)
        }
        DatatypeClass::Time => NativeType::None("time datatypes (class 2) are not supported".to_owned()),
        DatatypeClass::Text(_) if datatype.byte_len == 1 => NativeType::Atomic(Atomic::Char),
        DatatypeClass::Text(_) | DatatypeClass::VlenText(_) => NativeType::Atomic(Atomic::String),
        DatatypeClass::Opaque => NativeType::Opaque,
        DatatypeClass::Compound(members) if members.is_empty() => {
            NativeType::None("a compound without members".to_owned())
        }
        DatatypeClass::Compound(members) => {
            let missing = |name: &str, of| match native(of) {
                NativeType::None(reason) => Some(NativeType::None(format!("member {name}: {reason}"))),
                _ => None,
            };
            let missing = members.iter().find_map(|member| missing(&member.name, &member.datatype));
            missing.unwrap_or(NativeType::Compound)
        }
        DatatypeClass::Complex(base) => within(base, NativeType::Compound),
        DatatypeClass::Array { base, .. } => within(base, NativeType::Array),
        DatatypeClass::Vlen(base) if matches!(base.class, DatatypeClass::Array { .. }) => {
            NativeType::None("sequences of arrays are not supported".to_owned())
        }
        DatatypeClass::Vlen(base) => within(base, NativeType::Vlen),
        DatatypeClass::Reference(_) => NativeType::Reference,
    }
}

/// The same, for bases of any kind.
fn within(base: &Datatype, whole: NativeType) -> NativeType {
    match native(base) {
        NativeType::None(reason) => NativeType::None(reason),
        _ => whole,
    }
}

/// The smallest integer type with that many bytes, or at least that many bits.
pub(super) fn integer_type(byte_len: u64, bits: BitField) -> Option<Atomic> {
    let (signed, unsigned) = match byte_len {
        1 => (Atomic::Byte, Atomic::UByte),
        2 => (Atomic::Short, Atomic::UShort),
        3 | 4 => (Atomic::Int, Atomic::UInt),
        _ if byte_len <= 8 || bits.precision <= 64 => (Atomic::Int64, Atomic::UInt64),
        _ => return None,
    };
    Some(if bits.signed { signed } else { unsigned })
}

fn too_wide(bits: BitField) -> NativeType {
    NativeType::None(format!("integers of {} bits are not supported", bits.precision))
}

/// Float for formats that fit without loss, double for all others.
pub(super) fn float_type(byte_len: u64, format: &FloatFormat) -> Option<Atomic> {
    match float::known(byte_len, format) {
        Some(float::KnownFloat::Half | float::KnownFloat::BFloat16 | float::KnownFloat::Single) => {
            Some(Atomic::Float)
        }
        Some(float::KnownFloat::Double) => Some(Atomic::Double),
        None => float::is_decodable(format).then_some(Atomic::Double),
    }
}

fn odd_float(format: &FloatFormat) -> NativeType {
    let (exponent, mantissa) = (format.exponent.1, format.mantissa.1);
    NativeType::None(format!(
        "floating-point numbers with an exponent of {exponent} and a mantissa of {mantissa} bits are not supported"
    ))
}

/// The base of an array type, however deeply arrays are nested, and the number of its elements; otherwise the type
/// itself.
pub(super) fn flattened(datatype: &Datatype) -> (&Datatype, u64) {
    let (mut base, mut count) = (datatype, 1_u64);
    while let DatatypeClass::Array { dims, base: inner } = &base.class {
        count = dims.iter().fold(count, |count, len| count.saturating_mul(*len));
        base = inner;
    }
    (base, count)
}

/// Bytes of one element in memory.
pub(super) fn len_of(datatype: &Datatype) -> Result<usize> {
    let len = usize::try_from(datatype.byte_len).ok().filter(|len| *len > 0);
    len.ok_or_else(|| Error::limit(format!("elements of {} bytes", datatype.byte_len)))
}

//! What values of a datatype are in the data model (docs/spec/hdf5-netcdf4.md D.4).
use super::float;
use crate::word::{Bits, Class, Datatype, FloatFormat, Native};
use ncirrus_layout::{Error, Result};
use ncirrus_model::Atomic;

/// What values of a datatype are in the data model.
pub(crate) fn native(datatype: &Datatype) -> Native {
    match &datatype.class {
        Class::Integer(bits) | Class::BitField(bits) => {
            integer_type(datatype.byte_len, *bits).map_or_else(|| too_wide(*bits), Native::Atomic)
        }
        Class::Enum { base, .. } => match native(base) {
            Native::Atomic(base) => Native::Enum(base),
            other => other,
        },
        Class::Float(format) => {
            float_type(datatype.byte_len, format).map_or_else(|| odd_float(format), Native::Atomic)
        }
        Class::Time => Native::None("times of class 2 are not supported".to_owned()),
        Class::Text(_) if datatype.byte_len == 1 => Native::Atomic(Atomic::Char),
        Class::Text(_) | Class::VlenText(_) => Native::Atomic(Atomic::String),
        Class::Opaque => Native::Opaque,
        Class::Compound(members) if members.is_empty() => {
            Native::None("a compound without members".to_owned())
        }
        Class::Compound(members) => {
            let missing = |name: &str, of| match native(of) {
                Native::None(reason) => Some(Native::None(format!("member {name}: {reason}"))),
                _ => None,
            };
            let missing = members.iter().find_map(|member| missing(&member.name, &member.datatype));
            missing.unwrap_or(Native::Compound)
        }
        Class::Complex(base) => within(base, Native::Compound),
        Class::Array { base, .. } => within(base, Native::Array),
        Class::Vlen(base) if matches!(base.class, Class::Array { .. }) => {
            Native::None("sequences of arrays are not supported".to_owned())
        }
        Class::Vlen(base) => within(base, Native::Vlen),
        Class::Reference(_) => Native::Reference,
    }
}

/// The one, where the base is anything.
fn within(base: &Datatype, whole: Native) -> Native {
    match native(base) {
        Native::None(reason) => Native::None(reason),
        _ => whole,
    }
}

/// The smallest integer type that has the bytes, or at least the bits.
pub(super) fn integer_type(byte_len: u64, bits: Bits) -> Option<Atomic> {
    let (signed, unsigned) = match byte_len {
        1 => (Atomic::Byte, Atomic::UByte),
        2 => (Atomic::Short, Atomic::UShort),
        3 | 4 => (Atomic::Int, Atomic::UInt),
        _ if byte_len <= 8 || bits.precision <= 64 => (Atomic::Int64, Atomic::UInt64),
        _ => return None,
    };
    Some(if bits.signed { signed } else { unsigned })
}

fn too_wide(bits: Bits) -> Native {
    Native::None(format!("integers of {} bits are not supported", bits.precision))
}

/// Float for those that lose nothing there by design, double for all others.
pub(super) fn float_type(byte_len: u64, format: &FloatFormat) -> Option<Atomic> {
    match float::known(byte_len, format) {
        Some(float::Known::Half | float::Known::BFloat16 | float::Known::Single) => Some(Atomic::Float),
        Some(float::Known::Double) => Some(Atomic::Double),
        None => float::is_decodable(format).then_some(Atomic::Double),
    }
}

fn odd_float(format: &FloatFormat) -> Native {
    let (exponent, mantissa) = (format.exponent.1, format.mantissa.1);
    Native::None(format!(
        "floating-point numbers with an exponent of {exponent} and a mantissa of {mantissa} bits are not supported"
    ))
}

/// The base of an array type, however often arrays are nested, and how many of it there are; else the type itself.
pub(super) fn flattened(datatype: &Datatype) -> (&Datatype, u64) {
    let (mut base, mut count) = (datatype, 1_u64);
    while let Class::Array { dims, base: inner } = &base.class {
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

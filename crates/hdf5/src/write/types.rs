//! Datatypes for the types of the data model, and their messages (docs/spec/hdf5-netcdf4.md D.2, H.5, I.1).
mod encode;

pub(crate) use encode::encode_datatype;

use crate::datatypes::{
    BitField, CompoundMember, Datatype, DatatypeClass, EnumValue, FloatFormat, FloatOrder, MantissaNorm,
    StringPadding,
};
use ncirrus_layout::{ByteOrder, Error, Result};
use ncirrus_model::{Atomic, Endianness, EnumMember, Field, Model, TypeRef, UserKind};

/// Size of a variable-length element: a count, an address, an index.
const VLEN_LEN: u64 = 16;
/// Maximum nesting of types.
const MAX_DEPTH: u32 = 64;
/// Maximum number of members of a compound or enumeration.
const MAX_MEMBERS: usize = 65_535;

/// The datatype that stores values of a type: char as text of one byte, string as text of variable length, compounds
/// with their fields at the offsets that a C compiler gives them. The byte order applies to numbers; user-defined
/// types have the machine's own.
///
/// # Errors
/// If the type is unknown, or HDF5 cannot describe it.
pub(crate) fn datatype_of(model: &Model, ty: TypeRef, order: Endianness) -> Result<Datatype> {
    Ok(laid_out(model, ty, order, MAX_DEPTH)?.datatype)
}

/// A datatype, and its alignment in memory.
struct LaidOut {
    datatype: Datatype,
    align: u64,
}

impl LaidOut {
    fn of(byte_len: u64, align: u64, class: DatatypeClass) -> Self {
        Self { datatype: Datatype { byte_len, class, committed: None }, align }
    }
}

fn laid_out(model: &Model, ty: TypeRef, order: Endianness, depth: u32) -> Result<LaidOut> {
    let depth = depth.checked_sub(1).ok_or_else(|| Error::invalid("types that are nested too deeply"))?;
    let id = match ty {
        TypeRef::Atomic(atomic) => return Ok(of_atomic(atomic, order)),
        TypeRef::User(id) => id,
    };
    let user = model.user_type(id).ok_or_else(|| Error::not_found("the type is not defined"))?;
    let made = match &user.kind {
        UserKind::Enum { base, members } => enumeration(*base, members),
        UserKind::Opaque(len) => sized(*len).map(|len| LaidOut::of(len, 1, DatatypeClass::Opaque)),
        UserKind::Vlen(base) => laid_out(model, *base, Endianness::Native, depth)
            .map(|base| LaidOut::of(VLEN_LEN, 8, DatatypeClass::Vlen(Box::new(base.datatype)))),
        UserKind::Compound(fields) => compound(model, fields, depth),
    };
    made.map_err(|error| error.reworded(|fact| format!("type {}: {fact}", user.name)))
}

fn of_atomic(atomic: Atomic, order: Endianness) -> LaidOut {
    let byte_len = atomic.byte_len().map_or(VLEN_LEN, |len| len as u64);
    let order = byte_order(order);
    let class = match atomic {
        Atomic::Char => DatatypeClass::Text(StringPadding::NulTerminated),
        Atomic::String => DatatypeClass::VlenText(StringPadding::NulTerminated),
        Atomic::Float => DatatypeClass::Float(ieee(order, 32, (23, 8), 127)),
        Atomic::Double => DatatypeClass::Float(ieee(order, 64, (52, 11), 1023)),
        Atomic::Byte | Atomic::Short | Atomic::Int | Atomic::Int64 => integer(byte_len, true, order),
        Atomic::UByte | Atomic::UShort | Atomic::UInt | Atomic::UInt64 => integer(byte_len, false, order),
    };
    LaidOut::of(byte_len, byte_len.min(8), class)
}

fn byte_order(order: Endianness) -> ByteOrder {
    match order {
        Endianness::Native => ByteOrder::NATIVE,
        Endianness::Little => ByteOrder::Little,
        Endianness::Big => ByteOrder::Big,
    }
}

fn integer(byte_len: u64, signed: bool, order: ByteOrder) -> DatatypeClass {
    let precision = u16::try_from(8 * byte_len).unwrap_or(u16::MAX);
    // One byte has no byte order: it is called little-endian, as in HDF5.
    let order = if byte_len == 1 { ByteOrder::Little } else { order };
    DatatypeClass::Integer(BitField { order, signed, offset: 0, precision })
}

fn ieee(order: ByteOrder, precision: u8, exponent: (u8, u8), bias: u32) -> FloatFormat {
    let order = match order {
        ByteOrder::Little => FloatOrder::Little,
        ByteOrder::Big => FloatOrder::Big,
    };
    let (sign, mantissa) = (precision - 1, (0, exponent.0));
    let precision = u16::from(precision);
    FloatFormat { order, offset: 0, precision, sign, exponent, mantissa, bias, norm: MantissaNorm::Implied }
}

fn enumeration(base: Atomic, members: &[EnumMember]) -> Result<LaidOut> {
    if !base.is_integer() {
        return Err(Error::invalid(format!("an enumeration of {}", base.name())));
    }
    check_members(members.iter().map(|member| member.name.as_str()))?;
    let LaidOut { datatype: base, align } = of_atomic(base, Endianness::Native);
    let value = |member: &EnumMember| EnumValue { name: member.name.clone(), value: member.value };
    let members = members.iter().map(value).collect();
    Ok(LaidOut::of(base.byte_len, align, DatatypeClass::Enum { base: Box::new(base), members }))
}

fn compound(model: &Model, fields: &[Field], depth: u32) -> Result<LaidOut> {
    check_members(fields.iter().map(|field| field.name.as_str()))?;
    let (mut end, mut widest) = (0u64, 1);
    let mut members = Vec::with_capacity(fields.len());
    for field in fields {
        let LaidOut { datatype, align } = laid_out(model, field.ty, Endianness::Native, depth)?;
        let datatype = arrayed(datatype, field)?;
        let offset = end.next_multiple_of(align);
        end = sized(offset.saturating_add(datatype.byte_len))?;
        widest = widest.max(align);
        members.push(CompoundMember { name: field.name.clone(), offset, datatype });
    }
    let byte_len = sized(end.next_multiple_of(widest))?;
    Ok(LaidOut::of(byte_len, widest, DatatypeClass::Compound(members.into())))
}

/// The datatype of a field: an array if it has dimensions.
fn arrayed(base: Datatype, field: &Field) -> Result<Datatype> {
    if field.dims.is_empty() {
        return Ok(base);
    }
    if let Some(len) = field.dims.iter().find(|len| **len == 0 || u32::try_from(**len).is_err()) {
        return Err(Error::invalid(format!("field {} has a dimension of length {len}", field.name)));
    }
    let byte_len = sized(base.byte_len.saturating_mul(field.element_count()))?;
    let class = DatatypeClass::Array { dims: field.dims.clone(), base: Box::new(base) };
    Ok(Datatype { byte_len, class, committed: None })
}

/// Size of an element, if it is allowed.
fn sized(byte_len: u64) -> Result<u64> {
    match u32::try_from(byte_len) {
        Ok(1..) => Ok(byte_len),
        _ => Err(Error::unsupported(format!("an element of {byte_len} bytes: HDF5 has 1 to {}", u32::MAX))),
    }
}

fn check_members<'a>(names: impl ExactSizeIterator<Item = &'a str>) -> Result<()> {
    if names.len() == 0 || names.len() > MAX_MEMBERS {
        return Err(Error::unsupported(format!("{} members: HDF5 has 1 to {MAX_MEMBERS}", names.len())));
    }
    match names.into_iter().find(|name| name.contains('\0')) {
        Some(name) => Err(Error::invalid(format!("a member with a NUL in its name {name:?}"))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;

//! Datatypes for the types of the data model, and their messages (hdf5-netcdf4.md D.2, H.5, I.1).
use super::out::Out;
use crate::word::{
    Bits, Class, Datatype, EnumValue, FloatFormat, FloatOrder, Member, Norm, Padding, ReferenceKind,
};
use ncirrus_layout::{ByteOrder, Error, Result};
use ncirrus_model::{Atomic, Endianness, EnumMember, Field, Model, TypeRef, UserKind};

/// How deep types may be nested.
const MOST_DEPTH: u32 = 32;
/// Bytes of an element that refers to a heap: a length, an address, an index.
const REFERRING: u64 = 16;

/// The datatype that stores values of a type: char as text of one byte, string as text of any length, compounds with
/// their fields at the offsets that a C compiler gives them. User-defined types are of the machine's order.
///
/// # Errors
/// When the type is not there, has no elements, or is nested too deeply.
pub(crate) fn datatype_of(model: &Model, ty: TypeRef, order: Endianness) -> Result<Datatype> {
    convert(model, ty, order, 0)
}

fn convert(model: &Model, ty: TypeRef, order: Endianness, depth: u32) -> Result<Datatype> {
    if depth > MOST_DEPTH {
        return Err(Error::limit(format!("types nested more than {MOST_DEPTH} deep")));
    }
    let id = match ty {
        TypeRef::Atomic(atomic) => return Ok(atomic_type(atomic, order)),
        TypeRef::User(id) => id,
    };
    let user = model.user_type(id).ok_or_else(|| Error::not_found("the type is not defined"))?;
    Ok(match &user.kind {
        UserKind::Opaque(0) => {
            return Err(Error::unsupported(format!("opaque type {:?} of no bytes", user.name)));
        }
        UserKind::Opaque(byte_len) => made(*byte_len, Class::Opaque),
        UserKind::Enum { base, members } => enumeration(*base, members),
        UserKind::Vlen(base) => {
            made(REFERRING, Class::Vlen(Box::new(convert(model, *base, Endianness::Native, depth + 1)?)))
        }
        UserKind::Compound(fields) => compound(model, &user.name, fields, depth)?,
    })
}

fn made(byte_len: u64, class: Class) -> Datatype {
    Datatype { byte_len, class, committed: None }
}

fn atomic_type(atomic: Atomic, order: Endianness) -> Datatype {
    let order = match order {
        Endianness::Native => ByteOrder::NATIVE,
        Endianness::Little => ByteOrder::Little,
        Endianness::Big => ByteOrder::Big,
    };
    let integer = |bytes: u8, signed: bool| {
        let order = if bytes == 1 { ByteOrder::Little } else { order };
        let bits = Bits { order, signed, offset: 0, precision: u16::from(bytes) * 8 };
        made(u64::from(bytes), Class::Integer(bits))
    };
    match atomic {
        Atomic::Byte => integer(1, true),
        Atomic::UByte => integer(1, false),
        Atomic::Short => integer(2, true),
        Atomic::UShort => integer(2, false),
        Atomic::Int => integer(4, true),
        Atomic::UInt => integer(4, false),
        Atomic::Int64 => integer(8, true),
        Atomic::UInt64 => integer(8, false),
        Atomic::Float => float(order, 4, 31, (23, 8), (0, 23), 127),
        Atomic::Double => float(order, 8, 63, (52, 11), (0, 52), 1023),
        Atomic::Char => made(1, Class::Text(Padding::NulTerminated)),
        Atomic::String => made(REFERRING, Class::VlenText(Padding::NulTerminated)),
    }
}

fn float(
    order: ByteOrder,
    bytes: u8,
    sign: u8,
    exponent: (u8, u8),
    mantissa: (u8, u8),
    bias: u32,
) -> Datatype {
    let order = match order {
        ByteOrder::Little => FloatOrder::Little,
        ByteOrder::Big => FloatOrder::Big,
    };
    let precision = u16::from(bytes) * 8;
    let format =
        FloatFormat { order, offset: 0, precision, sign, exponent, mantissa, bias, norm: Norm::Implied };
    made(u64::from(bytes), Class::Float(format))
}

fn enumeration(base: Atomic, members: &[EnumMember]) -> Datatype {
    let base = atomic_type(base, Endianness::Native);
    let members = members.iter().map(|member| EnumValue { name: member.name.clone(), value: member.value });
    made(base.byte_len, Class::Enum { base: Box::new(base), members: members.collect() })
}

fn compound(model: &Model, name: &str, fields: &[Field], depth: u32) -> Result<Datatype> {
    let too_long = || Error::limit(format!("compound type {name:?} is longer than 4 GiB"));
    let (mut end, mut widest) = (0u64, 1u64);
    let mut members = Vec::with_capacity(fields.len());
    for field in fields {
        let base = convert(model, field.ty, Endianness::Native, depth + 1)?;
        let align = alignment(&base);
        let datatype = match field.dims.as_slice() {
            [] => base,
            dims => {
                let len = base.byte_len.checked_mul(field.element_count()).ok_or_else(too_long)?;
                made(len, Class::Array { dims: dims.to_vec(), base: Box::new(base) })
            }
        };
        let offset = end.next_multiple_of(align);
        end = offset.checked_add(datatype.byte_len).filter(|end| *end < 1 << 31).ok_or_else(too_long)?;
        widest = widest.max(align);
        members.push(Member { name: field.name.clone(), offset, datatype });
    }
    if end == 0 {
        return Err(Error::unsupported(format!("compound type {name:?} without elements")));
    }
    Ok(made(end.next_multiple_of(widest), Class::Compound(members.into())))
}

/// What a C compiler aligns a value to.
fn alignment(datatype: &Datatype) -> u64 {
    match &datatype.class {
        Class::Integer(_) | Class::Float(_) | Class::Enum { .. } => datatype.byte_len.clamp(1, 8),
        Class::Vlen(_) | Class::VlenText(_) => 8,
        Class::Compound(members) => {
            members.iter().map(|member| alignment(&member.datatype)).max().unwrap_or(1)
        }
        Class::Array { base, .. } => alignment(base),
        _ => 1,
    }
}

/// The bytes of a datatype message.
///
/// # Errors
/// `Unsupported` for what no model's type becomes, `Limit` for what does not fit the fields of the message.
pub(crate) fn encode_datatype(datatype: &Datatype) -> Result<Vec<u8>> {
    let mut out = Out::new();
    encode(&mut out, datatype)?;
    Ok(out.finish().into())
}

fn encode(out: &mut Out, datatype: &Datatype) -> Result<()> {
    let version = version(datatype);
    let size = u32::try_from(datatype.byte_len)
        .map_err(|_| Error::limit(format!("an element of {} bytes", datatype.byte_len)))?;
    let mut head = |class: u8, bits: u32| {
        out.u8(version << 4 | class).uint(u64::from(bits), 3).u32(size);
    };
    match &datatype.class {
        Class::Integer(bits) => {
            head(0, u32::from(bits.order == ByteOrder::Big) | u32::from(bits.signed) << 3);
            out.u16(bits.offset).u16(bits.precision);
        }
        Class::BitField(bits) => {
            head(4, u32::from(bits.order == ByteOrder::Big));
            out.u16(bits.offset).u16(bits.precision);
        }
        Class::Float(format) => {
            head(1, float_bits(format));
            out.u16(format.offset).u16(format.precision);
            out.u8(format.exponent.0).u8(format.exponent.1).u8(format.mantissa.0).u8(format.mantissa.1);
            out.u32(format.bias);
        }
        Class::Text(padding) => head(3, padding_bits(*padding)),
        Class::VlenText(padding) => {
            head(9, 1 | padding_bits(*padding) << 4 | UTF8 << 8);
            encode(out, &atomic_type(Atomic::UByte, Endianness::Little))?;
        }
        Class::Opaque => head(5, 0),
        Class::Reference(ReferenceKind::Object) => head(7, 0),
        Class::Compound(members) => {
            head(6, count(members.len())?);
            for member in members.iter() {
                text(out, &member.name);
                out.uint(member.offset, offset_width(datatype.byte_len));
                encode(out, &member.datatype)?;
            }
        }
        Class::Enum { base, members } => {
            head(8, count(members.len())?);
            encode(out, base)?;
            members.iter().for_each(|member| text(out, &member.name));
            for member in members.iter() {
                enum_value(out, base, member.value);
            }
        }
        Class::Vlen(base) => {
            head(9, 0);
            encode(out, base)?;
        }
        Class::Array { dims, base } => {
            head(10, 0);
            out.u8(
                u8::try_from(dims.len()).map_err(|_| Error::limit("an array of more than 255 dimensions"))?
            );
            for len in dims {
                out.u32(
                    u32::try_from(*len).map_err(|_| Error::limit(format!("an array of {len} elements")))?,
                );
            }
            encode(out, base)?;
        }
        Class::Time | Class::Complex(_) | Class::Reference(_) => {
            return Err(Error::unsupported(format!("writing of datatype {:?}", datatype.class)));
        }
    }
    Ok(())
}

/// The lowest version that has the class, for all that is inside.
fn version(datatype: &Datatype) -> u8 {
    match &datatype.class {
        Class::Compound(_) | Class::Enum { .. } | Class::Array { .. } => 3,
        Class::Vlen(base) => version(base),
        _ => 1,
    }
}

fn float_bits(format: &FloatFormat) -> u32 {
    let order = match format.order {
        FloatOrder::Little => 0,
        FloatOrder::Big => 1,
        FloatOrder::Vax => 0x41,
    };
    let norm = match format.norm {
        Norm::None => 0,
        Norm::MsbSet => 1,
        Norm::Implied => 2,
    };
    order | norm << 4 | u32::from(format.sign) << 8
}

fn padding_bits(padding: Padding) -> u32 {
    match padding {
        Padding::NulTerminated => 0,
        Padding::NulPadded => 1,
        Padding::SpacePadded => 2,
    }
}

fn count(members: usize) -> Result<u32> {
    let fits = u16::try_from(members).map_err(|_| Error::unsupported(format!("a type of {members} members")));
    Ok(u32::from(fits?))
}

fn text(out: &mut Out, text: &str) {
    out.bytes(text.as_bytes()).u8(0);
}

/// The value of an enum's member in the order of its base.
fn enum_value(out: &mut Out, base: &Datatype, value: i128) {
    let len = usize::try_from(base.byte_len).unwrap_or(8).min(8);
    let mut bytes = value.to_le_bytes();
    let Some(bytes) = bytes.get_mut(..len) else { return };
    if let Class::Integer(Bits { order: ByteOrder::Big, .. }) = base.class {
        bytes.reverse();
    }
    out.bytes(bytes);
}

/// Bytes that hold every offset in a compound of that length.
fn offset_width(byte_len: u64) -> usize {
    match byte_len {
        0..=0xff => 1,
        0x100..=0xffff => 2,
        0x1_0000..=0xff_ffff => 3,
        _ => 4,
    }
}

const UTF8: u32 = 1;

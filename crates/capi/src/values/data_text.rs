//! Values in C's memory as text, as `nc_dump_data` writes them for those who look for faults.
use crate::c_types::codes::{Code, NC_EBADTYPE, NC_EINVAL, Outcome};
use crate::c_types::memory::{BytesOut, TextOut};
use crate::definitions::layouts;
use crate::definitions::types::type_in;
use crate::files::group_of;
use crate::files::members::{FileMembers, atomic_of};
use ncirrus::{Field, TypeRef, UserKind, Values};
use std::ffi::c_int;

/// The longest text of one number.
const LONGEST: usize = 127;
/// Deepest nesting of types.
const DEPTH: u32 = 32;

/// `nc_dump_data`: the text is the program's; of no values there is none.
pub(crate) fn dump(ncid: c_int, ty: c_int, memory: BytesOut, count: usize, out: TextOut) -> Outcome<()> {
    if ncid < 0 || ty <= 0 || memory.is_null() && count > 0 {
        return Err(Code(NC_EINVAL));
    }
    if count == 0 {
        return out.set(None);
    }
    let text = match atomic_of(ty) {
        Some(atomic) => {
            // Known without a file.
            let members = FileMembers::of(std::sync::Arc::default());
            text_of(&members, atomic.into(), memory, count)?
        }
        None => {
            let at = group_of(ncid)?;
            let id = type_in(&at, ty)?;
            text_of(&at.members, id, memory, count)?
        }
    };
    out.set(Some(&text))
}

fn text_of(members: &FileMembers, ty: TypeRef, memory: BytesOut, count: usize) -> Outcome<Vec<u8>> {
    let len = layouts::size_of_type(members, ty)?.len.checked_mul(count).ok_or(Code(NC_EINVAL))?;
    let values = layouts::values(members, ty, memory.as_bytes().read(len)?)?;
    let mut text = Vec::new();
    add_all(&mut text, members, ty, &values, DEPTH)?;
    Ok(text)
}

/// Values with blanks between them.
fn add_all(
    text: &mut Vec<u8>,
    members: &FileMembers,
    ty: TypeRef,
    values: &Values,
    depth: u32,
) -> Outcome<()> {
    for index in 0..values.len() {
        if index > 0 {
            text.push(b' ');
        }
        add(text, members, ty, values, index, depth)?;
    }
    Ok(())
}

fn add(
    text: &mut Vec<u8>,
    members: &FileMembers,
    ty: TypeRef,
    values: &Values,
    index: usize,
    depth: u32,
) -> Outcome<()> {
    let depth = depth.checked_sub(1).ok_or(Code(NC_EBADTYPE))?;
    let kind = match ty {
        TypeRef::Atomic(_) => None,
        TypeRef::User(id) => Some(&members.model.user_type(id).ok_or(Code(NC_EBADTYPE))?.kind),
    };
    let one = values.slice(index..index.saturating_add(1));
    match (&one, kind) {
        (Values::Opaque { bytes, .. }, _) => {
            text.push(b'|');
            bytes.iter().for_each(|byte| text.extend(format!("{byte:2x}").bytes()));
            text.push(b'|');
        }
        (Values::Vlen { elements, .. }, Some(UserKind::Vlen(base))) => {
            text.extend(format!("{{len={},p=(", elements.len()).bytes());
            add_all(text, members, *base, elements, depth)?;
            text.extend(b")}");
        }
        (Values::Compound { fields: columns, .. }, Some(UserKind::Compound(fields))) => {
            text.push(b'<');
            for (number, (field, column)) in fields.iter().zip(columns).enumerate() {
                if number > 0 {
                    text.push(b';');
                }
                add_field_name(text, field);
                add_all(text, members, field.ty, column, depth)?;
            }
            text.push(b'>');
        }
        (plain, _) => add_plain(text, plain),
    }
    Ok(())
}

fn add_field_name(text: &mut Vec<u8>, field: &Field) {
    text.extend(field.name.bytes());
    field.dims.iter().for_each(|len| text.extend(format!("[{len}]").bytes()));
}

/// One number, character or text.
fn add_plain(text: &mut Vec<u8>, one: &Values) {
    match one {
        Values::Char(bytes) => {
            text.push(b'\'');
            if let Some(byte) = bytes.first().filter(|byte| **byte != 0) {
                text.extend([*byte, b'\'']);
            }
        }
        Values::String(strings) => {
            text.push(b'"');
            text.extend(strings.get(0).unwrap_or_default());
            text.push(b'"');
        }
        Values::Float(numbers) => numbers.iter().for_each(|number| add_float(text, f64::from(*number))),
        Values::Double(numbers) => numbers.iter().for_each(|number| add_float(text, *number)),
        numbers => text.extend(whole(numbers).bytes()),
    }
}

/// Six digits after the point, as C writes them.
fn add_float(text: &mut Vec<u8>, number: f64) {
    let sign = if number.is_sign_negative() { "-" } else { "" };
    let digits = match number {
        number if number.is_nan() => format!("{sign}nan"),
        number if number.is_infinite() => format!("{sign}inf"),
        number => format!("{number:.6}"),
    };
    text.extend(digits.bytes().take(LONGEST));
}

fn whole(numbers: &Values) -> String {
    let first = numbers.slice(0..1);
    match first {
        Values::Byte(numbers) => joined(&numbers),
        Values::UByte(numbers) => joined(&numbers),
        Values::Short(numbers) => joined(&numbers),
        Values::UShort(numbers) => joined(&numbers),
        Values::Int(numbers) => joined(&numbers),
        Values::UInt(numbers) => joined(&numbers),
        Values::Int64(numbers) => joined(&numbers),
        Values::UInt64(numbers) => joined(&numbers),
        _ => String::new(),
    }
}

fn joined<T: ToString>(numbers: &[T]) -> String {
    numbers.iter().map(ToString::to_string).collect()
}

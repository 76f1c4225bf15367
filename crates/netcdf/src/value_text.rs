//! Values as text, as netCDF-C's `nc_dump_data` writes them for those who look for faults.
use ncirrus_model::{Field, Model, TypeRef, UserKind, Values};

/// The longest text of one number.
const LONGEST: usize = 127;
/// Deepest nesting of types.
const DEPTH: u32 = 32;

/// Values of a type with blanks between them. `None` if the type is not defined, or nested too deeply.
pub fn of_values(model: &Model, ty: TypeRef, values: &Values) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    add_all(&mut text, model, ty, values, DEPTH)?;
    Some(text)
}

fn add_all(text: &mut Vec<u8>, model: &Model, ty: TypeRef, values: &Values, depth: u32) -> Option<()> {
    for index in 0..values.len() {
        if index > 0 {
            text.push(b' ');
        }
        add(text, model, ty, &values.slice(index..index.saturating_add(1)), depth)?;
    }
    Some(())
}

/// One value.
fn add(text: &mut Vec<u8>, model: &Model, ty: TypeRef, one: &Values, depth: u32) -> Option<()> {
    let depth = depth.checked_sub(1)?;
    let kind = match ty {
        TypeRef::Atomic(_) => None,
        TypeRef::User(id) => Some(&model.user_type(id)?.kind),
    };
    match (one, kind) {
        (Values::Opaque { bytes, .. }, _) => {
            text.push(b'|');
            bytes.iter().for_each(|byte| text.extend(format!("{byte:2x}").bytes()));
            text.push(b'|');
        }
        (Values::Vlen { elements, .. }, Some(UserKind::Vlen(base))) => {
            text.extend(format!("{{len={},p=(", elements.len()).bytes());
            add_all(text, model, *base, elements, depth)?;
            text.extend(b")}");
        }
        (Values::Compound { fields: columns, .. }, Some(UserKind::Compound(fields))) => {
            text.push(b'<');
            for (number, (field, column)) in fields.iter().zip(columns).enumerate() {
                if number > 0 {
                    text.push(b';');
                }
                add_field_name(text, field);
                add_all(text, model, field.ty, column, depth)?;
            }
            text.push(b'>');
        }
        (plain, _) => add_plain(text, plain),
    }
    Some(())
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
    match numbers.slice(0..1) {
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

#[cfg(test)]
mod tests {
    use super::of_values;
    use ncirrus_model::{Atomic, Model, Values};

    #[test]
    fn numbers_and_characters_are_written_as_c_writes_them() {
        let text = |ty: Atomic, values: Values| {
            String::from_utf8(of_values(&Model::new(), ty.into(), &values).unwrap()).unwrap()
        };
        assert_eq!(text(Atomic::Int, Values::Int(vec![1, -2])), "1 -2");
        assert_eq!(text(Atomic::Double, Values::Double(vec![0.5, -f64::INFINITY])), "0.500000 -inf");
        assert_eq!(text(Atomic::Char, Values::Char(b"a\0".to_vec())), "'a' '");
    }
}

//! One value of any type, as printed among data and in attributes of user-defined types (docs/spec/nczarr.md 12.2).
use crate::PrintOptions;
use crate::number::{write_double, write_float, write_integer};
use crate::text::{self, VerticalTab};
use ncirrus_model::{Field, Model, TypeRef, UserKind, Values};

/// Maximum nesting depth of values; deeper ones are cut.
const DEPTH_MAX: usize = 64;

/// Writes values according to their type.
#[derive(Clone, Copy)]
pub(crate) struct CellWriter<'m> {
    model: &'m Model,
    float_digits: usize,
    double_digits: usize,
}

impl<'m> CellWriter<'m> {
    pub(crate) fn new(model: &'m Model, options: &PrintOptions) -> Self {
        Self { model, float_digits: options.float_precision(), double_digits: options.double_precision() }
    }

    /// Writes `values[index]`, which is of type `ty`.
    pub(crate) fn write(&self, out: &mut Vec<u8>, ty: TypeRef, values: &Values, index: usize) {
        self.write_nested(out, ty, values, index, 0);
    }

    fn write_nested(&self, out: &mut Vec<u8>, ty: TypeRef, values: &Values, index: usize, depth: usize) {
        if depth > DEPTH_MAX {
            return out.extend_from_slice(b"{}");
        }
        match values {
            Values::Char(chars) => quoted(out, chars.get(index..=index).unwrap_or_default()),
            Values::String(strings) => text::write_string(out, strings.get(index), VerticalTab::AsNewline),
            Values::Float(v) => write_float(out, v.get(index).copied().unwrap_or(0.0), self.float_digits),
            Values::Double(v) => write_double(out, v.get(index).copied().unwrap_or(0.0), self.double_digits),
            Values::Opaque { size, bytes } => {
                let start = index.saturating_mul(*size);
                opaque(out, bytes.get(start..start.saturating_add(*size)).unwrap_or_default());
            }
            Values::Vlen { ends, elements } => {
                let start = index.checked_sub(1).and_then(|before| ends.get(before)).copied().unwrap_or(0);
                let end = ends.get(index).copied().unwrap_or(start);
                let base = match self.kind(ty) {
                    Some(UserKind::Vlen(base)) => *base,
                    _ => ty,
                };
                self.list(out, base, elements, start..end.max(start), depth);
            }
            Values::Compound { fields, .. } => self.compound(out, ty, fields, index, depth),
            integers => self.integer(out, ty, integers, index),
        }
    }

    /// An integer, as the name of the enum constant if its type has one for it, otherwise as a number.
    fn integer(&self, out: &mut Vec<u8>, ty: TypeRef, values: &Values, index: usize) {
        match self.kind(ty).and_then(|kind| kind.member_name(values, index)) {
            Some(name) => out.extend_from_slice(name.as_bytes()),
            None => write_integer(out, values.integer(index).unwrap_or(0)),
        }
    }

    fn compound(&self, out: &mut Vec<u8>, ty: TypeRef, columns: &[Values], index: usize, depth: usize) {
        let fields: &[Field] = match self.kind(ty) {
            Some(UserKind::Compound(fields)) => fields,
            _ => &[],
        };
        out.push(b'{');
        for (at, (field, column)) in fields.iter().zip(columns).enumerate() {
            if at > 0 {
                out.extend_from_slice(b", ");
            }
            if field.dims.is_empty() {
                self.write_nested(out, field.ty, column, index, depth + 1);
                continue;
            }
            let count = usize::try_from(field.element_count()).unwrap_or(usize::MAX);
            let start = index.saturating_mul(count);
            let range = start..start.saturating_add(count);
            match column {
                Values::Char(chars) => char_field(out, field, chars.get(range).unwrap_or_default()),
                _ => self.list(out, field.ty, column, range, depth),
            }
        }
        out.push(b'}');
    }

    fn list(
        &self,
        out: &mut Vec<u8>,
        ty: TypeRef,
        values: &Values,
        range: std::ops::Range<usize>,
        depth: usize,
    ) {
        out.push(b'{');
        for index in range.start..range.end.min(values.len()) {
            if index > range.start {
                out.extend_from_slice(b", ");
            }
            self.write_nested(out, ty, values, index, depth + 1);
        }
        out.push(b'}');
    }

    fn kind(&self, ty: TypeRef) -> Option<&'m UserKind> {
        match ty {
            TypeRef::User(id) => self.model.user_type(id).map(|ty| &ty.kind),
            TypeRef::Atomic(_) => None,
        }
    }
}

/// Rows of the last dimension, each in quotes.
fn char_field(out: &mut Vec<u8>, field: &Field, chars: &[u8]) {
    let row_len = field.dims.last().and_then(|len| usize::try_from(*len).ok()).unwrap_or(0).max(1);
    out.push(b'{');
    for (at, row) in chars.chunks(row_len).enumerate() {
        if at > 0 {
            out.extend_from_slice(b", ");
        }
        quoted(out, row);
    }
    out.push(b'}');
}

fn quoted(out: &mut Vec<u8>, chars: &[u8]) {
    out.push(b'"');
    // The reference ends the line after the backslash; ncgen reads that as a newline.
    text::write_char_data(out, text::trim_nuls(chars), b"\\\n");
    out.push(b'"');
}

fn opaque(out: &mut Vec<u8>, bytes: &[u8]) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    out.extend_from_slice(b"0X");
    for byte in bytes {
        out.extend_from_slice(&[HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]);
    }
}

//! Values as initializers of C.
use super::identifier::Identifiers;
use crate::number::{format_double, format_float};
use ncirrus_model::{Atomic, Field, Model, TypeRef, UserKind, Values};
use std::fmt::Write;

/// Nesting of values beyond which nothing is written; types nest less.
const DEPTH_MAX: usize = 64;

/// Writes initializers, and the arrays that those of variable length point to.
pub(super) struct CInitializers<'m> {
    model: &'m Model,
    names: &'m Identifiers,
    /// Lists so far, by which the arrays are numbered.
    lists: u64,
    /// Declarations of arrays that precede the declaration being written.
    pub(super) arrays: Vec<String>,
    /// Whether there was a number without a literal in C.
    pub(super) has_special: bool,
}

impl<'m> CInitializers<'m> {
    pub(super) fn new(model: &'m Model, names: &'m Identifiers) -> Self {
        Self { model, names, lists: 0, arrays: Vec::new(), has_special: false }
    }

    /// The name of a type in C.
    pub(super) fn type_name(&self, ty: TypeRef) -> &'m str {
        match ty {
            TypeRef::Atomic(atomic) => atomic_name(atomic),
            TypeRef::User(id) => self.names.types.get(&id).map_or("int", String::as_str),
        }
    }

    /// All values, in braces.
    pub(super) fn all(&mut self, ty: TypeRef, values: &Values) -> String {
        self.lists += 1;
        self.range(ty, values, 0..values.len(), 0)
    }

    /// The first value, in braces.
    pub(super) fn one(&mut self, ty: TypeRef, values: &Values) -> String {
        self.range(ty, values, 0..values.len().min(1), 0)
    }

    fn range(&mut self, ty: TypeRef, values: &Values, range: std::ops::Range<usize>, depth: usize) -> String {
        let items: Vec<String> = range.map(|index| self.value(ty, values, index, depth)).collect();
        format!("{{{}}}", items.join(", "))
    }

    fn value(&mut self, ty: TypeRef, values: &Values, index: usize, depth: usize) -> String {
        if depth > DEPTH_MAX {
            return "{0}".to_owned();
        }
        match values {
            Values::Vlen { ends, elements } => {
                let start = index.checked_sub(1).and_then(|before| ends.get(before)).copied().unwrap_or(0);
                let end = ends.get(index).copied().unwrap_or(start);
                self.vlen(ty, elements, start..end.max(start), depth)
            }
            Values::Compound { fields, .. } => self.compound(ty, fields, index, depth),
            other => {
                self.has_special |= match other {
                    Values::Float(all) => all.get(index).is_some_and(|value| !value.is_finite()),
                    Values::Double(all) => all.get(index).is_some_and(|value| !value.is_finite()),
                    _ => false,
                };
                constant(other, index)
            }
        }
    }

    fn vlen(
        &mut self,
        ty: TypeRef,
        elements: &Values,
        range: std::ops::Range<usize>,
        depth: usize,
    ) -> String {
        let base = match self.kind(ty) {
            Some(UserKind::Vlen(base)) => *base,
            _ => ty,
        };
        self.lists += 1;
        let (number, count) = (self.lists, range.len());
        let list = self.range(base, elements, range, depth + 1);
        let name = self.type_name(base);
        self.arrays.push(format!("static const {name} vlen_{number}[] = {list} ;"));
        format!("{{{count}, (void*)vlen_{number}}}")
    }

    fn compound(&mut self, ty: TypeRef, columns: &[Values], index: usize, depth: usize) -> String {
        self.lists += 1;
        let Some(UserKind::Compound(fields)) = self.kind(ty) else { return "{0}".to_owned() };
        let items: Vec<String> = fields
            .iter()
            .zip(columns)
            .map(|(field, column)| self.field(field, column, index, depth + 1))
            .collect();
        format!("{{{}}}", items.join(", "))
    }

    fn field(&mut self, field: &Field, column: &Values, index: usize, depth: usize) -> String {
        if field.dims.is_empty() {
            return self.value(field.ty, column, index, depth);
        }
        let count = usize::try_from(field.element_count()).unwrap_or(usize::MAX);
        let start = index.saturating_mul(count).min(column.len());
        let range = start..start.saturating_add(count).min(column.len());
        self.lists += 1;
        match column {
            Values::Char(chars) => string(chars.get(range).unwrap_or_default()),
            _ => self.range(field.ty, column, range, depth),
        }
    }

    fn kind(&self, ty: TypeRef) -> Option<&'m UserKind> {
        match ty {
            TypeRef::User(id) => self.model.user_type(id).map(|ty| &ty.kind),
            TypeRef::Atomic(_) => None,
        }
    }
}

/// One value of a type that does not consist of others.
fn constant(values: &Values, index: usize) -> String {
    match values {
        Values::Char(chars) => {
            let mut text = "'".to_owned();
            escape(&mut text, chars.get(index).copied().unwrap_or(0), b'\'');
            text.push('\'');
            text
        }
        Values::Float(all) => float(f64::from(all.get(index).copied().unwrap_or(0.0)), "float"),
        Values::Double(all) => float(all.get(index).copied().unwrap_or(0.0), "double"),
        Values::String(strings) => strings.get(index).map_or_else(|| "NULL".to_owned(), string),
        Values::Opaque { size, bytes } => {
            let start = index.saturating_mul(*size);
            let bytes = bytes.get(start..start.saturating_add(*size)).unwrap_or_default();
            let items: Vec<String> = bytes.iter().map(|byte| format!("0x{byte:02x}")).collect();
            format!("{{{}}}", items.join(", "))
        }
        integers => {
            let suffix = match integers {
                Values::UByte(_) | Values::UShort(_) | Values::UInt(_) => "U",
                Values::Int64(_) => "LL",
                Values::UInt64(_) => "ULL",
                _ => "",
            };
            format!("{}{suffix}", integers.integer(index).unwrap_or(0))
        }
    }
}

/// A number of a floating type, which C reads back as the same bits.
fn float(value: f64, ty: &str) -> String {
    if value.is_nan() {
        return if ty == "float" { "nanf" } else { "nan" }.to_owned();
    }
    if value == 0.0 && value.is_sign_negative() {
        return format!("(({ty})-0.0)");
    }
    let number = match (value.is_infinite(), value > 0.0, ty) {
        (true, true, _) => "inf".to_owned(),
        (true, false, _) => "-inf".to_owned(),
        #[expect(clippy::cast_possible_truncation, reason = "it was a float")]
        (false, _, "float") => {
            let value = value as f32;
            shortest(|digits| format_float(value, digits), 8, |text| text.parse() == Ok(value))
        }
        (false, ..) => shortest(|digits| format_double(value, digits), 16, |text| text.parse() == Ok(value)),
    };
    format!("(({ty}){number})")
}

/// With so many digits if these are exact, with one more otherwise.
fn shortest(format: impl Fn(usize) -> String, digits: usize, is_exact: impl Fn(&str) -> bool) -> String {
    let text = format(digits);
    if is_exact(&text) { text } else { format(digits + 1) }
}

/// A string literal.
pub(super) fn string(bytes: &[u8]) -> String {
    let mut text = "\"".to_owned();
    let mut pending = Vec::new();
    for byte in bytes {
        // Text in UTF-8 stays as it is.
        if *byte >= 0x80 {
            pending.push(*byte);
            continue;
        }
        flush(&mut text, &mut pending);
        escape(&mut text, *byte, b'"');
    }
    flush(&mut text, &mut pending);
    text.push('"');
    text
}

fn flush(text: &mut String, pending: &mut Vec<u8>) {
    match std::str::from_utf8(pending) {
        Ok(valid) => text.push_str(valid),
        Err(_) => pending.iter().for_each(|byte| {
            let _ = write!(text, "\\{byte:03o}");
        }),
    }
    pending.clear();
}

/// One character, three octal digits where C has no letter for it.
fn escape(text: &mut String, byte: u8, quote: u8) {
    let letter = match byte {
        b'\\' => Some('\\'),
        0x08 => Some('b'),
        0x0c => Some('f'),
        b'\n' => Some('n'),
        b'\r' => Some('r'),
        b'\t' => Some('t'),
        0x0b => Some('v'),
        _ if byte == quote => Some(char::from(quote)),
        _ => None,
    };
    match letter {
        Some(letter) => {
            text.push('\\');
            text.push(letter);
        }
        None if matches!(byte, b' '..=b'~') => text.push(char::from(byte)),
        None => {
            let _ = write!(text, "\\{byte:03o}");
        }
    }
}

/// The type of C that holds an atomic type.
pub(super) fn atomic_name(atomic: Atomic) -> &'static str {
    match atomic {
        Atomic::Byte => "signed char",
        Atomic::Char => "char",
        Atomic::Short => "short",
        Atomic::Int => "int",
        Atomic::Float => "float",
        Atomic::Double => "double",
        Atomic::UByte => "unsigned char",
        Atomic::UShort => "unsigned short",
        Atomic::UInt => "unsigned int",
        Atomic::Int64 => "signed long long",
        Atomic::UInt64 => "unsigned long long",
        Atomic::String => "char*",
    }
}

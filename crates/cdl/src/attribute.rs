//! Attributes: `name = values` with a suffix for the type (docs/spec/nczarr.md 12.2).
use crate::PrintOptions;
use crate::cell::CellWriter;
use crate::name::{escape_name, is_section_keyword, type_reference};
use crate::number::{write_attribute_number, write_integer};
use crate::out::OutputText;
use crate::text::{self, VerticalTab};
use ncirrus_model::{Atomic, Attribute, GroupId, Model, NodeId, TypeRef, Values};

/// The origin of an attribute.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum AttributeOrigin {
    /// The dataset holds it.
    Stored,
    /// It describes a property of the storage.
    Special,
}

/// Writes one attribute up to its semicolon.
pub(crate) fn write(
    out: &mut OutputText<'_>,
    model: &Model,
    (node, origin): (NodeId, AttributeOrigin),
    attribute: &Attribute,
    options: &PrintOptions,
) {
    out.push("\t\t");
    if shows_type(node, attribute, options) {
        out.push(&type_reference(model, home(model, node), attribute.ty));
        out.push(" ");
    }
    if let NodeId::Variable(id) = node {
        let name = model.variable(id).map(|variable| variable.name.as_str()).unwrap_or_default();
        out.push(&escape_name(name));
        // The reference does not distinguish keywords from special attributes.
        if is_section_keyword(name) && origin == AttributeOrigin::Stored {
            out.push(" ");
        }
    }
    out.push(":");
    out.push(&escape_name(&attribute.name));
    out.push(" = ");
    write_values(out, model, attribute, options);
    out.push(" ;");
}

/// The group whose types simple names find first.
fn home(model: &Model, node: NodeId) -> GroupId {
    match node {
        NodeId::Group(id) => id,
        NodeId::Variable(id) => model.variable_group(id).unwrap_or(model.root()),
    }
}

/// Strings and user-defined types are stated in front, others are shown by their suffix. An empty attribute is shown as
/// text.
fn shows_type(node: NodeId, attribute: &Attribute, options: &PrintOptions) -> bool {
    let is_fill = matches!(node, NodeId::Variable(_)) && attribute.name == "_FillValue";
    let named = match attribute.ty {
        TypeRef::Atomic(atomic) => atomic == Atomic::String,
        TypeRef::User(_) => true,
    };
    !attribute.values.is_empty() && (named || (options.fill_types && is_fill))
}

fn write_values(out: &mut OutputText<'_>, model: &Model, attribute: &Attribute, options: &PrintOptions) {
    let values = &attribute.values;
    match (values, attribute.ty) {
        (Values::Char(text), TypeRef::Atomic(_)) => {
            text::write_text_attribute(&mut out.text, text, options.classic);
        }
        _ if values.is_empty() => out.push("\"\""),
        (_, TypeRef::Atomic(_)) => separated(&mut out.text, values.len(), |text, index| {
            write_number(text, values, index, options);
        }),
        (_, TypeRef::User(_)) => write_user_values(out, model, attribute, options),
    }
}

/// Values of compounds and vlens are wrapped like data, those of enums and opaque types are not.
fn write_user_values(out: &mut OutputText<'_>, model: &Model, attribute: &Attribute, options: &PrintOptions) {
    let cells = CellWriter::new(model, options);
    let values = &attribute.values;
    if !matches!(values, Values::Compound { .. } | Values::Vlen { .. }) {
        let write = |text: &mut Vec<u8>, index| cells.write(text, attribute.ty, values, index);
        return separated(&mut out.text, values.len(), write);
    }
    for index in 0..values.len() {
        let start = out.text.len();
        cells.write(&mut out.text, attribute.ty, values, index);
        if index + 1 < values.len() {
            out.push(", ");
        }
        out.line.item(&mut out.text, start);
    }
}

fn separated(text: &mut Vec<u8>, count: usize, mut write: impl FnMut(&mut Vec<u8>, usize)) {
    for index in 0..count {
        if index > 0 {
            text.extend_from_slice(b", ");
        }
        write(text, index);
    }
}

/// A number with its type's suffix, or a string.
fn write_number(out: &mut Vec<u8>, values: &Values, index: usize, options: &PrintOptions) {
    let suffix: &[u8] = match values {
        Values::String(strings) => {
            text::write_string(out, strings.get(index), VerticalTab::Kept);
            b""
        }
        Values::Float(_) | Values::Double(_) => {
            let is_float = matches!(values, Values::Float(_));
            let digits = if is_float { options.float_precision() } else { options.double_precision() };
            write_attribute_number(out, values.number(index).unwrap_or(f64::NAN), digits);
            if is_float { b"f" } else { b"" }
        }
        integers => {
            if let Some(value) = integers.integer(index) {
                write_integer(out, value);
            }
            integer_suffix(integers)
        }
    };
    out.extend_from_slice(suffix);
}

fn integer_suffix(values: &Values) -> &'static [u8] {
    match values.atomic() {
        Some(Atomic::Byte) => b"b",
        Some(Atomic::Short) => b"s",
        Some(Atomic::UByte) => b"UB",
        Some(Atomic::UShort) => b"US",
        Some(Atomic::UInt) => b"U",
        Some(Atomic::Int64) => b"LL",
        Some(Atomic::UInt64) => b"ULL",
        _ => b"",
    }
}

//! Types and single values as text: for reports, and to tell whether types of two datasets are the same.
use ncirrus::{Attribute, Model, TypeRef, Values};
use ncirrus_model::UserKind;

/// Levels of nested types and values that are shown; types of files nest no deeper.
const DEPTH: u32 = 32;
/// Elements of one value that are shown.
const SHOWN: usize = 8;

/// A type, with everything in it that counts: the keyword of an atomic type, or name and definition.
pub(crate) fn type_text(model: &Model, ty: TypeRef) -> String {
    described(model, ty, DEPTH)
}

fn described(model: &Model, ty: TypeRef, depth: u32) -> String {
    let id = match ty {
        TypeRef::Atomic(atomic) => return atomic.name().to_owned(),
        TypeRef::User(id) => id,
    };
    let Some(user) = model.user_type(id).filter(|_| depth > 0) else { return String::from("...") };
    let name = &user.name;
    match &user.kind {
        UserKind::Opaque(len) => format!("opaque({len}) {name}"),
        UserKind::Vlen(base) => format!("{}(*) {name}", described(model, *base, depth - 1)),
        UserKind::Enum { base, members } => {
            let members = members.iter().map(|member| format!("{} = {}", member.name, member.value));
            format!("{} enum {name} {{{}}}", base.name(), members.collect::<Vec<_>>().join(", "))
        }
        UserKind::Compound(fields) => {
            let fields = fields.iter().map(|field| {
                let dims = field.dims.iter().map(|len| format!("[{len}]")).collect::<String>();
                format!("{} {}{dims}", described(model, field.ty, depth - 1), field.name)
            });
            format!("compound {name} {{{}}}", fields.collect::<Vec<_>>().join("; "))
        }
    }
}

/// An attribute's type and values.
pub(super) fn attribute_text(model: &Model, attribute: &Attribute) -> String {
    let ty = type_text(model, attribute.ty);
    match &attribute.values {
        Values::Char(text) => format!("{ty} {:?}", String::from_utf8_lossy(text)),
        values => format!("{ty} {}", list_text(values, DEPTH)),
    }
}

/// One element as text.
pub(crate) fn element_text(values: &Values, index: usize) -> String {
    element(values, index, DEPTH)
}

fn list_text(values: &Values, depth: u32) -> String {
    let shown = (0..values.len().min(SHOWN)).map(|index| element(values, index, depth));
    let mut text = shown.collect::<Vec<_>>().join(", ");
    if values.len() > SHOWN {
        text.push_str(&format!(", ... ({} values)", values.len()));
    }
    text
}

fn element(values: &Values, index: usize, depth: u32) -> String {
    if depth == 0 {
        return String::from("...");
    }
    let within = |ends: &[usize]| {
        let end = |at: usize| ends.get(at).copied().unwrap_or_default();
        (if index == 0 { 0 } else { end(index - 1) })..end(index)
    };
    match values {
        Values::Float(list) => list.get(index).map(ToString::to_string).unwrap_or_default(),
        Values::Double(list) => list.get(index).map(ToString::to_string).unwrap_or_default(),
        Values::Char(list) => format!("{:?}", list.get(index).copied().map(char::from).unwrap_or_default()),
        Values::String(list) => match list.get(index) {
            Some(text) => format!("{:?}", String::from_utf8_lossy(text)),
            None => String::from("NIL"),
        },
        Values::Opaque { size, bytes } => {
            let part = bytes.chunks((*size).max(1)).nth(index).unwrap_or_default();
            let hex = part.iter().take(4 * SHOWN).map(|byte| format!("{byte:02X}")).collect::<String>();
            format!("0X{hex}{}", if part.len() > 4 * SHOWN { "..." } else { "" })
        }
        Values::Vlen { ends, elements } => {
            format!("{{{}}}", list_text(&elements.slice(within(ends)), depth - 1))
        }
        Values::Compound { fields, len } => {
            // A field that is an array has several elements for each compound.
            let field = |values: &Values| {
                let each = values.len().checked_div(*len).unwrap_or_default();
                match each {
                    1 => element(values, index, depth - 1),
                    _ => format!(
                        "{{{}}}",
                        list_text(&values.slice(index * each..(index + 1) * each), depth - 1)
                    ),
                }
            };
            format!("{{{}}}", fields.iter().map(field).collect::<Vec<_>>().join(", "))
        }
        integers => integers.integer(index).map(|value| value.to_string()).unwrap_or_default(),
    }
}

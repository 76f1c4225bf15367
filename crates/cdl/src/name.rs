//! Names in CDL (docs/spec/nczarr.md 12.2).
use ncirrus_model::{DimId, GroupId, Model, TypeRef};

/// A name as CDL writes it: a leading digit and special characters after a backslash, control characters as `\%xx`.
pub fn escape_name(name: &str) -> String {
    let mut escaped = String::with_capacity(name.len() + 4);
    if name.starts_with(|first: char| first.is_ascii_digit()) {
        escaped.push('\\');
    }
    for c in name.chars() {
        if c.is_ascii_control() {
            escaped.push_str(&format!("\\%{:02x}", u32::from(c)));
            continue;
        }
        if is_special(c) {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

/// Whether the character is written after a backslash in names.
fn is_special(c: char) -> bool {
    const SPECIAL: &str = " !\"#$&'()*,:;<=>?[]\\^`{|}~";
    SPECIAL.contains(c)
}

/// Whether a variable of that name needs a blank before the colon of its attributes: section keywords do.
pub(crate) fn is_section_keyword(name: &str) -> bool {
    crate::parse::is_section_word(name)
}

/// How a variable of `group` refers to a dimension: by simple name if that is unambiguous, otherwise by path
/// (docs/spec/nczarr.md 12.1).
pub(crate) fn dimension_reference(model: &Model, group: GroupId, dim: DimId) -> String {
    let name = model.dimension(dim).map(|dimension| dimension.name.as_str()).unwrap_or_default();
    if model.visible_dimension(group, name) == Some(dim) {
        return escape_name(name);
    }
    member_path(model, model.dimension_group(dim), name)
}

/// How something in `group` refers to a type: by simple name if the group or an ancestor has a type of that name, as in the
/// reference even if it is another one; otherwise by path (docs/spec/nczarr.md 12.1).
pub(crate) fn type_reference(model: &Model, group: GroupId, ty: TypeRef) -> String {
    let id = match ty {
        TypeRef::Atomic(atomic) => return atomic.name().to_owned(),
        TypeRef::User(id) => id,
    };
    let name = model.user_type(id).map(|ty| ty.name.as_str()).unwrap_or_default();
    if model.visible_type(group, name).is_some() {
        return escape_name(name);
    }
    member_path(model, model.type_group(id), name)
}

fn member_path(model: &Model, home: Option<GroupId>, name: &str) -> String {
    let mut path = String::new();
    for ancestor in model.scope(home.unwrap_or(model.root())).into_iter().rev().skip(1) {
        path.push('/');
        path.push_str(&escape_name(
            model.group(ancestor).map(|group| group.name.as_str()).unwrap_or_default(),
        ));
    }
    format!("{path}/{}", escape_name(name))
}

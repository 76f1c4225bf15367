//! Declarations: types, dimensions, variables (docs/spec/nczarr.md 12.1).
use crate::name::{dimension_reference, escape_name, type_reference};
use crate::out::OutputText;
use ncirrus_model::{Atomic, DimensionLen, EnumMember, Field, Group, GroupId, Model, UserKind, VarId};

/// The group's own types.
pub(crate) fn types(out: &mut OutputText<'_>, model: &Model, (at, group): (GroupId, &Group), indent: usize) {
    if !group.types.is_empty() {
        out.blanks(indent);
        out.push("types:\n");
    }
    for ty in group.types.iter().filter_map(|&id| model.user_type(id)) {
        let name = escape_name(&ty.name);
        out.blanks(indent + 2);
        match &ty.kind {
            UserKind::Opaque(size) => out.push(&format!("opaque({size}) {name} ;\n")),
            UserKind::Vlen(base) => out.push(&format!("{}(*) {name} ;\n", type_reference(model, at, *base))),
            UserKind::Enum { base, members } => enumeration(out, *base, &name, members, indent),
            UserKind::Compound(fields) => compound(out, (model, at), &name, fields, indent),
        }
    }
}

/// Members are wrapped like data.
fn enumeration(out: &mut OutputText<'_>, base: Atomic, name: &str, members: &[EnumMember], indent: usize) {
    out.line.set_indent(indent + 2);
    out.item(&format!("{} enum {name} {{", base.name()));
    for (at, member) in members.iter().enumerate() {
        let end = if at + 1 == members.len() { "} ;\n" } else { ", " };
        out.item(&format!("{} = {}{end}", escape_name(&member.name), member.value));
    }
    out.line.set_column(indent + 2);
    out.line.set_indent(indent);
}

fn compound(
    out: &mut OutputText<'_>,
    (model, at): (&Model, GroupId),
    name: &str,
    fields: &[Field],
    indent: usize,
) {
    out.push(&format!("compound {name} {{\n"));
    for field in fields {
        out.blanks(indent + 4);
        out.push(&format!("{} {}", type_reference(model, at, field.ty), escape_name(&field.name)));
        if !field.dims.is_empty() {
            let dims: Vec<String> = field.dims.iter().map(u64::to_string).collect();
            out.push(&format!("({})", dims.join(", ")));
        }
        out.push(" ;\n");
    }
    out.blanks(indent + 2);
    out.push(&format!("}}; // {name}\n"));
}

/// The group's own dimensions.
pub(crate) fn dimensions(out: &mut OutputText<'_>, model: &Model, group: &Group, indent: usize) {
    if !group.dims.is_empty() {
        out.blanks(indent);
        out.push("dimensions:\n");
    }
    for dimension in group.dims.iter().filter_map(|&id| model.dimension(id)) {
        out.blanks(indent);
        let name = escape_name(&dimension.name);
        out.push(&match dimension.len {
            DimensionLen::Fixed(len) => format!("\t{name} = {len} ;\n"),
            DimensionLen::Unlimited(len) => format!("\t{name} = UNLIMITED ; // ({len} currently)\n"),
        });
    }
}

/// One variable, without its attributes.
pub(crate) fn variable(out: &mut OutputText<'_>, model: &Model, group: GroupId, id: VarId, indent: usize) {
    let Some(variable) = model.variable(id) else { return };
    out.blanks(indent);
    out.push(&format!("\t{} {}", type_reference(model, group, variable.ty), escape_name(&variable.name)));
    if !variable.dims.is_empty() {
        let dims = variable.dims.iter().map(|&dim| dimension_reference(model, group, dim));
        out.push(&format!("({})", dims.collect::<Vec<_>>().join(", ")));
    }
    out.push(" ;\n");
}

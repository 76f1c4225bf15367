//! The DMR (docs/spec/dap.md 6.1).
use super::Dap4Dataset;
use super::request::{Dap4Request, Wanted};
use crate::path::escaped;
use crate::server::text::{number, xml};
use ncirrus_model::{
    Atomic, Attribute, DimId, Field, GroupId, Model, NodeId, TypeId, TypeRef, UserKind, Values, VarId,
};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Nesting of types, at most.
const DEPTH: u32 = 64;

/// Writes a DMR.
pub(super) struct DmrWriter<'a> {
    dataset: &'a Dap4Dataset,
    wanted: BTreeMap<VarId, &'a Wanted>,
    request: &'a Dap4Request,
    checksums: &'a BTreeMap<VarId, u32>,
    text: String,
}

impl<'a> DmrWriter<'a> {
    pub(super) fn new(
        dataset: &'a Dap4Dataset,
        request: &'a Dap4Request,
        checksums: &'a BTreeMap<VarId, u32>,
    ) -> Self {
        let wanted = request.wanted.iter().map(|wanted| (wanted.variable, wanted)).collect();
        Self { dataset, wanted, request, checksums, text: String::new() }
    }

    pub(super) fn document(mut self) -> String {
        let name = xml(&self.dataset.name);
        _ = writeln!(
            self.text,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Dataset name=\"{name}\" dapVersion=\"4.0\" dmrVersion=\"1.0\" \
             xmlns=\"http://xml.opendap.org/ns/DAP/4.0#\">"
        );
        self.group(self.dataset.model.root());
        self.text.push_str("</Dataset>\n");
        self.text
    }

    fn group(&mut self, id: GroupId) {
        let model = &*self.dataset.model;
        let Some(group) = model.group(id) else { return };
        for dim in &group.dims {
            self.dimension(model, *dim);
        }
        for ty in &group.types {
            self.enumeration(model, *ty);
        }
        for var in &group.vars {
            if let Some(wanted) = self.wanted.get(var).copied() {
                self.variable(model, wanted);
            }
        }
        self.attributes(model, NodeId::Group(id));
        for inner in &group.groups {
            let name = model.group(*inner).map(|group| xml(&group.name)).unwrap_or_default();
            _ = writeln!(self.text, "<Group name=\"{name}\">");
            self.group(*inner);
            self.text.push_str("</Group>\n");
        }
    }

    fn dimension(&mut self, model: &Model, id: DimId) {
        let Some(dim) = model.dimension(id) else { return };
        let unlimited = if dim.len.is_unlimited() { " _edu.ucar.isunlimited=\"1\"" } else { "" };
        let len = self.request.sliced.get(&id).map_or(dim.len.current(), |slice| slice.count);
        _ = writeln!(self.text, "<Dimension name=\"{}\" size=\"{len}\"{unlimited}/>", xml(&dim.name));
    }

    fn enumeration(&mut self, model: &Model, id: TypeId) {
        let Some(ty) = model.user_type(id) else { return };
        let UserKind::Enum { base, members } = &ty.kind else { return };
        _ = writeln!(self.text, "<Enumeration name=\"{}\" basetype=\"{}\">", xml(&ty.name), type_of(*base));
        for member in members {
            _ = writeln!(self.text, "<EnumConst name=\"{}\" value=\"{}\"/>", xml(&member.name), member.value);
        }
        self.text.push_str("</Enumeration>\n");
    }

    fn variable(&mut self, model: &Model, wanted: &Wanted) {
        let Some(variable) = model.variable(wanted.variable) else { return };
        let element = self.begin(model, &variable.name, variable.ty, wanted, 0);
        for ((dim, slice), is_local) in variable.dims.iter().zip(&wanted.slices).zip(&wanted.is_local) {
            if *is_local {
                _ = writeln!(self.text, "<Dim size=\"{}\"/>", slice.count);
            } else {
                _ = writeln!(self.text, "<Dim name=\"{}\"/>", xml(&dimension_path(model, *dim)));
            }
        }
        self.hints(model, variable.ty);
        self.attributes(model, NodeId::Variable(wanted.variable));
        if let Some(checksum) = self.checksums.get(&wanted.variable) {
            _ = writeln!(
                self.text,
                "<Attribute name=\"_DAP4_Checksum_CRC32\" type=\"UInt32\"><Value value=\"{checksum}\"/></Attribute>"
            );
        }
        _ = writeln!(self.text, "</{element}>");
    }

    /// Begins a variable or member, and declares its members; the name of its element.
    fn begin(&mut self, model: &Model, name: &str, ty: TypeRef, wanted: &Wanted, depth: u32) -> &'static str {
        let kind = match ty {
            TypeRef::Atomic(atomic) => {
                _ = writeln!(self.text, "<{} name=\"{}\">", type_of(atomic), xml(name));
                return type_of(atomic);
            }
            TypeRef::User(id) => model.user_type(id).map(|ty| (id, &ty.kind)),
        };
        let shown = xml(name);
        match kind {
            Some((id, UserKind::Enum { .. })) => {
                _ = writeln!(self.text, "<Enum name=\"{shown}\" enum=\"{}\">", xml(&type_path(model, id)));
                "Enum"
            }
            Some((_, UserKind::Compound(fields))) => {
                _ = writeln!(self.text, "<Structure name=\"{shown}\">");
                let picked = wanted.fields.as_ref().filter(|_| depth == 0);
                for (at, field) in fields.iter().enumerate().take_while(|_| depth < DEPTH) {
                    if picked.is_none_or(|picked| picked.contains(&at)) {
                        self.member(model, field, wanted, depth + 1);
                    }
                }
                "Structure"
            }
            Some((_, UserKind::Vlen(base))) => {
                _ = writeln!(self.text, "<Sequence name=\"{shown}\">");
                if depth < DEPTH {
                    let field = Field { name: name.to_owned(), ty: *base, dims: Vec::new() };
                    self.member(model, &field, wanted, depth + 1);
                }
                "Sequence"
            }
            Some((_, UserKind::Opaque(_))) | None => {
                _ = writeln!(self.text, "<Opaque name=\"{shown}\">");
                "Opaque"
            }
        }
    }

    fn member(&mut self, model: &Model, field: &Field, wanted: &Wanted, depth: u32) {
        let element = self.begin(model, &field.name, field.ty, wanted, depth);
        field.dims.iter().for_each(|len| _ = writeln!(self.text, "<Dim size=\"{len}\"/>"));
        self.hints(model, field.ty);
        _ = writeln!(self.text, "</{element}>");
    }

    /// What netCDF-C needs to make the type again.
    fn hints(&mut self, model: &Model, ty: TypeRef) {
        let TypeRef::User(id) = ty else { return };
        let hint = match model.user_type(id).map(|ty| &ty.kind) {
            Some(UserKind::Vlen(_)) => ("_edu.ucar.isvlen", 1),
            Some(UserKind::Opaque(size)) => ("_edu.ucar.opaque.size", *size),
            _ => return,
        };
        let (name, value) = hint;
        _ = writeln!(
            self.text,
            "<Attribute name=\"{name}\" type=\"Int64\"><Value value=\"{value}\"/></Attribute>"
        );
    }

    fn attributes(&mut self, model: &Model, node: NodeId) {
        let attributes = model.attributes(node).and_then(ncirrus_model::AttributeState::known);
        for attribute in attributes.into_iter().flat_map(ncirrus_model::Attributes::iter) {
            let Some(atomic) = attribute.values.atomic() else { continue };
            let ty = if atomic == Atomic::Char { "String" } else { type_of(atomic) };
            _ = writeln!(self.text, "<Attribute name=\"{}\" type=\"{ty}\">", xml(&attribute.name));
            for text in texts(attribute) {
                _ = writeln!(self.text, "<Value value=\"{}\"/>", xml(&text));
            }
            self.text.push_str("</Attribute>\n");
        }
    }
}

fn texts(attribute: &Attribute) -> Vec<String> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    match &attribute.values {
        Values::Char(bytes) => vec![text(bytes)],
        Values::String(strings) => strings.iter().map(|bytes| text(bytes.unwrap_or_default())).collect(),
        values => (0..values.len()).filter_map(|at| number(values, at)).collect(),
    }
}

fn type_of(atomic: Atomic) -> &'static str {
    match atomic {
        Atomic::Byte => "Int8",
        Atomic::UByte => "UInt8",
        Atomic::Char => "Char",
        Atomic::Short => "Int16",
        Atomic::UShort => "UInt16",
        Atomic::Int => "Int32",
        Atomic::UInt => "UInt32",
        Atomic::Int64 => "Int64",
        Atomic::UInt64 => "UInt64",
        Atomic::Float => "Float32",
        Atomic::Double => "Float64",
        Atomic::String => "String",
    }
}

/// The path of a group, with a slash at its end.
fn group_path(model: &Model, group: Option<GroupId>) -> String {
    let groups = group.map(|group| model.scope(group)).unwrap_or_default();
    let names = groups.into_iter().rev().skip(1).filter_map(|id| model.group(id));
    std::iter::once("/".to_owned()).chain(names.map(|group| format!("{}/", escaped(&group.name)))).collect()
}

fn dimension_path(model: &Model, id: DimId) -> String {
    let name = model.dimension(id).map(|dim| escaped(&dim.name)).unwrap_or_default();
    format!("{}{name}", group_path(model, model.dimension_group(id)))
}

fn type_path(model: &Model, id: TypeId) -> String {
    let name = model.user_type(id).map(|ty| escaped(&ty.name)).unwrap_or_default();
    format!("{}{name}", group_path(model, model.type_group(id)))
}

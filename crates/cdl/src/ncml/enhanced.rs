//! NcML 2.2 of what the classic model does not have: groups, user-defined types, strings.
//!
//! NcML is a text of netCDF-Java's: its types are those that this library has names for. Anything that it cannot represent is reported.
use super::{number, pair};
use crate::out::OutputText;
use crate::{CdlError, PrintOptions, text};
use ncirrus_model::{
    Atomic, Attribute, AttributeState, DimId, DimensionLen, EnumMember, Field, GroupId, Model, NodeId,
    TypeRef, UserKind, Values, VarId,
};

/// Writes groups below each other.
pub(super) struct EnhancedNcml<'a, 'o> {
    pub(super) out: &'a mut OutputText<'o>,
    pub(super) model: &'a Model,
    pub(super) options: &'a PrintOptions,
    /// Path and reason of what NcML has no form for.
    pub(super) lost: Vec<(String, String)>,
}

/// One step of the walk, which does not recurse: groups nest as deep as a file says.
enum GroupStep {
    Begin(GroupId, usize),
    End(usize),
}

impl<'a> EnhancedNcml<'a, '_> {
    /// Everything below the root.
    pub(super) fn write(&mut self) -> Result<(), CdlError> {
        let mut left = vec![GroupStep::Begin(self.model.root(), 0)];
        while let Some(step) = left.pop() {
            match step {
                GroupStep::End(indent) => {
                    self.out.blanks(indent);
                    self.out.push("</group>\n");
                }
                GroupStep::Begin(id, indent) => {
                    let Some(group) = self.model.group(id) else { continue };
                    if group.parent.is_some() {
                        self.out.blanks(indent);
                        self.out.push("<group");
                        pair(self.out, "name", &group.name);
                        self.out.push(">\n");
                        left.push(GroupStep::End(indent));
                    }
                    self.members(id, indent + 2)?;
                    left.extend(group.groups.iter().rev().map(|below| GroupStep::Begin(*below, indent + 2)));
                }
            }
        }
        Ok(())
    }

    fn members(&mut self, id: GroupId, indent: usize) -> Result<(), CdlError> {
        let model = self.model;
        let Some(group) = model.group(id) else { return Ok(()) };
        for ty in group.types.iter().filter_map(|&id| model.user_type(id)) {
            if let UserKind::Enum { base, members } = &ty.kind {
                self.enumeration(&ty.name, *base, members, indent);
            }
        }
        for dimension in group.dims.iter().filter_map(|&id| model.dimension(id)) {
            self.out.blanks(indent);
            self.out.push("<dimension");
            pair(self.out, "name", &dimension.name);
            pair(self.out, "length", &dimension.len.current().to_string());
            if matches!(dimension.len, DimensionLen::Unlimited(_)) {
                pair(self.out, "isUnlimited", "true");
            }
            self.out.push(" />\n");
        }
        self.attributes(NodeId::Group(id), indent);
        for &id in &group.vars {
            self.variable(id, indent);
            self.out.relieve()?;
        }
        Ok(())
    }

    fn enumeration(&mut self, name: &str, base: Atomic, members: &[EnumMember], indent: usize) {
        self.out.blanks(indent);
        self.out.push("<enumTypedef");
        pair(self.out, "name", name);
        pair(self.out, "type", enum_name(base).unwrap_or(atomic_name(base)));
        self.out.push(">\n");
        for member in members {
            self.out.blanks(indent + 2);
            self.out.push("<enum");
            pair(self.out, "key", &member.value.to_string());
            self.out.push(">");
            super::escape(&mut self.out.text, member.name.as_bytes());
            self.out.push("</enum>\n");
        }
        self.out.blanks(indent);
        self.out.push("</enumTypedef>\n");
    }

    fn variable(&mut self, id: VarId, indent: usize) {
        let model = self.model;
        let Some(variable) = model.variable(id) else { return };
        let home = model.variable_group(id).unwrap_or(model.root());
        let path = model.variable_path(id);
        let shape: Vec<String> = variable.dims.iter().map(|&dim| self.dimension(home, dim, &path)).collect();
        let fields = self.declare(&variable.name, shape, variable.ty, indent, &path);
        let attributes = variable.attributes.known().is_some_and(|attributes| !attributes.is_empty());
        if fields.is_empty() && !attributes {
            self.out.push(" />\n");
            return;
        }
        self.out.push(">\n");
        self.attributes(NodeId::Variable(id), indent + 2);
        self.fields(fields, indent + 2, &path);
        self.out.blanks(indent);
        self.out.push("</variable>\n");
    }

    /// A dimension as a shape names it; one that its simple name does not find has its length there.
    fn dimension(&mut self, home: GroupId, dim: DimId, path: &str) -> String {
        let Some(dimension) = self.model.dimension(dim) else { return "0".to_owned() };
        if self.model.visible_dimension(home, &dimension.name) == Some(dim) && !dimension.name.contains(' ') {
            return dimension.name.clone();
        }
        let reason = format!(
            "its dimension {} has no name there in NcML, its length stands for it",
            self.model.dimension_path(dim)
        );
        self.lost.push((path.to_owned(), reason));
        dimension.len.current().to_string()
    }

    /// `<variable name= shape= type=`, without the end; the fields that go inside.
    fn declare(
        &mut self,
        name: &str,
        mut shape: Vec<String>,
        ty: TypeRef,
        indent: usize,
        path: &str,
    ) -> Vec<Field> {
        let model = self.model;
        let (mut ty, mut is_ragged) = (ty, false);
        while let Some(UserKind::Vlen(base)) = kind(model, ty) {
            if is_ragged {
                self.lost
                    .push((path.to_owned(), "NcML has no lists of lists: their values are one".to_owned()));
            } else {
                shape.push("*".to_owned());
            }
            (ty, is_ragged) = (*base, true);
        }
        self.out.blanks(indent);
        self.out.push("<variable");
        pair(self.out, "name", name);
        if !shape.is_empty() {
            pair(self.out, "shape", &shape.join(" "));
        }
        match (ty, kind(model, ty)) {
            (TypeRef::User(id), Some(UserKind::Enum { base, .. })) => {
                let name = self.model.user_type(id).map(|ty| ty.name.clone()).unwrap_or_default();
                match enum_name(*base) {
                    Some(of_size) => pair(self.out, "type", of_size),
                    None => {
                        pair(self.out, "type", atomic_name(*base));
                        self.lost.push((path.to_owned(), format!("NcML has no enums of {}", base.name())));
                    }
                }
                pair(self.out, "typedef", &name);
            }
            (_, Some(UserKind::Opaque(len))) => {
                pair(self.out, "type", "opaque");
                self.lost
                    .push((path.to_owned(), format!("NcML does not tell that its values have {len} bytes")));
            }
            // The element stays open: the fields are elements inside of it.
            (_, Some(UserKind::Compound(fields))) => {
                pair(self.out, "type", "Structure");
                return fields.clone();
            }
            (TypeRef::Atomic(atomic), _) => pair(self.out, "type", atomic_name(atomic)),
            _ => {}
        }
        Vec::new()
    }

    /// The fields of a compound; compounds inside of it nest as deep as types do.
    fn fields(&mut self, fields: Vec<Field>, indent: usize, path: &str) {
        let mut left: Vec<(Option<Field>, usize)> =
            fields.into_iter().rev().map(|field| (Some(field), indent)).collect();
        while let Some((field, indent)) = left.pop() {
            let Some(field) = field else {
                self.out.blanks(indent);
                self.out.push("</variable>\n");
                continue;
            };
            let shape = field.dims.iter().map(u64::to_string).collect();
            let inner = self.declare(&field.name, shape, field.ty, indent, path);
            if inner.is_empty() {
                self.out.push(" />\n");
                continue;
            }
            self.out.push(">\n");
            left.push((None, indent));
            left.extend(inner.into_iter().rev().map(|field| (Some(field), indent + 2)));
        }
    }

    fn attributes(&mut self, node: NodeId, indent: usize) {
        let model = self.model;
        let known = model.attributes(node).and_then(AttributeState::known);
        for shown in known.into_iter().flat_map(|attributes| attributes.iter()) {
            self.attribute(node, shown, indent);
        }
    }

    fn attribute(&mut self, node: NodeId, attribute: &Attribute, indent: usize) {
        let values = &attribute.values;
        let (ty, text, separator) = match (attribute.ty, values) {
            (TypeRef::User(_), _) => match self.labels(attribute) {
                Some(labels) => joined(&labels),
                None => {
                    let reason = "attributes of this type have no form in NcML".to_owned();
                    self.lost.push((format!("{}@{}", self.path(node), attribute.name), reason));
                    return;
                }
            },
            (_, Values::Char(chars)) => (None, text::trim_nuls(chars).to_vec(), None),
            (_, Values::String(strings)) => {
                let texts = strings.iter().map(|text| String::from_utf8_lossy(text.unwrap_or_default()));
                joined(&texts.collect::<Vec<_>>())
            }
            (TypeRef::Atomic(atomic), numbers) => {
                let mut text = Vec::new();
                for index in 0..numbers.len() {
                    if index > 0 {
                        text.push(b' ');
                    }
                    number(&mut text, numbers, index, self.options);
                }
                (Some(atomic_name(atomic)), text, None)
            }
        };
        self.out.blanks(indent);
        self.out.push("<attribute");
        pair(self.out, "name", &attribute.name);
        if let Some(ty) = ty {
            pair(self.out, "type", ty);
        }
        if let Some(separator) = separator {
            pair(self.out, "separator", &separator);
        }
        self.out.push(" value=\"");
        super::escape(&mut self.out.text, &text);
        self.out.push("\" />\n");
    }

    /// The names of an enum's values; `None` for other types, and for a value without a name.
    fn labels(&self, attribute: &Attribute) -> Option<Vec<&'a str>> {
        let model = self.model;
        let kind = kind(model, attribute.ty)?;
        (0..attribute.values.len()).map(|index| kind.member_name(&attribute.values, index)).collect()
    }

    fn path(&self, node: NodeId) -> String {
        match node {
            NodeId::Group(id) => self.model.group_path(id),
            NodeId::Variable(id) => self.model.variable_path(id),
        }
    }
}

fn kind(model: &Model, ty: TypeRef) -> Option<&UserKind> {
    match ty {
        TypeRef::User(id) => model.user_type(id).map(|ty| &ty.kind),
        TypeRef::Atomic(_) => None,
    }
}

/// Texts of an attribute, and the character between them, which none of them has.
fn joined<T: AsRef<str>>(texts: &[T]) -> (Option<&'static str>, Vec<u8>, Option<String>) {
    if let [text] = texts {
        return (Some("String"), text.as_ref().as_bytes().to_vec(), None);
    }
    let mut candidates = "|;~^#@".chars().chain('\u{e000}'..='\u{f8ff}');
    let separator = candidates.find(|candidate| texts.iter().all(|text| !text.as_ref().contains(*candidate)));
    let separator = separator.map(String::from).unwrap_or_default();
    (
        Some("String"),
        texts.iter().map(AsRef::as_ref).collect::<Vec<&str>>().join(&separator).into_bytes(),
        Some(separator),
    )
}

/// The name of a type in NcML.
fn atomic_name(atomic: Atomic) -> &'static str {
    match atomic {
        Atomic::Int64 => "long",
        Atomic::UInt64 => "ulong",
        Atomic::String => "String",
        other => other.name(),
    }
}

/// The name of an enum with values of this type.
fn enum_name(base: Atomic) -> Option<&'static str> {
    match base {
        Atomic::Byte | Atomic::UByte => Some("enum1"),
        Atomic::Short | Atomic::UShort => Some("enum2"),
        Atomic::Int | Atomic::UInt => Some("enum4"),
        _ => None,
    }
}

//! Declarations: what the variables of a dataset are in DAP2.
use super::wanted::Wanted;
use crate::server::cuts::count_of;
use crate::server::text::wire;
use ncirrus_model::{Atomic, DimId, Field, Model, TypeRef, UserKind, VarId};
use std::collections::HashMap;
use std::fmt::Write as _;

/// A declaration.
#[derive(Debug, Clone)]
pub(super) struct Declared {
    /// As it is in the dataset.
    pub(super) name: String,
    /// Names of the wire, and lengths; the last dimension of characters is the strings' own.
    pub(super) dims: Vec<(Option<String>, u64)>,
    pub(super) kind: DeclaredKind,
    /// The variable; `None` for members.
    pub(super) source: Option<VarId>,
    /// Length of the strings that characters are, and the dimension's name.
    pub(super) text: Option<(u64, String)>,
    /// The shape of chunks.
    pub(super) chunk: Option<Vec<u64>>,
}

/// Its values.
#[derive(Debug, Clone)]
pub(super) enum DeclaredKind {
    Atomic(Atomic),
    Structure(Vec<Declared>),
}

impl Declared {
    pub(super) fn variable(model: &Model, id: VarId, name: &str, names: &HashMap<DimId, String>) -> Self {
        let variable = super::variable(model, id);
        let dims = variable.map(|variable| variable.dims.as_slice()).unwrap_or_default();
        let mut dims: Vec<(Option<String>, u64)> =
            dims.iter().map(|dim| names.get(dim).cloned()).zip(model.shape(id)).collect();
        let ty = variable.map_or(TypeRef::Atomic(Atomic::Byte), |variable| variable.ty);
        let kind = kind_of(model, ty);
        let text = match &kind {
            DeclaredKind::Atomic(Atomic::Char) => {
                Some(dims.pop().map_or((1, String::new()), |(name, len)| (len, name.unwrap_or_default())))
            }
            _ => None,
        };
        let chunk = variable.and_then(|variable| match &variable.storage {
            ncirrus_model::Storage::Chunked(shape) => Some(shape.clone()),
            _ => None,
        });
        Self { name: name.to_owned(), dims, kind, source: Some(id), text, chunk }
    }

    pub(super) fn shape(&self) -> Vec<u64> {
        self.dims.iter().map(|(_, len)| *len).collect()
    }

    pub(super) fn members(&self) -> &[Self] {
        match &self.kind {
            DeclaredKind::Atomic(_) => &[],
            DeclaredKind::Structure(members) => members,
        }
    }

    /// Whether a request means it: as its name is, or as the DDS writes it.
    pub(super) fn is_called(&self, requested: &str) -> bool {
        self.name == requested || wire(&self.name) == requested
    }

    /// The declaration of what is asked for.
    pub(super) fn dds(&self, wanted: &Wanted, indent: &str, text: &mut String) {
        match &self.kind {
            DeclaredKind::Atomic(atomic) => _ = write!(text, "{indent}{} ", type_of(*atomic)),
            DeclaredKind::Structure(members) => {
                _ = writeln!(text, "{indent}Structure {{");
                for inner in &wanted.members {
                    if let Some(member) = members.get(inner.index) {
                        member.dds(inner, &format!("{indent}    "), text);
                    }
                }
                _ = write!(text, "{indent}}} ");
            }
        }
        text.push_str(&wire(&self.name));
        for ((name, _), slice) in self.dims.iter().zip(&wanted.slices) {
            let name = name.as_ref().map(|name| format!("{} = ", wire(name))).unwrap_or_default();
            _ = write!(text, "[{name}{}]", slice.count);
        }
        text.push_str(";\n");
    }

    /// Bytes on the wire; `None` if they depend on the values.
    pub(super) fn wire_len(&self, wanted: &Wanted) -> Option<u64> {
        let count = count_of(&wanted.slices)?;
        match &self.kind {
            DeclaredKind::Atomic(atomic) => wire_len(*atomic, count, !self.dims.is_empty()),
            DeclaredKind::Structure(members) => {
                let one = wanted.members.iter().try_fold(0_u64, |sum, inner| {
                    sum.checked_add(members.get(inner.index)?.wire_len(inner)?)
                })?;
                let head = if self.dims.is_empty() { 0 } else { 4 };
                one.checked_mul(count)?.checked_add(head)
            }
        }
    }

    /// Bytes of the elements in memory.
    pub(super) fn memory_len(&self, wanted: &Wanted) -> u64 {
        let count = count_of(&wanted.slices).unwrap_or(u64::MAX);
        self.element_len().saturating_mul(count)
    }

    /// Bytes of one element in memory; about, for strings.
    pub(super) fn element_len(&self) -> u64 {
        match &self.kind {
            DeclaredKind::Atomic(Atomic::Char) => self.text.as_ref().map_or(1, |(len, _)| (*len).max(1)),
            DeclaredKind::Atomic(atomic) => atomic.byte_len().map_or(32, |len| len as u64),
            DeclaredKind::Structure(members) => {
                let one = |member: &Self| {
                    let count = member.dims.iter().fold(1_u64, |count, (_, len)| count.saturating_mul(*len));
                    member.element_len().saturating_mul(count)
                };
                members.iter().fold(1_u64, |sum, member| sum.saturating_add(one(member)))
            }
        }
    }
}

/// Bytes of the values of a variable, with its counts.
fn wire_len(atomic: Atomic, count: u64, is_array: bool) -> Option<u64> {
    let counts = if is_array { 8 } else { 0 };
    let len = match atomic {
        Atomic::Byte | Atomic::UByte if is_array => count.checked_next_multiple_of(4)?,
        Atomic::Double | Atomic::Int64 | Atomic::UInt64 => count.checked_mul(8)?,
        Atomic::String | Atomic::Char => return None,
        _ => count.checked_mul(4)?,
    };
    len.checked_add(counts)
}

fn kind_of(model: &Model, ty: TypeRef) -> DeclaredKind {
    let id = match ty {
        TypeRef::Atomic(atomic) => return DeclaredKind::Atomic(atomic),
        TypeRef::User(id) => id,
    };
    match model.user_type(id).map(|ty| &ty.kind) {
        Some(UserKind::Compound(fields)) => {
            DeclaredKind::Structure(fields.iter().map(|field| member(model, field)).collect())
        }
        Some(UserKind::Enum { base, .. }) => DeclaredKind::Atomic(*base),
        _ => DeclaredKind::Atomic(Atomic::Byte),
    }
}

fn member(model: &Model, field: &Field) -> Declared {
    let dims = field.dims.iter().map(|len| (None, *len)).collect();
    let kind = kind_of(model, field.ty);
    Declared { name: field.name.clone(), dims, kind, source: None, text: None, chunk: None }
}

/// The type of DAP2 that holds another one.
pub(super) fn type_of(atomic: Atomic) -> &'static str {
    match atomic {
        Atomic::Byte | Atomic::UByte => "Byte",
        Atomic::Short => "Int16",
        Atomic::UShort => "UInt16",
        Atomic::Int => "Int32",
        Atomic::UInt => "UInt32",
        Atomic::Float => "Float32",
        Atomic::Double | Atomic::Int64 | Atomic::UInt64 => "Float64",
        Atomic::Char | Atomic::String => "String",
    }
}

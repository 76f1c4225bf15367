//! Programs that make a dataset: `ncgen -lc` and `-lf77` (docs/design/014-cdl.md, "Programs").
mod c;
mod c_data;
mod c_define;
mod c_value;
mod fortran;
mod identifier;

use crate::parse::CdlFormat;
use crate::{CdlError, DataSource};
use ncirrus_model::{
    Atomic, Attribute, GroupId, Model, NodeId, Selection, TypeId, TypeRef, UserKind, Values, VarId,
};
use std::io::Write;

/// The language of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ProgramLanguage {
    /// C, for the classic and the enhanced model: what `ncgen -lc` prints, apart from blanks.
    #[default]
    C,
    /// Fortran 77 in fixed form, for the classic model.
    Fortran77,
}

/// What a program makes.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct ProgramOptions {
    /// The language.
    pub language: ProgramLanguage,
    /// Kind of the dataset; `None` is the classic one.
    pub format: Option<CdlFormat>,
    /// Name of the dataset's file.
    pub target: String,
    /// The name behind `netcdf` in the text, after which the root group is called.
    pub name: String,
    /// Name of the function that makes the dataset; empty is `main`.
    pub main: String,
    /// The variables that have data; the program leaves others as they are.
    pub filled: Vec<VarId>,
    /// Whether data are left out, whatever the text has.
    pub definitions_only: bool,
}

impl ProgramOptions {
    /// A C program that makes a classic dataset without data.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn format(&self) -> CdlFormat {
        self.format.unwrap_or(CdlFormat::Classic)
    }

    fn main(&self) -> &str {
        if self.main.is_empty() { "main" } else { &self.main }
    }
}

/// Writes the text of a program that makes a dataset of this model and these values, one variable, or one record of it, at a
/// time.
///
/// # Errors
/// `Unsupported` for what the language's interface does not have, or where values cannot be read; `Io`.
pub fn program(
    out: &mut dyn Write,
    model: &Model,
    source: &mut dyn DataSource,
    options: &ProgramOptions,
) -> Result<(), CdlError> {
    match options.language {
        ProgramLanguage::C => c::write(out, model, source, options),
        ProgramLanguage::Fortran77 => fortran::write(out, model, source, options),
    }
}

/// The values of one call of a program, and where they go.
struct WrittenPart {
    start: Vec<u64>,
    count: Vec<u64>,
    values: Values,
}

/// A box of a variable: its first element and its lengths, one of each per axis.
type ElementBox = (Vec<u64>, Vec<u64>);

/// The boxes that are written one by one: rows along the last axis where the first one is unlimited and there are others, the
/// whole variable otherwise, and always for text.
fn parts(model: &Model, id: VarId) -> Box<dyn Iterator<Item = ElementBox>> {
    let shape = model.shape(id);
    let is_text = model.variable(id).is_some_and(|variable| variable.ty == TypeRef::Atomic(Atomic::Char));
    let has_records = model.growing(id).first().copied().unwrap_or(false);
    match shape.split_last() {
        Some((&len, outer)) if has_records && !outer.is_empty() && !is_text => {
            let (rank, outer) = (shape.len(), outer.to_vec());
            let rows = outer.iter().fold(1, |rows: u64, len| rows.saturating_mul(*len));
            Box::new((0..rows).map(move |row| {
                let (mut start, mut count) = (vec![0; rank], vec![1; rank]);
                let mut rest = row;
                for (start, axis) in start.iter_mut().zip(&outer).rev() {
                    (*start, rest) = (rest % axis, rest / axis);
                }
                count.splice(rank - 1.., [len]);
                (start, count)
            }))
        }
        _ => Box::new(std::iter::once((vec![0; shape.len()], shape))),
    }
}

/// Reads one part.
fn read(source: &mut dyn DataSource, id: VarId, (start, count): ElementBox) -> Result<WrittenPart, CdlError> {
    let values = source
        .read(id, &Selection::slab(&start, &count))
        .map_err(|error| CdlError::Unsupported(format!("values cannot be read: {error}")))?;
    Ok(WrittenPart { start, count, values })
}

/// All attributes that a program sets, those of groups first, with the group and the variable that they belong to.
fn attributes(model: &Model) -> (Vec<OwnedAttribute<'_>>, Vec<OwnedAttribute<'_>>) {
    let of = |node: NodeId| {
        model.attributes(node).and_then(|state| state.known()).into_iter().flat_map(|all| all.iter())
    };
    let groups = model.walk().into_iter().flat_map(|group| {
        of(NodeId::Group(group)).map(move |attribute| OwnedAttribute { group, variable: None, attribute })
    });
    let variables = model.variables().into_iter().flat_map(|id| {
        let group = model.variable_group(id).unwrap_or(model.root());
        of(NodeId::Variable(id)).map(move |attribute| OwnedAttribute { group, variable: Some(id), attribute })
    });
    (groups.collect(), variables.collect())
}

/// An attribute and where it belongs.
struct OwnedAttribute<'m> {
    group: GroupId,
    variable: Option<VarId>,
    attribute: &'m Attribute,
}

/// Types in an order in which each one is defined after those that it consists of: first all that consist of none, then those
/// that consist of these, and so on.
fn types_in_order(model: &Model) -> Vec<TypeId> {
    let mut left = model.types();
    let mut order: Vec<TypeId> = Vec::with_capacity(left.len());
    while !left.is_empty() {
        let is_ready = |id: &TypeId| parts_of_type(model, *id).iter().all(|part| order.contains(part));
        let (ready, waiting): (Vec<_>, Vec<_>) = left.into_iter().partition(is_ready);
        if ready.is_empty() {
            break;
        }
        order.extend(ready);
        left = waiting;
    }
    order
}

/// The user-defined types that a type consists of.
fn parts_of_type(model: &Model, id: TypeId) -> Vec<TypeId> {
    let user = |ty: TypeRef| match ty {
        TypeRef::User(id) => Some(id),
        TypeRef::Atomic(_) => None,
    };
    match model.user_type(id).map(|ty| &ty.kind) {
        Some(UserKind::Vlen(base)) => user(*base).into_iter().collect(),
        Some(UserKind::Compound(fields)) => fields.iter().filter_map(|field| user(field.ty)).collect(),
        Some(UserKind::Enum { .. } | UserKind::Opaque(_)) | None => Vec::new(),
    }
}

//! A dataset as a server of DAP2 shows it (docs/spec/dap.md 9.2): arrays with named dimensions, no grids.
mod answer;
mod ascii;
mod das;
mod declared;
mod request;
mod wanted;
mod xdr;

pub use answer::Dap2Answer;
pub use request::Dap2Request;

use super::NotServed;
use declared::Declared;
use ncirrus_layout::Result;
use ncirrus_model::{AttributeState, DimId, GroupId, Model, TypeRef, UserKind, VarId};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// A dataset as DAP2 shows it. Groups are not shown: names of their variables and dimensions begin with those of the
/// groups, `g_v`; one that is in use gets a number. Characters are strings, along their last dimension; enumerations are
/// numbers; compounds are structures; integers of 64 bits are `Float64`. Variables of other types are left out.
#[derive(Debug, Clone)]
pub struct Dap2Dataset {
    model: Arc<Model>,
    name: String,
    declared: Vec<Declared>,
    left_out: Vec<NotServed>,
    dims: HashMap<DimId, String>,
}

impl Dap2Dataset {
    /// The dataset with these definitions. Attributes that are not loaded are missing.
    pub fn new(model: Arc<Model>, name: &str) -> Self {
        let dims = flat_dimensions(&model);
        let (mut declared, mut left_out, mut names) = (Vec::new(), Vec::new(), HashSet::new());
        for group in model.walk() {
            let prefix = prefix_of(&model, group);
            let vars = model.group(group).map(|group| group.vars.clone()).unwrap_or_default();
            for id in vars {
                let Some(variable) = model.variable(id) else { continue };
                let refusal = match &variable.fault {
                    Some(fault) => Some(format!("it cannot be read: {}", fault.message)),
                    None => refusal_of(&model, variable.ty).map(str::to_owned),
                };
                if let Some(reason) = refusal {
                    left_out.push(NotServed { path: model.variable_path(id), reason });
                    continue;
                }
                let name = unused(&format!("{prefix}{}", variable.name), &mut names);
                declared.push(Declared::variable(&model, id, &name, &dims));
            }
        }
        Self { name: name.to_owned(), declared, left_out, dims, model }
    }

    /// The variables that DAP2 cannot hold.
    pub fn left_out(&self) -> &[NotServed] {
        &self.left_out
    }

    /// What a query asks for, decoded once.
    ///
    /// # Errors
    /// `NotFound` for a variable, `Invalid` for ranges that do not fit, `Unsupported` for selections and functions.
    pub fn request(&self, query: &str) -> Result<Dap2Request> {
        request::parse(self, query)
    }

    /// The structure of what is asked for.
    pub fn dds(&self, request: &Dap2Request) -> String {
        let mut text = "Dataset {\n".to_owned();
        for wanted in &request.wanted {
            if let Some(declared) = self.declared.get(wanted.index) {
                declared.dds(wanted, "    ", &mut text);
            }
        }
        text + "} " + &super::text::wire(&self.name) + ";\n"
    }

    /// The attributes of all variables, and of the dataset.
    pub fn das(&self) -> String {
        das::document(self)
    }

    /// The answer with values, in steps; pieces have about `piece` bytes.
    ///
    /// # Errors
    /// `Limit` for more elements of one variable than a count of 32 bits holds.
    pub fn answer(self: &Arc<Self>, request: Dap2Request, piece: usize) -> Result<Dap2Answer> {
        Dap2Answer::new(Arc::clone(self), request, piece)
    }

    /// The answer as text, in steps.
    ///
    /// # Errors
    /// As [`answer`](Self::answer).
    pub fn ascii(self: &Arc<Self>, request: Dap2Request, piece: usize) -> Result<Dap2Answer> {
        Dap2Answer::ascii(Arc::clone(self), request, piece)
    }

    /// Bytes of the answer with values; `None` if they depend on the values.
    pub fn answer_len(&self, request: &Dap2Request) -> Option<u64> {
        let values = request.wanted.iter().try_fold(0_u64, |sum, wanted| {
            sum.checked_add(self.declared.get(wanted.index)?.wire_len(wanted)?)
        })?;
        let head = self.dds(request).len() as u64 + answer::MARK.len() as u64;
        values.checked_add(head)
    }

    /// Bytes that the values take in memory, of fixed sizes; strings count their references.
    pub fn value_bytes(&self, request: &Dap2Request) -> u64 {
        let of =
            |wanted: &wanted::Wanted| self.declared.get(wanted.index).map_or(0, |one| one.memory_len(wanted));
        request.wanted.iter().fold(0, |sum: u64, wanted| sum.saturating_add(of(wanted)))
    }
}

/// Why DAP2 has no values of a type; `None` if it has.
fn refusal_of(model: &Model, ty: TypeRef) -> Option<&'static str> {
    let TypeRef::User(id) = ty else { return None };
    match &model.user_type(id)?.kind {
        UserKind::Enum { .. } => None,
        UserKind::Opaque(_) => Some("DAP2 has no opaque values"),
        UserKind::Vlen(_) => Some("DAP2 has no values of variable length"),
        UserKind::Compound(fields) => fields.iter().find_map(|field| match field.ty {
            TypeRef::Atomic(ncirrus_model::Atomic::Char) => Some("DAP2 has no members that are characters"),
            ty => refusal_of(model, ty),
        }),
    }
}

/// Names of the groups before a name.
fn prefix_of(model: &Model, group: GroupId) -> String {
    let path = model.group_path(group);
    let names = path.split('/').filter(|name| !name.is_empty());
    names.map(|name| format!("{name}_")).collect()
}

/// All dimensions by names that differ.
fn flat_dimensions(model: &Model) -> HashMap<DimId, String> {
    let (mut dims, mut names) = (HashMap::new(), HashSet::new());
    for group in model.walk() {
        let prefix = prefix_of(model, group);
        for id in model.group(group).map(|group| group.dims.clone()).unwrap_or_default() {
            if let Some(dim) = model.dimension(id) {
                dims.insert(id, unused(&format!("{prefix}{}", dim.name), &mut names));
            }
        }
    }
    dims
}

/// The name, with a number if it is in use.
fn unused(name: &str, names: &mut HashSet<String>) -> String {
    let mut free = name.to_owned();
    let mut number = 0_u64;
    while !names.insert(free.clone()) {
        number += 1;
        free = format!("{name}_{number}");
    }
    free
}

/// The attributes that are loaded.
fn known(state: Option<&AttributeState>) -> impl Iterator<Item = &ncirrus_model::Attribute> {
    state.and_then(AttributeState::known).into_iter().flat_map(ncirrus_model::Attributes::iter)
}

/// The variable of a declaration.
fn variable(model: &Model, id: VarId) -> Option<&ncirrus_model::Variable> {
    model.variable(id)
}

//! A dataset as a server of DAP4 shows it (docs/spec/dap.md 6, 9.2).
mod answer;
mod document;
mod request;
mod serial;

pub use answer::Dap4Answer;
pub use request::Dap4Request;

use super::NotServed;
use super::cuts::count_of;
use super::text::xml;
use document::DmrWriter;
use ncirrus_layout::{Error, ErrorKind, Result};
use ncirrus_model::{Model, TypeRef, VarId};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// A dataset as DAP4 shows it: all types of netCDF-4. Values of variable length are sequences of one column, with the
/// hint of netCDF-C that they are.
#[derive(Debug, Clone)]
pub struct Dap4Dataset {
    model: Arc<Model>,
    name: String,
    /// In the order of answers: those of a group come before those of its groups.
    variables: Vec<VarId>,
    left_out: Vec<NotServed>,
}

impl Dap4Dataset {
    /// The dataset with these definitions. Attributes that are not loaded are missing.
    pub fn new(model: Arc<Model>, name: &str) -> Self {
        let (mut variables, mut left_out) = (Vec::new(), Vec::new());
        for group in model.walk() {
            for id in model.group(group).map(|group| group.vars.clone()).unwrap_or_default() {
                match model.variable(id).and_then(|variable| variable.fault.as_ref()) {
                    Some(fault) => {
                        let reason = format!("it cannot be read: {}", fault.message);
                        left_out.push(NotServed { path: model.variable_path(id), reason });
                    }
                    None => variables.push(id),
                }
            }
        }
        Self { model, name: name.to_owned(), variables, left_out }
    }

    /// The variables that cannot be read.
    pub fn left_out(&self) -> &[NotServed] {
        &self.left_out
    }

    /// What an expression (`dap4.ce`) asks for, decoded once.
    ///
    /// # Errors
    /// `NotFound` for a variable, `Invalid` for ranges that do not fit, `Unsupported` for filters.
    pub fn request(&self, expression: &str) -> Result<Dap4Request> {
        request::parse(self, expression)
    }

    /// The DMR of what is asked for.
    pub fn dmr(&self, request: &Dap4Request) -> String {
        DmrWriter::new(self, request, &BTreeMap::new()).document()
    }

    /// The answer with values, in steps; pieces have about `piece` bytes. `known`: checksums of variables that the DMR
    /// states; an answer of which all are known is the same otherwise.
    ///
    /// # Errors
    /// `Limit` if the DMR does not fit a chunk.
    pub fn answer(
        self: &Arc<Self>,
        request: Dap4Request,
        has_checksums: bool,
        known: &BTreeMap<VarId, u32>,
        piece: usize,
    ) -> Result<Dap4Answer> {
        Dap4Answer::new(Arc::clone(self), request, has_checksums, known, piece)
    }

    /// Bytes that the values take in memory and on the wire; `None` if they depend on the values.
    pub fn value_bytes(&self, request: &Dap4Request) -> Option<u64> {
        request.wanted.iter().try_fold(0_u64, |sum, wanted| {
            let count = count_of(&wanted.slices)?;
            sum.checked_add(self.element_len(wanted)?.checked_mul(count)?)
        })
    }

    /// The fewest bytes that the values may take on the wire: strings, opaque values and sequences count 8 bytes each.
    pub fn least_bytes(&self, request: &Dap4Request) -> u64 {
        request.wanted.iter().fold(0, |sum: u64, wanted| {
            let count = count_of(&wanted.slices).unwrap_or(u64::MAX);
            sum.saturating_add(self.element_len(wanted).unwrap_or(8).saturating_mul(count))
        })
    }

    /// Bytes of an element; `None` if they depend on the values.
    fn element_len(&self, wanted: &request::Wanted) -> Option<u64> {
        let variable = self.model.variable(wanted.variable)?;
        match &wanted.fields {
            None => self.fixed_len(variable.ty),
            Some(picked) => request::fields_of(&self.model, variable.ty)
                .iter()
                .enumerate()
                .filter(|(at, _)| picked.contains(at))
                .try_fold(0_u64, |sum, (_, field)| {
                    sum.checked_add(self.fixed_len(field.ty)?.checked_mul(field.element_count())?)
                }),
        }
    }

    /// Bytes of a value of a type on the wire.
    fn fixed_len(&self, ty: TypeRef) -> Option<u64> {
        if serial::has_counts(&self.model, ty) { None } else { self.model.packed_len(ty) }
    }

    fn by_path(&self) -> HashMap<Vec<String>, VarId> {
        let path = |id: VarId| {
            let variable = self.model.variable(id)?;
            let group = self.model.variable_group(id)?;
            let mut names: Vec<String> = self
                .model
                .scope(group)
                .into_iter()
                .rev()
                .skip(1)
                .filter_map(|id| Some(self.model.group(id)?.name.clone()))
                .collect();
            names.push(variable.name.clone());
            Some((names, id))
        };
        self.variables.iter().filter_map(|id| path(*id)).collect()
    }
}

/// The document of DAP4 for an error (docs/spec/dap.md 8.2).
pub fn dap4_error(status: u16, error: &Error) -> String {
    let message = match &error.place().path {
        Some(path) => format!("{path}: {}", error.message()),
        None => error.message().to_owned(),
    };
    let message = if error.kind() == ErrorKind::Internal { "the server failed".to_owned() } else { message };
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error xmlns=\"http://xml.opendap.org/ns/DAP/4.0#\" \
         httpcode=\"{status}\"><Message>{}</Message></Error>\n",
        xml(&message)
    )
}

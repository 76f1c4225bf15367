//! Updating a master whose fragments were moved.
mod old;
pub(super) mod terms;

use super::master::copy_values;
use super::names::{absolute, existing, join, last_below, relative, resolve};
use crate::whole::completed;
use ncirrus::internals::DatasetInternals;
use ncirrus::{CreateOptions, Dataset, Error, Kind, OpenOptions, Result, Selection, Session, Values};
use ncirrus_model::{Attribute, DimensionLen, Model, NodeId, Stored, Strings, VarId};
use ncirrus_store::Url;
use std::collections::BTreeMap;

/// How names of fragments change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Relocation {
    /// Replaces the folder; the last part of the name stays.
    Prefix(String),
    /// Replaces a prefix.
    Replace(String, String),
    /// Makes names relative to the master, if they are in the same store.
    Relative,
    /// Makes names absolute URLs.
    Absolute,
}

/// A name that changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenamedFragment {
    /// Path of the aggregated variable; of several that share their names, the first.
    pub variable: String,
    /// The current name.
    pub from: String,
    /// The new name.
    pub to: String,
}

/// Rewrites the locations of the fragments of an aggregation, for all its variables or for one, by any convention.
/// Only names change; the master is replaced atomically. With `dry_run` it only reports what would change.
///
/// # Errors
/// `NotFound` if there is no such aggregated variable; `Unsupported` if it shares its names with others; errors of
/// reading or replacing the master.
pub fn relocate(
    url: &str,
    relocation: &Relocation,
    variable: Option<&str>,
    dry_run: bool,
    session: &Session,
) -> Result<Vec<RenamedFragment>> {
    let raw = OpenOptions::new().raw(true);
    let dataset = Dataset::open_with(url, &raw, session)?;
    let model = dataset.model()?;
    let names = FragmentRenamer { relocation, master: url, session };
    let mut changes = MasterChanges::default();
    for aggregated in wanted(&model, variable)? {
        let path = model.variable_path(aggregated);
        changes.of(&dataset, &model, aggregated, &names).map_err(|error| error.at_path(path))?;
    }
    if !dry_run && !changes.is_empty() {
        changes.write(&dataset, url, session)?;
    }
    Ok(changes.renamed)
}

/// The aggregated variables whose names change.
fn wanted(model: &Model, variable: Option<&str>) -> Result<Vec<VarId>> {
    let all: Vec<VarId> =
        model.variables().into_iter().filter(|var| terms::is_aggregated(model, *var)).collect();
    let Some(name) = variable else {
        return if all.is_empty() {
            Err(Error::invalid("it contains no aggregated variable"))
        } else {
            Ok(all)
        };
    };
    let by_name = || all.iter().copied().find(|var| model.variable(*var).is_some_and(|v| v.name == name));
    let var = model.variable_at(name).filter(|var| all.contains(var)).or_else(by_name);
    let var = var.ok_or_else(|| Error::not_found(format!("no aggregated variable {name:?}")))?;
    let names = terms::names_of(model, var);
    let shares = |other: &VarId| *other != var && names.is_some() && terms::names_of(model, *other) == names;
    match all.into_iter().find(shares) {
        Some(other) => {
            let message =
                format!("it shares its fragment names with {}: relocate all", model.variable_path(other));
            Err(Error::unsupported(message).at_path(model.variable_path(var)))
        }
        None => Ok(vec![var]),
    }
}

/// What changes in a master.
#[derive(Default)]
struct MasterChanges {
    renamed: Vec<RenamedFragment>,
    /// Variables that hold names, and their new values.
    values: BTreeMap<VarId, Vec<String>>,
    attributes: Vec<(VarId, Attribute)>,
}

impl MasterChanges {
    fn is_empty(&self) -> bool {
        self.renamed.is_empty() && self.attributes.is_empty()
    }

    /// What changes for an aggregated variable.
    fn of(
        &mut self,
        dataset: &Dataset,
        model: &Model,
        var: VarId,
        names: &FragmentRenamer<'_>,
    ) -> Result<()> {
        let path = model.variable_path(var);
        let mut rename = |from: &str, to: &str| {
            if from != to {
                self.renamed.push(RenamedFragment {
                    variable: path.clone(),
                    from: from.to_owned(),
                    to: to.to_owned(),
                });
            }
        };
        // CFA 0.4 has the names in an attribute, later versions in a variable.
        if let Some(json) = terms::text(model, var, "cfa_array") {
            let changed = old::rename(&json, names, &mut rename)?;
            if changed != json {
                self.attributes.push((var, Attribute::text("cfa_array", &changed)));
            }
            return Ok(());
        }
        let held = terms::names_of(model, var);
        let held = held
            .ok_or_else(|| Error::malformed("the variable with the names of its fragments does not exist"))?;
        // Aggregated variables may share one variable with names.
        if self.values.contains_key(&held) {
            return Ok(());
        }
        let substitutions = terms::substitutions(model, held);
        let mut changed = Vec::new();
        for from in texts(dataset, model, held)? {
            // An empty name is that of a missing fragment.
            let to = if from.is_empty() { String::new() } else { names.rename(&from, &substitutions)? };
            rename(&from, &to);
            changed.push(to);
        }
        self.values.insert(held, changed);
        if let (Some(text), Relocation::Replace(old, new)) =
            (terms::text(model, held, "substitutions"), names.relocation)
            && text.contains(old.as_str())
        {
            let text = text.replace(old.as_str(), new);
            self.attributes.push((held, Attribute::text("substitutions", &text)));
        }
        Ok(())
    }

    /// Rewrites the master, or changes it in place if it consists of many objects.
    fn write(&self, dataset: &Dataset, url: &str, session: &Session) -> Result<()> {
        let Some(kind) = single_file_kind(dataset) else {
            let master = Dataset::update_with(url, &OpenOptions::default(), session)?;
            let (_, values) = master.edit(|model| self.apply(model))?;
            for (var, values) in values {
                master.write_values(var, &Selection::all(&master.snapshot().shape(var)), &values)?;
            }
            return master.close();
        };
        let create = CreateOptions::new().kind(kind).overwrite(true);
        completed(Dataset::create_with(url, &create, session)?, |master| {
            let source = dataset.model()?;
            let (_, values) = master.edit(|model| {
                *model = Model::clone(&source);
                self.apply(model)
            })?;
            for var in source.variables().into_iter().filter(|var| !values.contains_key(var)) {
                copy_values(master, var, dataset, var)?;
            }
            for (var, values) in values {
                master.write_values(var, &Selection::all(&master.snapshot().shape(var)), &values)?;
            }
            Ok(())
        })
    }

    /// The new definitions, and the new values of variables. In netCDF-3 the length is that of the longest name.
    fn apply(&self, model: &mut Model) -> Result<((), BTreeMap<VarId, Values>)> {
        for (var, attribute) in &self.attributes {
            if let Some(attributes) = model.attributes_mut(NodeId::Variable(*var)) {
                attributes.known_mut().put(attribute.clone());
            }
        }
        let mut values = BTreeMap::new();
        for (var, names) in &self.values {
            let is_text =
                model.variable(*var).is_some_and(|variable| variable.ty == ncirrus::Atomic::Char.into());
            values.insert(*var, if is_text { characters(model, *var, names)? } else { strings(names) });
        }
        Ok(((), values))
    }
}

fn strings(names: &[String]) -> Values {
    Values::String(names.iter().map(Some).collect::<Strings>())
}

/// Names as characters, along a last dimension that is extended if necessary.
fn characters(model: &mut Model, var: VarId, names: &[String]) -> Result<Values> {
    let longest = names.iter().map(String::len).max().unwrap_or(0).max(1) as u64;
    let mut room = model.shape(var).last().copied().unwrap_or(1);
    if longest > room {
        room = longest;
        let home = model.variable_group(var).unwrap_or_else(|| model.root());
        let name = format!("strlen{longest}");
        let fits = |dim: &_| model.dimension(*dim).is_some_and(|dim| dim.len == DimensionLen::Fixed(longest));
        let dim = match model.visible_dimension(home, &name).filter(fits) {
            Some(dim) => dim,
            None => {
                let mut free = name.clone();
                while model.visible_dimension(home, &free).is_some() {
                    free.push('_');
                }
                model.add_dimension(home, &free, DimensionLen::Fixed(longest))?
            }
        };
        let old = model.variable_mut(var).and_then(|variable| {
            let last = variable.dims.last_mut()?;
            Some(std::mem::replace(last, dim))
        });
        // The shorter dimension may have been there for these names alone.
        if let Some(old) = old.filter(|old| model.users_of(*old).next().is_none()) {
            model.remove_dimension(old)?;
        }
    }
    let room = usize::try_from(room).unwrap_or(0);
    let mut text = Vec::new();
    for name in names {
        let end = text.len() + room;
        text.extend_from_slice(name.as_bytes());
        text.resize(end, 0);
    }
    Ok(Values::Char(text))
}

/// The names in a variable.
pub(super) fn texts(dataset: &Dataset, model: &Model, var: VarId) -> Result<Vec<String>> {
    let shape = model.shape(var);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim_end_matches(['\0', ' ']).to_owned();
    Ok(match dataset.read_values(var, &Selection::all(&shape))? {
        Values::String(strings) => strings.iter().map(|name| text(name.unwrap_or_default())).collect(),
        Values::Char(characters) => {
            let room = shape.last().and_then(|room| usize::try_from(*room).ok()).unwrap_or(1).max(1);
            characters.chunks(room).map(text).collect()
        }
        _ => return Err(Error::malformed("names are strings").at_path(model.variable_path(var))),
    })
}

/// The kind of a dataset that is one file; `None` for one of many objects.
pub(crate) fn single_file_kind(dataset: &Dataset) -> Option<Kind> {
    let kind = dataset.kind();
    match kind.stored {
        Stored::Classic | Stored::Hdf5 => Some(Kind::like(kind)),
        // What a server sends as netCDF-3 is like a file of it.
        Stored::Dap2 | Stored::Dap4 => kind.is_classic().then(|| Kind::like(kind)),
        Stored::Zarr(_) => None,
    }
}

/// Makes new names of old ones.
pub(super) struct FragmentRenamer<'a> {
    relocation: &'a Relocation,
    master: &'a str,
    session: &'a Session,
}

impl FragmentRenamer<'_> {
    /// The new name.
    fn rename(&self, name: &str, substitutions: &[(String, String)]) -> Result<String> {
        let whole = || substitutions.iter().fold(name.to_owned(), |name, (old, new)| name.replace(old, new));
        match self.relocation {
            Relocation::Prefix(prefix) => Ok(join(prefix, &last_below(prefix, self.master, &whole())?)),
            Relocation::Replace(old, new) => Ok(match name.strip_prefix(old.as_str()) {
                Some(rest) => format!("{new}{rest}"),
                None => name.to_owned(),
            }),
            Relocation::Absolute => absolute(&resolve(self.master, &whole())?),
            Relocation::Relative => self.relative(&whole()),
        }
    }

    /// The name relative to the master. What an absolute name with escapes means depends on which object exists, and a
    /// relative name would no longer say so.
    fn relative(&self, name: &str) -> Result<String> {
        let (master, place) = (Url::parse(self.master)?, resolve(self.master, name)?);
        if relative(&master, &place)?.is_none() {
            return absolute(&place);
        }
        let place = existing(self.master, name, self.session)?.ok_or_else(|| {
            let message = "its escapes can be read in several ways, and no such object exists";
            Error::not_found(message).at_object(name)
        })?;
        relative(&master, &place)?.map_or_else(|| absolute(&place), Ok)
    }
}

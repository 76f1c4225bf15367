//! Fragments that are created and changed part by part.
use super::super::origin::RecordedAggregation;
use super::super::shape::known;
use super::related::RelatedVariables;
use super::{FragmentStorage, WrittenFragment};
use crate::whole::completed;
use ncirrus::internals::DatasetInternals;
use ncirrus::{
    Attributes, CodecSpec, CreateOptions, Dataset, Endianness, Error, Fill, Kind, OpenOptions, Result,
    Selection, Session, Storage, TypeRef, Values,
};
use ncirrus_aggregate::write::Convention;
use ncirrus_model::{
    Atomic, AttributeState, DatasetKind, DimId, Model, NodeId, VarId, Variable, default_fill,
};
use ncirrus_netcdf_view::formats;
use ncirrus_store::Url;
use std::collections::BTreeSet;

/// A variable as it is defined in its fragments.
#[derive(Debug, Clone)]
pub(super) struct FragmentDefinition {
    pub(super) path: String,
    ty: TypeRef,
    attributes: Attributes,
    fill: Fill,
    /// The value of elements never written.
    unwritten: Values,
    endianness: Endianness,
    filters: Vec<CodecSpec>,
    chunks: Option<Vec<u64>>,
    var: VarId,
}

/// What is written of a fragment.
pub(super) struct WrittenPart {
    pub(super) selection: Selection,
    pub(super) values: Values,
}

/// The definitions of a fragment.
pub(super) struct FragmentHome<'a> {
    pub(super) master: &'a Dataset,
    pub(super) kind: Kind,
    pub(super) convention: Convention,
    pub(super) dims: &'a [DimId],
    /// Variables whose values are not in the master.
    pub(super) divided: BTreeSet<VarId>,
    /// Whether a dataset that is there is replaced.
    pub(super) replaces: bool,
}

/// Format as S3netCDF4 names it.
pub(super) fn format(kind: Kind) -> &'static str {
    formats::name(DatasetKind::from(kind).format)
}

/// Which dimensions of a fragment grow: in netCDF-3 only the first one can.
pub(super) fn may_grow(grows: &[bool], kind: Kind) -> Vec<bool> {
    let is_classic = kind.is_classic() || kind == Kind::Nc4Classic;
    grows.iter().enumerate().map(|(at, grows)| *grows && (at == 0 || !is_classic)).collect()
}

impl FragmentDefinition {
    /// As the master defines the variable now.
    ///
    /// # Errors
    /// `NotFound` if it was removed.
    pub(super) fn of(model: &Model, var: VarId, storage: &FragmentStorage) -> Result<Self> {
        let variable = model.variable(var).ok_or_else(|| Error::not_found("the variable was removed"))?;
        let attributes = known(model, NodeId::Variable(var));
        let is_in_attribute = attributes.find("_FillValue").is_some();
        let fill = if is_in_attribute { Fill::Attribute } else { variable.fill.clone() };
        let filled = Variable { fill: fill.clone(), ..variable.clone() };
        Ok(Self {
            path: model.variable_path(var),
            ty: variable.ty,
            fill,
            unwritten: filled.fill_value().unwrap_or_else(|| default_fill(Atomic::Byte)),
            attributes,
            endianness: variable.endianness,
            filters: storage.filters.clone(),
            chunks: storage.chunks.clone(),
            var,
        })
    }

    /// Defines the variable in a fragment of that kind and those lengths.
    fn add_to(&self, model: &mut Model, dims: &[DimId], kind: Kind, lens: &[u64]) -> Result<VarId> {
        let var = add_variable(model, &self.path, self.ty, dims)?;
        if let Some(variable) = model.variable_mut(var) {
            variable.attributes = AttributeState::Known(self.attributes.clone());
            variable.fill = self.fill.clone();
            if !kind.is_classic() {
                variable.endianness = self.endianness;
                variable.filters = self.filters.clone();
                if let Some(chunks) = &self.chunks {
                    let fitting = chunks.iter().zip(lens).map(|(chunk, len)| *chunk.min(len).max(&1));
                    variable.storage = Storage::Chunked(fitting.collect());
                }
            }
        }
        Ok(var)
    }
}

/// Adds a variable by its path; the groups of the path are created.
pub(super) fn add_variable(model: &mut Model, path: &str, ty: TypeRef, dims: &[DimId]) -> Result<VarId> {
    let (group, name) = path.rsplit_once('/').unwrap_or(("", path));
    let mut home = model.root();
    for part in group.split('/').filter(|part| !part.is_empty()) {
        home = match model.subgroup(home, part) {
            Some(group) => group,
            None => model.add_group(home, part)?,
        };
    }
    Ok(model.add_variable(home, name, ty, dims)?)
}

/// Creates a fragment with its first values, and what describes them in the master so far.
pub(super) fn create(
    url: &str,
    definition: &FragmentDefinition,
    home: &FragmentHome<'_>,
    (starts, lens, grows): (&[u64], &[u64], &[bool]),
    part: Option<&WrittenPart>,
) -> Result<()> {
    let session = home.master.session();
    super::super::split::make_folder(url, session)?;
    let create = CreateOptions::new().kind(home.kind).overwrite(home.replaces);
    let fragment = Dataset::create_with(url, &create, session)?;
    completed(fragment, |fragment| {
        let model = home.master.snapshot();
        let (var, related) = fragment.edit(|new| {
            let mut related = RelatedVariables::new(&model, home.dims, (starts, lens, grows));
            let dims = related.add_dimensions(new)?;
            let var = definition.add_to(new, &dims, home.kind, lens)?;
            let record = RecordedAggregation::attribute(&model, home.convention);
            related.add_variables(new, definition.var, &home.divided, (&record, home.kind))?;
            Ok((var, related))
        })?;
        related.copy(home.master, fragment)?;
        match part {
            Some(part) => fragment.variable_by_id(var).write_values(&part.selection, &part.values),
            None => Ok(()),
        }
    })
}

/// Changes a part of an existing fragment.
pub(super) fn update(
    existing: &WrittenFragment,
    definition: &FragmentDefinition,
    part: &WrittenPart,
    session: &Session,
) -> Result<()> {
    refuse_log(&existing.url)?;
    let fragment = Dataset::update_with(&existing.url, &OpenOptions::default(), session)?;
    // S3netCDF4 names a variable of a group without the group (docs/spec/cfa.md 3.3).
    let found = fragment.variable(&existing.variable).or_else(|_| fragment.variable(&definition.path))?;
    if found.ty() != Some(definition.ty) {
        let message = "the fragment's values have another type, or are packed: write the fragment directly";
        return Err(Error::unsupported(message).at_object(&*existing.url));
    }
    found.write_values(&part.selection, &part.values)?;
    fragment.close()
}

/// The address of a fragment is text of a dataset, which may not start a log in a file of its choice.
fn refuse_log(url: &str) -> Result<()> {
    if Url::parse(url)?.fragment().value("log").is_some() {
        return Err(Error::invalid("the address of a fragment requests a log").at_object(url));
    }
    Ok(())
}

/// Extends a fragment to a length, with fill values; one that is long enough stays as it is.
pub(super) fn lengthen(
    existing: &mut WrittenFragment,
    definition: &FragmentDefinition,
    wants: &[u64],
    session: &Session,
) -> Result<()> {
    let has = existing.shape.clone();
    if has.iter().zip(wants).all(|(has, wants)| has >= wants) {
        return Ok(());
    }
    // Writes only the last element: those in between were never written.
    let start: Vec<u64> =
        has.iter().zip(wants).map(|(has, wants)| if has < wants { wants - 1 } else { 0 }).collect();
    let selection = Selection::slab(&start, &vec![1; start.len()]);
    update(existing, definition, &WrittenPart { selection, values: definition.unwritten.clone() }, session)?;
    existing.shape.iter_mut().zip(wants).for_each(|(len, wants)| *len = (*len).max(*wants));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::refuse_log;

    #[test]
    fn a_dataset_starts_no_log_by_the_address_of_a_fragment() {
        for url in ["/data/a.nc", "s3://bucket/a.nc", "file:///a#mode=nczarr,file"] {
            assert!(refuse_log(url).is_ok(), "{url}");
        }
        for url in ["/data/a.nc#log=/home/user/.profile", "file:///a#mode=nczarr,file&log=/x"] {
            assert!(refuse_log(url).unwrap_err().to_string().contains("requests a log"), "{url}");
        }
    }
}

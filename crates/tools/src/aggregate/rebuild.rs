//! A lost master, recreated from its fragments (docs/spec/cfa.md 7.4).
use super::Aggregation;
use super::each::each;
use super::list::list;
use super::master::{MasterOptions, MasterPlan, StoredValues, unpack};
use super::names::{folder_of, join, read};
use super::origin::RecordedAggregation;
use super::split::FragmentNames;
use ncirrus::internals::DatasetInternals;
use ncirrus::{Dataset, Error, OpenOptions, Result, Selection, Session, Values};
use ncirrus_aggregate::write::{FragmentArray, FragmentCell};
use ncirrus_layout::grid::{block_starts, row_major_index};
use ncirrus_model::{AttributeState, DimId, DimensionLen, GroupId, Model, NodeId, VarId};
use ncirrus_netcdf_view::formats;
use std::collections::{BTreeMap, BTreeSet};

/// Recreates a lost master from the fragments in a folder: their names contain their positions in the array, and they
/// have their parts of the coordinates. Scalars and unlimited dimensions are those that the fragments record. Absent fragments are treated as missing, if the others determine their sizes.
///
/// # Errors
/// `NotFound` if there is no fragment of the master; `Invalid` if fragments do not match each other, or are missing
/// and the convention cannot express that.
pub fn rebuild(
    target: &str,
    folder: &str,
    options: &MasterOptions,
    session: &Session,
) -> Result<Aggregation> {
    options.check(target)?;
    options.check_target(target, std::iter::empty(), session)?;
    let found = find(target, folder, session)?;
    let mut builder = MasterBuilder {
        session,
        options,
        target,
        master: MasterPlan::empty(),
        seen: BTreeMap::new(),
        differing: BTreeSet::new(),
    };
    let mut report = Aggregation::default();
    for (path, cells) in &found {
        report.files += cells.len();
        builder
            .variable(path, cells)
            .map_err(|error| error.at_path(format!("/{}", path.replace('.', "/"))))?;
    }
    RecordedAggregation::of(&builder.master.model).free(&mut builder.master.model)?;
    let aggregated: BTreeSet<VarId> = builder.master.aggregated.iter().map(|(var, _)| *var).collect();
    let model = &builder.master.model;
    for var in model.variables() {
        let list = if aggregated.contains(&var) { &mut report.aggregated } else { &mut report.stored };
        list.push(model.variable_path(var));
    }
    let note = |name: &String| format!("{name} has different values in the fragments: the last one is taken");
    report.notes.extend(builder.differing.iter().map(note));
    builder.master.write(target, options, session)?;
    Ok(report)
}

/// The options of the lost master, as far as a fragment records them: its convention.
///
/// # Errors
/// `NotFound` if there is no fragment of the master; errors of opening one.
pub fn recorded_options(target: &str, folder: &str, session: &Session) -> Result<MasterOptions> {
    let found = find(target, folder, session)?;
    let Some(url) = found.values().flat_map(BTreeMap::values).next() else {
        return Ok(MasterOptions::default());
    };
    let fragment = Dataset::open_with(url, &OpenOptions::default(), session)?;
    let recorded = RecordedAggregation::of(fragment.model()?.as_ref());
    Ok(MasterOptions::new().convention(recorded.convention.unwrap_or_default()))
}

/// Fragments by their position in the array.
type FragmentCells = BTreeMap<Vec<usize>, String>;

/// The fragments in a folder by the dotted names of their variables.
fn find(target: &str, folder: &str, session: &Session) -> Result<BTreeMap<String, FragmentCells>> {
    let start = start_of(target, folder);
    let mut found: BTreeMap<String, FragmentCells> = BTreeMap::new();
    for url in list(&[join(folder, "*.nc")], session)? {
        if let Some((path, place)) = position(&start, folder, &url) {
            found.entry(path).or_default().insert(place, url);
        }
    }
    if found.is_empty() {
        Err(Error::not_found(format!("no fragment's name starts with {start:?}")).at_object(folder))
    } else {
        Ok(found)
    }
}

/// How the keys of a master's fragments start.
fn start_of(target: &str, folder: &str) -> String {
    format!("{}.", read(target, FragmentNames::beside(target, Some(folder)).base()))
}

/// The dotted name of a fragment's variable, and its position, by its key: addresses may write one key in several ways.
fn position(start: &str, folder: &str, url: &str) -> Option<(String, Vec<usize>)> {
    let name = read(folder, url.get(folder_of(url).len()..)?);
    let rest = name.strip_prefix(start)?.strip_suffix(".nc")?;
    let parts: Vec<&str> = rest.split('.').collect();
    let digits = parts.iter().rev().take_while(|part| part.parse::<usize>().is_ok()).count();
    let (path, place) = parts.split_at(parts.len() - digits);
    Some((path.join("."), place.iter().filter_map(|part| part.parse().ok()).collect()))
}

struct MasterBuilder<'a> {
    session: &'a Session,
    options: &'a MasterOptions,
    target: &'a str,
    master: MasterPlan,
    /// Existing parts of stored variables, and their numbers among those of the master.
    seen: BTreeMap<(String, Vec<u64>), usize>,
    /// Paths of scalars of which fragments have different values.
    differing: BTreeSet<String>,
}

impl MasterBuilder<'_> {
    /// Adds an aggregated variable, and what its fragments contain of the others.
    fn variable(&mut self, dotted: &str, cells: &FragmentCells) -> Result<()> {
        let urls: Vec<(&Vec<usize>, &String)> = cells.iter().collect();
        let opened = each(&urls, 16, None, |_, (place, url)| {
            let dataset = Dataset::open_with(url, &OpenOptions::default(), self.session)?;
            let model = dataset.model()?;
            let var = model.variable_at(&dotted.replace('.', "/"));
            let var =
                var.or_else(|| model.variables().into_iter().find(|var| dotted_path(&model, *var) == dotted));
            let var = var.ok_or_else(|| Error::not_found("it is missing in the fragment").at_object(*url))?;
            // Only one stays open: there may be more of them than allowed open files.
            Ok((
                model.variable_path(var),
                model.shape(var),
                formats::name(dataset.kind().format),
                (*place).clone(),
            ))
        })?;
        let Some((path, shape, ..)) = opened.first() else { return Ok(()) };
        let mut sizes: Vec<BTreeMap<usize, u64>> = vec![BTreeMap::new(); shape.len()];
        for (_, shape, _, place) in &opened {
            if place.len() != sizes.len() || shape.len() != sizes.len() {
                return Err(Error::invalid(format!("fragment {place:?} has {} dimensions", shape.len())));
            }
            for ((sizes, at), len) in sizes.iter_mut().zip(place).zip(shape) {
                if *sizes.entry(*at).or_insert(*len) != *len {
                    return Err(Error::invalid(format!(
                        "fragment {place:?} has a different shape than its neighbours"
                    )));
                }
            }
        }
        let whole = |sizes: &BTreeMap<usize, u64>| {
            let count = sizes.last_key_value().map_or(0, |(last, _)| last + 1);
            let size = |at: usize| {
                sizes
                    .get(&at)
                    .copied()
                    .ok_or_else(|| Error::invalid(format!("no fragment has {at} along a dimension")))
            };
            (0..count).map(size).collect::<Result<Vec<u64>>>()
        };
        let sizes = sizes.iter().map(whole).collect::<Result<Vec<Vec<u64>>>>()?;
        for (_, url) in &urls {
            self.collect(path, &sizes, cells, url)?;
        }
        let formats: BTreeMap<&Vec<usize>, &'static str> =
            opened.iter().map(|(_, _, format, place)| (place, *format)).collect();
        self.aggregate(path, sizes.clone(), cells, &formats)
    }

    /// Takes new definitions from a fragment, and its values of stored variables.
    fn collect(&mut self, path: &str, sizes: &[Vec<u64>], cells: &FragmentCells, url: &str) -> Result<()> {
        let Some(at) = cells.iter().find(|(_, other)| *other == url).map(|(place, _)| place) else {
            return Ok(());
        };
        let dataset = Dataset::open_with(url, &OpenOptions::default(), self.session)?;
        let model = dataset.model()?;
        let Some(var) = model.variable_at(path) else { return Ok(()) };
        let dims = model.variable(var).map(|variable| variable.dims.clone()).unwrap_or_default();
        let extent = |dim: &DimId| {
            let along = dims.iter().position(|other| other == dim)?;
            let (sizes, at) = (sizes.get(along)?, *at.get(along)?);
            Some((block_starts(sizes).get(at).copied()?, sizes.iter().sum::<u64>()))
        };
        let len = |dim: DimId| {
            extent(&dim)
                .map_or_else(|| model.dimension(dim).map_or(0, |dim| dim.len.current()), |(_, len)| len)
        };
        self.merge(&model, &len)?;
        // Variables beside the fragmented one: each part of each is stored once, from the first fragment that has it.
        for other in model.variables().into_iter().filter(|other| *other != var) {
            let (name, shape) = (model.variable_path(other), model.shape(other));
            let other_dims = model.variable(other).map(|variable| variable.dims.clone()).unwrap_or_default();
            let start: Vec<u64> =
                other_dims.iter().map(|dim| extent(dim).map_or(0, |(start, _)| start)).collect();
            let part = (name.clone(), start.clone());
            let seen = self.seen.get(&part).copied();
            if shape.contains(&0) || (seen.is_some() && !shape.is_empty()) {
                continue;
            }
            let values =
                dataset.read_values(other, &Selection::all(&shape)).map_err(|error| error.at_path(&*name))?;
            if let Some(number) = seen {
                let fill = model.variable(other).and_then(ncirrus_model::Variable::fill_value);
                self.replace_scalar(&name, number, values, fill.as_ref());
            } else if let Some(target) = self.master.model.variable_at(&name) {
                self.seen.insert(part, self.master.stored.len());
                self.master.stored.push(StoredValues::Values(
                    target,
                    Selection::slab(&start, &shape),
                    values,
                ));
            }
        }
        Ok(())
    }

    /// Replaces the value of a scalar by that of a later fragment, unless that is a fill value: a fragment may have been
    /// written before the scalar.
    fn replace_scalar(&mut self, name: &str, number: usize, values: Values, fill: Option<&Values>) {
        let Some(StoredValues::Values(_, _, old)) = self.master.stored.get_mut(number) else { return };
        let is_fill = |values: &Values| fill.is_some_and(|fill| fill.is_identical(values));
        if is_fill(&values) || values.is_identical(old) {
            return;
        }
        if !is_fill(old) {
            self.differing.insert(name.to_owned());
        }
        *old = values;
    }

    /// Adds the definitions that the master does not have yet.
    fn merge(&mut self, from: &Model, len: &impl Fn(DimId) -> u64) -> Result<()> {
        let to = &mut self.master.model;
        for group in from.walk() {
            let home = ensure_group(to, &from.group_path(group))?;
            let Some(group) = from.group(group) else { continue };
            if let (Some(attributes), Some(target)) =
                (group.attributes.known(), to.attributes_mut(NodeId::Group(home)))
                // The first fragment that has attributes of a group decides; those of the master come first.
                && target.known().is_none_or(ncirrus_model::Attributes::is_empty)
            {
                *target = AttributeState::Known(attributes.clone());
            }
            for dim in &group.dims {
                let Some(dimension) = from.dimension(*dim) else { continue };
                match to.dimension_in(home, &dimension.name) {
                    None => _ = to.add_dimension(home, &dimension.name, DimensionLen::Fixed(len(*dim)))?,
                    Some(old) if to.dimension(old).is_some_and(|old| old.len.current() != len(*dim)) => {
                        let message =
                            format!("dimension {:?} differs in length between fragments", dimension.name);
                        return Err(Error::invalid(message));
                    }
                    Some(_) => {}
                }
            }
            for var in &group.vars {
                let Some(variable) = from.variable(*var) else { continue };
                if to.variable_in(home, &variable.name).is_some() {
                    continue;
                }
                let find = |dim: &DimId| to.dimension_at(&from.dimension_path(*dim));
                let dims: Vec<DimId> = variable.dims.iter().filter_map(find).collect();
                let new = to.add_variable(home, &variable.name, variable.ty, &dims)?;
                if let Some(new) = to.variable_mut(new) {
                    *new = ncirrus_model::Variable {
                        dims,
                        // Chunks of a fragment may be longer than those that suit the whole.
                        storage: ncirrus::Storage::Default,
                        shards: None,
                        ..variable.clone()
                    };
                }
            }
        }
        Ok(())
    }

    fn aggregate(
        &mut self,
        path: &str,
        sizes: Vec<Vec<u64>>,
        cells: &FragmentCells,
        formats: &BTreeMap<&Vec<usize>, &'static str>,
    ) -> Result<()> {
        let var = self.master.model.variable_at(path).ok_or_else(|| Error::internal("it was added"))?;
        if self.options.convention.is_unpacked() {
            unpack(&mut self.master.model, var);
        }
        let lens: Vec<usize> = sizes.iter().map(Vec::len).collect();
        let cell = |number: usize| {
            let place = row_major_index(number, &lens);
            let Some(url) = cells.get(&place) else { return Ok(None) };
            let file = self.options.effective_naming().name(self.target, url)?.into();
            let format = formats.get(&place).copied().unwrap_or("NETCDF4");
            Ok(Some(FragmentCell { file, variable: path.into(), format }))
        };
        let cells = (0..lens.iter().product()).map(cell).collect::<Result<_>>()?;
        let lacking = vec![false; sizes.len()];
        self.master.aggregated.push((var, FragmentArray { sizes, cells, lacking }));
        Ok(())
    }
}

fn dotted_path(model: &Model, var: VarId) -> String {
    model.variable_path(var).trim_start_matches('/').replace('/', ".")
}

fn ensure_group(model: &mut Model, path: &str) -> Result<GroupId> {
    let mut group = model.root();
    for name in path.split('/').filter(|name| !name.is_empty()) {
        group = match model.subgroup(group, name) {
            Some(group) => group,
            None => model.add_group(group, name)?,
        };
    }
    Ok(group)
}

#[cfg(test)]
mod tests {
    use super::{position, start_of};

    #[test]
    fn fragments_are_recognised_by_the_keys_that_addresses_name() {
        for (target, folder, name) in [
            ("https://h/b/my run#1.nca", "https://h/b/f", "my%20run.v%20w.1.0.nc"),
            ("https://h/b/my%20run.nca", "https://h/b/f", "my%20run.v%20w.1.0.nc"),
            ("/d/my run.nca", "https://h/b/f", "my%20run.v%20w.1.0.nc"),
            ("https://h/b/my%20run.nca", "s3://b/f", "my run.v w.1.0.nc"),
            ("/d/my run.nca", "/d/f", "my run.v w.1.0.nc"),
        ] {
            let found = position(&start_of(target, folder), folder, &format!("{folder}/{name}"));
            assert_eq!(found, Some(("v w".to_owned(), vec![1, 0])), "{target} {folder}");
        }
        assert_eq!(position(&start_of("/d/a.nca", "/d/f"), "/d/f", "/d/f/b.v.0.nc"), None);
    }
}

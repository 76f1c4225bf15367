//! An existing aggregation, decomposed into what its files were like: added files are arranged with them as if all
//! had been given at once.
use super::AggregateOptions;
use super::existing::ExistingFragments;
use super::names::{address, resolve};
use super::parts::FilePart;
use super::shape::{FirstFile, JoinAxis, axis, likely_axis};
use ncirrus::internals::DatasetInternals;
use ncirrus::{Dataset, Error, Result, Selection, Values};
use ncirrus_aggregate::write::FragmentArray;
use ncirrus_engine::convert;
use ncirrus_layout::grid::{block_starts, row_major_index};
use ncirrus_model::{DimId, ExactNumber, Model, VarId};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// What the files of the aggregation were like, and where each of them is.
pub(super) fn take_apart(
    master: &Dataset,
    existing: &ExistingFragments,
    file: &Model,
    options: &AggregateOptions<'_>,
) -> Result<(FirstFile, Vec<FilePart>)> {
    let whole = master.model()?;
    let (axes, is_new) = axes_of(&whole, existing, file, options)?;
    let dims: Vec<DimId> = axes.iter().filter_map(|axis| axis.dim).collect();
    let along = |var: VarId| -> Vec<bool> {
        dims.iter().map(|dim| whole.variable(var).is_some_and(|var| var.dims.contains(dim))).collect()
    };
    let of = |var: VarId| (along(var), existing.arrays.contains_key(&var));
    let model = if is_new { without(&whole, existing, &dims)? } else { Model::clone(&whole) };
    let axes_of_files: Vec<JoinAxis> =
        axes.iter().map(|axis| JoinAxis { dim: axis.dim.filter(|_| !is_new), ..axis.clone() }).collect();
    let template = FirstFile::of_master(master, model, axes_of_files, is_new, of, options.compare)?;
    let blocks: Vec<Vec<u64>> =
        axes.iter().map(|axis| edges(&whole, existing, axis)).collect::<Result<_>>()?;
    let of_array = |(var, array): (&VarId, &FragmentArray)| (*var, array.starts());
    let starts = existing.arrays.iter().map(of_array).collect();
    let (axes, blocks) = (&axes[..], &blocks[..]);
    let pieces = AddedPieces { master, whole: &whole, existing, starts, axes, blocks, template: &template };
    let parts = pieces.all()?;
    Ok((template, parts))
}

/// The axes along which files are added, and whether the files lack it. By default it is a dimension that the first
/// of the files lacks, then those along which the aggregation is divided, then as for files alone.
fn axes_of(
    model: &Model,
    existing: &ExistingFragments,
    file: &Model,
    options: &AggregateOptions<'_>,
) -> Result<(Vec<JoinAxis>, bool)> {
    let new = options.new_axis.clone().or_else(|| lacked(model, existing, file));
    if !options.axes.is_empty() {
        return Ok((options.axes.iter().map(|name| axis(model, name)).collect::<Result<_>>()?, false));
    }
    if let Some(name) = new {
        if file.visible_dimension(file.root(), &name).is_some() {
            let message = format!("dimension {name:?} already exists: use it as the axis, not as a new one");
            return Err(Error::invalid(message));
        }
        let no = || Error::not_found(format!("the aggregation has no dimension {name:?}"));
        model.dimension_at(&name).ok_or_else(no)?;
        return Ok((vec![axis(model, &name)?], true));
    }
    let cut = cut_along(model, existing);
    if !cut.is_empty() {
        return Ok((cut.iter().map(|name| axis(model, name)).collect::<Result<_>>()?, false));
    }
    let name = likely_axis(file).or_else(|_| likely_axis(model))?;
    Ok((vec![axis(model, &name)?], false))
}

/// The one dimension of an aggregated variable that the same variable in a file lacks.
fn lacked(model: &Model, existing: &ExistingFragments, file: &Model) -> Option<String> {
    let names = |model: &Model, var: VarId| -> Vec<String> {
        let dims = model.variable(var).map(|variable| variable.dims.clone()).unwrap_or_default();
        dims.iter().filter_map(|dim| model.dimension(*dim)).map(|dim| dim.name.clone()).collect()
    };
    existing.arrays.keys().find_map(|var| {
        let there = names(file, file.variable_at(&model.variable_path(*var))?);
        let all = names(model, *var);
        let mut lacking = all.iter().filter(|name| !there.contains(name));
        match (lacking.next(), lacking.next()) {
            (Some(name), None) if there.len() + 1 == all.len() => Some(name.clone()),
            _ => None,
        }
    })
}

/// Paths of the dimensions along which some variable has several fragments.
fn cut_along(model: &Model, existing: &ExistingFragments) -> Vec<String> {
    let mut cut: Vec<DimId> = Vec::new();
    for (var, array) in &existing.arrays {
        let dims = model.variable(*var).map(|variable| variable.dims.clone()).unwrap_or_default();
        let several = dims.iter().zip(&array.sizes).filter(|(_, sizes)| sizes.len() > 1);
        for (dim, _) in several {
            if !cut.contains(dim) {
                cut.push(*dim);
            }
        }
    }
    cut.into_iter().map(|dim| model.dimension_path(dim)).collect()
}

/// Definitions without a new axis, as the files have them.
fn without(whole: &Model, existing: &ExistingFragments, dims: &[DimId]) -> Result<Model> {
    let mut model = whole.clone();
    for (var, array) in &existing.arrays {
        let own = whole.variable(*var).map(|variable| variable.dims.clone()).unwrap_or_default();
        let at = own.iter().position(|dim| dims.contains(dim));
        let is_odd = at.is_some_and(|at| at > 0) || own.iter().filter(|dim| dims.contains(dim)).count() > 1;
        let steps =
            at.and_then(|at| array.sizes.get(at)).is_none_or(|sizes| sizes.iter().all(|size| *size == 1));
        if is_odd || !steps {
            let message = "files without a dimension can be steps of it only if it is the first dimension, with one step per fragment";
            return Err(Error::unsupported(message).at_path(whole.variable_path(*var)));
        }
    }
    for var in whole.variables() {
        if let Some(variable) = model.variable_mut(var)
            && variable.dims.iter().any(|dim| dims.contains(dim))
        {
            variable.dims.retain(|dim| !dims.contains(dim));
            variable.storage = ncirrus::Storage::Default;
            variable.shards = None;
        }
    }
    dims.iter().try_for_each(|dim| model.remove_dimension(*dim).map(|_| ()))?;
    Ok(model)
}

/// Where all aggregated variables along an axis begin new fragments, and the end of the axis.
fn edges(model: &Model, existing: &ExistingFragments, axis: &JoinAxis) -> Result<Vec<u64>> {
    let mut common: Option<BTreeSet<u64>> = None;
    for (var, array) in &existing.arrays {
        let dims = model.variable(*var).map(|variable| variable.dims.clone()).unwrap_or_default();
        let at = dims.iter().position(|dim| Some(*dim) == axis.dim);
        let Some(sizes) = at.and_then(|at| array.sizes.get(at)) else { continue };
        let starts: BTreeSet<u64> = block_starts(sizes).into_iter().collect();
        common = Some(match common {
            Some(common) => common.intersection(&starts).copied().collect(),
            None => starts,
        });
    }
    let none = || Error::unsupported(format!("no aggregated variable has the dimension {}", axis.name));
    let len = axis.dim.and_then(|dim| model.dimension(dim)).map_or(0, |dim| dim.len.current());
    Ok(common.ok_or_else(none)?.into_iter().filter(|start| *start < len).chain([len]).collect())
}

/// What the parts are made of.
struct AddedPieces<'a> {
    master: &'a Dataset,
    whole: &'a Model,
    existing: &'a ExistingFragments,
    /// Where fragments begin.
    starts: BTreeMap<VarId, Vec<Vec<u64>>>,
    axes: &'a [JoinAxis],
    /// For each axis, where parts begin, and its end.
    blocks: &'a [Vec<u64>],
    template: &'a FirstFile,
}

impl AddedPieces<'_> {
    fn all(&self) -> Result<Vec<FilePart>> {
        let collected: Vec<(VarId, Values)> =
            self.template.collected().map(|member| self.values(member.var)).collect::<Result<_>>()?;
        let coordinates: Vec<Option<Vec<ExactNumber>>> =
            self.axes.iter().map(|axis| self.coordinates(axis, &collected)).collect::<Result<_>>()?;
        let lens: Vec<usize> = self.blocks.iter().map(|edges| edges.len().saturating_sub(1)).collect();
        let part = |number: usize| {
            let block: Vec<Range<u64>> = row_major_index(number, &lens)
                .iter()
                .zip(self.blocks)
                .filter_map(|(at, edges)| range(edges, *at))
                .collect();
            self.part(&block, &collected, &coordinates)
        };
        (0..lens.iter().product()).map(part).collect()
    }

    fn values(&self, var: VarId) -> Result<(VarId, Values)> {
        let all = Selection::all(&self.whole.shape(var));
        let values = self.master.read_values(var, &all);
        Ok((var, values.map_err(|error| error.at_path(self.whole.variable_path(var)))?))
    }

    fn coordinates(
        &self,
        axis: &JoinAxis,
        collected: &[(VarId, Values)],
    ) -> Result<Option<Vec<ExactNumber>>> {
        let Some(coordinate) = axis.coordinate else { return Ok(None) };
        let found = collected.iter().find(|(var, _)| *var == coordinate);
        let values = found.map_or_else(|| self.values(coordinate), |found| Ok(found.clone()))?.1;
        let numbers = ExactNumber::all(&values);
        Ok((numbers.len() == values.len() && !numbers.is_empty()).then_some(numbers))
    }

    fn part(
        &self,
        block: &[Range<u64>],
        collected: &[(VarId, Values)],
        coordinates: &[Option<Vec<ExactNumber>>],
    ) -> Result<FilePart> {
        let mut part = FilePart {
            lens: block.iter().map(|range| range.end - range.start).collect(),
            ..FilePart::default()
        };
        for (range, numbers) in block.iter().zip(coordinates) {
            let own = numbers.as_ref().and_then(|numbers| numbers.get(indices(range)));
            part.coordinates.push(own.map(<[ExactNumber]>::to_vec));
        }
        for (var, values) in collected {
            let ranges = self.ranges(*var, block);
            part.collected.push(taken(values, &self.whole.shape(*var), &ranges)?);
        }
        let mut fragments = BTreeMap::new();
        for (number, member) in self.template.members.iter().enumerate() {
            if let (true, Some(array), Some(starts)) = (
                member.along.contains(&true),
                self.existing.arrays.get(&member.var),
                self.starts.get(&member.var),
            ) {
                fragments.insert(number, sub_array(array, starts, &self.ranges(member.var, block)));
            }
        }
        let first = fragments.values().find_map(|array| array.cells.iter().flatten().next());
        let url = first.map(|cell| resolve(self.master.url(), &self.existing.whole_name(&cell.file)));
        part.url = url.transpose()?.map_or_else(|| Ok(self.master.url().to_string()), |url| address(&url))?;
        part.fragments = Some(fragments);
        Ok(part)
    }

    /// The elements of a variable in a block.
    fn ranges(&self, var: VarId, block: &[Range<u64>]) -> Vec<Range<u64>> {
        let dims = self.whole.variable(var).map(|variable| variable.dims.clone()).unwrap_or_default();
        let range = |(dim, len): (&DimId, u64)| {
            let at = self.axes.iter().position(|axis| axis.dim == Some(*dim));
            at.and_then(|at| block.get(at).cloned()).unwrap_or(0..len)
        };
        dims.iter().zip(self.whole.shape(var)).map(range).collect()
    }
}

fn range(edges: &[u64], at: usize) -> Option<Range<u64>> {
    Some(*edges.get(at)?..*edges.get(at + 1)?)
}

fn indices(range: &Range<u64>) -> Range<usize> {
    let index = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
    index(range.start)..index(range.end)
}

/// A box of values of any shape.
fn taken(values: &Values, shape: &[u64], ranges: &[Range<u64>]) -> Result<Values> {
    let mut indices = vec![0usize];
    for (range, len) in ranges.iter().zip(shape) {
        let along = self::indices(range);
        let len = usize::try_from(*len).unwrap_or(usize::MAX);
        let of = |index: &usize| {
            let first = index.saturating_mul(len);
            along.clone().map(move |at| first.saturating_add(at)).collect::<Vec<_>>()
        };
        indices = indices.iter().flat_map(of).collect();
    }
    convert::take(values, &indices)
}

/// The fragments in a box with boundaries between fragments.
fn sub_array(array: &FragmentArray, starts: &[Vec<u64>], ranges: &[Range<u64>]) -> FragmentArray {
    let within = |(starts, range): (&Vec<u64>, &Range<u64>)| {
        let before = |end: u64| starts.partition_point(|start| *start < end);
        before(range.start)..before(range.end)
    };
    let within: Vec<Range<usize>> = starts.iter().zip(ranges).map(within).collect();
    let sizes = array.sizes.iter().zip(&within);
    let sizes: Vec<Vec<u64>> =
        sizes.map(|(sizes, within)| sizes.get(within.clone()).unwrap_or_default().to_vec()).collect();
    let own: Vec<usize> = within.iter().map(Range::len).collect();
    let cell = |number: usize| {
        let at = row_major_index(number, &own);
        let of_all = at.iter().zip(&within).zip(&array.sizes);
        let number = of_all.fold(0, |number, ((at, within), sizes)| number * sizes.len() + within.start + at);
        array.cells.get(number)?.clone()
    };
    FragmentArray {
        cells: (0..own.iter().product()).map(cell).collect(),
        sizes,
        lacking: array.lacking.clone(),
    }
}

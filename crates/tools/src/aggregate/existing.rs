//! The fragments of an existing aggregation.
mod marks;

use super::names::{self, identities, readings, resolve};
use super::relocate::terms;
use crate::opened::tiles;
use marks::FragmentMarks;
pub use marks::master_options;
use ncirrus::{Dataset, Error, OpenOptions, Result, Session};
use ncirrus_aggregate::write::{FragmentArray, FragmentCell};
use ncirrus_layout::{Fragment, FragmentAxis, FragmentPart, FragmentVariable, Tile, TileSource};
use ncirrus_model::{Model, VarId};
use ncirrus_store::Url;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The fragments of the aggregated variables of a dataset, with their names as in the master.
pub(super) struct ExistingFragments {
    pub(super) arrays: BTreeMap<VarId, FragmentArray>,
    /// Shapes of the arrays of fragments as the master records them: places next to each other where nothing was written
    /// look like one.
    pub(super) recorded: BTreeMap<VarId, Vec<u64>>,
    /// The values of `${NAME}` in names.
    pub(super) substitutions: Vec<(String, String)>,
}

impl ExistingFragments {
    /// The fragments of the aggregated variables of a dataset.
    ///
    /// # Errors
    /// `Unsupported` if fragments do not lie on a grid, are not whole variables of other files, or are described
    /// differently from how they are stored: that could not be written again.
    pub(super) fn of(dataset: &Dataset) -> Result<Self> {
        let raw = OpenOptions::new().raw(true);
        let raw = Dataset::open_with(dataset.url(), &raw, dataset.session())?;
        let (model, raw_model) = (dataset.model()?, raw.model()?);
        let mut existing =
            Self { arrays: BTreeMap::new(), recorded: BTreeMap::new(), substitutions: Vec::new() };
        for var in model.variables() {
            let path = model.variable_path(var);
            if terms::is_aggregated(&raw_model, var) {
                existing
                    .add((dataset, &model), (&raw, &raw_model), var)
                    .map_err(|error| error.at_path(path))?;
            }
        }
        Ok(existing)
    }

    fn add(
        &mut self,
        (dataset, model): (&Dataset, &Model),
        (raw, raw_model): (&Dataset, &Model),
        var: VarId,
    ) -> Result<()> {
        let tiles = tiles(dataset, var)?;
        let marks = FragmentMarks::of(raw, raw_model, var)?;
        let array = array(&model.shape(var), &tiles, &marks)?;
        for pair in marks.substitutions {
            if !self.substitutions.contains(&pair) {
                self.substitutions.push(pair);
            }
        }
        self.arrays.insert(var, array);
        self.recorded.extend(marks.shape.map(|shape| (var, shape)));
        Ok(())
    }

    /// A name with its substitutions.
    pub(super) fn whole_name(&self, name: &str) -> String {
        let put = |name: String, (key, value): &(String, String)| name.replace(key, value);
        self.substitutions.iter().fold(name.to_owned(), put)
    }

    /// The files that it does not have yet, and those that it has.
    pub(super) fn without_known(
        &self,
        target: &str,
        files: &[String],
        session: &Session,
    ) -> Result<(Vec<String>, Vec<String>)> {
        let texts = |file: &String| identities(&Url::parse(file)?);
        let wanted = files.iter().map(texts).collect::<Result<Vec<_>>>()?;
        let all: BTreeSet<&String> = wanted.iter().flatten().collect();
        let mut there = BTreeSet::new();
        for cell in self.arrays.values().flat_map(|array| array.cells.iter().flatten()) {
            let name = self.whole_name(&cell.file);
            let mut place = resolve(target, &name)?;
            let readings = readings(&name)?.iter().map(identities).collect::<Result<Vec<_>>>()?;
            if readings.iter().flatten().any(|text| all.contains(text)) {
                place = names::existing(target, &name, session)?.unwrap_or(place);
            }
            there.extend(identities(&place)?.into_iter().filter(|text| all.contains(text)));
        }
        let is_known = |texts: &[String]| texts.iter().any(|text| there.contains(text));
        let mut texts = wanted.iter();
        let (known, new): (Vec<_>, Vec<_>) =
            files.iter().cloned().partition(|_| texts.next().is_some_and(|texts| is_known(texts)));
        Ok((new, known))
    }

    /// Substitutes parts of names, so that the substitution need not be recorded.
    pub(super) fn make_names_whole(&mut self) {
        let mut arrays = std::mem::take(&mut self.arrays);
        if !self.substitutions.is_empty() {
            for cell in arrays.values_mut().flat_map(|array| array.cells.iter_mut().flatten()) {
                cell.file = self.whole_name(&cell.file).into();
            }
            self.substitutions.clear();
        }
        self.arrays = arrays;
    }
}

fn array(shape: &[u64], tiles: &[Tile], marks: &FragmentMarks) -> Result<FragmentArray> {
    let mut edges: Vec<BTreeSet<u64>> = shape.iter().map(|len| BTreeSet::from([*len])).collect();
    for tile in tiles {
        edges.iter_mut().zip(&tile.region.start).for_each(|(edges, start)| _ = edges.insert(*start));
    }
    let edges: Vec<Vec<u64>> = edges.into_iter().map(|edges| edges.into_iter().collect()).collect();
    let along = |edges: &Vec<u64>| {
        edges.windows(2).filter_map(|two| two.last()?.checked_sub(*two.first()?)).collect()
    };
    let sizes: Vec<Vec<u64>> = edges.iter().map(along).collect();
    let mut array = FragmentArray {
        cells: vec![None; sizes.iter().map(Vec::len).product()],
        lacking: vec![false; shape.len()],
        sizes,
    };
    let count = array.cells.len();
    // A missing block may extend over several places.
    for tile in tiles.iter().filter(|tile| !matches!(tile.source, TileSource::Missing)) {
        let mut number = 0;
        for ((edges, sizes), (start, count)) in
            edges.iter().zip(&array.sizes).zip(tile.region.start.iter().zip(&tile.region.count))
        {
            let at = edges.binary_search(start).ok().filter(|at| sizes.get(*at) == Some(count));
            let at = at.ok_or_else(|| Error::unsupported("its fragments do not form a grid"))?;
            number = number * sizes.len() + at;
        }
        let cell = match &tile.source {
            TileSource::Fragment(fragment) => {
                Some(cell(fragment, (marks, number, count), &mut array.lacking)?)
            }
            _ => {
                return Err(Error::unsupported("some of its fragments are stored in the master itself"));
            }
        };
        if let Some(slot) = array.cells.get_mut(number) {
            *slot = cell;
        }
    }
    Ok(array)
}

fn cell(
    fragment: &Fragment,
    (marks, number, count): (&FragmentMarks, usize, usize),
    lacking: &mut [bool],
) -> Result<FragmentCell> {
    if let Some(axes) = &fragment.axes {
        check_axes(axes)?;
        for (at, lacks) in lacking.iter_mut().enumerate() {
            *lacks |= !axes.iter().any(|axis| axis.axis == Some(at));
        }
    }
    if fragment.units.is_some() {
        return Err(Error::unsupported("the master contains units of fragments, which cannot be written"));
    }
    let variable = match fragment.variables.first() {
        Some(FragmentVariable::Path(path)) => Arc::clone(path),
        Some(FragmentVariable::Search { name, .. }) => Arc::clone(name),
        Some(FragmentVariable::Number(_)) | None => {
            return Err(Error::unsupported("a fragment's variable has no name"));
        }
    };
    match fragment.names.as_slice() {
        [name] => Ok(FragmentCell {
            file: marks.name(number, count).unwrap_or_else(|| Arc::clone(name)),
            variable,
            format: marks.format(number, count, name),
        }),
        [] => Err(Error::unsupported("a fragment is stored in the master itself")),
        _ => Err(Error::unsupported("a fragment has several locations, which cannot be written")),
    }
}

/// Fragments are used as they are stored.
fn check_axes(axes: &[FragmentAxis]) -> Result<()> {
    let is_plain = |axis: &FragmentAxis| axis.part == FragmentPart::All && !axis.reversed;
    let places: Option<Vec<usize>> = axes.iter().map(|axis| axis.axis.filter(|_| is_plain(axis))).collect();
    if places.is_some_and(|places| places.is_sorted()) {
        Ok(())
    } else {
        Err(Error::unsupported("a fragment is subset, transposed or reordered, which cannot be written"))
    }
}

//! What an aggregation that is there is made of.
use super::parts::format_name;
use crate::{Dataset, Error, Result};
use ncirrus_aggregate::write::{FragmentArray, FragmentCell};
use ncirrus_layout::{Fragment, FragmentVariable, Tile, TileSource};
use ncirrus_model::VarId;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The fragments of the aggregated variables of a dataset.
///
/// # Errors
/// `Unsupported` when fragments lie on no grid, or are not whole variables of other files.
pub(super) fn arrays(dataset: &Dataset) -> Result<BTreeMap<VarId, FragmentArray>> {
    let model = dataset.model()?;
    let mut arrays = BTreeMap::new();
    for var in model.variables() {
        let tiles = dataset.tiles(var).map_err(|error| error.at_path(model.variable_path(var)))?;
        if !tiles.is_empty() {
            let format = format_name(dataset.kind());
            let array = array(&model.shape(var), &tiles, format);
            arrays.insert(var, array.map_err(|error| error.at_path(model.variable_path(var)))?);
        }
    }
    Ok(arrays)
}

fn array(shape: &[u64], tiles: &[Tile], format: &'static str) -> Result<FragmentArray> {
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
    for tile in tiles {
        let mut number = 0;
        for ((edges, sizes), (start, count)) in
            edges.iter().zip(&array.sizes).zip(tile.region.start.iter().zip(&tile.region.count))
        {
            let at = edges.binary_search(start).ok().filter(|at| sizes.get(*at) == Some(count));
            let at = at.ok_or_else(|| Error::unsupported("its fragments lie on no grid"))?;
            number = number * sizes.len() + at;
        }
        let cell = match &tile.source {
            TileSource::Fragment(fragment) => Some(cell(fragment, format, &mut array.lacking)?),
            TileSource::Missing => None,
            TileSource::Constant(_) | TileSource::Variable { .. } => {
                return Err(Error::unsupported("its fragments are not all in other files"));
            }
        };
        if let Some(slot) = array.cells.get_mut(number) {
            *slot = cell;
        }
    }
    Ok(array)
}

fn cell(fragment: &Fragment, format: &'static str, lacking: &mut [bool]) -> Result<FragmentCell> {
    if let Some(axes) = &fragment.axes {
        for (at, lacks) in lacking.iter_mut().enumerate() {
            *lacks |= !axes.iter().any(|axis| axis.axis == Some(at));
        }
    }
    let variable = match fragment.variables.first() {
        Some(FragmentVariable::Path(path)) => Arc::clone(path),
        Some(FragmentVariable::Search { name, .. }) => Arc::clone(name),
        Some(FragmentVariable::Number(_)) | None => {
            return Err(Error::unsupported("a fragment's variable has no name"));
        }
    };
    match fragment.names.first() {
        Some(name) => Ok(FragmentCell { file: Arc::clone(name), variable, format }),
        None => Err(Error::unsupported("a fragment lies in the master itself")),
    }
}

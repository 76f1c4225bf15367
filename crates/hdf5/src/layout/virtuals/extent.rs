//! The extent of a virtual dataset that grows with its sources (docs/spec/hdf5-netcdf4.md E.7).
use super::super::dataset::DatasetChain;
use super::block::VirtualMapping;
use super::source;
use crate::datatypes::Dataspace;
use ncirrus_layout::{Step, View, join};

/// The dataspace with the lengths that its sources currently give it.
pub(super) fn extent(
    view: &dyn View,
    asking: &DatasetChain<'_>,
    mappings: &[VirtualMapping],
    space: Dataspace,
) -> Step<Dataspace> {
    let Dataspace::Simple { mut dims, max } = space else { return Ok(space) };
    let growing = mappings.iter().filter(|mapping| mapping.target.unlimited().is_some());
    let lengths = join(growing, |mapping| length(view, asking, mapping))?;
    let mut grown = vec![None; dims.len()];
    for (axis, len) in lengths.into_iter().flatten() {
        if let Some(slot) = grown.get_mut(axis) {
            *slot = (*slot).max(Some(len));
        }
    }
    for (axis, len) in grown.into_iter().enumerate() {
        let (Some(dim), Some(max_len), Some(len)) = (dims.get_mut(axis), max.get(axis), len) else {
            continue;
        };
        let fixed = mappings.iter().filter(|mapping| mapping.target.unlimited().is_none());
        let fixed_end = fixed.filter_map(|mapping| mapping.target.end_along(axis)).max().unwrap_or(0);
        *dim = len.max(fixed_end).min(max_len.unwrap_or(u64::MAX));
    }
    Ok(Dataspace::Simple { dims, max })
}

/// The axis along which a mapping grows, and its current end.
fn length(
    view: &dyn View,
    asking: &DatasetChain<'_>,
    mapping: &VirtualMapping,
) -> Step<Option<(usize, u64)>> {
    let Some((axis, target)) = mapping.target.unlimited() else { return Ok(None) };
    let count = match mapping.source.unlimited() {
        Some((from, progression)) => {
            let found = source::find(view, asking, mapping, 0)?;
            let len = found.and_then(|found| found.dims.get(from).copied());
            len.map_or(0, |len| progression.count_below(len))
        }
        None => blocks(view, asking, mapping)?.saturating_mul(target.block.unwrap_or(1)),
    };
    Ok(Some((axis, target.end_of(count))))
}

/// Number of blocks before the first without a source, requested in growing batches.
fn blocks(view: &dyn View, asking: &DatasetChain<'_>, mapping: &VirtualMapping) -> Step<u64> {
    let (mut known, mut batch) = (0, FIRST_BATCH);
    loop {
        view.limits().count(known, "the sources of a virtual dataset")?;
        let found = join(known..known + batch, |block| source::find(view, asking, mapping, block))?;
        let present = found.iter().take_while(|found| found.is_some()).count() as u64;
        known += present;
        if present < batch {
            return Ok(known);
        }
        batch = (batch * 2).min(MAX_IN_BATCH);
    }
}

/// Sources are requested in batches: few at first, since most virtual datasets have few and each request beyond the
/// last is wasted; never so many that one batch is a burst.
const FIRST_BATCH: u64 = 4;
const MAX_IN_BATCH: u64 = 1024;

//! Chunks of different lengths in copies to Zarr v3, by request or as the source has them.
use super::choice::CopyChoice;
use super::{ChunkLengths, ChunkRule, CopyOptions};
use ncirrus::{CreateOptions, Dataset, Error, Kind, Result, Selection, Variable};
use ncirrus_model::{Model, Storage, TypeRef, VarId};
use ncirrus_units::cf::CfDecoding;
use std::collections::BTreeSet;
use std::ops::ControlFlow;

/// The lengths that rules give the chunks along dimensions.
#[derive(Debug, Default)]
pub(super) struct IrregularChunks(Vec<(String, Vec<u64>)>);

/// Refuses rules on chunks of different lengths, where all chunks are alike.
///
/// # Errors
/// `Invalid` with the dimension.
pub(crate) fn check_regular(rules: &[ChunkRule]) -> Result<()> {
    match rules.iter().find_map(dimension) {
        Some(dimension) => Err(not_here(dimension)),
        None => Ok(()),
    }
}

fn dimension(rule: &ChunkRule) -> Option<&str> {
    match rule {
        ChunkRule::Irregular { dimension, .. } => Some(dimension),
        _ => None,
    }
}

fn not_here(dimension: &str) -> Error {
    Error::invalid(format!(
        "chunks of different lengths along {dimension:?} are only written by copies to Zarr v3 (zarr3)"
    ))
}

impl IrregularChunks {
    /// Follows the rules.
    ///
    /// # Errors
    /// `Invalid` if the copy is not Zarr v3, has only a part of the dimension, or the dimension has no times.
    pub(super) fn find(
        source: &Dataset,
        options: &CopyOptions<'_>,
        choice: &CopyChoice,
        create: &CreateOptions,
    ) -> Result<Self> {
        let model = source.model()?;
        let mut found = Vec::new();
        for rule in &options.chunks {
            let ChunkRule::Irregular { dimension, lengths } = rule else { continue };
            let is_cut = choice
                .parts
                .keys()
                .any(|dim| model.dimension(*dim).is_some_and(|known| known.name == *dimension));
            if create.kind != Some(Kind::Zarr3) {
                return Err(not_here(dimension));
            }
            if is_cut {
                return Err(Error::invalid(format!(
                    "chunks of different lengths along {dimension:?}, of which only a part is copied"
                )));
            }
            let lengths = match lengths {
                ChunkLengths::Listed(lengths) => lengths.clone(),
                ChunkLengths::Monthly => runs(&months(source, dimension)?),
                ChunkLengths::Files => files(source, dimension)?,
            };
            found.push((dimension.clone(), lengths));
        }
        Ok(Self(found))
    }

    /// Gives a variable of the copy its chunks: by the rules, or those of the source if its shape and storage are kept.
    ///
    /// # Errors
    /// `Invalid` if the lengths do not add up to that of the dimension.
    pub(super) fn apply(&self, whole: &Model, copy: &mut Model, var: VarId) -> Result<()> {
        let shape = copy.shape(var);
        let is_whole = whole.shape(var) == shape;
        let names: Vec<String> = copy
            .variable(var)
            .map(|variable| variable.dims.clone())
            .unwrap_or_default()
            .iter()
            .map(|dim| copy.dimension(*dim).map(|known| known.name.clone()).unwrap_or_default())
            .collect();
        let path = copy.variable_path(var);
        let Some(variable) = copy.variable_mut(var) else { return Ok(()) };
        // Chunks of a shard all have the same shape.
        if !is_whole || variable.shards.is_some() {
            variable.chunk_lengths = None;
        }
        let is_ruled = |name: &String| self.0.iter().any(|(dimension, _)| dimension == name);
        if !names.iter().any(is_ruled) {
            return Ok(());
        }
        if variable.shards.is_some() {
            return Err(Error::invalid("shards of chunks of different lengths").at_path(path));
        }
        let usual = match &variable.storage {
            Storage::Chunked(chunks) => chunks.clone(),
            _ => shape.clone(),
        };
        let mut all = Vec::with_capacity(shape.len());
        for (axis, (name, len)) in names.iter().zip(&shape).enumerate() {
            let ruled = self.0.iter().rev().find(|(dimension, _)| dimension == name);
            let each = usual.get(axis).copied().unwrap_or(*len).clamp(1, (*len).max(1));
            let lengths = match ruled {
                Some((_, lengths)) => lengths.clone(),
                None => equal(each, *len)?,
            };
            let sum = lengths.iter().try_fold(0u64, |sum, len| sum.checked_add(*len));
            if ruled.is_some() && sum != Some(*len) {
                let message =
                    format!("chunks of {} elements along {name:?}, which has {len}", sum.unwrap_or(u64::MAX));
                return Err(Error::invalid(message).at_path(path));
            }
            all.push(lengths);
        }
        variable.storage =
            Storage::Chunked(all.iter().map(|lengths| lengths.first().copied().unwrap_or(1)).collect());
        variable.chunk_lengths = Some(all);
        Ok(())
    }
}

/// Chunks of one length along an axis; the last one may extend beyond its end.
fn equal(each: u64, len: u64) -> Result<Vec<u64>> {
    const MOST: u64 = 1 << 24;
    let count = len.div_ceil(each).max(1);
    match usize::try_from(count).ok().filter(|_| count <= MOST) {
        Some(count) => Ok(vec![each; count]),
        None => Err(Error::limit(format!("{count} chunks along one axis of a rectilinear grid"))),
    }
}

/// The month of each time of a coordinate variable: its year and number.
pub(crate) type Month = (i64, u32);

/// The months of the times along a dimension.
///
/// # Errors
/// `Invalid` if the dimension has no coordinate variable of times.
pub(crate) fn months(source: &Dataset, dimension: &str) -> Result<Vec<Month>> {
    let no_times = || {
        Error::invalid(format!(
            "{dimension:?} has no coordinate variable of times, of which there are months"
        ))
    };
    let variable = source.variable(dimension).map_err(|error| no_times().because(error))?;
    let Some(TypeRef::Atomic(atomic)) = variable.ty().filter(|_| variable.shape().len() == 1) else {
        return Err(no_times());
    };
    let decoding =
        CfDecoding::new(atomic, &variable.attributes()?).map_err(|error| no_times().because(error))?;
    let values = variable.values(&Selection::all(&variable.shape()))?;
    let decoded = decoding.decode(values).map_err(|error| no_times().because(error))?;
    let dates = decoding.dates(&decoded).into_iter();
    dates.map(|date| date.map(|date| (date.year, date.month)).ok_or_else(no_times)).collect()
}

/// How many of equal months follow each other, for each month in order.
pub(crate) fn runs(months: &[Month]) -> Vec<u64> {
    months.chunk_by(|one, next| one == next).map(|run| run.len() as u64).collect()
}

/// The number of elements along a dimension in each file of an aggregation.
fn files(source: &Dataset, dimension: &str) -> Result<Vec<u64>> {
    let model = source.model()?;
    let mut found: Option<(String, BTreeSet<u64>)> = None;
    for variable in source.variables().into_iter().filter(Variable::is_aggregated) {
        let names = variable.dimensions().into_iter().map(|known| known.name);
        let Some(axis) = names.enumerate().find_map(|(axis, name)| (name == dimension).then_some(axis))
        else {
            continue;
        };
        let shape = model.shape(variable.id());
        let ends = ends(&variable, axis, &shape)?;
        match &found {
            Some((other, known)) if *known != ends => {
                let message =
                    format!("the files of {other} and {} differ along {dimension:?}", variable.path());
                return Err(Error::invalid(message));
            }
            Some(_) => {}
            None => found = Some((variable.path(), ends)),
        }
    }
    let (_, ends) = found.ok_or_else(|| {
        Error::invalid(format!("there is no variable composed of files along {dimension:?}"))
    })?;
    let mut start = 0;
    Ok(ends.into_iter().map(|end| end - std::mem::replace(&mut start, end)).collect())
}

/// Where the parts of an aggregated variable end along an axis.
fn ends(variable: &Variable, axis: usize, shape: &[u64]) -> Result<BTreeSet<u64>> {
    let len = shape.get(axis).copied().unwrap_or(0);
    let mut ends = BTreeSet::from_iter((len > 0).then_some(len));
    variable.each_fragment(&Selection::all(shape), false, &mut |parts| {
        for part in parts {
            let region = part.fragment.region;
            let start = region.start.get(axis).copied().unwrap_or(0);
            let end = start.saturating_add(region.count.get(axis).copied().unwrap_or(0));
            ends.extend([start, end].into_iter().filter(|edge| (1..len).contains(edge)));
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(ends)
}

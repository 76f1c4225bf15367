//! Copying variables from one dataset to another, in blocks that fit the memory.
use super::Writer;
use crate::convert::{self, Quantize};
use crate::dataset::Dataset;
use futures_util::future;
use ncirrus_layout::{ChunkGrid, Error, Layout, Result};
use ncirrus_model::{AxisSelection, Model, Selection, Values, VarId};

/// What was copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Copied {
    /// Elements.
    pub elements: u64,
    /// Elements that were outside the range of the type that they were converted to.
    pub out_of_range: u64,
}

/// Copies the selected elements of a variable to a variable of the same shape as the selection, converting numbers
/// where the types differ, and quantizing them when that is asked for. Only a few chunks are in memory at a time; the next ones are read while these are written.
///
/// `progress` is called with the number of elements after each block.
///
/// # Errors
/// What reading or writing fails with; `Invalid` when the shapes or types do not fit each other, or a value has no
/// place in the destination.
pub async fn copy_selection(
    from: (&Dataset, VarId),
    selection: &Selection,
    to: (&Writer, VarId),
    quantize: Option<Quantize>,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<Copied> {
    let (source, from_var) = from;
    let (writer, to_var) = to;
    selection
        .check(&source.model().shape(from_var))
        .map_err(|error| located(error.into(), source, from_var))?;
    let shape = selection.shape();
    check_room(&writer.model(), to_var, &shape)?;
    if shape.contains(&0) {
        return Ok(Copied::default());
    }
    let block = block_shape(source, from_var, selection, writer, to_var).await?;
    let mut blocks = Blocks { shape: &shape, block, at: Some(vec![0; shape.len()]) };
    let mut copied = Copied::default();
    let mut next = match blocks.next() {
        Some(part) => Some((source.read(from_var, &sub_selection(selection, &part)).await?, part)),
        None => None,
    };
    while let Some((values, part)) = next.take() {
        let (mut values, report) = converted(source, from_var, writer, to_var, values)?;
        if let Some(quantize) = quantize {
            let fill = writer.model().variable(to_var).and_then(ncirrus_model::Variable::fill_value);
            let fill = fill.unwrap_or_else(|| values.empty_like());
            quantize.apply_in_turn(&mut values, &fill, |index| is_odd(index, &part, &shape));
        }
        let following = blocks.next();
        let read = async {
            match following {
                None => Ok(None),
                Some(part) => {
                    let values = source.read(from_var, &sub_selection(selection, &part)).await?;
                    Ok::<_, Error>(Some((values, part)))
                }
            }
        };
        let selected = Selection::slab(&part.0, &part.1);
        let (read, written) = future::join(read, writer.write(to_var, &selected, &values)).await;
        written?;
        copied.elements += values.len() as u64;
        copied.out_of_range += report as u64;
        progress(values.len() as u64);
        next = read?;
    }
    Ok(copied)
}

/// Copies all elements of a variable, see [`copy_selection`].
///
/// # Errors
/// As [`copy_selection`].
pub async fn copy_variable(from: &Dataset, from_var: VarId, to: &Writer, to_var: VarId) -> Result<Copied> {
    let all = Selection::all(&from.model().shape(from_var));
    copy_selection((from, from_var), &all, (to, to_var), None, &|_| ()).await
}

/// Whether the element at `index` of a block stands at an odd place of the whole array, in row-major order.
fn is_odd(index: usize, (start, count): &(Vec<u64>, Vec<u64>), shape: &[u64]) -> bool {
    let (mut rest, mut stride, mut odd) = (index as u64, 1u64, 0u64);
    for ((start, count), len) in start.iter().zip(count).zip(shape).rev() {
        let at = start.wrapping_add(rest.checked_rem(*count).unwrap_or(0));
        rest = rest.checked_div(*count).unwrap_or(0);
        odd ^= at & stride & 1;
        stride = stride.wrapping_mul(*len);
    }
    odd == 1
}

fn located(error: Error, source: &Dataset, var: VarId) -> Error {
    error.at_path(source.model().variable_path(var))
}

/// Fixed dimensions of the destination must be as long as what is copied.
fn check_room(model: &Model, var: VarId, shape: &[u64]) -> Result<()> {
    let (there, growing) = (model.shape(var), model.growing(var));
    let fits = there.len() == shape.len()
        && there.iter().zip(shape).zip(growing).all(|((there, len), grows)| grows || there == len);
    if fits {
        return Ok(());
    }
    let message = format!("a variable of shape {there:?} cannot take elements of shape {shape:?}");
    Err(Error::invalid(message).at_path(model.variable_path(var)))
}

fn converted(
    source: &Dataset,
    from_var: VarId,
    writer: &Writer,
    to_var: VarId,
    values: Values,
) -> Result<(Values, usize)> {
    let model = writer.model();
    let wanted = model.variable(to_var).and_then(|variable| model.base_atomic(variable.ty));
    match (wanted, values.atomic()) {
        (Some(wanted), Some(found)) if wanted != found => {
            let cast = convert::cast(&values, wanted).map_err(|error| located(error, source, from_var))?;
            Ok((cast.0, cast.1.count))
        }
        _ => Ok((values, 0)),
    }
}

/// The part of a selection that belongs to a block of its result: first element and length per axis.
fn sub_selection(selection: &Selection, (start, count): &(Vec<u64>, Vec<u64>)) -> Selection {
    let axes =
        selection.axes().iter().zip(start.iter().zip(count)).map(|(axis, (first, count))| match axis {
            AxisSelection::Slice { start, stride, .. } => {
                AxisSelection::Slice { start: start + first * stride, count: *count, stride: *stride }
            }
            AxisSelection::Indices(indices) => {
                let indices = indices.iter().skip(usize::try_from(*first).unwrap_or(usize::MAX));
                let count = usize::try_from(*count).unwrap_or(usize::MAX);
                AxisSelection::Indices(indices.take(count).copied().collect())
            }
        });
    Selection::new(axes.collect())
}

/// The shape of blocks: whole chunks of the destination, and of the source where memory allows, as many as fit.
async fn block_shape(
    source: &Dataset,
    from_var: VarId,
    selection: &Selection,
    writer: &Writer,
    to_var: VarId,
) -> Result<Vec<u64>> {
    let shape = selection.shape();
    let model = source.model();
    let element = model.variable(from_var).and_then(|variable| model.packed_len(variable.ty));
    let budget = (writer.window_budget() as u64 / 2).clamp(1 << 16, 64 << 20) / element.unwrap_or(64).max(1);
    let cells = writer.cell_lengths(to_var).await?;
    let mut block: Vec<u64> = (0..shape.len()).map(|axis| cells.get(axis).copied().unwrap_or(1)).collect();
    if let Layout::Grid { grid: ChunkGrid::Regular(chunks), .. } = &source.source(from_var).await?.layout
        && selection.as_region().is_some()
    {
        let larger = block.iter().zip(chunks).map(|(cell, chunk)| chunk.div_ceil(*cell) * cell);
        let larger: Vec<u64> = larger.collect();
        if size_of(&larger, &shape) <= budget {
            block = larger;
        }
    }
    for axis in (0..shape.len()).rev() {
        let times = (budget / size_of(&block, &shape).max(1)).max(1);
        if let (Some(len), Some(whole)) = (block.get_mut(axis), shape.get(axis)) {
            let unit = *len;
            *len = unit.saturating_mul(times).min(whole.div_ceil(unit).saturating_mul(unit));
        }
    }
    Ok(block)
}

/// Elements of a block that is cut at the end of the array.
fn size_of(block: &[u64], shape: &[u64]) -> u64 {
    block.iter().zip(shape).fold(1, |product, (len, whole)| product.saturating_mul(*len.min(whole)))
}

/// Blocks of an array in row-major order: first element and length per axis.
struct Blocks<'a> {
    shape: &'a [u64],
    block: Vec<u64>,
    at: Option<Vec<u64>>,
}

impl Iterator for Blocks<'_> {
    type Item = (Vec<u64>, Vec<u64>);

    fn next(&mut self) -> Option<Self::Item> {
        let start = self.at.take()?;
        let lens = start.iter().zip(&self.block).zip(self.shape);
        let count = lens.map(|((start, len), whole)| (*len).min(whole - start)).collect();
        let mut next = start.clone();
        for ((slot, len), whole) in next.iter_mut().zip(&self.block).zip(self.shape).rev() {
            *slot = slot.saturating_add(*len);
            if *slot < *whole {
                self.at = Some(next);
                break;
            }
            *slot = 0;
        }
        Some((start, count))
    }
}

impl Writer {
    /// The lengths of a variable's cells per axis; of the first ones where they differ.
    async fn cell_lengths(&self, var: VarId) -> Result<Vec<u64>> {
        let _shared = self.gate.read().await;
        self.check_usable()?;
        self.define().await?;
        let (target, _) = self.target(var)?;
        let first = vec![0; target.encoding.grid.rank()];
        Ok(target.encoding.grid.cell_shape(&first).unwrap_or_default())
    }
}

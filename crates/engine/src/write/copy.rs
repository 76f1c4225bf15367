//! Copying variables from one dataset to another, in parts that fit in memory.
mod array_boxes;
mod blocks;
mod both;
mod chunks;
mod damage;
mod plan;
mod route;
mod spool;
mod tiles;

pub use damage::SkippedPart;
pub use plan::CopyPlan;

use super::DatasetWriter;
use crate::convert::{self, Quantize};
use crate::dataset::Dataset;
use chunks::FoundChunks;
use damage::ReportSkipped;
use ncirrus_layout::{CellList, Error, Result};
use ncirrus_model::{AxisSelection, Model, Region, Selection, Values, VarId, Variable};
use route::CopyRoute;

/// What was copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CopiedCounts {
    /// Number of elements.
    pub elements: u64,
    /// Number of elements outside the range of the type that they were converted to.
    pub out_of_range: u64,
}

/// How values are processed while they are copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ValueTreatment {
    /// How they are quantized.
    pub quantize: Option<Quantize>,
    /// How chunks are checked that are copied unchanged.
    pub check: PassedChunkCheck,
}

/// How chunks are checked that are copied unchanged. Those that fail are decoded, which is an error if they are damaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PassedChunkCheck {
    /// Their framing, lengths and checksums. Codecs that store no length, such as deflate, are decoded for it.
    #[default]
    Framing,
    /// They are decoded.
    Decoding,
    /// Not at all, apart from the length of chunks without codecs. Damaged chunks are copied as they are.
    Nothing,
}

/// Copies the selected elements of a variable to a variable of the same shape as the selection, converting numbers if
/// the types differ, and quantizing them if requested. Chunks that would be encoded identically are copied unchanged;
/// the others are decoded as few times as memory allows. [`plan_copy`] shows which.
///
/// `progress` is called with the number of elements after each part.
///
/// # Errors
/// Errors of reading and writing; `Invalid` if the shapes or types do not fit each other, or a value cannot be
/// represented in the destination.
pub async fn copy_selection(
    from: (&Dataset, VarId),
    selection: &Selection,
    to: (&DatasetWriter, VarId),
    treatment: ValueTreatment,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<CopiedCounts> {
    VariableCopy::new(from, selection, to, treatment)?.copy(progress).await
}

/// As [`copy_selection`], but chunks that cannot be decoded become fill, and each of them is passed to `skipped`. All
/// chunks are decoded.
///
/// # Errors
/// As [`copy_selection`], except for damaged chunks.
pub async fn copy_around_damage(
    from: (&Dataset, VarId),
    selection: &Selection,
    to: (&DatasetWriter, VarId),
    treatment: ValueTreatment,
    progress: &(dyn Fn(u64) + Sync),
    skipped: &(dyn Fn(SkippedPart) + Sync),
) -> Result<CopiedCounts> {
    let copy = VariableCopy::new(from, selection, to, treatment)?;
    VariableCopy { skipped: Some(skipped), ..copy }.copy(progress).await
}

/// As [`copy_selection`], and passes values to `observe` as they were read from the source, before anything is done with
/// them, with their selection in the source. Chunks that are copied unchanged, and values that go through a scratch file,
/// are not passed to it.
///
/// # Errors
/// As [`copy_selection`].
pub async fn copy_observed(
    from: (&Dataset, VarId),
    selection: &Selection,
    to: (&DatasetWriter, VarId),
    treatment: ValueTreatment,
    progress: &(dyn Fn(u64) + Sync),
    observe: ObserveBlock<'_>,
) -> Result<CopiedCounts> {
    let copy = VariableCopy::new(from, selection, to, treatment)?;
    VariableCopy { observe: Some(observe), ..copy }.copy(progress).await
}

/// What [`copy_selection`] will do, without doing it. The format of the destination checks its definitions; of the
/// source only index nodes are read.
///
/// # Errors
/// As [`copy_selection`], as far as they can be detected in advance.
pub async fn plan_copy(
    from: (&Dataset, VarId),
    selection: &Selection,
    to: (&DatasetWriter, VarId),
    treatment: ValueTreatment,
) -> Result<CopyPlan> {
    let copy = VariableCopy::new(from, selection, to, treatment)?;
    copy.plan().await
}

/// Copies all elements of a variable, see [`copy_selection`].
///
/// # Errors
/// As [`copy_selection`].
pub async fn copy_variable(
    from: &Dataset,
    from_var: VarId,
    to: &DatasetWriter,
    to_var: VarId,
) -> Result<CopiedCounts> {
    let all = Selection::all(&from.model().shape(from_var));
    copy_selection((from, from_var), &all, (to, to_var), ValueTreatment::default(), &|_| ()).await
}

/// A copy of one variable.
struct VariableCopy<'a> {
    source: &'a Dataset,
    from: VarId,
    selection: &'a Selection,
    writer: &'a DatasetWriter,
    to: VarId,
    treatment: ValueTreatment,
    /// Receives chunks that cannot be decoded; without it, these are an error.
    skipped: Option<ReportSkipped<'a>>,
    /// Receives values that were read in blocks, with their selection in the source.
    observe: Option<ObserveBlock<'a>>,
    /// Shape of the selection.
    shape: Vec<u64>,
}

/// Receives values with their selection.
type ObserveBlock<'a> = &'a (dyn Fn(&Selection, &Values) + Sync);

/// A part that is copied at once.
enum CopyPart {
    /// A box of the result.
    Block(Region),
    /// Chunks that are the same in source and destination.
    Chunks(CellList),
}

/// A part that was read.
enum ReadPart {
    Blocks(Vec<(Region, Values)>),
    Chunks(FoundChunks),
}

impl<'a> VariableCopy<'a> {
    /// Checks that the selection fits both variables.
    fn new(
        (source, from): (&'a Dataset, VarId),
        selection: &'a Selection,
        (writer, to): (&'a DatasetWriter, VarId),
        treatment: ValueTreatment,
    ) -> Result<Self> {
        let shape = selection.shape();
        let copy =
            Self { source, from, selection, writer, to, treatment, skipped: None, observe: None, shape };
        let checked = selection.check(&source.model().shape(from));
        checked.map_err(|error| copy.located(error.into()))?;
        check_room(&writer.model(), to, &copy.shape)?;
        Ok(copy)
    }

    async fn copy(&self, progress: &(dyn Fn(u64) + Sync)) -> Result<CopiedCounts> {
        if self.shape.contains(&0) {
            return Ok(CopiedCounts::default());
        }
        let route = self.route().await?;
        self.run(&route, progress).await
    }

    async fn run(&self, route: &CopyRoute, progress: &(dyn Fn(u64) + Sync)) -> Result<CopiedCounts> {
        if let CopyRoute::Spooled(how) = route {
            return self.run_spooled(how, progress).await;
        }
        let (mut parts, overlaps) = (route.parts(&self.shape), route.overlaps());
        let mut copied = CopiedCounts::default();
        if let CopyRoute::Chunks(_) = route {
            self.writer.grow_to(self.to, &self.shape).await?;
        }
        let mut next = self.read(route, parts.next()).await?;
        while let Some(part) = next.take() {
            let following = if overlaps { parts.next() } else { None };
            let read = following.map(|following| self.read(route, Some(following)));
            let (read, written) = both::both(read, self.write(part)).await?;
            let written = written?;
            copied.elements += written.elements;
            copied.out_of_range += written.out_of_range;
            progress(written.elements);
            next = read.transpose()?.flatten();
            if !overlaps {
                next = self.read(route, parts.next()).await?;
            }
        }
        Ok(copied)
    }

    async fn read(&self, route: &CopyRoute, part: Option<CopyPart>) -> Result<Option<ReadPart>> {
        Ok(match (part, route) {
            (Some(CopyPart::Block(region)), _) => Some(ReadPart::Blocks(match self.skipped {
                Some(report_skipped) => self.read_around_damage(&region, report_skipped).await?,
                None => {
                    let values = self.read_block(&region).await?;
                    vec![(region, values)]
                }
            })),
            (Some(CopyPart::Chunks(cells)), CopyRoute::Chunks(passing)) => {
                Some(ReadPart::Chunks(passing.find(self, &cells).await?))
            }
            _ => None,
        })
    }

    async fn read_block(&self, region: &Region) -> Result<Values> {
        let selection = self.part_of_selection(region);
        let values = self.source.read(self.from, &selection).await?;
        if let Some(observe) = self.observe {
            observe(&selection, &values);
        }
        Ok(values)
    }

    async fn write(&self, part: ReadPart) -> Result<CopiedCounts> {
        let found = match part {
            ReadPart::Blocks(blocks) => {
                let mut copied = CopiedCounts::default();
                for (region, values) in blocks {
                    let written = self.write_block(&region, values).await?;
                    copied.elements += written.elements;
                    copied.out_of_range += written.out_of_range;
                }
                return Ok(copied);
            }
            ReadPart::Chunks(found) => found,
        };
        let mut copied = CopiedCounts { elements: found.elements, out_of_range: 0 };
        self.writer.write_encoded(self.to, found.encoded).await?;
        for region in found.others {
            let values = self.read_block(&region).await?;
            copied.elements += self.write_block(&region, values).await?.elements;
        }
        Ok(copied)
    }

    async fn write_block(&self, region: &Region, values: Values) -> Result<CopiedCounts> {
        let (values, out_of_range) = self.prepared(region, values)?;
        let selected = Selection::slab(&region.start, &region.count);
        self.writer.write(self.to, &selected, &values).await?;
        Ok(CopiedCounts { elements: values.len() as u64, out_of_range })
    }

    /// The values of a box of the result as they are written, and how many of them were out of range.
    fn prepared(&self, region: &Region, values: Values) -> Result<(Values, u64)> {
        let (mut values, out_of_range) = self.converted(values)?;
        if let Some(quantize) = self.treatment.quantize {
            let fill = self.writer.model().variable(self.to).and_then(Variable::fill_value);
            let fill = fill.unwrap_or_else(|| values.empty_like());
            quantize.apply_in_turn(&mut values, &fill, |index| is_odd(index, region, &self.shape));
        }
        Ok((values, out_of_range))
    }

    /// The values in the type of the destination, and how many of them were out of its range.
    fn converted(&self, values: Values) -> Result<(Values, u64)> {
        let model = self.writer.model();
        let wanted = model.variable(self.to).and_then(|variable| model.base_atomic(variable.ty));
        match (wanted, values.atomic()) {
            (Some(wanted), Some(found)) if wanted != found => {
                let (values, report) = convert::cast(&values, wanted).map_err(|error| self.located(error))?;
                Ok((values, report.count as u64))
            }
            _ => Ok((values, 0)),
        }
    }

    /// The selection for a box of the result.
    fn part_of_selection(&self, region: &Region) -> Selection {
        let ranges = region.start.iter().zip(&region.count);
        let axes = self.selection.axes().iter().zip(ranges).map(|(axis, (first, count))| match axis {
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

    fn located(&self, error: Error) -> Error {
        error.at_path(self.source.model().variable_path(self.from))
    }
}

/// Whether the element at `index` of a block has an odd position in the whole array, in row-major order.
fn is_odd(index: usize, block: &Region, shape: &[u64]) -> bool {
    let (mut rest, mut stride, mut odd) = (index as u64, 1u64, 0u64);
    for ((start, count), len) in block.start.iter().zip(&block.count).zip(shape).rev() {
        let at = start.wrapping_add(rest.checked_rem(*count).unwrap_or(0));
        rest = rest.checked_div(*count).unwrap_or(0);
        odd ^= at & stride & 1;
        stride = stride.wrapping_mul(*len);
    }
    odd == 1
}

/// Checks that fixed dimensions of the destination have the lengths of what is copied.
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

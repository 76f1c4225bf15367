//! From a dataset to a figure: which axes, which values, what that costs, and their reading.
mod build;
mod coordinates;
mod part;
mod values;

use crate::figure::{Figure, PictureSize};
use crate::scale::ScaleOptions;
use ncirrus::{Dataset, Error, ReadPlan, Result, Selection, VarId, VariableSelect};
use part::{Drawn, Part};

/// What is drawn, and how.
#[derive(Clone, Default)]
pub struct PlotOptions {
    /// The size of the picture.
    pub size: PictureSize,
    /// How many values can be seen across and down; by default about the pixels of the panel.
    pub visible: Option<(u64, u64)>,
    /// Range and colours.
    pub scale: ScaleOptions,
    /// A dataset whose values are subtracted.
    pub compare: Option<Dataset>,
}

/// What reading the values of a picture costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlotCost {
    /// Bytes that will be fetched; an upper estimate where the sizes of chunks are not known.
    pub bytes: u64,
    /// Requests to the store.
    pub requests: u64,
    /// Values that are read.
    pub values: u64,
}

/// A picture that is planned: its values are not yet read.
pub struct PlotPlan {
    parts: Vec<Part>,
    options: PlotOptions,
    dataset: Dataset,
    notes: Vec<String>,
    cost: PlotCost,
}

impl PlotPlan {
    /// Pictures are kept below this many bytes, where coarser strides can do that; ask before reading more.
    pub const BUDGET: u64 = 256 << 20;

    /// Chooses what is drawn: lines over the free dimension, or the two dimensions of a map or an image. Further dimensions
    /// have their first selected index.
    ///
    /// # Errors
    /// `NotFound` for a variable that does not exist; `Invalid` for a selection without a free dimension, for several
    /// variables that are not lines over the same dimension, and for values that are not numbers; errors of reading
    /// definitions and attributes.
    pub fn new(dataset: &Dataset, selects: &[VariableSelect], options: &PlotOptions) -> Result<Self> {
        let mut notes = Vec::new();
        let mut parts = Vec::new();
        for select in selects {
            parts.push(Part::new(dataset, select, options, &mut notes)?);
        }
        check_together(&parts)?;
        let mut plan = Self {
            parts,
            options: options.clone(),
            dataset: dataset.clone(),
            notes,
            cost: PlotCost { bytes: 0, requests: 0, values: 0 },
        };
        plan.cost = plan.priced()?;
        Ok(plan)
    }

    /// What reading costs.
    pub fn cost(&self) -> PlotCost {
        self.cost
    }

    /// What is not drawn, and why: dimensions of which one index is shown, values between strides.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// What will be read: variables and selections of the dataset.
    pub fn wanted(&self) -> Vec<(VarId, Selection)> {
        self.parts.iter().flat_map(Part::wanted).collect()
    }

    /// Reads the values. `progress` is called with the values that are read, and with their number.
    ///
    /// # Errors
    /// As reading values; `Invalid` if all of them are missing, and for lines whose coordinates have other names or units
    /// than those of the first one.
    pub fn read(&self, progress: &mut dyn FnMut(u64, u64)) -> Result<Figure> {
        let mut done = 0;
        let total = self.cost.values;
        let mut count = |values: u64| {
            done += values;
            progress(done, total);
        };
        match self.parts.as_slice() {
            [part] if matches!(part.drawn, Drawn::Field { .. }) => {
                build::field(part, &self.dataset, &self.options, &mut count)
            }
            parts => build::lines(parts, &self.dataset, &self.options, &mut count),
        }
    }

    fn priced(&self) -> Result<PlotCost> {
        let (mut bytes, mut requests) = price(&self.dataset.plan_many(&self.wanted())?);
        if let Some(other) = &self.options.compare {
            let wanted: Vec<_> = self.parts.iter().filter_map(Part::wanted_of_other).collect();
            let (more, also) = price(&other.plan_many(&wanted)?);
            (bytes, requests) = (bytes.saturating_add(more), requests.saturating_add(also));
        }
        let times = if self.options.compare.is_some() { 2 } else { 1 };
        let values = self.parts.iter().filter_map(|part| part.selection.element_count());
        Ok(PlotCost { bytes, requests, values: values.sum::<u64>().saturating_mul(times) })
    }
}

/// Bytes and requests of a plan. Requests for objects of unknown length count with what their chunks decode to.
fn price(plan: &ReadPlan) -> (u64, u64) {
    let mut bytes = plan.bytes;
    if plan.whole_objects > 0 {
        let share = u128::from(plan.decoded_bytes) * u128::from(plan.whole_objects);
        let share = share / u128::from(plan.requests.max(1));
        bytes = bytes.saturating_add(u64::try_from(share).unwrap_or(u64::MAX));
    }
    let all = |counted: u64| match plan.chunks {
        Some(chunks) if plan.counted > 0 && chunks > plan.counted => {
            let scaled = u128::from(counted) * u128::from(chunks) / u128::from(plan.counted);
            u64::try_from(scaled).unwrap_or(u64::MAX)
        }
        Some(_) => counted,
        None => u64::MAX,
    };
    (all(bytes), all(plan.requests))
}

/// Several variables are drawn only as lines over the same dimension.
fn check_together(parts: &[Part]) -> Result<()> {
    let [first, rest @ ..] = parts else {
        return Err(Error::invalid("no variable is given"));
    };
    if rest.is_empty() {
        return Ok(());
    }
    if let Some(field) = parts.iter().find(|part| matches!(part.drawn, Drawn::Field { .. })) {
        let message = "several variables are drawn only as lines: select one index of all dimensions but one";
        return Err(Error::invalid(message).at_path(field.variable.path()));
    }
    for part in rest {
        let [one, other] = [first, part].map(|part| part.line_dimension().unwrap_or_default());
        if other != one {
            let message = format!("it is a line over {other}, the first one over {one}");
            return Err(Error::invalid(message).at_path(part.variable.path()));
        }
    }
    Ok(())
}

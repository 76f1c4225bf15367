//! Sizes of the fragments along each dimension (docs/spec/cfa.md 4.1, 5.1).
use crate::cuts::AxisCells;
use crate::entries::FragmentEntries;
use crate::subject::AggregationSubject;
use ncirrus_layout::{Error, Result, Step, View, join};
use ncirrus_model::{Atomic, Attributes, AxisSelection, Values, default_fill};

/// Rows of sizes, one per dimension, each padded at its end with missing values.
pub(super) struct MapRows<'a> {
    pub(super) entries: &'a FragmentEntries,
    pub(super) attributes: Option<&'a Attributes>,
    pub(super) subject: &'a AggregationSubject,
    /// Lengths of the dimensions; `None` for those without written data.
    pub(super) lengths: &'a [Option<u64>],
}

/// How many columns beyond the number of fragments are checked.
const SPARE: u64 = 1 << 12;
/// Longer rows are not read if the sizes are known otherwise.
const LONG: u64 = 1 << 20;

impl MapRows<'_> {
    /// How each dimension is divided, given the shape of the array of fragments.
    ///
    /// # Errors
    /// A need; `Malformed` if the sizes match neither the array of fragments nor the dimensions.
    pub(super) fn cuts(&self, view: &dyn View, grid: &[u64]) -> Step<Vec<AxisCells>> {
        let rank = self.subject.rank();
        if rank == 0 {
            return self.scalar(view);
        }
        let columns = match *self.entries.shape.as_slice() {
            [rows, columns] if rows == rank as u64 => columns,
            // A row alone is unambiguous, but not what the conventions require.
            [columns] if rank == 1 && self.subject.choices.lenient => columns,
            _ => {
                let (path, shape) = (&self.entries.path, &self.entries.shape);
                let message = format!("{path} has the shape {shape:?}, {rank} rows were expected");
                return Err(Error::malformed(message).into());
            }
        };
        join(grid.iter().enumerate(), |(axis, count)| {
            if *count > LONG && self.lengths.get(axis) == Some(&Some(*count)) {
                return self.ones(view, axis, columns, *count);
            }
            Ok(self.cut(axis, &self.row(view, axis, columns, *count)?, *count)?)
        })
    }

    /// As many fragments as elements: every size is 1, and only a few are checked.
    fn ones(&self, view: &dyn View, axis: usize, columns: u64, count: u64) -> Step<AxisCells> {
        let cuts = AxisCells::Even { size: 1, count, end: count };
        let at = [0, count / 3, count / 2, count - 1].into_iter().filter(|at| *at < columns);
        let mut axes = vec![AxisSelection::Indices(at.collect())];
        if self.entries.rank() > 1 {
            axes.insert(0, AxisSelection::Slice { start: axis as u64, count: 1, stride: 1 });
        }
        let sizes = self.entries.select(view, axes)?;
        match (0..4).find(|at| sizes.integer(*at) != Some(1)) {
            None => Ok(cuts),
            Some(_) => Ok(self.cut(axis, &self.row(view, axis, columns, count)?, count)?),
        }
    }

    /// Scalar data have one fragment of one element.
    fn scalar(&self, view: &dyn View) -> Step<Vec<AxisCells>> {
        let shape = &self.entries.shape;
        let elements = shape.iter().fold(1u64, |all, len| all.saturating_mul(*len));
        let row = if elements == 1 {
            self.entries.read(view, &vec![0; shape.len()], &vec![1; shape.len()])?
        } else {
            Values::Int(Vec::new())
        };
        match row.integer(0) {
            Some(1) => Ok(Vec::new()),
            _ => {
                let path = &self.entries.path;
                Err(Error::malformed(format!("{path} is not the 1 that scalar data need")).into())
            }
        }
    }

    /// The sizes along a dimension, with what follows them.
    fn row(&self, view: &dyn View, axis: usize, columns: u64, count: u64) -> Step<Values> {
        let wanted = if self.subject.choices.lenient { columns } else { count.saturating_add(SPARE) };
        let wanted = wanted.min(columns);
        let (start, count) = match self.entries.rank() {
            1 => (vec![0], vec![wanted]),
            _ => (vec![axis as u64, 0], vec![1, wanted]),
        };
        self.entries.read(view, &start, &count)
    }

    fn cut(&self, axis: usize, row: &Values, count: u64) -> Result<AxisCells> {
        let path = &self.entries.path;
        let name = self.subject.dimensions.get(axis).map(String::as_str).unwrap_or_default();
        let sizes = self
            .sizes(row)
            .map_err(|fact| Error::malformed(format!("{path}, the sizes along dimension {name}: {fact}")))?;
        let found = sizes.len() as u64;
        let fits = if self.subject.choices.lenient { found <= count } else { found == count };
        if !fits {
            let message =
                format!("{path} has {found} sizes along dimension {name}, the array of fragments {count}");
            return Err(Error::malformed(message));
        }
        let cuts = AxisCells::from_sizes(&sizes)?;
        match self.lengths.get(axis).copied().flatten() {
            Some(len) if len != cuts.end() => {
                let sum = cuts.end();
                Err(Error::malformed(format!(
                    "{path}: the sizes along dimension {name} make {sum}, its length is {len}"
                )))
            }
            _ => Ok(cuts),
        }
    }

    /// The sizes before the first missing one.
    fn sizes(&self, row: &Values) -> std::result::Result<Vec<u64>, String> {
        let missing = self.missing(row.atomic());
        let is_missing = |at: usize| row.integer(at).is_some_and(|value| missing.contains(&value));
        let count = (0..row.len()).find(|at| is_missing(*at)).unwrap_or(row.len());
        if let Some(at) = (count..row.len()).find(|at| !is_missing(*at)) {
            return Err(format!("a size at {at} after a missing one at {count}"));
        }
        if count == 0 {
            return Err("there is none".to_owned());
        }
        let size = |at: usize| {
            let value = row.integer(at).unwrap_or_default();
            let size = u64::try_from(value).ok().filter(|size| *size > 0);
            size.ok_or_else(|| format!("{value} is not a size"))
        };
        (0..count).map(size).collect()
    }

    /// The missing values.
    fn missing(&self, atomic: Option<Atomic>) -> Vec<i128> {
        let named = |name: &str| Some(&self.attributes?.find(name)?.values);
        let own = ["_FillValue", "missing_value"].into_iter().find_map(named);
        let values = own.cloned().or_else(|| atomic.map(default_fill));
        let values = values.unwrap_or(Values::Int(Vec::new()));
        (0..values.len()).filter_map(|at| values.integer(at).or_else(|| whole(values.number(at)?))).collect()
    }
}

/// A number without a fraction, as some write missing values of integers.
#[expect(clippy::cast_possible_truncation, reason = "numbers beyond 128 bits are no sizes")]
fn whole(number: f64) -> Option<i128> {
    (number.fract() == 0.0).then_some(number as i128)
}

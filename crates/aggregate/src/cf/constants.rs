//! Fragments of one value each (docs/spec/cfa.md 5.1).
use crate::entries::{EntryTexts, FragmentEntries};
use crate::subject::AggregationSubject;
use crate::touched::TouchedCells;
use ncirrus_layout::{Error, Result, Step, View};
use ncirrus_model::{Atomic, Attributes, Model, Values, VarId, default_fill};

#[cfg(test)]
mod tests;

/// One value per fragment.
#[derive(Debug)]
pub(super) struct FragmentConstants {
    pub(super) entries: FragmentEntries,
    is_text: bool,
    /// Missing values, besides those of the aggregated variable.
    missing: Vec<Values>,
}

impl FragmentConstants {
    /// The values in a variable.
    ///
    /// # Errors
    /// `Malformed` if its shape or type does not match the aggregated variable.
    pub(super) fn new(model: &Model, id: VarId, subject: &AggregationSubject) -> Result<Self> {
        let is_text = subject.fill.atomic() == Some(Atomic::String);
        let entries =
            if is_text { FragmentEntries::texts(model, id) } else { FragmentEntries::numbers(model, id) }?;
        let (path, found, rank) = (&entries.path, entries.rank(), subject.rank());
        let wanted = subject.fill.atomic();
        if !is_text && wanted.is_some_and(Atomic::is_numeric) != entries.is_numeric() {
            let message = format!("{path} holds values of a type other than that of the aggregated data");
            return Err(Error::malformed(message));
        }
        if found != rank && !(rank == 0 && entries.shape == [1]) {
            let message = format!("{path} has {found} dimensions, the aggregated variable {rank}");
            return Err(Error::malformed(message));
        }
        Ok(Self { entries, is_text, missing: Vec::new() })
    }

    /// Records the missing values: its fill value, which is its type's if it has none, but not for bytes; its missing
    /// values.
    pub(super) fn note(&mut self, attributes: &Attributes) {
        self.entries = self.entries.clone().with_attributes(attributes);
        let named = |name: &str| attributes.find(name).map(|attribute| attribute.values.clone());
        let atomic = self.entries.atomic();
        let own = || Some(default_fill(atomic)).filter(|_| atomic.byte_len().is_some_and(|len| len > 1));
        let all = named("_FillValue").or_else(own).into_iter().chain(named("missing_value"));
        self.missing =
            all.flat_map(|values| (0..values.len()).map(move |at| values.slice(at..at + 1))).collect();
    }

    /// The stored values of the blocks that a region touches.
    ///
    /// # Errors
    /// A need, or errors of reading them.
    pub(super) fn read(&self, view: &dyn View, touched: &TouchedCells) -> Step<Values> {
        let entries = &self.entries;
        let (start, count) = (entries.lead(&touched.start, 0), entries.lead(&touched.count, 1));
        if self.is_text {
            Ok(strings(&entries.read_texts(view, &start, &count)?, &count)?)
        } else {
            entries.read(view, &start, &count)
        }
    }

    /// One of the values that were read; `None` if it is missing.
    pub(super) fn one(&self, values: &Values, entry: usize) -> Option<Values> {
        Some(values.slice(entry..entry + 1)).filter(|value| !self.is_missing(value))
    }

    fn is_missing(&self, value: &Values) -> bool {
        if let Values::String(texts) = value {
            return texts.get(0).is_none();
        }
        let is_nan = |value: &Values| value.number(0).is_some_and(f64::is_nan);
        self.missing.iter().any(|missing| missing == value || is_nan(missing) && is_nan(value))
    }
}

fn strings(texts: &EntryTexts, count: &[u64]) -> Result<Values> {
    let total = usize::try_from(count.iter().product::<u64>()).unwrap_or(usize::MAX);
    let all: Vec<Option<&str>> = (0..total).map(|at| texts.get(at)).collect::<Result<_>>()?;
    Ok(Values::String(all.into_iter().collect()))
}

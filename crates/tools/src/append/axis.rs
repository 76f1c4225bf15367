//! The coordinates along the dimension that grows: each source must go on where the ones before it end.
use super::recode::Recoding;
use super::{AppendOptions, AppendReport};
use ncirrus::internals::DatasetInternals;
use ncirrus::{Dataset, DimId, Error, Model, Result, Selection, VarId};
use ncirrus_model::ExactNumber;

/// The coordinates of the target, and of the sources that were checked so far.
pub(super) struct KnownAxis {
    pub(super) coordinate: Option<VarId>,
    path: String,
    values: Vec<ExactNumber>,
    skips: bool,
}

impl KnownAxis {
    pub(super) fn of(
        ours: &Dataset,
        model: &Model,
        dim: DimId,
        options: &AppendOptions<'_>,
        report: &mut AppendReport,
    ) -> Result<Self> {
        let numeric = |var: &VarId| {
            let ty = model.variable(*var).map(|variable| variable.ty);
            ty.and_then(|ty| model.base_atomic(ty)).is_some_and(ncirrus::Atomic::is_numeric)
        };
        let coordinate = model.coordinate_of(dim).filter(numeric);
        let path = coordinate.map(|var| model.variable_path(var)).unwrap_or_default();
        let values = match coordinate {
            Some(var) => ExactNumber::all(&ours.read_values(var, &Selection::all(&model.shape(var)))?),
            None if options.skip_existing => {
                let message =
                    format!("{} has no coordinate that identifies the existing records", report.axis);
                return Err(Error::invalid(message).at_object(ours.url()));
            }
            None => {
                let axis = &report.axis;
                report
                    .notes
                    .push(format!("{axis} has no coordinate: whether records exist already was not checked"));
                Vec::new()
            }
        };
        Ok(Self { coordinate, path, values, skips: options.skip_existing })
    }

    /// Checks that a source goes on, and returns the first of its records that is added.
    pub(super) fn go_on(
        &mut self,
        theirs: &Dataset,
        var: VarId,
        recoding: &Recoding,
        report: &mut AppendReport,
    ) -> Result<u64> {
        let (url, path) = (theirs.url(), &self.path);
        let all = Selection::all(&theirs.snapshot().shape(var));
        let added = match recoding.apply(theirs.read_values(var, &all)?) {
            Ok(values) => ExactNumber::all(&values),
            // The check of values reports it.
            Err(_) => return Ok(0),
        };
        if let Some(at) = added.iter().position(|value| value.is_nan()) {
            report.findings.push(format!("{url}: {path}[{at}] is missing"));
            return Ok(0);
        }
        let falls = is_falling(&self.values).or_else(|| is_falling(&added)).unwrap_or(false);
        let follows =
            |next: ExactNumber, before: ExactNumber| if falls { next < before } else { next > before };
        let mut first = 0;
        if self.skips {
            let is_old =
                |value: &&ExactNumber| self.values.last().is_some_and(|last| !follows(**value, *last));
            let old = added.iter().take_while(is_old).count();
            let strange = added.iter().take(old).find(|value| !self.values.contains(value));
            if let Some(value) = strange {
                report.findings.push(format!("{url}: {path} {value} is between the existing ones"));
                return Ok(0);
            }
            first = old;
            report.skipped += old as u64;
        }
        let mut last = self.values.last().copied();
        for (at, value) in added.iter().enumerate().skip(first) {
            if let Some(last) = last.filter(|last| !follows(*value, *last)) {
                let there = if self.values.contains(value) { ", and exists already" } else { "" };
                let falling = if falls { " on a falling axis" } else { "" };
                report.findings.push(format!(
                    "{url}: {path} does not continue: [{at}] is {value}, which follows {last}{falling}{there} (in the target's units)"
                ));
                return Ok(first as u64);
            }
            last = Some(*value);
        }
        self.values.extend(added.iter().skip(first));
        Ok(first as u64)
    }
}

fn is_falling(values: &[ExactNumber]) -> Option<bool> {
    match values {
        [first, .., last] => Some(last < first),
        _ => None,
    }
}

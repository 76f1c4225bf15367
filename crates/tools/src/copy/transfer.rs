//! Copying the values of one variable.
use super::{CopiedVariable, ObserveValues};
use ncirrus::internals::DatasetInternals;
use ncirrus::{Dataset, Result, Selection, Values};
use ncirrus_engine::SkippedPart;
use ncirrus_model::VarId;

impl CopiedVariable {
    pub(super) fn element_count(&self) -> u64 {
        self.selection.element_count().unwrap_or(u64::MAX)
    }

    /// Copies the values from one dataset to another.
    ///
    /// # Errors
    /// Errors of reading and writing; damaged chunks, unless they are recorded in `skipped`.
    pub(super) fn copy(
        &self,
        source: &Dataset,
        target: &Dataset,
        progress: &(dyn Fn(u64) + Sync),
        skipped: Option<&(dyn Fn(SkippedPart) + Sync)>,
    ) -> Result<()> {
        let Some(skipped) = skipped else { return self.copy_to(source, target, self.var, progress) };
        let (from, to) = ((source.reader()?, self.var), (target.writer()?, self.var));
        let (selection, treatment) = (&self.selection, self.treatment);
        let copying = ncirrus_engine::copy_around_damage(from, selection, to, treatment, progress, skipped);
        target.engine().wait(copying).map(|_| ()).map_err(|error| error.at_path(&*self.path))
    }

    /// As [`copy`](Self::copy), with values as they are read from the source.
    ///
    /// # Errors
    /// As [`copy`](Self::copy).
    pub(super) fn copy_observed(
        &self,
        source: &Dataset,
        target: &Dataset,
        progress: &(dyn Fn(u64) + Sync),
        observe: ObserveValues<'_>,
    ) -> Result<()> {
        let (from, to) = ((source.reader()?, self.var), (target.writer()?, self.var));
        let observe = |selection: &Selection, values: &Values| observe(self.var, selection, values);
        let (selection, treatment) = (&self.selection, self.treatment);
        let copying = ncirrus_engine::copy_observed(from, selection, to, treatment, progress, &observe);
        target.engine().wait(copying).map(|_| ()).map_err(|error| error.at_path(&*self.path))
    }

    /// As [`copy`](Self::copy), to a variable of another id.
    ///
    /// # Errors
    /// As [`copy`](Self::copy).
    pub(crate) fn copy_to(
        &self,
        source: &Dataset,
        target: &Dataset,
        var: VarId,
        progress: &(dyn Fn(u64) + Sync),
    ) -> Result<()> {
        let (from, to) = ((source.reader()?, self.var), (target.writer()?, var));
        let copying = ncirrus_engine::copy_selection(from, &self.selection, to, self.treatment, progress);
        target.engine().wait(copying).map(|_| ()).map_err(|error| error.at_path(&*self.path))
    }
}

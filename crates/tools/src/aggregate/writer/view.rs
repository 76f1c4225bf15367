//! Reading what has been written.
use super::{AggregationWriter, described_in};
use ncirrus::internals::DatasetInternals;
use ncirrus::{CreateOptions, Dataset, Kind, OpenOptions, Result, Selection};
use ncirrus_aggregate::write::{Convention, FragmentArray, MasterForm};
use ncirrus_model::{Model, VarId};

impl AggregationWriter {
    /// The aggregated variables as they are now, for reading: fragments that were never written are fill values. What
    /// is written later needs a new view.
    ///
    /// # Errors
    /// Errors of writing: fragments are as long as the longest first.
    pub fn view(&self) -> Result<Dataset> {
        let mut variables = self.lock();
        let lens = self.lens(&variables);
        let mut described = self.describe(&mut variables, &lens, false)?;
        for (.., array) in &mut described {
            self.name_wholly(array)?;
        }
        let mut model = Model::clone(&self.master.snapshot());
        let aggregated: Vec<VarId> = described.iter().map(|(var, ..)| *var).collect();
        for var in model.variables().into_iter().filter(|var| !aggregated.contains(var)) {
            model.remove_variable(var)?;
        }
        // CFA-0.4 takes no names of dimensions for itself.
        let form = MasterForm { convention: Convention::Cfa04, ..MasterForm::default() };
        let session = self.master.session();
        let scratch = Dataset::create_bytes(&CreateOptions::new().kind(Kind::Nc4), session)?;
        let values = scratch.edit(|new| {
            *new = model;
            described_in(new, &lens, described, form, false)
        })?;
        for (var, values) in values {
            let all = Selection::all(&scratch.snapshot().shape(var));
            scratch.write_values(var, &all, &values)?;
        }
        Dataset::open_bytes(scratch.finish_bytes()?, &OpenOptions::default(), session)
    }

    /// Names that mean the same from anywhere.
    fn name_wholly(&self, array: &mut FragmentArray) -> Result<()> {
        for cell in array.cells.iter_mut().flatten() {
            let url = super::super::names::resolve(&self.target, &cell.file)?;
            cell.file = super::super::names::absolute(&url)?.into();
        }
        Ok(())
    }
}

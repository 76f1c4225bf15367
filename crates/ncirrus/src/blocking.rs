//! The one place where the blocking API waits: wraps everything asynchronous in the engine as ordinary calls.
use crate::dataset::{Dataset, DatasetState};
use crate::variable::ShowFragments;
use crate::{Atomic, Error, PointSelection, Result, Selection, Values, Variable};
use ncirrus_engine::{Draft, FragmentCheck, FragmentInfo, ReadPlan, StoredChunk};
use ncirrus_layout::Source;
use ncirrus_model::{Attributes, Model, NodeId, VarId};
use ncirrus_store::StagedDataset;
use std::sync::Arc;

impl Dataset {
    /// The present definitions; attributes may be pending.
    pub(crate) fn snapshot(&self) -> Arc<Model> {
        match self.state() {
            DatasetState::Reading(dataset) => dataset.model(),
            DatasetState::Writing(open) => open.writer.model(),
        }
    }

    pub(crate) fn fetch_attributes(&self, nodes: &[NodeId]) -> Result<Vec<Result<Attributes>>> {
        match self.state() {
            DatasetState::Reading(dataset) => {
                self.engine().wait(async { Ok(dataset.attributes(nodes).await) })
            }
            DatasetState::Writing(_) => {
                Err(Error::internal("a dataset that is written has its attributes at hand"))
            }
        }
    }

    pub(crate) fn read_values(&self, var: VarId, selection: &Selection) -> Result<Values> {
        match self.state() {
            DatasetState::Reading(dataset) => self.engine().wait(dataset.read(var, selection)),
            DatasetState::Writing(open) => self.engine().wait(self.written(open)?.read(var, selection)),
        }
    }

    pub(crate) fn read_native(&self, var: VarId, selection: &Selection, out: &mut [u8]) -> Result<()> {
        match self.state() {
            DatasetState::Reading(dataset) => self.engine().wait(dataset.read_into(var, selection, out)),
            DatasetState::Writing(open) => {
                self.engine().wait(self.written(open)?.read_into(var, selection, out))
            }
        }
    }

    pub(crate) fn read_points(&self, var: VarId, points: &PointSelection) -> Result<Values> {
        match self.state() {
            DatasetState::Reading(dataset) => self.engine().wait(dataset.read_points(var, points)),
            DatasetState::Writing(open) => self.engine().wait(self.written(open)?.read_points(var, points)),
        }
    }

    pub(crate) fn read_points_native(
        &self,
        var: VarId,
        points: &PointSelection,
        out: &mut [u8],
    ) -> Result<()> {
        match self.state() {
            DatasetState::Reading(dataset) => self.engine().wait(dataset.read_points_into(var, points, out)),
            DatasetState::Writing(open) => {
                self.engine().wait(self.written(open)?.read_points_into(var, points, out))
            }
        }
    }

    pub(crate) fn write_packed(&self, var: VarId, selection: &Selection, bytes: &[u8]) -> Result<()> {
        let open = self.open_for_writing()?;
        self.engine().wait(open.writer.write_packed(var, selection, bytes))
    }

    pub(crate) fn write_point_bytes(&self, var: VarId, points: &PointSelection, bytes: &[u8]) -> Result<()> {
        let open = self.open_for_writing()?;
        self.engine().wait(open.writer.write_point_bytes(var, points, bytes))
    }

    pub(crate) fn write_point_values(
        &self,
        var: VarId,
        points: &PointSelection,
        values: &Values,
    ) -> Result<()> {
        let open = self.open_for_writing()?;
        self.engine().wait(open.writer.write_point_values(var, points, values))
    }

    pub(crate) fn write_values(&self, var: VarId, selection: &Selection, values: &Values) -> Result<()> {
        let open = self.open_for_writing()?;
        self.engine().wait(open.writer.write(var, selection, values))
    }

    pub(crate) fn write_native(
        &self,
        var: VarId,
        selection: &Selection,
        ty: Atomic,
        native: &[u8],
    ) -> Result<()> {
        let open = self.open_for_writing()?;
        self.engine().wait(open.writer.write_from(var, selection, ty, native))
    }

    /// Changes definitions: whatever [`Model`] allows, all of it or, if `change` fails, none of it.
    ///
    /// `change` works on a copy, which takes effect when it has returned. Until then this dataset is unchanged:
    /// `change` may look up its variables, read and write it.
    ///
    /// # Errors
    /// Errors of `change`; `Unsupported` naming a member that the format cannot store; `Invalid` if the dataset is not
    /// open for writing, and for an edit within `change`; `Conflict` if definitions were rolled back since `change` was
    /// called, or another thread's edit does not end. Nothing is changed then.
    pub fn edit<T>(&self, change: impl FnOnce(&mut Model) -> Result<T>) -> Result<T> {
        let open = self.open_for_writing()?;
        let answer = self.engine().wait(open.writer.edit(change))?;
        // Edits of a dataset that was closed meanwhile are lost.
        self.open_for_writing().map(|_| answer)
    }

    /// The definitions, for changes that take effect together when the draft is given to [`adopt_draft`](Self::adopt_draft).
    ///
    /// # Errors
    /// `Invalid` if the dataset is not open for writing.
    pub fn draft(&self) -> Result<Draft> {
        Ok(self.open_for_writing()?.writer.draft())
    }

    /// Gives the definitions of a draft to the dataset, with what dimensions have grown meanwhile. The draft can be
    /// changed and given again.
    ///
    /// # Errors
    /// As of [`edit`](Self::edit); `Conflict` if there were other edits since the draft was made or given last.
    pub fn adopt_draft(&self, draft: &mut Draft) -> Result<()> {
        let open = self.open_for_writing()?;
        self.engine().wait(open.writer.adopt_draft(draft))?;
        self.open_for_writing().map(|_| ())
    }

    /// Takes over the present lengths of dimensions into a draft; all present definitions, if nothing was changed in it.
    /// Other edits until now are not a conflict from then on: what the draft says counts.
    ///
    /// # Errors
    /// None of a dataset that is written.
    pub fn refresh_draft(&self, draft: &mut Draft) -> Result<()> {
        match self.state() {
            DatasetState::Reading(_) => Ok(()),
            DatasetState::Writing(open) => open.writer.refresh_draft(draft),
        }
    }

    /// Checks the definitions as they are now, which happens otherwise before the next data are read or written, or at a
    /// commit.
    ///
    /// # Errors
    /// `Unsupported` or `Limit` naming a member that the format cannot store; `Invalid` if the dataset is not open for
    /// writing. All edits since the last check are taken back then.
    pub fn check_definitions(&self) -> Result<()> {
        let open = self.open_for_writing()?;
        self.engine().wait(open.writer.check_definitions())
    }

    /// Makes everything written so far durable, and, if the dataset is changed in place, visible to others.
    ///
    /// # Errors
    /// If writing fails; the last committed state remains valid. `Unsupported` for a new single file that is sent to an
    /// object store while it is written.
    pub fn sync(&self) -> Result<()> {
        self.with_staged(StagedDataset::check_sync)?;
        self.commit()?;
        self.open_for_writing()?.note_sync();
        self.with_staged(StagedDataset::synced)
    }

    /// Puts everything written so far, and commits it where it is written.
    pub(crate) fn commit(&self) -> Result<()> {
        let open = self.open_for_writing()?;
        let check = open.check_of_place();
        self.engine().wait(open.writer.sync_checked(check))
    }

    /// How a selection of a variable would be read: requests, bytes, chunks.
    ///
    /// # Errors
    /// If the selection does not fit, the variable is inaccessible, or the dataset is open for writing.
    pub fn plan(&self, variable: &Variable, selection: &Selection) -> Result<ReadPlan> {
        let dataset = self.reader()?;
        self.engine().wait(dataset.plan(variable.id(), selection))
    }

    /// How selections of several variables would be read together, by [`read_many`](Self::read_many).
    ///
    /// # Errors
    /// As [`plan`](Self::plan).
    pub fn plan_many(&self, wanted: &[(VarId, Selection)]) -> Result<ReadPlan> {
        let wanted: Vec<(VarId, &Selection)> = wanted.iter().map(|(var, part)| (*var, part)).collect();
        let dataset = self.reader()?;
        self.engine().wait(dataset.plan_many(&wanted))
    }

    /// Where a variable's elements are stored.
    ///
    /// # Errors
    /// If the variable is inaccessible, or the dataset is open for writing.
    pub fn source(&self, variable: &Variable) -> Result<Arc<Source>> {
        let dataset = self.reader()?;
        self.engine().wait(dataset.source(variable.id()))
    }

    /// The parts from which a selection of an aggregated variable is assembled.
    pub(crate) fn fragments(&self, var: VarId, selection: &Selection) -> Result<Vec<FragmentInfo>> {
        let dataset = self.reader()?;
        self.engine().wait(dataset.fragments(var, selection))
    }

    /// The same, each with its fault, if it has one.
    pub(crate) fn check_fragments(&self, var: VarId, selection: &Selection) -> Result<Vec<FragmentCheck>> {
        let dataset = self.reader()?;
        self.engine().wait(dataset.check_fragments(var, selection))
    }

    /// The same, in batches.
    pub(crate) fn each_fragment(
        &self,
        var: VarId,
        selection: &Selection,
        check: bool,
        show: &mut ShowFragments<'_>,
    ) -> Result<()> {
        let dataset = self.reader()?;
        self.engine().wait(dataset.each_fragment(var, selection, check, show))
    }

    /// Where the chunks of a selection are stored.
    pub(crate) fn stored_chunks(&self, var: VarId, selection: &Selection) -> Result<Vec<StoredChunk>> {
        let dataset = self.reader()?;
        self.engine().wait(dataset.chunks(var, selection))
    }
}

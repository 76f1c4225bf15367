//! A new file after its first commit: from then on it is changed in place, like any existing file, so that the cost
//! of later commits depends on the changes and not on the size of the file.
use super::super::update::{FileUpdate, MadeFile};
use super::create::FileCreation;
use bytes::Bytes;
use ncirrus_layout::{
    Abilities, CellList, ChunkRef, Encoding, Placer, PlacerWork, PreparedPlacement, PutPhase, Resolver,
    Result, Step, StorePut, View,
};
use ncirrus_model::{Changes, Model, Values, VarId};
use std::sync::Arc;

/// A new file.
#[derive(Debug)]
pub(super) enum NewFile {
    /// Not visible to readers yet.
    First(Box<FileCreation>),
    /// Visible to readers.
    Later(Box<FileUpdate>),
}

impl NewFile {
    fn now(&self) -> &dyn Placer {
        match self {
            Self::First(creation) => creation.as_ref(),
            Self::Later(update) => update.as_ref(),
        }
    }

    fn now_mut(&mut self) -> &mut dyn Placer {
        match self {
            Self::First(creation) => creation.as_mut(),
            Self::Later(update) => update.as_mut(),
        }
    }
}

impl Placer for NewFile {
    fn abilities(&self) -> Abilities {
        self.now().abilities()
    }

    fn define(&mut self, view: &dyn View, model: &Model, changes: Option<&Changes>) -> Step<Vec<StorePut>> {
        self.now_mut().define(view, model, changes)
    }

    fn encoding(&self, var: VarId) -> Result<Arc<Encoding>> {
        self.now().encoding(var)
    }

    fn encoding_in(&self, model: &Model, var: VarId) -> Result<Arc<Encoding>> {
        self.now().encoding_in(model, var)
    }

    fn needs_fill(&self, var: VarId) -> bool {
        self.now().needs_fill(var)
    }

    fn resolver(&self, var: VarId) -> Option<Arc<dyn Resolver>> {
        self.now().resolver(var)
    }

    fn locate(&self, view: &dyn View, var: VarId, cells: &CellList) -> Step<Vec<ChunkRef>> {
        self.now().locate(view, var, cells)
    }

    fn prepare(&self, view: &dyn View, work: &[PlacerWork]) -> Step<PreparedPlacement> {
        self.now().prepare(view, work)
    }

    fn intern(&mut self, var: VarId, values: &Values) -> Result<(Bytes, Vec<StorePut>)> {
        self.now_mut().intern(var, values)
    }

    fn place(
        &mut self,
        prepared: &PreparedPlacement,
        var: VarId,
        cell: &[u64],
        body: Bytes,
        mask: u32,
    ) -> Result<Vec<StorePut>> {
        self.now_mut().place(prepared, var, cell, body, mask)
    }

    fn plan_commit(&mut self, view: &dyn View, model: &Model) -> Step<Vec<PutPhase>> {
        self.now_mut().plan_commit(view, model)
    }

    fn committed(&mut self) {
        match self {
            Self::First(creation) => {
                let made: Option<MadeFile> = creation.committed();
                if let Some(made) = made {
                    *self = Self::Later(Box::new(FileUpdate::after(made)));
                }
            }
            Self::Later(update) => update.committed(),
        }
    }
}

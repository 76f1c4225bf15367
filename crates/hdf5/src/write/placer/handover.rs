//! A new file after its first commit: from then on it is changed in place, as any other file, so that later commits cost
//! what has changed and not what there is.
use super::super::update::{Made, Update};
use super::create::Creation;
use bytes::Bytes;
use ncirrus_layout::{
    Abilities, Cells, ChunkRef, Encoding, Phase, Placer, Prepared, Put, Resolver, Result, Step, View, Work,
};
use ncirrus_model::{Model, Values, VarId};
use std::sync::Arc;

/// A new file.
#[derive(Debug)]
pub(super) enum New {
    /// Nobody knows of it yet.
    First(Box<Creation>),
    /// Readers know it.
    Later(Box<Update>),
}

impl New {
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

impl Placer for New {
    fn abilities(&self) -> Abilities {
        self.now().abilities()
    }

    fn define(&mut self, view: &dyn View, model: &Model) -> Step<Vec<Put>> {
        self.now_mut().define(view, model)
    }

    fn encoding(&self, var: VarId) -> Result<Arc<Encoding>> {
        self.now().encoding(var)
    }

    fn needs_fill(&self, var: VarId) -> bool {
        self.now().needs_fill(var)
    }

    fn resolver(&self, var: VarId) -> Option<Arc<dyn Resolver>> {
        self.now().resolver(var)
    }

    fn locate(&self, view: &dyn View, var: VarId, cells: &Cells) -> Step<Vec<ChunkRef>> {
        self.now().locate(view, var, cells)
    }

    fn prepare(&self, view: &dyn View, work: &[Work]) -> Step<Prepared> {
        self.now().prepare(view, work)
    }

    fn intern(&mut self, var: VarId, values: &Values) -> Result<(Bytes, Vec<Put>)> {
        self.now_mut().intern(var, values)
    }

    fn place(
        &mut self,
        prepared: &Prepared,
        var: VarId,
        cell: &[u64],
        body: Bytes,
        mask: u32,
    ) -> Result<Vec<Put>> {
        self.now_mut().place(prepared, var, cell, body, mask)
    }

    fn plan_commit(&mut self, view: &dyn View, model: &Model) -> Step<Vec<Phase>> {
        self.now_mut().plan_commit(view, model)
    }

    fn committed(&mut self) {
        match self {
            Self::First(creation) => {
                let made: Option<Made> = creation.committed();
                if let Some(made) = made {
                    *self = Self::Later(Box::new(Update::after(made)));
                }
            }
            Self::Later(update) => update.committed(),
        }
    }
}

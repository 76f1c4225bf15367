//! Definitions that are being changed, apart from the dataset until they are given to it.
//!
//! A change is made on a second copy, which then takes the place of the first: a change that is refused leaves the
//! draft as it was, and definitions can be read while they are changed. The copy that was replaced takes over what was
//! changed ([`Model::follow`]) and serves the next change, so that a change costs what it changes, not the whole model.
use super::growth::GrowthLog;
use ncirrus_layout::{LockExt, Result};
use ncirrus_model::{Changes, DimId, DimensionLen, Model};
use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError};

/// Definitions that are being changed. They count once they are given to the dataset.
#[derive(Debug)]
pub struct Draft {
    /// The dataset's definitions when the draft was made or given to it last, and how often those had been changed.
    pub(super) base: Arc<Model>,
    pub(super) version: u64,
    /// Up to where the dataset's [`GrowthLog`] is taken over.
    growth: u64,
    pub(super) model: Arc<Model>,
    lineage: Mutex<Lineage>,
}

/// How a draft came about, which only one draft of a model has.
#[derive(Debug, Default)]
struct Lineage {
    /// What differs from the base besides growth of dimensions; `None` if that is not known.
    changes: Option<Changes>,
    spare: Option<Spare>,
    /// Whether the model notes changes that are not in `changes` yet ([`Draft::model_mut`]).
    is_tracking: bool,
}

/// Another copy of definitions.
#[derive(Debug)]
pub(super) struct Spare {
    pub(super) model: Arc<Model>,
    /// What it lacks.
    pub(super) behind: Changes,
}

/// Other copies of definitions, for changes to come.
#[derive(Debug, Default)]
pub(super) struct Spares(Vec<Spare>);

impl Spares {
    /// One without other owners.
    pub(super) fn take(&mut self) -> Option<Spare> {
        let free = self.0.iter_mut().position(|spare| Arc::get_mut(&mut spare.model).is_some())?;
        Some(self.0.remove(free))
    }

    /// Keeps a copy. Others may still look at it.
    pub(super) fn put(&mut self, spare: Spare) {
        self.0.retain(|other| !Arc::ptr_eq(&other.model, &spare.model));
        if self.0.len() == MAX_SPARES {
            self.0.remove(0);
        }
        self.0.push(spare);
    }

    /// Notes that the definitions were changed, and none of the copies.
    pub(super) fn note(&mut self, note: impl Fn(&mut Changes)) {
        self.0.iter_mut().for_each(|spare| note(&mut spare.behind));
    }

    /// Forgets all copies.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

/// Two: the definitions that the format accepted last may be one of them, which must not change.
const MAX_SPARES: usize = 2;

impl Spare {
    /// The copy, brought to the same state as the definitions.
    pub(super) fn up_to_date(mut self, present: &Model) -> Option<Arc<Model>> {
        Arc::get_mut(&mut self.model)?.follow(present, &self.behind);
        Some(self.model)
    }
}

/// As a start for changes of their own.
impl Clone for Draft {
    fn clone(&self) -> Self {
        let (base, model) = (Arc::clone(&self.base), Arc::clone(&self.model));
        let own = self.lineage.guard();
        // What a model notes, its copies do not.
        let changes = own.changes.clone().filter(|_| !own.is_tracking);
        let lineage = Mutex::new(Lineage { changes, ..Lineage::default() });
        Self { base, version: self.version, growth: self.growth, model, lineage }
    }
}

impl Deref for Draft {
    type Target = Model;
    fn deref(&self) -> &Model {
        &self.model
    }
}

impl From<Arc<Model>> for Draft {
    /// A draft that belongs to no writer.
    fn from(model: Arc<Model>) -> Self {
        Self::new(model, (0, 0), None)
    }
}

impl Draft {
    pub(super) fn new(base: Arc<Model>, (version, growth): (u64, u64), spare: Option<Spare>) -> Self {
        let lineage = Lineage { changes: Some(Changes::default()), spare, is_tracking: false };
        Self { model: Arc::clone(&base), base, version, growth, lineage: Mutex::new(lineage) }
    }

    /// A draft that goes on in place of this one, of which only the definitions are looked at from then on.
    #[must_use]
    pub fn successor(&self) -> Self {
        let (base, model) = (Arc::clone(&self.base), Arc::clone(&self.model));
        let mut lineage = std::mem::take(&mut *self.lineage.guard());
        lineage.note_tracked(&self.model);
        Self { base, version: self.version, growth: self.growth, model, lineage: Mutex::new(lineage) }
    }

    fn lineage(&mut self) -> &mut Lineage {
        self.lineage.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    /// The definitions that it was based on, its own ones, and the second copy of these.
    pub(super) fn into_parts(self) -> (Arc<Model>, Arc<Model>, Option<Spare>) {
        let lineage = self.lineage.into_inner().unwrap_or_else(PoisonError::into_inner);
        (self.base, self.model, lineage.spare)
    }

    /// The definitions as they are now.
    pub fn shared(&self) -> Arc<Model> {
        Arc::clone(&self.model)
    }

    /// Whether it is in the state that the dataset has or had.
    pub fn is_unchanged(&self) -> bool {
        Arc::ptr_eq(&self.base, &self.model)
    }

    /// Whether it has what a dataset has, or had when it was begun.
    pub fn is_of(&self, present: &Arc<Model>) -> bool {
        Arc::ptr_eq(&self.base, present)
    }

    /// Changes definitions, all of it or, if `change` fails, none of it.
    ///
    /// # Errors
    /// Errors of `change`.
    pub fn change<T>(&mut self, change: impl FnOnce(&mut Model) -> Result<T>) -> Result<T> {
        self.note_tracked();
        let mut copy = self.copy();
        let model = Arc::make_mut(&mut copy);
        let token = std::ptr::from_ref(self).addr();
        model.track(token);
        let answer = change(model);
        let changes = model.take_changes(token);
        match (&answer, changes) {
            (Ok(_), Some(changes)) => {
                let model = std::mem::replace(&mut self.model, copy);
                let lineage = self.lineage();
                lineage.spare = Some(Spare { model, behind: changes.clone() });
                if let Some(all) = &mut lineage.changes {
                    all.add(changes);
                }
            }
            (Ok(_), None) => {
                self.model = copy;
                self.lineage().changes = None;
            }
            (Err(_), Some(changes)) => {
                model.follow(&self.model, &changes);
                self.lineage().spare = Some(Spare { model: copy, behind: Changes::default() });
            }
            (Err(_), None) => {}
        }
        answer
    }

    /// The definitions for changes that are not refused: they are made in place, as they come.
    pub fn model_mut(&mut self) -> &mut Model {
        if !self.lineage().is_tracking {
            if self.lineage().spare.is_some() || Arc::get_mut(&mut self.model).is_none() {
                let model = self.copy();
                let model = std::mem::replace(&mut self.model, model);
                self.lineage().spare = Some(Spare { model, behind: Changes::default() });
            }
            let token = token(&self.model);
            Arc::make_mut(&mut self.model).track(token);
            self.lineage().is_tracking = true;
        }
        // For a copy that is made because the model has another owner, changes are not known.
        Arc::make_mut(&mut self.model)
    }

    /// What differs from the dataset's definitions besides growth of dimensions; `None` if that is not known.
    pub fn changes(&mut self) -> Option<&Changes> {
        self.note_tracked();
        self.lineage().changes.as_ref()
    }

    /// Takes what differs, which the dataset has now; `None` if it is not known.
    pub(super) fn take_changes(&mut self) -> Option<Changes> {
        self.note_tracked();
        self.lineage().changes.replace(Changes::default())
    }

    /// What differs is not known any more.
    pub(super) fn forget_changes(&mut self) {
        self.note_tracked();
        self.lineage().changes = None;
    }

    /// Takes over what the model noted.
    fn note_tracked(&mut self) {
        let lineage = self.lineage.get_mut().unwrap_or_else(PoisonError::into_inner);
        lineage.note_tracked(&self.model);
    }

    /// A copy without other owners.
    fn copy(&mut self) -> Arc<Model> {
        let spare = self.lineage().spare.take().and_then(|spare| spare.up_to_date(&self.model));
        spare.unwrap_or_else(|| full_copy(&self.model))
    }

    /// Takes over how far dimensions have grown in the dataset, as far as they are unlimited here: the one place where
    /// growth and changes of definitions meet. A draft without changes becomes what the dataset has.
    pub(super) fn follow_growth(
        &mut self,
        present: &Arc<Model>,
        version: u64,
        log: &GrowthLog,
    ) -> Result<()> {
        self.note_tracked();
        let grown: Vec<DimId> = log.since(self.growth).collect();
        if self.is_unchanged() {
            let is_same = self.version == version;
            let mut spare = self.lineage().spare.take().filter(|_| is_same);
            if let Some(spare) = &mut spare {
                grown.into_iter().for_each(|dim| spare.behind.add_dimension(dim));
            }
            *self = Self::new(Arc::clone(present), (version, log.end()), spare);
            return Ok(());
        }
        for dim in grown {
            let len = |model: &Model| model.dimension(dim).map(|dimension| dimension.len);
            let (now, then) = (len(present), len(&self.base));
            if let (Some(DimensionLen::Unlimited(own)), Some(now)) = (len(&self.model), now)
                && Some(now) != then
                && own < now.current()
            {
                self.adjust(
                    |model| Ok(model.grow(dim, now.current())?),
                    |changes| changes.add_dimension(dim),
                )?;
            }
        }
        self.growth = log.end();
        Ok(())
    }

    /// Goes on from the definitions that the dataset has now.
    pub(super) fn rebase(&mut self, present: &Arc<Model>, version: u64) {
        (self.base, self.version) = (Arc::clone(present), version);
    }

    /// A change that is not the caller's.
    pub(super) fn adjust(
        &mut self,
        change: impl FnOnce(&mut Model) -> Result<()>,
        note: impl Fn(&mut Changes),
    ) -> Result<()> {
        self.note_tracked();
        change(Arc::make_mut(&mut self.model))?;
        let Lineage { changes, spare, .. } = self.lineage();
        changes.iter_mut().chain(spare.as_mut().map(|spare| &mut spare.behind)).for_each(note);
        Ok(())
    }
}

impl Lineage {
    fn note_tracked(&mut self, model: &Arc<Model>) {
        if !std::mem::take(&mut self.is_tracking) {
            return;
        }
        match model.take_changes(token(model)) {
            Some(changes) => {
                if let Some(spare) = &mut self.spare {
                    spare.behind.add(changes.clone());
                }
                if let Some(all) = &mut self.changes {
                    all.add(changes);
                }
            }
            None => (self.changes, self.spare) = (None, None),
        }
    }
}

/// For what a model notes.
fn token(model: &Arc<Model>) -> usize {
    Arc::as_ptr(model).addr()
}

/// A copy of all definitions.
pub(super) fn full_copy(model: &Model) -> Arc<Model> {
    #[cfg(test)]
    COPIES.with(|copies| copies.set(copies.get() + 1));
    Arc::new(model.clone())
}

#[cfg(test)]
thread_local! {
    /// How often drafts of this thread copied a whole model.
    pub(super) static COPIES: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

//! Definitions that are being changed, apart from the dataset until they are given to it.
//!
//! A change is made on a second copy, which then takes the place of the first: a change that is refused leaves the
//! draft as it was, and definitions can be read while they are changed. The copy that was replaced takes over what was
//! changed ([`Model::follow`]) and serves the next change, so that a change costs what it changes, not the whole model.
use ncirrus_layout::Result;
use ncirrus_model::{Changes, DimensionLen, Model};
use std::ops::Deref;
use std::sync::Arc;

/// Definitions that are being changed. They count once they are given to the dataset.
#[derive(Debug)]
pub struct Draft {
    /// The dataset's definitions when the draft was made or given to it last, and how often those had been changed.
    pub(super) base: Arc<Model>,
    pub(super) version: u64,
    pub(super) model: Arc<Model>,
    /// What differs from the base besides growth of dimensions; `None` if that is not known.
    pub(super) changes: Option<Changes>,
    pub(super) spare: Option<Spare>,
}

/// Another copy of definitions.
#[derive(Debug)]
pub(super) struct Spare {
    pub(super) model: Arc<Model>,
    /// What it lacks.
    pub(super) behind: Changes,
}

/// As a start for changes of their own.
impl Clone for Draft {
    fn clone(&self) -> Self {
        let (base, model) = (Arc::clone(&self.base), Arc::clone(&self.model));
        Self { base, model, version: self.version, changes: self.changes.clone(), spare: None }
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
        Self::new(model, 0, None)
    }
}

impl Draft {
    pub(super) fn new(base: Arc<Model>, version: u64, spare: Option<Spare>) -> Self {
        Self { model: Arc::clone(&base), base, version, changes: Some(Changes::default()), spare }
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
        let mut copy = self.copy();
        let model = Arc::make_mut(&mut copy);
        let token = std::ptr::from_ref(self).addr();
        model.track(token);
        let answer = change(model);
        let changes = model.take_changes(token);
        match (&answer, changes) {
            (Ok(_), Some(changes)) => {
                let model = std::mem::replace(&mut self.model, copy);
                self.spare = Some(Spare { model, behind: changes.clone() });
                if let Some(all) = &mut self.changes {
                    all.add(changes);
                }
            }
            (Ok(_), None) => {
                self.model = copy;
                self.changes = None;
            }
            (Err(_), Some(changes)) => {
                model.follow(&self.model, &changes);
                self.spare = Some(Spare { model: copy, behind: Changes::default() });
            }
            (Err(_), None) => {}
        }
        answer
    }

    /// The definitions for changes that are not refused: they are made in place, as they come.
    pub fn model_mut(&mut self) -> &mut Model {
        self.spare = None;
        self.changes = None;
        Arc::make_mut(&mut self.model)
    }

    /// A copy without other owners.
    fn copy(&mut self) -> Arc<Model> {
        if let Some(Spare { mut model, behind }) = self.spare.take()
            && let Some(copy) = Arc::get_mut(&mut model)
        {
            copy.follow(&self.model, &behind);
            return model;
        }
        #[cfg(test)]
        COPIES.with(|copies| copies.set(copies.get() + 1));
        Arc::new(Model::clone(&self.model))
    }

    /// Takes over how far dimensions have grown in the dataset, as far as they are unlimited here: the one place where
    /// growth and changes of definitions meet. A draft without changes becomes what the dataset has.
    pub(super) fn follow_growth(&mut self, present: &Arc<Model>, version: u64) -> Result<()> {
        if self.is_unchanged() {
            *self = Self::new(Arc::clone(present), version, None);
            return Ok(());
        }
        let groups = present.walk().into_iter().filter_map(|group| present.group(group));
        for dim in groups.flat_map(|group| group.dims.iter().copied()) {
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
        Ok(())
    }

    /// A change that is not the caller's.
    pub(super) fn adjust(
        &mut self,
        change: impl FnOnce(&mut Model) -> Result<()>,
        note: impl Fn(&mut Changes),
    ) -> Result<()> {
        change(Arc::make_mut(&mut self.model))?;
        let behind = self.spare.as_mut().map(|spare| &mut spare.behind);
        self.changes.iter_mut().chain(behind).for_each(note);
        Ok(())
    }
}

#[cfg(test)]
thread_local! {
    /// How often drafts of this thread copied a whole model.
    pub(super) static COPIES: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

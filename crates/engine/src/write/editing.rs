//! Edits of definitions, one after the other. An edit runs the caller's code, which may read, write and commit the
//! dataset: no lock that those need is held meanwhile.
use super::DatasetWriter;
use super::definitions::WriterDefinitions;
use super::draft::Draft;
use super::lock_order::DefiningLock;
use futures_util::future::{Either, select};
use ncirrus_layout::LockExt;
use ncirrus_layout::{Error, ErrorKind, Result};
use ncirrus_model::Model;
use std::pin::pin;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;
use tokio::sync::{Mutex as AsyncMutex, MutexGuard as AsyncGuard};

/// Serializes edits.
#[derive(Debug, Default)]
pub(super) struct EditTurns {
    turn: AsyncMutex<()>,
    pub(super) defining: DefiningLock,
    /// The thread that is running a caller's code, by its [`MARK`].
    editor: Mutex<Option<usize>>,
}

thread_local! {
    /// Its address distinguishes a thread from the other running ones. A thread that ends has no [`ThreadId`](std::thread::ThreadId) any more,
    /// and may still define something.
    static MARK: u8 = const { 0 };
}

fn this_thread() -> usize {
    MARK.with(|mark| std::ptr::from_ref(mark).addr())
}

/// As long as this exists, a thread is running the caller's code.
struct EditInProgress<'a>(&'a EditTurns);

impl DatasetWriter {
    /// Changes the model: adds, renames and removes groups, dimensions, types and variables, sets attributes. Several
    /// edits cost no more than one: the format checks them before the next data or the next commit. Definitions that it
    /// cannot store are an error at that point, which rolls back all edits since its last check.
    ///
    /// `change` works on a copy, which takes effect when it has returned. Until then the dataset is unchanged: `change`
    /// may read, write and commit it, but not edit it. The copy is kept, so that the next edit costs what it changes.
    ///
    /// # Errors
    /// Errors of `change`, and `Invalid` if it affects how data already written are stored, or edits the same dataset;
    /// `Conflict` if earlier edits were rolled back meanwhile, or another thread's edit does not end. The model is then
    /// as before.
    pub async fn edit<T>(&self, change: impl FnOnce(&mut Model) -> Result<T>) -> Result<T> {
        let _turn = self.turn().await?;
        self.check_usable()?;
        let mut draft = self.redefinable()?.only_draft();
        let changed = {
            let _editing = EditInProgress::new(&self.turns);
            draft.change(change)
        };
        let adopted = match changed {
            Ok(answer) => self.take_effect(&mut draft).await.map(|()| answer),
            Err(error) => Err(error),
        };
        self.definitions().keep(draft);
        adopted
    }

    /// The definitions, for changes that take effect together when the draft is given to [`adopt_draft`](Self::adopt_draft).
    pub fn draft(&self) -> Draft {
        self.definitions().draft()
    }

    /// Gives the definitions of a draft to the dataset, with what dimensions have grown meanwhile. The format gets them as
    /// after an [`edit`](Self::edit). The draft can be changed and given again.
    ///
    /// # Errors
    /// As of an [`edit`](Self::edit); `Conflict` if there were other edits since the draft was begun or given last.
    pub async fn adopt_draft(&self, draft: &mut Draft) -> Result<()> {
        let _turn = self.turn().await?;
        self.check_usable()?;
        drop(self.redefinable()?);
        self.take_effect(draft).await
    }

    /// Takes over the present lengths of dimensions; without changes, all of the present definitions. From then on other
    /// edits until now are not a conflict: what the draft says counts.
    ///
    /// # Errors
    /// None that a dataset that is written has.
    pub fn refresh_draft(&self, draft: &mut Draft) -> Result<()> {
        self.definitions().refresh(draft)
    }

    async fn take_effect(&self, draft: &mut Draft) -> Result<()> {
        let _alone = self.committer.commit_lock.alone().await;
        self.check_usable()?;
        self.redefinable()?.adopt(draft)
    }

    /// Checks the definitions as they are: the format gets them now, and not before the next data.
    ///
    /// # Errors
    /// Definitions that the format cannot store; all edits since its last check are rolled back then.
    pub async fn check_definitions(&self) -> Result<()> {
        let commit = self.committer.commit_lock.share().await;
        self.check_usable()?;
        let checked = self.define(&commit).await.map(|_| ());
        if checked.is_err() {
            self.definitions().forget_refusal();
        }
        checked
    }

    /// The definitions, if the format allows changes now.
    fn redefinable(&self) -> Result<MutexGuard<'_, WriterDefinitions>> {
        let definitions = self.definitions();
        if !self.placer.abilities.redefine && !definitions.written.is_empty() {
            return Err(Error::unsupported("the format cannot change definitions after data were written"));
        }
        Ok(definitions)
    }

    /// Waits for the edits of other threads.
    async fn turn(&self) -> Result<AsyncGuard<'_, ()>> {
        if *self.turns.editor.guard() == Some(this_thread()) {
            return Err(Error::invalid("an edit within an edit of the same dataset"));
        }
        if let Ok(turn) = self.turns.turn.try_lock() {
            return Ok(turn);
        }
        // The code that is running may be waiting for this very edit, in a thread that it started.
        let sleep = self.session.shared.network.handle()?.spawn(async { tokio::time::sleep(MAX_WAIT).await });
        match select(pin!(self.turns.turn.lock()), sleep).await {
            Either::Left((turn, sleep)) => {
                sleep.abort();
                Ok(turn)
            }
            Either::Right(_) => {
                Err(Error::new(ErrorKind::Conflict, "another thread's edit has not finished"))
            }
        }
    }
}

impl<'a> EditInProgress<'a> {
    fn new(turns: &'a EditTurns) -> Self {
        *turns.editor.guard() = Some(this_thread());
        Self(turns)
    }
}

impl Drop for EditInProgress<'_> {
    fn drop(&mut self) {
        *self.0.editor.guard() = None;
    }
}

/// Maximum wait for the edit of another thread.
const MAX_WAIT: Duration = Duration::from_secs(if cfg!(test) { 1 } else { 30 });

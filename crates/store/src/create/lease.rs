//! Whose place it is: the object that says that a tree is being made is kept up to date by its writer, as long as it lives.
//!
//! Of several writers one has the lease. It renews it every few seconds, always over the state that it put, so that it
//! learns when another one took it over; nothing that counts is put after that. Others take it over only when its writer
//! is known to be gone: it was of this program and was given up, of a process of this machine that is no more, or it was
//! not renewed for several turns.
use super::owner::{self, WriterLife, WriterMark};
use crate::fault;
use crate::store::{PutCondition, Store};
use futures_util::lock::Mutex as AsyncMutex;
use ncirrus_layout::{Error, ErrorKind, ObjectBytes, ObjectId, Result, Tag, Want};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The right of a writer to the place of a tree.
pub(super) struct TreeLease {
    store: Arc<dyn Store>,
    sign: ObjectId,
    mark: WriterMark,
    /// Whether another writer took it over.
    is_lost: AtomicBool,
    state: AsyncMutex<LeaseState>,
}

struct LeaseState {
    /// None where the store knows no conditions.
    tag: Option<Tag>,
    /// Whether there is a sign: where conditions are not known a new one would keep nobody out.
    is_put: bool,
    renewals: u64,
    /// When the last renewal began that was carried out.
    since: Instant,
    /// What the sign says beside whose it is.
    stage: LeaseStage,
}

/// How far the writer is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum LeaseStage {
    /// It puts chunks and metadata.
    Making,
    /// The new tree is whole, and takes the place of the old one: the name of its folder.
    Switching(String),
}

impl TreeLease {
    /// Takes a place; `before` is the sign of a writer that is gone.
    ///
    /// # Errors
    /// `Conflict` when another program was faster.
    pub(super) async fn take(
        store: Arc<dyn Store>,
        sign: ObjectId,
        mark: WriterMark,
        before: Option<ObjectBytes>,
    ) -> Result<Arc<Self>> {
        let since = Instant::now();
        // Whoever takes over what was nearly done ends it first.
        let stage = before.as_ref().map_or(LeaseStage::Making, |blob| owner::stage_of(&blob.bytes));
        let text = mark.text(0, &stage);
        let is_there = before.is_some();
        let when = before.map_or(PutCondition::Absent, |blob| PutCondition::Matches(blob.tag));
        let tag = match store.put(&sign, text.clone(), when).await {
            Err(error) if error.kind() == ErrorKind::Conflict => return Err(taken(&sign)),
            // The store does not know conditions: what a killed program left is one's own from here on.
            Err(error) if error.kind() == ErrorKind::Unsupported => {
                if is_there {
                    store.put(&sign, text, PutCondition::None).await?;
                }
                None
            }
            put => Some(put?),
        };
        let is_put = is_there || tag.is_some();
        let state = AsyncMutex::new(LeaseState { tag, is_put, renewals: 0, since, stage });
        Ok(Arc::new(Self { store, sign, mark, is_lost: AtomicBool::new(false), state }))
    }

    /// Renews it.
    ///
    /// # Errors
    /// `Conflict` when another writer took it over.
    pub(super) async fn renew(&self) -> Result<()> {
        self.put(None).await
    }

    /// Renews it unless that was done just now: long enough ago to be taken over is something else.
    ///
    /// # Errors
    /// As [`renew`](Self::renew).
    pub(super) async fn check(&self) -> Result<()> {
        self.check_held()?;
        let is_fresh = self.state.lock().await.since.elapsed() < FRESH;
        if is_fresh { Ok(()) } else { self.renew().await }
    }

    /// Says how far the writer is.
    ///
    /// # Errors
    /// As [`renew`](Self::renew).
    pub(super) async fn enter(&self, stage: LeaseStage) -> Result<()> {
        self.put(Some(stage)).await
    }

    async fn put(&self, stage: Option<LeaseStage>) -> Result<()> {
        let mut state = self.state.lock().await;
        self.check_held()?;
        let Some(tag) = state.tag.clone() else { return Ok(()) };
        let (since, renewals) = (Instant::now(), state.renewals + 1);
        let stage = stage.unwrap_or_else(|| state.stage.clone());
        let text = self.mark.text(renewals, &stage);
        let mut put = self.store.put(&self.sign, text.clone(), PutCondition::Matches(tag)).await;
        if matches!(&put, Err(error) if error.kind() == ErrorKind::Conflict)
            && let Some(tag) = self.own_tag().await?
        {
            put = self.store.put(&self.sign, text, PutCondition::Matches(tag)).await;
        }
        match put {
            Ok(tag) => {
                *state = LeaseState { tag: Some(tag), is_put: true, renewals, since, stage };
                Ok(())
            }
            Err(error) if error.kind() == ErrorKind::Conflict => {
                self.is_lost.store(true, Ordering::Release);
                Err(self.lost())
            }
            Err(error) => Err(error),
        }
    }

    /// The state of the sign if it is this writer's after all: the answer to an earlier renewal was lost.
    async fn own_tag(&self) -> Result<Option<Tag>> {
        let found = self.store.get(&self.sign, &Want::All).await?;
        Ok(found.filter(|found| self.mark.is_of(&found.bytes)).map(|found| found.tag))
    }

    /// Whether it is this writer's, as far as is known.
    ///
    /// # Errors
    /// `Conflict` when another writer took it over.
    pub(super) fn check_held(&self) -> Result<()> {
        if self.is_lost.load(Ordering::Acquire) { Err(self.lost()) } else { Ok(()) }
    }

    fn lost(&self) -> Error {
        fault::conflict("was taken over by another program meanwhile", &self.sign)
    }

    /// Gives it back.
    ///
    /// # Errors
    /// `Denied`, `Io`.
    pub(super) async fn end(&self) -> Result<()> {
        // A renewal that is under way would put it again.
        let mut state = self.state.lock().await;
        self.check_held()?;
        if std::mem::take(&mut state.is_put) {
            state.tag = None;
            self.store.delete(&self.sign).await?;
        }
        Ok(())
    }

    /// Renews it again and again, as long as somebody holds it; where there is no runtime, checks do.
    pub(super) fn keep(self: &Arc<Self>) {
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let held = Arc::downgrade(self);
            runtime.spawn(async move {
                loop {
                    tokio::time::sleep(TURN).await;
                    let Some(lease) = held.upgrade() else { return };
                    // A failure may pass; one that lasts is told by what is put next.
                    if lease.check().await.is_err() && lease.check_held().is_err() {
                        return;
                    }
                }
            });
        }
    }
}

impl fmt::Debug for TreeLease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Lease({})", self.sign)
    }
}

/// Whether the writer of a sign is gone, so that its place may be taken over. It is waited for where only that tells.
///
/// # Errors
/// `Conflict` when it is at work, or ended meanwhile.
pub(super) async fn check_gone(store: &dyn Store, sign: &ObjectId, found: &ObjectBytes) -> Result<()> {
    match owner::life_of(&found.bytes) {
        WriterLife::Gone => return Ok(()),
        WriterLife::AtWork => return Err(taken(sign)),
        WriterLife::Unknown => {}
    }
    let since = Instant::now();
    while since.elapsed() < TERM {
        pause(LOOK).await;
        let now = store.get(sign, &Want::All).await?;
        if now.is_none_or(|now| now.bytes != found.bytes) {
            return Err(taken(sign));
        }
    }
    Ok(())
}

async fn pause(time: Duration) {
    tokio::time::sleep(time).await;
}

fn taken(sign: &ObjectId) -> Error {
    fault::conflict(BEGUN_BY_OTHERS, sign)
}

pub(super) const BEGUN_BY_OTHERS: &str = "another program is making this dataset, or was killed while it did: wait for it, or \
                                          replace what it left, or remove it by \"ncirrus clean\"";

/// How often a lease is renewed.
const TURN: Duration = Duration::from_secs(5);
/// A renewal that began no longer ago counts as just now.
const FRESH: Duration = Duration::from_millis(4900);
/// After this time without a renewal a writer is gone.
const TERM: Duration = if cfg!(test) { Duration::from_millis(200) } else { Duration::from_secs(16) };
/// How often a sign is looked at.
const LOOK: Duration = if cfg!(test) { Duration::from_millis(50) } else { Duration::from_secs(1) };

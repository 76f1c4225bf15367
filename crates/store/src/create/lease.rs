//! The lease of a location: the creation marker is renewed by its writer as long as it lives.
//!
//! One of several writers has the lease. It renews it every few seconds, always conditional on the tag of its last
//! put, so that it learns when another one took it over; nothing that counts is put after that. Others take it over
//! only when its writer is known to be gone: it belonged to this program and was dropped, to a process of this
//! machine that no longer exists, or it was not renewed for several intervals.
use super::owner::{self, WriterLife, WriterMark};
use crate::fault;
use crate::store::{PutCondition, Store};
use futures_util::lock::Mutex as AsyncMutex;
use ncirrus_layout::{Error, ErrorKind, ObjectBytes, ObjectId, Result, Tag, Want};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The right of a writer to the location of a tree.
pub(super) struct TreeLease {
    store: Arc<dyn Store>,
    sign: ObjectId,
    mark: WriterMark,
    /// Whether another writer took it over.
    is_lost: AtomicBool,
    state: AsyncMutex<LeaseState>,
}

struct LeaseState {
    /// `None` if the store does not support conditions.
    tag: Option<Tag>,
    /// Whether there is a marker: without conditions a new one would exclude no other writer.
    is_put: bool,
    renewals: u64,
    /// When the last successful renewal began.
    since: Instant,
    /// What the marker contains besides the owner.
    stage: LeaseStage,
}

/// The phase of the writer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum LeaseStage {
    /// It puts chunks and metadata.
    Making,
    /// The new tree is complete, and is replacing the old one: the name of its folder.
    Switching(String),
}

impl TreeLease {
    /// Acquires the lease; `before` is the marker of a writer that is gone.
    ///
    /// # Errors
    /// `Conflict` if another program was faster.
    pub(super) async fn take(
        store: Arc<dyn Store>,
        sign: ObjectId,
        mark: WriterMark,
        before: Option<ObjectBytes>,
    ) -> Result<Arc<Self>> {
        let since = Instant::now();
        // A replacement that was nearly complete is finished first.
        let stage = before.as_ref().map_or(LeaseStage::Making, |blob| owner::stage_of(&blob.bytes));
        let text = mark.text(0, &stage);
        let is_there = before.is_some();
        let when = before.map_or(PutCondition::Absent, |blob| PutCondition::Matches(blob.tag));
        let tag = match store.put(&sign, text.clone(), when).await {
            Err(error) if error.kind() == ErrorKind::Conflict => return Err(taken(&sign)),
            // The store does not support conditions: what a killed program left belongs to this writer from here on.
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
    /// `Conflict` if another writer took it over.
    pub(super) async fn renew(&self) -> Result<()> {
        self.put(None).await
    }

    /// Renews it unless that was done just now; if it is old enough to be taken over, it is always renewed.
    ///
    /// # Errors
    /// As [`renew`](Self::renew).
    pub(super) async fn check(&self) -> Result<()> {
        self.check_held()?;
        let is_fresh = self.state.lock().await.since.elapsed() < FRESH;
        if is_fresh { Ok(()) } else { self.renew().await }
    }

    /// Records the phase of the writer.
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

    /// The tag of the marker if it belongs to this writer after all: the answer to an earlier renewal was lost.
    async fn own_tag(&self) -> Result<Option<Tag>> {
        let found = self.store.get(&self.sign, &Want::All).await?;
        Ok(found.filter(|found| self.mark.is_of(&found.bytes)).map(|found| found.tag))
    }

    /// Whether this writer holds it, as far as is known.
    ///
    /// # Errors
    /// `Conflict` if another writer took it over.
    pub(super) fn check_held(&self) -> Result<()> {
        if self.is_lost.load(Ordering::Acquire) { Err(self.lost()) } else { Ok(()) }
    }

    fn lost(&self) -> Error {
        fault::conflict("another program has taken over this dataset in the meantime", &self.sign)
    }

    /// Releases it.
    ///
    /// # Errors
    /// `Denied`, `Io`.
    pub(super) async fn end(&self) -> Result<()> {
        // A renewal in flight would put it again.
        let mut state = self.state.lock().await;
        self.check_held()?;
        if std::mem::take(&mut state.is_put) {
            state.tag = None;
            self.store.delete(&self.sign).await?;
        }
        Ok(())
    }

    /// What the sign begins with.
    pub(super) fn mark(&self) -> &str {
        self.mark.name()
    }

    /// Whether there is a sign.
    pub(super) async fn has_sign(&self) -> bool {
        self.state.lock().await.is_put
    }

    /// Renews it periodically, as long as it is held; without a runtime, checks do.
    pub(super) fn keep(self: &Arc<Self>) {
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let held = Arc::downgrade(self);
            runtime.spawn(async move {
                loop {
                    tokio::time::sleep(POLL_INTERVAL).await;
                    let Some(lease) = held.upgrade() else { return };
                    // A failure may be temporary; a permanent one is reported by the next put.
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

/// Whether the writer of a marker is gone, so that its location may be taken over. Waits if only time can tell.
///
/// # Errors
/// `Conflict` if it is at work, or finished meanwhile.
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
    fault::conflict(CREATION_BY_OTHERS, sign)
}

pub(super) const CREATION_BY_OTHERS: &str = "another program is creating this dataset, or was killed while creating it: wait \
                                          for it, overwrite what it left, or remove that with \"ncirrus clean\"";

/// How often a lease is renewed.
const POLL_INTERVAL: Duration = Duration::from_secs(5);
/// A renewal that began less than this long ago counts as current.
const FRESH: Duration = Duration::from_millis(4900);
/// After this time without a renewal a writer counts as gone.
const TERM: Duration = if cfg!(test) { Duration::from_millis(200) } else { Duration::from_secs(16) };
/// How often a marker is polled.
const LOOK: Duration = if cfg!(test) { Duration::from_millis(50) } else { Duration::from_secs(1) };

//! An object that is sent to a remote store while it is written.
//!
//! Bytes written at offsets, in any order, are gathered in parts. A complete part is sent at once, in the background.
//! The first part, which makes the object valid, is sent last, together with all parts that have gaps; bytes that
//! were never written are zero. What was sent can be neither read nor written again.
mod finish;
mod local;
mod ranges;
mod sizes;
mod spill;
#[cfg(test)]
mod tests;

pub(super) use finish::start;

use crate::store::MultipartUpload;
use bytes::Bytes;
use ncirrus_layout::LockExt;
use ncirrus_layout::{Error, ErrorKind, ObjectId, Result};
use ranges::ByteRanges;
use sizes::PartSizes;
use spill::SpillFile;
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

/// Default number of parts in flight.
const AT_ONCE: usize = 8;

/// An object being uploaded.
struct StreamedUpload {
    object: ObjectId,
    upload: Arc<dyn MultipartUpload>,
    runtime: Handle,
    sizes: PartSizes,
    /// Bytes of parts that are held or in flight.
    budget: u64,
    /// Where parts are spilled that do not fit in memory.
    scratch: Option<PathBuf>,
    permits: Arc<Semaphore>,
    state: Mutex<UploadState>,
    /// Notified when a part was sent.
    sent: Condvar,
    tasks: Mutex<JoinSet<()>>,
}

/// What was written so far.
#[derive(Default)]
struct UploadState {
    len: u64,
    parts: BTreeMap<u64, UploadPart>,
    /// Bytes of parts that are held or in flight.
    memory: u64,
    /// Parts in flight.
    under_way: usize,
    /// Counts changes.
    changes: u64,
    spill: Option<SpillFile>,
    failure: Option<Error>,
    /// Nothing is written any more.
    is_over: bool,
}

/// A part of which something was written.
struct UploadPart {
    place: PartPlace,
    written: ByteRanges,
    /// When it was changed last.
    changed: u64,
}

/// Where the bytes of a part are.
enum PartPlace {
    Held(Vec<u8>),
    Spilled,
    Sent,
}

/// A part being sent. Dropping it releases its memory; if it did not arrive, that is a failure.
struct DepartingPart {
    stream: Arc<StreamedUpload>,
    index: u64,
    body: Bytes,
    size: u64,
    outcome: Option<Result<()>>,
}

impl StreamedUpload {
    /// Writes bytes at an offset; waits if there is no memory for them until parts have been sent.
    fn write(self: &Arc<Self>, offset: u64, body: &[u8]) -> Result<()> {
        let end = offset.checked_add(body.len() as u64).filter(|end| *end <= self.sizes.max());
        let Some(end) = end else {
            let max = self.sizes.max();
            return Err(Error::limit(format!("an upload has at most {max} bytes")).at_offset(offset));
        };
        let mut rest = body;
        for (index, within, len) in self.sizes.pieces(offset, end - offset) {
            let (piece, behind) = rest.split_at(usize::try_from(len).unwrap_or(rest.len()).min(rest.len()));
            rest = behind;
            let leaving = self.write_piece(index, within, piece)?;
            leaving.map_or(Ok(()), |leaving| self.send(leaving))?;
        }
        Ok(())
    }

    fn write_piece(self: &Arc<Self>, index: u64, within: u64, piece: &[u8]) -> Result<Option<DepartingPart>> {
        let (size, start) = (self.sizes.size(index), self.sizes.start(index));
        let mut state = self.lock();
        loop {
            state.check()?;
            match state.parts.get(&index).map(|part| &part.place) {
                Some(PartPlace::Sent) => return Err(gone("written", start + within)),
                Some(_) => break,
                None if !self.has_room(&state, size) => state = self.make_room(state, index)?,
                None => state.hold(index, size)?,
            }
        }
        state.change(index, start, within, piece)?;
        let is_complete = state.parts.get(&index).is_some_and(|part| part.written.cover(size));
        if index == 0 || !is_complete {
            return Ok(None);
        }
        while state.is_spilled(index) && !self.has_room(&state, size) {
            state = self.make_room(state, index)?;
            state.check()?;
        }
        // Another thread may have sent it meanwhile.
        if state.is_sent(index) { Ok(None) } else { state.leave(self, index).map(Some) }
    }

    fn has_room(&self, state: &UploadState, size: u64) -> bool {
        state.memory.saturating_add(size) <= self.budget.max(size.saturating_mul(3))
    }

    /// Waits until a part was sent, or spills the least recently changed one.
    fn make_room<'a>(
        &self,
        mut state: MutexGuard<'a, UploadState>,
        keep: u64,
    ) -> Result<MutexGuard<'a, UploadState>> {
        if state.under_way > 0 {
            return Ok(self.sent.wait(state).unwrap_or_else(PoisonError::into_inner));
        }
        let is_held = |part: &UploadPart| matches!(part.place, PartPlace::Held(_));
        let others = state.parts.iter().filter(|(index, part)| **index != keep && is_held(part));
        let oldest = others.min_by_key(|(_, part)| part.changed).map(|(index, _)| *index);
        let Some(oldest) = oldest else { return Err(Error::internal("memory of parts is lost")) };
        let Some(folder) = &self.scratch else {
            let message = format!(
                "incomplete parts of the upload take more than {} bytes: allow more memory, or a scratch file, or write \
                 in file order",
                self.budget
            );
            return Err(Error::limit(message));
        };
        state.spill(oldest, self.sizes.start(oldest), folder, &self.object)?;
        Ok(state)
    }

    /// Sends a part in the background.
    fn send(self: &Arc<Self>, mut leaving: DepartingPart) -> Result<()> {
        let index = usize::try_from(leaving.index).map_err(|_| Error::limit("too many parts"))?;
        let (upload, permits) = (Arc::clone(&self.upload), Arc::clone(&self.permits));
        let mut tasks = self.tasks.guard();
        while tasks.try_join_next().is_some() {}
        let task = async move {
            let _permit = permits.acquire().await;
            let body = leaving.take();
            leaving.ended(upload.part(index, body).await);
        };
        tasks.spawn_on(task, &self.runtime);
        Ok(())
    }

    /// The tasks that are sending parts, without later ones.
    fn take_tasks(&self) -> JoinSet<()> {
        std::mem::take(&mut *self.tasks.guard())
    }

    fn lock(&self) -> MutexGuard<'_, UploadState> {
        self.state.guard()
    }
}

impl UploadState {
    /// Whether everything went well so far.
    fn check(&self) -> Result<()> {
        match &self.failure {
            Some(error) => Err(error.clone()),
            None if self.is_over => Err(Error::invalid("the upload has ended")),
            None => Ok(()),
        }
    }

    /// Memory for a part of which nothing was written.
    fn hold(&mut self, index: u64, size: u64) -> Result<()> {
        let (place, written) = (PartPlace::Held(zeros(size)?), ByteRanges::default());
        self.memory = self.memory.saturating_add(size);
        self.parts.insert(index, UploadPart { place, written, changed: self.changes });
        Ok(())
    }

    /// Writes into an existing part, which begins at `start`.
    fn change(&mut self, index: u64, start: u64, within: u64, piece: &[u8]) -> Result<()> {
        let end = within + piece.len() as u64;
        self.changes += 1;
        self.len = self.len.max(start + end);
        let Some(part) = self.parts.get_mut(&index) else { return Err(Error::internal("a part is lost")) };
        match (&mut part.place, &self.spill) {
            (PartPlace::Held(buffer), _) => {
                let at = usize::try_from(within).ok().and_then(|at| buffer.get_mut(at..at + piece.len()));
                at.ok_or_else(|| Error::internal("a part is too short"))?.copy_from_slice(piece);
            }
            (PartPlace::Spilled, Some(spill)) => spill.write(start + within, piece)?,
            _ => return Err(Error::internal("a part that was sent is changed")),
        }
        part.changed = self.changes;
        if !piece.is_empty() {
            part.written.add(within, end);
        }
        Ok(())
    }

    fn is_spilled(&self, index: u64) -> bool {
        self.parts.get(&index).is_some_and(|part| matches!(part.place, PartPlace::Spilled))
    }

    fn is_sent(&self, index: u64) -> bool {
        self.parts.get(&index).is_some_and(|part| matches!(part.place, PartPlace::Sent))
    }

    /// Spills a part to the scratch file.
    fn spill(&mut self, index: u64, start: u64, folder: &std::path::Path, object: &ObjectId) -> Result<()> {
        let spill = match &mut self.spill {
            Some(spill) => spill,
            none => none.insert(SpillFile::new(folder, object)?),
        };
        let Some(part) = self.parts.get_mut(&index) else { return Ok(()) };
        if let PartPlace::Held(buffer) = &part.place {
            spill.write(start, buffer)?;
            self.memory = self.memory.saturating_sub(buffer.len() as u64);
            part.place = PartPlace::Spilled;
        }
        Ok(())
    }

    /// Takes a part out for sending, cut where the object ends; zeros where nothing was written.
    fn leave(&mut self, stream: &Arc<StreamedUpload>, index: u64) -> Result<DepartingPart> {
        let (start, size) = (stream.sizes.start(index), stream.sizes.size(index));
        let part = self.parts.remove(&index);
        let mut body = match (part.map(|part| part.place), &self.spill) {
            (Some(PartPlace::Held(buffer)), _) => {
                self.memory = self.memory.saturating_sub(size);
                buffer
            }
            (Some(PartPlace::Spilled), Some(spill)) => spill.read(start, zeros(size)?)?,
            (None, _) => zeros(size)?,
            _ => return Err(Error::internal("a part is sent twice")),
        };
        body.truncate(usize::try_from(self.len - start).unwrap_or(usize::MAX));
        self.memory = self.memory.saturating_add(size);
        self.under_way += 1;
        let sent =
            UploadPart { place: PartPlace::Sent, written: ByteRanges::default(), changed: self.changes };
        self.parts.insert(index, sent);
        let stream = Arc::clone(stream);
        Ok(DepartingPart { stream, index, body: body.into(), size, outcome: None })
    }
}

impl DepartingPart {
    fn take(&mut self) -> Bytes {
        std::mem::take(&mut self.body)
    }

    fn ended(&mut self, outcome: Result<()>) {
        self.outcome = Some(outcome);
    }
}

impl Drop for DepartingPart {
    fn drop(&mut self) {
        let mut state = self.stream.lock();
        state.memory = state.memory.saturating_sub(self.size);
        state.under_way = state.under_way.saturating_sub(1);
        let abandoned = || Err(Error::new(ErrorKind::Io { retryable: false }, "the upload was abandoned"));
        if let Err(error) = self.outcome.take().unwrap_or_else(abandoned) {
            _ = state.failure.get_or_insert(error);
        }
        drop(state);
        self.stream.sent.notify_all();
    }
}

impl fmt::Debug for StreamedUpload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Stream({})", self.object)
    }
}

/// Memory that is not touched before it is needed.
fn zeros(size: u64) -> Result<Vec<u8>> {
    let size = usize::try_from(size).map_err(|_| Error::limit("a part does not fit in memory"))?;
    Ok(vec![0; size])
}

/// The error for bytes that were already sent.
fn gone(what: &str, offset: u64) -> Error {
    let message = format!(
        "bytes that were already uploaded are {what}: write each chunk once and whole, or build the file in a scratch \
         file first"
    );
    Error::unsupported(message).at_offset(offset)
}

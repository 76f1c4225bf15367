//! The object as the engine writes it.
use super::{PartPlace, StreamedUpload, gone};
use crate::store::{LocalStore, PutCondition, StoreFacts};
use crate::want;
use ncirrus_layout::{Error, Listing, ObjectBytes, ObjectId, Result, StoreId, Tag, Want};
use std::sync::Arc;
use std::time::Duration;

/// A store that holds the unsent part of one object.
#[derive(Debug)]
pub(super) struct StreamedStore(pub(super) Arc<StreamedUpload>);

impl StreamedStore {
    /// Runs an operation on the object; errors name it.
    fn on<T>(&self, object: &ObjectId, run: impl FnOnce(&Arc<StreamedUpload>) -> Result<T>) -> Result<T> {
        if *object != self.0.object {
            return Err(Error::unsupported("an upload is one object").at_object(object));
        }
        run(&self.0).map_err(|error| error.at_object(object))
    }

    fn refuse<T>(&self, what: &str) -> Result<T> {
        Err(Error::unsupported(format!("{what} while a file is sent")).at_object(&self.0.object))
    }
}

impl StreamedUpload {
    /// Fills a buffer with bytes that are not sent yet; `None` before anything was written.
    fn read(&self, offset: u64, buffer: &mut [u8]) -> Result<Option<usize>> {
        let state = self.lock();
        if state.changes == 0 {
            return Ok(None);
        }
        let len = state.len.saturating_sub(offset).min(buffer.len() as u64);
        let count = usize::try_from(len).unwrap_or(buffer.len());
        let mut rest = buffer.get_mut(..count).unwrap_or_default();
        for (index, within, len) in self.sizes.pieces(offset, len) {
            let (piece, behind) =
                rest.split_at_mut(usize::try_from(len).unwrap_or(rest.len()).min(rest.len()));
            rest = behind;
            let at = self.sizes.start(index) + within;
            match (state.parts.get(&index).map(|part| &part.place), &state.spill) {
                (Some(PartPlace::Sent), _) => return Err(gone("read", at)),
                (Some(PartPlace::Held(buffer)), _) => {
                    let from = usize::try_from(within).ok().and_then(|at| buffer.get(at..at + piece.len()));
                    piece.copy_from_slice(from.ok_or_else(|| Error::internal("a part is too short"))?);
                }
                (Some(PartPlace::Spilled), Some(spill)) => {
                    piece.fill(0);
                    spill.read_into(at, piece)?;
                }
                _ => piece.fill(0),
            }
        }
        Ok(Some(count))
    }

    /// The bytes of a range that is inside the object.
    fn read_range(&self, range: std::ops::Range<u64>) -> Result<Vec<u8>> {
        let first_sent = {
            let state = self.lock();
            let mut pieces = self.sizes.pieces(range.start, range.end - range.start);
            pieces
                .find(|(index, ..)| state.is_sent(*index))
                .map(|(index, within, _)| self.sizes.start(index) + within)
        };
        // Checked before memory is allocated.
        if let Some(at) = first_sent {
            return Err(gone("read", at));
        }
        let mut bytes = super::zeros(range.end - range.start)?;
        self.read(range.start, &mut bytes)?;
        Ok(bytes)
    }

    /// Length and tag; `None` before anything was written.
    fn state_now(&self) -> Option<(u64, Tag)> {
        let state = self.lock();
        (state.changes > 0).then(|| (state.len, Tag::new(format!("{:x}-{:x}", state.changes, state.len))))
    }

    /// Truncates the object, or extends it with zeros.
    fn resize(&self, len: u64) -> Result<()> {
        let mut state = self.lock();
        state.check()?;
        if len > self.sizes.max() {
            return Err(Error::limit(format!("an upload has at most {} bytes", self.sizes.max())));
        }
        for (index, within, count) in self.sizes.pieces(len, state.len.saturating_sub(len)) {
            let at = self.sizes.start(index);
            match state.parts.get(&index).map(|part| &part.place) {
                None => {}
                Some(PartPlace::Sent) => return Err(gone("cut", at + within)),
                Some(_) => state.change(index, at, within, &super::zeros(count)?)?,
            }
        }
        state.changes += 1;
        state.len = len;
        Ok(())
    }
}

impl LocalStore for StreamedStore {
    fn rewrites(&self) -> bool {
        false
    }

    fn id(&self) -> &StoreId {
        &self.0.object.store
    }

    fn read(&self, object: &ObjectId, want: &Want) -> Result<Option<ObjectBytes>> {
        self.on(object, |stream| {
            let Some((size, tag)) = stream.state_now() else { return Ok(None) };
            let range = want::resolve(want, size);
            let offset = range.start;
            let bytes = stream.read_range(range)?.into();
            Ok(Some(ObjectBytes { bytes, offset, size, tag }))
        })
    }

    fn read_into(&self, object: &ObjectId, offset: u64, buffer: &mut [u8]) -> Result<Option<usize>> {
        self.on(object, |stream| stream.read(offset, buffer))
    }

    fn read_whole(&self, object: &ObjectId, limit: u64, buffer: &mut Vec<u8>) -> Result<Option<usize>> {
        self.on(object, |stream| {
            let Some((size, _)) = stream.state_now() else { return Ok(None) };
            if size > limit {
                return Err(crate::memory::too_large(object, size, limit));
            }
            let bytes = stream.read_range(0..size)?;
            buffer.extend_from_slice(&bytes);
            Ok(Some(bytes.len()))
        })
    }

    fn stat(&self, object: &ObjectId) -> Result<Option<(u64, Tag)>> {
        self.on(object, |stream| Ok(stream.state_now()))
    }

    fn put(&self, object: &ObjectId, body: &[u8], when: &PutCondition) -> Result<Tag> {
        self.on(object, |stream| match (when, stream.state_now()) {
            (PutCondition::Absent, Some(_)) => Err(crate::fault::exists(object)),
            (PutCondition::Matches(tag), now) if now.as_ref().map(|(_, tag)| tag) != Some(tag) => {
                Err(crate::fault::conflict("was changed by someone else", object))
            }
            _ => {
                stream.resize(body.len() as u64)?;
                stream.write(0, body)?;
                Ok(stream.state_now().map_or_else(|| Tag::new("0"), |(_, tag)| tag))
            }
        })
    }

    fn write_at(&self, object: &ObjectId, offset: u64, body: &[u8]) -> Result<()> {
        self.on(object, |stream| stream.write(offset, body))
    }

    fn resize(&self, object: &ObjectId, len: u64) -> Result<()> {
        self.on(object, |stream| stream.resize(len))
    }

    fn delete(&self, _: &ObjectId) -> Result<()> {
        self.refuse("removing")
    }

    fn delete_tree(&self, _: &ObjectId) -> Result<()> {
        self.refuse("removing")
    }

    fn rename(&self, _: &ObjectId, _: &ObjectId) -> Result<()> {
        self.refuse("renaming")
    }

    fn list(&self, _: &ObjectId, _: Option<&str>) -> Result<Listing> {
        self.refuse("listing names")
    }

    /// Nothing is durable before the commit.
    fn barrier(&self) -> Result<()> {
        self.0.lock().check()
    }

    fn facts(&self) -> StoreFacts {
        StoreFacts {
            latency: Duration::ZERO,
            concurrency: 1024,
            merge_gap: 0,
            range_cap: u64::MAX,
            lists: false,
            writable: true,
            isolated: false,
        }
    }
}

//! A view of a local store: it reads immediately, so that no step is ever run twice.
use super::{EncodedPart, check_document, check_len};
use crate::drive::DriveContext;
use crate::request_log;
use crate::snapshot::{FRONT, resolve};
use bytes::Bytes;
use ncirrus_layout::{Error, Limits, Listing, Memo, ObjectBytes, ObjectId, Step, VariableRef, View, Want};
use ncirrus_model::{CodecSpec, Selection, Values};
use ncirrus_store::LocalStore;
use std::ops::Range;

/// A view of a local store.
pub(crate) struct BlockingView<'a> {
    context: &'a DriveContext,
    store: &'a dyn LocalStore,
}

impl<'a> BlockingView<'a> {
    /// A view of the context's store, which is `store`.
    pub(crate) fn new(context: &'a DriveContext, store: &'a dyn LocalStore) -> Self {
        Self { context, store }
    }

    fn fetch(&self, object: &ObjectId, want: &Want) -> Result<Option<ObjectBytes>, Error> {
        let snapshot = &self.context.snapshot;
        snapshot.check_store(object)?;
        if let Some(blob) = snapshot.fronts.find(object, want) {
            return Ok(Some(blob));
        }
        let front = front_of(want);
        let found = self.read_limited(object, front.as_ref().unwrap_or(want))?;
        let range = found.as_ref().map(|blob| blob.offset..blob.offset + blob.bytes.len() as u64);
        request_log::read_locally(object, range.as_ref(), found.as_ref().map(|blob| blob.bytes.len()));
        let Some(blob) = found else {
            self.context.fetched(0);
            return Ok(None);
        };
        self.context.fetched(blob.bytes.len());
        snapshot.check(object, &blob.tag)?;
        if front.is_none() {
            return Ok(Some(blob));
        }
        snapshot.fronts.keep(object, &blob);
        Ok(Some(snapshot.fronts.find(object, want).unwrap_or(blob)))
    }

    fn read_limited(&self, object: &ObjectId, want: &Want) -> Result<Option<ObjectBytes>, Error> {
        let limits = &self.context.shared.limits;
        match want {
            Want::All | Want::AtMost(_) => {
                // The first bytes reveal the size, and nearly always are the whole object.
                let Some(blob) = self.store.read(object, &Want::Range(0..AT_FIRST))? else { return Ok(None) };
                check_document(&self.context.shared, object, blob.size)?;
                if blob.size <= blob.bytes.len() as u64 {
                    return Ok(Some(blob));
                }
                self.store.read(object, &Want::Range(0..blob.size))
            }
            Want::Range(range) | Want::Parse(range) => {
                if range.end.saturating_sub(range.start) > limits.metadata_bytes {
                    let size = self.store.stat(object)?.map_or(0, |(size, _)| size);
                    let inside = resolve(want, size);
                    check_len(limits, object, inside.end - inside.start)?;
                }
                self.store.read(object, want)
            }
            Want::Suffix(len) => {
                check_len(limits, object, *len)?;
                self.store.read(object, want)
            }
        }
    }
}

/// Bytes of a document that are read before its size is known.
const AT_FIRST: u64 = 1 << 20;

/// The first bytes, which are read together when a format begins to parse.
fn front_of(want: &Want) -> Option<Want> {
    match want {
        Want::Parse(range) if range.start == 0 && range.end <= FRONT => Some(Want::Parse(0..FRONT)),
        _ => None,
    }
}

impl View for BlockingView<'_> {
    fn read(&self, object: &ObjectId, want: Want) -> Step<Option<ObjectBytes>> {
        Ok(self.fetch(object, &want)?)
    }

    fn decoded(
        &self,
        object: &ObjectId,
        range: Range<u64>,
        codecs: &[CodecSpec],
        mask: u32,
        len: u64,
    ) -> Step<Bytes> {
        let part =
            EncodedPart { object: object.clone(), range: range.clone(), codecs: codecs.to_vec(), mask, len };
        let blob = self.fetch(object, &Want::Range(range))?;
        let blob = blob.ok_or_else(|| Error::not_found("no such object").at_object(object))?;
        let decoded = part.decode(&self.context.shared, &blob.bytes);
        Ok(decoded.map_err(|error| part.located(error))?)
    }

    fn values(&self, variable: &VariableRef, selection: &Selection) -> Step<Values> {
        let nested = self.context.nested_values(variable, selection);
        Ok(crate::resources::block_on(nested)?)
    }

    fn list(&self, prefix: &ObjectId, page: Option<&str>) -> Step<Listing> {
        self.context.snapshot.check_store(prefix)?;
        self.context.fetched(0);
        Ok(self.store.list(prefix, page)?)
    }

    /// Nothing is kept of long reads.
    fn release(&self, _: &ObjectId, _: u64) {}

    fn memo(&self) -> &Memo {
        &self.context.memo
    }

    fn limits(&self) -> &Limits {
        &self.context.shared.limits
    }
}

//! A view that counts reads and ends the run if there are too many.
use bytes::Bytes;
use ncirrus_layout::{Limits, Listing, Memo, ObjectBytes, ObjectId, Step, VariableRef, View, Want};
use ncirrus_model::{CodecSpec, Selection, Values};
use ncirrus_testkit::MemoryView;
use std::cell::Cell;
use std::ops::Range;

/// A view of one object that panics if it is read more often than its size justifies.
pub(crate) struct Budgeted {
    inner: MemoryView,
    reads: Cell<u64>,
    max: u64,
}

impl Budgeted {
    /// Limits the number of reads: some for every byte of the object, since every structure is read once.
    pub(crate) fn new(inner: MemoryView, len: usize) -> Self {
        Self { inner, reads: Cell::new(0), max: 20_000 + 64 * len as u64 }
    }

    fn count(&self) {
        self.reads.set(self.reads.get() + 1);
        assert!(self.reads.get() <= self.max, "more than {} reads", self.max);
    }
}

impl View for Budgeted {
    fn read(&self, object: &ObjectId, want: Want) -> Step<Option<ObjectBytes>> {
        self.count();
        self.inner.read(object, want)
    }

    fn decoded(
        &self,
        object: &ObjectId,
        range: Range<u64>,
        codecs: &[CodecSpec],
        mask: u32,
        len: u64,
    ) -> Step<Bytes> {
        self.count();
        self.inner.decoded(object, range, codecs, mask, len)
    }

    fn values(&self, variable: &VariableRef, selection: &Selection) -> Step<Values> {
        self.count();
        self.inner.values(variable, selection)
    }

    fn list(&self, prefix: &ObjectId, page: Option<&str>) -> Step<Listing> {
        self.count();
        self.inner.list(prefix, page)
    }

    fn release(&self, object: &ObjectId, end: u64) {
        self.inner.release(object, end);
    }

    fn memo(&self) -> &Memo {
        self.inner.memo()
    }

    fn limits(&self) -> &Limits {
        self.inner.limits()
    }
}

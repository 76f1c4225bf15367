//! All input of a format.
use crate::request::{Listing, ObjectBytes, VariableRef, Want};
use crate::{Limits, Memo, ObjectId, Step};
use bytes::Bytes;
use ncirrus_model::{CodecSpec, Selection, Values};
use std::ops::Range;

/// In place of the length of decoded bytes that is not known before they are decoded ([`View::decoded`]).
pub const ANY_LEN: u64 = u64::MAX;

/// All input of a format. Every answer may be a stall.
pub trait View {
    /// Bytes of an object. `None`: the object is known to be absent.
    ///
    /// # Errors
    /// A need, or the failure to read.
    fn read(&self, object: &ObjectId, want: Want) -> Step<Option<ObjectBytes>>;

    /// Bytes that are stored encoded: metadata that is itself filtered, shard indexes, shards with codecs around them.
    /// The engine owns the codecs. A `len` of [`ANY_LEN`] accepts any length that memory allows.
    ///
    /// # Errors
    /// A need, the failure to read, or `Malformed` if the bytes do not decode to `len` bytes.
    fn decoded(
        &self,
        object: &ObjectId,
        range: Range<u64>,
        codecs: &[CodecSpec],
        mask: u32,
        len: u64,
    ) -> Step<Bytes>;

    /// Values of another variable; the nesting depth is limited.
    ///
    /// # Errors
    /// A need, or errors of reading the variable.
    fn values(&self, variable: &VariableRef, selection: &Selection) -> Step<Values>;

    /// The names directly below a prefix, a page at a time.
    ///
    /// # Errors
    /// A need, or `Unsupported` if the store cannot list.
    fn list(&self, prefix: &ObjectId, page: Option<&str>) -> Step<Listing>;

    /// The step is done with the bytes of an object before `end`, also if it is run again: they need not stay in memory. A
    /// step that reads a long object in blocks keeps what it made of them itself.
    fn release(&self, object: &ObjectId, end: u64);

    /// Cache of finished parts, so that running a step again is cheap.
    fn memo(&self) -> &Memo;

    /// Limits on bytes, depth and counts for untrusted data.
    fn limits(&self) -> &Limits;
}

//! All that a format may ask of the world.
use crate::request::{Listing, ObjectBytes, VariableRef, Want};
use crate::{Limits, Memo, ObjectId, Step};
use bytes::Bytes;
use ncirrus_model::{CodecSpec, Selection, Values};
use std::ops::Range;

/// All that a format may ask of the world. Every answer may be a stall.
pub trait View {
    /// Bytes of an object. `None`: the object is known to be absent.
    ///
    /// # Errors
    /// A need, or the failure to read.
    fn read(&self, object: &ObjectId, want: Want) -> Step<Option<ObjectBytes>>;

    /// Bytes that are stored encoded: metadata that is itself filtered, shard indexes. The engine owns the codecs.
    ///
    /// # Errors
    /// A need, the failure to read, or `Malformed` when the bytes do not decode to `len` bytes.
    fn decoded(
        &self,
        object: &ObjectId,
        range: Range<u64>,
        codecs: &[CodecSpec],
        mask: u32,
        len: u64,
    ) -> Step<Bytes>;

    /// Values of another variable; how deep this may nest is limited.
    ///
    /// # Errors
    /// A need, or what reading the variable fails with.
    fn values(&self, variable: &VariableRef, selection: &Selection) -> Step<Values>;

    /// The names directly below a prefix, a page at a time.
    ///
    /// # Errors
    /// A need, or `Unsupported` when the store cannot list.
    fn list(&self, prefix: &ObjectId, page: Option<&str>) -> Step<Listing>;

    /// Store of finished parts, so that running a step again is cheap.
    fn memo(&self) -> &Memo;

    /// Budgets of bytes, depth and counts for data that come from outside.
    fn limits(&self) -> &Limits;
}

//! All that a format may ask of the world.
use crate::{Limits, Memo, ObjectId, Step, Tag};
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

/// Which bytes of an object are wanted.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Want {
    /// The whole object.
    All,
    /// Bytes from `start` to before `end`; the answer is short at the end of the object.
    Range(Range<u64>),
    /// As `Range`, but of unknown extent: the reader is about to parse a structure there and may soon want more, so a
    /// whole block may be fetched. The answer has at least these bytes, unless the object ends.
    Parse(Range<u64>),
    /// The last bytes, at most this many.
    Suffix(u64),
}

/// Bytes of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectBytes {
    /// The bytes that were asked for; fewer where the object ends.
    pub bytes: Bytes,
    /// Offset of the first byte in the object.
    pub offset: u64,
    /// Size of the whole object in bytes.
    pub size: u64,
    /// State of the object.
    pub tag: Tag,
}

/// One page of the names below a prefix, in byte order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Listing {
    /// Names directly below the prefix.
    pub entries: Vec<ListEntry>,
    /// Where the next page starts; `None` for the last page.
    pub next: Option<String>,
}

/// A name below a prefix.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ListEntry {
    /// One segment of a key.
    pub name: String,
    /// Whether further names lie below it.
    pub is_prefix: bool,
}

/// A variable of the same or another dataset.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct VariableRef {
    /// The dataset; `None` for the one that asks.
    pub dataset: Option<ObjectId>,
    /// Path of the variable in it.
    pub path: String,
}

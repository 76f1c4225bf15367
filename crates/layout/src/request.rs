//! Requests to a view, and their answers.
use crate::{ObjectId, Tag};
use bytes::Bytes;
use std::ops::Range;

/// Which bytes of an object are requested.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Want {
    /// The whole object.
    All,
    /// The whole object, if it has at most this many bytes: a network store refuses a larger one (`Limit`) before it
    /// is fetched.
    AtMost(u64),
    /// Bytes from `start` to before `end`; the answer is short at the end of the object.
    Range(Range<u64>),
    /// As `Range`, but of unknown extent: the reader is about to parse a structure there and may soon need more, so a
    /// whole block may be fetched. The answer has at least these bytes, unless the object ends.
    Parse(Range<u64>),
    /// The last bytes, at most this many.
    Suffix(u64),
}

impl Want {
    /// Whether the whole object is requested.
    pub fn is_whole(&self) -> bool {
        matches!(self, Self::All | Self::AtMost(_))
    }

    /// Maximum size of the answer, if bounded.
    pub fn max_bytes(&self) -> Option<u64> {
        match self {
            Self::AtMost(max) => Some(*max),
            _ => None,
        }
    }
}

/// Bytes of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectBytes {
    /// The requested bytes; fewer at the end of the object.
    pub bytes: Bytes,
    /// Offset of the first byte in the object.
    pub offset: u64,
    /// Size of the whole object in bytes.
    pub size: u64,
    /// Tag of the object.
    pub tag: Tag,
}

/// One page of the names below a prefix, in byte order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Listing {
    /// Names directly below the prefix.
    pub entries: Vec<ListEntry>,
    /// The token of the next page; `None` for the last page.
    pub next: Option<String>,
}

/// A name below a prefix.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ListEntry {
    /// One segment of a key.
    pub name: String,
    /// Whether there are names below it.
    pub is_prefix: bool,
}

/// A variable of the same or another dataset.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct VariableRef {
    /// The dataset; `None` for the requesting one.
    pub dataset: Option<ObjectId>,
    /// Path of the variable in it.
    pub path: String,
}

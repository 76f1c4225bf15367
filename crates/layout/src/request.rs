//! What a view can be asked for, and what it answers.
use crate::{ObjectId, Tag};
use bytes::Bytes;
use std::ops::Range;

/// Which bytes of an object are wanted.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Want {
    /// The whole object.
    All,
    /// The whole object, if it has at most so many bytes: a store that answers over a network refuses a larger one (`Limit`)
    /// before it is fetched.
    AtMost(u64),
    /// Bytes from `start` to before `end`; the answer is short at the end of the object.
    Range(Range<u64>),
    /// As `Range`, but of unknown extent: the reader is about to parse a structure there and may soon want more, so a
    /// whole block may be fetched. The answer has at least these bytes, unless the object ends.
    Parse(Range<u64>),
    /// The last bytes, at most this many.
    Suffix(u64),
}

impl Want {
    /// Whether the whole object is wanted.
    pub fn is_whole(&self) -> bool {
        matches!(self, Self::All | Self::AtMost(_))
    }

    /// Bytes that an answer may have, where that is bounded.
    pub fn most_bytes(&self) -> Option<u64> {
        match self {
            Self::AtMost(most) => Some(*most),
            _ => None,
        }
    }
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

//! Invalid definitions, and how damage in a member is recorded without losing the rest.
use crate::{Detail, Member};
use std::fmt;
use std::sync::Arc;

/// A definition that the netCDF-4 data model does not allow.
#[expect(missing_docs, reason = "the fields of the variants are named by what they hold")]
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelError {
    /// The name violates a naming rule; the reason says which.
    BadName { name: String, reason: &'static str },
    /// The name is in use in that group.
    NameInUse { name: String, group: String },
    /// No such group, dimension, type, variable or attribute.
    NotFound { what: Member, name: String },
    /// The member cannot be removed or changed while others use it.
    InUse { what: &'static str, name: String, by: String },
    /// The dimension or type is not visible from that group.
    OutOfScope { what: &'static str, name: String, group: String },
    /// The type is not allowed here, or is badly formed.
    BadType { name: String, reason: String },
    /// The value does not fit: a fill value of another type, a chunk longer than its axis, ...
    BadValue { what: &'static str, reason: String },
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BadName { name, reason } => write!(f, "name {name:?} is not allowed: {reason}"),
            Self::NameInUse { name, group } => write!(f, "name {name:?} is in use in group {group}"),
            Self::NotFound { what, name } => write!(f, "no {} named {name:?}", what.name()),
            Self::InUse { what, name, by } => write!(f, "{what} {name:?} is used by {by}"),
            Self::OutOfScope { what, name, group } => {
                write!(f, "{what} {name:?} cannot be seen from group {group}")
            }
            Self::BadType { name, reason } => write!(f, "type {name:?}: {reason}"),
            Self::BadValue { what, reason } => write!(f, "{what}: {reason}"),
        }
    }
}

impl std::error::Error for ModelError {}

/// Why a member of a dataset exists but cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Whether the data are damaged or just not supported.
    pub kind: FaultKind,
    /// The fact and the offending value, lower case, with the object in which it was found.
    pub message: Arc<str>,
    /// The specific condition, if known.
    pub detail: Option<Detail>,
}

/// The two ways in which a member can be inaccessible.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// The stored description is damaged or contradicts itself.
    Malformed,
    /// It is valid but uses something that is not supported, such as an unknown codec or data type.
    Unsupported,
    /// Objects that the metadata list are missing.
    Missing,
}

impl Fault {
    /// A fault of the given kind.
    pub fn new(kind: FaultKind, message: impl Into<Arc<str>>) -> Self {
        Self { kind, message: message.into(), detail: None }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

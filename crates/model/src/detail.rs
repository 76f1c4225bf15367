//! Specific error conditions, beyond the kind of an error.
use std::sync::Arc;

/// The specific condition of an error, for programs that react to it: with a hint, or another attempt. Messages are
/// for people and may change; do not parse them.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Detail {
    /// A dataset does not have such a member.
    NoMember(Member),
    /// The target exists already; it is replaced only on request.
    Exists,
    /// The target is, contains or lies in a source, or in what the new dataset refers to.
    IsSource,
    /// The existing target must not be replaced: it is a source, or of another kind than what is written.
    NotReplaced,
    /// Files that references cannot join, but an aggregation can.
    JoinedByAggregation,
    /// No codec or filter of that name is known.
    UnknownCodec(Arc<str>),
    /// The codec of that name is known, but cannot be used in this way.
    UnusableCodec(Arc<str>),
    /// The classic data model, or the kind of file that follows it, cannot represent it.
    BeyondClassic,
    /// The format keeps the name for itself, or would make another path of it.
    ReservedName,
    /// It is too large for an object header of HDF5.
    BeyondHeader,
    /// Plain HTTP is read-only.
    ReadOnlyProtocol,
    /// The server at the address cannot list.
    NoListings,
    /// The address has an unknown scheme.
    UnknownScheme,
    /// Something other than a dataset was found.
    Found(Found),
    /// A server could not be reached.
    Unreachable,
    /// An HDF5 file does not track in which order its members were created: netCDF-C does not change it.
    NoCreationOrder,
    /// The values that determine the shape of a variable could not be read: its values cannot be read either.
    ShapeUnread,
}

/// The kinds of members of a dataset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Member {
    /// A group.
    Group,
    /// A dimension.
    Dimension,
    /// A type.
    Type,
    /// A variable.
    Variable,
    /// An attribute.
    Attribute,
}

/// What was found in place of a dataset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Found {
    /// An empty object.
    EmptyObject,
    /// An empty directory.
    EmptyDirectory,
    /// A directory, or a prefix, with other contents.
    Directory,
    /// A zip file; a dataset may be in it.
    Zip,
    /// A web page.
    Page,
    /// Data of another format.
    OtherFormat,
}

impl Member {
    /// Its name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Group => "group",
            Self::Dimension => "dimension",
            Self::Type => "type",
            Self::Variable => "variable",
            Self::Attribute => "attribute",
        }
    }
}

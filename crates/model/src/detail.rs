//! What programs may want to know of an error, beyond who must act.
use std::sync::Arc;

/// What exactly is wrong, for those that go on from there: with a hint, or another attempt. What messages say is for people
/// and may change; nothing is to be told from it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Detail {
    /// A dataset has no such member.
    NoMember(Member),
    /// The target is there already; it is replaced only when told.
    Exists,
    /// The target is, holds or lies in what is read, or what the new dataset refers to.
    IsSource,
    /// What is there is not what is replaced: it is read, or of another kind than what is written.
    NotReplaced,
    /// No codec or filter of that name is known.
    UnknownCodec(Arc<str>),
    /// The codec of that name is known, but cannot be used in this way.
    UnusableCodec(Arc<str>),
    /// The classic data model, or the kind of file that follows it, cannot hold it.
    BeyondClassic,
    /// An object header of HDF5 cannot hold so much.
    BeyondHeader,
    /// What is read over plain HTTP cannot be written.
    ReadOnlyProtocol,
    /// What answers at the address lists nothing.
    NoListings,
    /// An address begins with a scheme that is not known.
    UnknownScheme,
    /// Something else than a dataset was found.
    Found(Found),
    /// A server could not be reached.
    Unreachable,
}

/// The members of a dataset.
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

/// What lies where a dataset was looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Found {
    /// An object without a byte.
    EmptyObject,
    /// A directory with nothing in it.
    EmptyDirectory,
    /// A directory, or a prefix, that holds other things.
    Directory,
    /// A zip file; a dataset may lie in it.
    Zip,
    /// A web page.
    Page,
    /// Data of another format.
    OtherFormat,
}

impl Member {
    /// The word for it in messages.
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

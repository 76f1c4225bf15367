//! Errors of codecs.
use std::fmt;

/// Why a chunk could not be decoded or encoded, or a codec could not be bound.
#[expect(missing_docs, reason = "the fields of the variants are named by what they hold")]
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum CodecError {
    /// No codec with that name is known.
    Unknown { codec: String },
    /// The encoded bytes, or the parameters of the codec, are damaged.
    Malformed { codec: String, reason: String },
    /// The chunk decodes to fewer bytes than required.
    Short { have: usize, want: usize },
    /// The chunk decodes to more bytes than required: at least `have`.
    Long { have: usize, want: usize },
    /// The codec is known, but this use of it is not supported.
    Unsupported { codec: String, reason: String },
    /// There are more decoded bytes than the limit.
    Limit { codec: String, limit: usize },
}

impl CodecError {
    /// The encoded bytes, or the parameters of `codec`, are damaged.
    pub fn malformed(codec: &str, reason: impl Into<String>) -> Self {
        Self::Malformed { codec: codec.to_owned(), reason: reason.into() }
    }

    /// `codec` cannot do this.
    pub fn unsupported(codec: &str, reason: impl Into<String>) -> Self {
        Self::Unsupported { codec: codec.to_owned(), reason: reason.into() }
    }

    /// `codec` decodes to more than `limit` bytes.
    pub fn limit(codec: &str, limit: usize) -> Self {
        Self::Limit { codec: codec.to_owned(), limit }
    }
}

impl fmt::Display for CodecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { codec } => write!(f, "codec {codec:?} is not known"),
            Self::Malformed { codec, reason } => write!(f, "codec {codec}: {reason}"),
            Self::Short { have, want } => write!(f, "the chunk decodes to {have} bytes instead of {want}"),
            Self::Long { want, .. } => {
                write!(f, "the chunk decodes to more than the {want} bytes of its elements")
            }
            Self::Unsupported { codec, reason } => write!(f, "codec {codec} is not supported: {reason}"),
            Self::Limit { codec, limit } => write!(f, "codec {codec}: more than the limit of {limit} bytes"),
        }
    }
}

impl std::error::Error for CodecError {}

//! From the bytes of a stored chunk to the bytes of its elements.
use ncirrus_codec::CodecError;
use ncirrus_layout::{Detail, Error, ErrorKind};

/// An error of a codec in the words of the engine.
pub(crate) fn codec_error(error: CodecError) -> Error {
    let kind = match &error {
        CodecError::Unknown { .. } | CodecError::Unsupported { .. } => ErrorKind::Unsupported,
        CodecError::Limit { .. } => ErrorKind::Limit,
        _ => ErrorKind::Malformed,
    };
    let detail = match &error {
        CodecError::Unknown { codec } => Some(Detail::UnknownCodec(codec.as_str().into())),
        CodecError::Unsupported { codec, .. } => Some(Detail::UnusableCodec(codec.as_str().into())),
        _ => None,
    };
    let told = Error::new(kind, error.to_string()).because(error);
    match detail {
        Some(detail) => told.with_detail(detail),
        None => told,
    }
}

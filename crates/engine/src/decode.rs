//! From the bytes of a stored chunk to the bytes of its elements.
use ncirrus_codec::{CodecError, DecodedElement, NumberKind, NumberType};
use ncirrus_layout::{ByteOrder, Detail, Error, ErrorKind, StoredType};

/// An error of a codec as an error of the engine.
pub(crate) fn codec_error(error: CodecError) -> Error {
    let text = error.to_string();
    codec_error_as(error, text)
}

/// As [`codec_error`], in other words.
pub(crate) fn codec_error_as(error: CodecError, text: String) -> Error {
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
    let reported = Error::new(kind, text).because(error);
    match detail {
        Some(detail) => reported.with_detail(detail),
        None => reported,
    }
}

/// What codecs may know of stored elements.
pub(crate) fn element_of(stored: &StoredType) -> DecodedElement {
    let number = |kind, size: u8, order| {
        DecodedElement::of(NumberType {
            kind,
            size: size.into(),
            big_endian: order == ByteOrder::Big && size > 1,
        })
    };
    match *stored {
        StoredType::Integer { size, signed: true, order } => number(NumberKind::Signed, size, order),
        StoredType::Integer { size, signed: false, order } => number(NumberKind::Unsigned, size, order),
        StoredType::Float { size, order } => number(NumberKind::Float, size, order),
        _ => DecodedElement::sized(stored.byte_len().and_then(|len| usize::try_from(len).ok())),
    }
}

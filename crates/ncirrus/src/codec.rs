//! Codecs of a program's own: what a program implements and registers with
//! [`SessionBuilder::codec`](crate::SessionBuilder::codec), and what its tests hold them to (`docs/extending.md`).
#[cfg(feature = "conformance")]
pub use ncirrus_codec::conformance;
pub use ncirrus_codec::{
    ChunkInfo, CodecError, CodecFactory, CustomCodec, DecodedElement, NumberKind, NumberType,
};

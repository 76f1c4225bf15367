//! Custom codecs: what a program implements and registers with [`SessionBuilder::codec`](crate::SessionBuilder::codec),
//! and the contract for its tests (`docs/extending.md`).
pub use ncirrus_codec::conformance;
pub use ncirrus_codec::{
    ChunkInfo, CodecError, CodecFactory, CustomCodec, DecodedElement, NumberKind, NumberType,
};

//! The views through which formats read: immediate for local stores, stalling for all others.
mod blocking;
mod stalling;

pub(crate) use blocking::BlockingView;
pub(crate) use stalling::{DriveExtras, StallingView};

use crate::resources::SharedResources;
use bytes::Bytes;
use ncirrus_codec::{ChunkInfo, DecodedElement};
use ncirrus_layout::{ANY_LEN, Error, Limits, ObjectId, Result};
use ncirrus_model::CodecSpec;
use std::ops::Range;

/// Encoded bytes inside metadata, as requested through [`ncirrus_layout::View::decoded`].
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct EncodedPart {
    /// The object.
    pub(crate) object: ObjectId,
    /// Where the encoded bytes are.
    pub(crate) range: Range<u64>,
    /// How they were encoded.
    pub(crate) codecs: Vec<CodecSpec>,
    /// Which codecs were skipped.
    pub(crate) mask: u32,
    /// Length of the decoded bytes, or [`ANY_LEN`].
    pub(crate) len: u64,
}

impl EncodedPart {
    /// The decoded bytes.
    fn decode(&self, shared: &SharedResources, encoded: &[u8]) -> Result<Bytes> {
        if (encoded.len() as u64) < self.range.end.saturating_sub(self.range.start) {
            return Err(Error::malformed(format!(
                "{} bytes where {} were expected",
                encoded.len(),
                self.range.end - self.range.start
            )));
        }
        let shape = vec![if self.len == ANY_LEN { encoded.len() as u64 } else { self.len }];
        let chunk = ChunkInfo { shape, element: DecodedElement::sized(Some(1)) };
        let chain = shared.registry.bind(&self.codecs, &chunk).map_err(crate::decode::codec_error)?;
        if self.len == ANY_LEN {
            let max = shared.document_bytes().min(shared.limits.chunk_bytes);
            let limit = usize::try_from(max).unwrap_or(usize::MAX);
            let decoded = shared
                .workers
                .with(|worker| chain.decode(encoded, self.mask, limit, &mut worker.scratch))
                .map_err(crate::decode::codec_error)?;
            return Ok(decoded.into());
        }
        let len = shared.limits.metadata_len(self.len, "an encoded metadata structure")?;
        let mut decoded = vec![0; len];
        shared
            .workers
            .with(|worker| chain.decode_into(encoded, self.mask, &mut decoded, &mut worker.scratch))
            .map_err(crate::decode::codec_error)?;
        Ok(decoded.into())
    }

    fn located(&self, error: Error) -> Error {
        error.at_object(&self.object).at_offset(self.range.start)
    }
}

/// Checks that a document may be read into memory.
pub(crate) fn check_document(shared: &SharedResources, object: &ObjectId, len: u64) -> Result<()> {
    let max = shared.document_bytes();
    if len > max {
        return Err(document_error(&format!("{len} bytes, more than the limit of {max}")).at_object(object));
    }
    Ok(())
}

/// The error for a document that exceeds the limit, and how to raise it.
pub(crate) fn document_error(what: &str) -> Error {
    Error::limit(format!("metadata document: {what} (a quarter of the session's memory)"))
}

/// Checks that a range requested by a format may be read into memory.
fn check_len(limits: &Limits, object: &ObjectId, len: u64) -> Result<()> {
    limits.metadata_len(len, "a metadata object").map(|_| ()).map_err(|error| error.at_object(object))
}

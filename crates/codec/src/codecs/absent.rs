//! A placeholder for an optional filter that is missing.
use crate::CodecError;
use crate::codec::Codec;
use crate::scratch::{LibraryContexts, ScratchBuffer};

/// A missing filter; only chunks that were stored without it can be read.
#[derive(Debug)]
pub(crate) struct AbsentFilter {
    /// Why it is missing.
    pub(crate) fault: CodecError,
}

impl Codec for AbsentFilter {
    fn name(&self) -> &'static str {
        "absent"
    }

    fn decode_into(&self, _: &[u8], _: &mut [u8], _: &mut LibraryContexts) -> Result<usize, CodecError> {
        Err(self.fault.clone())
    }

    fn decode_all(
        &self,
        _: &[u8],
        _: Option<usize>,
        _: usize,
        _: &mut ScratchBuffer,
        _: &mut LibraryContexts,
    ) -> Result<(), CodecError> {
        Err(self.fault.clone())
    }

    fn encode(&self, _: &[u8], _: &mut ScratchBuffer, _: &mut LibraryContexts) -> Result<(), CodecError> {
        Err(self.fault.clone())
    }
}

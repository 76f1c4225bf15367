//! Codecs that are skipped for single chunks (the codec `conditional` of the registry of Zarr v3): a chunk begins with a
//! bit for each of them, the lowest first, which is set if the codec was applied.
//!
//! - HDF5 filter: none (HDF5 has a mask for each chunk instead).
//! - Zarr v2: none.
//! - Zarr v3: `conditional`; `optional`, its name in the proposal, is read, too.
//! - Parameters: `codecs`: at most 32 codecs from bytes to bytes. `header_bits`: bits of the header, a multiple of 8
//!   (default: as many as needed).
//! - A compressor is skipped for chunks that it does not make smaller.
//!
//! ```json
//! {"name": "conditional", "configuration": {"codecs": [{"name": "zstd", "configuration": {"level": 3}}]}}
//! {"name": "optional", "configuration": {"codecs": [{"name": "gzip", "configuration": {"level": 1}}], "header_bits": 16}}
//! ```
use crate::CodecError;
use crate::chain::CodecChain;
use crate::codec::{Codec, copy_prefix};
use crate::parameters::CodecParameters;
use crate::scratch::{CodecScratch, LibraryContexts, ScratchBuffer};

const NAME: &str = "conditional";
const MAX_CODECS: usize = 32;

/// The codecs, each as a chain of its own.
#[derive(Debug)]
pub(crate) struct Conditional {
    codecs: Vec<ConditionalCodec>,
    header_len: usize,
}

#[derive(Debug)]
struct ConditionalCodec {
    chain: CodecChain,
    /// Whether it is left out of chunks that it does not make smaller.
    compresses: bool,
}

impl Conditional {
    /// The codecs, bound to chunks one by one, and whether each is left out of chunks that it does not make smaller.
    ///
    /// # Errors
    /// `Malformed` if the other parameters are invalid, `Unsupported` for too many codecs.
    pub(crate) fn new(
        parameters: &CodecParameters,
        codecs: Vec<(CodecChain, bool)>,
    ) -> Result<Self, CodecError> {
        let count = codecs.len();
        if count > MAX_CODECS {
            return Err(CodecError::unsupported(NAME, format!("{count} codecs, more than {MAX_CODECS}")));
        }
        let usual = count.div_ceil(8) * 8;
        let bits = parameters.size("header_bits")?.unwrap_or(usual);
        if !bits.is_multiple_of(8) || bits < count || bits > 1 << 16 {
            return Err(CodecError::malformed(NAME, format!("header_bits {bits} for {count} codecs")));
        }
        let codec = |(chain, compresses)| ConditionalCodec { chain, compresses };
        Ok(Self { codecs: codecs.into_iter().map(codec).collect(), header_len: bits / 8 })
    }

    /// The codecs that were applied to a chunk, and its other bytes.
    fn open<'a>(&self, input: &'a [u8]) -> Result<(Vec<&CodecChain>, &'a [u8]), CodecError> {
        let cut = || CodecError::malformed(NAME, format!("a chunk of {} bytes has no header", input.len()));
        let (header, rest) = input.split_at_checked(self.header_len).ok_or_else(cut)?;
        let is_set = |at: usize| header.get(at / 8).is_some_and(|byte| byte >> (at % 8) & 1 == 1);
        if let Some(at) = (self.codecs.len()..8 * self.header_len).find(|at| is_set(*at)) {
            return Err(CodecError::malformed(
                NAME,
                format!("a chunk was encoded by codec {at}, which does not exist"),
            ));
        }
        let applied =
            self.codecs.iter().enumerate().filter(|(at, _)| is_set(*at)).map(|(_, codec)| &codec.chain);
        Ok((applied.collect(), rest))
    }

    fn decoded(&self, input: &[u8], limit: usize) -> Result<Vec<u8>, CodecError> {
        let (applied, rest) = self.open(input)?;
        let mut scratch = CodecScratch::default();
        let mut bytes = rest.to_vec();
        for chain in applied.into_iter().rev() {
            bytes = chain.decode(&bytes, 0, limit, &mut scratch)?;
        }
        if bytes.len() > limit { Err(CodecError::limit(NAME, limit)) } else { Ok(bytes) }
    }
}

impl Codec for Conditional {
    fn name(&self) -> &'static str {
        NAME
    }

    fn encode_fault(&self) -> Option<CodecError> {
        self.codecs.iter().flat_map(|codec| codec.chain.codecs()).find_map(Codec::encode_fault)
    }

    fn decode_into(
        &self,
        input: &[u8],
        out: &mut [u8],
        _: &mut LibraryContexts,
    ) -> Result<usize, CodecError> {
        let decoded = self.decoded(input, out.len().saturating_mul(2).saturating_add(1 << 16))?;
        copy_prefix(&decoded, out);
        Ok(decoded.len())
    }

    fn decode_all(
        &self,
        input: &[u8],
        _: Option<usize>,
        limit: usize,
        out: &mut ScratchBuffer,
        _: &mut LibraryContexts,
    ) -> Result<(), CodecError> {
        out.set(self.decoded(input, limit)?);
        Ok(())
    }

    fn encode(
        &self,
        input: &[u8],
        out: &mut ScratchBuffer,
        _: &mut LibraryContexts,
    ) -> Result<(), CodecError> {
        let mut scratch = CodecScratch::default();
        let mut header = vec![0u8; self.header_len];
        let mut bytes = input.to_vec();
        for (at, codec) in self.codecs.iter().enumerate() {
            let (encoded, _) = codec.chain.encode(&bytes, &mut scratch)?;
            if codec.compresses && encoded.len() >= bytes.len() {
                continue;
            }
            if let Some(byte) = header.get_mut(at / 8) {
                *byte |= 1 << (at % 8);
            }
            bytes = encoded;
        }
        header.append(&mut bytes);
        out.set(header);
        Ok(())
    }
}

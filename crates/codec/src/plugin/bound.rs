//! A filter of a plugin in a chain.
use super::found::FilterEntry;
use super::native::{FilterCall, NativeFilter};
use super::{BoundFilter, PluginOptions, pairing};
use crate::codec::{Codec, copy_prefix};
use crate::scratch::{LibraryContexts, ScratchBuffer};
use crate::{ChunkInfo, CodecError};
use ncirrus_model::CodecSpec;
use std::path::PathBuf;
use std::sync::Arc;

/// A filter with its parameters.
#[derive(Debug)]
struct PluginCodec {
    label: String,
    path: PathBuf,
    native: NativeFilter,
    parameters: Vec<u32>,
    optional: bool,
    concurrent: bool,
    /// Why it cannot encode.
    encode_fault: Option<String>,
}

/// Binds a description to a filter that it names.
///
/// # Errors
/// If its parameters are invalid.
pub(super) fn bind(
    filter: &Arc<FilterEntry>,
    spec: &CodecSpec,
    chunk: &ChunkInfo,
    options: &PluginOptions,
) -> Result<BoundFilter, CodecError> {
    let working = pairing::working(filter, spec, chunk)?;
    let optional = matches!(spec, CodecSpec::Hdf5 { optional: true, .. });
    let parameters = working.parameters;
    let Some((native, path)) = &filter.native else {
        return Ok(BoundFilter::BuiltIn(CodecSpec::Hdf5 { id: filter.id, parameters, optional }));
    };
    let incomplete = working.incomplete.filter(|_| !options.complete);
    let encode_fault = if native.encodes {
        incomplete.map(|reason| {
            let reason = if reason.is_empty() { reason } else { format!(" ({reason})") };
            format!("the plugin completes its parameters with HDF5's help, and {parameters:?} are not known to be complete{reason}")
        })
    } else {
        Some("the plugin does not encode".to_owned())
    };
    Ok(BoundFilter::Codec(Arc::new(PluginCodec {
        label: filter.label(),
        path: path.clone(),
        native: native.clone(),
        parameters,
        optional,
        concurrent: options.concurrent.contains(&filter.id),
        encode_fault,
    })))
}

impl PluginCodec {
    fn run<T>(&self, decode: bool, input: &[u8], take: impl FnOnce(&[u8]) -> T) -> Result<T, CodecError> {
        let call = FilterCall {
            decode,
            optional: self.optional,
            concurrent: self.concurrent,
            parameters: &self.parameters,
        };
        self.native.run(call, input, take).map_err(|reason| {
            CodecError::malformed(&self.label, format!("the plugin {reason}: {}", self.path.display()))
        })
    }

    fn decode<T>(&self, input: &[u8], take: impl FnOnce(&[u8]) -> T) -> Result<T, CodecError> {
        if !self.native.decodes {
            let reason = format!("the plugin does not decode: {}", self.path.display());
            return Err(CodecError::unsupported(&self.label, reason));
        }
        self.run(true, input, take)
    }
}

impl Codec for PluginCodec {
    fn name(&self) -> &str {
        &self.label
    }

    fn encode_fault(&self) -> Option<CodecError> {
        let reason = self.encode_fault.as_ref()?;
        Some(CodecError::unsupported(&self.label, format!("{reason}: {}", self.path.display())))
    }

    fn decode_into(
        &self,
        input: &[u8],
        out: &mut [u8],
        _: &mut LibraryContexts,
    ) -> Result<usize, CodecError> {
        self.decode(input, |decoded| {
            copy_prefix(decoded, out);
            decoded.len()
        })
    }

    fn decode_all(
        &self,
        input: &[u8],
        _: Option<usize>,
        limit: usize,
        out: &mut ScratchBuffer,
        _: &mut LibraryContexts,
    ) -> Result<(), CodecError> {
        self.decode(input, |decoded| {
            if decoded.len() > limit {
                return Err(CodecError::limit(&self.label, limit));
            }
            out.prepare(decoded.len()).copy_from_slice(decoded);
            Ok(())
        })?
    }

    fn encode(
        &self,
        input: &[u8],
        out: &mut ScratchBuffer,
        _: &mut LibraryContexts,
    ) -> Result<(), CodecError> {
        if let Some(fault) = self.encode_fault() {
            return Err(fault);
        }
        self.run(false, input, |encoded| out.prepare(encoded.len()).copy_from_slice(encoded))
    }
}

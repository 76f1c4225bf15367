//! Custom codecs: what a program implements, and how they are combined with those of this crate.
use crate::codec::{Codec, copy_prefix};
use crate::scratch::{LibraryContexts, ScratchBuffer};
use crate::{ChunkInfo, CodecEntry, CodecError, CodecOrigin, names};
use ncirrus_model::{CodecSpace, CodecSpec};
use serde_json::{Map, Value};
use std::fmt::Debug;
use std::sync::Arc;

/// Makes codecs of one name: a program registers it ([`CodecRegistry::register`](crate::CodecRegistry::register)) to
/// have chunks encoded and decoded by its own code.
///
/// In Zarr a codec has a name and a configuration in JSON; in HDF5 a number and a list of unsigned integers. For a
/// codec with a number, its [`members`](Self::members) are in the order of that list, and it is translated between both
/// accordingly.
pub trait CodecFactory: Debug + Send + Sync {
    /// Its name in Zarr (`id` in version 2, `name` in version 3), and in messages. It must differ from the names of the
    /// codecs of this crate.
    fn name(&self) -> &str;

    /// Its filter number in HDF5; `None` for a codec that HDF5 files cannot use. Numbers from 256 to 511 are reserved
    /// for testing; others are assigned by The HDF Group.
    fn hdf5_id(&self) -> Option<u32>;

    /// The members of its configuration in JSON. If it has a number in HDF5, all of them are unsigned integers below
    /// 2^32, in the order of the filter's client data.
    fn members(&self) -> &[&str];

    /// Whether chunks are encoded as well as decoded. By default they are.
    fn encodes(&self) -> bool {
        true
    }

    /// The codec for chunks of one shape and element.
    ///
    /// # Errors
    /// `Malformed` if the configuration is invalid (it may come from a file: do not trust it), `Unsupported` for chunks
    /// that the codec cannot encode.
    fn bind(
        &self,
        configuration: &Map<String, Value>,
        chunk: &ChunkInfo,
    ) -> Result<Arc<dyn CustomCodec>, CodecError>;
}

/// A custom codec, bound to chunks of one shape. Several threads may use it at once.
///
/// Decoding must yield what was encoded, or, for a codec that rounds, values that are encoded and decoded to the same
/// again: parts of chunks are changed by decoding, changing and encoding them. The functions of `conformance` check a
/// codec against this.
pub trait CustomCodec: Debug + Send + Sync {
    /// Encodes a chunk.
    ///
    /// # Errors
    /// `Unsupported` for bytes that cannot be encoded.
    fn encode(&self, input: &[u8]) -> Result<Vec<u8>, CodecError>;

    /// Decodes a chunk, which has at most `limit` bytes. The input may come from anywhere: do not trust any length in
    /// it, and do not allocate more than about `limit` bytes.
    ///
    /// # Errors
    /// `Malformed` if the input is damaged, `Limit` if it decodes to more than `limit` bytes.
    fn decode(&self, input: &[u8], limit: usize) -> Result<Vec<u8>, CodecError>;
}

/// The codecs that a program registered.
#[derive(Debug, Clone, Default)]
pub(crate) struct CustomCodecs(Vec<Arc<dyn CodecFactory>>);

impl CustomCodecs {
    /// Adds one.
    ///
    /// # Errors
    /// `Malformed` if another codec has its name or number.
    pub(crate) fn add(&mut self, factory: Arc<dyn CodecFactory>) -> Result<(), CodecError> {
        let name = factory.name();
        if name.is_empty() {
            return Err(CodecError::malformed(name, "a codec needs a name"));
        }
        let by_name = [CodecSpace::V2, CodecSpace::V3].map(|space| named(name, space));
        let by_number = factory.hdf5_id().map(|id| CodecSpec::hdf5(id, &[]));
        for spec in by_name.iter().chain(&by_number) {
            if names::find(spec).is_some() || self.find(spec).is_some() {
                let taken = format!("{:?} is the name or number of another codec", spec.identifier());
                return Err(CodecError::malformed(name, taken));
            }
        }
        self.0.push(factory);
        Ok(())
    }

    /// The codec that a description names.
    pub(crate) fn find(&self, spec: &CodecSpec) -> Option<&dyn CodecFactory> {
        let is_meant = |factory: &&Arc<dyn CodecFactory>| match spec {
            CodecSpec::Hdf5 { id, .. } => factory.hdf5_id() == Some(*id),
            CodecSpec::V2(_) | CodecSpec::V3 { .. } => factory.name() == spec.identifier(),
        };
        self.0.iter().find(is_meant).map(AsRef::as_ref)
    }

    /// The codec for a description, if it is a custom one.
    ///
    /// # Errors
    /// As [`CodecFactory::bind`].
    pub(crate) fn bind(
        &self,
        spec: &CodecSpec,
        chunk: &ChunkInfo,
    ) -> Option<Result<Arc<dyn Codec>, CodecError>> {
        let factory = self.find(spec)?;
        let codec = configuration(factory, spec).and_then(|members| factory.bind(&members, chunk));
        let name = factory.name().to_owned();
        Some(codec.map(|codec| Arc::new(BoundCustomCodec { name, codec }) as Arc<dyn Codec>))
    }

    /// A description in another name space, if it is of a custom codec.
    ///
    /// # Errors
    /// `Unsupported` if it has no number in HDF5, `Malformed` if its parameters are invalid.
    pub(crate) fn translate(
        &self,
        spec: &CodecSpec,
        to: CodecSpace,
    ) -> Option<Result<CodecSpec, CodecError>> {
        let factory = self.find(spec)?;
        Some(match to {
            _ if spec.space() == to => Ok(spec.clone()),
            CodecSpace::Hdf5 => client_data(factory, spec),
            CodecSpace::V2 | CodecSpace::V3 => {
                configuration(factory, spec).map(|members| with_members(named(factory.name(), to), members))
            }
        })
    }

    /// The entry of the codec that a description names.
    pub(crate) fn entry(&self, spec: &CodecSpec) -> Option<CodecEntry> {
        self.find(spec).map(entry)
    }

    /// The entries of all custom codecs.
    pub(crate) fn entries(&self) -> impl Iterator<Item = CodecEntry> {
        self.0.iter().map(|factory| entry(factory.as_ref()))
    }
}

fn entry(factory: &dyn CodecFactory) -> CodecEntry {
    CodecEntry {
        name: factory.name().to_owned(),
        hdf5: factory.hdf5_id(),
        v2: vec![factory.name().to_owned()],
        v3: vec![factory.name().to_owned()],
        parameters: factory.members().iter().map(|member| (*member).to_owned()).collect(),
        origin: CodecOrigin::Program,
        decodes: true,
        encodes: factory.encodes(),
        needs_complete_parameters: false,
    }
}

/// A description in Zarr without members.
fn named(name: &str, space: CodecSpace) -> CodecSpec {
    match space {
        CodecSpace::V3 => CodecSpec::v3(name),
        _ => CodecSpec::V2(Map::from_iter([("id".to_owned(), Value::from(name))])),
    }
}

fn with_members(spec: CodecSpec, members: Map<String, Value>) -> CodecSpec {
    match spec {
        CodecSpec::V2(mut map) => {
            map.extend(members);
            CodecSpec::V2(map)
        }
        CodecSpec::V3 { name, .. } => CodecSpec::V3 { name, configuration: members },
        spec @ CodecSpec::Hdf5 { .. } => spec,
    }
}

/// The members of the configuration, from a description of any format.
fn configuration(factory: &dyn CodecFactory, spec: &CodecSpec) -> Result<Map<String, Value>, CodecError> {
    match spec {
        CodecSpec::Hdf5 { parameters, .. } => {
            let members = factory.members();
            if parameters.len() > members.len() {
                let reason = format!("{} parameters, and it has {}", parameters.len(), members.len());
                return Err(CodecError::malformed(factory.name(), reason));
            }
            let member = |(name, value): (&&str, &u32)| ((*name).to_owned(), Value::from(*value));
            Ok(members.iter().zip(parameters).map(member).collect())
        }
        CodecSpec::V2(map) => {
            let own = map.iter().filter(|(key, _)| *key != "id");
            Ok(own.map(|(key, value)| (key.clone(), value.clone())).collect())
        }
        CodecSpec::V3 { configuration, .. } => Ok(configuration.clone()),
    }
}

/// The description for HDF5: the members up to the first missing one.
fn client_data(factory: &dyn CodecFactory, spec: &CodecSpec) -> Result<CodecSpec, CodecError> {
    let nameless = || CodecError::unsupported(factory.name(), "it has no number in HDF5");
    let id = factory.hdf5_id().ok_or_else(nameless)?;
    let members = configuration(factory, spec)?;
    let given = factory.members().iter().map_while(|name| Some((*name, members.get(*name)?)));
    let number = |(name, value): (&str, &Value)| {
        let number = value.as_u64().and_then(|number| u32::try_from(number).ok());
        number.ok_or_else(|| {
            CodecError::malformed(
                factory.name(),
                format!("{name} is {value}, which is not an unsigned integer below 2^32"),
            )
        })
    };
    let parameters: Vec<u32> = given.map(number).collect::<Result<_, _>>()?;
    if parameters.len() < members.len() {
        let unknown = "it has members that its parameters in HDF5 cannot hold";
        return Err(CodecError::unsupported(factory.name(), unknown));
    }
    Ok(CodecSpec::hdf5(id, &parameters))
}

/// A custom codec in a chain.
#[derive(Debug)]
struct BoundCustomCodec {
    name: String,
    codec: Arc<dyn CustomCodec>,
}

impl BoundCustomCodec {
    /// The output of the codec, checked against its limit.
    fn decoded(&self, input: &[u8], limit: usize) -> Result<Vec<u8>, CodecError> {
        let decoded = self.codec.decode(input, limit)?;
        if decoded.len() > limit {
            return Err(CodecError::limit(&self.name, limit));
        }
        Ok(decoded)
    }
}

impl Codec for BoundCustomCodec {
    fn name(&self) -> &str {
        &self.name
    }

    fn decode_into(
        &self,
        input: &[u8],
        out: &mut [u8],
        _: &mut LibraryContexts,
    ) -> Result<usize, CodecError> {
        // With slightly more room, a chunk that is too long is distinguished from one that is far too long.
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
        out.set(self.codec.encode(input)?);
        Ok(())
    }
}

#[cfg(test)]
mod tests;

//! Codecs that are declared in JSON, for filters whose library defines no codec.
//!
//! ```json
//! { "hdf5": 32017, "codec": "sz", "v3": "sz", "complete": true,
//!   "parameters": ["mode", {"name": "bound", "type": "f64", "default": 0.1}, {"name": "size", "from": "element-size"}] }
//! ```
use crate::parameters::CodecParameters;
use crate::{ChunkInfo, CodecError};
use serde_json::{Map, Value};

/// A filter's names and parameters in Zarr.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct DeclaredCodec {
    pub(super) hdf5: u32,
    pub(super) v2: String,
    pub(super) v3: String,
    /// Whether the filter needs no other parameters.
    pub(super) complete: bool,
    parameters: Vec<DeclaredParameter>,
}

#[derive(Debug, Clone, PartialEq)]
struct DeclaredParameter {
    name: String,
    ty: ParameterType,
    source: ParameterSource,
}

/// How a parameter is stored in 32-bit words; those of 64 bits take two, the lower first (docs/spec/nczarr.md 11.11).
#[derive(Debug, Clone, Copy, PartialEq)]
enum ParameterType {
    Unsigned,
    Signed,
    Float,
    UnsignedLong,
    SignedLong,
    Double,
    /// All remaining words.
    Words,
}

/// The source of a parameter.
#[derive(Debug, Clone, PartialEq)]
enum ParameterSource {
    /// A member of the codec's JSON; required if it has no default.
    Member(Option<Value>),
    ElementSize,
    ChunkBytes,
    ChunkElements,
    Rank,
    ChunkShape,
}

/// All declarations of a file: an object or an array of objects.
///
/// # Errors
/// Which declaration is invalid, and why.
pub(super) fn parse(json: &str) -> Result<Vec<DeclaredCodec>, String> {
    match serde_json::from_str(json).map_err(|error| format!("not JSON: {error}"))? {
        Value::Array(declarations) => declarations.iter().map(DeclaredCodec::parse).collect(),
        declaration => DeclaredCodec::parse(&declaration).map(|declared| vec![declared]),
    }
}

impl DeclaredCodec {
    fn parse(json: &Value) -> Result<Self, String> {
        let map = json.as_object().ok_or("a declaration must be an object")?;
        if let Some(key) = map.keys().find(|key| !MEMBERS.contains(&key.as_str())) {
            return Err(format!("member {key:?} is not known"));
        }
        let hdf5 = map.get("hdf5").and_then(Value::as_u64).and_then(|id| u32::try_from(id).ok());
        let hdf5 =
            hdf5.filter(|id| (1..=65535).contains(id)).ok_or("\"hdf5\" must be the number of a filter")?;
        let v2 = name(map, "codec")?.ok_or("\"codec\" must be the name of the codec")?;
        let v3 = name(map, "v3")?.unwrap_or_else(|| v2.clone());
        let complete = match map.get("complete") {
            None => false,
            Some(value) => value.as_bool().ok_or("\"complete\" must be true or false")?,
        };
        let parameters = match map.get("parameters") {
            None => vec![DeclaredParameter {
                name: "parameters".into(),
                ty: ParameterType::Words,
                source: NO_WORDS,
            }],
            Some(list) => DeclaredParameter::parse_all(list)?,
        };
        Ok(Self { hdf5, v2, v3, complete, parameters })
    }

    /// The names of its parameters.
    pub(super) fn parameter_names(&self) -> impl Iterator<Item = &str> {
        self.parameters.iter().map(|parameter| parameter.name.as_str())
    }

    /// Parameters for the members of a codec.
    ///
    /// # Errors
    /// Which member is missing or has an invalid value, or what must be known about the chunk.
    pub(super) fn to_parameters(
        &self,
        members: &Map<String, Value>,
        chunk: &ChunkInfo,
    ) -> Result<Vec<u32>, CodecError> {
        let members = CodecParameters::new(&self.v2, members);
        let mut words = Vec::new();
        for parameter in &self.parameters {
            parameter.put(members, chunk, &mut words)?;
        }
        Ok(words)
    }

    /// Members of the codec for parameters, without those that follow from the chunk.
    ///
    /// # Errors
    /// If there are more or fewer parameters than are declared.
    pub(super) fn to_members(&self, mut words: &[u32]) -> Result<Map<String, Value>, CodecError> {
        let mut members = Map::new();
        let given = words.len();
        let wrong =
            || CodecError::malformed(&self.v2, format!("{given} parameters do not fit the declaration"));
        for parameter in &self.parameters {
            if words.is_empty() && matches!(parameter.source, ParameterSource::Member(Some(_))) {
                continue;
            }
            let (value, rest) = parameter.take(words).ok_or_else(wrong)?;
            words = rest;
            if let (Some(value), ParameterSource::Member(_)) = (value, &parameter.source) {
                members.insert(parameter.name.clone(), value);
            }
        }
        if words.is_empty() { Ok(members) } else { Err(wrong()) }
    }
}

const MEMBERS: [&str; 5] = ["hdf5", "codec", "v3", "complete", "parameters"];
const NO_WORDS: ParameterSource = ParameterSource::Member(Some(Value::Array(Vec::new())));

fn name(map: &Map<String, Value>, key: &str) -> Result<Option<String>, String> {
    match map.get(key) {
        None => Ok(None),
        Some(Value::String(name)) if !name.is_empty() => Ok(Some(name.clone())),
        Some(other) => Err(format!("{key:?} must be a name, not {other}")),
    }
}

impl DeclaredParameter {
    fn parse_all(list: &Value) -> Result<Vec<Self>, String> {
        let list = list.as_array().ok_or("\"parameters\" must be a list")?;
        let parameters = list.iter().map(Self::parse).collect::<Result<Vec<_>, _>>()?;
        for (at, parameter) in parameters.iter().enumerate() {
            let before = parameters.get(..at).unwrap_or_default();
            if parameter.name == "id" || before.iter().any(|other| other.name == parameter.name) {
                return Err(format!("parameter {:?} cannot have that name", parameter.name));
            }
            if parameter.takes_rest() && at + 1 < parameters.len() {
                return Err(format!("parameter {:?} must be the last", parameter.name));
            }
        }
        Ok(parameters)
    }

    fn parse(json: &Value) -> Result<Self, String> {
        let map = match json {
            Value::String(name) if !name.is_empty() => {
                return Ok(Self {
                    name: name.clone(),
                    ty: ParameterType::Unsigned,
                    source: ParameterSource::Member(None),
                });
            }
            Value::Object(map) => map,
            other => return Err(format!("a parameter must be a name or an object, not {other}")),
        };
        if let Some(key) = map.keys().find(|key| !["name", "type", "default", "from"].contains(&key.as_str()))
        {
            return Err(format!("member {key:?} of a parameter is not known"));
        }
        let own = name(map, "name")?.ok_or("a parameter must have a name")?;
        let ty = match name(map, "type")?.as_deref() {
            None | Some("u32") => ParameterType::Unsigned,
            Some("i32") => ParameterType::Signed,
            Some("f32") => ParameterType::Float,
            Some("u64") => ParameterType::UnsignedLong,
            Some("i64") => ParameterType::SignedLong,
            Some("f64") => ParameterType::Double,
            Some("words") => ParameterType::Words,
            Some(other) => return Err(format!("the type {other:?} of parameter {own:?} is not known")),
        };
        let source = match name(map, "from")?.as_deref() {
            None => ParameterSource::Member(map.get("default").cloned()),
            Some("element-size") => ParameterSource::ElementSize,
            Some("chunk-bytes") => ParameterSource::ChunkBytes,
            Some("chunk-elements") => ParameterSource::ChunkElements,
            Some("rank") => ParameterSource::Rank,
            Some("chunk-shape") => ParameterSource::ChunkShape,
            Some(other) => {
                return Err(format!("{other:?}, where parameter {own:?} comes from, is not known"));
            }
        };
        let parameter = Self { name: own, ty, source };
        // A default is checked here, not when a dataset without the member is opened.
        if let ParameterSource::Member(Some(default)) = &parameter.source {
            let members = Map::from_iter([(parameter.name.clone(), default.clone())]);
            let put = parameter.put_member(CodecParameters::new("default", &members), None, &mut Vec::new());
            put.map_err(|_| format!("parameter {:?} cannot be {default}", parameter.name))?;
        }
        Ok(parameter)
    }

    fn takes_rest(&self) -> bool {
        self.ty == ParameterType::Words || self.source == ParameterSource::ChunkShape
    }

    /// Appends its words.
    fn put(
        &self,
        members: CodecParameters,
        chunk: &ChunkInfo,
        words: &mut Vec<u32>,
    ) -> Result<(), CodecError> {
        let unknown = |what: &str| CodecError::unsupported(members.codec(), format!("it needs {what}"));
        let element = || chunk.element.byte_len.ok_or_else(|| unknown("elements of fixed size"));
        let shape = || match chunk.shape.as_slice() {
            [] => Err(unknown("to know the shape of the chunks")),
            shape => Ok(shape),
        };
        let count =
            || shape().map(|shape| shape.iter().fold(1u64, |product, len| product.saturating_mul(*len)));
        let numbers = match &self.source {
            ParameterSource::Member(default) => return self.put_member(members, default.as_ref(), words),
            ParameterSource::ElementSize => vec![element()? as u64],
            ParameterSource::ChunkBytes => vec![count()?.saturating_mul(element()? as u64)],
            ParameterSource::ChunkElements => vec![count()?],
            ParameterSource::Rank => vec![shape()?.len() as u64],
            ParameterSource::ChunkShape => shape()?.to_vec(),
        };
        for number in numbers {
            let number = Value::from(number);
            self.put_value(&number, words).ok_or_else(|| members.bad(&self.name, &number))?;
        }
        Ok(())
    }

    fn put_member(
        &self,
        members: CodecParameters,
        default: Option<&Value>,
        words: &mut Vec<u32>,
    ) -> Result<(), CodecError> {
        let value = members.get(&self.name).or(default).ok_or_else(|| members.missing(&self.name))?;
        self.put_value(value, words).ok_or_else(|| members.bad(&self.name, value))
    }

    fn put_value(&self, value: &Value, words: &mut Vec<u32>) -> Option<()> {
        // Some writers also store numbers as text (docs/spec/nczarr.md 11.2).
        let parsed = value.as_str().and_then(|text| serde_json::from_str(text.trim()).ok());
        let value = parsed.as_ref().unwrap_or(value);
        match self.ty {
            ParameterType::Unsigned => words.push(u32::try_from(value.as_u64()?).ok()?),
            ParameterType::Signed => words.push(i32::try_from(value.as_i64()?).ok()?.cast_unsigned()),
            ParameterType::Float => words.push(single(value.as_f64()?).to_bits()),
            ParameterType::UnsignedLong => words.extend(halves(value.as_u64()?)),
            ParameterType::SignedLong => words.extend(halves(value.as_i64()?.cast_unsigned())),
            ParameterType::Double => words.extend(halves(value.as_f64()?.to_bits())),
            ParameterType::Words => {
                for word in value.as_array()? {
                    words.push(u32::try_from(word.as_u64()?).ok()?);
                }
            }
        }
        Some(())
    }

    /// Its value (none if JSON has no such number) and the remaining words.
    fn take<'w>(&self, words: &'w [u32]) -> Option<(Option<Value>, &'w [u32])> {
        if self.takes_rest() {
            return Some((Some(Value::from(words.to_vec())), &[]));
        }
        let (low, rest) = words.split_first()?;
        let long = |value: fn(u64) -> Value| {
            let (high, rest) = rest.split_first()?;
            Some((Some(value(u64::from(*high) << 32 | u64::from(*low))), rest))
        };
        match self.ty {
            ParameterType::Unsigned | ParameterType::Words => Some((Some(Value::from(*low)), rest)),
            ParameterType::Signed => Some((Some(Value::from(low.cast_signed())), rest)),
            ParameterType::Float => Some((Some(Value::from(shortest(f32::from_bits(*low)))), rest)),
            ParameterType::UnsignedLong => long(Value::from),
            ParameterType::SignedLong => long(|bits| Value::from(bits.cast_signed())),
            ParameterType::Double => long(|bits| Value::from(f64::from_bits(bits))),
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the two halves")]
fn halves(number: u64) -> [u32; 2] {
    [number as u32, (number >> 32) as u32]
}

#[expect(clippy::cast_possible_truncation, reason = "the nearest number of single precision")]
fn single(number: f64) -> f32 {
    number as f32
}

/// The number as people write it: 0.1 rather than 0.10000000149.
fn shortest(number: f32) -> f64 {
    number.to_string().parse().unwrap_or_else(|_| f64::from(number))
}

#[cfg(test)]
mod tests;

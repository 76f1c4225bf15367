//! Encoders as text, for other processes on the same kind of machine.
use super::VariableEncoder;
use crate::convert;
use crate::session::Session;
use crate::write::target::WriteTarget;
use ncirrus_layout::{
    ByteOrder, ChunkGrid, EdgeChunks, Encoding, Error, Result, StoredField, StoredType, base64,
};
use ncirrus_model::{Atomic, CodecSpec, DimensionLen, Field, Model, TypeRef, UserKind, UserType};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// The version, with which the text begins.
const VERSION: u64 = 1;
/// Maximum nesting depth of types.
const DEPTH: u32 = 32;

impl VariableEncoder {
    /// The encoder as text, which [`from_text`](Self::from_text) reads. It names the variable and holds no data except
    /// its fill value.
    ///
    /// # Errors
    /// `Unsupported` for a type that cannot be represented as text.
    pub fn to_text(&self) -> Result<String> {
        let encoding = &self.target.encoding;
        let lacks = || Error::unsupported("an encoder of this type has no text").at_path(self.path());
        let mut fill = vec![0; convert::packed_len(&self.model, self.target.ty)?];
        convert::pack(&self.model, self.target.ty, &encoding.fill, &mut fill)?;
        let text = json!({
            "encoder": VERSION,
            "path": self.path(),
            "order": order_name(ByteOrder::NATIVE),
            "type": type_of(&self.model, self.target.ty, DEPTH).ok_or_else(lacks)?,
            "shape": self.shape,
            "growing": self.target.growing,
            "grid": match &encoding.grid {
                ChunkGrid::Regular(lens) => json!({ "regular": lens }),
                ChunkGrid::Rectilinear(ends) => {
                    json!({ "ends": ends.iter().map(|ends| ends.to_vec()).collect::<Vec<_>>() })
                }
            },
            "clipped": encoding.edge == EdgeChunks::Clipped,
            "stored": stored(&encoding.stored, DEPTH).ok_or_else(lacks)?,
            "codecs": encoding.codecs.iter().map(codec).collect::<Vec<_>>(),
            "fill": base64::encode(&fill),
            "masks": self.takes_masks,
        });
        Ok(text.to_string())
    }

    /// The encoder that a text describes.
    ///
    /// # Errors
    /// `Malformed` if it is not such a text, `Unsupported` if it is from a machine with another byte order, has another
    /// version, or names a codec that this session does not have.
    pub fn from_text(text: &str, session: &Session) -> Result<Self> {
        let text: Value = serde_json::from_str(text)
            .map_err(|error| Error::malformed("the text is no encoder").because(error))?;
        if text.get("encoder").and_then(Value::as_u64) != Some(VERSION) {
            return Err(Error::unsupported("the text is no encoder of this version"));
        }
        if text.get("order").and_then(Value::as_str) != Some(order_name(ByteOrder::NATIVE)) {
            return Err(Error::unsupported("the encoder is of a machine with another byte order"));
        }
        read(&text, session)
    }
}

fn bad(what: &str) -> Error {
    Error::malformed(format!("the encoder's {what} cannot be read"))
}

fn read(text: &Value, session: &Session) -> Result<VariableEncoder> {
    let member = |name: &str| text.get(name).ok_or_else(|| bad(name));
    let path = member("path")?.as_str().ok_or_else(|| bad("path"))?.to_owned();
    let shape = numbers(member("shape")?).ok_or_else(|| bad("shape"))?;
    let growing = member("growing")?.as_array().filter(|list| list.len() == shape.len());
    // Only the variable itself matters to an encoder: names of dimensions and groups are not in the text.
    let mut model = Model::new();
    let ty = define(&mut model, member("type")?, DEPTH)?;
    let mut dims = Vec::with_capacity(shape.len());
    for (axis, (len, grows)) in shape.iter().zip(growing.ok_or_else(|| bad("growing"))?).enumerate() {
        let len = match grows.as_bool() {
            Some(true) => DimensionLen::Unlimited(*len),
            _ => DimensionLen::Fixed(*len),
        };
        dims.push(model.add_dimension(model.root(), &format!("d{axis}"), len)?);
    }
    let var = model.add_variable(model.root(), "v", ty, &dims)?;
    let fill = member("fill")?.as_str().and_then(|fill| base64::decode(fill.as_bytes()));
    let fill = convert::unpack(&model, ty, &fill.ok_or_else(|| bad("fill"))?)?;
    if fill.len() != 1 {
        return Err(bad("fill"));
    }
    let grid = grid(member("grid")?).filter(|grid| grid.rank() == shape.len());
    let codecs = member("codecs")?.as_array().ok_or_else(|| bad("codecs"))?;
    let codecs: Option<Vec<CodecSpec>> = codecs.iter().map(codec_of).collect();
    let encoding = Encoding {
        grid: grid.ok_or_else(|| bad("grid"))?,
        edge: match member("clipped")?.as_bool() {
            Some(true) => EdgeChunks::Clipped,
            Some(false) => EdgeChunks::Full,
            None => return Err(bad("clipped")),
        },
        stored: stored_of(member("stored")?, DEPTH).ok_or_else(|| bad("stored"))?,
        codecs: codecs.ok_or_else(|| bad("codecs"))?.into(),
        fill,
    };
    let (registry, limits) = (session.registry(), session.limits());
    let mut target = WriteTarget::new(&model, var, Arc::new(encoding), registry, limits)?;
    target.path = path;
    let takes_masks = member("masks")?.as_bool().ok_or_else(|| bad("masks"))?;
    VariableEncoder::new(session, Arc::new(model), Arc::new(target), takes_masks)
}

fn numbers(value: &Value) -> Option<Vec<u64>> {
    value.as_array()?.iter().map(Value::as_u64).collect()
}

fn grid(value: &Value) -> Option<ChunkGrid> {
    if let Some(lens) = value.get("regular") {
        return ChunkGrid::regular(numbers(lens)?).ok();
    }
    let lengths = |ends: &Value| {
        let mut before = 0;
        let length = |end: u64| {
            let len = end.checked_sub(before)?;
            before = end;
            Some(len)
        };
        numbers(ends)?.into_iter().map(length).collect::<Option<Vec<u64>>>()
    };
    let lengths: Option<Vec<Vec<u64>>> = value.get("ends")?.as_array()?.iter().map(lengths).collect();
    ChunkGrid::rectilinear(&lengths?).ok()
}

fn type_of(model: &Model, ty: TypeRef, depth: u32) -> Option<Value> {
    let depth = depth.checked_sub(1)?;
    let id = match ty {
        TypeRef::Atomic(atomic) => return Some(json!({ "atomic": atomic.name() })),
        TypeRef::User(id) => id,
    };
    Some(match &model.user_type(id)?.kind {
        // The names of the constants do not affect the bytes.
        UserKind::Enum { base, .. } => json!({ "atomic": base.name() }),
        UserKind::Opaque(len) => json!({ "opaque": len }),
        UserKind::Vlen(_) => return None,
        UserKind::Compound(fields) => {
            let field =
                |field: &Field| Some(json!({ "type": type_of(model, field.ty, depth)?, "dims": field.dims }));
            json!({ "fields": fields.iter().map(field).collect::<Option<Vec<_>>>()? })
        }
    })
}

fn define(model: &mut Model, value: &Value, depth: u32) -> Result<TypeRef> {
    let depth = depth.checked_sub(1).ok_or_else(|| bad("type"))?;
    if let Some(atomic) = value.get("atomic") {
        let atomic = atomic.as_str().and_then(Atomic::from_name);
        return Ok(TypeRef::Atomic(atomic.ok_or_else(|| bad("type"))?));
    }
    let kind = match (value.get("opaque").and_then(Value::as_u64), value.get("fields")) {
        (Some(len), _) => UserKind::Opaque(len),
        (None, Some(Value::Array(list))) => {
            let mut fields = Vec::with_capacity(list.len());
            for (at, field) in list.iter().enumerate() {
                let ty = define(model, field.get("type").ok_or_else(|| bad("type"))?, depth)?;
                let dims = field.get("dims").and_then(numbers).ok_or_else(|| bad("type"))?;
                fields.push(Field { name: format!("f{at}"), ty, dims });
            }
            UserKind::Compound(fields)
        }
        _ => return Err(bad("type")),
    };
    let name = format!("t{}", model.group(model.root()).map_or(0, |root| root.types.len()));
    Ok(TypeRef::User(model.add_type(model.root(), UserType { name, kind })?))
}

fn order_name(order: ByteOrder) -> &'static str {
    match order {
        ByteOrder::Little => "little",
        ByteOrder::Big => "big",
    }
}

fn order_of(value: Option<&Value>) -> Option<ByteOrder> {
    match value?.as_str()? {
        "little" => Some(ByteOrder::Little),
        "big" => Some(ByteOrder::Big),
        _ => None,
    }
}

fn stored(ty: &StoredType, depth: u32) -> Option<Value> {
    let depth = depth.checked_sub(1)?;
    Some(match ty {
        StoredType::Integer { size, signed, order } => {
            json!({ "integer": size, "signed": signed, "order": order_name(*order) })
        }
        StoredType::Float { size, order } => json!({ "float": size, "order": order_name(*order) }),
        StoredType::BFloat16 { order } => json!({ "bfloat16": 2, "order": order_name(*order) }),
        StoredType::Char => json!({ "char": 1 }),
        StoredType::Opaque { byte_len } => json!({ "opaque": byte_len }),
        StoredType::Compound { byte_len, fields } => {
            let field = |field: &StoredField| {
                let stored = stored(&field.stored, depth)?;
                Some(json!({ "at": field.offset, "stored": stored, "count": field.count }))
            };
            json!({ "compound": byte_len, "fields": fields.iter().map(field).collect::<Option<Vec<_>>>()? })
        }
        StoredType::Text { .. }
        | StoredType::Reference { .. }
        | StoredType::Sequence(_)
        | StoredType::Json => {
            return None;
        }
    })
}

fn stored_of(value: &Value, depth: u32) -> Option<StoredType> {
    let depth = depth.checked_sub(1)?;
    let number = |name: &str| value.get(name).and_then(Value::as_u64);
    let size = |name: &str| number(name).and_then(|size| u8::try_from(size).ok());
    let order = || order_of(value.get("order"));
    // The member that is present names the kind of type.
    if let Some(size) = size("integer") {
        let signed = value.get("signed")?.as_bool()?;
        return Some(StoredType::Integer { size, signed, order: order()? });
    }
    if let Some(size) = size("float") {
        return Some(StoredType::Float { size, order: order()? });
    }
    if number("bfloat16").is_some() {
        return Some(StoredType::BFloat16 { order: order()? });
    }
    if number("char").is_some() {
        return Some(StoredType::Char);
    }
    if let Some(byte_len) = number("opaque") {
        return Some(StoredType::Opaque { byte_len });
    }
    let byte_len = number("compound")?;
    let field = |value: &Value| {
        let number = |name: &str| value.get(name).and_then(Value::as_u64);
        let stored = stored_of(value.get("stored")?, depth)?;
        Some(StoredField { offset: number("at")?, stored, count: number("count")? })
    };
    let fields: Option<Vec<StoredField>> = value.get("fields")?.as_array()?.iter().map(field).collect();
    Some(StoredType::Compound { byte_len, fields: fields?.into() })
}

fn codec(spec: &CodecSpec) -> Value {
    match spec {
        CodecSpec::Hdf5 { id, parameters, optional } => {
            json!({ "hdf5": id, "parameters": parameters, "optional": optional })
        }
        CodecSpec::V2(map) => json!({ "v2": map }),
        CodecSpec::V3 { name, configuration } => json!({ "v3": name, "configuration": configuration }),
    }
}

fn codec_of(value: &Value) -> Option<CodecSpec> {
    let map = |name: &str| -> Option<Map<String, Value>> { value.get(name)?.as_object().cloned() };
    if let Some(id) = value.get("hdf5") {
        let parameters = numbers(value.get("parameters")?)?;
        return Some(CodecSpec::Hdf5 {
            id: u32::try_from(id.as_u64()?).ok()?,
            parameters: parameters
                .into_iter()
                .map(|number| u32::try_from(number).ok())
                .collect::<Option<_>>()?,
            optional: value.get("optional")?.as_bool()?,
        });
    }
    if let Some(map) = map("v2") {
        return Some(CodecSpec::V2(map));
    }
    let name = value.get("v3")?.as_str()?.to_owned();
    Some(CodecSpec::V3 { name, configuration: map("configuration")? })
}

//! How one variable is stored: decided when it is defined, and kept from then on.
use super::stored::{ElementForm, FixedString, FormOf};
use super::{ZarrWriter, chunking, element, extended, shard_shape};
use crate::chunk_key::{ChunkKeys, KeySeparator};
use crate::read::array::ShardingLayout;
use crate::{Dialect, special};
use ncirrus_layout::{
    ByteOrder, ChunkGrid, EdgeChunks, Encoding, Error, Result, Sharding, StoredType, TextEncoding, base64,
};
use ncirrus_model::{
    Atomic, CodecSpec, Endianness, Fill, Model, TypeRef, UserKind, Values, VarId, Variable, default_fill,
};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// How one variable is stored.
#[derive(Debug, Clone)]
pub(crate) struct VariablePlan {
    /// Key of the array below the root of the dataset.
    pub(crate) key: String,
    /// What the engine needs to know.
    pub(crate) encoding: Arc<Encoding>,
    /// Names of the chunks, or of the shards that they share.
    pub(crate) keys: ChunkKeys,
    /// How the chunks share objects.
    pub(crate) shards: Option<Arc<dyn Sharding>>,
    /// How the metadata describe the array.
    pub(crate) array: ArrayForm,
    /// Whether chunks were added to the grid that the metadata describe.
    pub(crate) is_extended: bool,
}

impl VariablePlan {
    /// Replaces the grid by one that has more chunks.
    pub(crate) fn extend_grid(&mut self, grid: ChunkGrid) {
        Arc::make_mut(&mut self.encoding).grid = grid;
        self.is_extended = true;
    }

    /// Replaces the shards by more of them.
    pub(crate) fn extend_shards(&mut self, shards: Arc<dyn Sharding>) {
        self.shards = Some(shards);
        self.is_extended = true;
    }

    /// Whether chunks or shards have different lengths, so that those of a longer array are added one by one.
    pub(crate) fn is_uneven(&self) -> bool {
        let is_regular = |grid: &ChunkGrid| matches!(grid, ChunkGrid::Regular(_));
        !is_regular(&self.encoding.grid)
            || self.shards.as_ref().is_some_and(|shards| !is_regular(shards.shards()))
    }

    /// Adds chunks and shards of different lengths, so that they reach to the end of an array of that shape.
    ///
    /// # Errors
    /// `Limit` if an axis gets too many.
    pub(crate) fn reach(&mut self, shape: &[u64]) -> Result<()> {
        if let Some(grid) = self.encoding.grid.reaching(shape)? {
            self.extend_grid(grid);
        }
        let shards = self.shards.as_ref().map(|shards| shards.reaching(&self.encoding.grid.counts(shape)));
        if let Some(shards) = shards.transpose()?.flatten() {
            self.extend_shards(shards);
        }
        Ok(())
    }

    /// The grid that the metadata describe: that of the chunks, or of the shards that they share.
    pub(crate) fn object_grid(&self) -> Result<ChunkGrid> {
        let is_uneven = |shards: &&Arc<dyn Sharding>| matches!(shards.shards(), ChunkGrid::Rectilinear(_));
        let Some(shards) = self.shards.as_ref().filter(is_uneven) else {
            return Ok(self.encoding.grid.clone());
        };
        let ends = |axis: usize| -> Option<Vec<u64>> {
            let spans =
                (0..shards.shards().cells_along(axis, u64::MAX)).map(|at| shards.shards().span(axis, at));
            spans.map(|span| Some(self.encoding.grid.span(axis, span?.end.checked_sub(1)?)?.end)).collect()
        };
        let axes: Option<Vec<Arc<[u64]>>> =
            (0..self.encoding.grid.rank()).map(|axis| Some(ends(axis)?.into())).collect();
        axes.map(ChunkGrid::Rectilinear).ok_or_else(|| Error::limit("shards that end beyond 2^64 elements"))
    }
}

/// How the metadata describe an array.
#[derive(Debug, Clone)]
pub(crate) enum ArrayForm {
    /// As chosen by this writer.
    New(Box<NewArray>),
    /// As it was when the dataset was opened for update.
    Kept {
        /// Whether `_nczarr_group` lists it.
        listed: bool,
        /// Whether it names its dimensions by xarray's convention.
        names_dimensions: bool,
    },
}

/// An array with the storage chosen by this writer.
#[derive(Debug, Clone)]
pub(crate) struct NewArray {
    pub(crate) form: ElementForm,
    pub(crate) fill: Value,
    /// The fill value as zarr-python reads it, for the consolidated copy.
    pub(crate) copied_fill: Value,
    pub(crate) chunks: Vec<u64>,
    /// The shape of a shard, and its form.
    pub(crate) shards: Option<(Vec<u64>, ShardingLayout)>,
    /// v2: the list `filters`, then `compressor`; v3: `codecs`.
    pub(crate) codecs: Vec<Value>,
    pub(crate) compressor: Value,
}

impl ArrayForm {
    /// Whether the reference has a type for the array.
    pub(crate) fn is_listed(&self) -> bool {
        match self {
            Self::New(array) => array.form.listed,
            Self::Kept { listed, .. } => *listed,
        }
    }
}

/// Decides how a new variable is stored.
///
/// # Errors
/// `Invalid` or `Unsupported` with what cannot be stored.
pub(crate) fn plan(writer: &ZarrWriter, model: &Model, var: VarId, key: String) -> Result<VariablePlan> {
    let Some(variable) = model.variable(var) else { return Err(Error::internal("no such variable")) };
    let is_early = is_early(writer.dialect);
    let order = match variable.endianness {
        // Readers of the early dialects swap the bytes of big-endian numbers once too often.
        Endianness::Big if !is_early => ByteOrder::Big,
        Endianness::Big | Endianness::Native | Endianness::Little => ByteOrder::Little,
    };
    let order = order_of_codec(&variable.filters).unwrap_or(order);
    let fixed = fixed_string(writer, model, var, variable)?;
    let extended = extended::kept(variable);
    let form = FormOf { model, dialect: writer.dialect, order, fixed }.of(variable.ty, extended)?;
    // The size of a string is that of the reference: a pointer (docs/spec/nczarr.md 4.5).
    let mut chunks =
        chunking::chunk_shape(model, var, form.stored.byte_len().unwrap_or(8), writer.chunk_bytes)?;
    if is_early {
        // They have no unlimited dimensions, and chunks no longer than a dimension.
        let shape = model.shape(var);
        chunks
            .iter_mut()
            .zip(shape)
            .filter(|(_, len)| *len > 0)
            .for_each(|(chunk, len)| *chunk = len.min(*chunk));
    }
    let shards =
        shard_shape::shards((writer.dialect, model), var, &chunks, form.stored.byte_len().unwrap_or(8))?;
    // The reference refuses a dataset in which a scalar has filters.
    let filters = if model.shape(var).is_empty() { &[] } else { variable.filters.as_slice() };
    let own = own_fill(model, variable)?;
    let is_bool = matches!(form.data_type.as_str(), Some("bool" | "|b1"));
    let own = if is_bool { Some(boolean(own.as_ref())) } else { own };
    let (fill, copied_fill) = fill_value(writer.dialect, model, variable, &form, own.as_ref());
    let (mut codecs, compressor) = codecs(writer.dialect, &form, order, filters)?;
    let (fill, copied_fill) = match &form.packed {
        Some((packing, fill)) => {
            codecs.splice(..0, packing.iter().cloned());
            (fill.clone(), fill.clone())
        }
        None => (fill, copied_fill),
    };
    let default = default_element(model, variable.ty);
    let encoding = Encoding {
        grid: grid(writer.dialect, model, var, &chunks)?,
        edge: EdgeChunks::Full,
        stored: form.stored.clone(),
        codecs: engine_codecs(&form, filters, order).into(),
        fill: own.or(default).ok_or_else(|| Error::invalid("the variable's type is not defined"))?,
    };
    let keys = chunk_keys(writer);
    let sharding = shards.clone().map(|(_, form)| Arc::new(form) as Arc<dyn Sharding>);
    let array = NewArray { form, fill, copied_fill, chunks, shards, codecs, compressor };
    let array = ArrayForm::New(Box::new(array));
    Ok(VariablePlan { key, encoding: Arc::new(encoding), keys, shards: sharding, array, is_extended: false })
}

/// The grid of the chunks: of different lengths only in Zarr v3, for variables that have such lengths for all their elements.
fn grid(dialect: Dialect, model: &Model, var: VarId, chunks: &[u64]) -> Result<ChunkGrid> {
    let variable = model.variable(var);
    let lengths = variable.and_then(Variable::irregular_chunks);
    if lengths.is_some() && variable.is_some_and(|variable| variable.shards.is_some()) {
        return Err(Error::unsupported("shards of chunks of different lengths"));
    }
    let shape = model.shape(var);
    let covers = |lengths: &[Vec<u64>]| {
        let end = |lengths: &[u64]| lengths.iter().try_fold(0u64, |end, len| end.checked_add(*len));
        lengths.len() == shape.len()
            && lengths.iter().zip(&shape).all(|(lengths, len)| end(lengths).is_some_and(|end| end >= *len))
    };
    match lengths.filter(|lengths| dialect.zarr_format() == 3 && covers(lengths)) {
        Some(lengths) => ChunkGrid::rectilinear(lengths),
        None => ChunkGrid::regular(chunks.to_vec()),
    }
}

/// Dialects of netCDF-C 4.8.1 to 4.9.2.
fn is_early(dialect: Dialect) -> bool {
    matches!(dialect, Dialect::UpperCase | Dialect::UpperCaseXarray | Dialect::LowerCase)
}

fn chunk_keys(writer: &ZarrWriter) -> ChunkKeys {
    let is_v3 = writer.dialect.zarr_format() == 3;
    let separator = if writer.slash.unwrap_or(is_v3) { KeySeparator::Slash } else { KeySeparator::Dot };
    if is_v3 { ChunkKeys::v3(separator) } else { ChunkKeys::v2(separator) }
}

/// Length of a variable's strings: its attribute's, the caller's for the variable, the root's, or the caller's for
/// all (docs/spec/nczarr.md 3.12).
fn fixed_string(
    writer: &ZarrWriter,
    model: &Model,
    var: VarId,
    variable: &Variable,
) -> Result<Option<FixedString>> {
    if variable.ty != TypeRef::Atomic(Atomic::String) {
        return Ok(None);
    }
    let length = |attributes: &ncirrus_model::AttributeState, name: &str| -> Result<Option<FixedString>> {
        let Some(attribute) = attributes.known().and_then(|known| known.find(name)) else { return Ok(None) };
        let value = attribute.values.integer(0).and_then(|value| u64::try_from(value).ok());
        match value.filter(|value| (1..=u64::from(u32::MAX)).contains(value)) {
            Some(byte_len) => Ok(Some(FixedString { byte_len, has_nulls: true, is_utf8: false })),
            None => Err(Error::invalid(format!("attribute {name:?} is not a length"))),
        }
    };
    let own = length(&variable.attributes, special::MAX_STRING_LEN)?;
    match (writer.string_lengths.get(&model.variable_path(var)), own) {
        (Some(None), _) => return Ok(None),
        (Some(Some(given)), Some(own)) => {
            return Ok(Some(FixedString { byte_len: own.byte_len, ..*given }));
        }
        (Some(Some(given)), None) => return Ok(Some(*given)),
        (None, Some(own)) => return Ok(Some(own)),
        (None, None) => {}
    }
    let usual = match model.group(model.root()) {
        Some(root) => length(&root.attributes, special::DEFAULT_MAX_STRING_LEN)?,
        None => None,
    };
    Ok(usual.or(writer.fixed_strings))
}

/// The variable's own fill value, from its description or its attribute.
fn own_fill(model: &Model, variable: &Variable) -> Result<Option<Values>> {
    let attribute = variable.attributes.known().and_then(|known| known.find(special::FILL_VALUE));
    let own = match (variable.own_fill(), attribute) {
        (Some(own), _) => own,
        // It has another length, which is an error below.
        (None, Some(attribute)) if variable.fill == Fill::Attribute && attribute.ty == variable.ty => {
            &attribute.values
        }
        _ => return Ok(None),
    };
    let fits = match model.base_atomic(variable.ty) {
        Some(atomic) => own.atomic() == Some(atomic),
        None => true,
    };
    if own.len() != 1 || !fits {
        return Err(Error::invalid(format!(
            "the fill value of {:?} is not one value of its type",
            variable.name
        )));
    }
    Ok(Some(own.clone()))
}

/// `fill_value` in the array's own document and in the consolidated copy (docs/spec/nczarr.md 3.11).
fn fill_value(
    dialect: Dialect,
    model: &Model,
    variable: &Variable,
    form: &ElementForm,
    own: Option<&Values>,
) -> (Value, Value) {
    let is_v3 = dialect.zarr_format() == 3;
    let twice = |value: Value| (value.clone(), value);
    let is_unfilled = own.is_none() && !variable.is_filled() && !is_v3;
    if is_unfilled && matches!(variable.ty, TypeRef::Atomic(_)) {
        return twice(Value::Null);
    }
    if form.framing.is_some() {
        return twice(framed_fill(own));
    }
    if is_unfilled {
        return twice(Value::Null);
    }
    let values = own.cloned().or_else(|| default_element(model, variable.ty));
    let Some(values) = values else { return twice(Value::Null) };
    match &form.stored {
        StoredType::Integer { size: 1, .. } if matches!(form.data_type.as_str(), Some("bool" | "|b1")) => {
            twice(json!(values.integer(0) == Some(1)))
        }
        StoredType::Char => char_fill(dialect, &values),
        StoredType::Text { encoding: TextEncoding::Utf32(_), .. } => twice(framed_fill(Some(&values))),
        StoredType::Compound { .. } if is_v3 && element::has_text(&form.stored) => {
            let packed = element::stored_bytes(&values, &form.stored);
            twice(packed.map_or(Value::Null, |bytes| json!(base64::encode(&bytes))))
        }
        StoredType::Text { .. } => text_fill(dialect, &values),
        // xarray cannot decode a v2 dataset in which such an array has a fill value; the attribute has it.
        StoredType::Opaque { .. } | StoredType::Compound { .. } if !is_v3 => twice(Value::Null),
        StoredType::Compound { .. } if is_complex(model, variable.ty) => {
            let parts = match &values {
                Values::Compound { fields, .. } => {
                    fields.iter().map(|part| element::fill_number(part, 8, is_v3)).collect()
                }
                _ => None,
            };
            twice(parts.map_or(Value::Null, Value::Array))
        }
        StoredType::Opaque { .. } | StoredType::Compound { .. } => {
            let mut bytes = Vec::new();
            let packed = element::pack(model, variable.ty, &values, 0, &mut bytes);
            twice(packed.map_or(Value::Null, |()| json!(base64::encode(&bytes))))
        }
        stored => {
            let len = stored.byte_len().unwrap_or(8);
            twice(element::fill_number(&values, len, is_v3).unwrap_or(Value::Null))
        }
    }
}

/// A fill value that is true or false: netCDF's default is neither.
fn boolean(own: Option<&Values>) -> Values {
    let is_true = own.and_then(|own| own.integer(0)) == Some(1);
    Values::UByte(vec![u8::from(is_true)])
}

/// Whether elements are complex numbers.
fn is_complex(model: &Model, ty: TypeRef) -> bool {
    let TypeRef::User(id) = ty else { return false };
    matches!(model.user_type(id).map(|ty| &ty.kind), Some(UserKind::Compound(fields))
        if super::stored::complex_part(fields).is_some())
}

/// The value of elements that were never written: the default of atomic types, zero of others.
fn default_element(model: &Model, ty: TypeRef) -> Option<Values> {
    match ty {
        TypeRef::Atomic(atomic) => Some(default_fill(atomic)),
        TypeRef::User(_) => element::zero(model, ty),
    }
}

/// The fill value of elements without fixed size: text, or nothing.
fn framed_fill(own: Option<&Values>) -> Value {
    let text = match own {
        Some(Values::String(strings)) => strings.get(0).and_then(|text| std::str::from_utf8(text).ok()),
        _ => None,
    };
    json!(text.unwrap_or_default())
}

fn char_fill(dialect: Dialect, values: &Values) -> (Value, Value) {
    let byte = values.as_bytes().and_then(|bytes| bytes.first().copied()).unwrap_or(0);
    let bytes = if byte == 0 { &[][..] } else { &[byte][..] };
    let encoded = json!(base64::encode(bytes));
    let plain = if byte.is_ascii() { json!(String::from_utf8_lossy(bytes)) } else { Value::Null };
    if super::stored::char_dtype(dialect).is_some() { (plain, encoded) } else { (encoded.clone(), encoded) }
}

fn text_fill(dialect: Dialect, values: &Values) -> (Value, Value) {
    let bytes = match values {
        Values::String(strings) => strings.get(0).unwrap_or_default(),
        _ => &[],
    };
    let encoded = json!(base64::encode(bytes));
    let plain = std::str::from_utf8(bytes).map_or(Value::Null, |text| json!(text));
    // The reference uses it verbatim.
    if super::stored::char_dtype(dialect).is_some() { (plain, encoded) } else { (encoded.clone(), encoded) }
}

/// The chain that the engine runs: the filters; framing is part of the stored type.
fn engine_codecs(form: &ElementForm, filters: &[CodecSpec], order: ByteOrder) -> Vec<CodecSpec> {
    let stays = |spec: &&CodecSpec| match spec {
        CodecSpec::V3 { name, .. } => !is_array_to_bytes(name),
        _ => !is_framing(form, spec),
    };
    let mut codecs: Vec<CodecSpec> =
        filters.iter().filter(stays).map(|spec| with_element_size(spec, form)).collect();
    let casts = |spec: &CodecSpec| matches!(spec, CodecSpec::V3 { name, .. } if name == "cast_value");
    if order == ByteOrder::Big && codecs.iter().any(casts) {
        // The type that it names has the byte order of the stored bytes.
        let configuration = Map::from_iter([("endian".to_owned(), json!("big"))]);
        codecs.push(CodecSpec::V3 { name: "bytes".to_owned(), configuration });
    }
    codecs
}

/// Whether a codec of v2 says what the type of the values says already: a chain that was read begins with it.
fn is_framing(form: &ElementForm, spec: &CodecSpec) -> bool {
    let CodecSpec::V2(map) = spec else { return false };
    form.framing.is_some() && map.get("id").and_then(Value::as_str) == form.framing
}

/// Shuffle works on elements, whatever element size the caller gave (docs/spec/nczarr.md 11.3).
fn with_element_size(spec: &CodecSpec, form: &ElementForm) -> CodecSpec {
    match (spec, form.stored.byte_len()) {
        (CodecSpec::V2(map), Some(len)) if map.get("id").and_then(Value::as_str) == Some("shuffle") => {
            let mut map = map.clone();
            map.insert("elementsize".to_owned(), json!(len));
            CodecSpec::V2(map)
        }
        // What the codec does not say itself.
        (CodecSpec::V3 { name, configuration }, Some(len)) if name == "packbits" => {
            let mut configuration = configuration.clone();
            let is_complex = matches!(form.stored, StoredType::Compound { .. });
            let bytes = if is_complex { len / 2 } else { len };
            let bits = if form.data_type == json!("bool") { 1 } else { 8 * bytes };
            configuration.insert("component_bytes".to_owned(), json!(bytes));
            configuration.insert("component_bits".to_owned(), json!(bits));
            CodecSpec::V3 { name: name.clone(), configuration }
        }
        _ => spec.clone(),
    }
}

/// v2: `filters` and `compressor`; v3: `codecs` and null (docs/spec/nczarr.md 11.1, 6.2).
fn codecs(
    dialect: Dialect,
    form: &ElementForm,
    order: ByteOrder,
    filters: &[CodecSpec],
) -> Result<(Vec<Value>, Value)> {
    if dialect.zarr_format() == 3 {
        return Ok((v3_codecs(form, order, filters)?, Value::Null));
    }
    let mut list: Vec<Value> = form.framing.map(|id| json!({"id": id})).into_iter().collect();
    let filters: Vec<&CodecSpec> = filters.iter().filter(|spec| !is_framing(form, spec)).collect();
    for spec in &filters {
        match with_element_size(spec, form) {
            CodecSpec::V2(map) => list.push(Value::Object(map)),
            other => return Err(foreign_codec(&other, "v2")),
        }
    }
    let last_compresses = filters.last().is_some_and(|spec| !is_not_compressor(&spec.identifier()));
    let compressor = if last_compresses { list.pop().unwrap_or(Value::Null) } else { Value::Null };
    Ok((list, compressor))
}

fn v3_codecs(form: &ElementForm, order: ByteOrder, filters: &[CodecSpec]) -> Result<Vec<Value>> {
    let mut before = Vec::new();
    let mut after = Vec::new();
    for spec in filters {
        let CodecSpec::V3 { name, configuration } = spec else { return Err(foreign_codec(spec, "v3")) };
        if name == "sharding_indexed" {
            return Err(Error::unsupported(
                "sharding_indexed as a filter: the shape of shards is part of the storage of a variable",
            ));
        }
        if is_array_to_bytes(name) {
            continue;
        }
        let codec = named_codec(name, configuration);
        if is_array_to_array(name) { before.push(codec) } else { after.push(codec) }
    }
    // What compresses elements takes the place of what lays them out.
    let compresses =
        after.first().and_then(|codec| codec.get("name")?.as_str()).is_some_and(compresses_elements);
    let layout = match (form.framing, &form.stored) {
        (Some(framing), _) => json!({"name": framing}),
        (
            None,
            StoredType::Integer { size: 2.., .. }
            | StoredType::Float { .. }
            | StoredType::BFloat16 { .. }
            | StoredType::Text { encoding: TextEncoding::Utf32(_), .. },
        ) => endian(order),
        (None, StoredType::Compound { .. }) => endian(ByteOrder::Little),
        _ => json!({"name": "bytes"}),
    };
    if !compresses {
        before.push(layout);
    }
    before.extend(after);
    Ok(before)
}

fn endian(order: ByteOrder) -> Value {
    let endian = if order == ByteOrder::Big { "big" } else { "little" };
    json!({"name": "bytes", "configuration": {"endian": endian}})
}

fn named_codec(name: &str, configuration: &Map<String, Value>) -> Value {
    // zarr-python requires the member even if it is empty.
    json!({"name": name, "configuration": configuration})
}

fn foreign_codec(spec: &CodecSpec, wanted: &str) -> Error {
    Error::invalid(format!("codec {:?} is not described as a codec of zarr {wanted}", spec.identifier()))
}

fn is_array_to_bytes(name: &str) -> bool {
    matches!(name, "bytes" | "endian" | "vlen-utf8" | "vlen-bytes")
}

/// Whether a codec of Zarr v3 turns elements into bytes itself, without `bytes` in front.
fn compresses_elements(name: &str) -> bool {
    matches!(
        name,
        "zfp" | "zfpy" | "numcodecs.zfpy" | "pcodec" | "numcodecs.pcodec" | "packbits" | "n5_default"
    )
}

fn is_array_to_array(name: &str) -> bool {
    let plain = name.strip_prefix("numcodecs.").unwrap_or(name);
    // The codec of that name without a prefix turns elements into bytes.
    name == "numcodecs.packbits"
        || matches!(
            plain,
            "transpose"
                | "reshape"
                | "scale_offset"
                | "cast_value"
                | "bitround"
                | "delta"
                | "fixedscaleoffset"
                | "quantize"
                | "astype"
        )
}

/// The byte order of elements that a codec of Zarr v3 lays out without stating one.
fn order_of_codec(filters: &[CodecSpec]) -> Option<ByteOrder> {
    let name = |spec: &CodecSpec| match spec {
        CodecSpec::V3 { name, .. } if compresses_elements(name) => Some(name.clone()),
        _ => None,
    };
    let is_n5 = filters.iter().find_map(name)? == "n5_default";
    Some(if is_n5 { ByteOrder::Big } else { ByteOrder::Little })
}

/// Codecs that belong in `filters` even if they come last.
fn is_not_compressor(id: &str) -> bool {
    const FILTERS: [&str; 14] = [
        "shuffle",
        "delta",
        "fixedscaleoffset",
        "quantize",
        "packbits",
        "categorize",
        "astype",
        "bitround",
        "fletcher32",
        "crc32",
        "crc32c",
        "adler32",
        "jenkins_lookup3",
        "nbit",
    ];
    FILTERS.contains(&id) || id.starts_with("vlen-")
}

#[cfg(test)]
mod tests;

//! A variable as an array of Zarr v2.
use super::attributes;
use super::chunks::{PlacedChunk, StoredChunks, cell_key};
use super::wrong;
use crate::dmr::{DmrKind, DmrVariable};
use ncirrus_layout::xml::XmlNode;
use ncirrus_layout::{Error, Limits, Result, base64};
use ncirrus_model::Atomic;
use serde_json::{Map, Value, json};

/// An array of Zarr v2.
#[derive(Debug)]
pub(super) struct DmrppArray {
    pub(super) metadata: Value,
    pub(super) attributes: Map<String, Value>,
    pub(super) chunks: Vec<PlacedChunk>,
    /// The only chunk, if its values are in the document.
    pub(super) embedded: Option<(String, Vec<u8>)>,
}

/// The type of elements: the code of Zarr without the byte order, and the length in bytes.
struct ElementCode {
    code: String,
    byte_len: u64,
    /// Whether elements are texts of any length.
    is_text: bool,
}

impl ElementCode {
    /// The type in Zarr. Texts and single bytes have no byte order.
    fn dtype(&self, is_big_endian: bool) -> String {
        let order = match is_big_endian {
            _ if self.byte_len == 1 || self.code.starts_with('S') => '|',
            true => '>',
            false => '<',
        };
        format!("{order}{}", self.code)
    }
}

impl DmrppArray {
    /// Translates a variable.
    ///
    /// # Errors
    /// `Unsupported` for types and arrangements that are not read; `Malformed`, `Limit`.
    pub(super) fn new(
        variable: &DmrVariable,
        node: &XmlNode,
        lists_in_order: bool,
        limits: &Limits,
    ) -> Result<Self> {
        let extent: Vec<u64> = variable.dims.iter().map(|axis| axis.size).collect();
        let element = element(variable, node)?;
        let mut attributes = attributes::json(&variable.attributes);
        attributes.insert("_ARRAY_DIMENSIONS".to_owned(), dimensions(variable));
        let mut array = Self { metadata: Value::Null, attributes, chunks: Vec::new(), embedded: None };
        let whole: Vec<u64> = extent.iter().map(|len| (*len).max(1)).collect();
        let first = || cell_key(&vec!["0".to_owned(); extent.len()]);
        if element.is_text {
            let texts =
                node.child("vlsa").ok_or_else(|| Error::unsupported("texts of varying length outside it"))?;
            array.embedded = Some((first(), texts_of(texts, &extent, limits)?));
            array.metadata =
                metadata(&extent, &whole, ("|O", &[json!({"id": "vlen-utf8"})]), &Value::from(""));
            return Ok(array);
        }
        let fill = array.own_fill(&element);
        if let Some((data, is_packed)) = embedded(node, &extent, &element, limits)? {
            let filters: &[Value] = if is_packed { &[json!({"id": "zlib", "level": 4})] } else { &[] };
            array.embedded = Some((first(), data));
            array.metadata = metadata(&extent, &whole, (&element.dtype(false), filters), &fill);
            return Ok(array);
        }
        let stored = StoredChunks::read(node, &extent, element.byte_len, lists_in_order)?;
        let stored = stored.ok_or_else(|| Error::unsupported("it does not say where its values are"))?;
        // Readers treat the fill value as missing data: it is given only if chunks are missing.
        let of_chunks = stored.fill.as_deref().filter(|_| !stored.is_complete);
        let fill = of_chunks.and_then(|text| fill_value(text, &element)).unwrap_or(fill);
        let dtype = element.dtype(stored.is_big_endian);
        array.metadata = metadata(&extent, &stored.shape, (&dtype, &stored.filters), &fill);
        array.chunks = stored.list;
        Ok(array)
    }

    /// The fill value in the attributes, which Zarr has in the metadata.
    fn own_fill(&self, element: &ElementCode) -> Value {
        let is_number = element.code.starts_with(['i', 'u', 'f']);
        match self.attributes.get("_FillValue") {
            Some(fill) if is_number && !fill.is_array() => fill.clone(),
            _ => Value::Null,
        }
    }
}

fn element(variable: &DmrVariable, node: &XmlNode) -> Result<ElementCode> {
    let atomic = match &variable.kind {
        DmrKind::Atomic(atomic) => *atomic,
        DmrKind::Enum { base, .. } => *base,
        DmrKind::Opaque => return Err(Error::unsupported("opaque values")),
        DmrKind::Structure(_) => return Err(Error::unsupported("structures")),
        DmrKind::Sequence(_) => return Err(Error::unsupported("sequences")),
    };
    let of = |code: &str, byte_len| ElementCode { code: code.to_owned(), byte_len, is_text: false };
    Ok(match atomic {
        Atomic::Byte => of("i1", 1),
        Atomic::UByte => of("u1", 1),
        Atomic::Char => of("S1", 1),
        Atomic::Short => of("i2", 2),
        Atomic::UShort => of("u2", 2),
        Atomic::Int => of("i4", 4),
        Atomic::UInt => of("u4", 4),
        Atomic::Int64 => of("i8", 8),
        Atomic::UInt64 => of("u8", 8),
        Atomic::Float => of("f4", 4),
        Atomic::Double => of("f8", 8),
        Atomic::String => match node.find("FixedLengthStringArray") {
            Some(fixed) => {
                let len = fixed.attribute("string_length").and_then(|len| len.trim().parse().ok());
                let len: u64 = len
                    .filter(|len| (1..=MAX_TEXT).contains(len))
                    .ok_or_else(|| wrong(fixed, "texts of fixed length without a valid string_length"))?;
                ElementCode { code: format!("S{len}"), byte_len: len, is_text: false }
            }
            None => ElementCode { code: "O".to_owned(), byte_len: 0, is_text: true },
        },
    })
}

/// Names of dimensions, without the groups in which they are. Those without a name get one by their length, as xarray
/// needs names.
fn dimensions(variable: &DmrVariable) -> Value {
    let name = |axis: &crate::dmr::DmrAxis| {
        let path = axis.path.as_deref().map(crate::path::segments);
        path.and_then(|path| path.last().cloned()).unwrap_or_else(|| format!("_AnonymousDim{}", axis.size))
    };
    variable.dims.iter().map(name).collect()
}

fn metadata(extent: &[u64], chunks: &[u64], (dtype, filters): (&str, &[Value]), fill: &Value) -> Value {
    let filters = if filters.is_empty() { Value::Null } else { Value::from(filters) };
    json!({
        "zarr_format": 2, "shape": extent, "chunks": chunks, "dtype": dtype, "compressor": null,
        "filters": filters, "order": "C", "fill_value": fill,
    })
}

/// A fill value by its text; `None` if it is not a number of the type.
fn fill_value(text: &str, element: &ElementCode) -> Option<Value> {
    let text = text.trim();
    match element.code.as_bytes().first()? {
        b'i' => text.parse::<i64>().ok().map(Value::from),
        b'u' => text.parse::<u64>().ok().map(Value::from),
        b'f' => text.parse::<f64>().ok().map(attributes::real),
        _ => None,
    }
}

/// Values in the document: bytes, and whether they are compressed by zlib.
fn embedded(
    node: &XmlNode,
    extent: &[u64],
    element: &ElementCode,
    limits: &Limits,
) -> Result<Option<(Vec<u8>, bool)>> {
    let (data, may_be_packed) = match (node.child("compact"), node.child("missingdata")) {
        (Some(data), _) => (data, false),
        (None, Some(data)) => (data, true),
        (None, None) => return Ok(None),
    };
    let count = extent.iter().fold(element.byte_len, |all, len| all.saturating_mul(*len));
    let len = limits.chunk_len(count, "a variable")?;
    let text: Vec<u8> = data.text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let bytes = base64::decode(&text).ok_or_else(|| wrong(data, "values that are not base64"))?;
    match bytes.len() {
        found if found == len => Ok(Some((bytes, false))),
        _ if may_be_packed => Ok(Some((bytes, true))),
        found => Err(wrong(data, format_args!("{found} bytes of values for {len}"))),
    }
}

/// Texts of varying length, encoded as Zarr's `vlen-utf8`: their number, then the length and the bytes of each.
fn texts_of(node: &XmlNode, extent: &[u64], limits: &Limits) -> Result<Vec<u8>> {
    let wanted = limits.count(extent.iter().fold(1, |all: u64, len| all.saturating_mul(*len)), "texts")?;
    let (mut body, mut count) = (Vec::new(), 0usize);
    let size = |len: usize| u32::try_from(len).map_err(|_| Error::limit("texts of more than 4 GiB"));
    body.extend_from_slice(&size(wanted)?.to_le_bytes());
    for text in node.each("v") {
        if text.attribute("s").is_some() {
            return Err(Error::unsupported("compressed texts"));
        }
        let times = text.attribute("c").map_or(Some(1), |times| times.trim().parse::<usize>().ok());
        let times = times.ok_or_else(|| wrong(text, "a text without a valid number of repetitions"))?;
        count = count.saturating_add(times);
        let bytes = text.text.len().saturating_add(4).saturating_mul(times.min(wanted));
        limits.chunk_len(body.len().saturating_add(bytes) as u64, "texts")?;
        if count > wanted {
            break;
        }
        for _ in 0..times {
            body.extend_from_slice(&size(text.text.len())?.to_le_bytes());
            body.extend_from_slice(text.text.as_bytes());
        }
    }
    if count == wanted {
        Ok(body)
    } else {
        Err(wrong(node, format_args!("another number of texts than {wanted}")))
    }
}

/// Maximum length of texts of fixed length.
const MAX_TEXT: u64 = 1 << 20;

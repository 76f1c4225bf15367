//! Zarr v2 data types: NumPy's array protocol strings and lists of fields (`docs/spec/nczarr.md` 3.12).
use super::{DataType, ReaderType, integer_type, stored_number};
use crate::json::JsonValue;
use ncirrus_layout::{ByteOrder, Error, Result, SequenceItem, StoredType, TextEncoding};
use ncirrus_model::Atomic;

/// The meaning of a `dtype` of one byte of text depends on the writer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TextRules {
    /// `>S1` is char: NCZarr, and plain Zarr by netcdf-c.
    pub(crate) big_s1_is_char: bool,
    /// `<U1` is char, one byte per element: V1 and UC.
    pub(crate) u1_is_char: bool,
    /// Sizes of numbers are in bits, as in the draft of 2018 (docs/spec/nczarr.md 7).
    pub(crate) sizes_in_bits: bool,
}

/// Whether a data type has a number whose size can only be in bits.
pub(crate) fn is_in_bits(dtype: &JsonValue) -> bool {
    if let Some(fields) = dtype.as_array() {
        let of_field = |field: &JsonValue| field.as_array()?.get(1).map(is_in_bits);
        return fields.iter().any(|field| of_field(field) == Some(true));
    }
    let kind_and_size = dtype.as_str().map(|text| byte_order(text).1).unwrap_or_default();
    matches!(kind_and_size, "i16" | "i32" | "i64" | "u16" | "u32" | "u64" | "f32" | "f64")
}

/// Parses a `dtype`; an object type also needs the array's filters, and the filter that converts elements to bytes is
/// returned in the second result so that it can be removed from the chain.
///
/// # Errors
/// `Malformed` if it is not a data type, `Unsupported` if it has no counterpart.
pub(crate) fn parse(
    dtype: &JsonValue,
    filters: &[JsonValue],
    rules: TextRules,
) -> Result<(DataType, Option<usize>)> {
    match dtype.as_str() {
        Some(text) if text.ends_with('O') && text.len() <= 2 => {
            let (at, data_type) = object(filters, rules)?;
            Ok((data_type, Some(at)))
        }
        _ => Ok((element(dtype, rules, 0)?, None)),
    }
}

fn element(dtype: &JsonValue, rules: TextRules, depth: u32) -> Result<DataType> {
    if let Some(text) = dtype.as_str() {
        return scalar(text, rules);
    }
    let fields = dtype.as_array().filter(|fields| !fields.is_empty() && depth < 16);
    let Some(fields) = fields else {
        return Err(Error::malformed(format!("{} is not a data type", shown_source(dtype))));
    };
    DataType::compound(fields.iter().map(|entry| field(entry, rules, depth + 1)).collect::<Result<_>>()?)
}

/// A field: `[name, dtype]` or `[name, dtype, shape]`.
fn field(entry: &JsonValue, rules: TextRules, depth: u32) -> Result<(String, DataType, Vec<u64>)> {
    let bad = || Error::malformed(format!("{} is not a field of a data type", shown_source(entry)));
    let (name, dtype, shape) = match entry.as_array() {
        Some([name, dtype]) => (name, dtype, None),
        Some([name, dtype, shape]) => (name, dtype, Some(shape)),
        _ => return Err(bad()),
    };
    let dims = match shape {
        None => Vec::new(),
        Some(JsonValue::Array(lens)) => {
            lens.items.iter().map(JsonValue::as_u64).collect::<Option<_>>().ok_or_else(bad)?
        }
        Some(len) => vec![len.as_u64().ok_or_else(bad)?],
    };
    Ok((name.as_str().ok_or_else(bad)?.to_owned(), element(dtype, rules, depth)?, dims))
}

/// A type of one string: byte order, kind, size, unit.
fn scalar(text: &str, rules: TextRules) -> Result<DataType> {
    let (order, rest) = byte_order(text);
    let mut chars = rest.chars();
    let kind = chars.next();
    let digits: String = chars.as_str().chars().take_while(char::is_ascii_digit).collect();
    let unit = chars.as_str().get(digits.len()..).unwrap_or_default();
    let size: u64 = if digits.is_empty() { 0 } else { digits.parse().unwrap_or(0) };
    let is_number = matches!(kind, Some('i' | 'u' | 'f' | 'c'));
    let size = if rules.sizes_in_bits && is_number && size.is_multiple_of(8) { size / 8 } else { size };
    let unknown = || Error::unsupported(format!("data type {text:?}"));
    let (Some(kind), 1..) = (kind, size) else { return Err(unknown()) };
    match (kind, size, unit) {
        ('S' | 'a', 1, "") if rules.big_s1_is_char && text.starts_with('>') => Ok(char_type()),
        ('U', 1, "") if rules.u1_is_char => Ok(char_type()),
        ('i' | 'u', _, "") => integer(size, kind == 'i', order).ok_or_else(unknown),
        ('b', 1, "") => Ok(DataType::boolean(order)),
        ('f', 2, "") => Ok(DataType::atomic(Atomic::Float, StoredType::Float { size: 2, order })),
        ('f', 4, "") => Ok(DataType::atomic(Atomic::Float, stored_number(Atomic::Float, order))),
        ('f', 8, "") => Ok(DataType::atomic(Atomic::Double, stored_number(Atomic::Double, order))),
        ('c', 8, "") => Ok(DataType::complex(Atomic::Float, order)),
        ('c', 16, "") => Ok(DataType::complex(Atomic::Double, order)),
        ('S' | 'a', _, "") => Ok(fixed_text(size)),
        ('U', _, "") => utf32(size, order).ok_or_else(unknown),
        ('V', _, "") => Ok(DataType::opaque(size)),
        ('M' | 'm', 8, _) => Ok(time(unit, kind == 'M', order)),
        _ => Err(unknown()),
    }
}

fn byte_order(text: &str) -> (ByteOrder, &str) {
    match text.strip_prefix(['<', '>', '|', '=']) {
        Some(rest) if text.starts_with('>') => (ByteOrder::Big, rest),
        Some(rest) if text.starts_with('<') => (ByteOrder::Little, rest),
        Some(rest) => (ByteOrder::NATIVE, rest),
        None => (ByteOrder::NATIVE, text),
    }
}

fn char_type() -> DataType {
    DataType::atomic(Atomic::Char, StoredType::Char)
}

fn integer(size: u64, signed: bool, order: ByteOrder) -> Option<DataType> {
    let atomic = integer_type(size, signed)?;
    Some(DataType::atomic(atomic, stored_number(atomic, order)))
}

/// Text in a fixed number of bytes; an element of only NULs is a null string, whoever wrote it.
fn fixed_text(byte_len: u64) -> DataType {
    DataType::atomic(Atomic::String, StoredType::Text { byte_len, encoding: TextEncoding::NulPadded })
}

/// Text of a fixed number of characters of four bytes each.
pub(super) fn utf32(characters: u64, order: ByteOrder) -> Option<DataType> {
    let byte_len = characters.checked_mul(4)?;
    let stored = StoredType::Text { byte_len, encoding: TextEncoding::Utf32(order) };
    Some(DataType::atomic(Atomic::String, stored))
}

/// `datetime64` or `timedelta64`; `unit` is in brackets, perhaps with a scale: `[ns]`, `[25s]`.
fn time(unit: &str, is_instant: bool, order: ByteOrder) -> DataType {
    let code = unit.trim_matches(['[', ']']);
    let digits = code.len() - code.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (scale, code) = code.split_at(digits);
    let scale = scale.parse().unwrap_or(1);
    DataType::time(code, scale, is_instant, order)
}

/// The type of an object array, determined by the filter that converts elements to bytes.
fn object(filters: &[JsonValue], rules: TextRules) -> Result<(usize, DataType)> {
    let id_of = |filter: &JsonValue| filter.member("id").and_then(JsonValue::as_str).map(str::to_owned);
    let ids: Vec<String> = filters.iter().filter_map(id_of).collect();
    let known = ["vlen-utf8", "vlen-bytes", "vlen-array", "json2"];
    let at = ids.iter().position(|id| known.contains(&id.as_str()));
    let Some((at, filter)) = at.and_then(|at| Some((at, filters.get(at)?))) else {
        return Err(Error::unsupported(format!("objects encoded by {ids:?}")));
    };
    let data_type = match ids.get(at).map(String::as_str) {
        Some("vlen-utf8") => DataType::atomic(Atomic::String, StoredType::Sequence(SequenceItem::Text)),
        Some("json2") => DataType::atomic(Atomic::String, StoredType::Json),
        Some("vlen-bytes") => vlen_bytes(),
        _ => {
            let base = filter.member("dtype").ok_or_else(|| Error::malformed("vlen-array has no dtype"))?;
            vlen_of(element(base, rules, 0)?)
        }
    };
    Ok((at, data_type))
}

/// Byte strings of any length.
pub(super) fn vlen_bytes() -> DataType {
    let shown = ReaderType::Vlen(Box::new(ReaderType::Atomic(Atomic::UByte)));
    DataType {
        stored: StoredType::Sequence(SequenceItem::Bytes),
        shown,
        time: None,
        extended: None,
        small: None,
    }
}

fn vlen_of(base: DataType) -> DataType {
    let stored = StoredType::Sequence(SequenceItem::Array(Box::new(base.stored)));
    DataType {
        stored,
        shown: ReaderType::Vlen(Box::new(base.shown)),
        time: None,
        extended: None,
        small: None,
    }
}

fn shown_source(json: &JsonValue) -> String {
    String::from_utf8_lossy(json.source()).chars().take(80).collect()
}

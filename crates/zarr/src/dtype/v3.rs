//! Zarr v3 data types: core names, `r<bits>` and extension objects (docs/spec/nczarr.md 6.2).
use super::{DataType, integer_type, stored_number, v2};
use crate::json::JsonValue;
use ncirrus_layout::{ByteOrder, Error, Result, SequenceItem, StoredType, TextEncoding};
use ncirrus_model::{Atomic, SmallFloat};

/// Parses a `data_type`; the byte order is that of the `bytes` codec.
///
/// # Errors
/// `Malformed` if it is not a data type, `Unsupported` if it has no counterpart.
pub(crate) fn parse(data_type: &JsonValue, order: ByteOrder) -> Result<DataType> {
    element(data_type, order, 0)
}

fn element(data_type: &JsonValue, order: ByteOrder, depth: u32) -> Result<DataType> {
    let bad =
        || Error::malformed(format!("{:?} is not a data type", String::from_utf8_lossy(data_type.source())));
    if depth > 16 {
        return Err(bad());
    }
    let name = data_type.as_str().or_else(|| data_type.member("name")?.as_str()).ok_or_else(bad)?;
    let empty = JsonValue::Null;
    let configuration = data_type.member("configuration").unwrap_or(&empty);
    if let Some(known) = core(name, order) {
        return Ok(known);
    }
    let byte_len = || configuration.member("length_bytes").and_then(JsonValue::as_u64).filter(|len| *len > 0);
    // Data types that zarr-python adds to those of the specification.
    match name {
        "null_terminated_bytes" => {
            let byte_len = byte_len().ok_or_else(bad)?;
            let stored = StoredType::Text { byte_len, encoding: TextEncoding::NulPaddedEmpty };
            Ok(DataType::atomic(Atomic::String, stored))
        }
        "fixed_length_utf32" => {
            let byte_len = byte_len().filter(|len| len % 4 == 0).ok_or_else(bad)?;
            v2::utf32(byte_len / 4, order).ok_or_else(bad)
        }
        "raw_bytes" => Ok(DataType::opaque(byte_len().ok_or_else(bad)?)),
        "numpy.datetime64" | "numpy.timedelta64" => Ok(time(name, configuration, order)),
        "structured" | "struct" => {
            let fields =
                configuration.member("fields").and_then(JsonValue::as_array).filter(|list| !list.is_empty());
            let fields = fields.ok_or_else(bad)?.iter().map(|entry| field(entry, order, depth + 1));
            DataType::compound(fields.collect::<Result<_>>()?)
        }
        _ => Err(Error::unsupported(format!("data type {name:?}"))),
    }
}

/// The types that are a bare name.
fn core(name: &str, order: ByteOrder) -> Option<DataType> {
    let number = |atomic| Some(DataType::atomic(atomic, stored_number(atomic, order)));
    match name {
        "bool" => Some(DataType::boolean(order)),
        "float16" => Some(DataType::atomic(Atomic::Float, StoredType::Float { size: 2, order })),
        "bfloat16" => Some(DataType::atomic(Atomic::Float, StoredType::BFloat16 { order })),
        "float32" => number(Atomic::Float),
        "float64" => number(Atomic::Double),
        "complex64" | "complex_float32" => Some(DataType::complex(Atomic::Float, order)),
        "complex128" | "complex_float64" => Some(DataType::complex(Atomic::Double, order)),
        "int2" | "int4" => number(Atomic::Byte).map(|wide| wide.widened(name)),
        "uint2" | "uint4" => number(Atomic::UByte).map(|wide| wide.widened(name)),
        "string" => Some(DataType::atomic(Atomic::String, StoredType::Sequence(SequenceItem::Text))),
        "bytes" | "variable_length_bytes" => Some(v2::vlen_bytes()),
        _ if SmallFloat::find(name).is_some() => number(Atomic::Float).map(|wide| wide.widened(name)),
        _ => {
            if let Some(part) = name.strip_prefix("complex_").filter(|part| is_small_float(part)) {
                return Some(DataType::complex(Atomic::Float, order).widened(part));
            }
            let sized = |prefix| name.strip_prefix(prefix)?.parse::<u64>().ok().filter(|bits| bits % 8 == 0);
            if let Some(bits) = sized("int") {
                return number(integer_type(bits / 8, true)?);
            }
            if let Some(bits) = sized("uint") {
                return number(integer_type(bits / 8, false)?);
            }
            sized("r").filter(|bits| *bits > 0).map(|bits| DataType::opaque(bits / 8))
        }
    }
}

/// Whether the parts of complex numbers have that type, of which netCDF has no floats.
fn is_small_float(name: &str) -> bool {
    matches!(name, "float16" | "bfloat16") || SmallFloat::find(name).is_some()
}

/// A field: `[name, data_type]`, or an object of these two.
fn field(entry: &JsonValue, order: ByteOrder, depth: u32) -> Result<(String, DataType, Vec<u64>)> {
    let parts = match entry.as_array() {
        Some([name, data_type]) => Some((name, data_type)),
        _ => entry.member("name").zip(entry.member("data_type")),
    };
    let named = parts.and_then(|(name, data_type)| Some((name.as_str()?.to_owned(), data_type)));
    let Some((name, data_type)) = named else {
        let source = String::from_utf8_lossy(entry.source());
        return Err(Error::malformed(format!("{source:?} is not a field of a data type")));
    };
    let element = element(data_type, order, depth)?;
    if let Some(small) = &element.small {
        return Err(Error::unsupported(format!("data type {small:?} of the field {name:?} of a structure")));
    }
    Ok((name, element, Vec::new()))
}

fn time(name: &str, configuration: &JsonValue, order: ByteOrder) -> DataType {
    let unit = configuration.member("unit").and_then(JsonValue::as_str).unwrap_or_default();
    let scale = configuration.member("scale_factor").and_then(JsonValue::as_u64).unwrap_or(1);
    DataType::time(unit, scale, name == "numpy.datetime64", order)
}

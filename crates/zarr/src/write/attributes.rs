//! Attributes as JSON, with their types, and those that only the extension can represent (docs/spec/nczarr.md 3.8 to
//! 3.10).
use super::stored::{char_dtype, kind_and_size};
use super::{conventions, element, json_text, names};
use crate::{Dialect, special};
use ncirrus_layout::{Error, Result, base64};
use ncirrus_model::{Atomic, Attribute, ExactNumber, Model, Strings, TypeRef, Values};
use serde_json::{Map, Value, json};

/// How the attributes of a group or variable are written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AttributeForm<'a> {
    pub(crate) dialect: Dialect,
    /// The type of an array of numbers.
    pub(crate) array: Option<Atomic>,
    /// Whether text that is a JSON dictionary is stored as JSON.
    pub(crate) json_text: bool,
    /// The fill value that the metadata of an array of plain Zarr v2 have.
    pub(crate) fill: Option<&'a Values>,
}

/// The attributes of one group or variable, ready to be written.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct WrittenAttributes {
    /// Name and value of plain attributes, in definition order.
    pub(crate) plain: Map<String, Value>,
    /// Name and type of plain attributes, in the dialect's form; not all plain attributes have one.
    pub(crate) types: Map<String, Value>,
    /// Entries of the extension's `attributes`.
    pub(crate) extension: Vec<Value>,
}

impl WrittenAttributes {
    /// Adds the attribute at `index` among all of its holder.
    ///
    /// # Errors
    /// `Invalid` if the name is reserved or the values are not of the type.
    pub(crate) fn add(
        &mut self,
        model: &Model,
        holder: AttributeForm<'_>,
        index: usize,
        attribute: &Attribute,
    ) -> Result<()> {
        names::check_attribute(&attribute.name)?;
        let AttributeForm { dialect, array, json_text, fill } = holder;
        let is_fill = attribute.name == special::FILL_VALUE;
        // Programs that translate Zarr v2 to v3, as VirtualiZarr, take it for the base64 of v3. kerchunk leaves it out, too.
        if is_fill && fill.is_some_and(|fill| is_same_but_no_integer(fill, &attribute.values)) {
            self.extension.push(entry(model, index, attribute)?);
            return Ok(());
        }
        if is_fill && dialect.zarr_format() == 3 {
            match v3_fill(&attribute.values, array) {
                Some((value, values)) => {
                    self.add_plain(dialect, &Attribute::atomic(&*attribute.name, values), value, 0);
                }
                None => self.extension.push(entry(model, index, attribute)?),
            }
            return Ok(());
        }
        let plain = match (&attribute.ty, &attribute.values) {
            (TypeRef::User(_), _) => None,
            // xarray would decode data that are not bytes in Zarr v3, and refuses the dataset.
            _ if attribute.name == special::ENCODING && dialect.zarr_format() == 3 => None,
            (_, Values::Char(bytes)) => {
                // Formats without JSON have it as text.
                let is_json = attribute.is_json
                    || (!dialect.is_nczarr() && conventions::is_json(&attribute.name, bytes));
                match json_text::stored(bytes, is_json, json_text).filter(|_| !is_fill) {
                    Some(json) => self.add_plain(dialect, attribute, json, 1),
                    None => return self.add_text(dialect, index, &attribute.name, bytes),
                }
                return Ok(());
            }
            (_, Values::String(strings)) => plain_strings(dialect, strings),
            (_, numbers) if !dialect.is_nczarr() && is_not_finite(numbers) && !is_fill => {
                return self.add_untyped(model, index, attribute);
            }
            (_, numbers) => plain_numbers(numbers),
        };
        match plain {
            Some((value, length)) => {
                let is_kept = attribute.is_json && !dialect.is_nczarr() && !is_fill;
                let value = if is_kept { as_in_source(&attribute.values, value) } else { value };
                self.add_plain(dialect, attribute, value, length);
            }
            None => self.extension.push(entry(model, index, attribute)?),
        }
        Ok(())
    }

    fn add_plain(&mut self, dialect: Dialect, attribute: &Attribute, value: Value, string_len: usize) {
        self.plain.insert(attribute.name.clone(), value);
        let quantized = names::is_quantize(&attribute.name) && matches!(attribute.values, Values::Int(_));
        let word = attribute.values.atomic().map(|atomic| type_word(dialect, atomic, string_len));
        if let Some(word) = word.filter(|_| !quantized) {
            self.types.insert(attribute.name.clone(), Value::String(word));
        }
    }

    /// Numbers that would be read as text where there are no types (docs/spec/nczarr.md 5.4).
    fn add_untyped(&mut self, model: &Model, index: usize, attribute: &Attribute) -> Result<()> {
        let mut entry = entry(model, index, attribute)?;
        if let (1, Some(shown)) = (attribute.values.len(), element::exact_number(&attribute.values, 0)) {
            self.plain.insert(attribute.name.clone(), shown.clone());
            entry["shown"] = shown;
        }
        self.extension.push(entry);
        Ok(())
    }

    fn add_text(&mut self, dialect: Dialect, index: usize, name: &str, bytes: &[u8]) -> Result<()> {
        let mut add = |text: &str| {
            self.plain.insert(name.to_owned(), json!(text));
            self.types.insert(name.to_owned(), Value::String(type_word(dialect, Atomic::Char, 1)));
        };
        match std::str::from_utf8(bytes) {
            Ok(text) if !text.contains('\0') => add(text),
            _ => {
                let mut entry =
                    json!({"name": name, "index": index, "type": "char", "base64": base64::encode(bytes)});
                // A fill value is one character for every reader: a part of it would be a different fill value.
                if name != special::FILL_VALUE {
                    let shown = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
                    let shown = String::from_utf8_lossy(shown);
                    add(&shown);
                    entry["shown"] = json!(shown);
                }
                self.extension.push(entry);
            }
        }
        Ok(())
    }
}

/// Booleans and lists of one element, as the source had them.
fn as_in_source(values: &Values, value: Value) -> Value {
    let boolean = |number: &Value| match number.as_u64() {
        Some(0) => json!(false),
        Some(1) => json!(true),
        _ => number.clone(),
    };
    match (values, value) {
        (Values::UByte(_), Value::Array(list)) => list.iter().map(boolean).collect(),
        (Values::UByte(_), number) => boolean(&number),
        (_, Value::Array(list)) => Value::Array(list),
        (_, one) => json!([one]),
    }
}

/// Whether both are the same float, character or string.
fn is_same_but_no_integer(one: &Values, other: &Values) -> bool {
    let is_same = match (one, other) {
        (Values::Float(_), Values::Float(_))
        | (Values::Double(_), Values::Double(_))
        | (Values::Char(_), Values::Char(_)) => one.as_bytes() == other.as_bytes(),
        (Values::String(one), Values::String(other)) => one == other,
        _ => false,
    };
    is_same && one.len() == 1
}

/// Whether any of the numbers is written as a name instead of digits.
fn is_not_finite(values: &Values) -> bool {
    matches!(values, Values::Float(_) | Values::Double(_))
        && (0..values.len()).any(|at| values.number(at).is_some_and(|number| !number.is_finite()))
}

/// `_FillValue` as xarray writes it in Zarr v3, by the type of the array whatever the attribute's was: floats as the
/// base64 of a little-endian double, integers as they are. `None` where the array's type does not have the value: xarray
/// refuses whole datasets with a fill value that is not of the array's type, or of text.
fn v3_fill(values: &Values, array: Option<Atomic>) -> Option<(Value, Values)> {
    let [number] = ExactNumber::all(values)[..] else { return None };
    match array? {
        ty @ (Atomic::Float | Atomic::Double) => {
            let double = number.exact_f64()?;
            let encoded = json!(base64::encode(&double.to_le_bytes()));
            let values = ExactNumber::all_as(&[number], ty).unwrap_or(Values::Double(vec![double]));
            Some((encoded, values))
        }
        ty => {
            let values = ExactNumber::all_as(&[number], ty)?;
            Some((plain_numbers(&values)?.0, values))
        }
    }
}

fn entry(model: &Model, index: usize, attribute: &Attribute) -> Result<Value> {
    if let Values::Char(bytes) = &attribute.values {
        let text = base64::encode(bytes);
        return Ok(json!({"name": attribute.name, "index": index, "type": "char", "base64": text}));
    }
    let items = (0..attribute.values.len())
        .map(|at| element::readable(model, attribute.ty, &attribute.values, at))
        .collect::<Option<Vec<_>>>();
    let Some(items) = items else {
        return Err(Error::invalid(format!(
            "the values of attribute {:?} are not of its type",
            attribute.name
        )));
    };
    let ty = type_name(model, attribute.ty);
    Ok(json!({"name": attribute.name, "index": index, "type": ty, "value": items}))
}

/// The CDL name of an atomic type, or the path of a user-defined one.
pub(crate) fn type_name(model: &Model, ty: TypeRef) -> String {
    match ty {
        TypeRef::Atomic(atomic) => atomic.name().to_owned(),
        TypeRef::User(id) => model.type_path(id),
    }
}

/// Numbers: a single one is bare, others are a list (docs/spec/nczarr.md 3.8.1). Readers without types read them as
/// doubles, which must equal the data: a float is written as its double value.
fn plain_numbers(values: &Values) -> Option<(Value, usize)> {
    let items = (0..values.len()).map(|at| element::exact_number(values, at));
    let mut items = items.collect::<Option<Vec<_>>>()?;
    let value = if items.len() == 1 { items.remove(0) } else { Value::Array(items) };
    Some((value, 0))
}

/// Strings that every reader of the dialect can represent, and the length of the longest.
fn plain_strings(dialect: Dialect, strings: &Strings) -> Option<(Value, usize)> {
    if dialect.has_one_byte_unicode() {
        return None;
    }
    let text = |bytes: Option<&[u8]>| {
        let text = std::str::from_utf8(bytes?).ok()?;
        (!text.contains('\0')).then(|| json!(text))
    };
    let mut items = strings.iter().map(text).collect::<Option<Vec<_>>>()?;
    let value = if items.len() == 1 { items.remove(0) } else { Value::Array(items) };
    Some((value, strings.max_len()))
}

/// A type as in the dialect's dictionary of attribute types (docs/spec/nczarr.md 3.8.2, 6.3, 7).
fn type_word(dialect: Dialect, atomic: Atomic, string_len: usize) -> String {
    match (dialect, atomic) {
        (Dialect::Draft2018 | Dialect::Nczarr3, _) => atomic.name().to_owned(),
        (_, Atomic::Char) => char_dtype(dialect).unwrap_or(">S1").to_owned(),
        (_, Atomic::String) => format!("|S{}", string_len.max(1)),
        (_, number) => format!("<{}", kind_and_size(number)),
    }
}

#[cfg(test)]
mod tests;

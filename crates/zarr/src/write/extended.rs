//! Types that Zarr has beyond those of netCDF, in copies from Zarr to Zarr.
use super::stored::{ElementForm, FormOf, complex_part, fixed_bytes, stored_number, v2_name, v3_name};
use crate::dtype::TimeUnit;
use crate::packing;
use ncirrus_layout::{ByteOrder, StoredField, StoredType, TextEncoding};
use ncirrus_model::{Atomic, Attribute, ExtendedType, Field, TypeRef, UserKind, Values, Variable};
use serde_json::{Value, json};

/// What a variable is beyond its type, if its other members agree: times have no other unit than their type's.
pub(crate) fn kept(variable: &Variable) -> Option<&ExtendedType> {
    let extended = variable.extended.as_ref()?;
    if let ExtendedType::Packed { factor, offset, .. } = extended {
        let known = variable.attributes.known()?;
        return packing::is_as_described(*factor, *offset, known).then_some(extended);
    }
    let Some(unit) = time_unit(extended) else { return Some(extended) };
    let units = variable.attributes.known().and_then(|known| known.find("units"));
    let is_own = units.is_none_or(|units| is_text(units, &unit.cf_units()));
    is_own.then_some(extended)
}

/// Whether an attribute only says what the data type of a time says: the reader adds it.
pub(crate) fn is_implied(extended: &ExtendedType, attribute: &Attribute) -> bool {
    if matches!(extended, ExtendedType::Packed { .. }) {
        return packing::is_replaced(&attribute.name);
    }
    let Some(unit) = time_unit(extended) else { return false };
    match attribute.name.as_str() {
        "units" => is_text(attribute, &unit.cf_units()),
        "calendar" => unit.is_instant && is_text(attribute, "proleptic_gregorian"),
        _ => false,
    }
}

fn is_text(attribute: &Attribute, text: &str) -> bool {
    matches!(&attribute.values, Values::Char(bytes) if bytes == text.as_bytes())
}

fn time_unit(extended: &ExtendedType) -> Option<TimeUnit> {
    match extended {
        ExtendedType::DateTime { unit, scale } => TimeUnit::from_numpy(unit, *scale, true),
        ExtendedType::TimeDelta { unit, scale } => TimeUnit::from_numpy(unit, *scale, false),
        _ => None,
    }
}

impl FormOf<'_> {
    /// The form of elements that Zarr has a type for and netCDF has not; `None` if it has none here.
    pub(super) fn extended(&self, ty: TypeRef, extended: &ExtendedType) -> Option<ElementForm> {
        if let (TypeRef::User(id), ExtendedType::Fields(parts)) = (ty, extended) {
            let UserKind::Compound(fields) = &self.model.user_type(id)?.kind else { return None };
            let (stored, data_type) = self.structure(fields, parts)?;
            let form = Self::form(stored, data_type);
            return Some(ElementForm {
                extension_type: Some(self.model.type_path(id)),
                listed: false,
                alias: None,
                ..form
            });
        }
        // The length that the user asks for comes first.
        let TypeRef::Atomic(atomic) = ty else { return None };
        if atomic == Atomic::String && self.fixed.is_some() {
            return None;
        }
        if let ExtendedType::Packed { is_single, codecs, fill, .. } = extended {
            atomic.integer_range().filter(|_| self.is_v3())?;
            let data_type = v3_name(if *is_single { Atomic::Float } else { Atomic::Double });
            let packed = (serde_json::from_str(codecs).ok()?, serde_json::from_str(fill).ok()?);
            let form = Self::form(stored_number(atomic, self.order), json!(data_type));
            return Some(ElementForm { packed: Some(packed), ..form });
        }
        let (stored, data_type) = self.extended_atomic(atomic, Some(extended), self.order)?;
        Some(Self::form(stored, data_type))
    }

    /// Stored form and data type of an atomic type; `None` if nothing is said, or it does not fit the type.
    fn extended_atomic(
        &self,
        atomic: Atomic,
        extended: Option<&ExtendedType>,
        order: ByteOrder,
    ) -> Option<(StoredType, Value)> {
        let is_v3 = self.is_v3();
        let mark = if order == ByteOrder::Big { '>' } else { '<' };
        let text = |byte_len, encoding| StoredType::Text { byte_len, encoding };
        Some(match (extended?, atomic) {
            (ExtendedType::Bool, Atomic::UByte) => {
                (stored_number(Atomic::UByte, order), json!(if is_v3 { "bool" } else { "|b1" }))
            }
            (ExtendedType::Float16, Atomic::Float) => {
                let name = if is_v3 { "float16".to_owned() } else { format!("{mark}f2") };
                (StoredType::Float { size: 2, order }, json!(name))
            }
            (ExtendedType::BFloat16, Atomic::Float) if is_v3 => {
                (StoredType::BFloat16 { order }, json!("bfloat16"))
            }
            (
                time @ (ExtendedType::DateTime { unit, scale } | ExtendedType::TimeDelta { unit, scale }),
                Atomic::Int64,
            ) => {
                let is_instant = matches!(time, ExtendedType::DateTime { .. });
                (stored_number(Atomic::Int64, order), self.time(unit, *scale, is_instant, order))
            }
            (ExtendedType::FixedBytes { len }, Atomic::String) if *len > 0 => {
                let name = if is_v3 { fixed_bytes(*len) } else { json!(format!("|S{len}")) };
                // As the reader shows only NULs in each version.
                let encoding = if is_v3 { TextEncoding::NulPaddedEmpty } else { TextEncoding::NulPadded };
                (text(*len, encoding), name)
            }
            (ExtendedType::FixedText { len }, Atomic::String) if *len > 0 => {
                let byte_len = len.checked_mul(4)?;
                let name = if is_v3 {
                    json!({"name": "fixed_length_utf32", "configuration": {"length_bytes": byte_len}})
                } else {
                    json!(format!("{mark}U{len}"))
                };
                (text(byte_len, TextEncoding::Utf32(order)), name)
            }
            _ => return None,
        })
    }

    fn time(&self, unit: &str, scale: u64, is_instant: bool, order: ByteOrder) -> Value {
        if self.is_v3() {
            let name = if is_instant { "numpy.datetime64" } else { "numpy.timedelta64" };
            return json!({"name": name, "configuration": {"unit": unit, "scale_factor": scale}});
        }
        let mark = if order == ByteOrder::Big { '>' } else { '<' };
        let kind = if is_instant { 'M' } else { 'm' };
        let unit = match (unit, scale) {
            ("generic", _) => String::new(),
            (unit, 1) => format!("[{unit}]"),
            (unit, scale) => format!("[{scale}{unit}]"),
        };
        json!(format!("{mark}{kind}8{unit}"))
    }

    /// A structure of fields without padding, numbers little-endian; `None` if a field has no fixed size or no type.
    fn structure(&self, fields: &[Field], parts: &[Option<ExtendedType>]) -> Option<(StoredType, Value)> {
        let (mut offset, mut stored, mut names) = (0u64, Vec::new(), Vec::new());
        for (at, field) in fields.iter().enumerate() {
            let (part, data_type) = self.field(field, parts.get(at).and_then(Option::as_ref))?;
            let count = field.element_count();
            names.push(match field.dims.as_slice() {
                [] => json!([field.name, data_type]),
                // The fields of Zarr v3 have no shape.
                _ if self.is_v3() => return None,
                dims => json!([field.name, data_type, dims]),
            });
            let len = part.byte_len()?.checked_mul(count)?;
            stored.push(StoredField { offset, stored: part, count });
            offset = offset.checked_add(len)?;
        }
        let data_type = if self.is_v3() {
            json!({"name": "structured", "configuration": {"fields": names}})
        } else {
            Value::Array(names)
        };
        Some((StoredType::Compound { byte_len: offset, fields: stored.into() }, data_type))
    }

    fn field(&self, field: &Field, extended: Option<&ExtendedType>) -> Option<(StoredType, Value)> {
        let order = ByteOrder::Little;
        let id = match field.ty {
            TypeRef::Atomic(atomic) => {
                let known = self.extended_atomic(atomic, extended, order);
                return known.or_else(|| self.plain(atomic));
            }
            TypeRef::User(id) => id,
        };
        match (&self.model.user_type(id)?.kind, extended) {
            (UserKind::Enum { base, .. }, _) => self.plain(*base),
            (UserKind::Compound(fields), _) if complex_part(fields).is_some() => {
                let part = complex_part(fields)?;
                let size = part.byte_len()? as u64;
                let at = |offset| StoredField { offset, stored: stored_number(part, order), count: 1 };
                let stored = StoredType::Compound { byte_len: 2 * size, fields: [at(0), at(size)].into() };
                let name =
                    if self.is_v3() { format!("complex{}", 16 * size) } else { format!("<c{}", 2 * size) };
                Some((stored, json!(name)))
            }
            (UserKind::Compound(fields), Some(ExtendedType::Fields(parts))) => self.structure(fields, parts),
            (UserKind::Compound(fields), _) => self.structure(fields, &[]),
            (UserKind::Opaque(byte_len), _) => {
                let name = if self.is_v3() {
                    json!({"name": "raw_bytes", "configuration": {"length_bytes": byte_len}})
                } else {
                    json!(format!("|V{byte_len}"))
                };
                Some((StoredType::Opaque { byte_len: *byte_len }, name))
            }
            (UserKind::Vlen(_), _) => None,
        }
    }

    fn plain(&self, atomic: Atomic) -> Option<(StoredType, Value)> {
        if !atomic.is_numeric() {
            return None;
        }
        let name = if self.is_v3() { v3_name(atomic) } else { v2_name(atomic, ByteOrder::Little) };
        Some((stored_number(atomic, ByteOrder::Little), json!(name)))
    }
}

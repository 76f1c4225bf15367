//! How each type is stored (docs/spec/nczarr.md 3.12, 6.2, `docs/formats/zarr-writing.md`).
use crate::Dialect;
use ncirrus_layout::{ByteOrder, Error, Result, SequenceItem, StoredField, StoredType, TextEncoding};
use ncirrus_model::{Atomic, ExtendedType, Field, Model, TypeRef, UserKind};
use serde_json::{Value, json};

/// Strings of a fixed number of bytes, for a variable whose longest string is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FixedString {
    /// Bytes of the longest string.
    pub byte_len: u64,
    /// Whether any string is null; if so, empty strings are stored as null strings.
    pub has_nulls: bool,
    /// Whether all strings are UTF-8, and may be shown as such.
    pub is_utf8: bool,
}

/// How the elements of a variable are stored, for the engine and in the metadata.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ElementForm {
    /// For the engine.
    pub(crate) stored: StoredType,
    /// `dtype` (v2) or `data_type` (v3).
    pub(crate) data_type: Value,
    /// The same in consolidated metadata, if zarr-python does not know the data type.
    pub(crate) copied_type: Option<Value>,
    /// The codec that frames elements of variable size.
    pub(crate) framing: Option<&'static str>,
    /// The extension object of the array; `None` if the data type is sufficient.
    pub(crate) extension_type: Option<String>,
    /// An element of only NULs is an empty string, not a null one.
    pub(crate) zeros_are_empty: bool,
    /// Bytes of a fixed number that are UTF-8.
    pub(crate) is_utf8: bool,
    /// Whether the reference has a type for it, so that the array may be listed.
    pub(crate) listed: bool,
    /// Codecs in front of all others, and the fill value, if floats are packed.
    pub(crate) packed: Option<(Vec<Value>, Value)>,
    /// NCZarr v3's type alias for what the data type does not determine (docs/spec/nczarr.md 6.3).
    pub(crate) alias: Option<&'static str>,
}

/// What a form depends on besides the type.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FormOf<'a> {
    pub(crate) model: &'a Model,
    pub(crate) dialect: Dialect,
    pub(crate) order: ByteOrder,
    pub(crate) fixed: Option<FixedString>,
}

impl FormOf<'_> {
    /// The form of a type's elements.
    ///
    /// # Errors
    /// `Unsupported` if the type is not defined or too large.
    pub(crate) fn of(&self, ty: TypeRef, extended: Option<&ExtendedType>) -> Result<ElementForm> {
        let kept = extended.filter(|_| has_types(self.dialect));
        if let Some(form) = kept.and_then(|extended| self.extended(ty, extended)) {
            return Ok(form);
        }
        match ty {
            TypeRef::Atomic(Atomic::Char) => Ok(self.char()),
            TypeRef::Atomic(Atomic::String) => Ok(self.string()),
            TypeRef::Atomic(atomic) => Ok(self.number(atomic)),
            TypeRef::User(_) => self.user(ty),
        }
    }

    pub(super) fn is_v3(&self) -> bool {
        self.dialect.zarr_format() == 3
    }

    pub(super) fn form(stored: StoredType, data_type: Value) -> ElementForm {
        ElementForm {
            stored,
            data_type,
            copied_type: None,
            framing: None,
            extension_type: None,
            zeros_are_empty: false,
            is_utf8: false,
            listed: true,
            packed: None,
            alias: None,
        }
    }

    fn number(&self, atomic: Atomic) -> ElementForm {
        let name = if self.is_v3() { v3_name(atomic) } else { v2_name(atomic, self.order) };
        Self::form(stored_number(atomic, self.order), Value::String(name))
    }

    /// NCZarr needs `>S1`, which only the reference knows; elsewhere `|S1` and an entry in the extension.
    fn char(&self) -> ElementForm {
        let data_type = match self.dialect {
            // The draft of NCZarr v3 has numbers, which no reader recognises as text.
            dialect if dialect.zarr_format() == 3 => fixed_bytes(1),
            dialect => json!(char_dtype(dialect).unwrap_or("|S1")),
        };
        let said = self.dialect == Dialect::Nczarr3 || char_dtype(self.dialect).is_some();
        ElementForm {
            extension_type: (!said).then(|| "char".to_owned()),
            alias: Some("char"),
            ..Self::form(StoredType::Char, data_type)
        }
    }

    fn string(&self) -> ElementForm {
        let Some(FixedString { byte_len, has_nulls, is_utf8 }) = self.fixed else {
            let data_type = if self.is_v3() { json!("string") } else { json!("|O") };
            return ElementForm {
                framing: Some("vlen-utf8"),
                listed: !self.dialect.is_nczarr(),
                alias: Some("string"),
                ..Self::form(StoredType::Sequence(SequenceItem::Text), data_type)
            };
        };
        let byte_len = byte_len.max(1);
        let encoding = if has_nulls { TextEncoding::NulPadded } else { TextEncoding::NulPaddedEmpty };
        let data_type = if self.is_v3() { fixed_bytes(byte_len) } else { json!(format!("|S{byte_len}")) };
        ElementForm {
            extension_type: (!has_nulls || !self.dialect.is_nczarr()).then(|| "string".to_owned()),
            zeros_are_empty: !has_nulls,
            is_utf8,
            listed: !self.dialect.has_one_byte_unicode(),
            alias: Some("string"),
            ..Self::form(StoredType::Text { byte_len, encoding }, data_type)
        }
    }

    fn user(&self, ty: TypeRef) -> Result<ElementForm> {
        let TypeRef::User(id) = ty else { return Err(Error::internal("not a user-defined type")) };
        let Some(definition) = self.model.user_type(id) else {
            return Err(Error::invalid("the variable's type is not defined"));
        };
        let form = match &definition.kind {
            UserKind::Enum { base, .. } => self.number(*base),
            UserKind::Opaque(size) => self.raw(StoredType::Opaque { byte_len: *size }, *size),
            UserKind::Compound(fields) => match self.model.packed_len(ty) {
                Some(len) => self.compound(fields, len)?,
                None => self.sequence(SequenceItem::Packed),
            },
            UserKind::Vlen(base) => match self.model.packed_len(*base) {
                Some(_) => self.sequence(SequenceItem::Array(Box::new(self.packed(*base)?))),
                None => self.sequence(SequenceItem::Packed),
            },
        };
        Ok(ElementForm { extension_type: Some(self.model.type_path(id)), listed: false, alias: None, ..form })
    }

    fn raw(&self, stored: StoredType, byte_len: u64) -> ElementForm {
        let data_type = if self.is_v3() {
            json!({"name": "raw_bytes", "configuration": {"length_bytes": byte_len}})
        } else {
            json!(format!("|V{byte_len}"))
        };
        Self::form(stored, data_type)
    }

    fn sequence(&self, item: SequenceItem) -> ElementForm {
        let data_type = if self.is_v3() { json!("variable_length_bytes") } else { json!("|O") };
        ElementForm { framing: Some("vlen-bytes"), ..Self::form(StoredType::Sequence(item), data_type) }
    }

    fn compound(&self, fields: &[Field], byte_len: u64) -> Result<ElementForm> {
        let stored = self.packed_fields(fields)?;
        if let Some(part) = complex_part(fields).filter(|_| self.dialect != Dialect::Draft2018) {
            let bits = if part == Atomic::Float { 64 } else { 128 };
            let data_type =
                if self.is_v3() { json!(format!("complex{bits}")) } else { json!(format!("<c{}", bits / 8)) };
            return Ok(Self::form(stored, data_type));
        }
        let named = |field: &Field| {
            let ty = self.model.base_atomic(field.ty).filter(|atomic| atomic.is_numeric())?;
            match (self.is_v3(), field.dims.as_slice()) {
                (true, []) => Some(json!([field.name, v3_name(ty)])),
                // The fields of Zarr v3 have no shape.
                (true, _) => None,
                (false, []) => Some(json!([field.name, v2_name(ty, ByteOrder::Little)])),
                (false, dims) => Some(json!([field.name, v2_name(ty, ByteOrder::Little), dims])),
            }
        };
        let Some(named) = fields.iter().map(named).collect::<Option<Vec<_>>>() else {
            return Ok(self.raw(stored, byte_len));
        };
        let data_type = if self.is_v3() {
            json!({"name": "structured", "configuration": {"fields": named}})
        } else {
            Value::Array(named)
        };
        // zarr-python has no fields with a shape.
        let has_arrays = fields.iter().any(|field| !field.dims.is_empty());
        let copied_type = has_arrays.then(|| json!(format!("|V{byte_len}")));
        Ok(ElementForm { copied_type, ..Self::form(stored, data_type) })
    }

    fn packed_fields(&self, fields: &[Field]) -> Result<StoredType> {
        let mut offset = 0u64;
        let mut stored = Vec::with_capacity(fields.len());
        for field in fields {
            let part = self.packed(field.ty)?;
            let count = field.element_count();
            let len = part.byte_len().and_then(|len| len.checked_mul(count));
            stored.push(StoredField { offset, stored: part, count });
            let end = len.and_then(|len| offset.checked_add(len));
            offset = end.ok_or_else(|| Error::unsupported("the compound type is too large"))?;
        }
        Ok(StoredType::Compound { byte_len: offset, fields: stored.into() })
    }

    /// A type of fixed size inside another: packed, little-endian.
    fn packed(&self, ty: TypeRef) -> Result<StoredType> {
        let undefined = || Error::invalid("a type refers to one that is not defined or has no fixed size");
        let id = match ty {
            TypeRef::Atomic(Atomic::Char) => return Ok(StoredType::Char),
            TypeRef::Atomic(Atomic::String) => return Err(undefined()),
            TypeRef::Atomic(atomic) => return Ok(stored_number(atomic, ByteOrder::Little)),
            TypeRef::User(id) => id,
        };
        match &self.model.user_type(id).ok_or_else(undefined)?.kind {
            UserKind::Enum { base, .. } => Ok(stored_number(*base, ByteOrder::Little)),
            UserKind::Opaque(size) => Ok(StoredType::Opaque { byte_len: *size }),
            UserKind::Compound(fields) => self.packed_fields(fields),
            UserKind::Vlen(_) => Err(undefined()),
        }
    }
}

/// Whether arrays of a dialect have types that netCDF does not have: NCZarr upon Zarr v2 has not, because netCDF-C rejects
/// them.
pub(crate) fn has_types(dialect: Dialect) -> bool {
    !dialect.is_nczarr() || dialect.zarr_format() == 3
}

/// Text of that many bytes in Zarr v3, as zarr-python has it.
pub(super) fn fixed_bytes(byte_len: u64) -> Value {
    json!({"name": "null_terminated_bytes", "configuration": {"length_bytes": byte_len}})
}

/// The reference's type alias of NC_CHAR, which distinguishes it from NC_STRING (docs/spec/nczarr.md 3.12); `None`
/// outside its dialects.
pub(crate) fn char_dtype(dialect: Dialect) -> Option<&'static str> {
    match dialect {
        Dialect::Attributes | Dialect::LowerCase => Some(">S1"),
        Dialect::UpperCase | Dialect::UpperCaseXarray => Some("<U1"),
        _ => None,
    }
}

pub(super) fn stored_number(atomic: Atomic, order: ByteOrder) -> StoredType {
    let signed = matches!(atomic, Atomic::Byte | Atomic::Short | Atomic::Int | Atomic::Int64);
    match atomic {
        Atomic::Float => StoredType::Float { size: 4, order },
        Atomic::Double => StoredType::Float { size: 8, order },
        Atomic::Byte | Atomic::UByte | Atomic::Char | Atomic::String => {
            StoredType::Integer { size: 1, signed, order: ByteOrder::Little }
        }
        Atomic::Short | Atomic::UShort => StoredType::Integer { size: 2, signed, order },
        Atomic::Int | Atomic::UInt => StoredType::Integer { size: 4, signed, order },
        Atomic::Int64 | Atomic::UInt64 => StoredType::Integer { size: 8, signed, order },
    }
}

/// Kind letter and size, as in a dtype without its byte order.
pub(crate) fn kind_and_size(atomic: Atomic) -> &'static str {
    match atomic {
        Atomic::Byte => "i1",
        Atomic::Char | Atomic::String => "S1",
        Atomic::Short => "i2",
        Atomic::Int => "i4",
        Atomic::Float => "f4",
        Atomic::Double => "f8",
        Atomic::UByte => "u1",
        Atomic::UShort => "u2",
        Atomic::UInt => "u4",
        Atomic::Int64 => "i8",
        Atomic::UInt64 => "u8",
    }
}

pub(super) fn v2_name(atomic: Atomic, order: ByteOrder) -> String {
    let mark = match (atomic.byte_len(), order) {
        (Some(1) | None, _) => '|',
        (_, ByteOrder::Little) => '<',
        (_, ByteOrder::Big) => '>',
    };
    format!("{mark}{}", kind_and_size(atomic))
}

pub(super) fn v3_name(atomic: Atomic) -> String {
    match atomic {
        Atomic::Byte => "int8",
        Atomic::Short => "int16",
        Atomic::Int => "int32",
        Atomic::Int64 => "int64",
        Atomic::UByte | Atomic::Char | Atomic::String => "uint8",
        Atomic::UShort => "uint16",
        Atomic::UInt => "uint32",
        Atomic::UInt64 => "uint64",
        Atomic::Float => "float32",
        Atomic::Double => "float64",
    }
    .to_owned()
}

/// The type of both parts of complex numbers, which netCDF has as compounds of `r` and `i`; `None` for any other compound.
pub(crate) fn complex_part(fields: &[Field]) -> Option<Atomic> {
    let [real, imaginary] = fields else { return None };
    let is_pair = (real.name.as_str(), imaginary.name.as_str()) == ("r", "i") && real.ty == imaginary.ty;
    let is_plain = real.dims.is_empty() && imaginary.dims.is_empty();
    match real.ty {
        TypeRef::Atomic(part @ (Atomic::Float | Atomic::Double)) if is_pair && is_plain => Some(part),
        _ => None,
    }
}

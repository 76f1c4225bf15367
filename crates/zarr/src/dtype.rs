//! Data types: in metadata, as stored, and as read (docs/spec/nczarr.md 3.12, 6.2).
use ncirrus_layout::{ByteOrder, Error, Result, SequenceItem, StoredField, StoredType, TextEncoding};
use ncirrus_model::{Atomic, ExtendedType, Model, TypeRef, UserKind};
use std::sync::Arc;

mod define;
pub(crate) mod v2;
pub(crate) mod v3;

#[cfg(test)]
mod tests;

/// One element of an array: how it is stored and how it is read.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct DataType {
    /// The stored element.
    pub(crate) stored: StoredType,
    /// The element as read.
    pub(crate) shown: ReaderType,
    /// Set if the integers are times.
    pub(crate) time: Option<TimeUnit>,
    /// What it is beyond what the reader gets.
    pub(crate) extended: Option<ExtendedType>,
    /// The name of the type of one stored number, if netCDF has none of its size: the numbers are widened.
    pub(crate) small: Option<String>,
}

/// The type as read, before user-defined types are defined in the model.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ReaderType {
    /// Values of an atomic type.
    Atomic(Atomic),
    /// Pairs of a real and an imaginary part of that type.
    Complex(Atomic),
    /// Uninterpreted bytes.
    Opaque(u64),
    /// Named fields.
    Compound(Vec<ShownField>),
    /// Lists of any length.
    Vlen(Box<ReaderType>),
}

/// A field of a compound.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ShownField {
    /// Name.
    pub(crate) name: String,
    /// The type of its elements.
    pub(crate) shown: ReaderType,
    /// Its own shape, empty for a single element.
    pub(crate) dims: Vec<u64>,
}

/// The unit of the integers of NumPy's `datetime64` and `timedelta64`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TimeUnit {
    /// Points in time since 1970 rather than durations.
    pub(crate) is_instant: bool,
    /// Name of the unit in CF.
    pub(crate) unit: &'static str,
    /// How many units one step of the integer is.
    pub(crate) scale: u64,
}

impl DataType {
    /// An atomic type, stored in that form.
    pub(crate) fn atomic(atomic: Atomic, stored: StoredType) -> Self {
        let extended = match &stored {
            StoredType::Float { size: 2, .. } => Some(ExtendedType::Float16),
            StoredType::BFloat16 { .. } => Some(ExtendedType::BFloat16),
            StoredType::Text { byte_len, encoding: TextEncoding::Utf32(_) } => {
                Some(ExtendedType::FixedText { len: byte_len / 4 })
            }
            StoredType::Text { byte_len, .. } => Some(ExtendedType::FixedBytes { len: *byte_len }),
            _ => None,
        };
        Self { stored, shown: ReaderType::Atomic(atomic), time: None, extended, small: None }
    }

    /// `byte_len` uninterpreted bytes.
    pub(crate) fn opaque(byte_len: u64) -> Self {
        let stored = StoredType::Opaque { byte_len };
        Self { stored, shown: ReaderType::Opaque(byte_len), time: None, extended: None, small: None }
    }

    /// Fields one after the other: name, type and shape of each.
    ///
    /// # Errors
    /// `Malformed` if the size does not fit 64 bits or a field has no fixed size.
    pub(crate) fn compound(fields: Vec<(String, Self, Vec<u64>)>) -> Result<Self> {
        let mut shown = Vec::with_capacity(fields.len());
        let mut stored = Vec::with_capacity(fields.len());
        let mut extended = Vec::with_capacity(fields.len());
        for (name, field, dims) in fields {
            extended.push(field.extended);
            stored.push((field.stored, element_count(&dims)));
            shown.push(ShownField { name, shown: field.shown, dims });
        }
        let stored =
            pack(stored).ok_or_else(|| Error::malformed("a compound's size is not fixed or too large"))?;
        let extended = extended.iter().any(Option::is_some).then_some(ExtendedType::Fields(extended));
        Ok(Self { stored, shown: ReaderType::Compound(shown), time: None, extended, small: None })
    }

    /// A pair of floats of that type.
    pub(crate) fn complex(part: Atomic, order: ByteOrder) -> Self {
        let size = part.byte_len().unwrap_or(8) as u64;
        let part_at = |offset| StoredField { offset, stored: stored_number(part, order), count: 1 };
        let fields = Arc::from([part_at(0), part_at(size)]);
        let stored = StoredType::Compound { byte_len: 2 * size, fields };
        let extended = match part {
            Atomic::Float => Some(ExtendedType::Complex64),
            Atomic::Double => Some(ExtendedType::Complex128),
            _ => None,
        };
        Self { stored, shown: ReaderType::Complex(part), time: None, extended, small: None }
    }

    /// Numbers that are stored in fewer bytes, or with fewer bits, than netCDF has: as the next larger type.
    pub(crate) fn widened(self, name: &str) -> Self {
        Self { small: Some(name.to_owned()), extended: None, ..self }
    }

    /// True or false.
    pub(crate) fn boolean(order: ByteOrder) -> Self {
        let stored = stored_number(Atomic::UByte, order);
        Self { extended: Some(ExtendedType::Bool), ..Self::atomic(Atomic::UByte, stored) }
    }

    /// 64-bit integers that count so many of NumPy's units.
    pub(crate) fn time(unit: &str, scale: u64, is_instant: bool, order: ByteOrder) -> Self {
        let time = TimeUnit::from_numpy(unit, scale, is_instant);
        let unit = if unit.is_empty() { "generic" } else { unit }.to_owned();
        let extended = Some(if is_instant {
            ExtendedType::DateTime { unit, scale }
        } else {
            ExtendedType::TimeDelta { unit, scale }
        });
        let stored = stored_number(Atomic::Int64, order);
        Self { time, extended, ..Self::atomic(Atomic::Int64, stored) }
    }
}

impl TimeUnit {
    /// The unit of that NumPy code (`s`, `ns`, `D`, ...); `None` for the generic one and unknown ones.
    pub(crate) fn from_numpy(code: &str, scale: u64, is_instant: bool) -> Option<Self> {
        let unit = match code {
            "Y" => "years",
            "M" => "months",
            "W" => "weeks",
            "D" => "days",
            "h" => "hours",
            "m" => "minutes",
            "s" => "seconds",
            "ms" => "milliseconds",
            "us" | "\u{b5}s" | "\u{3bc}s" => "microseconds",
            "ns" => "nanoseconds",
            "ps" => "picoseconds",
            "fs" => "femtoseconds",
            "as" => "attoseconds",
            _ => return None,
        };
        Some(Self { is_instant, unit, scale })
    }

    /// The text of a CF `units` attribute.
    pub(crate) fn cf_units(&self) -> String {
        let scale = if self.scale == 1 { String::new() } else { format!("{} ", self.scale) };
        let since = if self.is_instant { " since 1970-01-01" } else { "" };
        format!("{scale}{}{since}", self.unit)
    }
}

/// Product of the lengths, saturating.
pub(crate) fn element_count(dims: &[u64]) -> u64 {
    dims.iter().fold(1, |product, len| product.saturating_mul(*len))
}

/// How a number of that type is stored in that byte order; char is one byte of text.
pub(crate) fn stored_number(atomic: Atomic, order: ByteOrder) -> StoredType {
    let integer = |size, signed| StoredType::Integer { size, signed, order };
    match atomic {
        Atomic::Byte => integer(1, true),
        Atomic::Short => integer(2, true),
        Atomic::Int => integer(4, true),
        Atomic::Int64 => integer(8, true),
        Atomic::UByte => integer(1, false),
        Atomic::UShort => integer(2, false),
        Atomic::UInt => integer(4, false),
        Atomic::UInt64 => integer(8, false),
        Atomic::Float => StoredType::Float { size: 4, order },
        Atomic::Double => StoredType::Float { size: 8, order },
        Atomic::Char => StoredType::Char,
        Atomic::String => StoredType::Sequence(SequenceItem::Text),
    }
}

/// The type as read for an integer of that size.
pub(crate) fn integer_type(size: u64, signed: bool) -> Option<Atomic> {
    Some(match (size, signed) {
        (1, true) => Atomic::Byte,
        (1, false) => Atomic::UByte,
        (2, true) => Atomic::Short,
        (2, false) => Atomic::UShort,
        (4, true) => Atomic::Int,
        (4, false) => Atomic::UInt,
        (8, true) => Atomic::Int64,
        (8, false) => Atomic::UInt64,
        _ => return None,
    })
}

/// The packed form of a value of a model's type: fields without padding, numbers in that byte order. `None` if it has
/// no fixed size.
pub(crate) fn packed(model: &Model, ty: TypeRef, order: ByteOrder) -> Option<StoredType> {
    let id = match ty {
        TypeRef::Atomic(Atomic::String) => return None,
        TypeRef::Atomic(atomic) => return Some(stored_number(atomic, order)),
        TypeRef::User(id) => id,
    };
    match &model.user_type(id)?.kind {
        UserKind::Enum { base, .. } => Some(stored_number(*base, order)),
        UserKind::Opaque(byte_len) => Some(StoredType::Opaque { byte_len: *byte_len }),
        UserKind::Vlen(_) => None,
        UserKind::Compound(fields) => {
            let stored = |field: &ncirrus_model::Field| {
                Some((packed(model, field.ty, order)?, element_count(&field.dims)))
            };
            pack(fields.iter().map(stored).collect::<Option<_>>()?)
        }
    }
}

/// A compound of consecutive fields, each with a number of elements; `None` if one has no fixed size or the sum does
/// not fit 64 bits.
fn pack(fields: Vec<(StoredType, u64)>) -> Option<StoredType> {
    let mut offset = 0u64;
    let place = |(stored, count): (StoredType, u64)| {
        let field = StoredField { offset, stored, count };
        offset = offset.checked_add(field.stored.byte_len()?.checked_mul(count)?)?;
        Some(field)
    };
    let fields: Arc<[StoredField]> = fields.into_iter().map(place).collect::<Option<_>>()?;
    Some(StoredType::Compound { byte_len: offset, fields })
}

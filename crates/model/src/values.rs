//! Values of any netCDF type, in columnar form.
use crate::{Atomic, TypeRef};
use std::ops::Range;

/// Values of one type, in row-major order of the array they come from.
///
/// Enum values are values of the enum's base type. A compound is one column per field; a field with dimensions has
/// the product of its lengths per compound. A vlen is one column of all elements and the end of each value.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// `NC_BYTE`
    Byte(Vec<i8>),
    /// `NC_CHAR`
    Char(Vec<u8>),
    /// `NC_SHORT`
    Short(Vec<i16>),
    /// `NC_INT`
    Int(Vec<i32>),
    /// `NC_FLOAT`
    Float(Vec<f32>),
    /// `NC_DOUBLE`
    Double(Vec<f64>),
    /// `NC_UBYTE`
    UByte(Vec<u8>),
    /// `NC_USHORT`
    UShort(Vec<u16>),
    /// `NC_UINT`
    UInt(Vec<u32>),
    /// `NC_INT64`
    Int64(Vec<i64>),
    /// `NC_UINT64`
    UInt64(Vec<u64>),
    /// `NC_STRING`
    String(Strings),
    /// Opaque values of `size` bytes each.
    Opaque {
        /// Bytes of one value.
        size: usize,
        /// All values, one after the other.
        bytes: Vec<u8>,
    },
    /// Vlen values: value `i` is `elements[ends[i - 1]..ends[i]]`, with 0 before the first.
    Vlen {
        /// Where each value ends, counted in elements.
        ends: Vec<usize>,
        /// The elements of all values.
        elements: Box<Values>,
    },
    /// Compound values.
    Compound {
        /// Number of compounds.
        len: usize,
        /// One column per field, in definition order.
        fields: Vec<Values>,
    },
}

/// Strings of any length; each may be null (`NIL`), which differs from empty. The bytes are UTF-8 by convention only.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Strings {
    ends: Vec<usize>,
    nil: Vec<bool>,
    bytes: Vec<u8>,
}

impl Strings {
    /// No strings.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends a string, or a null.
    pub fn push(&mut self, text: Option<&[u8]>) {
        self.bytes.extend_from_slice(text.unwrap_or_default());
        self.ends.push(self.bytes.len());
        self.nil.push(text.is_none());
    }

    /// Number of strings.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The string at `index`; `None` if it is null or past the end.
    pub fn get(&self, index: usize) -> Option<&[u8]> {
        if self.nil.get(index).copied().unwrap_or(true) {
            return None;
        }
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        self.bytes.get(start..self.ends[index])
    }

    /// All strings in order, `None` for nulls.
    pub fn iter(&self) -> impl Iterator<Item = Option<&[u8]>> + '_ {
        (0..self.len()).map(|index| self.get(index))
    }

    /// Length of the longest string in bytes.
    pub fn max_len(&self) -> usize {
        self.iter().flatten().map(<[u8]>::len).max().unwrap_or(0)
    }

    /// Bytes held by all strings together.
    pub fn byte_len(&self) -> usize {
        self.bytes.len()
    }
}

impl<S: AsRef<str>> FromIterator<Option<S>> for Strings {
    fn from_iter<I: IntoIterator<Item = Option<S>>>(items: I) -> Self {
        let mut strings = Self::new();
        items.into_iter().for_each(|text| strings.push(text.as_ref().map(|text| text.as_ref().as_bytes())));
        strings
    }
}

/// Expands the same expression for each vector of fixed-size atomic values.
macro_rules! on_fixed {
    ($values:expr, $vector:ident => $then:expr, $otherwise:expr) => {
        match $values {
            Values::Byte($vector) => $then,
            Values::Char($vector) | Values::UByte($vector) => $then,
            Values::Short($vector) => $then,
            Values::Int($vector) => $then,
            Values::Float($vector) => $then,
            Values::Double($vector) => $then,
            Values::UShort($vector) => $then,
            Values::UInt($vector) => $then,
            Values::Int64($vector) => $then,
            Values::UInt64($vector) => $then,
            Values::String(_) | Values::Opaque { .. } | Values::Vlen { .. } | Values::Compound { .. } => {
                $otherwise
            }
        }
    };
}

impl Values {
    /// `count` zeros (null strings) of an atomic type.
    pub fn zeroed(atomic: Atomic, count: usize) -> Self {
        match atomic {
            Atomic::Byte => Self::Byte(vec![0; count]),
            Atomic::Char => Self::Char(vec![0; count]),
            Atomic::Short => Self::Short(vec![0; count]),
            Atomic::Int => Self::Int(vec![0; count]),
            Atomic::Float => Self::Float(vec![0.0; count]),
            Atomic::Double => Self::Double(vec![0.0; count]),
            Atomic::UByte => Self::UByte(vec![0; count]),
            Atomic::UShort => Self::UShort(vec![0; count]),
            Atomic::UInt => Self::UInt(vec![0; count]),
            Atomic::Int64 => Self::Int64(vec![0; count]),
            Atomic::UInt64 => Self::UInt64(vec![0; count]),
            Atomic::String => Self::String((0..count).map(|_| None::<&str>).collect()),
        }
    }

    /// Number of values.
    pub fn len(&self) -> usize {
        match self {
            Self::String(strings) => strings.len(),
            Self::Opaque { size, bytes } => bytes.len().checked_div(*size).unwrap_or(0),
            Self::Vlen { ends, .. } => ends.len(),
            Self::Compound { len, .. } => *len,
            fixed => on_fixed!(fixed, vector => vector.len(), 0),
        }
    }

    /// Whether there is no value.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The atomic type, unless the values are opaque, vlen or compound.
    pub fn atomic(&self) -> Option<Atomic> {
        Some(match self {
            Self::Byte(_) => Atomic::Byte,
            Self::Char(_) => Atomic::Char,
            Self::Short(_) => Atomic::Short,
            Self::Int(_) => Atomic::Int,
            Self::Float(_) => Atomic::Float,
            Self::Double(_) => Atomic::Double,
            Self::UByte(_) => Atomic::UByte,
            Self::UShort(_) => Atomic::UShort,
            Self::UInt(_) => Atomic::UInt,
            Self::Int64(_) => Atomic::Int64,
            Self::UInt64(_) => Atomic::UInt64,
            Self::String(_) => Atomic::String,
            Self::Opaque { .. } | Self::Vlen { .. } | Self::Compound { .. } => return None,
        })
    }

    /// The memory of fixed-size atomic or opaque values, in the machine's byte order.
    pub fn as_bytes(&self) -> Option<&[u8]> {
        match self {
            Self::Opaque { bytes, .. } => Some(bytes),
            fixed => on_fixed!(fixed, vector => Some(bytemuck::cast_slice(vector)), None),
        }
    }

    /// As [`as_bytes`](Self::as_bytes), mutable.
    pub fn as_bytes_mut(&mut self) -> Option<&mut [u8]> {
        match self {
            Self::Opaque { bytes, .. } => Some(bytes),
            fixed => on_fixed!(fixed, vector => Some(bytemuck::cast_slice_mut(vector)), None),
        }
    }

    /// Values of an atomic fixed-size type from memory in the machine's byte order; `None` for strings or if the
    /// length is not a multiple of the element's.
    pub fn from_native_bytes(atomic: Atomic, bytes: &[u8]) -> Option<Self> {
        let size = atomic.byte_len()?;
        if !bytes.len().is_multiple_of(size) {
            return None;
        }
        let mut values = Self::zeroed(atomic, bytes.len() / size);
        values.as_bytes_mut()?.copy_from_slice(bytes);
        Some(values)
    }

    /// The value at `index` as an integer; `None` for other types or past the end.
    pub fn integer(&self, index: usize) -> Option<i128> {
        Some(match self {
            Self::Byte(v) => i128::from(*v.get(index)?),
            Self::Short(v) => i128::from(*v.get(index)?),
            Self::Int(v) => i128::from(*v.get(index)?),
            Self::UByte(v) => i128::from(*v.get(index)?),
            Self::UShort(v) => i128::from(*v.get(index)?),
            Self::UInt(v) => i128::from(*v.get(index)?),
            Self::Int64(v) => i128::from(*v.get(index)?),
            Self::UInt64(v) => i128::from(*v.get(index)?),
            _ => return None,
        })
    }

    /// The value at `index` as a double (64-bit integers may be rounded); `None` for text and user types.
    pub fn number(&self, index: usize) -> Option<f64> {
        match self {
            Self::Float(v) => v.get(index).map(|value| f64::from(*value)),
            Self::Double(v) => v.get(index).copied(),
            #[expect(clippy::cast_precision_loss, reason = "documented: the nearest double is returned")]
            other => other.integer(index).map(|value| value as f64),
        }
    }

    /// Whether the values are bitwise equal: a NaN equals itself, and 0 is not -0.
    pub fn is_identical(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::String(ours), Self::String(theirs)) => ours == theirs,
            (Self::Opaque { size, bytes }, Self::Opaque { size: other_size, bytes: other_bytes }) => {
                size == other_size && bytes == other_bytes
            }
            (Self::Vlen { ends, elements }, Self::Vlen { ends: other_ends, elements: other_elements }) => {
                ends == other_ends && elements.is_identical(other_elements)
            }
            (Self::Compound { len, fields }, Self::Compound { len: other_len, fields: other_fields }) => {
                let mut pairs = fields.iter().zip(other_fields);
                len == other_len
                    && fields.len() == other_fields.len()
                    && pairs.all(|(ours, theirs)| ours.is_identical(theirs))
            }
            _ => {
                self.atomic().is_some()
                    && self.atomic() == other.atomic()
                    && self.as_bytes() == other.as_bytes()
            }
        }
    }

    /// Values equal to these but with `range` only; indices past the end are left out.
    pub fn slice(&self, range: Range<usize>) -> Self {
        let mut part = self.empty_like();
        let range = range.start.min(self.len())..range.end.min(self.len());
        part.extend_from(self, range);
        part
    }

    /// No values, of the same type.
    pub fn empty_like(&self) -> Self {
        match self {
            Self::Opaque { size, .. } => Self::Opaque { size: *size, bytes: Vec::new() },
            Self::Vlen { elements, .. } => {
                Self::Vlen { ends: Vec::new(), elements: Box::new(elements.empty_like()) }
            }
            Self::Compound { fields, .. } => {
                Self::Compound { len: 0, fields: fields.iter().map(Self::empty_like).collect() }
            }
            atomic => Self::zeroed(atomic.atomic().unwrap_or(Atomic::Byte), 0),
        }
    }

    /// Appends `other[range]`. Returns false, and changes nothing, if the types differ or the range is outside.
    pub fn extend_from(&mut self, other: &Self, range: Range<usize>) -> bool {
        if range.start > range.end || range.end > other.len() {
            return false;
        }
        match (self, other) {
            (Self::Byte(to), Self::Byte(from)) => to.extend_from_slice(&from[range]),
            (Self::Char(to), Self::Char(from)) | (Self::UByte(to), Self::UByte(from)) => {
                to.extend_from_slice(&from[range]);
            }
            (Self::Short(to), Self::Short(from)) => to.extend_from_slice(&from[range]),
            (Self::Int(to), Self::Int(from)) => to.extend_from_slice(&from[range]),
            (Self::Float(to), Self::Float(from)) => to.extend_from_slice(&from[range]),
            (Self::Double(to), Self::Double(from)) => to.extend_from_slice(&from[range]),
            (Self::UShort(to), Self::UShort(from)) => to.extend_from_slice(&from[range]),
            (Self::UInt(to), Self::UInt(from)) => to.extend_from_slice(&from[range]),
            (Self::Int64(to), Self::Int64(from)) => to.extend_from_slice(&from[range]),
            (Self::UInt64(to), Self::UInt64(from)) => to.extend_from_slice(&from[range]),
            (Self::String(to), Self::String(from)) => range.for_each(|index| to.push(from.get(index))),
            (Self::Opaque { size, bytes }, Self::Opaque { size: same, bytes: from }) if size == same => {
                bytes.extend_from_slice(&from[range.start * *size..range.end * *size]);
            }
            (Self::Vlen { ends, elements }, Self::Vlen { ends: from_ends, elements: from }) => {
                let first = if range.start == 0 { 0 } else { from_ends[range.start - 1] };
                let last = if range.end == 0 { 0 } else { from_ends[range.end - 1] };
                let base = elements.len();
                if !elements.extend_from(from, first..last) {
                    return false;
                }
                ends.extend(from_ends[range].iter().map(|end| base + (end - first)));
            }
            (Self::Compound { len, fields }, Self::Compound { len: from_len, fields: from }) => {
                return extend_compound((len, fields), (*from_len, from), range);
            }
            _ => return false,
        }
        true
    }

    /// A copy with `count` repetitions of the first value; empty if there is none.
    pub fn repeat(&self, count: usize) -> Self {
        let mut repeated = self.empty_like();
        let one = 0..1.min(self.len());
        (0..count).for_each(|_| _ = repeated.extend_from(self, one.clone()));
        repeated
    }

    /// Whether these can be values of `ty` (of any user-defined type if `ty` is one: its kind is not looked up).
    pub fn is_of(&self, ty: TypeRef) -> bool {
        match ty {
            TypeRef::Atomic(atomic) => self.atomic() == Some(atomic),
            TypeRef::User(_) => {
                !matches!(self, Self::Char(_) | Self::String(_) | Self::Float(_) | Self::Double(_))
            }
        }
    }
}

fn extend_compound(to: (&mut usize, &mut [Values]), from: (usize, &[Values]), range: Range<usize>) -> bool {
    let (len, fields) = to;
    let (from_len, from_fields) = from;
    if fields.len() != from_fields.len() {
        return false;
    }
    for (field, from) in fields.iter_mut().zip(from_fields) {
        let each = from.len().checked_div(from_len).unwrap_or(0);
        if !field.extend_from(from, range.start * each..range.end * each) {
            return false;
        }
    }
    *len += range.len();
    true
}

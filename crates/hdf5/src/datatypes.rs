//! Dataspaces, datatypes, fill values, attributes, and the decoding of stored elements (docs/spec/hdf5-netcdf4.md
//! C.5, D, F.2, F.3).
mod attribute;
mod datatype;
mod fill;
mod space;
#[cfg(test)]
mod tests;
mod value;

pub(crate) use attribute::{RawAttribute, attribute_name, attributes, dense_attributes};
pub(crate) use datatype::datatype;
pub(crate) use fill::fill;
pub(crate) use space::dataspace;
pub(crate) use value::{ValueResolver, native, object_references, stored, values};

use crate::address::FileAddress;
use bytes::Bytes;
use ncirrus_layout::ByteOrder;
use ncirrus_model::Atomic;
use std::sync::Arc;

/// The shape of a dataset or attribute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Dataspace {
    /// No elements at all.
    Null,
    /// One element.
    Scalar,
    /// An array.
    Simple {
        dims: Vec<u64>,
        /// Maximum lengths; `None` for unlimited.
        max: Vec<Option<u64>>,
    },
}

impl Dataspace {
    /// Current lengths; none for scalar and null.
    pub(crate) fn dims(&self) -> &[u64] {
        match self {
            Self::Simple { dims, .. } => dims,
            Self::Null | Self::Scalar => &[],
        }
    }

    /// Number of elements, saturating.
    pub(crate) fn count(&self) -> u64 {
        match self {
            Self::Null => 0,
            Self::Scalar => 1,
            Self::Simple { dims, .. } => dims.iter().fold(1, |count, len| count.saturating_mul(*len)),
        }
    }
}

/// A datatype as stored in the file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Datatype {
    /// Bytes of one element in the file; at least 1.
    pub(crate) byte_len: u64,
    pub(crate) class: DatatypeClass,
    /// The object header of its committed type, in the file being read.
    pub(crate) committed: Option<FileAddress>,
}

/// The class of a datatype.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum DatatypeClass {
    Integer(BitField),
    /// Bits without numeric meaning; read as an unsigned integer.
    BitField(BitField),
    Float(FloatFormat),
    Time,
    /// Text of fixed length.
    Text(StringPadding),
    /// Text of any length, in a global heap.
    VlenText(StringPadding),
    Opaque,
    Compound(Arc<[CompoundMember]>),
    Reference(ReferenceKind),
    Enum {
        base: Box<Datatype>,
        members: Arc<[EnumValue]>,
    },
    Vlen(Box<Datatype>),
    Array {
        dims: Vec<u64>,
        base: Box<Datatype>,
    },
    /// Two floats: real and imaginary part.
    Complex(Box<Datatype>),
}

/// The positions of an integer's bits in its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BitField {
    pub(crate) order: ByteOrder,
    pub(crate) signed: bool,
    /// First bit and number of bits, of the element in its byte order.
    pub(crate) offset: u16,
    pub(crate) precision: u16,
}

/// The positions of a floating-point number's parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FloatFormat {
    pub(crate) order: FloatOrder,
    pub(crate) offset: u16,
    pub(crate) precision: u16,
    pub(crate) sign: u8,
    pub(crate) exponent: (u8, u8),
    pub(crate) mantissa: (u8, u8),
    pub(crate) bias: u32,
    pub(crate) norm: MantissaNorm,
}

/// Byte order of floating-point numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FloatOrder {
    Little,
    Big,
    /// Little-endian 16-bit words, most significant word first.
    Vax,
}

/// How the mantissa is normalised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MantissaNorm {
    None,
    MsbSet,
    Implied,
}

/// How text is padded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StringPadding {
    NulTerminated,
    NulPadded,
    SpacePadded,
}

/// The kind and form of a reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReferenceKind {
    Object,
    Region,
    NewObject,
    NewRegion,
    NewAttribute,
}

/// A member of a compound.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CompoundMember {
    pub(crate) name: String,
    pub(crate) offset: u64,
    pub(crate) datatype: Datatype,
}

/// A name and its value in an enumeration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EnumValue {
    pub(crate) name: String,
    pub(crate) value: i128,
}

/// The value of elements that were never written.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct FillMessage {
    /// One stored element; `None`: zeros.
    pub(crate) value: Option<Bytes>,
    /// The writer never fills (`NC_NOFILL`).
    pub(crate) never: bool,
}

/// The data model's type for values of a datatype (docs/spec/hdf5-netcdf4.md D.4).
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum NativeType {
    /// An atomic type.
    Atomic(Atomic),
    /// An enumeration of that base.
    Enum(Atomic),
    /// Uninterpreted bytes.
    Opaque,
    /// Fields: those of the compound, or `r` and `i` of a complex number.
    Compound,
    /// Any number of elements.
    Vlen,
    /// Elements of the base type: further dimensions for a variable, the dimensions of a field for a member.
    Array,
    /// Paths of objects, with the selected part, as strings.
    Reference,
    /// Not representable, for this reason.
    None(String),
}

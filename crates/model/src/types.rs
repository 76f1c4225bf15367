//! Atomic and user-defined types (netCDF-4 data model; NUG, "Data model").
use crate::Values;
use crate::tree::TypeId;

/// The twelve atomic types of netCDF-4.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Atomic {
    /// Signed 8-bit integer (`NC_BYTE`).
    Byte,
    /// One byte of text (`NC_CHAR`).
    Char,
    /// Signed 16-bit integer (`NC_SHORT`).
    Short,
    /// Signed 32-bit integer (`NC_INT`).
    Int,
    /// IEEE 754 binary32 (`NC_FLOAT`).
    Float,
    /// IEEE 754 binary64 (`NC_DOUBLE`).
    Double,
    /// Unsigned 8-bit integer (`NC_UBYTE`).
    UByte,
    /// Unsigned 16-bit integer (`NC_USHORT`).
    UShort,
    /// Unsigned 32-bit integer (`NC_UINT`).
    UInt,
    /// Signed 64-bit integer (`NC_INT64`).
    Int64,
    /// Unsigned 64-bit integer (`NC_UINT64`).
    UInt64,
    /// Text of any length (`NC_STRING`).
    String,
}

impl Atomic {
    /// All atomic types, in the order of their `nc_type` numbers.
    pub const ALL: [Self; 12] = [
        Self::Byte,
        Self::Char,
        Self::Short,
        Self::Int,
        Self::Float,
        Self::Double,
        Self::UByte,
        Self::UShort,
        Self::UInt,
        Self::Int64,
        Self::UInt64,
        Self::String,
    ];

    /// The type's name in CDL.
    pub fn name(self) -> &'static str {
        match self {
            Self::Byte => "byte",
            Self::Char => "char",
            Self::Short => "short",
            Self::Int => "int",
            Self::Float => "float",
            Self::Double => "double",
            Self::UByte => "ubyte",
            Self::UShort => "ushort",
            Self::UInt => "uint",
            Self::Int64 => "int64",
            Self::UInt64 => "uint64",
            Self::String => "string",
        }
    }

    /// The type with that CDL name (canonical names only).
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|atomic| atomic.name() == name)
    }

    /// The `nc_type` number: 1 for byte up to 12 for string.
    pub fn number(self) -> u8 {
        match self {
            Self::Byte => 1,
            Self::Char => 2,
            Self::Short => 3,
            Self::Int => 4,
            Self::Float => 5,
            Self::Double => 6,
            Self::UByte => 7,
            Self::UShort => 8,
            Self::UInt => 9,
            Self::Int64 => 10,
            Self::UInt64 => 11,
            Self::String => 12,
        }
    }

    /// Bytes of one value; `None` for strings.
    pub fn byte_len(self) -> Option<usize> {
        match self {
            Self::Byte | Self::Char | Self::UByte => Some(1),
            Self::Short | Self::UShort => Some(2),
            Self::Int | Self::UInt | Self::Float => Some(4),
            Self::Int64 | Self::UInt64 | Self::Double => Some(8),
            Self::String => None,
        }
    }

    /// Whether netCDF-3 (CDF-1, CDF-2) knows the type.
    pub fn is_classic(self) -> bool {
        matches!(self, Self::Byte | Self::Char | Self::Short | Self::Int | Self::Float | Self::Double)
    }

    /// Whether values are numbers (everything but char and string).
    pub fn is_numeric(self) -> bool {
        !matches!(self, Self::Char | Self::String)
    }

    /// Whether values are integers.
    pub fn is_integer(self) -> bool {
        self.is_numeric() && !matches!(self, Self::Float | Self::Double)
    }

    /// Smallest and largest value of an integer type; `None` for the others.
    pub fn integer_range(self) -> Option<(i128, i128)> {
        Some(match self {
            Self::Byte => (i8::MIN.into(), i8::MAX.into()),
            Self::UByte => (0, u8::MAX.into()),
            Self::Short => (i16::MIN.into(), i16::MAX.into()),
            Self::UShort => (0, u16::MAX.into()),
            Self::Int => (i32::MIN.into(), i32::MAX.into()),
            Self::UInt => (0, u32::MAX.into()),
            Self::Int64 => (i64::MIN.into(), i64::MAX.into()),
            Self::UInt64 => (0, u64::MAX.into()),
            Self::Char | Self::Float | Self::Double | Self::String => return None,
        })
    }
}

/// A type as variables, attributes, fields and bases refer to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TypeRef {
    /// One of the twelve built-in types.
    Atomic(Atomic),
    /// A type defined in the dataset.
    User(TypeId),
}

impl From<Atomic> for TypeRef {
    fn from(atomic: Atomic) -> Self {
        Self::Atomic(atomic)
    }
}

/// A type defined in a group of the dataset.
#[derive(Debug, Clone, PartialEq)]
pub struct UserType {
    /// Simple name, unique in its group.
    pub name: String,
    /// The kind of the type.
    pub kind: UserKind,
}

/// The four kinds of user-defined type.
#[derive(Debug, Clone, PartialEq)]
pub enum UserKind {
    /// Named fields, each of any type and with dimension lengths of its own.
    Compound(Vec<Field>),
    /// Named constants of an integer type.
    Enum {
        /// The integer type of the constants.
        base: Atomic,
        /// Constants in definition order.
        members: Vec<EnumMember>,
    },
    /// A number of uninterpreted bytes.
    Opaque(u64),
    /// Any number of values of the base type.
    Vlen(TypeRef),
}

/// A field of a compound type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// Name, unique in the compound.
    pub name: String,
    /// Type of each element.
    pub ty: TypeRef,
    /// Lengths of the field's own array, empty for a single element.
    pub dims: Vec<u64>,
}

impl Field {
    /// Elements of the base type in one field: the product of `dims`, saturating.
    pub fn element_count(&self) -> u64 {
        self.dims.iter().fold(1, |product, len| product.saturating_mul(*len))
    }
}

/// A constant of an enum type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnumMember {
    /// Name, unique in the enum.
    pub name: String,
    /// Value; i128 holds every integer type.
    pub value: i128,
}

impl UserKind {
    /// The name of the enum constant that has `values[index]`, if this is an enum and it has one.
    pub fn member_name(&self, values: &Values, index: usize) -> Option<&str> {
        let Self::Enum { members, .. } = self else { return None };
        let value = values.integer(index)?;
        members.iter().find(|member| member.value == value).map(|member| member.name.as_str())
    }
}

/// What a format says of elements beyond netCDF's types, in NumPy's terms. Values are those of the variable's own type: a
/// `bool` is read as `ubyte`, a complex number as a compound of its two parts.
#[expect(missing_docs, reason = "the fields of the variants are named by what they hold")]
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ExtendedType {
    /// True or false: `ubyte` of 0 and 1.
    Bool,
    /// IEEE 754 binary16: `float`.
    Float16,
    /// The upper half of a binary32: `float`.
    BFloat16,
    /// A pair of `float`: real and imaginary part.
    Complex64,
    /// A pair of `double`.
    Complex128,
    /// Points in time: `int64`, so many times the unit since 1970, the smallest for none. The unit is NumPy's: `s`, `ns`, `D`.
    DateTime { unit: String, scale: u64 },
    /// Durations, likewise.
    TimeDelta { unit: String, scale: u64 },
    /// Bytes of text in so many bytes (NumPy's `S`): `string`.
    FixedBytes { len: u64 },
    /// So many characters of UTF-32 (NumPy's `U`): `string`.
    FixedText { len: u64 },
    /// Floats of Zarr v3, of 4 bytes or 8, that the codecs `scale_offset` and `cast_value` store as integers: integers with the
    /// attributes `scale_factor` and `add_offset`, whose bits are given. The codecs and the fill value are JSON.
    Packed { is_single: bool, factor: u64, offset: u64, codecs: String, fill: String },
    /// A structure: what is said of each of its fields, in their order.
    Fields(Vec<Option<ExtendedType>>),
}

/// Byte order of stored numbers, as requested by the user or as in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Endianness {
    /// The machine's own, or not applicable (one-byte types, strings).
    #[default]
    Native,
    /// Least significant byte first.
    Little,
    /// Most significant byte first.
    Big,
}

impl Endianness {
    /// Whether bytes in this order must be swapped on this machine.
    pub fn is_foreign(self) -> bool {
        match self {
            Self::Native => false,
            Self::Little => cfg!(target_endian = "big"),
            Self::Big => cfg!(target_endian = "little"),
        }
    }
}

//! The description of a variable.
use crate::error::Fault;
use crate::{
    AttributeState, CodecSpec, DimId, Endianness, ExtendedType, FillValue, TypeRef, Values, default_fill,
};

/// A variable: its type, its dimensions, and how it is stored.
#[derive(Debug, Clone, PartialEq)]
pub struct Variable {
    /// Simple name, unique among the variables of its group.
    pub name: String,
    /// Element type.
    pub ty: TypeRef,
    /// Dimensions, slowest first; empty for a scalar.
    pub dims: Vec<DimId>,
    /// Attributes in definition order; `_FillValue` is among them if the variable has its own.
    pub attributes: AttributeState,
    /// The value of elements never written.
    pub fill: FillValue,
    /// Byte order of stored numbers.
    pub endianness: Endianness,
    /// The storage of the elements.
    pub storage: Storage,
    /// Codecs in the order in which they are applied on writing.
    pub filters: Vec<CodecSpec>,
    /// What the format it was read from says of the elements beyond the type.
    pub extended: Option<ExtendedType>,
    /// Set if the variable exists but its values cannot be read.
    pub fault: Option<Fault>,
}

/// The storage of elements.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Storage {
    /// Left to the format.
    #[default]
    Default,
    /// One run of elements.
    Contiguous,
    /// Inside the metadata.
    Compact,
    /// Chunks of this shape, one length per dimension.
    Chunked(Vec<u64>),
    /// Composed of other variables.
    Virtual,
}

impl Variable {
    /// A variable of that name, type and dimensions, everything else default and no attributes.
    pub fn new(name: impl Into<String>, ty: TypeRef, dims: Vec<DimId>) -> Self {
        Self {
            name: name.into(),
            ty,
            dims,
            attributes: AttributeState::Known(crate::Attributes::new()),
            fill: FillValue::Default,
            endianness: Endianness::Native,
            storage: Storage::Default,
            filters: Vec::new(),
            extended: None,
            fault: None,
        }
    }

    /// The value of elements never written, for atomic types: its own fill value or the default.
    pub fn fill_value(&self) -> Option<Values> {
        match (&self.fill, self.ty) {
            (FillValue::Own(fill), _) => Some(fill.clone()),
            (_, TypeRef::Atomic(atomic)) => Some(default_fill(atomic)),
            (_, TypeRef::User(_)) => None,
        }
    }

    /// Number of dimensions.
    pub fn rank(&self) -> usize {
        self.dims.len()
    }
}

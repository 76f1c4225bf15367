//! The description of a variable.
use crate::error::Fault;
use crate::{AttributeState, CodecSpec, DimId, Endianness, FillValue, TypeRef, Values, default_fill};

/// A variable: its type, the dimensions that span it, and how it is stored.
#[derive(Debug, Clone, PartialEq)]
pub struct Variable {
    /// Simple name, unique among the variables of its group.
    pub name: String,
    /// Element type.
    pub ty: TypeRef,
    /// Dimensions, slowest first; empty for a scalar.
    pub dims: Vec<DimId>,
    /// Attributes in definition order; `_FillValue` is among them when the variable has its own.
    pub attributes: AttributeState,
    /// What elements never written hold.
    pub fill: FillValue,
    /// Byte order of stored numbers.
    pub endianness: Endianness,
    /// How the elements lie in storage.
    pub storage: Storage,
    /// Codecs in the order in which they are applied on writing.
    pub filters: Vec<CodecSpec>,
    /// Set when the variable is there but its values cannot be read.
    pub fault: Option<Fault>,
}

/// How elements lie in storage.
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
    /// Put together from other variables.
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
            fault: None,
        }
    }

    /// What elements never written hold, for atomic types: its own fill value or the default.
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

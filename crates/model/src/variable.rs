//! The description of a variable.
use crate::error::Fault;
use crate::{
    AttributeState, CodecSpec, DimId, Endianness, ExtendedType, Fill, TypeRef, Values, default_fill,
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
    /// Attributes in definition order, `_FillValue` among them.
    pub attributes: AttributeState,
    /// Where the value of elements never written comes from.
    pub fill: Fill,
    /// Byte order of stored numbers.
    pub endianness: Endianness,
    /// The storage of the elements.
    pub storage: Storage,
    /// How the chunks share objects; `None` if they do not.
    pub shards: Option<Shards>,
    /// The lengths of all chunks along each axis, if they differ (Zarr v3, "rectilinear"). They count only as long as
    /// `storage` has the shape of the first chunk.
    pub chunk_lengths: Option<Vec<Vec<u64>>>,
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

/// Objects that contain several chunks of a variable each.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Shards {
    /// The shape of a shard in elements: along each dimension a multiple of the chunk's length. A length of 0 is that of
    /// the chunk; without any length the format chooses the shape. If it chooses the chunks, lengths are rounded up to
    /// whole chunks.
    pub shape: Vec<u64>,
    /// Whether the index of the chunks is at the start of the object instead of at its end.
    pub index_first: bool,
}

impl Shards {
    /// Shards of that shape, with the index at the end.
    pub fn new(shape: Vec<u64>) -> Self {
        Self { shape, index_first: false }
    }
}

impl Variable {
    /// A variable of that name, type and dimensions, everything else default and no attributes.
    pub fn new(name: impl Into<String>, ty: TypeRef, dims: Vec<DimId>) -> Self {
        Self {
            name: name.into(),
            ty,
            dims,
            attributes: AttributeState::Known(crate::Attributes::new()),
            fill: Fill::Attribute,
            endianness: Endianness::Native,
            storage: Storage::Default,
            shards: None,
            chunk_lengths: None,
            filters: Vec::new(),
            extended: None,
            fault: None,
        }
    }

    /// The attribute `_FillValue` if it can be the fill value: one element of the variable's type.
    pub fn fill_attribute(&self) -> Option<&Values> {
        let attribute = self.attributes.known()?.find("_FillValue")?;
        (attribute.ty == self.ty && attribute.values.len() == 1).then_some(&attribute.values)
    }

    /// The fill value that the variable was given; `None` if that is the default of its type, or if it has none.
    pub fn own_fill(&self) -> Option<&Values> {
        match &self.fill {
            Fill::Attribute => self.fill_attribute(),
            Fill::Apart(value) => Some(value),
            Fill::Default | Fill::None => None,
        }
    }

    /// Whether elements never written have a defined value.
    pub fn is_filled(&self) -> bool {
        self.fill != Fill::None
    }

    /// The value of elements never written, for atomic types: its own fill value or the default.
    pub fn fill_value(&self) -> Option<Values> {
        match (self.own_fill(), self.ty) {
            (Some(own), _) => Some(own.clone()),
            (None, TypeRef::Atomic(atomic)) => Some(default_fill(atomic)),
            (None, TypeRef::User(_)) => None,
        }
    }

    /// Whether elements never written have the same value as those of `other`.
    pub fn is_filled_as(&self, other: &Self) -> bool {
        self.is_filled() == other.is_filled()
            && match (self.own_fill(), other.own_fill()) {
                (Some(ours), Some(theirs)) => ours.is_identical(theirs),
                (ours, theirs) => ours.is_none() && theirs.is_none(),
            }
    }

    /// The present fill value, apart from the attribute: it stays whatever becomes of that.
    pub fn settled_fill(&self) -> Fill {
        match (self.is_filled(), self.own_fill()) {
            (false, _) => Fill::None,
            (true, Some(own)) => Fill::Apart(own.clone()),
            (true, None) => Fill::Default,
        }
    }

    /// Takes over attributes that were read after the rest. A fill value that was read before, and is that of the
    /// attribute, is the attribute's from now on.
    pub fn take_attributes(&mut self, attributes: AttributeState) {
        self.attributes = attributes;
        let is_attribute = match (&self.fill, self.fill_attribute()) {
            (Fill::Apart(value), Some(attribute)) => value.is_identical(attribute),
            _ => false,
        };
        if is_attribute {
            self.fill = Fill::Attribute;
        }
    }

    /// The lengths of chunks that differ, one list per axis; `None` if all chunks have the shape in `storage`.
    pub fn irregular_chunks(&self) -> Option<&[Vec<u64>]> {
        let (lengths, Storage::Chunked(first)) = (self.chunk_lengths.as_deref()?, &self.storage) else {
            return None;
        };
        let is_first = lengths.len() == first.len()
            && lengths.iter().zip(first).all(|(lengths, first)| lengths.first() == Some(first));
        is_first.then_some(lengths)
    }

    /// Number of dimensions.
    pub fn rank(&self) -> usize {
        self.dims.len()
    }
}

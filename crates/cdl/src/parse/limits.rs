//! How much a text may ask for.

/// Limits that keep hostile texts from using up memory and time.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ParseLimits {
    /// Bytes of a name as it is written.
    pub name_len: usize,
    /// Bytes of one constant: a string, an opaque value.
    pub constant_len: usize,
    /// Bytes of all values of an attribute, and of one element of a variable-length type.
    pub list_len: usize,
    /// Depth of groups, of types within types, and of braces.
    pub nesting: usize,
    /// Members of an enum, fields of a compound.
    pub members: usize,
    /// Groups, dimensions, types, variables and attributes together.
    pub declarations: usize,
    /// Dimensions of a variable or a field.
    pub rank: usize,
    /// Length of a dimension: the largest up to which a double counts.
    pub dimension_len: u64,
    /// Bytes of one element: compounds of long fields, opaque values.
    pub element_len: u64,
    /// Faults that are reported before the parser gives up.
    pub faults: usize,
}

impl Default for ParseLimits {
    fn default() -> Self {
        Self {
            // Each character of a name may follow a backslash.
            name_len: 1024,
            constant_len: 64 << 20,
            list_len: 256 << 20,
            nesting: 64,
            members: 1 << 16,
            declarations: 1 << 20,
            rank: 1024,
            dimension_len: 1 << 53,
            element_len: 64 << 20,
            faults: 20,
        }
    }
}

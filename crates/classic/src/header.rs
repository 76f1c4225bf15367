//! The header: a grammar of lists (NetCDF Users Guide, "The Classic Format Specification"; PnetCDF, "CDF-5").
//!
//! ```text
//! header = magic numrecs dim_list gatt_list var_list
//! list   = ABSENT | TAG nelems [entry ...]
//! dim    = name length            attr = name nc_type nelems [values, padded to 4 bytes]
//! var    = name nelems [dimid ...] vatt_list nc_type vsize begin
//! ```
use crate::FormatVersion;
use crate::cursor::{HeaderCursor, ParseHalt};
use crate::order::from_big_endian;
use ncirrus_layout::{Error, Limits};
use ncirrus_model::{Atomic, Attribute, Attributes, Fault, FaultKind, TypeRef, normalize_name};
use std::collections::HashSet;

/// A parsed header: the contents of the file, not yet validated.
#[derive(Debug)]
pub(crate) struct ClassicHeader {
    pub(crate) version: FormatVersion,
    /// Number of records; `None` if the writer left it open and the file's size determines it.
    pub(crate) records: Option<u64>,
    pub(crate) dims: Vec<HeaderDim>,
    pub(crate) attributes: Attributes,
    pub(crate) vars: Vec<HeaderVar>,
    /// Bytes of the header itself.
    pub(crate) byte_len: u64,
    /// Names that are not UTF-8, as they are shown.
    pub(crate) foreign_names: Vec<String>,
}

/// A dimension; length 0 marks the record dimension.
#[derive(Debug)]
pub(crate) struct HeaderDim {
    pub(crate) name: String,
    pub(crate) len: u64,
}

/// A variable. Its `vsize` is redundant and not kept: it is wrong in large files, and in files of some writers.
#[derive(Debug)]
pub(crate) struct HeaderVar {
    pub(crate) name: String,
    /// Numbers of dimensions; they may be out of range.
    pub(crate) dims: Vec<u64>,
    pub(crate) attributes: Attributes,
    pub(crate) ty: Atomic,
    pub(crate) begin: u64,
}

/// Parses the first four bytes.
///
/// # Errors
/// `Unsupported` for another version of the format, `Malformed` for anything else.
pub(crate) fn version_of(magic: &[u8]) -> Result<FormatVersion, Error> {
    match magic {
        [b'C', b'D', b'F', byte] => FormatVersion::from_byte(*byte).ok_or_else(|| {
            Error::unsupported(format!("version {byte} of the netCDF-3 format (1, 2 and 5 are known)"))
        }),
        other => Err(Error::malformed(format!("not a netCDF-3 file: it begins with {other:02x?}"))),
    }
    .map_err(|error| error.at_offset(0))
}

impl ClassicHeader {
    /// Parses a header from the first bytes of an object of `size` bytes.
    pub(crate) fn parse(bytes: &[u8], size: u64, limits: &Limits) -> Result<Self, ParseHalt> {
        let mut cursor = HeaderCursor::new(bytes, size, limits);
        let version = version_of(cursor.take(4, "the magic number")?)?;
        let mut parser = HeaderParser { cursor, version, foreign_names: Vec::new() };
        let records = parser.cursor.count(version, "the number of records")?;
        let dims = parser.dims()?;
        let attributes = parser.attributes()?;
        let vars = parser.vars()?;
        Ok(Self {
            version,
            records: (records != version.streaming()).then_some(records),
            dims,
            attributes,
            vars,
            byte_len: parser.cursor.at(),
            foreign_names: parser.foreign_names,
        })
    }

    /// Number of the record dimension: the first of length 0.
    pub(crate) fn record_dim(&self) -> Option<u64> {
        self.dims.iter().position(|dim| dim.len == 0).map(|at| at as u64)
    }

    /// Approximate size of the header in memory.
    pub(crate) fn cost(&self) -> usize {
        usize::try_from(self.byte_len).unwrap_or(usize::MAX).saturating_mul(4)
    }
}

struct HeaderParser<'a> {
    cursor: HeaderCursor<'a>,
    version: FormatVersion,
    foreign_names: Vec<String>,
}

impl HeaderParser<'_> {
    fn dims(&mut self) -> Result<Vec<HeaderDim>, ParseHalt> {
        let least = 2 * self.version.count_width();
        let mut dims = Vec::new();
        for _ in 0..self.list(TAG_DIMENSION, least, "dimensions")? {
            let name = self.name()?;
            let len = self.cursor.count(self.version, "the length of a dimension")?;
            dims.push(HeaderDim { name, len });
        }
        Ok(dims)
    }

    fn vars(&mut self) -> Result<Vec<HeaderVar>, ParseHalt> {
        let least = 4 * self.version.count_width() + 8 + self.version.offset_width();
        let mut vars = Vec::new();
        for _ in 0..self.list(TAG_VARIABLE, least, "variables")? {
            vars.push(self.var()?);
        }
        Ok(vars)
    }

    fn var(&mut self) -> Result<HeaderVar, ParseHalt> {
        let name = self.name()?;
        let rank = self.cursor.count(self.version, "the rank of a variable")?;
        self.cursor.entries(rank, self.version.count_width(), "dimensions of a variable")?;
        let max_rank = self.cursor.limits().rank;
        if rank > max_rank {
            let message = format!("{rank} dimensions, more than the limit of {max_rank}");
            return Err(Error::limit(message).at_path(format!("/{name}")).at_offset(self.cursor.at()).into());
        }
        let mut dims = Vec::new();
        for _ in 0..rank {
            dims.push(self.cursor.count(self.version, "the number of a dimension")?);
        }
        let attributes = self.attributes()?;
        let ty = self.ty()?;
        self.cursor.count(self.version, "the size of a variable")?;
        let begin = self.cursor.offset(self.version, "the offset of a variable")?;
        Ok(HeaderVar { name, dims, attributes, ty, begin })
    }

    fn attributes(&mut self) -> Result<Attributes, ParseHalt> {
        let least = 2 * self.version.count_width() + 4;
        let mut attributes = Attributes::new();
        let mut seen = HashSet::new();
        for _ in 0..self.list(TAG_ATTRIBUTE, least, "attributes")? {
            let attribute = self.attribute()?;
            if seen.insert(attribute.name.clone()) {
                attributes.push_distinct(attribute);
            } else {
                let fault = Fault::new(FaultKind::Malformed, "an attribute of this name is listed before");
                attributes.faults.push((attribute.name, fault));
            }
        }
        Ok(attributes)
    }

    fn attribute(&mut self) -> Result<Attribute, ParseHalt> {
        let name = self.name()?;
        let ty = self.ty()?;
        let count = self.cursor.count(self.version, "the length of an attribute")?;
        let size = ty.byte_len().unwrap_or(1) as u64;
        let bytes = self.cursor.take_padded(count.saturating_mul(size), "the value of an attribute")?;
        Ok(Attribute { name, ty: TypeRef::Atomic(ty), values: from_big_endian(ty, bytes), is_json: false })
    }

    /// The number of entries of a list that must have that tag.
    fn list(&mut self, expected: u32, least: u64, what: &str) -> Result<u64, ParseHalt> {
        let tag = self.cursor.u32("the tag of a list")?;
        let count = self.cursor.count(self.version, "the length of a list")?;
        if tag != expected && (tag, count) != (0, 0) {
            return Err(self.cursor.malformed(format!("tag {tag:#x} where a list of {what} is expected")));
        }
        self.cursor.entries(count, least, what)?;
        Ok(count)
    }

    fn ty(&mut self) -> Result<Atomic, ParseHalt> {
        let number = self.cursor.u32("a type")?;
        let known = Atomic::ALL.into_iter().find(|atomic| u32::from(atomic.number()) == number);
        known.filter(|atomic| self.version.holds(*atomic)).ok_or_else(|| {
            self.cursor.malformed(format!("type {number} does not exist in {}", self.version.name()))
        })
    }

    /// A name, in normalization form C, which is how names are compared. Some writers count the NULs that follow it.
    fn name(&mut self) -> Result<String, ParseHalt> {
        let len = self.cursor.count(self.version, "the length of a name")?;
        let bytes = self.cursor.take_padded(len, "a name")?;
        let bytes = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
        match std::str::from_utf8(bytes) {
            Ok(name) => Ok(normalize_name(name)),
            Err(_) => {
                let shown = String::from_utf8_lossy(bytes).into_owned();
                self.foreign_names.push(shown.clone());
                Ok(shown)
            }
        }
    }
}

pub(crate) const TAG_DIMENSION: u32 = 0x0a;
pub(crate) const TAG_VARIABLE: u32 = 0x0b;
pub(crate) const TAG_ATTRIBUTE: u32 = 0x0c;

//! The structure and attributes of a dataset in DAP4: DMR (docs/spec/dap.md 6.1).
use crate::literal::{integer, real};
use ncirrus_layout::Result;
use ncirrus_model::{Atomic, Strings, Values};

mod parser;

/// A DMR: what a dataset, or the answer to a request, consists of.
#[derive(Debug, Clone, PartialEq)]
pub struct Dmr {
    /// The dataset's name.
    pub name: String,
    /// Its root group.
    pub root: DmrGroup,
}

/// A group.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DmrGroup {
    /// Its name; the root has none.
    pub name: String,
    /// Shared dimensions.
    pub dimensions: Vec<DmrDimension>,
    /// Enumerations.
    pub enumerations: Vec<DmrEnumeration>,
    /// Variables, in the order of their data.
    pub variables: Vec<DmrVariable>,
    /// Attributes and containers of them.
    pub attributes: Vec<DmrAttribute>,
    /// Groups; their data follow those of the variables.
    pub groups: Vec<DmrGroup>,
}

/// A shared dimension.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DmrDimension {
    /// Its name.
    pub name: String,
    /// Its length.
    pub size: u64,
    /// Whether the server says that it is unlimited.
    pub unlimited: bool,
}

/// An enumeration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DmrEnumeration {
    /// Its name.
    pub name: String,
    /// The integer type of its constants.
    pub base: Atomic,
    /// Its constants.
    pub constants: Vec<(String, i128)>,
}

/// A variable or member.
#[derive(Debug, Clone, PartialEq)]
pub struct DmrVariable {
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: DmrKind,
    /// Its dimensions, slowest first.
    pub dims: Vec<DmrAxis>,
    /// Paths of its coordinate variables.
    pub maps: Vec<String>,
    /// Attributes and containers of them.
    pub attributes: Vec<DmrAttribute>,
}

/// The kinds of variables.
#[derive(Debug, Clone, PartialEq)]
pub enum DmrKind {
    /// Numbers, characters or strings.
    Atomic(Atomic),
    /// Any number of bytes for each value.
    Opaque,
    /// Constants of an enumeration.
    Enum {
        /// The path of the enumeration.
        path: String,
        /// Its integer type.
        base: Atomic,
    },
    /// Members, one after the other.
    Structure(Vec<DmrVariable>),
    /// Rows of columns.
    Sequence(Vec<DmrVariable>),
}

/// A dimension of a variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DmrAxis {
    /// The path of the shared dimension, if it is one.
    pub path: Option<String>,
    /// Its length.
    pub size: u64,
}

/// An attribute, or a container of more.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DmrAttribute {
    /// Its name.
    pub name: String,
    /// Its type as written; `None` for a container.
    pub ty: Option<String>,
    /// Its values as written.
    pub texts: Vec<String>,
    /// The attributes of a container.
    pub children: Vec<DmrAttribute>,
}

impl Dmr {
    /// Parses a DMR.
    ///
    /// # Errors
    /// The server's own error if the document is one; `Malformed` for other documents, with the place; `Limit` for more
    /// bytes, levels, dimensions or elements than are allowed.
    pub fn parse(document: &[u8], limits: &ncirrus_layout::Limits) -> Result<Self> {
        parser::parse(document, limits)
    }

    /// Variables in the order of their data: those of a group before those of its groups.
    pub fn variables(&self) -> Vec<(Vec<&str>, &DmrVariable)> {
        let mut all = Vec::new();
        collect(&self.root, &mut Vec::new(), &mut all);
        all
    }
}

fn collect<'a>(group: &'a DmrGroup, path: &mut Vec<&'a str>, all: &mut Vec<(Vec<&'a str>, &'a DmrVariable)>) {
    all.extend(group.variables.iter().map(|variable| (path.clone(), variable)));
    for inner in &group.groups {
        path.push(&inner.name);
        collect(inner, path, all);
        path.pop();
    }
}

impl DmrAttribute {
    /// Its values, and how many were written as no number of its type: those are 0. Types that DAP4 does not have are
    /// strings; `None` for a container.
    pub fn values(&self) -> Option<(Values, usize)> {
        let atomic = by_name(self.ty.as_deref()?).unwrap_or(Atomic::String);
        let mut odd = 0;
        macro_rules! integers {
            ($ty:ty) => {
                self.each(&mut odd, |text| integer(text).and_then(|number| <$ty>::try_from(number).ok()))
            };
        }
        let values = match atomic {
            Atomic::Byte => Values::Byte(integers!(i8)),
            Atomic::UByte => Values::UByte(integers!(u8)),
            Atomic::Short => Values::Short(integers!(i16)),
            Atomic::UShort => Values::UShort(integers!(u16)),
            Atomic::Int => Values::Int(integers!(i32)),
            Atomic::UInt => Values::UInt(integers!(u32)),
            Atomic::Int64 => Values::Int64(integers!(i64)),
            Atomic::UInt64 => Values::UInt64(integers!(u64)),
            Atomic::Char => Values::Char(self.texts.concat().into_bytes()),
            #[expect(clippy::cast_possible_truncation, reason = "the nearest float is meant")]
            Atomic::Float => {
                Values::Float(self.each(&mut odd, |text| real(text).map(|number| number as f32)))
            }
            Atomic::Double => Values::Double(self.each(&mut odd, real)),
            Atomic::String => {
                let mut strings = Strings::new();
                self.texts.iter().for_each(|text| strings.push(Some(text.as_bytes())));
                Values::String(strings)
            }
        };
        Some((values, odd))
    }

    fn each<T: Default>(&self, odd: &mut usize, read: impl Fn(&str) -> Option<T>) -> Vec<T> {
        let mut one = |text: &String| {
            let value = read(text);
            *odd += usize::from(value.is_none());
            value.unwrap_or_default()
        };
        self.texts.iter().map(&mut one).collect()
    }
}

/// The netCDF type of a type's name, in upper or lower case.
pub(crate) fn by_name(name: &str) -> Option<Atomic> {
    let types = [
        ("Int8", Atomic::Byte),
        ("UInt8", Atomic::UByte),
        ("Byte", Atomic::UByte),
        ("UByte", Atomic::UByte),
        ("Char", Atomic::Char),
        ("Int16", Atomic::Short),
        ("UInt16", Atomic::UShort),
        ("Int32", Atomic::Int),
        ("UInt32", Atomic::UInt),
        ("Int64", Atomic::Int64),
        ("UInt64", Atomic::UInt64),
        ("Float32", Atomic::Float),
        ("Float64", Atomic::Double),
        ("String", Atomic::String),
        ("URL", Atomic::String),
        ("URI", Atomic::String),
    ];
    types.into_iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, atomic)| atomic)
}

//! The structure of a dataset: DDS (docs/spec/dap.md 2.2).
use crate::WireName;
use crate::lex::{self, TokenKind, TokenReader, WordRule, unexpected};
use ncirrus_layout::{Error, Limits, Result};
use ncirrus_model::Atomic;
use std::collections::HashMap;

/// A DDS: what a dataset, or the answer to a request, consists of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dds {
    /// The dataset's name; often a path, or empty.
    pub name: String,
    /// Its variables in order.
    pub variables: Vec<DdsVariable>,
}

/// A variable, member, array or map.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DdsVariable {
    /// Its name.
    pub name: WireName,
    /// What it is.
    pub kind: DdsKind,
    /// Its dimensions, slowest first.
    pub dims: Vec<DdsDimension>,
}

/// The kinds of variables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DdsKind {
    /// Numbers or strings.
    Atomic(DdsType),
    /// Members, one after the other.
    Structure(Vec<DdsVariable>),
    /// Rows of columns; their number is known only from data.
    Sequence(Vec<DdsVariable>),
    /// An array, and a map for each of its dimensions by position.
    Grid {
        /// The array.
        array: Box<DdsVariable>,
        /// The maps.
        maps: Vec<DdsVariable>,
    },
}

/// The atomic types of DAP2.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names are those of the protocol")]
pub enum DdsType {
    Byte,
    Int16,
    UInt16,
    Int32,
    UInt32,
    Float32,
    Float64,
    String,
    Url,
}

impl DdsType {
    /// The type with that name, in upper or lower case.
    pub fn by_name(name: &str) -> Option<Self> {
        let types = [
            ("Byte", Self::Byte),
            ("Int16", Self::Int16),
            ("UInt16", Self::UInt16),
            ("Int32", Self::Int32),
            ("UInt32", Self::UInt32),
            ("Float32", Self::Float32),
            ("Float64", Self::Float64),
            ("String", Self::String),
            ("Url", Self::Url),
        ];
        types.into_iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, ty)| ty)
    }

    /// The netCDF-4 type of its values: `Byte` is unsigned.
    pub fn atomic(self) -> Atomic {
        match self {
            Self::Byte => Atomic::UByte,
            Self::Int16 => Atomic::Short,
            Self::UInt16 => Atomic::UShort,
            Self::Int32 => Atomic::Int,
            Self::UInt32 => Atomic::UInt,
            Self::Float32 => Atomic::Float,
            Self::Float64 => Atomic::Double,
            Self::String | Self::Url => Atomic::String,
        }
    }
}

/// A dimension of a variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DdsDimension {
    /// Its name, if it has one.
    pub name: Option<WireName>,
    /// Its length.
    pub size: u64,
}

impl Dds {
    /// Parses a DDS. What follows its last `;` is not looked at.
    ///
    /// # Errors
    /// `Malformed` with the place of what does not fit, `Limit` for more bytes, levels, dimensions or variables than
    /// are allowed.
    pub fn parse(text: &[u8], limits: &Limits) -> Result<Self> {
        let text = lex::text(text, "the DDS", limits)?;
        let mut parser = DdsParser { tokens: TokenReader::new(&text, WordRule::Dds), limits, count: 0 };
        parser.tokens.keyword("Dataset")?;
        parser.tokens.expect(b'{')?;
        let variables = parser.members(1)?;
        let name = parser.dataset_name()?;
        Ok(Self { name, variables })
    }
}

impl DdsVariable {
    /// Number of elements: the product of the dimensions, 1 without any.
    ///
    /// # Errors
    /// `Limit` if it does not fit 64 bits.
    pub fn element_count(&self) -> Result<u64> {
        let product = self.dims.iter().try_fold(1_u64, |product, dim| product.checked_mul(dim.size));
        // A length of 0 leaves none, whatever the others are.
        let empty = self.dims.iter().any(|dim| dim.size == 0).then_some(0);
        empty.or(product).ok_or_else(|| Error::limit("more elements than 64 bits can count"))
    }

    /// The members of a structure, the columns of a sequence, array and maps of a grid.
    pub fn members(&self) -> Vec<&Self> {
        match &self.kind {
            DdsKind::Atomic(_) => Vec::new(),
            DdsKind::Structure(members) | DdsKind::Sequence(members) => members.iter().collect(),
            DdsKind::Grid { array, maps } => std::iter::once(&**array).chain(maps).collect(),
        }
    }
}

struct DdsParser<'a, 'l> {
    tokens: TokenReader<'a>,
    limits: &'l Limits,
    count: u64,
}

impl DdsParser<'_, '_> {
    /// Declarations up to the closing brace.
    fn members(&mut self, depth: u32) -> Result<Vec<DdsVariable>> {
        self.limits.depth(depth, "the DDS")?;
        let mut members = Vec::new();
        let mut names = UsedNames::default();
        while !self.tokens.take(b'}')? {
            let mut member = self.declaration(depth)?;
            names.distinguish(&mut member.name);
            members.push(member);
        }
        Ok(members)
    }

    fn declaration(&mut self, depth: u32) -> Result<DdsVariable> {
        self.count += 1;
        self.limits.count(self.count, "the DDS")?;
        let token = self.tokens.next()?;
        let TokenKind::Word(word) = token.kind else { return Err(unexpected(token, "a type")) };
        let kind = if let Some(ty) = DdsType::by_name(word) {
            DdsKind::Atomic(ty)
        } else {
            self.tokens.expect(b'{').map_err(|_| unexpected(token, "a type"))?;
            match word.to_ascii_lowercase().as_str() {
                "structure" => DdsKind::Structure(self.members(depth + 1)?),
                "sequence" => DdsKind::Sequence(self.members(depth + 1)?),
                "grid" => self.grid(depth + 1)?,
                _ => return Err(unexpected(token, "a type")),
            }
        };
        let name = WireName::new(self.tokens.name("a name")?);
        let dims = self.dimensions(&name)?;
        self.tokens.expect(b';')?;
        Ok(DdsVariable { name, kind, dims })
    }

    fn grid(&mut self, depth: u32) -> Result<DdsKind> {
        self.limits.depth(depth, "the DDS")?;
        self.tokens.keyword("Array")?;
        self.tokens.expect(b':')?;
        let array = Box::new(self.declaration(depth)?);
        self.tokens.keyword("Maps")?;
        self.tokens.expect(b':')?;
        let maps = self.members(depth)?;
        Ok(DdsKind::Grid { array, maps })
    }

    fn dimensions(&mut self, variable: &WireName) -> Result<Vec<DdsDimension>> {
        let mut dims = Vec::new();
        while self.tokens.take(b'[')? {
            if dims.len() as u64 >= self.limits.rank {
                let max = self.limits.rank;
                return Err(Error::limit(format!("{} has more than {max} dimensions", variable.shown)));
            }
            dims.push(self.dimension()?);
        }
        Ok(dims)
    }

    /// The text in brackets: `size`, `name = size` or `= size`.
    fn dimension(&mut self) -> Result<DdsDimension> {
        let mut name = None;
        let mut token = self.tokens.next()?;
        if token.kind == TokenKind::Mark(b'=') {
            token = self.tokens.next()?;
        } else if self.tokens.take(b'=')? {
            let (TokenKind::Word(text) | TokenKind::Quoted(text)) = token.kind else {
                return Err(unexpected(token, "the name of a dimension"));
            };
            name = Some(WireName::new(text));
            token = self.tokens.next()?;
        }
        let size = match token.kind {
            TokenKind::Word(word) => word.parse().ok(),
            _ => None,
        };
        let size = size.ok_or_else(|| unexpected(token, "the length of a dimension"))?;
        self.tokens.expect(b']')?;
        Ok(DdsDimension { name, size })
    }

    /// The words before the last `;`; no name at all is one, too.
    fn dataset_name(&mut self) -> Result<String> {
        let mut name = String::new();
        loop {
            let token = self.tokens.next()?;
            match token.kind {
                TokenKind::Mark(b';') => return Ok(name),
                TokenKind::Mark(mark @ (b':' | b'=' | b',')) => name.push(char::from(mark)),
                TokenKind::Word(word) | TokenKind::Quoted(word) => {
                    if !name.is_empty() && !name.ends_with([':', '=', ',']) {
                        name.push(' ');
                    }
                    name.push_str(word);
                }
                _ => return Err(unexpected(token, "';'")),
            }
        }
    }
}

/// The names of one place, and the number that was last added to each.
#[derive(Default)]
struct UsedNames(HashMap<String, u64>);

impl UsedNames {
    /// Numbers a name that one before it has.
    fn distinguish(&mut self, name: &mut WireName) {
        let first = name.shown.clone();
        while self.0.contains_key(&name.shown) {
            let last = self.0.entry(first.clone()).or_default();
            *last += 1;
            name.shown = format!("{first}_{last}");
        }
        self.0.insert(name.shown.clone(), 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Dds> {
        Dds::parse(text.as_bytes(), &Limits::default())
    }

    #[test]
    fn keywords_are_names_where_names_stand() {
        for (array, maps) in [("array:", "MAPS:"), ("Array:", "Maps:"), ("ARRAY:", "maps:")] {
            let dds = parse(&format!(
                "dataset {{ GRID {{ {array} Byte Grid[Grid = 2]; {maps} Byte Grid[Grid=2]; }} Grid; byte Data; \
                 Byte Byte; Int32 Structure[Dataset = 2]; }} x;",
            ))
            .unwrap();
            let names: Vec<_> = dds.variables.iter().map(|v| &*v.name.wire).collect();
            assert_eq!(names, ["Grid", "Data", "Byte", "Structure"]);
            let DdsKind::Grid { array, maps } = &dds.variables[0].kind else { panic!("{dds:?}") };
            assert_eq!((array.dims[0].size, maps.len()), (2, 1));
        }
    }

    #[test]
    fn dimensions_have_names_or_not() {
        let dds = parse("Dataset { URL u[2][= 3][/time = 24]; } ;").unwrap();
        let dims: Vec<_> = dds.variables[0].dims.iter().collect();
        assert_eq!(dims.iter().map(|dim| dim.size).collect::<Vec<_>>(), [2, 3, 24]);
        assert_eq!(dims[2].name.as_ref().map(|name| &*name.shown), Some("time"));
        assert_eq!((dds.name.as_str(), dims[0].name.is_none()), ("", true));
    }

    #[test]
    fn a_name_that_occurs_again_is_numbered() {
        let dds = parse("Dataset { Byte a; Int32 a; Byte a_1; } x y;").unwrap();
        let shown: Vec<_> = dds.variables.iter().map(|variable| &*variable.name.shown).collect();
        assert_eq!(shown, ["a", "a_1", "a_1_1"]);
        assert_eq!((&*dds.variables[1].name.wire, dds.name.as_str()), ("a", "x y"));
    }

    #[test]
    fn more_than_is_allowed_is_refused() {
        let deep = format!("Dataset {{ {} Byte x;", "Structure {".repeat(1_000_000));
        assert!(parse(&deep).unwrap_err().to_string().contains("levels"));
        let wide = Limits { count: 3, ..Limits::default() };
        assert!(Dds::parse(b"Dataset { Byte a; Byte b; Byte c; Byte d; } x;", &wide).is_err());
        let ranks = format!("Dataset {{ Byte x{}; }} x;", "[1]".repeat(1025));
        assert!(parse(&ranks).unwrap_err().to_string().contains("1024 dimensions"));
        let claimed = parse("Dataset { Byte x[1000000000000][1000000000000]; } x;").unwrap();
        assert!(claimed.variables[0].element_count().is_err());
    }

    #[test]
    fn errors_name_token_and_place() {
        let error = parse("Dataset { Int64 x; } y;").unwrap_err();
        assert_eq!(error.to_string(), "'Int64' where a type should be (at byte 10)");
        assert!(parse("Dataset { Byte x[-1]; } y;").is_err());
        assert!(parse("Dataset { Byte x;").unwrap_err().to_string().contains("the end of the text"));
    }
}

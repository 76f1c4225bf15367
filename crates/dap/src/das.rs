//! The attributes of a dataset: DAS (docs/spec/dap.md 2.3).
use crate::lex::{self, Token, TokenKind, TokenReader, WordRule, unexpected};
use crate::literal::{integer, real, unescaped};
use crate::{DdsType, WireName};
use ncirrus_layout::{Limits, Result};
use ncirrus_model::{Strings, Values};

/// A DAS: the items directly under `Attributes`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Das {
    /// Attributes and containers in order.
    pub items: Vec<DasItem>,
}

/// An attribute or a container of more.
#[derive(Debug, Clone, PartialEq)]
pub enum DasItem {
    /// An attribute.
    Attribute(DasAttribute),
    /// Named after a variable, by its path or nested as its structures are; otherwise attributes of the dataset.
    Container {
        /// Its name.
        name: WireName,
        /// Attributes and containers in order.
        items: Vec<DasItem>,
    },
}

/// An attribute as it is written.
#[derive(Debug, Clone, PartialEq)]
pub struct DasAttribute {
    /// Its name.
    pub name: WireName,
    /// Its type.
    pub ty: DdsType,
    /// Its values, quotes removed and escapes as written; there may be none.
    pub texts: Vec<String>,
}

impl Das {
    /// Parses a DAS. What follows its last brace is not looked at; aliases and `OtherXML` are left out.
    ///
    /// # Errors
    /// `Malformed` with the place of what does not fit, `Limit` for more bytes, levels or values than are allowed.
    pub fn parse(text: &[u8], limits: &Limits) -> Result<Self> {
        let text = lex::text(text, "the DAS", limits)?;
        let mut parser = DasParser { tokens: TokenReader::new(&text, WordRule::Das), limits, count: 0 };
        parser.tokens.keyword("Attributes")?;
        parser.tokens.expect(b'{')?;
        Ok(Self { items: parser.items(1)? })
    }
}

impl DasAttribute {
    /// Its values as those of a netCDF-4 type: `Byte` is unsigned. Also, how many of them were written as no number of
    /// that type, or outside of its range: those are 0, or wrapped as two's complement.
    pub fn values(&self) -> (Values, usize) {
        let mut odd = 0;
        let values = match self.ty {
            DdsType::Byte => Values::UByte(self.integers(&mut odd, -0x80, 0xff, |n| n.to_le_bytes()[0])),
            DdsType::Int16 => {
                Values::Short(self.integers(&mut odd, -0x8000, 0x7fff, |n| i16::from_le_bytes(low(n))))
            }
            DdsType::UInt16 => {
                Values::UShort(self.integers(&mut odd, 0, 0xffff, |n| u16::from_le_bytes(low(n))))
            }
            DdsType::Int32 => Values::Int(
                self.integers(&mut odd, i32::MIN.into(), i32::MAX.into(), |n| i32::from_le_bytes(low(n))),
            ),
            DdsType::UInt32 => {
                Values::UInt(self.integers(&mut odd, 0, u32::MAX.into(), |n| u32::from_le_bytes(low(n))))
            }
            #[expect(clippy::cast_possible_truncation, reason = "the nearest float is meant")]
            DdsType::Float32 => Values::Float(self.reals(&mut odd).into_iter().map(|x| x as f32).collect()),
            DdsType::Float64 => Values::Double(self.reals(&mut odd)),
            DdsType::String | DdsType::Url => {
                let mut strings = Strings::new();
                self.texts.iter().for_each(|text| strings.push(Some(&unescaped(text))));
                Values::String(strings)
            }
        };
        (values, odd)
    }

    fn integers<T>(&self, odd: &mut usize, min: i128, max: i128, wrap: impl Fn(i128) -> T) -> Vec<T> {
        let mut one = |text: &String| {
            let number = integer(text);
            *odd += usize::from(!number.is_some_and(|n| (min..=max).contains(&n)));
            wrap(number.unwrap_or(0))
        };
        self.texts.iter().map(&mut one).collect()
    }

    fn reals(&self, odd: &mut usize) -> Vec<f64> {
        let mut one = |text: &String| {
            let number = real(text);
            *odd += usize::from(number.is_none());
            number.unwrap_or(0.0)
        };
        self.texts.iter().map(&mut one).collect()
    }
}

/// The lowest bytes.
fn low<const LEN: usize>(number: i128) -> [u8; LEN] {
    number.to_le_bytes().first_chunk().copied().unwrap_or([0; LEN])
}

struct DasParser<'a, 'l> {
    tokens: TokenReader<'a>,
    limits: &'l Limits,
    count: u64,
}

impl DasParser<'_, '_> {
    /// Attributes and containers up to the closing brace.
    fn items(&mut self, depth: u32) -> Result<Vec<DasItem>> {
        self.limits.depth(depth, "the DAS")?;
        let mut items = Vec::new();
        while !self.tokens.take(b'}')? {
            // Some servers end containers with it.
            if self.tokens.take(b';')? {
                continue;
            }
            if let Some(item) = self.item(depth)? {
                items.push(item);
            }
        }
        Ok(items)
    }

    fn item(&mut self, depth: u32) -> Result<Option<DasItem>> {
        self.counted()?;
        let token = self.tokens.peek()?;
        let word = self.tokens.name("an attribute")?;
        if self.tokens.take(b'{')? {
            let name = WireName::new(word);
            return Ok(Some(DasItem::Container { name, items: self.items(depth + 1)? }));
        }
        if let Some(ty) = DdsType::by_name(word) {
            return self.attribute(ty).map(Some);
        }
        if ["Alias", "OtherXML"].iter().any(|known| word.eq_ignore_ascii_case(known)) {
            while !self.tokens.take(b';')? {
                let token = self.tokens.next()?;
                if token.kind == TokenKind::End {
                    return Err(unexpected(token, "';'"));
                }
            }
            return Ok(None);
        }
        Err(unexpected(token, "the type of an attribute"))
    }

    fn attribute(&mut self, ty: DdsType) -> Result<DasItem> {
        let name = WireName::new(self.tokens.name("the name of an attribute")?);
        let mut texts = Vec::new();
        loop {
            let token: Token<'_> = self.tokens.next()?;
            match token.kind {
                TokenKind::Mark(b';') => break,
                TokenKind::Mark(b',') => {}
                TokenKind::Word(text) | TokenKind::Quoted(text) => {
                    self.counted()?;
                    texts.push(text.to_owned());
                }
                _ => return Err(unexpected(token, &format!("a value of {}", name.shown))),
            }
        }
        Ok(DasItem::Attribute(DasAttribute { name, ty, texts }))
    }

    fn counted(&mut self) -> Result<()> {
        self.count += 1;
        self.limits.count(self.count, "the DAS").map(|_| ())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attributes(text: &str) -> Vec<DasAttribute> {
        let das = Das::parse(format!("Attributes {{ {text} }}").as_bytes(), &Limits::default()).unwrap();
        let attribute = |item| match item {
            DasItem::Attribute(attribute) => attribute,
            DasItem::Container { .. } => panic!("a container"),
        };
        das.items.into_iter().map(attribute).collect()
    }

    #[test]
    fn numbers_are_read_as_servers_write_them() {
        let found = attributes(
            "Byte b 0, 255, -1; Int16 s -32768; UInt32 u 4294967295; Int32 i 1.9, 0x10, zz; \
             Float32 f 1.5f, 1e+30; Float64 d nan, -nan, Infinity, -inf, 1.#INF, 1.#QNAN, 3; Int32 none;",
        );
        let values: Vec<_> = found.iter().map(|attribute| attribute.values()).collect();
        assert_eq!(values[0], (Values::UByte(vec![0, 255, 255]), 0));
        assert_eq!(values[1], (Values::Short(vec![-32768]), 0));
        assert_eq!(values[2], (Values::UInt(vec![u32::MAX]), 0));
        assert_eq!(values[3], (Values::Int(vec![1, 16, 0]), 1));
        assert_eq!(values[4], (Values::Float(vec![1.5, 1e30]), 0));
        let Values::Double(doubles) = &values[5].0 else { panic!("{values:?}") };
        let expected = [f64::NAN, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::INFINITY, f64::NAN, 3.0];
        assert!(
            doubles.iter().zip(expected).all(|(a, b)| *a == b || (a.is_nan() && b.is_nan())),
            "{doubles:?}"
        );
        assert_eq!(values[6], (Values::Int(Vec::new()), 0));
    }

    #[test]
    fn numbers_out_of_range_are_counted() {
        let found = attributes("Byte b 256; Int16 s 40000; UInt16 u -1;");
        let values: Vec<_> = found.iter().map(|attribute| attribute.values()).collect();
        assert_eq!(values[0], (Values::UByte(vec![0]), 1));
        assert_eq!(values[1], (Values::Short(vec![-25536]), 1));
        assert_eq!(values[2], (Values::UShort(vec![65535]), 1));
    }

    #[test]
    fn containers_and_names_of_any_letters() {
        let text =
            "Attributes { NC_GLOBAL { String a:b#c \"x\"; String String \"y\"; } Alias p q; g { h { } }; }";
        let das = Das::parse(text.as_bytes(), &Limits::default()).unwrap();
        let DasItem::Container { name, items } = &das.items[0] else { panic!("{das:?}") };
        let [DasItem::Attribute(first), DasItem::Attribute(second)] = &items[..] else { panic!("{das:?}") };
        assert_eq!((&*name.wire, &*first.name.wire, &*second.name.wire), ("NC_GLOBAL", "a:b#c", "String"));
        assert_eq!(das.items.len(), 2);
    }

    #[test]
    fn more_than_is_allowed_is_refused() {
        let deep = format!("Attributes {{ {}", "a {".repeat(1_000_000));
        assert!(Das::parse(deep.as_bytes(), &Limits::default()).unwrap_err().to_string().contains("levels"));
        let few = Limits { count: 3, ..Limits::default() };
        assert!(Das::parse(b"Attributes { Byte x 1, 2, 3, 4; }", &few).is_err());
        assert!(
            Das::parse(b"Attributes { Complex x 1; }", &few).unwrap_err().to_string().contains("'Complex'")
        );
    }
}

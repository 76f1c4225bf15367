//! The smallest parts of a text.
use super::number::Number;
use super::words::Section;
use std::fmt;

/// A part of the text, read and without its escapes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Token {
    /// The text's end.
    End,
    /// One of `{ } ( ) = , ; : *`.
    Punct(u8),
    /// A word at which a section begins, with its colon.
    Section(Section, String),
    /// A name, or a word that means something by its place.
    Name(String),
    /// Names from the root down.
    Path(Vec<String>),
    Number(Number),
    /// A character in single quotes.
    Char(u8),
    /// Text in double quotes.
    Text(Vec<u8>),
}

impl Token {
    /// Whether it is that punctuation.
    pub(crate) fn is(&self, punct: u8) -> bool {
        *self == Self::Punct(punct)
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::End => f.write_str("end of the text"),
            Self::Punct(byte) => write!(f, "\"{}\"", char::from(*byte)),
            Self::Section(_, word) => write!(f, "\"{word}:\""),
            Self::Name(name) => write!(f, "{:?}", shortened(name)),
            Self::Path(parts) => write!(f, "{:?}", shortened(&format!("/{}", parts.join("/")))),
            Self::Number(number) => write!(f, "the number {number}"),
            Self::Char(byte) => write!(f, "the character '{}'", byte.escape_ascii()),
            Self::Text(text) => write!(f, "the text {:?}", shortened(&String::from_utf8_lossy(text))),
        }
    }
}

/// Characters of a text that messages show.
const SHOWN: usize = 40;

/// The beginning of a text for a message.
pub(crate) fn shortened(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}...", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

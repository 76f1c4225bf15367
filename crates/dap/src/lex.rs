//! The tokens of DDS and DAS (docs/spec/dap.md 2.1).
use crate::limit;
use ncirrus_layout::{Error, Limits, Result};
use std::borrow::Cow;

/// Which words there are: in a DAS, a colon belongs to a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WordRule {
    Dds,
    Das,
}

/// A token and the byte at which it begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Token<'a> {
    pub(crate) kind: TokenKind<'a>,
    pub(crate) at: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenKind<'a> {
    /// One of `{ } [ ] : ; = ,`.
    Mark(u8),
    /// A name, keyword or number.
    Word(&'a str),
    /// The text between quotes, its escapes as written.
    Quoted(&'a str),
    /// The end of the text.
    End,
}

impl std::fmt::Display for TokenKind<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Mark(mark) => write!(f, "'{}'", char::from(*mark)),
            Self::Word(word) => write!(f, "'{}'", crate::shortened(word)),
            Self::Quoted(text) => write!(f, "\"{}\"", crate::shortened(text)),
            Self::End => f.write_str("the end of the text"),
        }
    }
}

/// The text of a DDS or DAS: UTF-8, otherwise each byte is a character of ISO 8859-1.
pub(crate) fn text<'a>(bytes: &'a [u8], what: &str, limits: &Limits) -> Result<Cow<'a, str>> {
    limit::document(bytes.len(), what, limits)?;
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    Ok(match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(bytes.iter().map(|byte| char::from(*byte)).collect()),
    })
}

/// Reads tokens one after the other, with one of them seen ahead.
pub(crate) struct TokenReader<'a> {
    text: &'a str,
    at: usize,
    dialect: WordRule,
    ahead: Option<Token<'a>>,
}

impl<'a> TokenReader<'a> {
    pub(crate) fn new(text: &'a str, dialect: WordRule) -> Self {
        Self { text, at: 0, dialect, ahead: None }
    }

    /// The next token; it stays the next.
    pub(crate) fn peek(&mut self) -> Result<Token<'a>> {
        if let Some(token) = self.ahead {
            return Ok(token);
        }
        let token = self.scan()?;
        self.ahead = Some(token);
        Ok(token)
    }

    /// The next token.
    pub(crate) fn next(&mut self) -> Result<Token<'a>> {
        let token = self.peek()?;
        self.ahead = None;
        Ok(token)
    }

    /// Takes the next token if it is that mark.
    pub(crate) fn take(&mut self, mark: u8) -> Result<bool> {
        let found = self.peek()?.kind == TokenKind::Mark(mark);
        if found {
            self.ahead = None;
        }
        Ok(found)
    }

    /// Takes that mark.
    pub(crate) fn expect(&mut self, mark: u8) -> Result<()> {
        let token = self.next()?;
        if token.kind == TokenKind::Mark(mark) {
            return Ok(());
        }
        Err(unexpected(token, &format!("'{}'", char::from(mark))))
    }

    /// Takes a word or quoted text: a name.
    pub(crate) fn name(&mut self, what: &str) -> Result<&'a str> {
        let token = self.next()?;
        match token.kind {
            TokenKind::Word(text) | TokenKind::Quoted(text) => Ok(text),
            _ => Err(unexpected(token, what)),
        }
    }

    /// Takes a word of these letters, upper or lower case.
    pub(crate) fn keyword(&mut self, keyword: &str) -> Result<()> {
        let token = self.next()?;
        match token.kind {
            TokenKind::Word(word) if word.eq_ignore_ascii_case(keyword) => Ok(()),
            _ => Err(unexpected(token, &format!("'{keyword}'"))),
        }
    }

    fn scan(&mut self) -> Result<Token<'a>> {
        self.blanks();
        let at = self.at;
        let bytes = self.text.as_bytes();
        let kind = match bytes.get(at) {
            None => TokenKind::End,
            Some(b'"') => self.quoted()?,
            Some(mark) if self.is_mark(*mark) => {
                self.at += 1;
                TokenKind::Mark(*mark)
            }
            Some(_) => {
                let rest = &bytes[at..];
                let len = rest.iter().position(|byte| self.ends_word(*byte)).unwrap_or(rest.len());
                self.at += len;
                TokenKind::Word(self.text.get(at..self.at).unwrap_or_default())
            }
        };
        Ok(Token { kind, at })
    }

    /// Passes white space and comments.
    fn blanks(&mut self) {
        let bytes = self.text.as_bytes();
        while let Some(byte) = bytes.get(self.at) {
            if *byte == b'#' {
                let rest = &bytes[self.at..];
                self.at += rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
            } else if is_blank(*byte) {
                self.at += 1;
            } else {
                return;
            }
        }
    }

    fn quoted(&mut self) -> Result<TokenKind<'a>> {
        let start = self.at + 1;
        let bytes = self.text.as_bytes();
        let mut at = start;
        loop {
            match bytes.get(at) {
                None => {
                    return Err(Error::malformed("quoted text without its end").at_offset(self.at as u64));
                }
                Some(b'\\') => at += 2,
                Some(b'"') => break,
                Some(_) => at += 1,
            }
        }
        self.at = at + 1;
        Ok(TokenKind::Quoted(self.text.get(start..at).unwrap_or_default()))
    }

    fn is_mark(&self, byte: u8) -> bool {
        matches!(byte, b'{' | b'}' | b'[' | b']' | b';' | b'=' | b',')
            || (byte == b':' && self.dialect == WordRule::Dds)
    }

    fn ends_word(&self, byte: u8) -> bool {
        is_blank(byte) || self.is_mark(byte)
    }
}

fn is_blank(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == 0x0b || byte == 0
}

/// The error of a token that is not allowed in its place.
pub(crate) fn unexpected(token: Token<'_>, wanted: &str) -> Error {
    Error::malformed(format!("{} where {wanted} should be", token.kind)).at_offset(token.at as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str, dialect: WordRule) -> Vec<TokenKind<'_>> {
        let mut reader = TokenReader::new(text, dialect);
        let mut tokens = Vec::new();
        loop {
            match reader.next().unwrap().kind {
                TokenKind::End => return tokens,
                kind => tokens.push(kind),
            }
        }
    }

    #[test]
    fn comments_begin_only_where_a_token_does() {
        use TokenKind::{Mark, Word};
        assert_eq!(all("a#b # c\n;", WordRule::Das), [Word("a#b"), Mark(b';')]);
    }

    #[test]
    fn a_colon_belongs_to_words_of_a_das_only() {
        use TokenKind::{Mark, Word};
        assert_eq!(all("a:b", WordRule::Das), [Word("a:b")]);
        assert_eq!(all("Array:", WordRule::Dds), [Word("Array"), Mark(b':')]);
    }

    #[test]
    fn escapes_stay_and_protect_quotes() {
        assert_eq!(all(r#""a\"b\\""#, WordRule::Das), [TokenKind::Quoted(r#"a\"b\\"#)]);
        assert!(TokenReader::new(r#""a\""#, WordRule::Das).next().is_err());
    }
}

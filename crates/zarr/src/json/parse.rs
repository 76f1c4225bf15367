//! The lenient parser: accepts what the reference and other writers produced, strict or not (`docs/spec/nczarr.md`
//! 3.1).
use super::{JsonArray, JsonNumber, JsonObject, JsonText, JsonValue};
use bytes::Bytes;
use ncirrus_layout::{Error, Limits, Result};
use std::collections::HashMap;

/// Parses the first value of a document; what follows it is ignored (docs/spec/nczarr.md 13, Q1).
///
/// # Errors
/// `Malformed` with the offset; `Limit` if the document is too long, too deep or has too many entries.
pub(crate) fn parse(document: &Bytes, limits: &Limits) -> Result<JsonValue> {
    limits.metadata_len(document.len() as u64, "JSON document")?;
    let mut parser = JsonParser { document, at: 0, limits };
    if document.starts_with(b"\xef\xbb\xbf") {
        parser.at = 3;
    }
    parser.value(0)
}

struct JsonParser<'a> {
    document: &'a Bytes,
    at: usize,
    limits: &'a Limits,
}

impl JsonParser<'_> {
    fn value(&mut self, depth: u32) -> Result<JsonValue> {
        self.limits.depth(depth, "JSON").map_err(|error| error.at_offset(self.at as u64))?;
        self.skip_blanks();
        match self.peek() {
            Some(b'{') => self.object(depth),
            Some(b'[') => self.array(depth),
            Some(b'"') => Ok(JsonValue::String(JsonText(self.string()?))),
            Some(_) => self.scalar(),
            None => Err(self.malformed("the document ends where a value was expected")),
        }
    }

    fn object(&mut self, depth: u32) -> Result<JsonValue> {
        let start = self.at;
        let mut members = Vec::new();
        self.at += 1;
        self.skip_blanks();
        if self.take(b'}') {
            return Ok(JsonValue::Object(JsonObject {
                members,
                source: self.document.slice(start..self.at),
            }));
        }
        loop {
            self.skip_blanks();
            if self.peek() != Some(b'"') {
                return Err(self.malformed("a member name was expected"));
            }
            let key = String::from_utf8_lossy(&self.string()?).into_owned();
            self.skip_blanks();
            if !self.take(b':') {
                return Err(self.malformed("a colon was expected"));
            }
            members.push((key, self.value(depth + 1)?));
            self.limits.count(members.len() as u64, "JSON object")?;
            if self.ends_list(b'}')? {
                let members = last_wins(members);
                return Ok(JsonValue::Object(JsonObject {
                    members,
                    source: self.document.slice(start..self.at),
                }));
            }
        }
    }

    fn array(&mut self, depth: u32) -> Result<JsonValue> {
        let start = self.at;
        let mut items = Vec::new();
        self.at += 1;
        self.skip_blanks();
        if self.take(b']') {
            return Ok(JsonValue::Array(JsonArray { items, source: self.document.slice(start..self.at) }));
        }
        loop {
            items.push(self.value(depth + 1)?);
            self.limits.count(items.len() as u64, "JSON list")?;
            if self.ends_list(b']')? {
                return Ok(JsonValue::Array(JsonArray {
                    items,
                    source: self.document.slice(start..self.at),
                }));
            }
        }
    }

    /// Whether the list ends here; otherwise its comma is consumed. A comma before the end is accepted.
    fn ends_list(&mut self, end: u8) -> Result<bool> {
        self.skip_blanks();
        if self.take(end) {
            return Ok(true);
        }
        if !self.take(b',') {
            return Err(self.malformed("a comma or the end of the list was expected"));
        }
        self.skip_blanks();
        Ok(self.take(end))
    }

    /// A number or a word.
    fn scalar(&mut self) -> Result<JsonValue> {
        let start = self.at;
        let ends = |byte: &u8| matches!(byte, b',' | b'}' | b']' | b':' | b'"') || byte.is_ascii_whitespace();
        let rest = self.document.get(start..).unwrap_or_default();
        let len = rest.iter().position(ends).unwrap_or(rest.len());
        let word = rest.get(..len).unwrap_or_default();
        self.at = start + len;
        match word {
            b"null" => Ok(JsonValue::Null),
            b"true" => Ok(JsonValue::Bool(true)),
            b"false" => Ok(JsonValue::Bool(false)),
            _ if is_number(word) => Ok(JsonValue::Number(JsonNumber(self.document.slice(start..self.at)))),
            _ => {
                let shown = String::from_utf8_lossy(word.get(..32.min(len)).unwrap_or_default());
                Err(Error::malformed(format!("{shown:?} is not a JSON value")).at_offset(start as u64))
            }
        }
    }

    /// A string, the opening quote included; the result is unescaped.
    fn string(&mut self) -> Result<Vec<u8>> {
        let start = self.at;
        let mut text = Vec::new();
        self.at += 1;
        loop {
            let rest = self.document.get(self.at..).unwrap_or_default();
            let Some(plain) = rest.iter().position(|byte| matches!(byte, b'"' | b'\\')) else {
                return Err(Error::malformed("an unterminated string").at_offset(start as u64));
            };
            text.extend_from_slice(rest.get(..plain).unwrap_or_default());
            self.at += plain + 1;
            if rest.get(plain) == Some(&b'"') {
                return Ok(text);
            }
            self.escape(&mut text)?;
        }
    }

    /// The character after a backslash. An unknown escape stands for the character itself.
    fn escape(&mut self, text: &mut Vec<u8>) -> Result<()> {
        let Some(byte) = self.peek() else { return Err(self.malformed("an unterminated string")) };
        self.at += 1;
        match byte {
            b'b' => text.push(8),
            b'f' => text.push(12),
            b'n' => text.push(b'\n'),
            b'r' => text.push(b'\r'),
            b't' => text.push(b'\t'),
            b'u' => {
                let code = self.unicode_escape();
                text.extend_from_slice(code.encode_utf8(&mut [0; 4]).as_bytes());
            }
            other => text.push(other),
        }
        Ok(())
    }

    /// The character of `\uXXXX`, after the `u`; a surrogate without its other half is replaced.
    fn unicode_escape(&mut self) -> char {
        let Some(first) = self.hex4(self.at) else { return 'u' };
        self.at += 4;
        if let Some(character) = char::from_u32(first) {
            return character;
        }
        let follows = self.document.get(self.at..self.at + 2) == Some(b"\\u");
        let second = if follows { self.hex4(self.at + 2) } else { None };
        match second {
            Some(low @ 0xdc00..=0xdfff) if first < 0xdc00 => {
                self.at += 6;
                let code = 0x1_0000 + ((first - 0xd800) << 10) + (low - 0xdc00);
                char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)
            }
            _ => char::REPLACEMENT_CHARACTER,
        }
    }

    fn hex4(&self, at: usize) -> Option<u32> {
        let digits = self.document.get(at..at + 4)?;
        digits.iter().try_fold(0, |code, digit| Some(code * 16 + char::from(*digit).to_digit(16)?))
    }

    fn peek(&self) -> Option<u8> {
        self.document.get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn skip_blanks(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    fn malformed(&self, message: &str) -> Error {
        Error::malformed(message).at_offset(self.at as u64)
    }
}

/// Digits with sign, point and exponent in the usual places (each side of the point may be missing), or the words for
/// not-a-number and infinity.
fn is_number(word: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(word) else { return false };
    let starts = text.trim_start_matches(['+', '-']).starts_with(|c: char| c.is_ascii_digit() || c == '.');
    let named = ["nan", "inf", "infinity"];
    let is_word = named.iter().any(|name| text.trim_start_matches(['+', '-']).eq_ignore_ascii_case(name));
    (starts || is_word) && text.parse::<f64>().is_ok()
}

/// Drops all but the last value of a repeated key; the key keeps its first place.
fn last_wins(members: Vec<(String, JsonValue)>) -> Vec<(String, JsonValue)> {
    let mut places: HashMap<&str, usize> = HashMap::with_capacity(members.len());
    let repeated = members.iter().any(|(key, _)| places.insert(key, 0).is_some());
    drop(places);
    if !repeated {
        return members;
    }
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut kept: Vec<(String, JsonValue)> = Vec::new();
    for (key, value) in members {
        let known = places.get(&key).copied();
        match known.and_then(|at| kept.get_mut(at)) {
            Some(member) => member.1 = value,
            None => {
                _ = places.insert(key.clone(), kept.len());
                kept.push((key, value));
            }
        }
    }
    kept
}

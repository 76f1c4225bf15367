//! From bytes to tokens.
use super::ParseLimits;
use super::fault::{Place, Stop};
use super::number::Number;
use super::text::{CdlText, Cursor};
use super::token::Token;
use super::words::Section;

/// Tokens one after the other, with a look at the next.
pub(crate) struct Lexer<'t> {
    pub(crate) cursor: Cursor<'t>,
    peeked: Option<(Place, Token)>,
    /// Where the token that was taken last begins.
    pub(crate) place: Place,
    limits: ParseLimits,
}

impl<'t> Lexer<'t> {
    /// Tokens from a place on; at the text's beginning a byte order mark is skipped.
    pub(crate) fn new(text: &'t dyn CdlText, place: Place, limits: &ParseLimits) -> Result<Self, Stop> {
        let mut cursor = Cursor::new(text, place);
        if place == Place::START {
            match cursor.ahead(3)? {
                [0xef, 0xbb, 0xbf, ..] => cursor.skip(3),
                [0xfe, 0xff, ..] | [0xff, 0xfe, ..] => {
                    return Err(place.fault("the text is UTF-16, by its first bytes: CDL is UTF-8"));
                }
                _ => {}
            }
        }
        Ok(Self { cursor, peeked: None, place, limits: limits.clone() })
    }

    pub(crate) fn limits(&self) -> &ParseLimits {
        &self.limits
    }

    /// Moves to a place where a token begins.
    pub(crate) fn jump(&mut self, place: Place) {
        self.peeked = None;
        self.cursor.jump(place);
        self.place = place;
    }

    /// Whether a token was looked at and not taken.
    pub(crate) fn has_peeked(&self) -> bool {
        self.peeked.is_some()
    }

    /// Where the next token begins.
    pub(crate) fn next_place(&mut self) -> Result<Place, Stop> {
        if let Some((place, _)) = &self.peeked {
            return Ok(*place);
        }
        self.cursor.skip_blanks()?;
        Ok(self.cursor.place())
    }

    /// The next token, which stays.
    pub(crate) fn peek(&mut self) -> Result<&Token, Stop> {
        if self.peeked.is_none() {
            self.cursor.skip_blanks()?;
            let place = self.cursor.place();
            let token = self.read(place)?;
            self.peeked = Some((place, token));
        }
        match &self.peeked {
            Some((_, token)) => Ok(token),
            None => Ok(&Token::End),
        }
    }

    /// Takes the next token.
    pub(crate) fn next(&mut self) -> Result<Token, Stop> {
        if let Some((place, token)) = self.peeked.take() {
            self.place = place;
            return Ok(token);
        }
        self.cursor.skip_blanks()?;
        self.place = self.cursor.place();
        self.read(self.place)
    }

    /// Takes the next token if it is that punctuation.
    pub(crate) fn take(&mut self, punct: u8) -> Result<bool, Stop> {
        let is_next = self.peek()?.is(punct);
        if is_next {
            self.next()?;
        }
        Ok(is_next)
    }

    /// Takes that punctuation.
    pub(crate) fn expect(&mut self, punct: u8) -> Result<(), Stop> {
        let token = self.next()?;
        if token.is(punct) {
            return Ok(());
        }
        Err(self.unexpected(&token, &format!("\"{}\"", char::from(punct))))
    }

    /// Takes a name; words of CDL are names here.
    pub(crate) fn name(&mut self, what: &str) -> Result<String, Stop> {
        match self.next()? {
            Token::Name(name) => Ok(name),
            token => Err(self.unexpected(&token, &format!("the name of {what}"))),
        }
    }

    /// The fault of a token that was just taken.
    pub(crate) fn unexpected(&self, token: &Token, expected: &str) -> Stop {
        self.place.fault(format!("unexpected {token}, expected {expected}"))
    }

    /// A fault at the token that was just taken.
    pub(crate) fn fault(&self, message: impl Into<String>) -> Stop {
        self.place.fault(message)
    }

    fn read(&mut self, place: Place) -> Result<Token, Stop> {
        let Some(first) = self.cursor.peek()? else { return Ok(Token::End) };
        match first {
            b'{' | b'}' | b'(' | b')' | b'=' | b',' | b';' | b':' | b'*' => {
                self.cursor.skip(1);
                Ok(Token::Punct(first))
            }
            b'"' => self.text(place).map(Token::Text),
            b'\'' => self.character(place).map(Token::Char),
            b'0'..=b'9' | b'.' | b'+' | b'-' => self.number(place).map(Token::Number),
            b'/' => self.path(place),
            b'_' | b'\\' | b'a'..=b'z' | b'A'..=b'Z' | 0x80.. => self.word(place),
            0 => Err(self.stray(place, "a NUL byte: this is not text")),
            other => {
                let shown = format!("unexpected character '{}'", other.escape_ascii());
                Err(self.stray(place, &shown))
            }
        }
    }

    /// A fault of a byte that begins nothing; it is passed over.
    fn stray(&mut self, place: Place, message: &str) -> Stop {
        self.cursor.skip(1);
        place.fault(message)
    }

    /// A name, or a section's word with its colon.
    fn word(&mut self, place: Place) -> Result<Token, Stop> {
        let (name, is_plain) = self.part(place)?;
        if is_plain && let Some(section) = Section::of(&name) {
            // The reference prints `data:_Storage` for a variable named data, and cannot read it.
            let is_attribute = self.cursor.peek_at(1)? == Some(b'_');
            if self.cursor.peek()? == Some(b':') && !is_attribute {
                self.cursor.skip(1);
                return Ok(Token::Section(section, name));
            }
        }
        Ok(Token::Name(name))
    }

    fn path(&mut self, place: Place) -> Result<Token, Stop> {
        let mut parts = Vec::new();
        while self.cursor.peek()? == Some(b'/') {
            if parts.len() > self.limits.nesting {
                return Err(place.fault(format!("a path of more than {} names", self.limits.nesting + 1)));
            }
            self.cursor.skip(1);
            let (part, _) = self.part(place)?;
            parts.push(part);
        }
        if parts.iter().any(String::is_empty) {
            return Err(place.fault("a path has an empty name"));
        }
        Ok(Token::Path(parts))
    }

    /// A name without its escapes, and whether it had none.
    fn part(&mut self, place: Place) -> Result<(String, bool), Stop> {
        let mut name = Vec::new();
        let mut is_plain = true;
        while let Some(byte) = self.cursor.peek()? {
            match byte {
                b'\\' => {
                    is_plain = false;
                    self.cursor.skip(1);
                    name.push(self.escaped_in_name(place)?);
                }
                b'_' | b'.' | b'@' | b'+' | b'-' | b'%' | 0x80.. => {
                    self.cursor.skip(1);
                    name.push(byte);
                }
                byte if byte.is_ascii_alphanumeric() => {
                    self.cursor.skip(1);
                    name.push(byte);
                }
                _ => break,
            }
            if name.len() > self.limits.name_len {
                return Err(place.fault(format!("a name of more than {} bytes", self.limits.name_len)));
            }
        }
        let name = String::from_utf8(name).map_err(|_| place.fault("a name is not UTF-8"))?;
        Ok((name, is_plain))
    }

    /// The character after a backslash: itself, or a control character as `%xx`.
    fn escaped_in_name(&mut self, place: Place) -> Result<u8, Stop> {
        if let [b'%', high, low, ..] = self.cursor.ahead(3)? {
            let digits = [char::from(*high).to_digit(16), char::from(*low).to_digit(16)];
            if let [Some(high), Some(low)] = digits
                && let Ok(byte) = u8::try_from(high * 16 + low)
                && byte.is_ascii_control()
            {
                self.cursor.skip(3);
                return Ok(byte);
            }
        }
        match self.cursor.peek()? {
            Some(byte) if !byte.is_ascii_control() && byte != b'/' => {
                self.cursor.skip(1);
                Ok(byte)
            }
            _ => Err(place.fault("a backslash in a name stands in front of a character")),
        }
    }

    fn number(&mut self, place: Place) -> Result<Number, Stop> {
        let mut text = Vec::new();
        while let Some(byte) = self.cursor.peek()? {
            let is_hex = matches!(text.get(1..3), Some([b'x' | b'X', ..]) | Some([_, b'x' | b'X']));
            // In hexadecimal numbers, `e` is a digit.
            let is_exponent = !is_hex && matches!(text.last(), Some(b'e' | b'E'));
            let belongs = match byte {
                b'+' | b'-' => text.is_empty() || (is_exponent && text.iter().any(u8::is_ascii_digit)),
                b'.' => true,
                byte => byte.is_ascii_alphanumeric(),
            };
            if !belongs {
                break;
            }
            if text.len() >= self.limits.constant_len {
                let max = self.limits.constant_len;
                return Err(place.fault(format!("a constant of more than {max} bytes")));
            }
            self.cursor.skip(1);
            text.push(byte);
        }
        let (sign, word) = match text.as_slice() {
            [sign @ (b'+' | b'-'), word @ ..] => (*sign, word),
            word => (b'+', word),
        };
        let word = std::str::from_utf8(word).ok().and_then(|word| Number::of_word(word, sign == b'-'));
        match word {
            Some(number) => Ok(number),
            None => Number::parse(&text).map_err(|why| place.fault(why)),
        }
    }

    fn text(&mut self, place: Place) -> Result<Vec<u8>, Stop> {
        let mut text = Vec::new();
        self.cursor.skip(1);
        loop {
            let plain = {
                let ahead = self.cursor.ahead(1)?;
                let len = ahead.iter().take_while(|byte| !matches!(byte, b'"' | b'\\' | b'\n')).count();
                text.extend_from_slice(ahead.get(..len).unwrap_or_default());
                len
            };
            self.cursor.skip(plain);
            if text.len() > self.limits.constant_len {
                let max = self.limits.constant_len;
                return Err(place.fault(format!("a constant of more than {max} bytes")));
            }
            match self.cursor.peek()? {
                Some(b'"') => {
                    self.cursor.skip(1);
                    return Ok(text);
                }
                Some(b'\\') => {
                    self.cursor.skip(1);
                    text.push(self.escaped(place)?);
                }
                Some(b'\n') => {
                    text.push(b'\n');
                    self.cursor.next()?;
                }
                Some(_) => {}
                None => return Err(place.fault("the text has no end: a double quote is missing")),
            }
        }
    }

    /// The byte that the characters behind a backslash stand for.
    fn escaped(&mut self, place: Place) -> Result<u8, Stop> {
        let Some(byte) = self.cursor.next()? else {
            return Err(place.fault("the text has no end: a quote is missing"));
        };
        Ok(match byte {
            b'a' => 0x07,
            b'b' => 0x08,
            b'f' => 0x0c,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'v' => 0x0b,
            // `ncdump` ends lines within characters of compounds so.
            b'\n' => b'\n',
            b'x' => self.digits(place, 16, 2)?.ok_or_else(|| place.fault("\\x without digits"))?,
            b'0'..=b'7' => {
                let first = u32::from(byte - b'0');
                let mut value = first;
                for _ in 0..2 {
                    match self.cursor.peek()? {
                        Some(digit @ b'0'..=b'7') => {
                            self.cursor.skip(1);
                            value = value * 8 + u32::from(digit - b'0');
                        }
                        _ => break,
                    }
                }
                u8::try_from(value).map_err(|_| place.fault(format!("\\{value:o} is more than a byte")))?
            }
            other => other,
        })
    }

    fn digits(&mut self, place: Place, radix: u32, max: usize) -> Result<Option<u8>, Stop> {
        let mut value = None;
        for _ in 0..max {
            let digit = self.cursor.peek()?.and_then(|byte| char::from(byte).to_digit(radix));
            let Some(digit) = digit else { break };
            self.cursor.skip(1);
            value = Some(value.unwrap_or(0) * radix + digit);
        }
        value.map(|value| u8::try_from(value).map_err(|_| place.fault("more than a byte"))).transpose()
    }

    fn character(&mut self, place: Place) -> Result<u8, Stop> {
        self.cursor.skip(1);
        let byte = match self.cursor.next()? {
            Some(b'\\') => Some(self.escaped(place)?),
            Some(byte) if byte != b'\'' && byte != b'\n' => Some(byte),
            _ => None,
        };
        match (byte, self.cursor.peek()?) {
            (Some(byte), Some(b'\'')) => {
                self.cursor.skip(1);
                Ok(byte)
            }
            _ => Err(place.fault("single quotes hold one character; text stands in double quotes")),
        }
    }

    /// Passes over the rest of a statement up to its semicolon, which is taken; braces in between must match.
    pub(crate) fn skip_statement(&mut self) -> Result<(), Stop> {
        // Back to the token that was peeked at: it may be the semicolon or a brace.
        if let Some((place, _)) = self.peeked.take() {
            self.cursor.jump(place);
        }
        let mut open = 0usize;
        loop {
            self.skip_to_mark()?;
            let place = self.cursor.place();
            self.place = place;
            match self.cursor.peek()? {
                Some(b';') => {
                    self.cursor.skip(1);
                    match open {
                        0 => return Ok(()),
                        _ => return Err(place.fault(format!("unexpected \";\", {open} braces are open"))),
                    }
                }
                Some(b'{') => {
                    open += 1;
                    if open > self.limits.nesting {
                        return Err(place.fault(format!("more than {} open braces", self.limits.nesting)));
                    }
                    self.cursor.skip(1);
                }
                Some(b'}') => {
                    let rest = open.checked_sub(1);
                    open = rest.ok_or_else(|| place.fault("unexpected \"}\", expected \";\""))?;
                    self.cursor.skip(1);
                }
                Some(b'"') => self.skip_text(place)?,
                // Texts, characters and comments may contain semicolons and braces.
                Some(b'\'') => _ = self.character(place)?,
                Some(b'\n') => _ = self.cursor.next()?,
                Some(b'/') => match self.cursor.peek_at(1)? {
                    Some(b'/' | b'*') => self.cursor.skip_blanks()?,
                    _ => self.cursor.skip(1),
                },
                Some(_) => self.cursor.skip(1),
                None => return Err(place.fault("unexpected end of the text, expected \";\"")),
            }
        }
    }

    /// Moves to the next byte that means something when a statement is passed over.
    fn skip_to_mark(&mut self) -> Result<(), Stop> {
        loop {
            let (len, all) = {
                let ahead = self.cursor.ahead(1)?;
                let is_mark = |byte: &u8| matches!(byte, b';' | b'{' | b'}' | b'"' | b'\'' | b'\n' | b'/');
                (ahead.iter().position(is_mark), ahead.len())
            };
            self.cursor.skip(len.unwrap_or(all));
            if len.is_some() || all == 0 {
                return Ok(());
            }
        }
    }

    /// Passes over text without keeping it.
    fn skip_text(&mut self, place: Place) -> Result<(), Stop> {
        self.cursor.skip(1);
        loop {
            match self.cursor.next()? {
                Some(b'"') => return Ok(()),
                Some(b'\\') => _ = self.cursor.next()?,
                Some(_) => {}
                None => return Err(place.fault("the text has no end: a double quote is missing")),
            }
        }
    }

    /// After a fault in the declaration of a type, which begins at `start`: passes over it, to the semicolon behind its
    /// braces or the next section. False at the text's end.
    pub(crate) fn recover_type(&mut self, start: Place) -> Result<bool, Stop> {
        self.jump(start);
        let mut open = 0usize;
        loop {
            if matches!(self.peek(), Ok(Token::Section(..))) {
                return Ok(true);
            }
            match self.next() {
                Ok(token) if token.is(b'{') => open += 1,
                Ok(token) if token.is(b'}') => match open.checked_sub(1) {
                    Some(rest) => open = rest,
                    None => return Ok(true),
                },
                Ok(token) if token.is(b';') && open == 0 => return Ok(true),
                Ok(Token::End) => return Ok(false),
                Ok(_) => {}
                Err(Stop::Fault(..) | Stop::Undeclared(..)) => {
                    if self.cursor.peek()?.is_none() {
                        return Ok(false);
                    }
                    self.cursor.next()?;
                }
                Err(other) => return Err(other),
            }
        }
    }

    /// After a fault: passes over what follows up to a semicolon, whatever it is. False at the text's end.
    pub(crate) fn recover(&mut self) -> Result<bool, Stop> {
        loop {
            match self.next() {
                Ok(token) if token.is(b';') => return Ok(true),
                Ok(Token::End) => return Ok(false),
                Ok(_) => {}
                Err(Stop::Fault(..) | Stop::Undeclared(..)) => {
                    // A second fault of the same statement is not reported; each moves on.
                    if self.cursor.peek()?.is_none() {
                        return Ok(false);
                    }
                    self.cursor.next()?;
                }
                Err(other) => return Err(other),
            }
        }
    }
}

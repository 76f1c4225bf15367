//! Plain numbers among data, without the way over tokens: most of what large texts consist of.
use super::fault::Stop;
use super::lexer::Lexer;

/// A plain item of a list.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum QuickItem {
    Integer(i64),
    Real(f64),
    /// `-0`, which is an integer to the reference although floats print so.
    MinusZero,
    /// `_`
    Fill,
}

/// Bytes that a plain number has at most, with what ends it.
const LONGEST: usize = 64;
/// Digits that always fit 64 bits.
const DIGITS: usize = 18;

impl Lexer<'_> {
    /// The next item of a list with the comma in front of it, unless it is the first; `None`, and nothing is taken, if what
    /// follows is not a plain decimal number or `_`.
    pub(super) fn quick_item(&mut self, is_first: bool) -> Result<Option<QuickItem>, Stop> {
        if self.has_peeked() {
            return Ok(None);
        }
        self.cursor.skip_blanks()?;
        let start = self.cursor.place();
        if !is_first {
            if self.cursor.peek()? != Some(b',') {
                return Ok(None);
            }
            self.cursor.skip(1);
            self.cursor.skip_blanks()?;
        }
        let place = self.cursor.place();
        match item(self.cursor.ahead(LONGEST)?) {
            Some((item, len)) => {
                self.cursor.skip(len);
                self.place = place;
                Ok(Some(item))
            }
            None => {
                self.cursor.jump(start);
                Ok(None)
            }
        }
    }
}

/// The item at the beginning of some text, and its length.
#[inline]
fn item(text: &[u8]) -> Option<(QuickItem, usize)> {
    let is_negative = text.first() == Some(&b'-');
    let sign = usize::from(is_negative);
    let mut value = 0i64;
    let mut at = sign;
    while let Some(digit) = text.get(at).map(|byte| byte.wrapping_sub(b'0')).filter(|digit| *digit < 10) {
        if at - sign >= DIGITS {
            return None;
        }
        value = value * 10 + i64::from(digit);
        at += 1;
    }
    match *text.get(at)? {
        b',' | b';' | b'}' | b' ' | b'\t' | b'\r' | b'\n' if at > sign => {
            let is_octal = at - sign > 1 && text.get(sign) == Some(&b'0');
            if is_negative && value == 0 {
                return (!is_octal).then_some((QuickItem::MinusZero, at));
            }
            (!is_octal).then_some((QuickItem::Integer(if is_negative { -value } else { value }), at))
        }
        b'.' | b'e' | b'E' => real(text, at),
        b'_' if at == 0 && text.get(1).copied().is_some_and(ends) => Some((QuickItem::Fill, 1)),
        _ => None,
    }
}

fn ends(byte: u8) -> bool {
    matches!(byte, b',' | b';' | b'}' | b' ' | b'\t' | b'\r' | b'\n')
}

/// A number with a point or an exponent at `at`.
fn real(text: &[u8], at: usize) -> Option<(QuickItem, usize)> {
    let rest = text.get(at..)?;
    let len = rest.iter().position(|byte| !matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-'))?;
    let end = at + len;
    if !ends(*text.get(end)?) {
        return None;
    }
    let value = std::str::from_utf8(text.get(..end)?).ok()?.parse().ok()?;
    Some((QuickItem::Real(value), end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_numbers_are_quick() {
        assert_eq!(item(b"-12, "), Some((QuickItem::Integer(-12), 3)));
        assert_eq!(item(b"-0,"), Some((QuickItem::MinusZero, 2)));
        assert_eq!(item(b"0;"), Some((QuickItem::Integer(0), 1)));
        assert_eq!(item(b"1.5e-3\n"), Some((QuickItem::Real(1.5e-3), 6)));
        assert_eq!(item(b".5}"), Some((QuickItem::Real(0.5), 2)));
        assert_eq!(item(b"_ ;"), Some((QuickItem::Fill, 1)));
        let others: [&[u8]; 9] =
            [b"017,", b"1f,", b"0x1,", b"1.f,", b"1-2,", b"12", b"_a,", b"-;", b"1234567890123456789,"];
        for other in others {
            assert_eq!(item(other), None, "{}", other.escape_ascii());
        }
    }
}

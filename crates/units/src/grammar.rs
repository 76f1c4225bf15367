//! The grammar of unit specifications (UDUNITS-2, "Grammar").
use crate::level::LogarithmicLevel;
use crate::table;
use crate::unit::Unit;
use crate::{Result, UnitError};

/// A parsed specification.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum UnitSpec {
    /// A unit.
    Plain(Unit),
    /// A time since a date.
    Since(TimeSince),
}

/// A time since a date, which is not yet parsed: that requires a calendar.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TimeSince {
    /// The unit as written.
    pub(crate) name: String,
    /// The unit in seconds.
    pub(crate) seconds: f64,
    /// The text of the date.
    pub(crate) date: String,
}

/// Maximum nesting depth of parentheses.
const DEPTH: u32 = 32;
/// Maximum length of a specification.
const LENGTH: usize = 1024;

/// Parses a specification. The empty one is the dimensionless unit.
///
/// # Errors
/// `Malformed` naming what cannot be parsed; `Unsupported` for logarithmic units.
pub(crate) fn parse(text: &str) -> Result<UnitSpec> {
    let text = text.trim();
    if text.len() > LENGTH {
        return Err(UnitError::malformed(format!("a unit of {} bytes", text.len())));
    }
    let (product, origin) = match shift(text) {
        Some((product, origin)) => (product.trim(), Some(origin.trim())),
        None => (text, None),
    };
    let unit = parse_product(product, 0)?;
    let Some(origin) = origin else { return Ok(UnitSpec::Plain(unit)) };
    if unit.is_time() {
        let since = TimeSince { name: product.to_owned(), seconds: unit.factor, date: origin.to_owned() };
        return Ok(UnitSpec::Since(since));
    }
    Ok(UnitSpec::Plain(unit.shifted(number(product, origin)?)))
}

/// The parts before and after a word for an origin, outside parentheses.
fn shift(text: &str) -> Option<(&str, &str)> {
    let mut depth = 0i32;
    for (at, letter) in text.char_indices() {
        depth += i32::from(letter == '(') - i32::from(letter == ')');
        let rest = text.get(at + letter.len_utf8()..)?;
        if depth != 0 || !(letter == '@' || letter.is_whitespace()) {
            continue;
        }
        if letter == '@' {
            return Some((text.get(..at)?, rest));
        }
        let len = rest.find(|letter: char| !letter.is_ascii_alphabetic()).unwrap_or(rest.len());
        let (word, after) = rest.split_at(len);
        let is_shift = ["since", "after", "from", "ref"].iter().any(|shift| word.eq_ignore_ascii_case(shift));
        if is_shift {
            return Some((text.get(..at)?, after));
        }
    }
    None
}

/// Parses a definition of the table, or the contents of parentheses: a product, possibly with a shifted zero.
pub(crate) fn parse_shifted(text: &str, depth: u32) -> Result<Unit> {
    let Some((product, origin)) = shift(text) else { return parse_product(text, depth) };
    Ok(parse_product(product.trim(), depth)?.shifted(number(product, origin)?))
}

/// The number at which zero is.
fn number(product: &str, origin: &str) -> Result<f64> {
    let zero = origin.trim().parse::<f64>().ok().filter(|zero| zero.is_finite());
    zero.ok_or_else(|| UnitError::malformed(format!("the origin {:?} of {product:?}", origin.trim())))
}

fn parse_product(text: &str, depth: u32) -> Result<Unit> {
    let mut parser = UnitParser { text, rest: text, depth };
    let unit = parser.product()?;
    if parser.rest.is_empty() { Ok(unit) } else { Err(parser.unknown()) }
}

struct UnitParser<'a> {
    text: &'a str,
    rest: &'a str,
    depth: u32,
}

impl<'a> UnitParser<'a> {
    /// Factors, multiplied and divided from left to right.
    fn product(&mut self) -> Result<Unit> {
        self.skip_space();
        if self.rest.is_empty() || self.rest.starts_with(')') {
            return Ok(Unit::ONE);
        }
        let mut product = self.power()?;
        loop {
            let spaced = self.skip_space();
            if self.rest.is_empty() || self.rest.starts_with(')') {
                return Ok(product);
            }
            let divides = self.takes('/') || (spaced && self.takes_word("per"));
            if !divides {
                // A point, a raised one, an asterisk, a cross, a hyphen, or just space.
                let _ = ['.', '*', '·', '⋅', '×', '-'].into_iter().any(|sign| self.takes(sign));
            }
            self.skip_space();
            let factor = self.power()?;
            let divisor = if divides { factor.power(-1) } else { Some(factor) };
            let next = divisor.and_then(|factor| product.times(&factor));
            product = next.ok_or_else(|| self.too_large(&[product, factor]))?;
        }
    }

    /// A factor with its exponent.
    fn power(&mut self) -> Result<Unit> {
        let (unit, is_number) = self.basic()?;
        if let Some(exponent) = self.superscript() {
            return unit.power(exponent).ok_or_else(|| self.too_large(&[unit]));
        }
        let raised = self.takes_text("**") || self.takes('^');
        if is_number && !raised {
            return Ok(unit);
        }
        match self.integer() {
            Some(exponent) => unit.power(exponent).ok_or_else(|| self.too_large(&[unit])),
            None if raised => Err(self.unknown()),
            None => Ok(unit),
        }
    }

    /// A number, a name, or something in parentheses; and whether it is a number.
    fn basic(&mut self) -> Result<(Unit, bool)> {
        if self.takes('(') {
            return Ok((self.parenthesized()?, false));
        }
        if let Some(number) = self.number() {
            return Ok((Unit { factor: number, ..Unit::ONE }, true));
        }
        let name = self.name().ok_or_else(|| self.unknown())?;
        if let Some(level) = LogarithmicLevel::named(name)
            && let Some(reference) = reference(self.rest)
        {
            self.rest = reference;
            let reference = self.parenthesized()?;
            let unit = Unit { offset: 0.0, level: Some(level), ..reference };
            return if reference.level.is_none() {
                Ok((unit, false))
            } else {
                Err(self.too_large(&[reference]))
            };
        }
        table::find(name, self.depth).map(|unit| (unit, false)).ok_or_else(|| {
            if table::is_logarithmic(name) {
                UnitError::unsupported(format!("the logarithmic unit {name:?} without a reference"))
            } else {
                UnitError::malformed(format!("no unit {name:?}"))
            }
        })
    }

    /// The contents of parentheses, the first of which was consumed.
    fn parenthesized(&mut self) -> Result<Unit> {
        let mut open = 1;
        for (at, letter) in self.rest.char_indices() {
            open += u32::from(letter == '(');
            if self.depth + open > DEPTH {
                let message = format!("parentheses nest more than {DEPTH} deep in {:?}", self.text);
                return Err(UnitError::limit(message));
            }
            open -= u32::from(letter == ')');
            if open == 0 {
                let (inside, rest) = self.rest.split_at(at);
                self.rest = rest.get(1..).unwrap_or_default();
                return parse_shifted(inside.trim(), self.depth + 1);
            }
        }
        Err(self.unknown())
    }

    /// A name: letters, and digits between them; or one sign.
    fn name(&mut self) -> Option<&'a str> {
        let first = self.rest.chars().next()?;
        if "%'\"°′″‰℃℉".contains(first) {
            // A degree sign belongs to the letter after it.
            let len = first.len_utf8();
            let next = self.rest.get(len..)?.chars().next();
            let len =
                if first == '°' && matches!(next, Some('C' | 'F' | 'K' | 'R')) { len + 1 } else { len };
            return self.take(len);
        }
        if !is_letter(first) {
            return None;
        }
        let end = self.rest.find(|letter| !(is_letter(letter) || char::is_ascii_digit(&letter)));
        let word = self.rest.get(..end.unwrap_or(self.rest.len()))?;
        // Trailing digits are an exponent.
        self.take(word.trim_end_matches(|letter: char| letter.is_ascii_digit()).len())
    }

    /// A number, signed or not.
    fn number(&mut self) -> Option<f64> {
        let bytes = self.rest.as_bytes();
        let digits = |from: usize| bytes.iter().skip(from).take_while(|byte| byte.is_ascii_digit()).count();
        let sign = usize::from(matches!(bytes.first(), Some(b'+' | b'-')));
        let whole = digits(sign);
        let mut end = sign + whole;
        let mut fraction = 0;
        if bytes.get(end) == Some(&b'.') && (whole > 0 || digits(end + 1) > 0) {
            fraction = digits(end + 1);
            // A point before a name is a multiplication sign.
            if fraction > 0 || !bytes.get(end + 1).is_some_and(|next| is_letter(char::from(*next))) {
                end += 1 + fraction;
            }
        }
        if whole + fraction == 0 {
            return None;
        }
        if matches!(bytes.get(end), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
            let exponent = digits(end + 1 + sign);
            if exponent > 0 {
                end += 1 + sign + exponent;
            }
        }
        let number = self.rest.get(..end)?.parse::<f64>().ok().filter(|number| number.is_finite())?;
        self.take(end)?;
        Some(number)
    }

    /// An exponent in ordinary digits.
    fn integer(&mut self) -> Option<i32> {
        let sign = usize::from(self.rest.starts_with(['+', '-']));
        let digits = self.rest.bytes().skip(sign).take_while(u8::is_ascii_digit).count();
        let number = self.rest.get(..sign + digits).filter(|_| digits > 0)?.parse().ok()?;
        self.take(sign + digits)?;
        Some(number)
    }

    /// An exponent in raised digits.
    fn superscript(&mut self) -> Option<i32> {
        let (mut number, mut digits, mut len, mut sign) = (0i32, 0, 0, 1);
        for letter in self.rest.chars() {
            match "⁰¹²³⁴⁵⁶⁷⁸⁹".chars().position(|digit| digit == letter) {
                Some(digit) => {
                    number = number.checked_mul(10)?.checked_add(i32::try_from(digit).ok()?)?;
                    digits += 1;
                }
                None if len == 0 && letter == '⁻' => sign = -1,
                None if len == 0 && letter == '⁺' => {}
                None => break,
            }
            len += letter.len_utf8();
        }
        (digits > 0).then(|| self.take(len))??;
        Some(sign * number)
    }

    fn skip_space(&mut self) -> bool {
        let rest = self.rest.trim_start_matches(|letter: char| letter.is_whitespace());
        let skipped = rest.len() < self.rest.len();
        self.rest = rest;
        skipped
    }

    fn takes(&mut self, sign: char) -> bool {
        let rest = self.rest.strip_prefix(sign);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn takes_text(&mut self, text: &str) -> bool {
        let rest = self.rest.strip_prefix(text);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// Consumes a word that is followed by space.
    fn takes_word(&mut self, word: &str) -> bool {
        let begins = self.rest.get(..word.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(word));
        let after =
            self.rest.get(word.len()..).filter(|rest| begins && rest.starts_with(char::is_whitespace));
        self.rest = after.unwrap_or(self.rest);
        after.is_some()
    }

    fn take(&mut self, len: usize) -> Option<&'a str> {
        let taken = self.rest.get(..len).filter(|taken| !taken.is_empty())?;
        self.rest = self.rest.get(len..)?;
        Some(taken)
    }

    fn unknown(&self) -> UnitError {
        UnitError::malformed(format!("{:?} is no unit: what is {:?}?", self.text, self.rest))
    }

    /// The error if a power or product of these units is too large.
    fn too_large(&self, units: &[Unit]) -> UnitError {
        if units.iter().any(|unit| unit.level.is_some()) {
            UnitError::malformed(format!("a power or product of a logarithmic unit in {:?}", self.text))
        } else {
            UnitError::malformed(format!("a power beyond all measure in {:?}", self.text))
        }
    }
}

/// The text after the word for a reference, in the parentheses after the name of a logarithm.
fn reference(rest: &str) -> Option<&str> {
    let inside = rest.trim_start().strip_prefix('(')?.trim_start();
    let (_, reference) = inside.split_at_checked(2).filter(|(word, _)| word.eq_ignore_ascii_case("re"))?;
    let reference = reference.strip_prefix(':').unwrap_or(reference);
    reference.starts_with(char::is_whitespace).then_some(reference)
}

fn is_letter(letter: char) -> bool {
    letter.is_alphabetic() || letter == '_'
}

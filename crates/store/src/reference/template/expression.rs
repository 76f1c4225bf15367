//! Expressions: read once, evaluated often.
use super::TemplateScope;
use ncirrus_layout::{Error, Result};
use std::fmt;
use std::iter::Peekable;
use std::str::Chars;

/// A number or a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ExpressionValue {
    Number(i64),
    Text(String),
}

impl fmt::Display for ExpressionValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Text(text) => f.write_str(text),
        }
    }
}

/// An expression that has a value.
#[derive(Debug, Clone)]
pub(super) enum TemplateExpression {
    Value(ExpressionValue),
    Name(String),
    Negative(Box<Self>),
    Two(BinaryOperator, Box<Self>, Box<Self>),
    /// A template, and the values of its names.
    Call(String, Vec<(String, Self)>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BinaryOperator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Power,
    Join,
}

impl TemplateExpression {
    /// Parses an expression; `None` if it is not supported.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let tokens = tokens(text).filter(|tokens| tokens.len() <= MAX_PARTS)?;
        let mut parser = ExpressionParser { tokens: tokens.into_iter().peekable(), depth: 0 };
        let expression = parser.sum()?;
        parser.tokens.peek().is_none().then_some(expression)
    }

    /// Its value.
    ///
    /// # Errors
    /// `Malformed` for undefined names, operands that do not fit, and numbers beyond 64 bits.
    pub(super) fn value(&self, scope: &TemplateScope) -> Result<ExpressionValue> {
        match self {
            Self::Value(value) => Ok(value.clone()),
            Self::Name(name) => {
                let known = scope.values.get(name).cloned();
                known.ok_or_else(|| Error::malformed(format!("templates do not define {name:?}")))
            }
            Self::Negative(inner) => match inner.value(scope)? {
                ExpressionValue::Number(number) => {
                    number.checked_neg().map(ExpressionValue::Number).ok_or_else(too_large)
                }
                ExpressionValue::Text(text) => {
                    Err(Error::malformed(format!("text {text:?} with a minus sign")))
                }
            },
            Self::Two(operator, one, other) => apply(*operator, one.value(scope)?, other.value(scope)?),
            Self::Call(name, arguments) => {
                let called = scope.functions.get(name);
                let called =
                    called.ok_or_else(|| Error::malformed(format!("no template {name:?} to be called")))?;
                let mut own = TemplateScope::default();
                for (name, argument) in arguments {
                    own.values.insert(name.clone(), argument.value(scope)?);
                }
                called.render(&own).map(ExpressionValue::Text)
            }
        }
    }
}

fn apply(operator: BinaryOperator, one: ExpressionValue, other: ExpressionValue) -> Result<ExpressionValue> {
    match (operator, one, other) {
        (BinaryOperator::Join, one, other) => Ok(ExpressionValue::Text(format!("{one}{other}"))),
        (BinaryOperator::Add, ExpressionValue::Text(one), ExpressionValue::Text(other)) => {
            Ok(ExpressionValue::Text(one + &other))
        }
        (BinaryOperator::Remainder, ExpressionValue::Text(format), other) => {
            formatted(&format, &other).map(ExpressionValue::Text)
        }
        (operator, ExpressionValue::Number(one), ExpressionValue::Number(other)) => {
            let number = match operator {
                BinaryOperator::Add => one.checked_add(other),
                BinaryOperator::Subtract => one.checked_sub(other),
                BinaryOperator::Multiply => one.checked_mul(other),
                BinaryOperator::Divide => floored(one, other),
                BinaryOperator::Remainder => floored(one, other)
                    .and_then(|quotient| quotient.checked_mul(other))
                    .and_then(|product| one.checked_sub(product)),
                BinaryOperator::Power => u32::try_from(other).ok().and_then(|power| one.checked_pow(power)),
                BinaryOperator::Join => None,
            };
            number.map(ExpressionValue::Number).ok_or_else(too_large)
        }
        (operator, one, other) => {
            Err(Error::malformed(format!("{operator:?} of \"{one}\" and \"{other}\" in a template")))
        }
    }
}

fn too_large() -> Error {
    Error::malformed("a number of a template leaves 64 bits, or is divided by zero")
}

/// The quotient, rounded down.
fn floored(one: i64, other: i64) -> Option<i64> {
    let quotient = one.checked_div(other)?;
    let rest = one.checked_rem(other)?;
    let is_above = rest != 0 && (rest < 0) != (other < 0);
    if is_above { quotient.checked_sub(1) } else { Some(quotient) }
}

/// A format with one placeholder: `%d`, `%03d`, `%s`.
fn formatted(format: &str, value: &ExpressionValue) -> Result<String> {
    let odd = || Error::unsupported(format!("the format {format:?} of a template"));
    let (before, rest) = format.split_once('%').ok_or_else(odd)?;
    let end = rest.find(|char: char| !char.is_ascii_digit()).ok_or_else(odd)?;
    let (digits, rest) = rest.split_at_checked(end).ok_or_else(odd)?;
    let width: usize = if digits.is_empty() { 0 } else { digits.parse().map_err(|_| odd())? };
    let mut after = rest.chars();
    let kind = after.next().ok_or_else(odd)?;
    if width > WIDEST || after.as_str().contains('%') {
        return Err(odd());
    }
    let shown = match (kind, value) {
        ('d' | 'i', ExpressionValue::Number(number)) if digits.starts_with('0') => {
            format!("{number:0width$}")
        }
        ('d' | 'i', ExpressionValue::Number(number)) => format!("{number:width$}"),
        ('s', value) => format!("{:>width$}", value.to_string()),
        _ => return Err(odd()),
    };
    Ok(format!("{before}{shown}{}", after.as_str()))
}

/// Maximum width of a number.
const WIDEST: usize = 64;

#[derive(Debug, Clone, PartialEq, Eq)]
enum ExpressionToken {
    Number(i64),
    Text(String),
    Name(String),
    Sign(char),
    /// `//`, `**`.
    Twice(char),
}

fn tokens(text: &str) -> Option<Vec<ExpressionToken>> {
    let mut chars = text.chars().peekable();
    let mut found = Vec::new();
    while let Some(&first) = chars.peek() {
        match first {
            _ if first.is_whitespace() => _ = chars.next(),
            '0'..='9' => found.push(ExpressionToken::Number(word(&mut chars).parse().ok()?)),
            '"' | '\'' => {
                chars.next();
                let inner: String = std::iter::from_fn(|| chars.next_if(|char| *char != first)).collect();
                chars.next()?;
                // Escapes are not supported.
                found.push((!inner.contains('\\')).then_some(ExpressionToken::Text(inner))?);
            }
            _ if first.is_alphanumeric() || first == '_' => {
                found.push(ExpressionToken::Name(word(&mut chars)));
            }
            _ => {
                chars.next();
                let twice = matches!(first, '/' | '*') && chars.next_if_eq(&first).is_some();
                found.push(if twice { ExpressionToken::Twice(first) } else { ExpressionToken::Sign(first) });
            }
        }
    }
    Some(found)
}

fn word(chars: &mut Peekable<Chars<'_>>) -> String {
    std::iter::from_fn(|| chars.next_if(|char| char.is_alphanumeric() || *char == '_')).collect()
}

struct ExpressionParser {
    tokens: Peekable<std::vec::IntoIter<ExpressionToken>>,
    depth: u32,
}

impl ExpressionParser {
    fn sum(&mut self) -> Option<TemplateExpression> {
        let mut left = self.product()?;
        loop {
            let operator = match self.tokens.peek() {
                Some(ExpressionToken::Sign('+')) => BinaryOperator::Add,
                Some(ExpressionToken::Sign('-')) => BinaryOperator::Subtract,
                Some(ExpressionToken::Sign('~')) => BinaryOperator::Join,
                _ => return Some(left),
            };
            self.tokens.next();
            left = TemplateExpression::Two(operator, Box::new(left), Box::new(self.product()?));
        }
    }

    fn product(&mut self) -> Option<TemplateExpression> {
        let mut left = self.signed()?;
        loop {
            let operator = match self.tokens.peek() {
                Some(ExpressionToken::Sign('*')) => BinaryOperator::Multiply,
                Some(ExpressionToken::Twice('/')) => BinaryOperator::Divide,
                Some(ExpressionToken::Sign('%')) => BinaryOperator::Remainder,
                _ => return Some(left),
            };
            self.tokens.next();
            left = TemplateExpression::Two(operator, Box::new(left), Box::new(self.signed()?));
        }
    }

    fn signed(&mut self) -> Option<TemplateExpression> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return None;
        }
        let negative = self.tokens.next_if_eq(&ExpressionToken::Sign('-')).is_some();
        let inner = if negative { self.signed()? } else { self.power()? };
        self.depth -= 1;
        Some(if negative { TemplateExpression::Negative(Box::new(inner)) } else { inner })
    }

    fn power(&mut self) -> Option<TemplateExpression> {
        let base = self.one()?;
        if self.tokens.next_if_eq(&ExpressionToken::Twice('*')).is_none() {
            return Some(base);
        }
        Some(TemplateExpression::Two(BinaryOperator::Power, Box::new(base), Box::new(self.signed()?)))
    }

    fn one(&mut self) -> Option<TemplateExpression> {
        match self.tokens.next()? {
            ExpressionToken::Number(number) => {
                Some(TemplateExpression::Value(ExpressionValue::Number(number)))
            }
            ExpressionToken::Text(text) => Some(TemplateExpression::Value(ExpressionValue::Text(text))),
            ExpressionToken::Name(name) if self.tokens.next_if_eq(&ExpressionToken::Sign('(')).is_some() => {
                Some(TemplateExpression::Call(name, self.arguments()?))
            }
            ExpressionToken::Name(name) => Some(TemplateExpression::Name(name)),
            ExpressionToken::Sign('(') => {
                let inner = self.sum()?;
                self.tokens.next_if_eq(&ExpressionToken::Sign(')')).map(|_| inner)
            }
            ExpressionToken::Sign(_) | ExpressionToken::Twice(_) => None,
        }
    }

    /// The arguments of a call, up to the closing parenthesis.
    fn arguments(&mut self) -> Option<Vec<(String, TemplateExpression)>> {
        let mut arguments = Vec::new();
        while self.tokens.next_if_eq(&ExpressionToken::Sign(')')).is_none() {
            if !arguments.is_empty() {
                self.tokens.next_if_eq(&ExpressionToken::Sign(','))?;
            }
            let ExpressionToken::Name(name) = self.tokens.next()? else { return None };
            self.tokens.next_if_eq(&ExpressionToken::Sign('='))?;
            arguments.push((name, self.sum()?));
        }
        Some(arguments)
    }
}

/// Maximum nesting: every level is a call.
const DEEPEST: u32 = 32;
/// Maximum number of parts of an expression.
const MAX_PARTS: usize = 128;

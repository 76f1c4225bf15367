//! Expressions: read once, evaluated often.
use super::Scope;
use ncirrus_layout::{Error, Result};
use std::fmt;
use std::iter::Peekable;
use std::str::Chars;

/// A number or a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    Number(i64),
    Text(String),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Text(text) => f.write_str(text),
        }
    }
}

/// What gives a value.
#[derive(Debug, Clone)]
pub(super) enum Expression {
    Value(Value),
    Name(String),
    Negative(Box<Self>),
    Two(Operator, Box<Self>, Box<Self>),
    /// A template, and what its names mean.
    Call(String, Vec<(String, Self)>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Power,
    Join,
}

impl Expression {
    /// Reads an expression; `None` when it is not understood.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let tokens = tokens(text).filter(|tokens| tokens.len() <= MOST)?;
        let mut parser = Parser { tokens: tokens.into_iter().peekable(), depth: 0 };
        let expression = parser.sum()?;
        parser.tokens.peek().is_none().then_some(expression)
    }

    /// Its value.
    ///
    /// # Errors
    /// `Malformed` for names that mean nothing, operands that do not fit, and numbers that leave 64 bits.
    pub(super) fn value(&self, scope: &Scope) -> Result<Value> {
        match self {
            Self::Value(value) => Ok(value.clone()),
            Self::Name(name) => {
                let known = scope.values.get(name).cloned();
                known.ok_or_else(|| Error::malformed(format!("nothing is named {name:?} in templates")))
            }
            Self::Negative(inner) => match inner.value(scope)? {
                Value::Number(number) => number.checked_neg().map(Value::Number).ok_or_else(too_large),
                Value::Text(text) => Err(Error::malformed(format!("text {text:?} with a minus sign"))),
            },
            Self::Two(operator, one, other) => apply(*operator, one.value(scope)?, other.value(scope)?),
            Self::Call(name, arguments) => {
                let called = scope.functions.get(name);
                let called =
                    called.ok_or_else(|| Error::malformed(format!("no template {name:?} to be called")))?;
                let mut own = Scope::default();
                for (name, argument) in arguments {
                    own.values.insert(name.clone(), argument.value(scope)?);
                }
                called.render(&own).map(Value::Text)
            }
        }
    }
}

fn apply(operator: Operator, one: Value, other: Value) -> Result<Value> {
    match (operator, one, other) {
        (Operator::Join, one, other) => Ok(Value::Text(format!("{one}{other}"))),
        (Operator::Add, Value::Text(one), Value::Text(other)) => Ok(Value::Text(one + &other)),
        (Operator::Remainder, Value::Text(format), other) => formatted(&format, &other).map(Value::Text),
        (operator, Value::Number(one), Value::Number(other)) => {
            let number = match operator {
                Operator::Add => one.checked_add(other),
                Operator::Subtract => one.checked_sub(other),
                Operator::Multiply => one.checked_mul(other),
                Operator::Divide => floored(one, other),
                Operator::Remainder => floored(one, other)
                    .and_then(|quotient| quotient.checked_mul(other))
                    .and_then(|product| one.checked_sub(product)),
                Operator::Power => u32::try_from(other).ok().and_then(|power| one.checked_pow(power)),
                Operator::Join => None,
            };
            number.map(Value::Number).ok_or_else(too_large)
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

/// A text with one place for a value: `%d`, `%03d`, `%s`.
fn formatted(format: &str, value: &Value) -> Result<String> {
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
        ('d' | 'i', Value::Number(number)) if digits.starts_with('0') => format!("{number:0width$}"),
        ('d' | 'i', Value::Number(number)) => format!("{number:width$}"),
        ('s', value) => format!("{:>width$}", value.to_string()),
        _ => return Err(odd()),
    };
    Ok(format!("{before}{shown}{}", after.as_str()))
}

/// Most places of a number.
const WIDEST: usize = 64;

#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    Number(i64),
    Text(String),
    Name(String),
    Sign(char),
    /// `//`, `**`.
    Twice(char),
}

fn tokens(text: &str) -> Option<Vec<Token>> {
    let mut chars = text.chars().peekable();
    let mut found = Vec::new();
    while let Some(&first) = chars.peek() {
        match first {
            _ if first.is_whitespace() => _ = chars.next(),
            '0'..='9' => found.push(Token::Number(word(&mut chars).parse().ok()?)),
            '"' | '\'' => {
                chars.next();
                let inner: String = std::iter::from_fn(|| chars.next_if(|char| *char != first)).collect();
                chars.next()?;
                // Escapes are not understood.
                found.push((!inner.contains('\\')).then_some(Token::Text(inner))?);
            }
            _ if first.is_alphanumeric() || first == '_' => found.push(Token::Name(word(&mut chars))),
            _ => {
                chars.next();
                let twice = matches!(first, '/' | '*') && chars.next_if_eq(&first).is_some();
                found.push(if twice { Token::Twice(first) } else { Token::Sign(first) });
            }
        }
    }
    Some(found)
}

fn word(chars: &mut Peekable<Chars<'_>>) -> String {
    std::iter::from_fn(|| chars.next_if(|char| char.is_alphanumeric() || *char == '_')).collect()
}

struct Parser {
    tokens: Peekable<std::vec::IntoIter<Token>>,
    depth: u32,
}

impl Parser {
    fn sum(&mut self) -> Option<Expression> {
        let mut left = self.product()?;
        loop {
            let operator = match self.tokens.peek() {
                Some(Token::Sign('+')) => Operator::Add,
                Some(Token::Sign('-')) => Operator::Subtract,
                Some(Token::Sign('~')) => Operator::Join,
                _ => return Some(left),
            };
            self.tokens.next();
            left = Expression::Two(operator, Box::new(left), Box::new(self.product()?));
        }
    }

    fn product(&mut self) -> Option<Expression> {
        let mut left = self.signed()?;
        loop {
            let operator = match self.tokens.peek() {
                Some(Token::Sign('*')) => Operator::Multiply,
                Some(Token::Twice('/')) => Operator::Divide,
                Some(Token::Sign('%')) => Operator::Remainder,
                _ => return Some(left),
            };
            self.tokens.next();
            left = Expression::Two(operator, Box::new(left), Box::new(self.signed()?));
        }
    }

    fn signed(&mut self) -> Option<Expression> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return None;
        }
        let negative = self.tokens.next_if_eq(&Token::Sign('-')).is_some();
        let inner = if negative { self.signed()? } else { self.power()? };
        self.depth -= 1;
        Some(if negative { Expression::Negative(Box::new(inner)) } else { inner })
    }

    fn power(&mut self) -> Option<Expression> {
        let base = self.one()?;
        if self.tokens.next_if_eq(&Token::Twice('*')).is_none() {
            return Some(base);
        }
        Some(Expression::Two(Operator::Power, Box::new(base), Box::new(self.signed()?)))
    }

    fn one(&mut self) -> Option<Expression> {
        match self.tokens.next()? {
            Token::Number(number) => Some(Expression::Value(Value::Number(number))),
            Token::Text(text) => Some(Expression::Value(Value::Text(text))),
            Token::Name(name) if self.tokens.next_if_eq(&Token::Sign('(')).is_some() => {
                Some(Expression::Call(name, self.arguments()?))
            }
            Token::Name(name) => Some(Expression::Name(name)),
            Token::Sign('(') => {
                let inner = self.sum()?;
                self.tokens.next_if_eq(&Token::Sign(')')).map(|_| inner)
            }
            Token::Sign(_) | Token::Twice(_) => None,
        }
    }

    /// What stands in the parentheses of a call, which are open.
    fn arguments(&mut self) -> Option<Vec<(String, Expression)>> {
        let mut arguments = Vec::new();
        while self.tokens.next_if_eq(&Token::Sign(')')).is_none() {
            if !arguments.is_empty() {
                self.tokens.next_if_eq(&Token::Sign(','))?;
            }
            let Token::Name(name) = self.tokens.next()? else { return None };
            self.tokens.next_if_eq(&Token::Sign('='))?;
            arguments.push((name, self.sum()?));
        }
        Some(arguments)
    }
}

/// Deepest nesting: every level is a call.
const DEEPEST: u32 = 32;
/// Most parts of an expression.
const MOST: usize = 128;

//! Texts with expressions in double braces, as in version 1 of the reference format: the part of Jinja that its
//! specification uses. Names, calls of templates with named arguments, integers, strings, `+ - * // % ** ~`,
//! parentheses.
mod expression;

use expression::{ExpressionValue, TemplateExpression};
use ncirrus_layout::{Error, Result};
use std::collections::BTreeMap;

/// The values of names.
#[derive(Debug, Default, Clone)]
pub(super) struct TemplateScope {
    values: BTreeMap<String, ExpressionValue>,
    functions: BTreeMap<String, ReferenceTemplate>,
}

impl TemplateScope {
    /// The templates of a file: those with expressions are called with named arguments.
    ///
    /// # Errors
    /// `Malformed` for what is not text, `Unsupported` for an expression that is not supported.
    pub(super) fn of(templates: Option<&serde_json::Value>) -> Result<Self> {
        let mut scope = Self::default();
        let Some(templates) = templates else { return Ok(scope) };
        let all = templates.as_object().ok_or_else(|| Error::malformed("\"templates\" is not an object"))?;
        for (name, text) in all {
            let text = text
                .as_str()
                .ok_or_else(|| Error::malformed(format!("template {name:?} is not a string")))?;
            match ReferenceTemplate::parse(text)? {
                template if template.is_plain() => {
                    scope.values.insert(name.clone(), ExpressionValue::Text(text.to_owned()));
                }
                template => _ = scope.functions.insert(name.clone(), template),
            }
        }
        Ok(scope)
    }

    /// Whether no names are defined.
    pub(super) fn is_empty(&self) -> bool {
        self.values.is_empty() && self.functions.is_empty()
    }

    /// Defines a name as a number.
    pub(super) fn set_number(&mut self, name: &str, number: i64) {
        self.values.insert(name.to_owned(), ExpressionValue::Number(number));
    }

    /// Defines a name as a text.
    pub(super) fn set_text(&mut self, name: &str, text: &str) {
        self.values.insert(name.to_owned(), ExpressionValue::Text(text.to_owned()));
    }
}

/// A text with expressions.
#[derive(Debug, Clone)]
pub(super) struct ReferenceTemplate(Vec<TemplatePiece>);

#[derive(Debug, Clone)]
enum TemplatePiece {
    Plain(String),
    Expression(TemplateExpression),
}

impl ReferenceTemplate {
    /// Parses a text.
    ///
    /// # Errors
    /// `Malformed` for unclosed braces, `Unsupported` for an expression that is not supported.
    pub(super) fn parse(text: &str) -> Result<Self> {
        let (mut pieces, mut rest) = (Vec::new(), text);
        while let Some((plain, begun)) = rest.split_once("{{") {
            let Some((inner, after)) = begun.split_once("}}") else {
                return Err(Error::malformed(format!("template {text:?} has an unclosed brace")));
            };
            pieces.extend((!plain.is_empty()).then(|| TemplatePiece::Plain(plain.to_owned())));
            let parsed = TemplateExpression::parse(inner);
            let understood = || Error::unsupported(format!("the expression {inner:?} of a template"));
            pieces.push(TemplatePiece::Expression(parsed.ok_or_else(understood)?));
            rest = after;
        }
        pieces.extend((!rest.is_empty()).then(|| TemplatePiece::Plain(rest.to_owned())));
        Ok(Self(pieces))
    }

    /// Whether it has no expressions.
    pub(super) fn is_plain(&self) -> bool {
        !self.0.iter().any(|piece| matches!(piece, TemplatePiece::Expression(_)))
    }

    /// The text, with the values of its expressions.
    ///
    /// # Errors
    /// `Malformed` for undefined names, and numbers beyond 64 bits.
    pub(super) fn render(&self, scope: &TemplateScope) -> Result<String> {
        let mut text = String::new();
        for piece in &self.0 {
            match piece {
                TemplatePiece::Plain(plain) => text.push_str(plain),
                TemplatePiece::Expression(expression) => text.push_str(&expression.value(scope)?.to_string()),
            }
            if text.len() > LONGEST {
                return Err(Error::limit(format!("a template gives more than {LONGEST} bytes")));
            }
        }
        Ok(text)
    }
}

/// Maximum size of an expanded template: names are shorter.
const LONGEST: usize = 1 << 16;

#[cfg(test)]
mod tests;

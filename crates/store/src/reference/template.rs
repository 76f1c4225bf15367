//! Texts with expressions in double braces, as version 1 of the reference format has them: the part of Jinja that its
//! specification uses. Names, calls of templates with named arguments, integers, strings, `+ - * // % ** ~`, parentheses.
mod expression;

use expression::{ExpressionValue, TemplateExpression};
use ncirrus_layout::{Error, Result};
use std::collections::BTreeMap;

/// What names mean.
#[derive(Debug, Default, Clone)]
pub(super) struct TemplateScope {
    values: BTreeMap<String, ExpressionValue>,
    functions: BTreeMap<String, ReferenceTemplate>,
}

impl TemplateScope {
    /// The templates of a file: those that have expressions are called with what these name.
    ///
    /// # Errors
    /// `Malformed` for what is no text, `Unsupported` for an expression that is not understood.
    pub(super) fn of(templates: Option<&serde_json::Value>) -> Result<Self> {
        let mut scope = Self::default();
        let Some(templates) = templates else { return Ok(scope) };
        let all = templates.as_object().ok_or_else(|| Error::malformed("\"templates\" is no object"))?;
        for (name, text) in all {
            let text =
                text.as_str().ok_or_else(|| Error::malformed(format!("template {name:?} is no text")))?;
            match ReferenceTemplate::parse(text)? {
                template if template.is_plain() => {
                    scope.values.insert(name.clone(), ExpressionValue::Text(text.to_owned()));
                }
                template => _ = scope.functions.insert(name.clone(), template),
            }
        }
        Ok(scope)
    }

    /// Whether nothing has a name.
    pub(super) fn is_empty(&self) -> bool {
        self.values.is_empty() && self.functions.is_empty()
    }

    /// Gives a name to a number.
    pub(super) fn set_number(&mut self, name: &str, number: i64) {
        self.values.insert(name.to_owned(), ExpressionValue::Number(number));
    }

    /// Gives a name to a text.
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
    /// Reads a text.
    ///
    /// # Errors
    /// `Malformed` for braces that do not end, `Unsupported` for an expression that is not understood.
    pub(super) fn parse(text: &str) -> Result<Self> {
        let (mut pieces, mut rest) = (Vec::new(), text);
        while let Some((plain, begun)) = rest.split_once("{{") {
            let Some((inner, after)) = begun.split_once("}}") else {
                return Err(Error::malformed(format!("template {text:?} has braces that do not end")));
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
    /// `Malformed` for names that mean nothing, and numbers that leave 64 bits.
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

/// Most bytes that a template may give: names are shorter.
const LONGEST: usize = 1 << 16;

#[cfg(test)]
mod tests;

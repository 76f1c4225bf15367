//! `config.yaml` of repositories of spec version 1 (docs/spec/icechunk-format.md, "Layout"): the part of YAML that icechunk
//! writes. Maps by indentation, plain and quoted scalars, and tags of one word before a map. Other lines are ignored.
use crate::config_value::ConfigValue;
use ncirrus_layout::{Error, Result};

/// Maximum nesting of maps.
const DEPTH: usize = 16;
/// Maximum size of a file in bytes: those of icechunk have about 1 kB.
const MAX_BYTES: usize = 1 << 20;

/// A line `key: value`, without its indentation.
struct YamlLine<'a> {
    indent: usize,
    key: String,
    value: &'a str,
}

/// Reads a file.
///
/// # Errors
/// `Malformed` if it is not text, `Limit` if it is too large or nested too deeply.
pub(crate) fn parse(bytes: &[u8]) -> Result<ConfigValue> {
    if bytes.len() > MAX_BYTES {
        return Err(Error::limit(format!("config.yaml has {} bytes, more than {MAX_BYTES}", bytes.len())));
    }
    let text = std::str::from_utf8(bytes).map_err(|_| Error::malformed("config.yaml is not UTF-8"))?;
    let lines: Vec<YamlLine<'_>> = text.lines().filter_map(YamlLine::of).collect();
    let mut rest = lines.as_slice();
    map(&mut rest, 0, DEPTH)
}

/// The entries of a map whose lines have at least that indentation.
fn map(rest: &mut &[YamlLine<'_>], indent: usize, depth: usize) -> Result<ConfigValue> {
    let deep = || Error::limit("config.yaml is nested too deeply");
    let depth = depth.checked_sub(1).ok_or_else(deep)?;
    let mut entries = Vec::new();
    loop {
        let lines = *rest;
        let next = lines.split_first().filter(|(line, _)| line.indent >= indent);
        let Some((line, after)) = next else { return Ok(ConfigValue::Map(entries)) };
        *rest = after;
        let (tag, value) = match line.value.strip_prefix('!') {
            Some(tagged) => {
                let (tag, value) = tagged.split_once(' ').unwrap_or((tagged, ""));
                (Some(tag), value.trim())
            }
            None => (None, line.value),
        };
        let value = match (value, after.first()) {
            ("", Some(next)) if next.indent > line.indent => map(rest, next.indent, depth)?,
            ("" | "null" | "~", _) => ConfigValue::Null,
            ("{}", _) => ConfigValue::Map(Vec::new()),
            (text, _) => ConfigValue::Text(unquoted(text)),
        };
        let value = match tag {
            Some(tag) => ConfigValue::Map(vec![(tag.to_owned(), value)]),
            None => value,
        };
        entries.push((line.key.clone(), value));
    }
}

impl<'a> YamlLine<'a> {
    fn of(line: &'a str) -> Option<Self> {
        let text = line.trim_start_matches(' ');
        let indent = line.len() - text.len();
        let text = text.trim_end();
        if text.starts_with(['#', '-', '%']) {
            return None;
        }
        // A key may have colons: only one before a blank or at the end of the line separates it from its value.
        let quoted = text.chars().next().filter(|first| matches!(first, '"' | '\''));
        let after_key = match quoted {
            Some(quote) => text.get(1..)?.find(quote)? + 2,
            None => 0,
        };
        let tail = text.get(after_key..)?;
        let colon = tail.find(": ").or_else(|| tail.ends_with(':').then(|| tail.len() - 1))? + after_key;
        let value = text.get(colon + 1..)?.trim();
        Some(Self { indent, key: unquoted(text.get(..colon)?), value })
    }
}

/// A scalar without its quotes.
fn unquoted(text: &str) -> String {
    for quote in ['\'', '"'] {
        if let Some(inner) = text.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote)) {
            return if quote == '\'' { inner.replace("''", "'") } else { inner.replace("\\\"", "\"") };
        }
    }
    text.to_owned()
}

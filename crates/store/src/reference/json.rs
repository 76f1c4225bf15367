//! The JSON of a reference file, whose references are put into a manifest while they are parsed.
use super::manifest::ReferenceManifest;
use super::template::TemplateScope;
use super::text::{ReferenceText, TextCompression};
use ncirrus_layout::{Error, Limits, Result};
use serde::de::{DeserializeSeed, Deserializer as _, IgnoredAny, MapAccess, Visitor};
use serde_json::{Deserializer, Value};
use std::fmt;
use std::io::Read;

/// What a reference file contains.
pub(super) struct ReferenceDocument {
    pub(super) version: Option<Value>,
    pub(super) templates: Option<Value>,
    pub(super) generators: Option<Value>,
    /// Whether there is a list of references.
    pub(super) has_refs: bool,
    /// The references in the list.
    pub(super) refs: ReferenceManifest,
    /// Whether any name of the list may contain an expression.
    pub(super) has_expressions: bool,
    /// All members of the document as references, unless there is a list: the form of version 0.
    pub(super) flat: ReferenceManifest,
}

impl ReferenceManifest {
    /// Parses a file; `None` if it is JSON of another kind. The references are parsed one after the other: memory is
    /// taken for what is kept of them, not for the text.
    ///
    /// # Errors
    /// `Malformed` for invalid JSON, or an invalid list of references; `Unsupported` for another version, or
    /// templates that are not supported; `Limit` for too many entries or too much text.
    pub(super) fn parse(
        text: &ReferenceText<'_>,
        compression: TextCompression,
        limits: &Limits,
    ) -> Result<Option<Self>> {
        let first = parse(text, compression, TemplateScope::default(), limits)?;
        let Some(document) = first else { return Ok(None) };
        if !document.has_refs {
            let flat = document.flat;
            return Ok(flat.keys_have_marker().then(|| flat.finished()));
        }
        if let Some(version) = document.version.filter(|version| !matches!(version.as_u64(), Some(0 | 1))) {
            return Err(Error::unsupported(format!("reference files of version {version}")));
        }
        let scope = TemplateScope::of(document.templates.as_ref())?;
        let mut manifest = document.refs;
        // Only now the templates are known, which usually are not used.
        if !scope.is_empty() && document.has_expressions {
            let again = parse(text, compression, scope.clone(), limits)?;
            manifest = again.ok_or_else(|| Error::internal("a reference file that changed"))?.refs;
        }
        for generator in document.generators.as_ref().and_then(Value::as_array).into_iter().flatten() {
            manifest.generate(generator, &scope, limits)?;
        }
        Ok(Some(manifest.finished()))
    }
}

/// Parses a document; `None` if it is JSON of another kind.
///
/// # Errors
/// `Malformed` for invalid JSON; `Limit`; errors of reading it.
fn parse(
    text: &ReferenceText<'_>,
    compression: TextCompression,
    scope: TemplateScope,
    limits: &Limits,
) -> Result<Option<ReferenceDocument>> {
    let document = ReferenceDocument {
        version: None,
        templates: None,
        generators: None,
        has_refs: false,
        refs: ReferenceManifest::new(limits),
        has_expressions: false,
        flat: ReferenceManifest::new(limits),
    };
    if !begins_with_object(text, compression, limits)? {
        return Ok(None);
    }
    let mut parser = DocumentParser { document, scope, limits, failure: None };
    let parsed = match text.plain(compression) {
        Some(bytes) => {
            let mut json = Deserializer::from_slice(bytes);
            json.deserialize_any(&mut parser).and_then(|()| json.end())
        }
        None => {
            let mut json = Deserializer::from_reader(text.reader(compression, limits)?);
            json.deserialize_any(&mut parser).and_then(|()| json.end())
        }
    };
    match (parser.failure, parsed) {
        (Some(failure), _) => Err(failure),
        (None, Ok(())) => Ok(Some(parser.document)),
        (None, Err(error)) => Err(not_json(error)),
    }
}

/// Whether a text may be an object: JSON of another kind is left alone, whatever follows.
fn begins_with_object(
    text: &ReferenceText<'_>,
    compression: TextCompression,
    limits: &Limits,
) -> Result<bool> {
    let mut head = [0; 1 << 10];
    let mut reader = text.reader(compression, limits)?;
    let len = reader.read(&mut head).map_err(|error| not_json(serde_json::Error::io(error)))?;
    let first = head.iter().take(len).find(|byte| !byte.is_ascii_whitespace());
    Ok(first.is_none_or(|byte| *byte == b'{'))
}

/// What failed below serde: reading, decompressing, or the text.
fn not_json(error: serde_json::Error) -> Error {
    if !error.is_io() {
        return Error::malformed("the reference file is not JSON").because(error);
    }
    let error = std::io::Error::from(error);
    let own = error.get_ref().and_then(|inner| inner.downcast_ref::<Error>()).cloned();
    own.unwrap_or_else(|| {
        Error::malformed("the compressed reference file is damaged or truncated").because(error)
    })
}

struct DocumentParser<'a> {
    document: ReferenceDocument,
    scope: TemplateScope,
    limits: &'a Limits,
    /// The error of an entry, which ends the parsing.
    failure: Option<Error>,
}

impl<'de> Visitor<'de> for &mut DocumentParser<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<(), A::Error> {
        let mut count = 0;
        while let Some(key) = map.next_key::<String>()? {
            count += 1;
            if key == "refs" {
                let value = map.next_value_seed(RefsParser { parser: &mut *self })?;
                self.document.has_refs |= value;
                continue;
            }
            let value: Value = map.next_value()?;
            let taken = self.limits.count(count, "a reference file");
            let taken = taken.and_then(|_| self.document.flat.take(&key, &value, &TemplateScope::default()));
            self.note(taken)?;
            match key.as_str() {
                "version" => self.document.version = Some(value),
                "templates" => self.document.templates = Some(value),
                "gen" => self.document.generators = Some(value),
                _ => {}
            }
        }
        Ok(())
    }
}

impl DocumentParser<'_> {
    /// Keeps an error, and ends the parsing by one of its kind.
    fn note<T, E: serde::de::Error>(&mut self, result: Result<T>) -> std::result::Result<T, E> {
        result.map_err(|error| {
            let message = error.message().to_owned();
            self.failure = Some(error);
            E::custom(message)
        })
    }
}

/// Parses the list of references; whether it is an object.
struct RefsParser<'a, 'b> {
    parser: &'a mut DocumentParser<'b>,
}

impl<'de> DeserializeSeed<'de> for RefsParser<'_, '_> {
    type Value = bool;

    fn deserialize<D: serde::Deserializer<'de>>(self, json: D) -> std::result::Result<bool, D::Error> {
        json.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for RefsParser<'_, '_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("references")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<bool, A::Error> {
        let parser = self.parser;
        let mut count = 0;
        while let Some(key) = map.next_key::<String>()? {
            let value: Value = map.next_value()?;
            count += 1;
            let name = value.as_array().and_then(|parts| parts.first()).and_then(Value::as_str);
            parser.document.has_expressions |= name.is_some_and(|name| name.contains("{{"));
            let counted = parser.limits.count(count, "a reference file");
            let taken = counted.and_then(|_| parser.document.refs.take(&key, &value, &parser.scope));
            parser.note(taken)?;
        }
        Ok(true)
    }

    fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut list: A) -> std::result::Result<bool, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(false)
    }

    fn visit_unit<E: serde::de::Error>(self) -> std::result::Result<bool, E> {
        Ok(false)
    }

    fn visit_bool<E: serde::de::Error>(self, _: bool) -> std::result::Result<bool, E> {
        Ok(false)
    }

    fn visit_u64<E: serde::de::Error>(self, _: u64) -> std::result::Result<bool, E> {
        Ok(false)
    }

    fn visit_i64<E: serde::de::Error>(self, _: i64) -> std::result::Result<bool, E> {
        Ok(false)
    }

    fn visit_f64<E: serde::de::Error>(self, _: f64) -> std::result::Result<bool, E> {
        Ok(false)
    }

    fn visit_str<E: serde::de::Error>(self, _: &str) -> std::result::Result<bool, E> {
        Ok(false)
    }
}

//! The contents of a reference file: the bytes of each key (version 0 and version 1 of the format of kerchunk and
//! fsspec).
use super::keys::KeyTable;
use super::template::{ReferenceTemplate, TemplateScope};

use crate::{key, marker};
use bytes::Bytes;
use ncirrus_layout::{Error, Limits, Result, base64};
use serde_json::Value;
use std::collections::HashMap;

/// The contents of a reference file.
#[derive(Debug, Default)]
pub(super) struct ReferenceManifest {
    pub(super) entries: KeyTable<ManifestEntry>,
    /// Names of the referenced objects, each once.
    pub(super) targets: Vec<String>,
    pub(super) warnings: Vec<String>,
    known: HashMap<String, u32>,
    /// Chunks of scalars under keys that end in `/`, by the path of their array.
    scalars: Vec<(String, ManifestEntry)>,
    /// Remaining budget for bytes of generated names.
    left: u64,
}

/// Where the bytes of a key are stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ManifestEntry {
    /// In the file itself.
    Inline(Box<Bytes>),
    /// A whole object.
    Whole(u32),
    /// A range of an object.
    Range { target: u32, offset: u64, len: u64 },
    /// The entry is damaged: an error when it is read.
    Damaged(Box<str>),
}

impl ReferenceManifest {
    /// Without entries.
    pub(super) fn new(limits: &Limits) -> Self {
        Self { left: limits.metadata_bytes, ..Self::default() }
    }

    /// The shallowest prefix that has a marker of a Zarr dataset, else the root.
    pub(super) fn root_prefix(&self) -> String {
        marker::shallowest(self.entries.iter().map(|(key, _)| key)).unwrap_or_default().to_owned()
    }

    /// Whether any key is a marker of a Zarr dataset.
    pub(super) fn keys_have_marker(&self) -> bool {
        let mut names = self.entries.iter().map(|(key, _)| key.rsplit('/').next().unwrap_or_default());
        names.any(|name| marker::NAMES.contains(&name))
    }

    /// Ready for use: nothing is put any more.
    pub(super) fn finished(mut self) -> Self {
        self.known = HashMap::new();
        self.entries.sort();
        self.place_scalars();
        self.entries.sort();
        self
    }

    /// Puts the reference of a key. One that is damaged is an error when it is read.
    ///
    /// # Errors
    /// `Limit`.
    pub(super) fn take(&mut self, key: &str, value: &Value, scope: &TemplateScope) -> Result<()> {
        let entry = self.entry(value, scope).or_else(|error| match error.kind() {
            ncirrus_layout::ErrorKind::Limit => Err(error),
            _ => Ok(ManifestEntry::Damaged(error.message().into())),
        })?;
        self.insert(key, entry);
        Ok(())
    }

    /// VirtualiZarr joins the path of a scalar with the coordinates of its chunk, which are empty.
    fn place_scalars(&mut self) {
        let mut placed = Vec::new();
        for (array, entry) in std::mem::take(&mut self.scalars) {
            let is_v3 = self.entries.get(&format!("{array}/zarr.json")).is_some();
            let chunk = format!("{array}/{}", if is_v3 { "c" } else { "0" });
            if self.entries.get(&chunk).is_none() {
                placed.push((chunk, entry));
            }
        }
        placed.into_iter().for_each(|(chunk, entry)| self.entries.insert(&chunk, entry));
    }

    pub(super) fn insert(&mut self, key: &str, entry: ManifestEntry) {
        if let Some(array) = key.strip_suffix('/').filter(|array| array.split('/').all(key::is_name)) {
            return self.scalars.push((array.to_owned(), entry));
        }
        if !key.is_empty() && key.split('/').all(key::is_name) {
            self.entries.insert(key, entry);
        } else if self.warnings.len() < MAX_WARNINGS {
            self.warnings.push(format!("reference {key:?} was skipped: not a plain path"));
        }
    }

    fn entry(&mut self, value: &Value, scope: &TemplateScope) -> Result<ManifestEntry> {
        let odd = || {
            Error::malformed(format!("the reference {value} is neither a string nor [name, offset, length]"))
        };
        match value {
            Value::String(text) => inline(text),
            Value::Object(_) => Ok(ManifestEntry::Inline(Box::new(value.to_string().into()))),
            Value::Array(parts) => match parts.as_slice() {
                [Value::String(name)] => Ok(ManifestEntry::Whole(self.rendered(name, scope)?)),
                [Value::String(name), offset, len] => {
                    let (offset, len) = (number(offset).ok_or_else(odd)?, number(len).ok_or_else(odd)?);
                    self.range(name, scope, offset, len)
                }
                _ => Err(odd()),
            },
            _ => Err(odd()),
        }
    }

    /// A range of the object of that name.
    ///
    /// # Errors
    /// `Malformed` for a range beyond 2^64, `Limit`.
    pub(super) fn range_of(&mut self, name: &str, offset: u64, len: u64) -> Result<ManifestEntry> {
        self.range(name, &TemplateScope::default(), offset, len)
    }

    fn range(&mut self, name: &str, scope: &TemplateScope, offset: u64, len: u64) -> Result<ManifestEntry> {
        if offset.checked_add(len).is_none() {
            return Err(Error::malformed(format!("a reference to {len} bytes from {offset} on")));
        }
        Ok(ManifestEntry::Range { target: self.rendered(name, scope)?, offset, len })
    }

    /// The number of the object whose name may contain expressions.
    fn rendered(&mut self, name: &str, scope: &TemplateScope) -> Result<u32> {
        if scope.is_empty() || !name.contains("{{") {
            return self.target(name);
        }
        let name = ReferenceTemplate::parse(name)?.render(scope)?;
        self.target(&name)
    }

    fn target(&mut self, name: &str) -> Result<u32> {
        if let Some(known) = self.known.get(name) {
            return Ok(*known);
        }
        if name.is_empty() {
            return Err(Error::malformed("a reference without an object name"));
        }
        self.spend(name.len())?;
        let number = u32::try_from(self.targets.len());
        let number = number.map_err(|_| Error::limit("a reference file names more than 2^32 objects"))?;
        self.targets.push(name.to_owned());
        self.known.insert(name.to_owned(), number);
        Ok(number)
    }

    fn spend(&mut self, bytes: usize) -> Result<()> {
        let left = self.left.checked_sub(bytes as u64);
        self.left =
            left.ok_or_else(|| Error::limit("the names of a reference file are too long together"))?;
        Ok(())
    }

    /// Expands a generator.
    pub(super) fn generate(
        &mut self,
        generator: &Value,
        scope: &TemplateScope,
        limits: &Limits,
    ) -> Result<()> {
        let part = |name: &str| generator.get(name).and_then(template_text);
        let missing = |name: &str| Error::malformed(format!("a reference generator without {name:?}"));
        let key = ReferenceTemplate::parse(&part("key").ok_or_else(|| missing("key"))?)?;
        let url = ReferenceTemplate::parse(&part("url").ok_or_else(|| missing("url"))?)?;
        let span = match (part("offset"), part("length")) {
            (Some(offset), Some(len)) => {
                Some((ReferenceTemplate::parse(&offset)?, ReferenceTemplate::parse(&len)?))
            }
            (None, None) => None,
            (None, Some(_)) => return Err(missing("offset")),
            (Some(_), None) => return Err(missing("length")),
        };
        let axes = generator.get("dimensions").and_then(Value::as_object);
        let axes = axes.ok_or_else(|| missing("dimensions"))?;
        let axes =
            axes.iter().map(|(name, along)| GeneratorAxis::parse(name, along)).collect::<Result<Vec<_>>>()?;
        let made = axes.iter().fold(1u64, |count, axis| count.saturating_mul(axis.len()));
        let all = made.saturating_add(self.entries.len() as u64);
        limits.count(all, "the reference file, expanded,")?;
        let mut scope = scope.clone();
        for number in 0..made {
            let mut rest = number;
            for axis in axes.iter().rev() {
                axis.bind(rest % axis.len().max(1), &mut scope);
                rest /= axis.len().max(1);
            }
            let (key, url) = (key.render(&scope)?, url.render(&scope)?);
            self.spend(key.len())?;
            let entry = match &span {
                None => ManifestEntry::Whole(self.target(&url)?),
                Some((offset, len)) => {
                    let (offset, len) = (whole(&offset.render(&scope)?)?, whole(&len.render(&scope)?)?);
                    self.range_of(&url, offset, len)?
                }
            };
            self.insert(&key, entry);
        }
        Ok(())
    }
}

/// The values of a generator's dimension.
enum GeneratorAxis {
    Steps { name: String, start: i64, step: i64, count: u64 },
    List { name: String, values: Vec<Value> },
}

impl GeneratorAxis {
    fn parse(name: &str, along: &Value) -> Result<Self> {
        let odd = || Error::malformed(format!("dimension {name:?} of a generator of references: {along}"));
        let name = name.to_owned();
        match along {
            Value::Array(values) => {
                let fine = values.iter().all(|value| value.is_string() || value.is_i64());
                if fine { Ok(Self::List { name, values: values.clone() }) } else { Err(odd()) }
            }
            Value::Object(range) => {
                let part = |part: &str, usual| match range.get(part) {
                    None => Ok(usual),
                    Some(value) => value.as_i64().map(Some).ok_or_else(odd),
                };
                let (start, step) = (part("start", Some(0))?, part("step", Some(1))?);
                let (Some(start), Some(stop), Some(step)) = (start, part("stop", None)?, step) else {
                    return Err(odd());
                };
                let (span, stride) = match step {
                    0 => return Err(odd()),
                    1.. => (i128::from(stop) - i128::from(start), i128::from(step)),
                    _ => (i128::from(start) - i128::from(stop), -i128::from(step)),
                };
                let count = (span.max(0) + stride - 1) / stride;
                Ok(Self::Steps { name, start, step, count: u64::try_from(count).unwrap_or(u64::MAX) })
            }
            _ => Err(odd()),
        }
    }

    fn len(&self) -> u64 {
        match self {
            Self::Steps { count, .. } => *count,
            Self::List { values, .. } => values.len() as u64,
        }
    }

    /// Sets the name to the value at that index.
    fn bind(&self, at: u64, scope: &mut TemplateScope) {
        match self {
            Self::Steps { name, start, step, .. } => {
                let along = i64::try_from(at).unwrap_or(i64::MAX).saturating_mul(*step);
                scope.set_number(name, start.saturating_add(along));
            }
            Self::List { name, values } => match usize::try_from(at).ok().and_then(|at| values.get(at)) {
                Some(Value::String(text)) => scope.set_text(name, text),
                Some(value) => scope.set_number(name, value.as_i64().unwrap_or_default()),
                None => {}
            },
        }
    }
}

fn inline(text: &str) -> Result<ManifestEntry> {
    let body = match text.strip_prefix("base64:") {
        Some(encoded) => {
            let decoded = base64::decode(encoded.as_bytes());
            Bytes::from(decoded.ok_or_else(|| Error::malformed("inline data that are not base64"))?)
        }
        None => Bytes::copy_from_slice(text.as_bytes()),
    };
    Ok(ManifestEntry::Inline(Box::new(body)))
}

/// A number, which some programs write as a string.
fn number(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str()?.parse().ok())
}

fn whole(text: &str) -> Result<u64> {
    let parsed = text.trim().parse();
    parsed.map_err(|_| Error::malformed(format!("a generated offset or length {text:?}")))
}

/// The text of a template; numbers may stand for themselves.
fn template_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// Maximum number of warnings that are kept.
const MAX_WARNINGS: usize = 100;

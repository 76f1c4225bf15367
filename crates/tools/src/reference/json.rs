//! The references of all keys, and the JSON file with them.
use super::draft::JointVariable;
use super::pieces::pieces;
use super::small::{self, SmallChunk};
use super::{ReferenceInput, ReferenceOptions, ZarrFormat, names};
use ncirrus::internals::DatasetInternals;
use ncirrus::{Error, Result, Session};
use ncirrus_layout::{Location, ObjectId, OutsideObject, base64};
use serde_json::Value;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

/// The contents of a reference file's keys.
pub(super) struct ReferenceKeys {
    refs: BTreeMap<String, StoredReference>,
    format: ZarrFormat,
    /// Names of objects, each once.
    names: HashSet<Arc<str>>,
    /// Chunks that are referenced.
    pub(super) referred: u64,
    /// Chunks that are embedded.
    pub(super) inline: u64,
}

/// Where the bytes of a key are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum StoredReference {
    /// In the references themselves.
    Inline(Vec<u8>),
    /// A whole object, by its name.
    Whole(Arc<str>),
    /// A range of an object: name, offset, length.
    Range(Arc<str>, u64, u64),
}

impl ReferenceKeys {
    /// References together with embedded objects.
    pub(super) fn new(objects: BTreeMap<String, Vec<u8>>, format: ZarrFormat) -> Self {
        let refs = objects.into_iter().map(|(key, body)| (key, StoredReference::Inline(body)));
        Self { refs: refs.collect(), format, names: HashSet::new(), referred: 0, inline: 0 }
    }

    /// The references by key.
    pub(super) fn into_entries(self) -> impl Iterator<Item = (String, StoredReference)> {
        self.refs.into_iter()
    }

    /// The references of chunks, with metadata and their consolidated copy.
    pub(super) fn of_parts(
        metadata: &BTreeMap<String, Value>,
        chunks: BTreeMap<String, StoredReference>,
    ) -> Self {
        let is_inline = |reference: &&StoredReference| matches!(reference, StoredReference::Inline(_));
        let inline = chunks.values().filter(is_inline).count() as u64;
        let referred = chunks.len() as u64 - inline;
        let mut refs = chunks;
        let document = |value: &Value| StoredReference::Inline(value.to_string().into_bytes());
        let consolidated = serde_json::json!({"metadata": metadata, "zarr_consolidated_format": 1});
        refs.extend(metadata.iter().map(|(key, value)| (key.clone(), document(value))));
        refs.insert(".zmetadata".to_owned(), document(&consolidated));
        Self { refs, format: ZarrFormat::V2, names: HashSet::new(), referred, inline }
    }

    /// A name that is kept once.
    fn shared(&mut self, name: String) -> Arc<str> {
        if let Some(known) = self.names.get(name.as_str()) {
            return Arc::clone(known);
        }
        let name: Arc<str> = name.into();
        self.names.insert(Arc::clone(&name));
        name
    }

    /// Adds the chunks of a variable.
    ///
    /// # Errors
    /// `Unsupported` for chunks that are not stored in one place; errors of reading small ones.
    pub(super) fn take(
        &mut self,
        variable: &JointVariable,
        inputs: &[ReferenceInput],
        options: &ReferenceOptions,
        session: &Session,
    ) -> Result<()> {
        let chunk = variable.chunk.as_deref().unwrap_or_default();
        let mut small = Vec::new();
        for part in &variable.parts {
            let input = inputs.get(part.input).ok_or_else(|| Error::internal("no such file"))?;
            for (cell, place) in pieces(variable, part, chunk)? {
                let key = key(&variable.path, &cell, self.format);
                if let Location::Bytes(object, range) = &place
                    && range.end.saturating_sub(range.start) <= options.inline_threshold
                {
                    let (object, range) = (object.clone(), range.clone());
                    let (path, store) = (variable.path.clone(), Arc::clone(input.dataset.reader()?.store()));
                    small.push(SmallChunk { key, path, cell, store, object, range });
                    continue;
                }
                let reference = self.reference(input, place);
                let reference = reference.map_err(|error| error.at_path(&variable.path).at_chunk(&cell))?;
                reference.map(|reference| self.refs.insert(key, reference));
            }
        }
        self.inline += small.len() as u64;
        let embedded = small::read_all(small, session)?.into_iter();
        self.refs.extend(embedded.map(|(key, body)| (key, StoredReference::Inline(body))));
        Ok(())
    }

    fn reference(&mut self, input: &ReferenceInput, place: Location) -> Result<Option<StoredReference>> {
        let (object, range) = match place {
            Location::Absent => return Ok(None),
            Location::Inline(body) => {
                self.inline += 1;
                return Ok(Some(StoredReference::Inline(body.to_vec())));
            }
            Location::Object(object) => {
                self.referred += 1;
                let name = self.shared(input.name_of(&object, self.format)?);
                return Ok(Some(StoredReference::Whole(name)));
            }
            Location::Bytes(object, range) => (object, range),
        };
        let len = range.end.saturating_sub(range.start);
        self.referred += 1;
        let name = self.shared(input.name_of(&object, self.format)?);
        Ok(Some(StoredReference::Range(name, range.start, len)))
    }

    /// The bytes of the file.
    pub(super) fn finish(self) -> Vec<u8> {
        let mut file = br#"{"version":1,"refs":{"#.to_vec();
        for (number, (key, reference)) in self.refs.iter().enumerate() {
            if number > 0 {
                file.push(b',');
            }
            file.extend_from_slice(Value::from(key.as_str()).to_string().as_bytes());
            file.push(b':');
            file.extend_from_slice(reference.json().to_string().as_bytes());
        }
        file.extend_from_slice(b"}}");
        file
    }
}

impl StoredReference {
    /// As written in JSON.
    fn json(&self) -> Value {
        match self {
            Self::Inline(body) => text(body),
            Self::Whole(name) => Value::from(vec![name.as_ref()]),
            Self::Range(name, start, len) => {
                Value::from(vec![Value::from(name.as_ref()), Value::from(*start), Value::from(*len)])
            }
        }
    }
}

impl ReferenceInput {
    /// The name of an object of the dataset.
    fn name_of(&self, object: &ObjectId, format: ZarrFormat) -> Result<String> {
        if let Some(outside) = OutsideObject::of(object) {
            return Ok(outside.address.to_string());
        }
        let root = self.dataset.reader()?.root();
        if object == root {
            return Ok(self.name.clone());
        }
        let below = object.key().strip_prefix(root.key()).map(|below| below.trim_start_matches('/'));
        match below.filter(|below| root.child(below) == *object) {
            // Names in Icechunk are addresses; the names of kerchunk are paths, which are not escaped.
            Some(below) if format == ZarrFormat::V3 && self.name.starts_with("file://") => {
                Ok(format!("{}/{}", self.name, names::escaped(below)))
            }
            Some(below) => Ok(format!("{}/{below}", self.name)),
            None => Err(Error::unsupported("a reference to another file").at_object(object)),
        }
    }
}

/// The key of a chunk.
fn key(path: &str, cell: &[u64], format: ZarrFormat) -> String {
    let numbers: Vec<String> = cell.iter().map(u64::to_string).collect();
    if format == ZarrFormat::V3 {
        let names = [path.trim_start_matches('/'), "c"].into_iter();
        return names.chain(numbers.iter().map(String::as_str)).collect::<Vec<_>>().join("/");
    }
    let numbers = if numbers.is_empty() { "0".to_owned() } else { numbers.join(".") };
    format!("{}/{numbers}", path.trim_start_matches('/'))
}

/// Bytes as written in the file: JSON as it is, everything else in base64.
fn text(body: &[u8]) -> Value {
    match std::str::from_utf8(body) {
        Ok(text) if text.starts_with(['{', '[']) => Value::from(text),
        _ => Value::from(format!("base64:{}", base64::encode(body))),
    }
}

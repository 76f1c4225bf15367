//! The file itself.
use super::draft::JointVariable;
use super::pieces::pieces;
use super::{ReferenceInput, ReferenceOptions};
use ncirrus::internals::{DatasetInternals, SessionInternals};
use ncirrus::{Error, Result, Session};
use ncirrus_layout::{Location, ObjectId, OutsideObject, Want, base64};
use serde_json::Value;
use std::collections::BTreeMap;

/// The contents of a reference file's keys.
pub(super) struct ReferenceKeys {
    refs: BTreeMap<String, Value>,
    /// Chunks that are referenced.
    pub(super) referred: u64,
    /// Chunks that are embedded.
    pub(super) inline: u64,
}

impl ReferenceKeys {
    /// References together with embedded objects.
    pub(super) fn new(objects: BTreeMap<String, Vec<u8>>) -> Self {
        let refs = objects.into_iter().map(|(key, body)| (key, text(&body)));
        Self { refs: refs.collect(), referred: 0, inline: 0 }
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
        for part in &variable.parts {
            let input = inputs.get(part.input).ok_or_else(|| Error::internal("no such file"))?;
            for (cell, place) in pieces(variable, part, chunk)? {
                let key = key(&variable.path, &cell);
                let reference = self.reference(input, place, options, session);
                let reference = reference.map_err(|error| error.at_path(&variable.path).at_chunk(&cell))?;
                reference.map(|reference| self.refs.insert(key, reference));
            }
        }
        Ok(())
    }

    fn reference(
        &mut self,
        input: &ReferenceInput,
        place: Location,
        options: &ReferenceOptions,
        session: &Session,
    ) -> Result<Option<Value>> {
        let (object, range) = match place {
            Location::Absent => return Ok(None),
            Location::Inline(body) => {
                self.inline += 1;
                return Ok(Some(text(&body)));
            }
            Location::Object(object) => {
                self.referred += 1;
                return Ok(Some(Value::from(vec![input.name_of(&object)?])));
            }
            Location::Bytes(object, range) => (object, range),
        };
        let len = range.end.saturating_sub(range.start);
        if len <= options.inline_threshold {
            let want = Want::Range(range);
            let reader = input.dataset.reader()?;
            let found = session.engine().wait(reader.store().get(&object, &want))?;
            let found = found.ok_or_else(|| Error::not_found("no such object").at_object(&object))?;
            self.inline += 1;
            return Ok(Some(text(&found.bytes)));
        }
        self.referred += 1;
        let name = input.name_of(&object)?;
        Ok(Some(Value::from(vec![Value::from(name), Value::from(range.start), Value::from(len)])))
    }

    /// The bytes of the file.
    pub(super) fn finish(self) -> Vec<u8> {
        let refs: serde_json::Map<String, Value> = self.refs.into_iter().collect();
        serde_json::json!({"version": 1, "refs": refs}).to_string().into_bytes()
    }
}

impl ReferenceInput {
    /// The name of an object of the dataset.
    fn name_of(&self, object: &ObjectId) -> Result<String> {
        if let Some(outside) = OutsideObject::of(object) {
            return Ok(outside.address.to_string());
        }
        let root = self.dataset.reader()?.root();
        if object == root {
            return Ok(self.name.clone());
        }
        let below = object.key().strip_prefix(root.key()).map(|below| below.trim_start_matches('/'));
        match below.filter(|below| root.child(below) == *object) {
            Some(below) => Ok(format!("{}/{below}", self.name)),
            None => Err(Error::unsupported("a reference to another file").at_object(object)),
        }
    }
}

/// The key of a chunk in Zarr v2.
fn key(path: &str, cell: &[u64]) -> String {
    let numbers: Vec<String> = cell.iter().map(u64::to_string).collect();
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

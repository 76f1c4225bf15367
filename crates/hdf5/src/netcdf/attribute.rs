//! Values of attributes (docs/spec/hdf5-netcdf4.md H.6).
use super::hidden::{self, AttributeResults, is_hidden};
use super::types::{DatasetTypes, unwrap_arrays};
use super::walk::ObjectPaths;
use crate::datatypes::{Dataspace, Datatype, DatatypeClass, RawAttribute, attributes, values};
use crate::file::Hdf5File;
use crate::object::ObjectRef;
use ncirrus_layout::{Error, Result, Stall, Step, View, join_each, settle};
use ncirrus_model::{Attribute, Attributes, Fault, GroupId, Model, Strings, Values};
use std::collections::{HashMap, HashSet};

/// The context for reading attributes.
pub(super) struct AttributeReader<'a> {
    pub(super) view: &'a dyn View,
    pub(super) model: &'a Model,
    pub(super) types: &'a DatasetTypes,
    pub(super) paths: &'a ObjectPaths,
    pub(super) hides_references: bool,
}

impl AttributeReader<'_> {
    /// The visible attributes of an object in a group; damaged ones are faults.
    ///
    /// # Errors
    /// A need; never a failure.
    pub(super) fn all(&self, object: &ObjectRef, group: GroupId) -> Step<Result<Attributes>> {
        let raw = match settle(attributes(self.view, object)).map_err(Stall::Need)? {
            Ok(raw) => raw,
            Err(error) => return Ok(Err(error)),
        };
        let mut seen = HashSet::new();
        let (shown, again): (Vec<_>, Vec<_>) = raw
            .iter()
            .map(|raw| raw.as_ref().map_or_else(|(name, _)| (name, raw), |known| (&known.name, raw)))
            .filter(|(name, raw)| !is_hidden(name) && !self.hides(raw))
            .partition(|(name, _)| seen.insert(name.as_str()));
        let read = join_each(&shown, |(_, raw)| match raw {
            Ok(raw) => self.one(object, group, raw),
            Err((_, error)) => Err(error.clone().into()),
        })?;
        let mut list = Attributes::new();
        for ((name, _), attribute) in shown.into_iter().zip(read) {
            match attribute {
                Ok(attribute) => list.push_distinct(attribute),
                Err(error) => list.faults.push((name.clone(), Fault::from(&error))),
            }
        }
        let twice = Error::malformed("another attribute has the same name: the first is used");
        let fault = Fault::from(&object.file.at(object.addr, twice));
        list.faults.extend(again.into_iter().map(|(name, _)| (name.clone(), fault.clone())));
        Ok(Ok(list))
    }

    fn hides(&self, raw: &std::result::Result<RawAttribute, (String, Error)>) -> bool {
        self.hides_references && raw.as_ref().is_ok_and(|raw| has_references(&raw.datatype))
    }

    fn one(&self, object: &ObjectRef, group: GroupId, raw: &RawAttribute) -> Step<Attribute> {
        let name = raw.name.clone();
        if let Some(values) = text(raw) {
            return Ok(Attribute::atomic(name, values));
        }
        let (dims, element) = unwrap_arrays(&raw.datatype);
        let file = &object.file;
        let ty = self.types.find(self.model, group, &file.object, element).map_err(Error::unsupported)?;
        let count = dims.iter().fold(raw.space.count(), |count, len| count.saturating_mul(*len));
        let count = self.view.limits().count(count, "an attribute")?;
        let no_paths = HashMap::new();
        let paths = self.paths.get(&file.object).map_or(&no_paths, |paths| paths);
        let values = values(self.view, file, element, &raw.data, count, paths)?;
        Ok(Attribute { name, ty, values, is_json: false })
    }
}

/// Text of fixed length: a single element is characters, all of them; several are strings, each up to its NUL.
fn text(raw: &RawAttribute) -> Option<Values> {
    let (dims, element) = unwrap_arrays(&raw.datatype);
    let DatatypeClass::Text(_) = element.class else { return None };
    match raw.space {
        Dataspace::Null => Some(Values::Char(Vec::new())),
        Dataspace::Scalar if dims.is_empty() => Some(Values::Char(raw.data.to_vec())),
        Dataspace::Scalar | Dataspace::Simple { .. } => {
            let byte_len = usize::try_from(element.byte_len).ok().filter(|len| *len > 0)?;
            let mut strings = Strings::new();
            for text in raw.data.chunks_exact(byte_len) {
                let len = text.iter().position(|byte| *byte == 0).unwrap_or(text.len());
                strings.push(text.get(..len));
            }
            Some(Values::String(strings))
        }
    }
}

/// The value of `_FillValue` if it is one element.
///
/// # Errors
/// A need, or damage of the value.
pub(super) fn fill_value(
    view: &dyn View,
    object: &ObjectRef,
    raw: &AttributeResults,
) -> Step<Option<Values>> {
    let Some(raw) = hidden::find(raw, "_FillValue").filter(|raw| raw.space.count() == 1) else {
        return Ok(None);
    };
    if let Some(values) = text(raw) {
        return Ok((values.len() == 1).then_some(values));
    }
    let one = decode_one(view, &object.file, raw)?;
    Ok((one.len() == 1).then_some(one))
}

/// The text of an attribute, of fixed or variable length; `None` if it is not text.
///
/// # Errors
/// A need, or damage of the value.
pub(super) fn text_of(view: &dyn View, file: &Hdf5File, raw: &RawAttribute) -> Step<Option<String>> {
    let values = match (text(raw), &raw.datatype.class) {
        (Some(values), _) => values,
        (None, DatatypeClass::VlenText(_)) if raw.space.count() == 1 => decode_one(view, file, raw)?,
        (None, _) => return Ok(None),
    };
    Ok(Attribute::atomic("", values).as_text())
}

fn decode_one(view: &dyn View, file: &Hdf5File, raw: &RawAttribute) -> Step<Values> {
    values(view, file, &raw.datatype, &raw.data, 1, &HashMap::new())
}

/// Whether a datatype is that of references, or has some in it.
pub(super) fn has_references(datatype: &Datatype) -> bool {
    match &datatype.class {
        DatatypeClass::Reference(_) => true,
        DatatypeClass::Compound(members) => members.iter().any(|member| has_references(&member.datatype)),
        DatatypeClass::Array { base, .. } | DatatypeClass::Vlen(base) => has_references(base),
        _ => false,
    }
}

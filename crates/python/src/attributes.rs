//! Attributes as Python sees them.
use crate::errors::{exception, wait};
use crate::model::OpenDataset;
use crate::types::{describe, dtype, named_type};
use crate::values;
use ncirrus::internals::DatasetInternals;
use ncirrus::model::Variable;
use ncirrus::{Attribute, AttributeState, Attributes, Error, Member, Model, NodeId, Values, VarId};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString, PyTuple};

/// All attributes of a node in definition order: text of characters as `bytes`, everything else as an array of one
/// dimension.
pub(crate) fn all<'py>(py: Python<'py>, open: &OpenDataset, node: NodeId) -> PyResult<Bound<'py, PyDict>> {
    let model = complete(py, open, node)?;
    let dict = PyDict::new(py);
    for attribute in known(py, open, &model, node)?.iter() {
        dict.set_item(attribute.name.as_str(), value(py, &model, attribute)?)?;
    }
    Ok(dict)
}

/// The definitions, with the attributes of a node.
fn complete(py: Python<'_>, open: &OpenDataset, node: NodeId) -> PyResult<std::sync::Arc<Model>> {
    let model = open.model(py)?;
    if !matches!(model.attributes(node), Some(AttributeState::Pending)) {
        return Ok(model);
    }
    let dataset = open.dataset(py)?;
    wait(py, || dataset.model())
}

fn known<'a>(py: Python<'_>, open: &OpenDataset, model: &'a Model, node: NodeId) -> PyResult<&'a Attributes> {
    let error = match model.attributes(node) {
        Some(AttributeState::Known(attributes)) => return Ok(attributes),
        Some(AttributeState::Damaged(fault)) => Error::from(fault.clone()).at_path(path_of(model, node)),
        Some(AttributeState::Pending) => Error::internal("attributes are pending"),
        None => Error::not_found("the group or variable was removed"),
    };
    Err(exception(py, &error.at_object(&open.url)))
}

fn path_of(model: &Model, node: NodeId) -> String {
    match node {
        NodeId::Group(id) => model.group_path(id),
        NodeId::Variable(id) => model.variable_path(id),
    }
}

fn value<'py>(py: Python<'py>, model: &Model, attribute: &Attribute) -> PyResult<Bound<'py, PyAny>> {
    if let Values::Char(text) = &attribute.values {
        return Ok(PyBytes::new(py, text).into_any());
    }
    let dtype = dtype(py, &describe(py, model, attribute.ty)?)?;
    values::to_array(py, attribute.values.clone(), &dtype)
}

/// Attributes of a dict: `bytes` are text of characters, else a pair of the type's name and an array.
pub(crate) fn of_dict(model: &Model, given: &Bound<'_, PyDict>) -> PyResult<Vec<Attribute>> {
    given.iter().map(|(name, value)| of_python(model, name.extract()?, &value)).collect()
}

fn of_python(model: &Model, name: String, value: &Bound<'_, PyAny>) -> PyResult<Attribute> {
    if let Ok(text) = value.cast::<PyBytes>() {
        return Ok(Attribute::atomic(name, Values::Char(text.as_bytes().to_vec())));
    }
    let pair = value.cast::<PyTuple>()?;
    let ty = named_type(model, model.root(), &pair.get_item(0)?)?;
    let values = values::from_array(model, ty, &pair.get_item(1)?)?;
    Ok(Attribute { name, ty, values, is_json: false })
}

/// Adds or replaces attributes, all together; with `fills`, `_FillValue` is refused where elements may have been filled.
pub(crate) fn set(
    py: Python<'_>,
    open: &OpenDataset,
    node: NodeId,
    (given, fills): (&Bound<'_, PyDict>, bool),
) -> PyResult<()> {
    let attributes = of_dict(&*open.model(py)?, given)?;
    open.edit(py, move |model| {
        for attribute in attributes {
            match node {
                NodeId::Variable(id) if fills && is_fill(model, id, &attribute) => {
                    model.set_fill(id, attribute.values)?;
                }
                _ => put(model, node, attribute)?,
            }
        }
        Ok(())
    })
}

/// Adds or replaces an attribute that is one text: a string of any length or characters, by default as the dataset's kind has it. Whether
/// the dataset may be changed is checked first.
pub(crate) fn set_text(
    py: Python<'_>,
    open: &OpenDataset,
    node: NodeId,
    (name, text, as_string): (&Bound<'_, PyString>, &Bound<'_, PyString>, Option<bool>),
) -> PyResult<()> {
    let dataset = open.dataset(py)?;
    dataset.writer().map_err(|error| exception(py, &error))?;
    let is_string = as_string.unwrap_or_else(|| !dataset.kind().format.has_classic_model());
    let values = values::of_text(text, is_string)?;
    let attribute = Attribute::atomic(name.to_str()?, values);
    open.edit(py, move |model| put(model, node, attribute))
}

fn put(model: &mut Model, node: NodeId, attribute: Attribute) -> ncirrus::Result<()> {
    model.attributes(node).ok_or_else(|| Error::not_found("it was removed"))?;
    let set = model.set_attribute(node, attribute);
    set.map_err(|error| Error::from(error).at_path(path_of(model, node)))
}

/// Whether an attribute is the fill value of its variable.
fn is_fill(model: &Model, id: VarId, attribute: &Attribute) -> bool {
    let fits = |variable: &Variable| {
        attribute.values.len() == 1 && attribute.ty == variable.ty && variable.is_filled()
    };
    attribute.name == "_FillValue" && model.variable(id).is_some_and(fits)
}

pub(crate) fn remove(py: Python<'_>, open: &OpenDataset, node: NodeId, name: &str) -> PyResult<()> {
    open.edit(py, |model| {
        let path = path_of(model, node);
        let state = model.attributes_mut(node).ok_or_else(|| Error::not_found("it was removed"))?;
        let removed = state.known_mut().remove(name);
        let lacks = || Error::no_member(Member::Attribute, format_args!("{name:?}")).at_path(path);
        removed.map(|_| ()).ok_or_else(lacks)
    })
}

pub(crate) fn rename(py: Python<'_>, open: &OpenDataset, node: NodeId, old: &str, new: &str) -> PyResult<()> {
    open.edit(py, |model| {
        let path = path_of(model, node);
        let state = model.attributes_mut(node).ok_or_else(|| Error::not_found("it was removed"))?;
        state.known_mut().rename(old, new).map_err(|error| Error::from(error).at_path(path))
    })
}

//! Datasets as variables or dimensions: shape, type, values, chunk table.
use super::attributes;
use super::hashes::{same, sha};
use super::types::{Ty, matches, product};
use crate::corpus_hdf5::{Check, NON_COORD, split};
use ncirrus::{Dataset, Location, Selection, Variable};
use serde_json::{Value, json};

/// Checks one dataset; `has_other` says whether a variable of the same name is stored under another one.
pub(crate) fn checks(dataset: &Dataset, path: &str, truth: &Value, has_other: bool, checks: &mut Vec<Check>) {
    let Some(variable) = variable_at(dataset, path).filter(|_| !has_other) else {
        return checks.push((format!("variable:{path}"), is_dimension(dataset, path, truth)));
    };
    let ty = Ty::parse(truth["t"].as_str().unwrap());
    let shape = shape(truth, &ty);
    checks.push((format!("shape:{path}"), same_shape(&variable, &shape, truth)));
    checks.push((format!("type:{path}"), same_type(dataset, &variable, &ty)));
    checks.push((format!("values:{path}"), same_values(&variable, &shape, &ty, truth)));
    if truth.get("csha").is_some() {
        checks.push((format!("chunks:{path}"), same_chunks(&variable, truth)));
    }
    attributes::of_variable(&variable, &truth["attrs"], checks);
}

fn variable_at(dataset: &Dataset, path: &str) -> Option<Variable> {
    let (group, name) = split(path);
    let name = name.strip_prefix(NON_COORD).unwrap_or(name);
    let found = dataset.variable(path).ok();
    found.or_else(|| dataset.variable(&format!("{}/{name}", group.trim_end_matches('/'))).ok())
}

/// A dataset that is not a variable must be a dimension scale that says so (docs/spec/hdf5-netcdf4.md H.2).
fn is_dimension(dataset: &Dataset, path: &str, truth: &Value) -> Result<(), String> {
    let is_scale = ["CLASS", "NAME"].iter().all(|name| truth["attrs"].get(name).is_some());
    let model = dataset.model().unwrap();
    let len = model.dimension_at(path).and_then(|id| model.dimension(id)).map(|dimension| dimension.len);
    match len {
        Some(len) if is_scale && len.current() >= truth["shape"][0].as_u64().unwrap_or(0) => Ok(()),
        Some(len) => Err(format!("a dimension of {len:?}")),
        None => Err("there is no such variable".to_owned()),
    }
}

/// The dataset's lengths, followed by those of its array type; a null dataspace has no elements.
fn shape(truth: &Value, ty: &Ty) -> Vec<u64> {
    let dims = truth["shape"].as_array().unwrap().iter().map(|len| len.as_u64().unwrap());
    dims.chain(ty.element().0).collect()
}

/// A dimension may be longer than the variable if another variable has grown along it.
fn same_shape(variable: &Variable, shape: &[u64], truth: &Value) -> Result<(), String> {
    let ours = variable.shape();
    if truth["null"] == true {
        return if product(&ours) <= 1 { Ok(()) } else { Err(format!("{ours:?} of a null dataspace")) };
    }
    let grows: Vec<bool> = variable.dimensions().iter().map(|one| one.len.is_unlimited()).collect();
    let fits = |axis: usize| ours[axis] == shape[axis] || (grows[axis] && ours[axis] > shape[axis]);
    if ours.len() == shape.len() && (0..ours.len()).all(fits) {
        return Ok(());
    }
    Err(format!("{ours:?} where {shape:?} was expected"))
}

fn same_type(dataset: &Dataset, variable: &Variable, ty: &Ty) -> Result<(), String> {
    let ours = variable.ty().unwrap();
    if matches(&dataset.model().unwrap(), ours, ty.element().1) {
        return Ok(());
    }
    Err(format!("{} of {ty:?}", ncirrus_tools::type_name(&dataset.model().unwrap(), ours)))
}

fn same_values(variable: &Variable, shape: &[u64], ty: &Ty, truth: &Value) -> Result<(), String> {
    if truth["skip"] == "big" || truth["null"] == true {
        return Ok(());
    }
    let start = vec![0; shape.len()];
    if variable.shape().len() != shape.len() {
        return Err(format!("of shape {:?}", variable.shape()));
    }
    let values = variable.values(&Selection::slab(&start, shape)).map_err(|error| error.to_string())?;
    let (dims, element) = ty.element();
    same(&values, product(shape), element, truth)
        .map_err(|reason| if dims.is_empty() { reason } else { format!("array: {reason}") })
}

/// Offset, location, size and mask of every chunk.
fn same_chunks(variable: &Variable, truth: &Value) -> Result<(), String> {
    let rank = truth["shape"].as_array().unwrap().len();
    let chunks = variable.chunks(&Selection::all(&variable.shape())).map_err(|error| error.to_string())?;
    let mut table = Vec::new();
    for chunk in &chunks {
        let Location::Bytes(_, range) = &chunk.stored.location else {
            return Err(format!("a chunk at {:?}", chunk.stored.location));
        };
        table.push((chunk.start[..rank].to_vec(), range.start, range.end - range.start, chunk.stored.mask));
    }
    table.sort();
    let first: Vec<_> = table.iter().take(3).collect();
    if json!(first) != truth["cl"] {
        return Err(format!("the chunks are {first:?}, not {}", truth["cl"]));
    }
    if table.len() as u64 != truth["nchunks"].as_u64().unwrap() {
        return Err(format!("{} chunks where {} were expected", table.len(), truth["nchunks"]));
    }
    let same = sha(json!(table).to_string().as_bytes()) == truth["csha"].as_str().unwrap();
    if same { Ok(()) } else { Err("a chunk differs".to_owned()) }
}

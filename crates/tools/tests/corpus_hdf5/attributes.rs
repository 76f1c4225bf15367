//! Attributes, as netCDF shows them.
use super::hashes::{same, sha};
use super::types::{Ty, product};
use crate::corpus_hdf5::Check;
use ncirrus::{Attributes, Dataset, Values, Variable};
use serde_json::Value;

/// Names that are hidden everywhere (docs/spec/hdf5-netcdf4.md H.7).
const HIDDEN: [&str; 17] = [
    "CLASS",
    "DIMENSION_LIST",
    "NAME",
    "REFERENCE_LIST",
    "_ARRAY_DIMENSIONS",
    "_Codecs",
    "_Format",
    "_IsNetcdf4",
    "_NCProperties",
    "_Netcdf4Coordinates",
    "_Netcdf4Dimid",
    "_SuperblockVersion",
    "_nc3_strict",
    "_nczarr_attr",
    "_nczarr_group",
    "_nczarr_array",
    "_nczarr_superblock",
];

pub(crate) fn of_group(dataset: &Dataset, path: &str, truth: &Value, checks: &mut Vec<Check>) {
    let Ok(group) = dataset.group(path) else { return };
    all(group.attributes(), path, truth, checks);
}

pub(crate) fn of_variable(variable: &Variable, truth: &Value, checks: &mut Vec<Check>) {
    all(variable.attributes(), &variable.path(), truth, checks);
}

fn all(ours: ncirrus::Result<Attributes>, path: &str, truth: &Value, checks: &mut Vec<Check>) {
    let truth = truth.as_object().unwrap();
    let ours = match ours {
        Ok(ours) => ours,
        Err(error) => return checks.push((format!("attributes:{path}"), Err(error.to_string()))),
    };
    let is_hidden = |name: &&str| HIDDEN.contains(name);
    for (name, truth) in truth.iter().filter(|(name, _)| !is_hidden(&name.as_str())) {
        checks.push((format!("attribute:{path}:{name}"), same_attribute(&ours, name, truth)));
    }
    let surplus: Vec<&str> = ours.iter().map(|one| one.name.as_str()).collect();
    let surplus: Vec<&&str> =
        surplus.iter().filter(|name| is_hidden(name) || !truth.contains_key(**name)).collect();
    let none = if surplus.is_empty() { Ok(()) } else { Err(format!("{surplus:?} are shown")) };
    checks.push((format!("attributes:{path}"), none));
}

fn same_attribute(ours: &Attributes, name: &str, truth: &Value) -> Result<(), String> {
    let Some(attribute) = ours.find(name) else {
        let fault = ours.faults.iter().find(|(faulty, _)| faulty == name);
        return Err(fault.map_or("there is none".to_owned(), |(_, fault)| fault.to_string()));
    };
    let (values, ty) = (&attribute.values, Ty::parse(truth["t"].as_str().unwrap()));
    if truth["null"] == true {
        return if values.is_empty() { Ok(()) } else { Err(format!("{values:?} of a null dataspace")) };
    }
    let dims: Vec<u64> = truth["shape"].as_array().unwrap().iter().map(|len| len.as_u64().unwrap()).collect();
    if let (Ty::Text(_), Values::Char(bytes)) = (&ty, values) {
        let same = dims.is_empty() && sha(bytes) == truth["raw"].as_str().unwrap();
        return if same { Ok(()) } else { Err(format!("text {:?}", String::from_utf8_lossy(bytes))) };
    }
    let (more, element) = ty.element();
    let count = product(&dims) * product(&more);
    if values.len() != count {
        return Err(format!("{} values where {count} were expected", values.len()));
    }
    same(values, count, element, truth)
}

//! How other programs read netCDF-4 files.
use ncirrus::{Dataset, TypeRef, Values};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support;

/// The contents of many files as read by the programs (`h5py`, `netcdf4`, `h5netcdf`, `xarray`), in one Python process.
pub(crate) fn read_all(python: &Path, programs: &str, files: &[PathBuf]) -> Value {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tools/tests/nc4/read.py");
    let output = Command::new(python).arg(script).arg(programs).args(files).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Values as the script prints them.
pub(crate) fn printed(values: &Values) -> Value {
    match values {
        Values::String(texts) => {
            texts.iter().map(|text| String::from_utf8_lossy(text.unwrap_or_default()).into_owned()).collect()
        }
        Values::Opaque { size, bytes } => bytes.chunks(*size).map(hex).collect(),
        Values::Vlen { ends, elements } => {
            let starts = std::iter::once(0).chain(ends.iter().copied());
            starts.zip(ends).map(|(start, end)| printed(&elements.slice(start..*end))).collect()
        }
        Values::Compound { fields, .. } => fields.iter().map(printed).collect(),
        numbers => Value::from(hex(numbers.as_bytes().unwrap())),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Whether a program reads every variable as ncirrus does.
pub(crate) fn same(dataset: &Dataset, read: &Value, what: &str) -> Result<(), String> {
    same_of(dataset, read, what, |_| true)
}

/// Whether a program reads every variable of a known type as ncirrus does.
pub(crate) fn same_of(
    dataset: &Dataset,
    read: &Value,
    what: &str,
    is_known: impl Fn(TypeRef) -> bool,
) -> Result<(), String> {
    if let Some(error) = read.get("error") {
        return Err(format!("{what}: {error}"));
    }
    let found = read.as_object().ok_or_else(|| format!("{what}: nothing"))?;
    let known: Vec<_> =
        dataset.variables().into_iter().filter(|variable| variable.ty().is_some_and(&is_known)).collect();
    if let Some(variable) = known.iter().find(|variable| !found.contains_key(&variable.path())) {
        return Err(format!("{what}: no {}: {:?}", variable.path(), found.keys()));
    }
    if found.len() > dataset.variables().len() {
        return Err(format!("{what}: {} variables: {:?}", found.len(), found.keys()));
    }
    for variable in known {
        let (path, theirs) = (variable.path(), &read[variable.path()]);
        let values = support::values(&variable).map_err(|error| format!("{what} {path}: {error}"))?;
        let names: Vec<String> = variable.dimensions().into_iter().map(|dimension| dimension.name).collect();
        for (of, ours) in [
            ("shape", Value::from(variable.shape())),
            ("dims", Value::from(names)),
            ("values", printed(&values)),
        ] {
            if theirs.get(of).is_some_and(|theirs| *theirs != ours) {
                return Err(format!("{what} {path}: {of} {ours}, they read {}", theirs[of]));
            }
        }
    }
    Ok(())
}

/// Runs a program and returns what it prints, or its failure.
pub(crate) fn output_of(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    let errors = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() || errors.to_lowercase().contains("error") {
        return Err(format!("{command:?}: {errors}"));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

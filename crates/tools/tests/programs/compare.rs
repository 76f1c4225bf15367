//! A dataset compared with its oracle: as ncirrus reads it, and as JSON for the script that reads it.
use super::oracle::{Attr, Oracle, Var, identical, same_attribute, split};
use super::steps::Program;
use crate::support::values;
use ncirrus::{Attributes, Dataset, DimensionLen, Values};
use serde_json::{Value, json};

/// Whether a dataset holds exactly what it must.
pub(crate) fn whole(dataset: &Dataset, oracle: &Oracle) -> Result<(), String> {
    let mut got: Vec<String> = dataset.variables().iter().map(|variable| variable.path()).collect();
    let mut expected: Vec<String> = oracle.vars.iter().map(|var| var.path.clone()).collect();
    got.sort();
    expected.sort();
    equal("variables", &expected, &got)?;
    dims(dataset, oracle)?;
    let root = dataset.root().attributes().map_err(|error| format!("attributes of /: {error:?}"))?;
    attributes("/", &oracle.attributes, &root)?;
    oracle.vars.iter().try_for_each(|var| variable(dataset, oracle, var))
}

fn dims(dataset: &Dataset, oracle: &Oracle) -> Result<(), String> {
    let model = dataset.model().map_err(|error| format!("{error:?}"))?;
    for dim in oracle.dims.iter().flatten() {
        let id =
            model.dimension_at(&dim.path).ok_or_else(|| format!("there is no dimension {}", dim.path))?;
        let len = model.dimension(id).unwrap().len;
        let expected =
            if dim.unlimited { DimensionLen::Unlimited(dim.len) } else { DimensionLen::Fixed(dim.len) };
        equal(&format!("dimension {}", dim.path), &expected, &len)?;
    }
    Ok(())
}

fn variable(dataset: &Dataset, oracle: &Oracle, var: &Var) -> Result<(), String> {
    let path = &var.path;
    let found = dataset.variable(path).map_err(|error| format!("{path}: {error:?}"))?;
    equal(&format!("type of {path}"), &Some(var.ty.into()), &found.ty())?;
    equal(&format!("shape of {path}"), &var.shape, &found.shape())?;
    let names: Vec<String> = found.dimensions().into_iter().map(|dim| dim.name).collect();
    let expected: Vec<String> = var.dims.iter().map(|at| split(&oracle.dim(*at).path).1.to_owned()).collect();
    equal(&format!("dimensions of {path}"), &expected, &names)?;
    let all = found.attributes().map_err(|error| format!("attributes of {path}: {error:?}"))?;
    attributes(path, &var.attributes, &all)?;
    let got = values(&found).map_err(|error| format!("values of {path}: {error:?}"))?;
    if identical(&var.values, &got) {
        return Ok(());
    }
    Err(format!("values of {path}: expected {:?}, got {got:?}", var.values))
}

fn attributes(path: &str, expected: &[Attr], got: &Attributes) -> Result<(), String> {
    let names = |list: &mut dyn Iterator<Item = &str>| {
        let mut names: Vec<String> = list.map(str::to_owned).collect();
        names.sort();
        names
    };
    equal(
        &format!("attributes of {path}"),
        &names(&mut expected.iter().map(|attr| attr.attribute.name.as_str())),
        &names(&mut got.iter().map(|attribute| attribute.name.as_str())),
    )?;
    for attr in expected {
        let other = got.find(&attr.attribute.name).ok_or("an attribute has gone")?;
        if !same_attribute(attr, other) {
            let (name, expected) = (&attr.attribute.name, &attr.attribute.values);
            return Err(format!("{path}:{name}: expected {expected:?}, got {:?}", other.values));
        }
    }
    Ok(())
}

fn equal<T: PartialEq + std::fmt::Debug>(what: &str, expected: &T, got: &T) -> Result<(), String> {
    if expected == got { Ok(()) } else { Err(format!("{what}: expected {expected:?}, got {got:?}")) }
}

/// What other programs must read: the location and kind of a dataset, and each variable's shape, values and fill value.
pub(crate) fn expectation(seed: u64, program: &Program<'_>) -> Value {
    let oracle = &program.oracle;
    let vars = oracle.vars.iter().map(|var| {
        json!({
            "path": var.path,
            "shape": var.shape,
            "type": var.ty.name(),
            "dims": var.dims.iter().map(|at| split(&oracle.dim(*at).path).1).collect::<Vec<_>>(),
            "values": cells(&var.values),
            "attributes": var.attributes.iter().map(|attr| attr.attribute.name.clone()).collect::<Vec<_>>(),
        })
    });
    let vars: Vec<Value> = vars.collect();
    let (form, consolidated) = (program.form.name, program.consolidated);
    json!({"seed": seed, "path": program.path, "form": form, "consolidated": consolidated, "vars": vars})
}

/// Little-endian bytes in hexadecimal digits, or a list of strings.
fn cells(values: &Values) -> Value {
    match values {
        Values::String(strings) => strings
            .iter()
            .map(|text| String::from_utf8_lossy(text.unwrap_or_default()).into_owned())
            .collect(),
        fixed => {
            fixed.as_bytes().unwrap().iter().map(|byte| format!("{byte:02x}")).collect::<String>().into()
        }
    }
}

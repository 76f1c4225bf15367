//! Work on whole datasets: what the command does, as functions that return dicts.
mod appending;
mod comparing;
mod copying;
mod generating;
mod masters;
mod optimizing;
mod places;
mod printing;
mod virtual_chunks;

use crate::dataset::Dataset;
pub(crate) use masters::MasterWords;
use ncirrus::LeftOut;
use pyo3::prelude::*;
use serde_json::Value;

/// Adds the functions to the module.
pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(appending::append, module)?)?;
    module.add_function(wrap_pyfunction!(comparing::check, module)?)?;
    module.add_function(wrap_pyfunction!(comparing::compare, module)?)?;
    module.add_function(wrap_pyfunction!(generating::generate, module)?)?;
    module.add_function(wrap_pyfunction!(copying::copy, module)?)?;
    module.add_function(wrap_pyfunction!(copying::plan_copy, module)?)?;
    module.add_function(wrap_pyfunction!(masters::aggregate, module)?)?;
    module.add_function(wrap_pyfunction!(masters::split, module)?)?;
    module.add_function(wrap_pyfunction!(masters::relocate, module)?)?;
    module.add_function(wrap_pyfunction!(masters::rebuild, module)?)?;
    module.add_function(wrap_pyfunction!(masters::reference, module)?)?;
    module.add_function(wrap_pyfunction!(virtual_chunks::plan_virtual, module)?)?;
    module.add_function(wrap_pyfunction!(optimizing::optimize, module)?)?;
    module.add_function(wrap_pyfunction!(places::ls, module)?)?;
    module.add_function(wrap_pyfunction!(places::keys, module)?)?;
    module.add_function(wrap_pyfunction!(places::removal, module)?)?;
    module.add_function(wrap_pyfunction!(places::clean, module)?)?;
    module.add_function(wrap_pyfunction!(printing::dump, module)?)?;
    module.add_function(wrap_pyfunction!(printing::filters, module)?)?;
    module.add_function(wrap_pyfunction!(printing::whoami, module)?)
}

fn left_out(list: &[LeftOut]) -> Vec<Value> {
    list.iter().map(LeftOut::to_json).collect()
}

/// The facade's handle of an open dataset.
pub(crate) fn opened(py: Python<'_>, dataset: &Bound<'_, PyAny>) -> PyResult<ncirrus::Dataset> {
    dataset.cast::<Dataset>()?.get().facade(py)
}

/// Whether something that exists is replaced, and whether it may be anything: `False`, `True` or `"any"`.
fn overwrite(given: Option<Bound<'_, PyAny>>) -> PyResult<(bool, bool)> {
    let Some(given) = given else { return Ok((false, false)) };
    if let Ok(word) = given.extract::<String>() {
        return match word.as_str() {
            "any" => Ok((true, true)),
            _ => Err(crate::errors::invalid(
                given.py(),
                format!("overwrite={word:?} is neither a truth value nor \"any\""),
            )),
        };
    }
    Ok((given.extract()?, false))
}

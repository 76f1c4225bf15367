//! The extension module `ncirrus._ncirrus`: what Python calls of the facade (docs/design/012-python.md).
//!
//! Its classes are handles. What they look like to users, numpy's indices, pickles and forks are Python, beside it in
//! `python/ncirrus`.
#![forbid(unsafe_code)]

mod aggregating;
mod attributes;
mod bridge;
mod codecs;
mod command;
mod dataset;
mod decoding;
mod definitions;
mod dimension;
mod elements;
mod encoders;
mod errors;
mod group;
mod held_elements;
mod inspecting;
mod joint;
mod json;
mod kind;
mod lent_codecs;
mod marking;
mod model;
mod netcdf_view;
mod object_store;
mod options;
mod pending;
#[cfg(feature = "plot")]
mod plotting;
mod progress;
mod reading;
mod requests_log;
mod selection;
mod session;
mod tools;
mod types;
mod values;
mod variable;
mod writing;

use pyo3::prelude::*;

/// The compiled part of the package `ncirrus`.
#[pymodule(gil_used = false)]
fn _ncirrus(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", ncirrus::VERSION)?;
    module.add_function(wrap_pyfunction!(command::run_command_line, module)?)?;
    module.add_function(wrap_pyfunction!(codecs::parse_filters, module)?)?;
    module.add_function(wrap_pyfunction!(netcdf_view::reserved_attributes, module)?)?;
    module.add_function(wrap_pyfunction!(netcdf_view::is_reserved_attribute, module)?)?;
    module.add_function(wrap_pyfunction!(netcdf_view::default_chunks, module)?)?;
    tools::add_to(module)?;
    #[cfg(feature = "plot")]
    {
        module.add_function(wrap_pyfunction!(plotting::plot, module)?)?;
        module.add_class::<plotting::Picture>()?;
    }
    module.add_function(wrap_pyfunction!(bridge::check_store, module)?)?;
    module.add_function(wrap_pyfunction!(encoders::write_encoded, module)?)?;
    module.add_function(wrap_pyfunction!(encoders::grow_to, module)?)?;
    module.add_function(wrap_pyfunction!(marking::unpack, module)?)?;
    module.add_class::<marking::Marks>()?;
    module.add_class::<encoders::Encoder>()?;
    module.add_class::<aggregating::AggregationWriter>()?;
    module.add_class::<joint::JointWriter>()?;
    module.add_class::<object_store::ObjectStore>()?;
    module.add_class::<session::Session>()?;
    module.add_class::<dataset::Dataset>()?;
    module.add_class::<kind::DatasetKind>()?;
    module.add_class::<group::Group>()?;
    module.add_class::<pending::Pending>()?;
    module.add_class::<dimension::Dimension>()?;
    module.add_class::<decoding::Decoding>()?;
    module.add_class::<variable::Variable>()
}

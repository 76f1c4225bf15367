//! Datasets from CDL text.
use super::copying::parsed;
use super::overwrite;
use crate::errors::wait;
use crate::json;
use crate::options::{Keywords, create_options};
use crate::session::Session;
use ncirrus_tools::cdl::parse::CdlText;
use ncirrus_tools::{ChunkRule, FilterRule, GenerateOptions, GenerateReport, TextInput};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Value, json};
use std::path::PathBuf;

/// Makes a dataset of a text: that of a file, or bytes. Without a target the text is only checked.
#[pyfunction]
#[expect(
    clippy::needless_pass_by_value,
    reason = "what is made out of Python's objects is made for the call"
)]
pub(super) fn generate<'py>(
    py: Python<'py>,
    path: Option<PathBuf>,
    text: Option<Vec<u8>>,
    target: Option<String>,
    options: &Bound<'py, PyDict>,
    session: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let (session, options) = (Session::of(session)?, generate_options(options)?);
    let report = wait(py, || {
        let input: Box<dyn CdlText> = match (&path, text) {
            (Some(path), _) => Box::new(TextInput::open(path, &session)?),
            (None, text) => Box::new(TextInput::from_reader(&*text.unwrap_or_default(), &session)?),
        };
        match &target {
            Some(target) => ncirrus_tools::generate(&*input, target, &options, &session),
            None => ncirrus_tools::check_text(&*input, &options, &session),
        }
    })?;
    json::to_python(py, &json_of(&report))
}

fn generate_options<'a>(given: &Bound<'_, PyDict>) -> PyResult<GenerateOptions<'a>> {
    let words = Keywords::new(given, "generate")?;
    let create = match words.object("create")? {
        Some(create) => create_options(create.cast::<PyDict>()?)?,
        None => ncirrus::CreateOptions::new(),
    };
    let (replaces, replaces_any) = overwrite(words.object("overwrite")?)?;
    let options = GenerateOptions::new()
        .create(create.overwrite(replaces))
        .chunks(parsed(given, &words, "chunks", ChunkRule::parse)?)
        .filter_rules(parsed(given, &words, "filter_rules", FilterRule::parse)?)
        .definitions_only(words.take("definitions_only")?.unwrap_or(false))
        .overwrite_any(replaces_any);
    words.done().map(|()| options)
}

fn json_of(report: &GenerateReport) -> Value {
    let cut = report.cut.iter().map(|(path, line)| json!([path, line])).collect::<Vec<_>>();
    json!({
        "name": report.name, "variables": report.variables, "elements": report.elements, "cut": cut,
    })
}

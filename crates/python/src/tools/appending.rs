//! Appends.
use crate::errors::wait_telling;
use crate::json;
use crate::options::Keywords;
use crate::progress::Reporter;
use crate::session::Session;
use ncirrus_tools::{AppendOptions, AppendReport, Progress};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Value, json};

/// Adds the records of datasets to another one.
#[pyfunction]
#[expect(
    clippy::needless_pass_by_value,
    reason = "what is made out of Python's objects is made for the call"
)]
pub(super) fn append<'py>(
    py: Python<'py>,
    target: &str,
    sources: Vec<String>,
    options: &Bound<'py, PyDict>,
    progress: Option<Py<PyAny>>,
    session: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let (session, words, reporter) =
        (Session::of(session)?, Keywords::new(options, "append")?, Reporter::new(progress));
    let show = |progress: Progress<'_>| reporter.report(progress.done, progress.total);
    let mut options = AppendOptions::new()
        .along(words.take::<String>("along")?)
        .reorder(words.take("reorder")?.unwrap_or(false))
        .skip_existing(words.take("skip_existing")?.unwrap_or(false))
        .keep(words.take("keep")?.unwrap_or(false))
        .dry_run(words.take("dry_run")?.unwrap_or(false))
        .progress(&show);
    if let Some(ignore) = words.take::<Vec<String>>("ignore")? {
        options = options.ignore(ignore);
    }
    words.done()?;
    let report =
        wait_telling(py, Some(&reporter), || ncirrus_tools::append(target, &sources, &options, &session))?;
    json::to_python(py, &json_of(&report))
}

fn json_of(report: &AppendReport) -> Value {
    json!({
        "axis": report.axis,
        "old_len": report.old_len,
        "new_len": report.new_len,
        "skipped": report.skipped,
        "variables": report.variables,
        "findings": report.findings,
        "notes": report.notes,
    })
}

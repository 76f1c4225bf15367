//! Files that are stored so that few requests read them.
use crate::errors::{exception, wait_telling};
use crate::json;
use crate::options::Keywords;
use crate::progress::Reporter;
use crate::session::Session;
use ncirrus_tools::{FileOutcome, OptimizeOptions, OptimizeProgress, OptimizedFile, Profile};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::Value;
use std::path::PathBuf;

/// Stores netCDF-4 files as a profile requires. Failures are raised when all files are done, unless they are to be reported.
#[pyfunction]
#[expect(
    clippy::needless_pass_by_value,
    reason = "what is made out of Python's objects is made for the call"
)]
pub(super) fn optimize<'py>(
    py: Python<'py>,
    files: Vec<String>,
    options: &Bound<'py, PyDict>,
    progress: Option<Py<PyAny>>,
    session: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let (session, words, reporter) =
        (Session::of(session)?, Keywords::new(options, "optimize")?, Reporter::new(progress));
    let profile = words.take::<String>("profile")?.unwrap_or_else(|| "cloud".to_owned());
    let profile = Profile::parse(&profile).map_err(|error| exception(py, &error))?;
    let raises = words.take("raises")?.unwrap_or(true);
    let show = |at: OptimizeProgress<'_>| reporter.report(at.copied.done, at.copied.total);
    let options = OptimizeOptions::new()
        .profile(profile)
        .folder(words.take::<PathBuf>("output")?)
        .overwrite(words.take("overwrite")?.unwrap_or(false))
        .jobs(words.take("jobs")?.unwrap_or(1))
        .dry_run(words.take("dry_run")?.unwrap_or(false))
        .times(words.take("times")?.unwrap_or(false))
        .progress(&show);
    words.done()?;
    let done = wait_telling(py, Some(&reporter), || ncirrus_tools::optimize(&files, &options, &session))?;
    let failure = done.iter().find_map(|file| match &file.outcome {
        FileOutcome::Failed(error) => Some(error),
        _ => None,
    });
    if let Some(error) = failure.filter(|_| raises) {
        return Err(exception(py, error));
    }
    let list = done.iter().map(|file| {
        let mut json_of = OptimizedFile::to_json(file);
        json_of["text"] = file.to_string().into();
        json_of
    });
    json::to_python(py, &Value::Array(list.collect()))
}

//! Checks and comparisons.
use super::opened;
use crate::errors::{exception, wait, wait_telling};
use crate::json;
use crate::options::Keywords;
use crate::progress::Reporter;
use crate::session::Session;
use ncirrus::VariableSelect;
use ncirrus_tools::{CheckOptions, CheckProgress, CompareOptions, CompareScope, Profile};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Reports whether a dataset is sound.
#[pyfunction]
pub(super) fn check<'py>(
    py: Python<'py>,
    url: &str,
    options: &Bound<'py, PyDict>,
    progress: Option<Py<PyAny>>,
    session: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let (session, words, reporter) =
        (Session::of(session)?, Keywords::new(options, "check")?, Reporter::new(progress));
    let profile = words.take::<String>("profile")?.map(|profile| Profile::parse(&profile));
    let show = |progress: CheckProgress<'_>| reporter.report(progress.done, progress.total);
    let options = CheckOptions::new()
        .quick(words.take("quick")?.unwrap_or(false))
        .cf(words.take("cf")?.unwrap_or(false))
        .absent(words.take("absent")?.unwrap_or(false))
        .digest(words.take("digest")?.unwrap_or(false))
        .profile(profile.transpose().map_err(|error| exception(py, &error))?)
        .progress(&show);
    words.done()?;
    let report = wait_telling(py, Some(&reporter), || ncirrus_tools::check(url, &options, &session))?;
    let mut json_of = report.to_json();
    json_of["text"] = report.to_string().into();
    json::to_python(py, &json_of)
}

/// Reports what differs between two open datasets.
#[pyfunction]
pub(super) fn compare<'py>(
    py: Python<'py>,
    first: &Bound<'py, PyAny>,
    second: &Bound<'py, PyAny>,
    options: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyAny>> {
    let (first, second, options) = (opened(py, first)?, opened(py, second)?, compare_options(options)?);
    let report = wait(py, || ncirrus_tools::compare(&first, &second, &options))?;
    let mut json_of = report.to_json();
    json_of["text"] = report.to_string().into();
    json::to_python(py, &json_of)
}

fn compare_options(given: &Bound<'_, PyDict>) -> PyResult<CompareOptions> {
    let words = Keywords::new(given, "compare")?;
    let scopes = [("data", CompareScope::Data), ("definitions", CompareScope::Definitions)];
    let select: Vec<String> = words.take("select")?.unwrap_or_default();
    let select = select.iter().map(|text| VariableSelect::parse(text)).collect::<Result<Vec<_>, _>>();
    let mut options = CompareOptions::new()
        .tolerance(words.take("tolerance")?)
        .relative(words.take("relative")?)
        .ulps(words.take("ulps")?)
        .scope(words.word("only", &scopes)?.unwrap_or_default())
        .variables(words.take::<Vec<String>>("variables")?.unwrap_or_default())
        .groups(words.take::<Vec<String>>("groups")?.unwrap_or_default())
        .select(select.map_err(|error| exception(given.py(), &error))?)
        .order(words.take("order")?.unwrap_or(false))
        .unpacked(words.take("unpacked")?.unwrap_or(false));
    if let Some(ignore) = words.take::<Vec<String>>("ignore")? {
        options = options.ignore(ignore);
    }
    if let Some(listed) = words.take("listed")? {
        options = options.first(listed);
    }
    words.done().map(|()| options)
}

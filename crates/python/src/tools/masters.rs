//! Aggregations, and reference files.
use super::{left_out, opened, overwrite};
use crate::errors::{wait, wait_telling};
use crate::json;
use crate::options::{KINDS, Keywords};
use crate::progress::Reporter;
use crate::session::Session;
use ncirrus_tools::aggregate::{
    AggregateOptions, Aggregation, Convention, MasterOptions, Naming, PreparedAggregation, Relocation,
    SplitOptions, list, master_options,
};
use ncirrus_tools::{ReferenceForm, ReferenceOptions, ReferenceReport, write_references};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Makes one dataset of many files, or adds files to one.
#[pyfunction]
#[expect(
    clippy::needless_pass_by_value,
    reason = "what is made out of Python's objects is made for the call"
)]
pub(super) fn aggregate<'py>(
    py: Python<'py>,
    files: Vec<String>,
    target: &str,
    options: &Bound<'py, PyDict>,
    progress: Option<Py<PyAny>>,
    session: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let (session, words, reporter) =
        (Session::of(session)?, Keywords::new(options, "aggregate")?, Reporter::new(progress));
    let (adds, is_dry): (bool, bool) =
        (words.take("add")?.unwrap_or(false), words.take("dry_run")?.unwrap_or(false));
    let show = |done: usize, total: usize| reporter.report(done as u64, total as u64);
    let options = AggregateOptions::new()
        .axes(words.take::<Vec<String>>("axes")?.unwrap_or_default())
        .new_axis(words.take::<String>("new_axis")?)
        .sort(words.take("sort")?.unwrap_or(false))
        .compare(words.take("compare")?.unwrap_or(true))
        .steps(&show);
    let master = MasterWords::take(&words)?;
    words.done()?;
    let report = wait_telling(py, Some(&reporter), || {
        let mut files = list(&files, &session)?;
        files.retain(|file| file != target);
        let prepared = if adds {
            PreparedAggregation::adding(target, &files, &options, &session)?
        } else {
            PreparedAggregation::of(&files, &options, &session)?
        };
        if is_dry {
            return Ok(json_of(prepared.report()));
        }
        let master = if adds {
            master.changing(master_options(target, &session)?.overwrite(true))
        } else {
            master.changing(MasterOptions::default())
        };
        prepared.write(target, &master, &session).map(|report| json_of(&report))
    })?;
    json::to_python(py, &report)
}

/// What is said of a master.
pub(crate) struct MasterWords {
    convention: Option<Convention>,
    kind: Option<ncirrus::Kind>,
    naming: Option<Naming>,
    compat: bool,
    overwrite: (bool, bool),
}

impl MasterWords {
    pub(crate) fn take(words: &Keywords<'_>) -> PyResult<Self> {
        let conventions = [
            ("cf-1.13", Convention::Cf113),
            ("cfa-0.6", Convention::Cfa06),
            ("cfa-0.5", Convention::Cfa05),
            ("cfa-0.4", Convention::Cfa04),
        ];
        let naming = match words.take::<Bound<'_, PyAny>>("naming")? {
            None => None,
            Some(naming) => Some(naming_of(&naming)?),
        };
        Ok(Self {
            convention: words.word("convention", &conventions)?,
            kind: words.word("kind", &KINDS)?,
            naming,
            compat: words.take("compat")?.unwrap_or(false),
            overwrite: overwrite(words.object("overwrite")?)?,
        })
    }

    /// What is said, and else that.
    pub(crate) fn changing(&self, like: MasterOptions) -> MasterOptions {
        MasterOptions::new()
            .convention(self.convention.unwrap_or(like.convention))
            .kind(self.kind.or(like.kind))
            .naming(self.naming.clone().unwrap_or(like.naming))
            .compat(self.compat || like.compat)
            .overwrite(self.overwrite.0 || like.overwrite)
            .overwrite_any(self.overwrite.1)
    }
}

/// `"relative"`, `"absolute"`, or a pair of a name and the URL that it stands for.
fn naming_of(given: &Bound<'_, PyAny>) -> PyResult<Naming> {
    if let Ok((base, url)) = given.extract::<(String, String)>() {
        return Ok(Naming::Substitute { base, url });
    }
    match given.extract::<String>()?.as_str() {
        "relative" => Ok(Naming::Relative),
        "absolute" => Ok(Naming::Absolute),
        other => Err(crate::errors::invalid(
            given.py(),
            format!("naming={other:?} is neither \"relative\", \"absolute\" nor a pair of a name and a URL"),
        )),
    }
}

fn json_of(report: &Aggregation) -> Value {
    json!({
        "files": report.files,
        "axes": report.axes,
        "aggregated": report.aggregated,
        "stored": report.stored,
        "problems": report.problems,
        "notes": report.notes,
        "left_out": left_out(&report.left_out),
    })
}

/// Writes the parts of a dataset's variables to files of their own.
#[pyfunction]
pub(super) fn split<'py>(
    py: Python<'py>,
    source: &Bound<'py, PyAny>,
    target: &str,
    options: &Bound<'py, PyDict>,
    progress: Option<Py<PyAny>>,
    session: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let (source, session) = (opened(py, source)?, Session::of(session)?);
    let (words, reporter) = (Keywords::new(options, "split")?, Reporter::new(progress));
    let show = |done: usize, total: usize| reporter.report(done as u64, total as u64);
    let mut options = SplitOptions::new()
        .shape(words.take::<BTreeMap<String, u64>>("shape")?.unwrap_or_default())
        .fragments(words.take::<String>("fragments")?)
        .like_s3netcdf4(words.take("like_s3netcdf4")?.unwrap_or(false))
        .fragment_kind(words.word("fragment_kind", &KINDS)?)
        .steps(&show);
    if let Some(size) = words.size("max_size")? {
        options = options.max_size(size);
    }
    let master = MasterWords::take(&words)?.changing(MasterOptions::default());
    words.done()?;
    let report = wait_telling(py, Some(&reporter), || {
        ncirrus_tools::aggregate::split(&source, target, &options, &master, &session)
    })?;
    let json_of = json!({
        "written": report.written,
        "kept": report.kept,
        "variables": report.variables,
        "left_out": left_out(&report.left_out),
    });
    json::to_python(py, &json_of)
}

/// Rewrites where the fragments of an aggregation lie.
#[pyfunction]
#[expect(
    clippy::needless_pass_by_value,
    reason = "what is made out of Python's objects is made for the call"
)]
pub(super) fn relocate<'py>(
    py: Python<'py>,
    url: &str,
    how: (String, Option<String>, Option<String>),
    variable: Option<String>,
    dry_run: bool,
    session: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let session = Session::of(session)?;
    let relocation = match how {
        (word, Some(prefix), None) if word == "prefix" => Relocation::Prefix(prefix),
        (word, Some(old), Some(new)) if word == "replace" => Relocation::Replace(old, new),
        (word, ..) if word == "relative" => Relocation::Relative,
        (word, ..) if word == "absolute" => Relocation::Absolute,
        (word, ..) => return Err(PyTypeError::new_err(format!("relocate has no way {word:?}"))),
    };
    let renamed = wait(py, || {
        ncirrus_tools::aggregate::relocate(url, &relocation, variable.as_deref(), dry_run, &session)
    })?;
    let rows =
        renamed.iter().map(|name| json!({"variable": name.variable, "from": name.from, "to": name.to}));
    json::to_python(py, &Value::Array(rows.collect()))
}

/// Makes a lost master anew out of its fragments.
#[pyfunction]
pub(super) fn rebuild<'py>(
    py: Python<'py>,
    folder: &str,
    target: &str,
    options: &Bound<'py, PyDict>,
    session: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let (session, words) = (Session::of(session)?, Keywords::new(options, "rebuild")?);
    let given = MasterWords::take(&words)?;
    words.done()?;
    let report = wait(py, || {
        let like = ncirrus_tools::aggregate::recorded_options(target, folder, &session)?;
        ncirrus_tools::aggregate::rebuild(target, folder, &given.changing(like), &session)
    })?;
    json::to_python(py, &json_of(&report))
}

/// Writes a file of references to the chunks of datasets.
#[pyfunction]
#[expect(
    clippy::needless_pass_by_value,
    reason = "what is made out of Python's objects is made for the call"
)]
pub(super) fn reference<'py>(
    py: Python<'py>,
    files: Vec<String>,
    target: &str,
    options: &Bound<'py, PyDict>,
    session: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let (session, words) = (Session::of(session)?, Keywords::new(options, "reference")?);
    let (replaces, replaces_any) = overwrite(words.object("overwrite")?)?;
    let mut options = what_is_embedded(&words)?
        .axis(words.take::<String>("axis")?)
        .relative(words.take("relative")?.unwrap_or(false))
        .add_files(words.take("add")?.unwrap_or(false))
        .overwrite(replaces)
        .overwrite_any(replaces_any);
    if let Some(kind) = words.take::<String>("kind")? {
        options = options.form(reference_form(&kind)?);
    }
    if let Some(rows) = words.size("record_size")? {
        options = options.record_size(rows);
    }
    words.done()?;
    let report = wait(py, || {
        let files = list(&files, &session)?;
        write_references(&files, target, &options, &session)
    })?;
    json::to_python(py, &reported(&report))
}

/// Which chunks and values are embedded.
pub(super) fn what_is_embedded(words: &Keywords<'_>) -> PyResult<ReferenceOptions> {
    let mut options = ReferenceOptions::new();
    if let Some(bytes) = words.size("inline_threshold")? {
        options = options.inline_threshold(bytes);
    }
    if let Some(count) = words.size("inline_values")? {
        options = options.inline_values(count);
    }
    Ok(options)
}

pub(super) fn reported(report: &ReferenceReport) -> Value {
    json!({
        "variables": report.variables,
        "references": report.references,
        "inline": report.inline,
        "left_out": left_out(&report.left_out),
    })
}

fn reference_form(kind: &str) -> PyResult<ReferenceForm> {
    match kind {
        "json" => Ok(ReferenceForm::Json),
        "parquet" => Ok(ReferenceForm::Parquet),
        other => Err(PyValueError::new_err(format!("kind {other:?}: \"json\" or \"parquet\""))),
    }
}

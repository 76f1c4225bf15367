//! Copies.
use super::{left_out, opened, overwrite};
use crate::codecs;
use crate::errors::{exception, wait, wait_telling};
use crate::json;
use crate::options::{Keywords, create_options};
use crate::progress::Reporter;
use crate::session::Session;
use ncirrus::{Error, VariableSelect};
use ncirrus_tools::{
    ChunkRule, CopyOptions, CopyPlan, CopyPlans, CopyReport, FilterRule, Filters, LongNames, PackingForm,
    Progress, QuantizeRule, ShardRule,
};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Value, json};

/// Copies an open dataset.
#[pyfunction]
pub(super) fn copy<'py>(
    py: Python<'py>,
    source: &Bound<'py, PyAny>,
    target: &str,
    options: &Bound<'py, PyDict>,
    progress: Option<Py<PyAny>>,
    session: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let (source, session) = (opened(py, source)?, Session::of(session)?);
    let (options, reporter) = (copy_options(options)?, Reporter::new(progress));
    let show = |progress: Progress<'_>| reporter.report(progress.done, progress.total);
    let options = options.progress(&show);
    let report =
        wait_telling(py, Some(&reporter), || ncirrus_tools::copy(&source, target, &options, &session))?;
    json::to_python(py, &json_of(&report))
}

/// Estimates what copying an open dataset will take.
#[pyfunction]
pub(super) fn plan_copy<'py>(
    py: Python<'py>,
    source: &Bound<'py, PyAny>,
    target: &str,
    options: &Bound<'py, PyDict>,
    session: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let (source, session, options) = (opened(py, source)?, Session::of(session)?, copy_options(options)?);
    let plans = wait(py, || ncirrus_tools::plan_copy(&source, target, &options, &session))?;
    json::to_python(py, &plans_json(&plans))
}

fn copy_options<'a>(given: &Bound<'_, PyDict>) -> PyResult<CopyOptions<'a>> {
    let words = Keywords::new(given, "copy")?;
    let create = match words.object("create")? {
        Some(create) => create_options(create.cast::<PyDict>()?)?,
        None => ncirrus::CreateOptions::new(),
    };
    let (replaces, replaces_any) = overwrite(words.object("overwrite")?)?;
    let names = [("refuse", LongNames::Refuse), ("shorten", LongNames::Shorten)];
    let packings = [("attributes", PackingForm::Attributes), ("codecs", PackingForm::Codecs)];
    let options = CopyOptions::new()
        .create(create.overwrite(replaces))
        .chunks(parsed(given, &words, "chunks", ChunkRule::parse)?)
        .shards(parsed(given, &words, "shards", ShardRule::parse)?)
        .index_first(words.take("index_first")?)
        .filters(filters(&words)?)
        .filter_rules(parsed(given, &words, "filter_rules", FilterRule::parse)?)
        .drop_filters(words.take("drop_filters")?.unwrap_or(false))
        .quantize(parsed(given, &words, "quantize", QuantizeRule::parse)?)
        .cf_quantization(words.take("cf_quantization")?.unwrap_or(false))
        .variables(words.take::<Vec<String>>("variables")?.unwrap_or_default())
        .groups(words.take::<Vec<String>>("groups")?.unwrap_or_default())
        .select(parsed(given, &words, "select", VariableSelect::parse)?)
        .skip_damaged(words.take("skip_damaged")?.unwrap_or(false))
        .overwrite_any(replaces_any)
        .fix_unlimited(words.take("fix_unlimited")?.unwrap_or(false))
        .long_names(words.word("long_names", &names)?.unwrap_or(LongNames::Refuse))
        .rename_reserved(words.take("rename_reserved")?.unwrap_or(false))
        .verify(words.take("verify")?.unwrap_or(false))
        .packing(words.word("packing", &packings)?.unwrap_or_default());
    words.done().map(|()| options)
}

/// A list of rules, each a text.
pub(super) fn parsed<T>(
    given: &Bound<'_, PyDict>,
    words: &Keywords<'_>,
    name: &str,
    parse: impl Fn(&str) -> Result<T, Error>,
) -> PyResult<Vec<T>> {
    let texts: Vec<String> = words.take(name)?.unwrap_or_default();
    let rules = texts.iter().map(|text| parse(text));
    rules.collect::<Result<_, _>>().map_err(|error| exception(given.py(), &error))
}

/// Nothing keeps those of the source, an empty list removes them.
fn filters(words: &Keywords<'_>) -> PyResult<Filters> {
    let Some(list) = words.object("filters")? else { return Ok(Filters::Keep) };
    let specs = list.try_iter()?.map(|spec| codecs::of_python(&spec?)).collect::<PyResult<Vec<_>>>()?;
    Ok(if specs.is_empty() { Filters::Remove } else { Filters::Replace(specs) })
}

fn json_of(report: &CopyReport) -> Value {
    let skipped = report.skipped.iter().map(|part| {
        json!({
            "path": part.path,
            "chunk": part.chunk,
            "start": part.region.start,
            "shape": part.region.count,
            "error": part.error.to_string(),
        })
    });
    json!({
        "variables": report.variables,
        "elements": report.elements,
        "left_out": left_out(&report.left_out),
        "skipped": skipped.collect::<Vec<_>>(),
        "losses": report.losses,
        "notes": report.notes,
        "unread": report.unread,
        "stays": report.stays,
    })
}

fn plans_json(plans: &CopyPlans) -> Value {
    json!({
        "variables": plans.variables.iter().map(plan_json).collect::<Vec<_>>(),
        "left_out": left_out(&plans.left_out),
        "losses": plans.losses,
        "notes": plans.notes,
        "text": plans.to_string(),
    })
}

fn plan_json(plan: &CopyPlan) -> Value {
    json!({
        "path": plan.path,
        "shape": plan.shape,
        "bytes": plan.bytes,
        "passes": plan.passes,
        "block": plan.block,
        "memory": plan.memory,
        "requests": plan.requests,
        "request_bytes": plan.request_bytes,
        "whole_objects": plan.whole_objects,
        "chunks": plan.chunks,
        "passed": plan.passed,
        "missing": plan.missing,
        "decoded": plan.decoded,
        "decoded_most": plan.max_decoded,
        "written": plan.written,
        "scratch": plan.scratch,
        "scratch_folder": plan.scratch_folder,
    })
}

//! What the format itself repeats or repairs: consolidated metadata, and what was reported on opening.
use super::is_of_data;
use super::options::CheckOptions;
use super::report::{FindingCode, Findings, Severity};
use crate::compare::{CompareOptions, CompareScope, DefinitionDifference, compare};
use ncirrus::{Consolidated, Dataset, Model, Result, Session};

/// Reports what was repaired on opening, and consolidated metadata that differ from the members' own.
pub(super) fn check(
    dataset: &Dataset,
    model: &Model,
    url: &str,
    options: &CheckOptions<'_>,
    session: &Session,
    findings: &mut Findings,
) -> Result<()> {
    for warning in dataset.warnings() {
        let (place, reported) = split(model, &warning);
        let (code, severity) = code_of(reported);
        findings.note(code, severity, place, reported);
    }
    if dataset.facts().consolidated != Some(true) || !dataset_lists(dataset)? {
        return Ok(());
    }
    let open = options.open.clone().consolidated(Consolidated::Never);
    let own = match Dataset::open_with(url, &open, session) {
        Ok(own) => own,
        // Without the members' own documents there is nothing that could be newer.
        Err(error) if is_of_data(&error) => return Ok(()),
        Err(error) => return Err(error),
    };
    let scope = CompareOptions::new().scope(CompareScope::Definitions).ignore([] as [String; 0]);
    for DefinitionDifference { path, aspect, first, second } in compare(dataset, &own, &scope)?.definitions {
        let text = |text: Option<String>| text.unwrap_or_else(|| "nothing".to_owned());
        let message =
            format!("{aspect}: {} in the consolidated metadata, {} in its own", text(first), text(second));
        findings.note(FindingCode::ConsolidatedStale, Severity::Error, path, message);
    }
    Ok(())
}

/// Whether members can be found without consolidated metadata.
fn dataset_lists(dataset: &Dataset) -> Result<bool> {
    use ncirrus::internals::DatasetInternals;
    Ok(dataset.reader()?.store().facts().lists)
}

/// The member that a message is about, if it begins with its path, and the rest.
fn split<'w>(model: &Model, warning: &'w str) -> (&'w str, &'w str) {
    match warning.split_once(": ") {
        Some((path, reported))
            if path == "/" || model.variable_at(path).is_some() || model.group_at(path).is_some() =>
        {
            (path, reported)
        }
        _ => ("/", warning),
    }
}

fn code_of(reported: &str) -> (FindingCode, Severity) {
    if reported.starts_with("dimension ") && reported.contains(", the axis ") {
        return (FindingCode::ShapeContradicted, Severity::Error);
    }
    if reported.starts_with("there is no dimension ") {
        return (FindingCode::DimensionUnknown, Severity::Error);
    }
    (FindingCode::Repaired, Severity::Warning)
}

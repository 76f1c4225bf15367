//! Lossy filters are applied once: a copy passes chunks through that were encoded with them, or removes them. Codecs
//! that readers of the copy do not have are reported.
use super::blueprint::CopiedVariable;
use super::{CopyOptions, FilterRule, Filters};
use ncirrus::internals::{DatasetInternals, SessionInternals};
use ncirrus::{CodecSpec, Dataset, Result, Session};
use ncirrus_codec::names;
use ncirrus_engine::{DatasetWriter, element_in, plan_copy};
use ncirrus_model::{CodecSpace, Model, VarId};
use std::collections::BTreeMap;

/// Gives variables of the copy a lossless chain if they have lossy filters of the source that would change their
/// values again because not all chunks can pass through. Returns messages about this, and about codecs that readers
/// of the copy do not have.
pub(super) fn settle(
    source: &Dataset,
    writer: &DatasetWriter,
    pairs: &[CopiedVariable],
    options: &CopyOptions<'_>,
    session: &Session,
) -> Result<Vec<String>> {
    let whole = source.model()?;
    let mut notes = Vec::new();
    let mut fitting = Vec::new();
    let is_kept = |pair: &CopiedVariable| {
        options.filters == Filters::Keep
            && FilterRule::choose(&options.filter_rules, &whole, pair.var).is_none()
    };
    for pair in pairs.iter().filter(|pair| is_kept(pair)) {
        let model = writer.model();
        let Some(instead) = instead(&model, pair.var) else { continue };
        if is_held(writer, &model, pair.var) {
            fitting.push((pair, instead));
        } else {
            notes.push(replace(writer, pair, &model, instead, session)?);
        }
    }
    for (pair, instead) in fitting {
        let plan =
            plan_copy((source.reader()?, pair.var), &pair.selection, (writer, pair.var), pair.treatment);
        let plan = session.engine().wait(plan).map_err(|error| error.at_path(&*pair.path))?;
        // Nothing is lost if every chunk passes through as it is, which only the plan of the copy shows.
        if plan.written > 0 || plan.counted < plan.passes {
            let model = writer.model();
            notes.push(replace(writer, pair, &model, instead, session)?);
        }
    }
    notes.extend(unread(writer));
    Ok(notes)
}

/// Messages about codecs in Zarr that its usual readers do not have.
fn unread(writer: &DatasetWriter) -> Vec<String> {
    if !matches!(writer.abilities().codecs, Some(CodecSpace::V2 | CodecSpace::V3)) {
        return Vec::new();
    }
    let model = writer.model();
    let mut of_codecs: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for var in model.variables() {
        let Some(variable) = model.variable(var).filter(|variable| !variable.dims.is_empty()) else {
            continue;
        };
        let is_v3 = writer.abilities().codecs == Some(CodecSpace::V3);
        // The v3 codec zfpy of zarr-python must be the only one; written chains have the codec "bytes" beside it.
        let is_unread = |filter: &&CodecSpec| {
            !names::is_in_numcodecs(filter) || (is_v3 && names::label(filter).contains("zfp"))
        };
        for filter in variable.filters.iter().filter(is_unread) {
            let name = writer
                .session()
                .registry()
                .entry(filter)
                .map_or_else(|| names::label(filter), |entry| entry.name);
            of_codecs.entry(name).or_default().push(model.variable_path(var));
        }
    }
    let reported = |(codec, variables): (String, Vec<String>)| {
        let (first, more) = (variables.first().cloned().unwrap_or_default(), variables.len() - 1);
        let others = if more > 0 { format!(" and {more} more") } else { String::new() };
        format!(
            "{first}{others}: zarr-python does not have codec {codec}, and cannot read data that is stored with it"
        )
    };
    of_codecs.into_iter().map(reported).collect()
}

/// The filters without those that would change values again, if there are any.
fn instead(model: &Model, var: VarId) -> Option<Vec<CodecSpec>> {
    let variable = model.variable(var)?;
    names::without_change(&variable.filters, &element_in(model, variable))
}

/// Whether the format can store the filters.
fn is_held(writer: &DatasetWriter, model: &Model, var: VarId) -> bool {
    model.variable(var).is_some_and(|variable| {
        variable.filters.iter().all(|filter| writer.check_filter(filter, model, variable).is_ok())
    })
}

fn replace(
    writer: &DatasetWriter,
    pair: &CopiedVariable,
    before: &Model,
    instead: Vec<CodecSpec>,
    session: &Session,
) -> Result<String> {
    let name = |spec: &CodecSpec| {
        session.engine().registry().entry(spec).map_or_else(|| names::label(spec), |entry| entry.name)
    };
    let list = |filters: &[CodecSpec]| filters.iter().map(name).collect::<Vec<_>>().join(", ");
    let lossy = before.variable(pair.var).map(|variable| list(&variable.filters)).unwrap_or_default();
    let note = format!(
        "{} is stored with {} instead of {lossy}: its chunks cannot be taken over as they are, and lossy filters would \
         change the values a second time",
        pair.path,
        list(&instead)
    );
    session.engine().wait(writer.edit(|model| {
        if let Some(variable) = model.variable_mut(pair.var) {
            variable.filters = instead;
        }
        Ok(())
    }))?;
    Ok(note)
}

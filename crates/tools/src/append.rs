//! Adds the records of datasets to the end of another one. Everything is checked before anything is written; what is
//! written takes effect at once, when the target is closed (`docs/design/016-append.md`).
mod axis;
mod check;
mod options;
mod recode;
#[cfg(test)]
mod tests;
mod write;

pub use options::{AppendOptions, AppendReport};

use crate::aggregate::{axis as axis_named, likely_axis};
use check::SourceCheck;
use ncirrus::{
    Dataset, DimId, DimensionLen, Error, ErrorKind, Member, OpenOptions, Result, Session, Variable,
};
use ncirrus_store::is_same_place;

/// Adds the records of one or more datasets, in the given order, to a dataset that exists.
///
/// Definitions, attributes, coordinates and values must fit the target's; all that does not is in
/// [`AppendReport::findings`] of a dry run, and in the error of any other. All sources are added in one commit: the
/// target is the old one or the complete new one.
///
/// # Errors
/// `Conflict` with everything that does not fit, `Changed` if the target was changed after it was checked, `Invalid` if
/// the dimension cannot be determined or a source is the target, `Unsupported` for aggregations and for targets that
/// cannot be changed; errors of reading and writing.
pub fn append(
    target: &str,
    sources: &[String],
    options: &AppendOptions<'_>,
    session: &Session,
) -> Result<AppendReport> {
    let ours = Dataset::open_with(target, &OpenOptions::default(), session)?;
    if sources.is_empty() {
        return Err(Error::invalid("there are no datasets to append"));
    }
    if ours.variables().iter().any(Variable::is_aggregated) {
        let message = "it is an aggregation: add files to it with `ncirrus aggregate --add`";
        return Err(Error::unsupported(message).at_object(target));
    }
    let mut report = AppendReport::default();
    if let Some(lost) = ours.left_out()?.first() {
        return Err(
            Error::unsupported(format!("{} cannot be read: {}", lost.path, lost.reason)).at_object(target)
        );
    }
    let dim = grown_dimension(&ours, options, &mut report)?;
    let model = ours.model()?;
    report.axis = model.dimension_path(dim);
    report.old_len = model.dimension(dim).map_or(0, |dim| dim.len.current());
    let mut known = axis::KnownAxis::of(&ours, &model, dim, options, &mut report)?;
    let mut plans = Vec::new();
    for source in sources {
        if is_same_place(source, target, session.store_context())? {
            return Err(Error::invalid("the target itself is among the datasets to append").at_object(source));
        }
        let theirs = Dataset::open_with(source, &OpenOptions::default(), session)?;
        let mut check = SourceCheck::new((&ours, dim), &theirs, options, &mut report)?;
        plans.extend(check.run(&mut known)?);
    }
    report.new_len = report.old_len + plans.iter().map(|plan| plan.count).sum::<u64>();
    if options.dry_run || (report.findings.is_empty() && report.new_len == report.old_len) {
        return Ok(report);
    }
    if !report.findings.is_empty() {
        let message = format!("nothing was appended: {}", report.findings.join("; "));
        return Err(Error::new(ErrorKind::Conflict, message).at_object(target));
    }
    // The handle for reading may hold a lock that keeps writers away.
    let tag = ours.tag();
    drop(ours);
    write::write(target, tag, dim, &plans, options, &mut report, session)?;
    Ok(report)
}

/// The dimension of the target that grows: the given one, the only unlimited one, or that of time.
fn grown_dimension(ours: &Dataset, options: &AppendOptions<'_>, report: &mut AppendReport) -> Result<DimId> {
    let model = ours.model()?;
    let name = match &options.along {
        Some(name) => name.clone(),
        None => likely_axis(&model).map_err(|_| {
            let message = "the dimension along which to append is not clear: several, or none, are unlimited";
            Error::invalid(format!("{message}; name it with --along")).at_object(ours.url())
        })?,
    };
    let missing = || Error::no_member(Member::Dimension, format_args!("{name:?}")).at_object(ours.url());
    let dim = axis_named(&model, &name).ok().and_then(|axis| axis.dim).ok_or_else(missing)?;
    let grows = model.dimension(dim).is_some_and(|dim| matches!(dim.len, DimensionLen::Unlimited(_)));
    if !grows && !ours.kind().is_zarr() {
        report.findings.push(format!("{}: the dimension {name} is not unlimited", ours.url()));
    }
    Ok(dim)
}

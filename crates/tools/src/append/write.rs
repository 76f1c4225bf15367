//! Writing what has been checked: values in blocks along the dimension, then one commit.
use super::check::{AddedVariable, SourcePlan};
use super::{AppendOptions, AppendReport};
use crate::copy::Progress;
use ncirrus::internals::DatasetInternals;
use ncirrus::{AxisSelection, Dataset, DimId, DimensionLen, Error, OpenOptions, Result, Selection, Session};

/// Bytes of a block; a sixteenth of the session's memory if that is less.
const BLOCK: usize = 16 << 20;
/// Bytes that stand for an element of no fixed size.
const ANY_SIZE: u64 = 64;

/// Appends the sources in one commit.
///
/// # Errors
/// Errors of reading and writing; nothing has changed then.
pub(super) fn write(
    target: &str,
    tag: Option<String>,
    dim: DimId,
    plans: &[SourcePlan],
    options: &AppendOptions<'_>,
    report: &mut AppendReport,
    session: &Session,
) -> Result<()> {
    let ours = Dataset::update_with(target, &OpenOptions::default().expected_tag(tag), session)?;
    // Ids are those of a model; the writer's may be another.
    let model = ours.model()?;
    let dim = model.dimension_at(&report.axis).unwrap_or(dim);
    if let Some(DimensionLen::Fixed(len)) = model.dimension(dim).map(|dim| dim.len) {
        ours.edit(|model| Ok(model.set_dimension_len(dim, DimensionLen::Unlimited(len))?))?;
    }
    let total = plans.iter().flat_map(|plan| plan.variables.iter().map(|one| plan.elements(one))).sum();
    let mut done = 0;
    let mut at = report.old_len;
    for plan in plans {
        for one in &plan.variables {
            let variable = ours.variable(&one.path)?;
            for block in blocks(plan, one, session.memory()) {
                let values = plan.dataset.read_values(one.var, &block).map_err(|e| e.at_path(&*one.path))?;
                let values = one.recoding.apply(values).map_err(|problem| changed(plan, one, &problem))?;
                let written = placed(&block, one.axis, at, plan.first);
                ours.write_values(variable.id(), &written, &values).map_err(|e| e.at_path(&*one.path))?;
                done += block.element_count().unwrap_or_default();
                if let Some(progress) = options.progress {
                    progress(Progress { variable: &one.path, done, total });
                }
            }
        }
        at += plan.count;
    }
    ours.close()
}

fn changed(plan: &SourcePlan, one: &AddedVariable, problem: &str) -> Error {
    Error::invalid(problem).at_path(&*one.path).at_object(plan.dataset.url())
}

/// Where a block of a source lies in the target.
fn placed(block: &Selection, axis: usize, at: u64, first: u64) -> Selection {
    let axes = block.axes().iter().enumerate().map(|(number, own)| match own {
        AxisSelection::Slice { start, count, stride } if number == axis => {
            AxisSelection::Slice { start: at + start - first, count: *count, stride: *stride }
        }
        // In the target's order.
        AxisSelection::Indices(list) => {
            AxisSelection::Slice { start: 0, count: list.len() as u64, stride: 1 }
        }
        AxisSelection::Slice { .. } => own.clone(),
    });
    Selection::new(axes.collect())
}

/// The added part of a variable of a source, in blocks of some records, so many that chunks are mostly whole; a record
/// that is larger than a block is cut along its own axes unless it is to be reordered.
pub(super) fn blocks(plan: &SourcePlan, one: &AddedVariable, memory: usize) -> Vec<Selection> {
    let most = ((memory / 16).min(BLOCK) as u64 / one.size.unwrap_or(ANY_SIZE).max(1)).max(1);
    let mut rest = vec![plan.selection(one)];
    let mut done = Vec::new();
    while let Some(block) = rest.pop() {
        let is_small = block.element_count().is_some_and(|count| count <= most);
        match (is_small, block.halves(&one.grain)) {
            (false, Some((first, second))) if cuts_slice(&first, &block) => {
                rest.push(second);
                rest.push(first);
            }
            _ => done.push(block),
        }
    }
    done
}

/// Whether a half was cut along an axis that is not reordered.
fn cuts_slice(half: &Selection, whole: &Selection) -> bool {
    let is_slice = |axis: &AxisSelection| matches!(axis, AxisSelection::Slice { .. });
    half.axes().iter().zip(whole.axes()).all(|(half, whole)| half.count() == whole.count() || is_slice(whole))
}

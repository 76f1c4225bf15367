//! Writing what has been checked: values in blocks along the dimension, then one commit.
use super::check::{AddedVariable, SourcePlan, blocks};
use super::{AppendOptions, AppendReport};
use crate::copy::{Month, Progress, months, runs};
use ncirrus::internals::DatasetInternals;
use ncirrus::{AxisSelection, Dataset, DimId, DimensionLen, Error, OpenOptions, Result, Selection, Session};

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
    add_chunks(&ours, &model.dimension(dim).map(|dim| dim.name.clone()).unwrap_or_default(), plans)?;
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

/// Adds chunks to variables whose chunks differ in length along the dimension: one for each month if they are months already,
/// else one for each source. Equal chunks are repeated when values are written.
fn add_chunks(ours: &Dataset, dimension: &str, plans: &[SourcePlan]) -> Result<()> {
    let Some(first) = plans.first() else { return Ok(()) };
    let mut by_month = None;
    for one in &first.variables {
        let variable = ours.variable(&one.path)?;
        let Some(lengths) = variable.chunk_lengths().and_then(|all| all.get(one.axis).cloned()) else {
            continue;
        };
        if lengths.len() > 1 && lengths.iter().all(|len| Some(len) == lengths.first()) {
            continue;
        }
        let added = match by_month.get_or_insert_with(|| month_chunks(ours, dimension, &lengths, plans)) {
            Some(months) => months.clone(),
            None => plans.iter().map(|plan| plan.count).filter(|count| *count > 0).collect(),
        };
        variable.add_chunks(one.axis, &added)?;
    }
    Ok(())
}

/// The lengths of the chunks for the months of the sources; `None` if the chunks of the target are not months.
fn month_chunks(ours: &Dataset, dimension: &str, lengths: &[u64], plans: &[SourcePlan]) -> Option<Vec<u64>> {
    let there = runs(&months(ours, dimension).ok()?);
    let ends = |lengths: &[u64]| -> Vec<u64> {
        let end = |end: &mut u64, len: &u64| {
            *end = end.saturating_add(*len);
            Some(*end)
        };
        lengths.iter().scan(0, end).collect()
    };
    // An append in the middle of a month divides that month.
    let (month_ends, chunk_ends) = (ends(&there), ends(lengths));
    let is_divided = month_ends.iter().all(|end| chunk_ends.binary_search(end).is_ok());
    if there.len() < 2 || !is_divided || lengths.len() > 2 * there.len() {
        return None;
    }
    let mut added: Vec<Month> = Vec::new();
    for plan in plans {
        let all = months(&plan.dataset, dimension).ok()?;
        let own = all.iter().skip(usize::try_from(plan.first).ok()?);
        added.extend(own.take(usize::try_from(plan.count).ok()?));
    }
    Some(runs(&added))
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

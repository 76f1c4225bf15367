//! Parts of dimensions: by indices, or by values of their coordinate variables.
use super::date::DatePrefix;
use crate::HttpError;
use ncirrus::cf::CivilDate;
use ncirrus::{AxisSelection, Dataset, DimId, Model, Selection, VarId, Variable, VariableSelect};

/// Values of a coordinate variable that are looked through, at most.
const VALUES: u64 = 1 << 24;

/// The part of a dimension that a text means: `[3]`, `[0:10:2]` or `[{1,5}]` by index, `10..20`, `10..`, `..20` or `15` by
/// value. A single number means the nearest value, a single date all times that begin with it.
pub(super) fn part(
    dataset: &Dataset,
    model: &Model,
    dim: DimId,
    name: &str,
    text: &str,
) -> Result<AxisSelection, HttpError> {
    let len = model.dimension(dim).map_or(0, |dimension| dimension.len.current());
    if text.starts_with('[') {
        // The name may have brackets of its own.
        let mut select = VariableSelect::parse(&format!("v{text}"))?;
        name.clone_into(&mut select.path);
        let selection = select.resolve(&[len])?;
        let axis = selection.axes().first().cloned();
        return axis.ok_or_else(|| HttpError::invalid(format!("{name}: {text:?} has no indices")));
    }
    // The variable of that very name comes first: the dimension may have a coordinate variable of another name.
    let is_along = |id: &VarId| model.variable(*id).is_some_and(|variable| variable.dims == [dim]);
    let named = model.variable_at(name).filter(is_along);
    let id = named.or_else(|| model.coordinate_of(dim).filter(is_along)).ok_or_else(|| {
        HttpError::invalid(format!("{name} has no coordinate variable: give indices, as in {name}=[0:10]"))
    })?;
    if len > VALUES {
        return Err(HttpError::too_large(format!(
            "{name} has {len} values: give indices, as in {name}=[0:10]"
        )));
    }
    let indices = indices(&dataset.variable_by_id(id), len, name, text)?;
    match indices.as_slice() {
        [] => Err(HttpError::invalid(format!("{name} has no value in {text:?}"))),
        [first, .., last] if last - first + 1 == indices.len() as u64 => {
            Ok(AxisSelection::Slice { start: *first, count: indices.len() as u64, stride: 1 })
        }
        [only] => Ok(AxisSelection::Slice { start: *only, count: 1, stride: 1 }),
        _ => Ok(AxisSelection::Indices(indices)),
    }
}

/// The indices whose values a text means.
fn indices(variable: &Variable, len: u64, name: &str, text: &str) -> Result<Vec<u64>, HttpError> {
    let selection = Selection::all(&[len]);
    let bounds = text.split_once("..");
    let ends = bounds.unwrap_or((text, text));
    let is_number = |text: &str| text.is_empty() || text.parse::<f64>().is_ok_and(|number| !number.is_nan());
    if is_number(ends.0) && is_number(ends.1) && !text.is_empty() {
        let decoded = variable.read_decoded(&selection)?;
        let value = |at: usize| {
            decoded.values.number(at).filter(|_| !decoded.missing.get(at).copied().unwrap_or(false))
        };
        let numbers: Vec<Option<f64>> = (0..decoded.values.len()).map(value).collect();
        return Ok(by_number(&numbers, ends, bounds.is_none()));
    }
    let prefix = |text: &str| {
        let parsed = DatePrefix::parse(text);
        parsed.ok_or_else(|| {
            HttpError::invalid(format!(
                "{name}: {text:?} is neither a number nor a date such as 2020-01-31T12:00"
            ))
        })
    };
    let first = if ends.0.is_empty() { None } else { Some(prefix(ends.0)?.first()) };
    let last = if ends.1.is_empty() { None } else { Some(prefix(ends.1)?.last()) };
    let dates = variable.read_dates(&selection)?;
    let is_inside =
        |date: &CivilDate| first.is_none_or(|first| first <= *date) && last.is_none_or(|last| *date <= last);
    let matching = dates.iter().zip(0..).filter(|(date, _)| date.as_ref().is_some_and(is_inside));
    Ok(matching.map(|(_, index)| index).collect())
}

fn by_number(numbers: &[Option<f64>], (from, to): (&str, &str), is_single: bool) -> Vec<u64> {
    let number = |text: &str| text.parse::<f64>().ok();
    if is_single && let Some(wanted) = number(from) {
        let distance = |(at, number): (u64, &Option<f64>)| number.map(|number| (at, (number - wanted).abs()));
        let nearest = (0..).zip(numbers).filter_map(distance).min_by(|(_, a), (_, b)| a.total_cmp(b));
        return nearest.into_iter().map(|(at, _)| at).collect();
    }
    let (from, to) = (number(from), number(to));
    // The ends of a range may be given in either order.
    let (low, high) = match (from, to) {
        (Some(from), Some(to)) if from > to => (Some(to), Some(from)),
        ends => ends,
    };
    let is_inside =
        |number: f64| low.is_none_or(|low| low <= number) && high.is_none_or(|high| number <= high);
    (0..).zip(numbers).filter(|(_, number)| number.is_some_and(is_inside)).map(|(at, _)| at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_in_a_range_or_nearest() {
        let latitudes = [Some(60.0), Some(50.0), None, Some(30.0)];
        assert_eq!(by_number(&latitudes, ("30", "50"), false), [1, 3]);
        assert_eq!(by_number(&latitudes, ("50", "30"), false), [1, 3]);
        assert_eq!(by_number(&latitudes, ("", "45"), false), [3]);
        assert_eq!(by_number(&latitudes, ("47", "47"), true), [1]);
        assert!(by_number(&latitudes, ("70", ""), false).is_empty());
    }
}

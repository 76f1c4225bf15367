//! Selections as text: `v[0:10:2,5,:]`.
use crate::{AxisSelection, Error, Result, Selection};
use ncirrus_model::Region;

/// A variable and which of its elements, as written on a command line: `path[axis,axis,...]`, each axis one of `:`
/// (all), `5` (one index), `a:b` (from `a` to before `b`), `a:b:s` (every `s`-th), `{1,4,9}` (these). Without brackets
/// everything is selected; if there are fewer axes than the variable has, all of the remaining axes are selected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VariableSelect {
    /// Path of the variable.
    pub path: String,
    axes: Vec<AxisPick>,
}

/// The selection along one axis.
#[derive(Debug, Clone, PartialEq, Eq)]
enum AxisPick {
    Index(u64),
    Range { start: u64, end: Option<u64>, step: u64 },
    List(Vec<u64>),
}

impl VariableSelect {
    /// Parses the text.
    ///
    /// # Errors
    /// `Invalid` with the part that cannot be parsed.
    pub fn parse(text: &str) -> Result<Self> {
        let Some((path, rest)) = text.split_once('[') else {
            return Ok(Self { path: text.to_owned(), axes: Vec::new() });
        };
        let inner = rest.strip_suffix(']').ok_or_else(|| bad(text, "it lacks the closing bracket"))?;
        let axes =
            split_axes(inner).into_iter().map(|axis| parse_axis(text, axis.trim())).collect::<Result<_>>()?;
        Ok(Self { path: path.to_owned(), axes })
    }

    /// A box of a variable.
    pub fn of_region(path: &str, region: &Region) -> Self {
        let axes = region.start.iter().zip(&region.count);
        let range = |(&start, &count): (&u64, &u64)| AxisPick::Range {
            start,
            end: Some(start.saturating_add(count)),
            step: 1,
        };
        Self { path: path.to_owned(), axes: axes.map(range).collect() }
    }

    /// A selection of a variable.
    pub fn of_selection(path: &str, selection: &Selection) -> Self {
        Self { path: path.to_owned(), axes: selection.axes().iter().map(AxisPick::of).collect() }
    }

    /// The selection in an array of that shape.
    ///
    /// # Errors
    /// `Invalid` if there are more axes than the array has, or an index is past the end.
    pub fn resolve(&self, shape: &[u64]) -> Result<Selection> {
        if self.axes.len() > shape.len() {
            let message = format!("{} axes are selected, the variable has {}", self.axes.len(), shape.len());
            return Err(Error::invalid(message).at_path(&self.path));
        }
        let all = AxisPick::Range { start: 0, end: None, step: 1 };
        let picks = self.axes.iter().chain(std::iter::repeat(&all));
        let selection =
            Selection::new(shape.iter().zip(picks).map(|(&len, pick)| pick.resolve(len)).collect());
        selection.check(shape).map_err(|error| Error::from(error).at_path(&self.path))?;
        Ok(selection)
    }
}

impl AxisPick {
    fn of(axis: &AxisSelection) -> Self {
        match axis {
            AxisSelection::Indices(indices) => Self::List(indices.clone()),
            AxisSelection::Slice { start, count: 1, .. } => Self::Index(*start),
            AxisSelection::Slice { start, count, stride } => {
                let reach = count.saturating_sub(1).saturating_mul(*stride);
                let end = if *count == 0 { *start } else { start.saturating_add(reach).saturating_add(1) };
                Self::Range { start: *start, end: Some(end), step: (*stride).max(1) }
            }
        }
    }

    fn resolve(&self, len: u64) -> AxisSelection {
        match self {
            Self::Index(index) => AxisSelection::Slice { start: *index, count: 1, stride: 1 },
            Self::List(indices) => AxisSelection::Indices(indices.clone()),
            Self::Range { start, end, step } => {
                let count = end.unwrap_or(len).saturating_sub(*start).div_ceil(*step);
                AxisSelection::Slice { start: if count == 0 { 0 } else { *start }, count, stride: *step }
            }
        }
    }
}

/// `count` indices from `start` on, `step` apart, which may be negative: the slice that reads them forwards, and
/// whether its elements must be reversed, which [`StridedBytes::backwards`](crate::StridedBytes::backwards) does.
///
/// # Errors
/// `Invalid` if the step is 0, or an index is negative or exceeds 64 bits.
pub fn slice_by_steps(start: u64, count: u64, step: i64) -> Result<(AxisSelection, bool)> {
    let stride = step.unsigned_abs();
    let bad = |what: &str| Error::invalid(format!("{count} indices from {start} in steps of {step}: {what}"));
    if stride == 0 {
        return Err(bad("the step is 0"));
    }
    let reach = count.saturating_sub(1).checked_mul(stride).ok_or_else(|| bad("beyond 64 bits"))?;
    if step > 0 {
        return Ok((AxisSelection::Slice { start, count, stride }, false));
    }
    let first = start.checked_sub(reach).ok_or_else(|| bad("the last one is negative"))?;
    Ok((AxisSelection::Slice { start: first, count, stride }, true))
}

/// The parts between commas outside braces.
fn split_axes(text: &str) -> Vec<&str> {
    let mut depth = 0u32;
    let comma = |c: char| {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    };
    text.split(comma).collect()
}

fn parse_axis(text: &str, axis: &str) -> Result<AxisPick> {
    let number =
        |part: &str| part.trim().parse::<u64>().map_err(|_| bad(text, &format!("{part:?} is not an index")));
    if let Some(list) = axis.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
        return Ok(AxisPick::List(list.split(',').map(number).collect::<Result<_>>()?));
    }
    let parts: Vec<&str> = axis.split(':').collect();
    let or = |part: Option<&&str>, default: Option<u64>| match part {
        Some(part) if !part.trim().is_empty() => number(part).map(Some),
        _ => Ok(default),
    };
    match parts.as_slice() {
        [index] => Ok(AxisPick::Index(number(index)?)),
        [start, end, rest @ ..] if rest.len() <= 1 => {
            let step = or(rest.first(), Some(1))?.unwrap_or(1);
            if step == 0 {
                return Err(bad(text, "a step of 0"));
            }
            Ok(AxisPick::Range {
                start: or(Some(start), Some(0))?.unwrap_or(0),
                end: or(Some(end), None)?,
                step,
            })
        }
        _ => Err(bad(text, &format!("{axis:?} has more than two colons"))),
    }
}

fn bad(text: &str, reason: &str) -> Error {
    Error::invalid(format!("selection {text:?}: {reason}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slice(start: u64, count: u64, stride: u64) -> AxisSelection {
        AxisSelection::Slice { start, count, stride }
    }

    #[test]
    fn every_form_of_axis_is_understood() {
        let select = VariableSelect::parse("/g/v[0:10:2,5,:,{1,4},3:]").unwrap();
        assert_eq!(select.path, "/g/v");
        let got = select.resolve(&[11, 6, 7, 5, 8, 9]).unwrap();
        let list = AxisSelection::Indices(vec![1, 4]);
        assert_eq!(
            got.axes(),
            [slice(0, 5, 2), slice(5, 1, 1), slice(0, 7, 1), list, slice(3, 5, 1), slice(0, 9, 1)]
        );
    }

    #[test]
    fn a_selection_is_resolved_to_itself() {
        let list = AxisSelection::Indices(vec![1, 4]);
        let selection = Selection::new(vec![slice(2, 5, 2), slice(5, 1, 1), list, slice(0, 0, 1)]);
        let select = VariableSelect::of_selection("/g[0]/v", &selection);
        assert_eq!(select.path, "/g[0]/v");
        assert_eq!(select.resolve(&[11, 6, 5, 8]).unwrap(), selection);
    }

    #[test]
    fn what_does_not_fit_is_an_error_that_says_why() {
        for (text, shape, reason) in [
            ("v[1", &[3][..], "closing bracket"),
            ("v[x]", &[3], "not an index"),
            ("v[1:2:0]", &[3], "step of 0"),
            ("v[3]", &[3], "index 3 is past"),
            ("v[0,0]", &[3], "2 axes are selected"),
            ("v[1:2:3:4]", &[9], "colons"),
        ] {
            let error = VariableSelect::parse(text).and_then(|select| select.resolve(shape)).unwrap_err();
            assert!(error.to_string().contains(reason), "{text}: {error}");
        }
    }

    #[test]
    fn steps_backwards_are_a_slice_that_is_turned() {
        let slice = |start, count, stride| AxisSelection::Slice { start, count, stride };
        assert_eq!(slice_by_steps(9, 4, -3).unwrap(), (slice(0, 4, 3), true));
        assert_eq!(slice_by_steps(2, 4, 3).unwrap(), (slice(2, 4, 3), false));
        assert_eq!(slice_by_steps(9, 0, -3).unwrap(), (slice(9, 0, 3), true));
        for (start, count, step) in [(8, 4, -3), (0, 1, 0), (1, u64::MAX, i64::MIN)] {
            assert!(slice_by_steps(start, count, step).is_err());
        }
    }

    #[test]
    fn an_empty_range_selects_nothing() {
        let selection = VariableSelect::parse("v[5:2]").unwrap().resolve(&[9]).unwrap();
        assert_eq!(selection.shape(), [0]);
    }
}

//! The text that selects elements of a sub-array (docs/spec/cfa.md 2.2).
use ncirrus_layout::{Error, FragmentPart, Result};

#[cfg(test)]
mod tests;

/// One selection per dimension of the sub-array, from a text such as `[[0, 4, 2], (0, 3, 1)]`; `None` if the text
/// selects everything.
///
/// # Errors
/// `Malformed` if it is not such a text.
pub(crate) fn parts(text: &str) -> Result<Option<Vec<FragmentPart>>> {
    let wrong = || Error::malformed(format!("the part {:?} is not a list of selections", shortened(text)));
    let inner = text.trim().strip_prefix('[').and_then(|text| text.strip_suffix(']')).ok_or_else(wrong)?;
    let mut rest = inner.trim();
    let mut parts = Vec::new();
    while !rest.is_empty() {
        let close = match rest.chars().next() {
            Some('[') => ']',
            Some('(') => ')',
            _ => return Err(wrong()),
        };
        let (items, after) = rest.get(1..).and_then(|rest| rest.split_once(close)).ok_or_else(wrong)?;
        let numbers = numbers(items).ok_or_else(wrong)?;
        let part = if close == ']' { slice(&numbers) } else { indices(&numbers) };
        parts.push(part.ok_or_else(wrong)?);
        rest = after.trim_start();
        if let Some(next) = rest.strip_prefix(',') {
            rest = next.trim_start();
            if rest.is_empty() {
                return Err(wrong());
            }
        } else if !rest.is_empty() {
            return Err(wrong());
        }
    }
    Ok((!parts.is_empty()).then_some(parts))
}

/// Integers between commas; one comma may follow the last.
fn numbers(items: &str) -> Option<Vec<i64>> {
    let items = items.trim();
    let items = items.strip_suffix(',').unwrap_or(items);
    items.split(',').map(|item| item.trim().parse().ok()).collect()
}

/// `start, stop, step`; the stop is included if the steps reach it.
fn slice(numbers: &[i64]) -> Option<FragmentPart> {
    let &[first, last, step] = numbers else { return None };
    let (first, last) = (u64::try_from(first).ok()?, u64::try_from(last).ok()?);
    let goes = if step > 0 { first <= last } else { step < 0 && last <= first };
    goes.then_some(FragmentPart::Slice { first, last, step })
}

fn indices(numbers: &[i64]) -> Option<FragmentPart> {
    let indices = numbers.iter().map(|index| u64::try_from(*index).ok());
    indices.collect::<Option<_>>().map(FragmentPart::Indices)
}

/// The beginning of a text, for messages.
fn shortened(text: &str) -> String {
    text.chars().take(80).collect()
}

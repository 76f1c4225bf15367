//! Values that are not numbers, as text.
use super::failure::{Failure, json_response};
use super::parameters::Call;
use super::values::check_cost;
use super::work::work;
use axum::response::Response;
use ncirrus::{Atomic, Selection, TypeRef, Values, Variable};
use serde_json::json;

/// Values of one response at most.
const TEXTS: u64 = 1000;
/// Letters of a text at most; the rest is left out.
const LETTERS: usize = 2000;
/// Bytes of the values of one response at most, if they have a fixed size; at least one value is read.
const BYTES: u64 = 1 << 22;

/// The first values with their indices. Characters along the last dimension make one text.
pub(super) async fn texts(call: Call) -> Response {
    work(call, |call| {
        let served = call.dataset()?;
        let variable = call.variable(served.dataset())?;
        let shape = variable.shape();
        let is_char = variable.ty() == Some(TypeRef::Atomic(Atomic::Char));
        let (outer, width) = match shape.split_last() {
            Some((width, outer)) if is_char => (outer, *width),
            _ => (shape.as_slice(), 1),
        };
        let model = served.dataset().model()?;
        let one = variable.ty().and_then(|ty| model.packed_len(ty)).unwrap_or(1);
        let first = first_part(outer, TEXTS.min(BYTES / one.max(1)));
        let axes = if is_char && !shape.is_empty() {
            [&*first, &[width.min(LETTERS as u64)]].concat()
        } else {
            first.clone()
        };
        let selection = Selection::slab(&vec![0; axes.len()], &axes);
        check_cost(call, served.dataset(), &variable, &selection)?;
        let values = variable.values(&selection)?;
        let each = if is_char { axes.get(first.len()).copied().unwrap_or(1) } else { 1 };
        let found = written(&variable, &values, usize::try_from(each).unwrap_or(usize::MAX))?;
        let places: Vec<String> = (0..found.len() as u64).map(|at| place(at, &first)).collect();
        let count = outer.iter().try_fold(1u64, |product, len| product.checked_mul(*len));
        let left_out = count.is_none_or(|count| count > found.len() as u64);
        Ok(json_response(&json!({"values": found, "places": places, "count": count, "left_out": left_out})))
    })
    .await
}

/// The shape of the first values: whole rows as far as they fit.
fn first_part(shape: &[u64], max: u64) -> Vec<u64> {
    let mut left = max;
    let mut part: Vec<u64> = shape
        .iter()
        .rev()
        .map(|len| {
            let taken = (*len).min(left.max(1));
            left /= taken.max(1);
            taken
        })
        .collect();
    part.reverse();
    part
}

/// The indices of a value in an array of that shape.
fn place(mut at: u64, shape: &[u64]) -> String {
    let mut indices: Vec<String> = shape
        .iter()
        .rev()
        .map(|len| {
            let index = at % (*len).max(1);
            at /= (*len).max(1);
            index.to_string()
        })
        .collect();
    indices.reverse();
    indices.join(", ")
}

fn written(variable: &Variable, values: &Values, each: usize) -> Result<Vec<String>, Failure> {
    let cut = |text: &str| match text.char_indices().nth(LETTERS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    };
    let lossy = |bytes: &[u8]| cut(String::from_utf8_lossy(bytes).trim_end_matches('\0'));
    Ok(match values {
        Values::Char(letters) => letters.chunks(each.max(1)).map(lossy).collect(),
        Values::String(texts) => {
            texts.iter().map(|text| text.map_or_else(|| "NIL".to_owned(), lossy)).collect()
        }
        Values::Opaque { size, bytes } => {
            let hex = |value: &[u8]| value.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
            bytes.chunks((*size).max(1)).map(|value| cut(&hex(value))).collect()
        }
        Values::Vlen { .. } | Values::Compound { .. } => (0..values.len())
            .map(|at| one(values, at))
            .collect::<Result<Vec<_>, _>>()?
            .iter()
            .map(|text| cut(text))
            .collect(),
        numbers => {
            let written = (0..numbers.len()).map(|at| number(numbers, at));
            written
                .collect::<Option<Vec<_>>>()
                .ok_or_else(|| Failure::invalid(format!("{}: the values have no text", variable.path())))?
        }
    })
}

fn number(values: &Values, at: usize) -> Option<String> {
    match values {
        Values::Float(list) => list.get(at).map(ToString::to_string),
        Values::Double(list) => list.get(at).map(ToString::to_string),
        other => other.integer(at).map(|value| value.to_string()),
    }
}

/// A value of a user-defined type in braces, as CDL has it.
fn one(values: &Values, at: usize) -> Result<String, Failure> {
    match values {
        Values::Vlen { ends, elements } => {
            let start = at.checked_sub(1).and_then(|before| ends.get(before)).copied().unwrap_or(0);
            let end = ends.get(at).copied().unwrap_or(start);
            let shown = end.min(start.saturating_add(LETTERS));
            let parts = (start..shown).map(|at| one(elements, at)).collect::<Result<Vec<_>, _>>()?;
            Ok(format!("{{{}}}", parts.join(", ")))
        }
        Values::Compound { fields, .. } => {
            let parts = fields.iter().map(|field| {
                let each = field.len().checked_div(values.len().max(1)).unwrap_or(0);
                let members =
                    (at * each..(at + 1) * each).map(|at| one(field, at)).collect::<Result<Vec<_>, _>>()?;
                Ok(members.join(" "))
            });
            Ok(format!("{{{}}}", parts.collect::<Result<Vec<_>, Failure>>()?.join(", ")))
        }
        other => {
            let single = other.slice(at..at + 1);
            match &single {
                Values::Char(letters) => Ok(String::from_utf8_lossy(letters).into_owned()),
                Values::String(texts) => Ok(texts
                    .get(0)
                    .map_or_else(|| "NIL".to_owned(), |text| String::from_utf8_lossy(text).into_owned())),
                Values::Opaque { bytes, .. } => Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect()),
                numbers => number(numbers, 0).ok_or_else(|| Failure::invalid("a value has no text")),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_values_are_whole_rows_as_far_as_they_fit() {
        assert_eq!(first_part(&[5000], TEXTS), [1000]);
        assert_eq!(first_part(&[7, 300], TEXTS), [3, 300]);
        assert_eq!(first_part(&[2, 3, 4], TEXTS), [2, 3, 4]);
        assert_eq!(first_part(&[0, 4], TEXTS), [0, 4]);
        assert_eq!(first_part(&[7, 300], 0), [1, 1]);
        assert!(first_part(&[], TEXTS).is_empty());
    }

    #[test]
    fn places_are_indices_in_row_major_order() {
        assert_eq!(place(5, &[2, 3]), "1, 2");
        assert_eq!(place(0, &[]), "");
    }
}

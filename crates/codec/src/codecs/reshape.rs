//! Another shape for the codecs that follow (the codec `reshape` of the registry of Zarr v3): the elements keep their order.
//!
//! - HDF5 filter: none.
//! - Zarr v2: none.
//! - Zarr v3: `reshape`.
//! - Parameters: `shape`: for each new axis its length, a list of the axes whose lengths are multiplied, or once -1 for
//!   what is left.
//! - Compatible: zarrs, TensorStore.
//!
//! ```json
//! {"name": "reshape", "configuration": {"shape": [[0, 1]]}}
//! {"name": "reshape", "configuration": {"shape": [2, -1]}}
//! ```
use crate::CodecError;
use crate::parameters::CodecParameters;
use serde_json::Value;

const NAME: &str = "reshape";

/// The new shape of chunks of the given one.
///
/// # Errors
/// `Malformed` if the parameter is invalid, or such chunks have another number of elements.
pub(crate) fn reshaped(parameters: &CodecParameters, shape: &[u64]) -> Result<Vec<u64>, CodecError> {
    let value = parameters.get("shape").ok_or_else(|| parameters.missing("shape"))?;
    let list = value.as_array().ok_or_else(|| parameters.bad("shape", value))?;
    let unfit =
        || CodecError::malformed(NAME, format!("chunks of shape {shape:?} do not have the shape {value}"));
    let mut new = Vec::with_capacity(list.len());
    let mut free = None;
    let mut next_axis = 0;
    for (at, entry) in list.iter().enumerate() {
        let len = match entry {
            Value::Array(axes) => product_of_axes(axes, shape, &mut next_axis),
            entry if entry.as_i64() == Some(-1) && free.is_none() => {
                free = Some(at);
                Some(1)
            }
            entry => entry.as_u64().filter(|len| *len > 0),
        };
        new.push(len.ok_or_else(|| parameters.bad("shape", value))?);
    }
    let count = product(shape).ok_or_else(unfit)?;
    let others = product(&new).filter(|others| *others > 0);
    if let Some(len) = free.and_then(|at| new.get_mut(at)) {
        let others = others.filter(|others| count.is_multiple_of(*others)).ok_or_else(unfit)?;
        *len = count / others;
    }
    let is_same = product(&new) == Some(count) && follows_axes(list, &new, shape);
    if is_same { Ok(new) } else { Err(unfit()) }
}

/// The number of elements along axes of the chunk, which must be in ascending order over the whole parameter.
fn product_of_axes(axes: &[Value], shape: &[u64], next_axis: &mut usize) -> Option<u64> {
    axes.iter().try_fold(1u64, |product, axis| {
        let axis =
            axis.as_u64().and_then(|axis| usize::try_from(axis).ok()).filter(|axis| axis >= next_axis)?;
        *next_axis = axis + 1;
        product.checked_mul(*shape.get(axis)?)
    })
}

/// Whether axes that are named begin and end in the new shape where they do in the old one.
fn follows_axes(list: &[Value], new: &[u64], shape: &[u64]) -> bool {
    list.iter().enumerate().all(|(at, entry)| {
        let axes = entry.as_array().map(Vec::as_slice).unwrap_or_default();
        let axis = |value: Option<&Value>| value?.as_u64().and_then(|axis| usize::try_from(axis).ok());
        let (Some(first), Some(last)) = (axis(axes.first()), axis(axes.last())) else { return true };
        let same = |new: Option<&[u64]>, old: Option<&[u64]>| new.and_then(product) == old.and_then(product);
        same(new.get(..at), shape.get(..first)) && same(new.get(at + 1..), shape.get(last + 1..))
    })
}

fn product(lens: &[u64]) -> Option<u64> {
    lens.iter().try_fold(1u64, |product, len| product.checked_mul(*len))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn shapes_keep_the_number_of_elements() {
        let of = |shape: Value, old: &[u64]| {
            let map = json!({ "shape": shape });
            reshaped(&CodecParameters::new(NAME, map.as_object().unwrap()), old).ok()
        };
        assert_eq!(of(json!([[0, 1], [2]]), &[2, 3, 5]), Some(vec![6, 5]));
        assert_eq!(of(json!([[0, 1], 5, [3]]), &[2, 3, 5, 7]), Some(vec![6, 5, 7]));
        assert_eq!(of(json!([6, -1]), &[2, 3, 5]), Some(vec![6, 5]));
        assert_eq!(of(json!([]), &[1, 1]), Some(vec![]));
        for (shape, old) in [
            (json!([7, 5]), &[2, 3, 5][..]),
            (json!([[1], [0]]), &[2, 3]),
            (json!([[0], [0]]), &[1, 1]),
            (json!([-1, -1]), &[4]),
            (json!([4, -1]), &[6]),
            (json!([0, -1]), &[4]),
            (json!([2, [1], 2]), &[2, 3, 2, 2]),
            (json!([[9]]), &[2]),
            (json!("x"), &[2]),
        ] {
            assert_eq!(of(shape.clone(), old), None, "{shape}");
        }
    }
}

//! Which arrays of `<U1` have one byte per element: the plain Zarr of old versions of netCDF-C does not always
//! identify its writer, but its chunks show it (docs/spec/nczarr.md 3.12).
use super::array::{self, ArrayMetadata};
use super::keys::KeyIndex;
use super::node::{ArrayNode, GroupNode};
use crate::dtype::v2::TextRules;
use crate::json::JsonValue;
use ncirrus_layout::{ErrorKind, ObjectId, PackedArrays, Stall, Step, View, Want, join, settle};

/// Marks the arrays whose first chunk has exactly one byte per element. Nothing is read if there are none of the
/// type, or if the rules determine its meaning.
pub(super) fn find(view: &dyn View, root: &mut GroupNode, rules: TextRules) -> Step<()> {
    let mut arrays = Vec::new();
    root.each_array(&mut |array| arrays.push(array));
    arrays.retain(|array| !rules.u1_is_char && is_u1(array));
    let found = join(arrays.iter(), |array| has_one_byte(view, array, rules))?;
    arrays.into_iter().zip(found).for_each(|(array, found)| array.has_one_byte_cells = found);
    Ok(())
}

impl ArrayNode {
    /// The meaning of one-byte text in this array.
    pub(super) fn text_rules(&self, rules: TextRules) -> TextRules {
        TextRules { u1_is_char: rules.u1_is_char || self.has_one_byte_cells, ..rules }
    }
}

fn is_u1(array: &ArrayNode) -> bool {
    let dtype =
        array.metadata.as_ref().ok().and_then(|json| json.member("dtype")).and_then(JsonValue::as_str);
    dtype.is_some_and(|dtype| dtype.trim_start_matches(['<', '>', '|', '=']) == "U1")
}

/// Whether the first chunk has one byte per element. If it is absent or unreadable, this is unknown.
fn has_one_byte(view: &dyn View, array: &ArrayNode, rules: TextRules) -> Step<bool> {
    let Some((metadata, chunk, cells)) = first_chunk(view, array, rules) else { return Ok(false) };
    let Some(blob) = settled(view.read(&chunk, Want::Range(0..0)))?.flatten() else { return Ok(false) };
    if metadata.codecs.is_empty() {
        return Ok(blob.size == cells);
    }
    // With four bytes per element it decodes to more, with one byte to less.
    let codecs: Vec<_> =
        metadata.codecs.into_iter().filter(|codec| codec.identifier() != "transpose").collect();
    let decodes = |len: u64| -> Step<bool> {
        Ok(settled(view.decoded(&chunk, 0..blob.size, &codecs, 0, len))?.is_some())
    };
    Ok(!decodes(cells.saturating_mul(4))? && decodes(cells)?)
}

/// The object of the first chunk, and its number of elements.
fn first_chunk(
    view: &dyn View,
    array: &ArrayNode,
    rules: TextRules,
) -> Option<(ArrayMetadata, ObjectId, u64)> {
    let json = array.metadata.as_ref().ok()?;
    let shape = array::shape(json, view.limits()).ok()?;
    let metadata = array::describe(json, &shape, rules, PackedArrays::Decoded, view.limits()).ok()?;
    let first = vec![0; shape.len()];
    let lens = metadata.grid.cell_shape(&first)?;
    let cells = lens.iter().try_fold(1u64, |count, len| count.checked_mul(*len))?;
    let keys = KeyIndex { prefix: array.prefix.clone(), keys: metadata.keys, hidden_axes: 0 };
    Some((metadata, keys.object(&first), cells))
}

/// What was read; `None` for damage, which is reported when the values are read.
fn settled<T>(step: Step<T>) -> Step<Option<T>> {
    match settle(step).map_err(Stall::Need)? {
        Err(error) if matches!(error.kind(), ErrorKind::Io { .. } | ErrorKind::Changed) => Err(error.into()),
        found => Ok(found.ok()),
    }
}

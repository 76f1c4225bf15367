//! Files whose chunks have different lengths along the axis: a rectilinear grid of Zarr v3 has a place for each.
use super::VariablePart;
use ncirrus_layout::Layout;

/// The lengths of all chunks along the axis; `None` if they are equal, or the files differ in more than that. Every file but
/// the last must end with a full chunk: the bytes of a chunk are those of its whole length.
pub(super) fn lengths(parts: &[VariablePart], axis: usize) -> Option<Vec<u64>> {
    let first = parts.first()?;
    let (own, others) = parts.split_last()?;
    let is_whole = |part: &VariablePart| {
        let (len, chunk) = (part.shape.get(axis)?, part.chunk_shape()?.get(axis)?);
        Some(len.is_multiple_of((*chunk).max(1)))
    };
    let are_alike = parts.iter().all(|part| is_alike(first, part, axis));
    if !are_alike || !others.iter().all(|part| is_whole(part) == Some(true)) {
        return None;
    }
    let mut lengths = Vec::new();
    for part in others.iter().chain([own]) {
        let chunk = *part.chunk_shape()?.get(axis)?;
        let count = usize::try_from(part.cells_along(axis)?).ok()?;
        lengths.extend(std::iter::repeat_n(chunk, count));
    }
    let differ = lengths.iter().any(|len| Some(len) != lengths.first());
    differ.then_some(lengths)
}

/// Whether chunks of two files differ only in their length along the axis.
fn is_alike(first: &VariablePart, part: &VariablePart, axis: usize) -> bool {
    let codecs = |part: &VariablePart| match &part.source.layout {
        Layout::Grid { codecs, .. } => Some(codecs.clone()),
        _ => None,
    };
    let others = |part: &VariablePart| {
        let chunk = part.chunk_shape()?.iter().enumerate();
        Some(chunk.filter(|(at, _)| *at != axis).map(|(_, len)| *len).collect::<Vec<u64>>())
    };
    others(first).is_some()
        && others(first) == others(part)
        && codecs(first) == codecs(part)
        && first.source.stored == part.source.stored
        && part.source.extent == part.shape
        && part.source.stored.byte_len().is_some()
        && part.chunks.iter().all(|chunk| chunk.stored.mask == 0)
}

/// The lengths along all axes.
pub(super) fn of_all_axes(
    parts: &[VariablePart],
    chunk: &[u64],
    axis: usize,
    along: &[u64],
) -> Vec<Vec<u64>> {
    let Some(first) = parts.first() else { return Vec::new() };
    let of = |at: usize, len: u64| match first.cells_along(at) {
        _ if at == axis => along.to_vec(),
        Some(count) => vec![len; usize::try_from(count).unwrap_or_default()],
        None => vec![len],
    };
    chunk.iter().enumerate().map(|(at, len)| of(at, *len)).collect()
}

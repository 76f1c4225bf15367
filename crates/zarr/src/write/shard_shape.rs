//! Shapes of shards: the caller's, or one of about 256 MiB.
use crate::Dialect;
use crate::read::array::ShardingLayout;
use ncirrus_layout::{Error, Result};
use ncirrus_model::{DimensionLen, Model, Shards, Storage, VarId};

/// The shape and form of a variable's shards; `None` if it has none.
///
/// # Errors
/// `Unsupported` for Zarr v2; `Invalid` if the shape has another rank, or a length is not a multiple of the chunk's.
pub(super) fn shards(
    (dialect, model): (Dialect, &Model),
    var: VarId,
    chunks: &[u64],
    element_len: u64,
) -> Result<Option<(Vec<u64>, ShardingLayout)>> {
    let Some(variable) = model.variable(var) else { return Err(Error::internal("no such variable")) };
    let Some(wanted) = &variable.shards else { return Ok(None) };
    if dialect.zarr_format() != 3 {
        return Err(Error::unsupported("Zarr v2 has no shards; Zarr v3 has"));
    }
    if chunks.is_empty() {
        let message = "a scalar has no shards";
        return if wanted.shape.is_empty() { Ok(None) } else { Err(Error::invalid(message)) };
    }
    let axes: Vec<DimensionLen> = variable
        .dims
        .iter()
        .map(|dim| model.dimension(*dim).map_or(DimensionLen::Fixed(1), |dimension| dimension.len))
        .collect();
    let shape = match wanted.shape.is_empty() {
        true => match suited(&axes, chunks, element_len) {
            Some(shape) => shape,
            None => return Ok(None),
        },
        false => {
            let is_chosen = !matches!(variable.storage, Storage::Chunked(_));
            let shape = resolved(&wanted.shape, chunks, is_chosen);
            // Shards of one chunk each would only add an index.
            if is_chosen && shape == chunks {
                return Ok(None);
            }
            shape
        }
    };
    let form = ShardingLayout::new(&Shards { shape: shape.clone(), ..wanted.clone() }, chunks)?;
    Ok(Some((shape, form)))
}

/// The lengths that were given: 0 is that of the chunk; `rounded` up to whole chunks.
fn resolved(shape: &[u64], chunks: &[u64], rounded: bool) -> Vec<u64> {
    let chunk = |axis: usize| chunks.get(axis).copied().unwrap_or(1).max(1);
    let length = |(axis, len): (usize, &u64)| match len {
        0 => chunk(axis),
        len if rounded => len.div_ceil(chunk(axis)).saturating_mul(chunk(axis)),
        len => *len,
    };
    shape.iter().enumerate().map(length).collect()
}

/// A shape of at most about 256 MiB, decoded: whole rows first. `None` if that is a single chunk.
fn suited(axes: &[DimensionLen], chunks: &[u64], element_len: u64) -> Option<Vec<u64>> {
    let bytes = chunks.iter().fold(element_len.max(1), |bytes, len| bytes.saturating_mul(*len));
    let mut room = (SUITED_BYTES / bytes.max(1)).clamp(1, MOST_CHUNKS);
    let mut shape = chunks.to_vec();
    for (len, axis) in shape.iter_mut().zip(axes).rev() {
        let all = match axis {
            DimensionLen::Fixed(whole) => whole.div_ceil((*len).max(1)).max(1),
            DimensionLen::Unlimited(_) => u64::MAX,
        };
        let count = all.min(room);
        // Shards of about equal size along the axis.
        let count = if count < all && all != u64::MAX { all.div_ceil(all.div_ceil(count)) } else { count };
        *len = len.saturating_mul(count);
        room = (room / count).max(1);
        if count < all {
            break;
        }
    }
    (shape != chunks).then_some(shape)
}

/// Bytes of the elements of a shard whose shape is left to the writer.
const SUITED_BYTES: u64 = 256 << 20;
/// Chunks of such a shard: its index is read before each of them.
const MOST_CHUNKS: u64 = 1 << 16;

#[cfg(test)]
mod tests {
    use super::*;
    use DimensionLen::{Fixed, Unlimited};

    #[test]
    fn shards_of_about_256_mib_have_whole_rows_first() {
        for (axes, chunks, shape) in [
            // 8 MiB chunks: 32 of them.
            (&[Fixed(100), Fixed(2048), Fixed(4096)][..], &[1, 1024, 2048][..], Some(vec![8, 2048, 4096])),
            (&[Unlimited(0), Fixed(1024), Fixed(2048)], &[1, 1024, 2048], Some(vec![32, 1024, 2048])),
            (&[Fixed(10)], &[10], None),
            (&[Fixed(100)], &[10], Some(vec![100])),
            // A chunk of 256 MiB is large enough.
            (&[Unlimited(5), Fixed(1 << 26)], &[1, 1 << 26], None),
        ] {
            assert_eq!(suited(axes, chunks, 4), shape, "{axes:?} in chunks of {chunks:?}");
        }
    }

    #[test]
    fn lengths_that_are_given_are_kept_and_rounded_for_chunks_that_were_chosen() {
        assert_eq!(resolved(&[0, 10], &[3, 4], false), [3, 10]);
        assert_eq!(resolved(&[0, 10], &[3, 4], true), [3, 12]);
    }
}

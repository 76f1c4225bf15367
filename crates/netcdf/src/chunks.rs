//! Default chunk shapes: netCDF-C's, and ncirrus' own for HDF5 and for Zarr. Their helpers are shared; which axis is
//! halved first and how records are gathered differs, because shapes that were once chosen must not change.
use ncirrus_model::DimensionLen;

/// Maximum size in bytes of a default chunk of netCDF-C (`DEFAULT_CHUNK_SIZE`).
const NETCDF_C_BYTES: u64 = 16 << 20;
/// Size in bytes of a default chunk of a growing one-dimensional variable of netCDF-C (`DEFAULT_1D_UNLIM_SIZE`).
const NETCDF_C_SERIES_BYTES: u64 = 4096;
/// Maximum size in bytes of a balanced default chunk.
const BALANCED_BYTES: u64 = 4 << 20;
/// Minimum number of elements in a chunk of a growing one-dimensional variable.
const SERIES_LEN: u64 = 1024;
/// Records are gathered into chunks of about this many bytes.
const RECORD_BYTES: u64 = 1 << 20;

/// How default chunk shapes of HDF5 files are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DefaultChunks {
    /// About 4 MiB, for reading maps and time series equally well.
    #[default]
    Balanced,
    /// As in netCDF-C.
    NetcdfC,
}

impl DefaultChunks {
    /// The chunk shape that the rule chooses: `element` is the number of bytes of an element.
    pub fn shape(self, axes: &[DimensionLen], element: u64) -> Vec<u64> {
        match self {
            Self::Balanced => balanced(axes, element.max(1)),
            Self::NetcdfC => as_netcdf_c(axes, element.max(1)),
        }
    }
}

/// Reading a map (all axes but the first) and reading a series (along the first axis, or the one that grows) touch
/// about as many chunks each. If the length of the growing axis is unknown, chunks hold few records, so that
/// appending one rewrites little.
fn balanced(axes: &[DimensionLen], element: u64) -> Vec<u64> {
    let limit = (BALANCED_BYTES / element).max(1);
    if let [DimensionLen::Unlimited(len)] = axes {
        return vec![series(*len, limit)];
    }
    let mut shape: Vec<u64> = axes.iter().map(|axis| axis.current().max(1)).collect();
    let growing = axes.iter().position(|axis| axis.is_unlimited());
    let series = growing.or((axes.len() > 2).then_some(0));
    let chunks = product(&shape).div_ceil(limit);
    if let Some(len) = series.and_then(|axis| shape.get_mut(axis)) {
        *len = len.div_ceil(chunks.isqrt().max(1));
        let along = *len;
        // The other axes share what is left of the chunk.
        *len = 1;
        shrink(&mut shape, (limit / along).max(1), LongestAxis::Last);
        if let Some(slot) = series.and_then(|axis| shape.get_mut(axis)) {
            *slot = along;
        }
    }
    shrink(&mut shape, limit, LongestAxis::Last);
    let first = axes.iter().position(|axis| *axis == DimensionLen::Unlimited(0));
    gather_records(&mut shape, first, (RECORD_BYTES / element).clamp(1, limit), SERIES_LEN);
    shape
}

/// Chunks of at most `limit` bytes with few records: growing axes have one per chunk, or as many as are there while
/// records are small. This is the rule of Zarr, where each chunk is an object.
pub fn of_few_records(axes: &[DimensionLen], element: u64, limit: u64) -> Vec<u64> {
    let element = element.max(1);
    let limit = (limit.max(1) / element).max(1);
    if let [DimensionLen::Unlimited(len)] = axes {
        return vec![series(*len, limit)];
    }
    let mut shape: Vec<u64> =
        axes.iter().map(|axis| if axis.is_unlimited() { 1 } else { axis.current().max(1) }).collect();
    shrink(&mut shape, limit, LongestAxis::First);
    let first = axes.iter().position(|axis| axis.is_unlimited());
    let records = first.and_then(|axis| axes.get(axis)).map_or(1, |axis| axis.current().max(1));
    gather_records(&mut shape, first, (RECORD_BYTES / element).clamp(1, limit), records);
    shape
}

/// The chunk of a growing one-dimensional variable.
fn series(len: u64, limit: u64) -> u64 {
    len.clamp(SERIES_LEN.min(limit), limit)
}

/// Which of several longest axes is halved first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LongestAxis {
    First,
    Last,
}

/// Halves the longest axis until the product is at most `limit`, without a nearly empty last chunk.
fn shrink(shape: &mut [u64], limit: u64, ties: LongestAxis) {
    let whole = shape.to_vec();
    while product(shape) > limit {
        // `max_by_key` returns the last of equal ones.
        let longest = match ties {
            LongestAxis::First => shape.iter_mut().rev().max_by_key(|len| **len),
            LongestAxis::Last => shape.iter_mut().max_by_key(|len| **len),
        };
        let Some(longest) = longest else { return };
        *longest = longest.div_ceil(2);
    }
    for (chunk, len) in shape.iter_mut().zip(&whole) {
        *chunk = len.div_ceil(len.div_ceil(*chunk));
    }
}

/// Lengthens a growing axis, of one record per chunk, to at most `most` records while the chunk has at most `limit`
/// elements.
fn gather_records(shape: &mut [u64], axis: Option<usize>, limit: u64, most: u64) {
    let room = (limit / product(shape).max(1)).max(1);
    if let Some(chunk) = axis.and_then(|axis| shape.get_mut(axis)) {
        *chunk = room.min(most);
    }
}

/// As in netCDF-C: one record, each fixed axis shortened by the same factor to about 16 MiB.
fn as_netcdf_c(axes: &[DimensionLen], element: u64) -> Vec<u64> {
    let fixed: Vec<u64> =
        axes.iter().filter(|axis| !axis.is_unlimited()).map(|axis| axis.current().max(1)).collect();
    match axes {
        [DimensionLen::Unlimited(_)] => return vec![(NETCDF_C_SERIES_BYTES / element).max(1)],
        _ if fixed.is_empty() => return vec![root(NETCDF_C_BYTES, element, axes.len()); axes.len()],
        _ => {}
    }
    let share = share_of_each(element, &fixed);
    let short =
        |axis: &DimensionLen| if axis.is_unlimited() { 1 } else { shortened(axis.current().max(1), share) };
    let mut shape: Vec<u64> = axes.iter().map(short).collect();
    // An axis that is short already leaves chunks too large for HDF5: all others are halved.
    while shape.iter().fold(element, |bytes, len| bytes.saturating_mul(*len)) > u64::from(u32::MAX)
        && shape.iter().any(|len| *len > 1)
    {
        shape.iter_mut().for_each(|len| *len = (*len / 2).max(1));
    }
    let even = |len: u64, chunk: u64| len.div_ceil(len.div_ceil(chunk).max(1));
    let whole = |(chunk, axis): (u64, &DimensionLen)| match axis {
        DimensionLen::Fixed(len) => even((*len).max(1), chunk),
        DimensionLen::Unlimited(_) => chunk,
    };
    shape.into_iter().zip(axes).map(whole).collect()
}

/// The length of all axes of a chunk with that many bytes, if they are equal.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "netCDF-C cuts off what doubles make of the root: 255 for 256 cubed"
)]
fn root(bytes: u64, element: u64, degree: usize) -> u64 {
    ((bytes as f64 / element as f64).powf(1.0 / degree as f64) as u64).max(1)
}

/// The factor by which all axes are shortened: the root of the part of the elements that a chunk holds.
#[expect(clippy::cast_precision_loss, reason = "a factor: netCDF-C computes it in doubles, too")]
fn share_of_each(element: u64, fixed: &[u64]) -> f64 {
    let all: f64 = fixed.iter().map(|len| *len as f64).product();
    // An element that is longer than the chunk fills one by itself.
    let limit = (NETCDF_C_BYTES as f64 / element as f64).max(1.0);
    (limit / all).powf(1.0 / fixed.len() as f64)
}

/// A length shortened by a factor; of one that is not below 1 it stays.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "netCDF-C cuts off the fraction; what is negative or too large is clamped"
)]
fn shortened(len: u64, share: f64) -> u64 {
    ((len as f64 * share - 0.5) as u64).clamp(1, len)
}

/// The chunks that a program chose for a variable of a shape, some of whose axes grow. A length of 0 leaves it to the library: all of
/// them, if it is the first one's. `None` for chunks that exceed the variable, or 4 GiB.
pub fn chosen_chunks(
    lens: &[usize],
    defaults: Vec<u64>,
    (shape, growing): (&[u64], &[bool]),
    element: u64,
) -> Option<Vec<u64>> {
    if lens.first() == Some(&0) {
        return Some(defaults);
    }
    let chosen =
        lens.iter().zip(defaults).map(|(len, default)| if *len == 0 { default } else { *len as u64 });
    let lens: Vec<u64> = chosen.collect();
    let bytes = lens.iter().try_fold(element, |bytes, len| bytes.checked_mul(*len))?;
    let is_too_long = |((len, axis), grows): ((&u64, &u64), &bool)| !grows && len > axis;
    let exceeds = bytes > MAX_CHUNK_BYTES || lens.iter().zip(shape).zip(growing).any(is_too_long);
    (!exceeds).then_some(lens)
}

/// The most bytes of a chunk.
const MAX_CHUNK_BYTES: u64 = 0xffff_ffff;

fn product(shape: &[u64]) -> u64 {
    shape.iter().fold(1, |product, len| product.saturating_mul(*len))
}

#[cfg(test)]
mod tests;

//! Default chunk shapes.
use super::DefaultChunks;
use ncirrus_layout::{Error, Result};
use ncirrus_model::{DimensionLen, Model, Storage, VarId};

/// Maximum size of a default chunk in bytes.
// `DEFAULT_CHUNK_SIZE` and `DEFAULT_1D_UNLIM_SIZE` of netCDF-C 4.9.
const CHUNK_BYTES: u64 = 4 << 20;
/// Minimum number of elements in a chunk of a growing one-dimensional variable.
const SERIES_LEN: u64 = 1024;
/// If there are no records yet, they are gathered into chunks of about this many bytes.
const RECORD_BYTES: u64 = 1 << 20;

/// The chunk shape of a variable: the caller's, not longer than fixed axes, or a default.
///
/// # Errors
/// `Invalid` if the caller's shape has another rank or a zero.
pub(super) fn chunk_shape(model: &Model, var: VarId, element: u64, rule: DefaultChunks) -> Result<Vec<u64>> {
    let Some(variable) = model.variable(var) else { return Err(Error::internal("no such variable")) };
    let len = |dim| model.dimension(dim).map_or(DimensionLen::Fixed(1), |dimension| dimension.len);
    let axes: Vec<DimensionLen> = variable.dims.iter().map(|dim| len(*dim)).collect();
    match (&variable.storage, rule) {
        (Storage::Chunked(shape), _) if shape.len() != axes.len() || shape.contains(&0) => {
            Err(Error::invalid(format!("chunk shape {shape:?} does not fit {} dimensions", axes.len())))
        }
        (Storage::Chunked(shape), _) => {
            Ok(shape.iter().zip(&axes).map(|(chunk, axis)| fitting(*chunk, *axis)).collect())
        }
        (_, rule) => Ok(rule.shape(&axes, element)),
    }
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

/// HDF5 allows no chunk longer than a fixed axis.
fn fitting(chunk: u64, axis: DimensionLen) -> u64 {
    match axis {
        DimensionLen::Fixed(len) => chunk.min(len.max(1)),
        DimensionLen::Unlimited(_) => chunk,
    }
}

/// Reading a map (all axes but the first) and reading a series (along the first axis, or the one that grows) touch
/// about as many chunks each. If the length of the growing axis is unknown, chunks hold few records, so that
/// appending one rewrites little.
fn balanced(axes: &[DimensionLen], element: u64) -> Vec<u64> {
    let limit = (CHUNK_BYTES / element).max(1);
    let mut shape: Vec<u64> = axes.iter().map(|axis| axis.current().max(1)).collect();
    if let [DimensionLen::Unlimited(len)] = axes {
        return vec![(*len).clamp(SERIES_LEN.min(limit), limit)];
    }
    let growing = axes.iter().position(|axis| axis.is_unlimited());
    let series = growing.or((axes.len() > 2).then_some(0));
    let all = product(&shape);
    let chunks = all.div_ceil(limit);
    if let Some(len) = series.and_then(|axis| shape.get_mut(axis)) {
        *len = len.div_ceil(chunks.isqrt().max(1));
        let along = *len;
        let mut others = shape.clone();
        if let Some(slot) = series.and_then(|axis| others.get_mut(axis)) {
            *slot = 1;
        }
        shrink(&mut others, (limit / along).max(1));
        if let Some(slot) = series.and_then(|axis| others.get_mut(axis)) {
            *slot = along;
        }
        shape = others;
    }
    shrink(&mut shape, limit);
    gather_records(&mut shape, axes, (RECORD_BYTES / element).clamp(1, limit));
    shape
}

/// Halves the longest axis until the product is at most `limit`, without a nearly empty last chunk.
fn shrink(shape: &mut [u64], limit: u64) {
    let whole = shape.to_vec();
    while product(shape) > limit {
        let Some(longest) = shape.iter_mut().max() else { return };
        *longest = longest.div_ceil(2);
    }
    for (chunk, len) in shape.iter_mut().zip(&whole) {
        *chunk = len.div_ceil(len.div_ceil(*chunk));
    }
}

/// Lengthens the first growing axis if it is empty and records are small.
fn gather_records(shape: &mut [u64], axes: &[DimensionLen], limit: u64) {
    let room = (limit / product(shape).max(1)).max(1);
    let first = axes.iter().position(|axis| *axis == DimensionLen::Unlimited(0));
    if let Some(chunk) = first.and_then(|axis| shape.get_mut(axis)) {
        *chunk = room.min(SERIES_LEN);
    }
}

/// As in netCDF-C: one record, each fixed axis shortened by the same factor to about 16 MiB.
fn as_netcdf_c(axes: &[DimensionLen], element: u64) -> Vec<u64> {
    const CHUNK_BYTES: u64 = 16 << 20;
    const SERIES_BYTES: u64 = 4096;
    let limit = (CHUNK_BYTES / element).max(1);
    let fixed: Vec<u64> =
        axes.iter().filter(|axis| !axis.is_unlimited()).map(|axis| axis.current().max(1)).collect();
    match axes {
        [DimensionLen::Unlimited(_)] => return vec![(SERIES_BYTES / element).max(1)],
        _ if fixed.is_empty() => return vec![root(CHUNK_BYTES, element, axes.len()); axes.len()],
        _ => {}
    }
    let share = share_of_each(limit, &fixed);
    let short =
        |axis: &DimensionLen| if axis.is_unlimited() { 1 } else { shortened(axis.current().max(1), share) };
    let mut shape: Vec<u64> = axes.iter().map(short).collect();
    // An axis that is short already leaves chunks too large for HDF5: all others are halved.
    while shape.iter().fold(element, |bytes, len| bytes.saturating_mul(*len)) > u64::from(u32::MAX) {
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
fn share_of_each(limit: u64, fixed: &[u64]) -> f64 {
    let all: f64 = fixed.iter().map(|len| *len as f64).product();
    (limit as f64 / all).powf(1.0 / fixed.len() as f64)
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

fn product(shape: &[u64]) -> u64 {
    shape.iter().fold(1, |product, len| product.saturating_mul(*len))
}

#[cfg(test)]
mod tests {
    use super::*;
    use DimensionLen::{Fixed, Unlimited};

    #[test]
    fn small_variables_are_one_chunk() {
        assert_eq!(balanced(&[Fixed(180), Fixed(360)], 4), [180, 360]);
        assert_eq!(balanced(&[Unlimited(12), Fixed(180), Fixed(360)], 4), [12, 180, 360]);
    }

    #[test]
    fn a_map_and_a_series_touch_about_as_many_chunks() {
        for axes in [
            [Fixed(8760), Fixed(721), Fixed(1440)],
            [Unlimited(1000), Fixed(2000), Fixed(3000)],
            [Unlimited(100_000), Fixed(96), Fixed(144)],
        ] {
            let shape = balanced(&axes, 4);
            let bytes = product(&shape) * 4;
            assert!((1 << 20..=4 << 20).contains(&bytes), "{shape:?}");
            let counts: Vec<u64> =
                axes.iter().zip(&shape).map(|(axis, chunk)| axis.current().div_ceil(*chunk)).collect();
            let (series, map) = (counts[0], counts[1] * counts[2]);
            assert!(series <= map * 4 && map <= series * 4, "{shape:?}: {series} and {map}");
        }
    }

    #[test]
    fn appending_rewrites_little() {
        assert_eq!(balanced(&[Unlimited(0), Fixed(1000), Fixed(1000)], 4), [1, 1000, 1000]);
        assert_eq!(balanced(&[Unlimited(0), Fixed(256)], 4), [1024, 256]);
        assert_eq!(balanced(&[Unlimited(0)], 8), [1024]);
    }

    #[test]
    fn several_axes_may_grow() {
        assert_eq!(balanced(&[Unlimited(0), Unlimited(0)], 8), [1024, 1]);
    }

    #[test]
    fn the_rule_of_netcdf_c_keeps_single_records() {
        assert_eq!(as_netcdf_c(&[Unlimited(5)], 4), [1024]);
        assert_eq!(as_netcdf_c(&[Unlimited(5), Fixed(100), Fixed(200)], 4), [1, 100, 200]);
        assert_eq!(as_netcdf_c(&[Unlimited(0), Unlimited(0)], 4), [2048, 2048]);
        assert_eq!(as_netcdf_c(&[Unlimited(0), Unlimited(0), Unlimited(0)], 1), [255, 255, 255]);
    }

    #[test]
    fn the_rule_of_netcdf_c_shortens_all_axes_alike() {
        // What netCDF-C 4.9.0 chooses.
        assert_eq!(as_netcdf_c(&[Unlimited(5), Fixed(4000), Fixed(8000)], 4), [1, 1334, 2667]);
        assert_eq!(as_netcdf_c(&[Fixed(2048), Fixed(2049)], 4), [1024, 1025]);
        // Half an element is taken off before the fraction is cut off: what just fits is divided.
        assert_eq!(as_netcdf_c(&[Fixed(2048), Fixed(2048)], 4), [1024, 1024]);
        assert_eq!(
            as_netcdf_c(&[Fixed(1_804_289_383), Fixed(846_930_886), Fixed(1_681_692_777)], 4),
            [211, 99, 197]
        );
        // With an axis that is short already, all are halved until HDF5 takes the chunk.
        assert_eq!(
            as_netcdf_c(&[Fixed(1_804_289_383), Fixed(846_930_886), Fixed(1)], 4),
            [31_577, 14_822, 1]
        );
    }
}

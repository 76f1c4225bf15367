//! Which values are read: every n-th along each axis, so that no more is fetched than can be seen.

/// An axis of a picture, as it is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StoredAxis {
    /// How many values are selected.
    pub(crate) count: u64,
    /// How many indices apart they are.
    pub(crate) step: u64,
    /// Length of a chunk along the axis.
    pub(crate) chunk: u64,
    /// How many values can be seen.
    pub(crate) visible: u64,
}

/// Pictures may have this many times fewer values than can be seen along each axis, if reading more would fetch more than
/// the budget.
const COARSEST: u64 = 4;

impl StoredAxis {
    /// The values that remain with a stride.
    pub(crate) fn points(&self, stride: u64) -> u64 {
        self.count.div_ceil(stride.max(1))
    }

    /// The chunks that these touch.
    fn chunks(&self, stride: u64) -> u64 {
        let extent = self.count.saturating_sub(1).saturating_mul(self.step).saturating_add(1);
        self.points(stride).min(extent.div_ceil(self.chunk.max(1)))
    }

    /// The stride with which about as many values remain as can be seen.
    fn visible_stride(&self) -> u64 {
        let visible = self.visible.max(1);
        (self.count.saturating_add(visible / 2) / visible).max(1)
    }
}

/// The bytes that reading every n-th value fetches, at most: whole chunks.
pub(crate) fn estimate(axes: &[StoredAxis], strides: &[u64], chunk_bytes: u64) -> u64 {
    let chunks = axes.iter().zip(strides).map(|(axis, stride)| axis.chunks(*stride));
    chunks.fold(chunk_bytes, u64::saturating_mul)
}

/// A stride for each axis. Every value that can be seen is read, unless coarser strides keep the read within the budget.
/// If even the coarsest do not, these are returned, and the caller asks first.
pub(crate) fn choose(axes: &[StoredAxis], chunk_bytes: u64, budget: u64) -> Vec<u64> {
    let mut strides: Vec<u64> = axes.iter().map(StoredAxis::visible_stride).collect();
    loop {
        if estimate(axes, &strides, chunk_bytes) <= budget {
            return strides;
        }
        let mut is_coarser = false;
        for (axis, stride) in axes.iter().zip(&mut strides) {
            if axis.points(stride.saturating_mul(2)) >= (axis.visible / COARSEST).max(1) {
                *stride = stride.saturating_mul(2);
                is_coarser = true;
            }
        }
        if !is_coarser {
            return strides;
        }
    }
}

/// The stride of a line: 1 if reading every value is cheap, so that no peak is lost.
pub(crate) fn of_line(axis: StoredAxis, chunk_bytes: u64, (cheap, budget): (u64, u64)) -> u64 {
    const MAX_VALUES: u64 = 1 << 22;
    if axis.count <= MAX_VALUES && estimate(&[axis], &[1], chunk_bytes) <= cheap {
        return 1;
    }
    choose(&[axis], chunk_bytes, budget).first().copied().unwrap_or(1)
}

/// A line with at most four points per column: the first, the lowest, the highest and the last of each, so that it looks the
/// same. A column of missing values interrupts the line.
pub(crate) fn envelope(points: &[(f64, f64)], columns: usize) -> Vec<(f64, f64)> {
    let columns = columns.max(1);
    if points.len() <= columns * 4 {
        return points.to_vec();
    }
    let mut kept = Vec::with_capacity(columns * 4);
    for part in points.chunks(points.len().div_ceil(columns)) {
        let finite = |(_, point): &(usize, &(f64, f64))| point.1.is_finite();
        let by_value = |a: &(usize, &(f64, f64)), b: &(usize, &(f64, f64))| a.1.1.total_cmp(&b.1.1);
        let seen = || part.iter().enumerate().filter(finite);
        let mut numbers: Vec<usize> =
            [seen().min_by(by_value), seen().max_by(by_value), seen().next(), seen().next_back()]
                .into_iter()
                .flatten()
                .map(|(number, _)| number)
                .collect();
        numbers.sort_unstable();
        numbers.dedup();
        if numbers.is_empty() {
            kept.extend(part.first());
        }
        kept.extend(numbers.into_iter().filter_map(|number| part.get(number)));
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUDGET: u64 = 256 << 20;

    fn axis(count: u64, chunk: u64, visible: u64) -> StoredAxis {
        StoredAxis { count, step: 1, chunk, visible }
    }

    #[test]
    fn a_small_map_is_read_whole_and_a_large_one_by_strides() {
        assert_eq!(choose(&[axis(180, 180, 400), axis(360, 360, 800)], 4 << 20, BUDGET), [1, 1]);
        assert_eq!(choose(&[axis(721, 721, 400), axis(1440, 1440, 800)], 4 << 20, BUDGET), [2, 2]);
        assert_eq!(choose(&[axis(21_600, 21_600, 400), axis(43_200, 43_200, 800)], 1, BUDGET), [54, 54]);
    }

    #[test]
    fn strides_are_coarser_where_each_value_costs_a_chunk() {
        // Each of 400 times needs another chunk of 2 MiB: 800 MiB. A quarter of them fits the budget.
        let times = [axis(100_000, 1, 400), axis(100, 100, 800)];
        let strides = choose(&times, 2 << 20, BUDGET);
        assert!(estimate(&times, &strides, 2 << 20) <= BUDGET, "{strides:?}");
        assert!(times[0].points(strides[0]) >= 100);
        // Where nothing helps, the picture has a quarter of the values that can be seen, and costs what it costs.
        assert_eq!(choose(&[axis(100_000, 1, 400)], 1 << 30, BUDGET), [1000]);
    }

    #[test]
    fn cheap_lines_are_read_whole() {
        let limits = (64 << 20, BUDGET);
        assert_eq!(of_line(axis(1_000_000, 100_000, 1000), 800_000, limits), 1);
        assert_eq!(of_line(axis(1_000_000, 1, 1000), 1 << 20, limits), 4000);
        assert!(of_line(axis(u64::MAX, 1 << 20, 1000), 1 << 20, limits) > 1 << 50);
    }

    #[test]
    fn an_envelope_keeps_peaks_and_gaps() {
        let mut points: Vec<(f64, f64)> = (0..100_000).map(|at| (f64::from(at), 0.0)).collect();
        points[77_777].1 = 5.0;
        points[11_111].1 = -5.0;
        points[40_000..60_000].iter_mut().for_each(|point| point.1 = f64::NAN);
        let kept = envelope(&points, 100);
        assert!(kept.len() <= 400);
        assert!(kept.contains(&(77_777.0, 5.0)) && kept.contains(&(11_111.0, -5.0)));
        assert!(kept.iter().any(|point| point.1.is_nan()));
        assert_eq!(envelope(&points[..10], 100), points[..10]);
    }
}

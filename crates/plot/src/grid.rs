//! The cells of a field: where each value is drawn.

/// The cells of a field of `rows` times `columns` values.
#[derive(Debug, Clone, PartialEq)]
pub enum Cells {
    /// Rows and columns: the edges between them, one more than there are cells, ascending or descending.
    Rectilinear {
        /// Edges of the columns.
        x: Vec<f64>,
        /// Edges of the rows.
        y: Vec<f64>,
    },
    /// Quadrilaterals around points. A point that is not finite has no cell.
    Curvilinear {
        /// Horizontal coordinates of the points, row-major.
        x: Vec<f64>,
        /// Vertical coordinates of the points, row-major.
        y: Vec<f64>,
        /// The number of points in a row.
        columns: usize,
        /// Whether `x` are degrees: a cell is never wider than half a turn.
        degrees: bool,
    },
}

/// The corners of a quadrilateral, in order.
pub(crate) type Corners = [(f64, f64); 4];

/// The edges around centres: in the middle between neighbours, and as far outside as inside.
pub(crate) fn edges(centres: &[f64]) -> Vec<f64> {
    let middle = |pair: &[f64]| pair[0] / 2.0 + pair[1] / 2.0;
    match centres {
        [] => Vec::new(),
        [one] => vec![one - 0.5, one + 0.5],
        [first, second, ..] => {
            let (before, last) = (centres[centres.len() - 2], centres[centres.len() - 1]);
            let mut edges = vec![first - (second - first) / 2.0];
            edges.extend(centres.windows(2).map(middle));
            edges.push(last + (last - before) / 2.0);
            edges
        }
    }
}

/// Whether numbers only rise, or only fall, so that they are the coordinates of an axis.
pub(crate) fn is_monotonic(numbers: &[f64]) -> bool {
    let rises = numbers.windows(2).all(|pair| pair[0] < pair[1]);
    let falls = numbers.windows(2).all(|pair| pair[0] > pair[1]);
    numbers.iter().all(|number| number.is_finite()) && (rises || falls)
}

/// Longitudes without the jump from 360 to 0, or from 180 to -180.
pub(crate) fn unwrapped(longitudes: &[f64]) -> Vec<f64> {
    let mut turn = 0.0;
    let mut previous: Option<f64> = None;
    let unwrap = |longitude: &f64| {
        if let Some(before) = previous {
            let step = longitude + turn - before;
            if step.abs() > 180.0 && step.is_finite() {
                turn -= (step / 360.0).round() * 360.0;
            }
        }
        let whole = longitude + turn;
        if whole.is_finite() {
            previous = Some(whole);
        }
        whole
    };
    longitudes.iter().map(unwrap).collect()
}

/// The index of the cell that contains a number; edges rise or fall.
pub(crate) fn cell_of(edges: &[f64], number: f64) -> Option<usize> {
    let (first, last) = (*edges.first()?, *edges.last()?);
    let is_rising = first <= last;
    if number.is_nan() || number < first.min(last) || number > first.max(last) {
        return None;
    }
    let after = edges.partition_point(|edge| if is_rising { *edge <= number } else { *edge >= number });
    Some(after.saturating_sub(1).min(edges.len().saturating_sub(2)))
}

/// Longitudes as the continuous range in which they need the least space: where it begins. The largest gap on the circle
/// is outside.
pub(crate) fn first_longitude(longitudes: &[f64]) -> f64 {
    let finite = longitudes.iter().filter(|longitude| longitude.is_finite());
    let mut seen: Vec<f64> = finite.map(|longitude| longitude.rem_euclid(360.0)).collect();
    seen.sort_unstable_by(f64::total_cmp);
    let (Some(first), Some(last)) = (seen.first(), seen.last()) else { return -180.0 };
    let (mut start, mut widest) = (*first, first + 360.0 - last);
    for pair in seen.windows(2) {
        if pair[1] - pair[0] > widest {
            (start, widest) = (pair[1], pair[1] - pair[0]);
        }
    }
    let uses_360 = longitudes.iter().any(|longitude| *longitude > 180.0);
    if widest < 15.0 {
        return if uses_360 { 0.0 } else { -180.0 };
    }
    if start > 180.0 && !uses_360 { start - 360.0 } else { start }
}

/// A longitude in the turn that begins at `start`. The westernmost point, which rounding may place just before `start`, stays
/// there and does not become the easternmost one.
pub(crate) fn in_turn(longitude: f64, start: f64) -> f64 {
    let turned = (longitude - start).rem_euclid(360.0);
    start + if turned > 360.0 - 1e-9 { 0.0 } else { turned }
}

/// Calls `draw` with the corners of each cell of a curvilinear grid, and the number of its value.
pub(crate) fn each_cell(
    x: &[f64],
    y: &[f64],
    columns: usize,
    degrees: bool,
    mut draw: impl FnMut(usize, Corners),
) {
    if columns == 0 {
        return;
    }
    let rows = y.len().min(x.len()) / columns;
    let grid = PointGrid { x, y, columns, rows, degrees };
    for row in 0..rows {
        for column in 0..columns {
            if let Some(corners) = grid.corners(row, column) {
                draw(row * columns + column, corners);
            }
        }
    }
}

struct PointGrid<'a> {
    x: &'a [f64],
    y: &'a [f64],
    columns: usize,
    rows: usize,
    degrees: bool,
}

impl PointGrid<'_> {
    /// A point near another one; outside the grid, and where points are missing, as far from `near` as the opposite
    /// neighbour is.
    fn point(&self, row: usize, column: usize) -> Option<(f64, f64)> {
        if row >= self.rows || column >= self.columns {
            return None;
        }
        let at = row * self.columns + column;
        let point = (*self.x.get(at)?, *self.y.get(at)?);
        (point.0.is_finite() && point.1.is_finite()).then_some(point)
    }

    /// Longitudes are within half a turn of the centre's.
    fn near(&self, centre: (f64, f64), row: Option<usize>, column: Option<usize>) -> Option<(f64, f64)> {
        let (x, y) = self.point(row?, column?)?;
        let turn = if self.degrees { ((centre.0 - x) / 360.0).round() * 360.0 } else { 0.0 };
        Some((x + turn, y))
    }

    fn corners(&self, row: usize, column: usize) -> Option<Corners> {
        let centre = self.point(row, column)?;
        let rows = [row.checked_sub(1), Some(row + 1)];
        let columns = [column.checked_sub(1), Some(column + 1)];
        let along = [
            self.step(centre, |at| (Some(row), columns[at])),
            self.step(centre, |at| (rows[at], Some(column))),
        ];
        let corner = |down: usize, right: usize| {
            let beside = self.near(centre, Some(row), columns[right]);
            let above = self.near(centre, rows[down], Some(column));
            let across = self.near(centre, rows[down], columns[right]);
            if let (Some(beside), Some(above), Some(across)) = (beside, above, across) {
                let sum =
                    |of: fn(&(f64, f64)) -> f64| (of(&centre) + of(&beside) + of(&above) + of(&across)) / 4.0;
                return (sum(|point| point.0), sum(|point| point.1));
            }
            let sign = |at: usize| if at == 0 { -0.5 } else { 0.5 };
            let shift = |of: fn(&(f64, f64)) -> f64| of(&along[0]) * sign(right) + of(&along[1]) * sign(down);
            (centre.0 + shift(|step| step.0), centre.1 + shift(|step| step.1))
        };
        let corners = [corner(0, 0), corner(0, 1), corner(1, 1), corner(1, 0)];
        let width = corners.iter().map(|corner| (corner.0 - centre.0).abs()).fold(0.0, f64::max);
        (!self.degrees || width < 90.0).then_some(corners)
    }

    /// The step to the next point along an axis, from the neighbours that there are.
    fn step(&self, centre: (f64, f64), at: impl Fn(usize) -> (Option<usize>, Option<usize>)) -> (f64, f64) {
        let of = |number: usize| {
            let (row, column) = at(number);
            self.near(centre, row, column)
        };
        match (of(0), of(1)) {
            (Some(before), Some(after)) => ((after.0 - before.0) / 2.0, (after.1 - before.1) / 2.0),
            (None, Some(after)) => (after.0 - centre.0, after.1 - centre.1),
            (Some(before), None) => (centre.0 - before.0, centre.1 - before.1),
            (None, None) => (0.0, 0.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_are_between_centres() {
        assert_eq!(edges(&[1.0, 2.0, 4.0]), [0.5, 1.5, 3.0, 5.0]);
        assert_eq!(edges(&[30.0, 10.0]), [40.0, 20.0, 0.0]);
        assert_eq!(edges(&[7.0]), [6.5, 7.5]);
        assert!(edges(&[]).is_empty());
    }

    #[test]
    fn longitudes_pass_the_date_line() {
        assert_eq!(unwrapped(&[350.0, 355.0, 0.0, 5.0]), [350.0, 355.0, 360.0, 365.0]);
        assert_eq!(unwrapped(&[170.0, -180.0, -170.0]), [170.0, 180.0, 190.0]);
        assert_eq!(unwrapped(&[10.0, 0.0, 350.0]), [10.0, 0.0, -10.0]);
    }

    #[test]
    fn cells_of_rising_and_falling_edges() {
        assert_eq!(cell_of(&[0.0, 1.0, 3.0], 2.0), Some(1));
        assert_eq!(cell_of(&[3.0, 1.0, 0.0], 2.0), Some(0));
        assert_eq!(cell_of(&[0.0, 1.0, 3.0], 3.0), Some(1));
        assert_eq!(cell_of(&[0.0, 1.0], 1.5), None);
        assert_eq!(cell_of(&[], 1.5), None);
    }

    #[test]
    fn a_swath_across_the_date_line_is_one_range() {
        assert_eq!(first_longitude(&[175.0, 179.0, -179.0, -170.0]), 175.0);
        assert_eq!(first_longitude(&[-10.0, 0.0, 10.0]), -10.0);
        assert_eq!(first_longitude(&[350.0, 0.0, 10.0]), 350.0);
        let globe: Vec<f64> = (0..36).map(|ten| f64::from(ten) * 10.0).collect();
        assert_eq!(first_longitude(&globe), 0.0);
        let globe: Vec<f64> = (-18..18).map(|ten| f64::from(ten) * 10.0).collect();
        assert_eq!(first_longitude(&globe), -180.0);
    }

    #[test]
    fn the_westernmost_longitude_stays_in_the_west() {
        for west in [-9.7, -20.2, -44.14, -73.4, 0.0, 350.0] {
            let longitudes = [west, west + 1.0, west + 2.0];
            let start = first_longitude(&longitudes);
            let placed = longitudes.map(|longitude| in_turn(longitude, start));
            let width = placed[2] - placed[0];
            assert!((width - 2.0).abs() < 1e-9, "{west}: {placed:?}");
        }
        assert!(in_turn(f64::NAN, 0.0).is_nan());
    }

    #[test]
    fn quadrilaterals_share_their_corners() {
        let x = [0.0, 1.0, 0.0, 1.0];
        let y = [0.0, 0.0, 1.0, 1.0];
        let mut all = Vec::new();
        each_cell(&x, &y, 2, false, |at, corners| all.push((at, corners)));
        assert_eq!(all[0], (0, [(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)]));
        assert_eq!(all[3].1[0], (0.5, 0.5));
    }

    #[test]
    fn cells_at_the_date_line_are_narrow_and_missing_points_have_none() {
        let mut cells = Vec::new();
        let x = [179.0, -179.0, f64::NAN, 179.0, -179.0, -177.0];
        let y = [0.0, 0.0, 0.0, 1.0, 1.0, 1.0];
        each_cell(&x, &y, 3, true, |at, corners| cells.push((at, corners)));
        assert_eq!(cells.len(), 5);
        for (_, corners) in cells {
            let width = corners.iter().map(|at| at.0).fold(f64::MIN, f64::max)
                - corners.iter().map(|at| at.0).fold(f64::MAX, f64::min);
            assert!(width < 4.0, "{corners:?}");
        }
    }
}

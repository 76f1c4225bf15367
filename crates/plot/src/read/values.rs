//! Reads the values of a part, piece by piece, so that long reads show progress and memory stays bounded.
use super::part::{Drawn, Part};
use ncirrus::{AxisSelection, Error, Result, Selection, Storage, Variable};

/// A piece has about this many bytes of decoded chunks.
const PIECE: u64 = 16 << 20;

/// The values of a part, row-major over its rows and columns; NaN for missing ones.
pub(super) fn read(part: &Part, count: &mut dyn FnMut(u64)) -> Result<Vec<f64>> {
    let mut values = of_variable(&part.variable, part, count)?;
    if let Some(other) = &part.other {
        let others = of_variable(other, part, count)?;
        values.iter_mut().zip(&others).for_each(|(value, other)| *value -= other);
    }
    Ok(match part.drawn {
        Drawn::Field { rows, columns } if rows > columns => {
            let shape = part.selection.shape();
            let width = shape.get(rows).and_then(|count| usize::try_from(*count).ok()).unwrap_or(1);
            transposed(&values, width)
        }
        _ => values,
    })
}

/// Checks that there is something to draw.
pub(super) fn check_any(values: &[f64], part: &Part) -> Result<()> {
    if values.iter().any(|value| value.is_finite()) {
        Ok(())
    } else {
        Err(Error::invalid("all selected values are missing").at_path(&part.path))
    }
}

fn of_variable(variable: &Variable, part: &Part, count: &mut dyn FnMut(u64)) -> Result<Vec<f64>> {
    let axes = part.drawn_axes();
    // The pieces follow each other in the order of storage.
    let first = axes.iter().copied().min().unwrap_or(0);
    let elements = part.selection.element_count().and_then(|count| usize::try_from(count).ok());
    let elements = elements.ok_or_else(|| Error::limit("too many values").at_path(&part.path))?;
    let mut values = Vec::with_capacity(elements);
    for piece in pieces(&part.selection, first, rows_of(variable, part, first)) {
        let read = variable.read_decoded(&piece)?.numbers();
        count(read.len() as u64);
        values.extend(read);
    }
    if values.len() == elements {
        Ok(values)
    } else {
        Err(Error::internal("a read returned another number of values"))
    }
}

/// How many values along the first axis are read at once: whole chunks, and about [`PIECE`] bytes of them.
fn rows_of(variable: &Variable, part: &Part, first: usize) -> u64 {
    let shape = match variable.storage() {
        Storage::Chunked(shape) => shape,
        _ => vec![1; part.dims.len()],
    };
    let step = match part.selection.axes().get(first) {
        Some(AxisSelection::Slice { stride, .. }) => *stride,
        _ => 1,
    };
    let size = 8;
    let across = |(axis, selected): (usize, &AxisSelection)| {
        if axis == first {
            return 1;
        }
        // Chunks are decoded whole.
        let chunk = shape.get(axis).copied().unwrap_or(1).max(1);
        let extent = selected.index(selected.count().saturating_sub(1)).unwrap_or(0);
        let chunks = (extent.saturating_sub(selected.index(0).unwrap_or(0)) / chunk).saturating_add(1);
        chunks.min(selected.count()).saturating_mul(chunk)
    };
    let slice = part.selection.axes().iter().enumerate().map(across).fold(size, u64::saturating_mul);
    let chunk = shape.get(first).copied().unwrap_or(1).max(1);
    let rows_of_chunk = (chunk / step.max(1)).max(1);
    let bytes_of_chunks = slice.saturating_mul(chunk).max(1);
    (PIECE / bytes_of_chunks).max(1).saturating_mul(rows_of_chunk)
}

/// The selection cut along an axis.
fn pieces(selection: &Selection, axis: usize, rows: u64) -> Vec<Selection> {
    let Some(whole) = selection.axes().get(axis) else { return vec![selection.clone()] };
    let (count, rows) = (whole.count(), rows.max(whole.count().div_ceil(256)).max(1));
    let starts = (0..count.div_ceil(rows)).map(|piece| piece * rows);
    let piece = |start: u64| {
        let len = rows.min(count - start);
        let mut axes = selection.axes().to_vec();
        if let Some(axis) = axes.get_mut(axis) {
            *axis = part_of(whole, start, len);
        }
        Selection::new(axes)
    };
    starts.map(piece).collect()
}

fn part_of(axis: &AxisSelection, from: u64, len: u64) -> AxisSelection {
    match axis {
        AxisSelection::Slice { start, stride, .. } => AxisSelection::Slice {
            start: start.saturating_add(from.saturating_mul(*stride)),
            count: len,
            stride: *stride,
        },
        AxisSelection::Indices(indices) => {
            let indices = indices.iter().copied();
            let skip = usize::try_from(from).unwrap_or(usize::MAX);
            AxisSelection::Indices(
                indices.skip(skip).take(usize::try_from(len).unwrap_or(usize::MAX)).collect(),
            )
        }
    }
}

/// Values of rows of that width, column by column.
pub(super) fn transposed(values: &[f64], width: usize) -> Vec<f64> {
    let width = width.max(1);
    let columns = (0..width).map(|column| values.iter().skip(column).step_by(width).copied());
    columns.flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_cover_the_selection() {
        let selection = Selection::strided(&[5, 1], &[7, 3], &[2, 4]);
        let pieces = pieces(&selection, 0, 3);
        let rows: Vec<Vec<u64>> = pieces
            .iter()
            .map(|piece| (0..piece.axes()[0].count()).filter_map(|at| piece.axes()[0].index(at)).collect())
            .collect();
        assert_eq!(rows, [vec![5, 7, 9], vec![11, 13, 15], vec![17]]);
        assert!(pieces.iter().all(|piece| piece.axes()[1] == selection.axes()[1]));
    }

    #[test]
    fn columns_become_rows() {
        assert_eq!(transposed(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 3), [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
    }
}

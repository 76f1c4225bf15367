//! What is selected: numpy's plain indices at once, others as Python resolved them.
use ncirrus::{AxisSelection, Selection};
use numpy::{PyArray1, PyArrayMethods};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyEllipsis, PyInt, PySlice, PyTuple};

/// A selection, and the shape of its result.
pub(crate) struct Selected {
    pub(crate) selection: Selection,
    pub(crate) shape: Vec<usize>,
    /// Whether an ellipsis was given: a single element is an array without axes then, else a scalar.
    pub(crate) has_dots: bool,
}

/// Integers, slices that go forwards and an ellipsis; nothing for indices of other kinds, which Python resolves.
pub(crate) fn plain(key: &Bound<'_, PyAny>, lens: &[u64]) -> PyResult<Option<Selected>> {
    let items: Vec<Bound<'_, PyAny>> = match key.cast::<PyTuple>() {
        Ok(tuple) => tuple.iter().collect(),
        Err(_) => vec![key.clone()],
    };
    let dots = items.iter().filter(|item| item.is_instance_of::<PyEllipsis>()).count();
    let given = items.len() - dots;
    // Which axis an index belongs to is known when none of them stands for several axes or for none.
    if dots > 1 || given > lens.len() || !items.iter().all(is_plain) {
        return Ok(None);
    }
    let mut axes = Vec::with_capacity(lens.len());
    let mut shape = Vec::with_capacity(lens.len());
    let all = |axes: &mut Vec<AxisSelection>, shape: &mut Vec<usize>, until: usize| -> PyResult<()> {
        while axes.len() < until {
            let len = lens[axes.len()];
            shape.push(usize::try_from(len)?);
            axes.push(AxisSelection::Slice { start: 0, count: len, stride: 1 });
        }
        Ok(())
    };
    for (at, item) in items.iter().enumerate() {
        if item.is_instance_of::<PyEllipsis>() {
            let after = items.len() - at - 1;
            all(&mut axes, &mut shape, lens.len() - after)?;
            continue;
        }
        let Some((axis, kept)) = plain_axis(item, axes.len(), lens[axes.len()])? else { return Ok(None) };
        if kept {
            shape.push(usize::try_from(axis.count())?);
        }
        axes.push(axis);
    }
    all(&mut axes, &mut shape, lens.len())?;
    Ok(Some(Selected { selection: Selection::new(axes), shape, has_dots: dots > 0 }))
}

fn is_plain(item: &Bound<'_, PyAny>) -> bool {
    item.is_instance_of::<PyEllipsis>()
        || item.is_instance_of::<PySlice>()
        || item.is_instance_of::<PyInt>() && !item.is_instance_of::<PyBool>()
}

/// What one index selects, and whether its axis stays.
fn plain_axis(item: &Bound<'_, PyAny>, at: usize, len: u64) -> PyResult<Option<(AxisSelection, bool)>> {
    if item.is_instance_of::<PyInt>() {
        let start = wrapped(item, at, len)?;
        return Ok(Some((AxisSelection::Slice { start, count: 1, stride: 1 }, false)));
    }
    let Ok(slice) = item.cast::<PySlice>() else { return Ok(None) };
    let Ok(len) = isize::try_from(len) else { return Ok(None) };
    let part = slice.indices(len)?;
    if part.step < 0 {
        return Ok(None);
    }
    let count = u64::try_from(part.slicelength)?;
    let start = if count == 0 { 0 } else { u64::try_from(part.start)? };
    let stride = if count <= 1 { 1 } else { u64::try_from(part.step)? };
    Ok(Some((AxisSelection::Slice { start, count, stride }, true)))
}

/// An integer as an index from the beginning.
fn wrapped(item: &Bound<'_, PyAny>, at: usize, len: u64) -> PyResult<u64> {
    let index = item.extract::<i64>().ok().map(i128::from);
    let from_start = index.map(|index| if index < 0 { index + i128::from(len) } else { index });
    let found = from_start.and_then(|index| u64::try_from(index).ok()).filter(|index| *index < len);
    found.ok_or_else(|| {
        PyIndexError::new_err(format!("index {item} is out of bounds for axis {at} with size {len}"))
    })
}

/// Axes as Python resolved them: a triple of start, count and stride, or indices.
pub(crate) fn resolved(axes: &Bound<'_, PyAny>) -> PyResult<Selection> {
    let axis = |axis: PyResult<Bound<'_, PyAny>>| {
        let axis = axis?;
        if let Ok(slice) = axis.cast::<PyTuple>() {
            let (start, count, stride) = slice.extract()?;
            return Ok(AxisSelection::Slice { start, count, stride });
        }
        indices(&axis).map(AxisSelection::Indices)
    };
    Ok(Selection::new(axes.try_iter()?.map(axis).collect::<PyResult<_>>()?))
}

/// An array of indices, none of which is negative.
pub(crate) fn indices(array: &Bound<'_, PyAny>) -> PyResult<Vec<u64>> {
    let Ok(array) = array.cast::<PyArray1<i64>>() else { return array.extract() };
    let borrowed = array.try_readonly()?;
    let index = |index: &i64| u64::try_from(*index).map_err(PyErr::from);
    borrowed.as_array().iter().map(index).collect()
}

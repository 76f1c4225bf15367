//! Single numbers that are in memory: they are copied without a selection, and while the interpreter is held.
use crate::elements::on_number;
use ncirrus::internals::DatasetInternals;
use ncirrus::{Atomic, Dataset, TypeRef, VarId, pace};
use numpy::ToPyArray;
use numpy::ndarray::aview0;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyInt, PyTuple};

/// The most axes of a variable whose elements are copied so.
const MAX_AXES: usize = 8;

/// `numpy.integer`.
static INTEGER: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// A variable of numbers. Its dataset is open for reading, so that its shape and type do not change.
#[derive(Debug)]
pub(crate) struct HeldNumbers {
    id: VarId,
    lens: Vec<u64>,
    number: Atomic,
}

impl HeldNumbers {
    /// What is known of a variable; nothing for one whose values are not kept in memory.
    pub(crate) fn of(dataset: &Dataset, id: VarId) -> Option<Self> {
        dataset.reader().ok()?;
        let model = dataset.snapshot();
        let TypeRef::Atomic(number) = model.variable(id)?.ty else { return None };
        let lens = model.shape(id);
        (number.is_numeric() && (1..=MAX_AXES).contains(&lens.len())).then_some(Self { id, lens, number })
    }

    /// The element at an index that has an integer for each axis, as an array without axes; nothing for other indices, for those out of
    /// bounds, and for an element that is not in memory.
    pub(crate) fn element<'py>(
        &self,
        dataset: &Dataset,
        key: &Bound<'py, PyAny>,
    ) -> Option<Bound<'py, PyAny>> {
        let (mut at, mut bytes) = ([0; MAX_AXES], [0; size_of::<u64>()]);
        let at = at.get_mut(..self.lens.len())?;
        let bytes = bytes.get_mut(..self.number.byte_len()?)?;
        self.find(key, at)?;
        if !pace::copy_held_element(dataset, self.id, at, bytes) {
            return None;
        }
        on_number!(self.number, T => array::<T>(key.py(), bytes))
    }

    /// The indices from the beginning of each axis.
    fn find(&self, key: &Bound<'_, PyAny>, at: &mut [usize]) -> Option<()> {
        let Ok(key) = key.cast::<PyTuple>() else {
            let (&[len], [at]) = (self.lens.as_slice(), at) else { return None };
            *at = index(key, len)?;
            return Some(());
        };
        if key.len() != at.len() {
            return None;
        }
        for ((item, len), at) in key.iter_borrowed().zip(&self.lens).zip(at) {
            *at = index(&item, *len)?;
        }
        Some(())
    }
}

/// An integer of Python or numpy as an index from the beginning. A boolean is not one.
fn index(item: &Bound<'_, PyAny>, len: u64) -> Option<usize> {
    if !item.is_exact_instance_of::<PyInt>() && !is_of_numpy(item) {
        return None;
    }
    let number: i64 = item.extract().ok()?;
    let from_start = if number < 0 { number.checked_add(i64::try_from(len).ok()?)? } else { number };
    u64::try_from(from_start).ok().filter(|index| *index < len).and_then(|index| usize::try_from(index).ok())
}

fn is_of_numpy(item: &Bound<'_, PyAny>) -> bool {
    let integer = INTEGER.import(item.py(), "numpy", "integer");
    integer.and_then(|integer| item.is_instance(integer)).unwrap_or(false)
}

/// An array without axes.
fn array<'py, T: numpy::Element + bytemuck::Pod>(py: Python<'py>, bytes: &[u8]) -> Option<Bound<'py, PyAny>> {
    let number: T = bytemuck::try_pod_read_unaligned(bytes).ok()?;
    Some(aview0(&number).to_pyarray(py).into_any())
}

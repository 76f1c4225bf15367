//! Missing values marked and packed numbers unpacked by the rules of netCDF4-python: one pass over the elements each, by
//! all cores where there are many. What is missing and how numbers are packed is found out in Python.
use crate::elements::on_number;
use crate::errors::wait;
use ncirrus::{Atomic, Error};
use numpy::{BorrowError, Element, PyArray1, PyArrayDyn, PyArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::num::NonZero;
use std::thread;

/// Elements that one core looks at a time: they stay in its cache.
const BLOCK: usize = 1 << 14;
/// Elements from which on other cores and threads of Python are worth while.
const MANY: usize = 1 << 16;

/// What stands for missing values of a type of numbers, found out once for all reads of a variable.
#[pyclass(frozen, module = "ncirrus._ncirrus")]
pub(crate) struct Marks(Box<dyn AnyMissing>);

/// Which sources had elements that are marked, and whether any element lies outside of the valid range.
type Found = (Vec<bool>, bool);

#[pymethods]
impl Marks {
    /// Marks for numbers of the type `ty`: the candidates of each source, and the limits of the valid range. All arrays
    /// have that type, in native order, and one dimension.
    #[new]
    #[expect(
        clippy::needless_pass_by_value,
        reason = "what is made out of Python's objects is made for the call"
    )]
    fn new(
        ty: &str,
        sources: Vec<Bound<'_, PyAny>>,
        limits: (Option<Bound<'_, PyAny>>, Option<Bound<'_, PyAny>>),
    ) -> PyResult<Self> {
        let (low, high) = limits;
        on_number!(number_type(ty)?, T => Ok(Self(Box::new(Missing::<T> {
            sources: sources.iter().map(elements).collect::<PyResult<_>>()?,
            low: low.as_ref().map(single).transpose()?,
            high: high.as_ref().map(single).transpose()?,
        }))))
    }

    /// Marks the elements of an array of the type, in C order, that equal one of the candidates of any source, or lie
    /// outside the valid range. The mask is as long, and holds what is marked already.
    fn mark(
        &self,
        py: Python<'_>,
        stored: &Bound<'_, PyAny>,
        mask: &Bound<'_, PyArrayDyn<bool>>,
    ) -> PyResult<Found> {
        self.0.mark(py, stored, mask)
    }
}

impl Marks {
    /// A new mask for an array in C order, and what was found; nothing where nothing is missing.
    pub(crate) fn mask_of<'py>(
        &self,
        py: Python<'py>,
        (stored, shape): (&Bound<'py, PyAny>, &[usize]),
    ) -> PyResult<Option<Marked<'py>>> {
        let len: usize = shape.iter().product();
        // A pass over few elements is cheaper than a mask that is not needed.
        if len < MANY && !self.0.finds(stored)? {
            return Ok(None);
        }
        let mask = PyArrayDyn::<bool>::zeros(py, shape, false);
        let (found, is_any_outside) = self.0.mark(py, stored, &mask)?;
        let is_any = is_any_outside || found.contains(&true);
        Ok(is_any.then_some((mask, found, is_any_outside)))
    }
}

/// A mask, which sources had elements that it marks, and whether any lies outside of the valid range.
pub(crate) type Marked<'py> = (Bound<'py, PyArrayDyn<bool>>, Vec<bool>, bool);

/// What stands for missing values, of whichever type.
trait AnyMissing: Send + Sync {
    fn mark(
        &self,
        py: Python<'_>,
        stored: &Bound<'_, PyAny>,
        mask: &Bound<'_, PyArrayDyn<bool>>,
    ) -> PyResult<Found>;

    /// Whether any element is missing.
    fn finds(&self, stored: &Bound<'_, PyAny>) -> PyResult<bool>;
}

impl<T: Number> AnyMissing for Missing<T> {
    fn mark(
        &self,
        py: Python<'_>,
        stored: &Bound<'_, PyAny>,
        mask: &Bound<'_, PyArrayDyn<bool>>,
    ) -> PyResult<Found> {
        let stored = stored.cast::<PyArrayDyn<T>>()?.try_readonly().map_err(|error| busy(&error))?;
        let mut mask = mask.try_readwrite().map_err(|error| busy(&error))?;
        let (stored, mask) = (stored.as_slice()?, mask.as_slice_mut()?);
        same_len(stored.len(), mask.len())?;
        if stored.len() < MANY {
            return Ok(self.mark(stored, mask));
        }
        wait(py, || Ok(self.mark_by_all_cores(stored, mask)))
    }

    fn finds(&self, stored: &Bound<'_, PyAny>) -> PyResult<bool> {
        let stored = stored.cast::<PyArrayDyn<T>>()?.try_readonly().map_err(|error| busy(&error))?;
        let stored = stored.as_slice()?;
        let is_outside = |value: &T| {
            self.low.is_some_and(|low| *value < low) || self.high.is_some_and(|high| *value > high)
        };
        let is_any_outside = stored.iter().fold(false, |any, value| any | is_outside(value));
        Ok(is_any_outside || self.sources.iter().flatten().any(|candidate| candidate.is_in(stored)))
    }
}

/// Multiplies by the scale and adds the offset, rounding after each as numpy does; elements that are masked keep their
/// value. `out` has the type `to`: `float` or `double`.
#[pyfunction]
pub(crate) fn unpack(
    py: Python<'_>,
    stored: (Bound<'_, PyAny>, String),
    mask: Option<Bound<'_, PyArray1<bool>>>,
    packing: (Option<f64>, Option<f64>),
    out: (Bound<'_, PyAny>, String),
) -> PyResult<()> {
    let ((stored, ty), (out, to)) = (stored, out);
    let mask = mask.map(|mask| mask.try_readonly().map_err(|error| busy(&error))).transpose()?;
    let mask = mask.as_ref().map(|mask| mask.as_slice()).transpose()?;
    on_number!(number_type(&ty)?, T => {
        let stored = stored.cast::<PyArray1<T>>()?.try_readonly().map_err(|error| busy(&error))?;
        let stored = stored.as_slice()?;
        if let Some(mask) = mask {
            same_len(stored.len(), mask.len())?;
        }
        match number_type(&to)? {
            Atomic::Float => unpack_into::<T, f32>(py, stored, mask, packing, &out),
            Atomic::Double => unpack_into::<T, f64>(py, stored, mask, packing, &out),
            _ => Err(PyValueError::new_err(format!("numbers are not unpacked to {to}"))),
        }
    })
}

/// What stands for missing values.
struct Missing<T> {
    sources: Vec<Vec<T>>,
    low: Option<T>,
    high: Option<T>,
}

impl<T: Number> Missing<T> {
    fn mark(&self, stored: &[T], mask: &mut [bool]) -> Found {
        let mut found = vec![false; self.sources.len()];
        let mut is_any_outside = false;
        for (block, mask) in stored.chunks(BLOCK).zip(mask.chunks_mut(BLOCK)) {
            for (candidates, found) in self.sources.iter().zip(&mut found) {
                for candidate in candidates {
                    *found |= if candidate.is_nan() {
                        mark_where(block, mask, T::is_nan)
                    } else {
                        mark_where(block, mask, |value| value == *candidate)
                    };
                }
            }
            if let Some(low) = self.low {
                is_any_outside |= mark_where(block, mask, |value| value < low);
            }
            if let Some(high) = self.high {
                is_any_outside |= mark_where(block, mask, |value| value > high);
            }
        }
        (found, is_any_outside)
    }

    fn mark_by_all_cores(&self, stored: &[T], mask: &mut [bool]) -> Found {
        let len = part_len(stored.len());
        let parts: Vec<_> = thread::scope(|scope| {
            let threads: Vec<_> = stored
                .chunks(len)
                .zip(mask.chunks_mut(len))
                .map(|(stored, mask)| scope.spawn(|| self.mark(stored, mask)))
                .collect();
            threads.into_iter().map(joined).collect()
        });
        let mut all = (vec![false; self.sources.len()], false);
        for (found, is_any_outside) in parts {
            all.0.iter_mut().zip(found).for_each(|(all, found)| *all |= found);
            all.1 |= is_any_outside;
        }
        all
    }
}

/// Marks the elements of a block for which something holds. Whether it holds for any: blocks without one write nothing.
fn mark_where<T: Number>(block: &[T], mask: &mut [bool], holds: impl Fn(T) -> bool) -> bool {
    let is_any = block.iter().fold(false, |any, value| any | holds(*value));
    if is_any {
        block.iter().zip(mask).for_each(|(value, mark)| *mark |= holds(*value));
    }
    is_any
}

fn unpack_into<T: Number, F: Float<T>>(
    py: Python<'_>,
    stored: &[T],
    mask: Option<&[bool]>,
    (scale, offset): (Option<f64>, Option<f64>),
    out: &Bound<'_, PyAny>,
) -> PyResult<()> {
    let mut out = out.cast::<PyArray1<F>>()?.try_readwrite().map_err(|error| busy(&error))?;
    let out = out.as_slice_mut()?;
    same_len(stored.len(), out.len())?;
    let (scale, offset) = (scale.map(F::of_double), offset.map(F::of_double));
    let unpack = |stored: &[T], mask: Option<&[bool]>, out: &mut [F]| {
        for (value, out) in stored.iter().zip(out.iter_mut()) {
            let mut number = F::of(*value);
            if let Some(scale) = scale {
                number = number * scale;
            }
            if let Some(offset) = offset {
                number = number + offset;
            }
            *out = number;
        }
        // Masked elements keep the stored value, as netCDF4-python has it; the loop above has no branch, so that it is vectorised.
        let Some(mask) = mask else { return };
        for ((value, out), _) in stored.iter().zip(out).zip(mask).filter(|(_, is_masked)| **is_masked) {
            *out = F::of(*value);
        }
    };
    if stored.len() < MANY {
        unpack(stored, mask, out);
        return Ok(());
    }
    let len = part_len(stored.len());
    wait(py, || {
        thread::scope(|scope| {
            let masks = (0..).step_by(len).map(|start| mask.and_then(|mask| mask.get(start..)));
            let parts = stored.chunks(len).zip(masks).zip(out.chunks_mut(len));
            let threads: Vec<_> = parts
                .map(|((stored, mask), out)| {
                    scope.spawn(move || {
                        // Both loops over a block find it in the processor's cache.
                        let mut masks = mask.map(|mask| mask.chunks(BLOCK));
                        for (stored, out) in stored.chunks(BLOCK).zip(out.chunks_mut(BLOCK)) {
                            unpack(stored, masks.as_mut().and_then(Iterator::next), out);
                        }
                    })
                })
                .collect();
            threads.into_iter().for_each(joined);
        });
        Ok(())
    })
}

/// Elements for each core.
fn part_len(len: usize) -> usize {
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    len.div_ceil(cores).next_multiple_of(BLOCK)
}

/// What a thread made; its panic goes on here, where it becomes an error.
fn joined<T>(thread: thread::ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// A number of one of netCDF's types.
trait Number: Element + Copy + PartialOrd + Send + Sync {
    fn is_nan(self) -> bool;

    /// Whether an element is this number; of a NaN, whether one is a NaN.
    fn is_in(self, block: &[Self]) -> bool {
        let holds = |value: &Self| if self.is_nan() { value.is_nan() } else { *value == self };
        block.iter().fold(false, |any, value| any | holds(value))
    }
}

/// A type that packed numbers are unpacked to: numbers become the nearest float, as in numpy.
trait Float<T>: Number + std::ops::Mul<Output = Self> + std::ops::Add<Output = Self> {
    fn of(value: T) -> Self;

    fn of_double(value: f64) -> Self;
}

#[expect(clippy::cast_possible_truncation, reason = "the nearest float is meant")]
fn narrowed(value: f64) -> f32 {
    value as f32
}

macro_rules! numbers {
    ($($T:ty: $is_nan:expr, $to_float:expr;)*) => {$(
        impl Number for $T {
            fn is_nan(self) -> bool {
                $is_nan(self)
            }
        }

        impl Float<$T> for f32 {
            fn of(value: $T) -> Self {
                $to_float(value)
            }

            fn of_double(value: f64) -> Self {
                narrowed(value)
            }
        }

        impl Float<$T> for f64 {
            fn of(value: $T) -> Self {
                value as Self
            }

            fn of_double(value: f64) -> Self {
                value
            }
        }
    )*};
}
numbers! {
    i8: |_| false, |value| value as f32;
    i16: |_| false, |value| value as f32;
    i32: |_| false, |value| value as f32;
    i64: |_| false, |value| value as f32;
    u8: |_| false, |value| value as f32;
    u16: |_| false, |value| value as f32;
    u32: |_| false, |value| value as f32;
    u64: |_| false, |value| value as f32;
    f32: f32::is_nan, |value| value;
    f64: f64::is_nan, narrowed;
}

fn number_type(name: &str) -> PyResult<Atomic> {
    Atomic::from_name(name).ok_or_else(|| PyValueError::new_err(format!("{name:?} is no type of numbers")))
}

fn elements<T: Number>(array: &Bound<'_, PyAny>) -> PyResult<Vec<T>> {
    Ok(array.cast::<PyArray1<T>>()?.to_vec()?)
}

fn single<T: Number>(array: &Bound<'_, PyAny>) -> PyResult<T> {
    elements(array)?.first().copied().ok_or_else(|| PyValueError::new_err("a limit without a value"))
}

fn same_len(stored: usize, other: usize) -> PyResult<()> {
    if stored == other {
        return Ok(());
    }
    Err(PyValueError::new_err(
        Error::internal(format!("arrays of {stored} and {other} elements")).to_string(),
    ))
}

fn busy(error: &BorrowError) -> PyErr {
    PyValueError::new_err(format!("the array is in use: {error}"))
}

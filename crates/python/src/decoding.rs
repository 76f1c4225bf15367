//! Values as the attributes of their variable mean them (CF).
use crate::errors::wait;
use ncirrus::cf::{Calendar, CfDecoding, CivilDate, DecodedValues, TimeUnits};
use ncirrus::{Atomic, Error, Values};
use numpy::{BorrowError, Element, PyArray1, PyArrayMethods, PyReadonlyArray1, PyReadwriteArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// How the stored values of a variable are decoded.
#[pyclass(frozen, module = "ncirrus._ncirrus")]
pub(crate) struct Decoding(CfDecoding);

/// Year, month, day, hour, minute, second, microsecond.
type Date = (i64, u32, u32, u32, u32, u32, u32);

/// Elements that are decoded at a time: what they take besides the arrays is bounded by it.
const BLOCK: usize = 1 << 16;
/// The first day of the standard calendar that is one of the Gregorian calendar.
const REFORM: (i64, u32, u32) = (1582, 10, 15);
/// numpy's value for an invalid time.
const NOT_A_TIME: i64 = i64::MIN;

#[pymethods]
impl Decoding {
    /// The type of decoded values by its name in CDL.
    fn decoded_type(&self) -> &'static str {
        self.0.decoded_type().name()
    }

    /// The calendar, where the numbers are times since a date and there are dates.
    fn calendar(&self) -> Option<&'static str> {
        let calendar = self.0.time()?.calendar();
        (calendar != Calendar::None).then(|| calendar.name())
    }

    /// Decodes the bytes of stored values into those of decoded ones, and marks which are missing. Whether any is.
    fn decode(
        &self,
        py: Python<'_>,
        stored: &Bound<'_, PyArray1<u8>>,
        out: &Bound<'_, PyArray1<u8>>,
        missing: &Bound<'_, PyArray1<bool>>,
    ) -> PyResult<bool> {
        let stored = readable(stored)?;
        let (mut out, mut missing) = (writable(out)?, writable(missing)?);
        let (stored, out, missing) = (stored.as_slice()?, out.as_slice_mut()?, missing.as_slice_mut()?);
        let (from, to) = (len_of(self.0.stored_type()), len_of(self.0.decoded_type()));
        wait(py, || {
            let blocks = stored.chunks(BLOCK * from).zip(out.chunks_mut(BLOCK * to));
            let mut any = false;
            for ((stored, out), missing) in blocks.zip(missing.chunks_mut(BLOCK)) {
                let decoded = self.0.decode(values(self.0.stored_type(), stored)?);
                let decoded = decoded.map_err(|error| Error::invalid(error.message()))?;
                let bytes = decoded.values.as_bytes().filter(|bytes| bytes.len() == out.len());
                out.copy_from_slice(bytes.ok_or_else(wrong_len)?);
                if missing.len() != decoded.missing.len() {
                    return Err(wrong_len());
                }
                missing.copy_from_slice(&decoded.missing);
                any |= missing.contains(&true);
            }
            Ok(any)
        })
    }

    /// The times (UTC) of the bytes of decoded numbers, in microseconds since 1970 of the Gregorian calendar. Those that
    /// are not a date are marked as missing, too. Whether all others are dates of that calendar.
    fn instants(
        &self,
        py: Python<'_>,
        decoded: &Bound<'_, PyArray1<u8>>,
        missing: &Bound<'_, PyArray1<bool>>,
        out: &Bound<'_, PyArray1<i64>>,
    ) -> PyResult<bool> {
        let first = match self.0.time().map(TimeUnits::calendar) {
            Some(Calendar::Standard) => REFORM,
            _ => (i64::MIN, 1, 1),
        };
        let decoded = readable(decoded)?;
        let (mut out, mut missing) = (writable(out)?, writable(missing)?);
        let (decoded, out, missing) = (decoded.as_slice()?, out.as_slice_mut()?, missing.as_slice_mut()?);
        wait(py, || {
            let mut all = true;
            self.each_date((decoded, missing), |at, date| {
                let is_of_numpy = |date: &CivilDate| (date.year, date.month, date.day) >= first;
                let instant = date.map(|date| is_of_numpy(&date).then(|| microseconds(&date)).flatten());
                all &= instant != Some(None);
                if let Some(slot) = out.get_mut(at) {
                    *slot = instant.flatten().unwrap_or(NOT_A_TIME);
                }
            })?;
            Ok(all)
        })
    }

    /// The dates (UTC) of the bytes of decoded numbers in their own calendar; other numbers are marked as missing.
    fn dates(
        &self,
        py: Python<'_>,
        decoded: &Bound<'_, PyArray1<u8>>,
        missing: &Bound<'_, PyArray1<bool>>,
    ) -> PyResult<Vec<Option<Date>>> {
        let decoded = readable(decoded)?;
        let mut missing = writable(missing)?;
        let (decoded, missing) = (decoded.as_slice()?, missing.as_slice_mut()?);
        wait(py, || {
            let mut dates = Vec::with_capacity(missing.len());
            self.each_date((decoded, missing), |_, date| dates.push(date.map(|date| rounded(&date))))?;
            Ok(dates)
        })
    }
}

impl Decoding {
    /// How the values of a variable are decoded.
    pub(crate) fn of(py: Python<'_>, variable: &ncirrus::Variable) -> PyResult<Self> {
        wait(py, || variable.decoding()).map(Self)
    }

    /// Calls `each` with every date in turn, which is nothing for what is missing.
    fn each_date(
        &self,
        (decoded, missing): (&[u8], &mut [bool]),
        mut each: impl FnMut(usize, Option<CivilDate>),
    ) -> ncirrus::Result<()> {
        let ty = self.0.decoded_type();
        let mut at = 0;
        for (numbers, missing) in decoded.chunks(BLOCK * len_of(ty)).zip(missing.chunks_mut(BLOCK)) {
            let block = DecodedValues { values: values(ty, numbers)?, missing: missing.to_vec() };
            for (date, missing) in self.0.dates(&block).into_iter().zip(missing) {
                *missing |= date.is_none();
                each(at, date);
                at += 1;
            }
        }
        Ok(())
    }
}

/// A date with its time to the microsecond, of whose rounding nothing is carried: 999,999.5 microseconds and more are
/// 999,999.
fn rounded(date: &CivilDate) -> Date {
    let micros = ((date.nanosecond + 500) / 1000).min(999_999);
    (date.year, date.month, date.day, date.hour, date.minute, date.second, micros)
}

/// Microseconds since 1970 of a date of the Gregorian calendar.
fn microseconds(date: &CivilDate) -> Option<i64> {
    let of_epoch = Calendar::ProlepticGregorian.day_number((1970, 1, 1))?;
    let day = Calendar::ProlepticGregorian.day_number((date.year, date.month, date.day))?;
    let seconds = i64::from(date.hour) * 3600 + i64::from(date.minute) * 60 + i64::from(date.second);
    let days = day.checked_sub(of_epoch)?.checked_mul(86_400_000_000)?;
    days.checked_add(seconds * 1_000_000)?.checked_add(i64::from((date.nanosecond + 500) / 1000))
}

fn values(ty: Atomic, bytes: &[u8]) -> ncirrus::Result<Values> {
    Values::from_native_bytes(ty, bytes).ok_or_else(wrong_len)
}

/// Bytes of a value; text of any length is not decoded.
fn len_of(ty: Atomic) -> usize {
    ty.byte_len().unwrap_or(1)
}

fn wrong_len() -> Error {
    Error::internal("arrays of different lengths are decoded")
}

fn readable<'py, T: Element>(array: &Bound<'py, PyArray1<T>>) -> PyResult<PyReadonlyArray1<'py, T>> {
    array.try_readonly().map_err(|error| busy(&error))
}

fn writable<'py, T: Element>(array: &Bound<'py, PyArray1<T>>) -> PyResult<PyReadwriteArray1<'py, T>> {
    array.try_readwrite().map_err(|error| busy(&error))
}

fn busy(error: &BorrowError) -> PyErr {
    PyValueError::new_err(format!("the array is in use: {error}"))
}

//! Units of coordinates of different files, brought to one.
use crate::{Attribute, Attributes, Error, Result};

/// How numbers in one unit become numbers in another.
#[derive(Debug, Clone)]
pub(super) struct Conversion;

/// How numbers with these attributes become numbers with those; `None` when they are the same. What has no units is in
/// the others'.
///
/// # Errors
/// `Invalid` when the units or calendars do not fit each other.
pub(super) fn conversion(from: &Attributes, to: &Attributes) -> Result<Option<Conversion>> {
    let text = |attributes: &Attributes, name: &str| attributes.find(name).and_then(Attribute::as_text);
    let (Some(from_units), Some(to_units)) = (text(from, "units"), text(to, "units")) else {
        return Ok(None);
    };
    let (from_calendar, to_calendar) = (text(from, "calendar"), text(to, "calendar"));
    if (&from_units, &from_calendar) == (&to_units, &to_calendar) {
        return Ok(None);
    }
    Err(Error::invalid(format!("units {from_units:?} do not become {to_units:?}")))
}

impl Conversion {
    /// The numbers in the other unit.
    #[expect(clippy::unnecessary_wraps, reason = "to come")]
    pub(super) fn apply(&self, numbers: &[f64]) -> Result<Vec<f64>> {
        Ok(numbers.to_vec())
    }
}

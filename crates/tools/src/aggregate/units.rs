//! Units of coordinates of different files, brought to one.
use ncirrus::{Attribute, Attributes, Error, Result};
use ncirrus_units::{self as units, UnitConversion};

/// How numbers with these attributes become numbers with those; `None` when they are the same. What has no units is in
/// the others'.
///
/// # Errors
/// `Invalid` when the units or calendars do not fit each other.
pub(super) fn conversion(from: &Attributes, to: &Attributes) -> Result<Option<UnitConversion>> {
    let text = |attributes: &Attributes, name: &str| attributes.find(name).and_then(Attribute::as_text);
    let (Some(from_units), Some(to_units)) = (text(from, "units"), text(to, "units")) else {
        return Ok(None);
    };
    let (from_calendar, to_calendar) = (text(from, "calendar"), text(to, "calendar"));
    if (&from_units, &from_calendar) == (&to_units, &to_calendar) {
        return Ok(None);
    }
    let (from, to) = ((&*from_units, from_calendar.as_deref()), (&*to_units, to_calendar.as_deref()));
    units::conversion(from, to).map_err(|error| {
        let shown = |(units, calendar): (&str, Option<&str>)| match calendar {
            Some(calendar) => format!("{units:?} of calendar {calendar}"),
            None => format!("{units:?}"),
        };
        Error::invalid(format!("units {} do not become {}: {}", shown(from), shown(to), error.message()))
    })
}

//! Conversion of coordinates of different files to common units.
use ncirrus::{Attribute, Attributes, Error, Result};
use ncirrus_units::NumberConversion;

/// The conversion of numbers with these attributes to numbers with those; `None` if they are the same. Without units,
/// those of the other are assumed.
///
/// # Errors
/// `Invalid` if the units or calendars are not convertible.
pub(super) fn conversion(from: &Attributes, to: &Attributes) -> Result<Option<NumberConversion>> {
    let text = |attributes: &Attributes, name: &str| attributes.find(name).and_then(Attribute::as_text);
    let (Some(from_units), Some(to_units)) = (text(from, "units"), text(to, "units")) else {
        return Ok(None);
    };
    let (from_calendar, to_calendar) = (text(from, "calendar"), text(to, "calendar"));
    if (&from_units, &from_calendar) == (&to_units, &to_calendar) {
        return Ok(None);
    }
    let (from, to) = ((&*from_units, from_calendar.as_deref()), (&*to_units, to_calendar.as_deref()));
    NumberConversion::between(from, to).map_err(|error| {
        let shown = |(units, calendar): (&str, Option<&str>)| match calendar {
            Some(calendar) => format!("{units:?} of calendar {calendar}"),
            None => format!("{units:?}"),
        };
        Error::invalid(format!(
            "units {} cannot be converted to {}: {}",
            shown(from),
            shown(to),
            error.message()
        ))
    })
}

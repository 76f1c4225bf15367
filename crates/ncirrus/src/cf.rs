//! Values as the CF conventions define them: packed numbers unpacked, missing ones marked, times as dates of their
//! calendar.
//!
//! [`Variable::read`] returns numbers as they are stored. [`Variable::read_decoded`] returns what they mean according
//! to the attributes, and [`Variable::read_dates`] the dates of times:
//!
//! ```
//! use ncirrus::{Atomic, Attribute, Dataset, DimensionLen, OpenOptions, Selection, Session, Values};
//!
//! let (url, session) = ("memory://cf/a.nc", Session::new()?);
//! let dataset = Dataset::create_with(url, &Default::default(), &session)?;
//! dataset.edit(|model| {
//!     let time = model.add_dimension(model.root(), "time", DimensionLen::Fixed(2))?;
//!     model.add_variable(model.root(), "time", Atomic::Int.into(), &[time])?;
//!     model.add_variable(model.root(), "t", Atomic::Short.into(), &[time])?;
//!     Ok(())
//! })?;
//! let (time, t) = (dataset.variable("time")?, dataset.variable("t")?);
//! time.set_attribute(Attribute::text("units", "days since 2000-02-28"))?;
//! time.set_attribute(Attribute::text("calendar", "noleap"))?;
//! t.set_attribute(Attribute::atomic("scale_factor", Values::Float(vec![0.5])))?;
//! t.set_attribute(Attribute::atomic("missing_value", Values::Short(vec![-1])))?;
//! time.write_all(&[0, 1])?;
//! t.write_all(&[560i16, -1])?;
//! dataset.close()?;
//!
//! let dataset = Dataset::open_with(url, &OpenOptions::default(), &session)?;
//! let (time, t) = (dataset.variable("time")?, dataset.variable("t")?);
//! let decoded = t.read_decoded(&Selection::all(&t.shape()))?;
//! assert_eq!((decoded.values.number(0), decoded.missing), (Some(280.0), vec![false, true]));
//! let dates = time.read_dates(&Selection::all(&time.shape()))?;
//! assert_eq!(dates[1].map(|date| date.to_string()).as_deref(), Some("2000-03-01"));
//! # Ok::<(), ncirrus::Error>(())
//! ```
pub use ncirrus_units::cf::{CfDecoding, DecodedValues, LinearPacking, MissingMask};
pub use ncirrus_units::ncdump;
pub use ncirrus_units::{
    Calendar, CivilDate, NumberConversion, TimeUnits, Unit, UnitConversion, UnitError, UnitErrorKind,
    conversion,
};

use crate::{Error, ErrorKind, Result, Selection, Variable};

impl Variable {
    /// How the stored values are decoded by the variable's attributes: mask, packing, units of time.
    ///
    /// # Errors
    /// `Invalid` for a variable of a type other than numbers, text and enums, and for attributes that are not valid for
    /// it; if the attributes cannot be read.
    pub fn decoding(&self) -> Result<CfDecoding> {
        let ty = self.ty().and_then(|ty| self.dataset().snapshot().base_atomic(ty));
        let ty = ty.ok_or_else(|| {
            Error::invalid("only numbers and text are decoded by attributes").at_path(self.path())
        })?;
        CfDecoding::new(ty, &self.attributes()?).map_err(|error| of_units(&error).at_path(self.path()))
    }

    /// Values of a selection decoded by their attributes, row-major: unpacked, with a mark for each that is missing.
    ///
    /// # Errors
    /// As [`values`](Self::values) and [`decoding`](Self::decoding).
    pub fn read_decoded(&self, selection: &Selection) -> Result<DecodedValues> {
        let decoding = self.decoding()?;
        decoding.decode(self.values(selection)?).map_err(|error| of_units(&error).at_path(self.path()))
    }

    /// The dates (UTC) of a selection of times, row-major, in the variable's calendar; `None` for missing values, and
    /// for those that are not a date in it. Only the variable's own units are used: read bounds with the decoding of
    /// their variable.
    ///
    /// # Errors
    /// As [`read_decoded`](Self::read_decoded); `Invalid` if the units are not a time since a date, `Unsupported` for
    /// an unknown calendar.
    pub fn read_dates(&self, selection: &Selection) -> Result<Vec<Option<CivilDate>>> {
        let decoding = self.decoding()?;
        if decoding.time().is_none() {
            return Err(self.no_time().at_path(self.path()));
        }
        let decoded = decoding.decode(self.values(selection)?);
        Ok(decoding.dates(&decoded.map_err(|error| of_units(&error).at_path(self.path()))?))
    }

    /// Why the variable has no dates.
    fn no_time(&self) -> Error {
        let text = |name| self.attribute(name).ok().flatten().and_then(|attribute| attribute.as_text());
        let units = text("units").unwrap_or_default();
        match TimeUnits::parse(&units, text("calendar").as_deref()) {
            Err(error) => of_units(&error),
            Ok(_) => Error::invalid(format!("the units {units:?} are no time since a date")),
        }
    }
}

/// Converts an error of units, dates or values to one of this library.
fn of_units(error: &UnitError) -> Error {
    let kind = match error.kind() {
        UnitErrorKind::Malformed => ErrorKind::Malformed,
        UnitErrorKind::Unsupported => ErrorKind::Unsupported,
        UnitErrorKind::Invalid => ErrorKind::Invalid,
        UnitErrorKind::Limit => ErrorKind::Limit,
    };
    Error::new(kind, error.message())
}

//! Values as defined by CF and the netCDF User Guide: decoding stored numbers by the attributes of their variable.
//!
//! A [`CfDecoding`] is created from a variable's type and attributes, once; then it decodes stored values of any
//! origin. The order is that of the conventions: stored numbers are interpreted as unsigned if `_Unsigned` says so;
//! those that `_FillValue`, `missing_value` and the valid range exclude are missing; the rest are unpacked by
//! `scale_factor` and `add_offset`. Numbers whose units are a time since a date have dates in the variable's calendar.
//!
//! ```
//! use ncirrus_model::{Atomic, Attribute, Attributes, Values};
//! use ncirrus_units::cf::CfDecoding;
//!
//! let mut attributes = Attributes::new();
//! attributes.put(Attribute::atomic("scale_factor", Values::Double(vec![0.5])));
//! attributes.put(Attribute::atomic("_FillValue", Values::Short(vec![-1])));
//! let decoding = CfDecoding::new(Atomic::Short, &attributes)?;
//! let decoded = decoding.decode(Values::Short(vec![3, -1, 4]));
//! assert_eq!(decoded.missing, [false, true, false]);
//! assert_eq!((decoded.values.number(0), decoded.values.number(2)), (Some(1.5), Some(2.0)));
//! # Ok::<(), ncirrus_units::UnitError>(())
//! ```
mod missing;
mod packing;
#[cfg(test)]
mod tests;

pub use missing::MissingMask;
pub use packing::{LinearPacking, doubles, is_unsigned, taken_for, text, unsigned};

use crate::nearest::cast_to_nearest;
use crate::{CivilDate, Result, TimeUnits, UnitError};
use ncirrus_model::{Atomic, Attributes, Values};

/// How the stored values of a variable are decoded: its mask, packing and time units.
#[derive(Debug, Clone, PartialEq)]
pub struct CfDecoding {
    /// The type as which stored values are interpreted.
    taken: Atomic,
    stored: Atomic,
    mask: MissingMask,
    packing: Option<(LinearPacking, Atomic)>,
    time: Option<TimeUnits>,
}

/// Decoded values, in the order of the stored ones.
#[derive(Debug, Clone, PartialEq)]
pub struct DecodedValues {
    /// Numbers of [`CfDecoding::decoded_type`]. A missing one is NaN if floating-point, and the stored value if an
    /// integer.
    pub values: Values,
    /// Which of them are missing: one mark per value.
    pub missing: Vec<bool>,
}

impl CfDecoding {
    /// Reads the attributes of a variable of the given type. Units that cannot be parsed, and times in unknown
    /// calendars, leave the numbers without dates: [`TimeUnits::parse`] reports why.
    ///
    /// # Errors
    /// `Invalid` if the attributes' values are not of types that can be compared with the variable's.
    pub fn new(stored: Atomic, attributes: &Attributes) -> Result<Self> {
        let taken = if is_unsigned(attributes) { unsigned(stored) } else { stored };
        let mask = MissingMask::new((stored, taken), attributes)?;
        let packing = LinearPacking::of(attributes)
            .filter(|_| stored.is_numeric())
            .map(|packing| (packing, packing::unpacked_type(attributes, taken)));
        let units = text(attributes, "units").filter(|_| stored.is_numeric());
        let calendar = text(attributes, "calendar");
        let time = units.and_then(|units| TimeUnits::parse(&units, calendar.as_deref()).ok().flatten());
        Ok(Self { taken, stored, mask, packing, time })
    }

    /// The type of the variable.
    pub fn stored_type(&self) -> Atomic {
        self.stored
    }

    /// The type of decoded values. For packed ones it depends on `scale_factor` and `add_offset` (CF 8.1): float if
    /// both are, otherwise double. Others have the variable's own type, unsigned if `_Unsigned` says so.
    pub fn decoded_type(&self) -> Atomic {
        self.packing.map_or(self.taken, |(_, ty)| ty)
    }

    /// Scale and offset, if values are packed.
    pub fn packing(&self) -> Option<LinearPacking> {
        self.packing.map(|(packing, _)| packing)
    }

    /// Which stored values are missing.
    pub fn mask(&self) -> &MissingMask {
        &self.mask
    }

    /// Unit, reference date and calendar, if the numbers are times since a date.
    pub fn time(&self) -> Option<&TimeUnits> {
        self.time.as_ref()
    }

    /// Decodes stored values of the variable's type; the result has the same number and order.
    pub fn decode(&self, stored: Values) -> DecodedValues {
        let taken = taken_for(stored, self.taken);
        let mut missing = self.mask.of(&taken);
        missing.resize(taken.len(), false);
        let mut values = match self.packing {
            Some((packing, ty)) => packing.unpack(&taken, ty),
            None => taken,
        };
        for (at, _) in missing.iter().enumerate().filter(|(_, missing)| **missing) {
            packing::put_nan(&mut values, at);
        }
        DecodedValues { values, missing }
    }

    /// The dates (UTC) of decoded numbers, to the microsecond; `None` for a number that is missing or has no date. If
    /// the numbers are not times, all are `None`.
    pub fn dates(&self, decoded: &DecodedValues) -> Vec<Option<CivilDate>> {
        let one = |(at, missing): (usize, &bool)| {
            let number = decoded.values.number(at).filter(|_| !missing)?;
            self.time.as_ref()?.date(number)
        };
        decoded.missing.iter().enumerate().map(one).collect()
    }

    /// The stored values of decoded numbers: packed, rounded to the nearest number of the variable's type; NaN becomes
    /// the missing value, if there is one and the type has no NaN.
    ///
    /// # Errors
    /// `Invalid` naming the first number that the variable's type cannot hold.
    pub fn encode(&self, numbers: &[f64]) -> Result<Values> {
        let packed = match self.packing {
            Some((packing, _)) => numbers.iter().map(|number| packing.pack(*number)).collect(),
            None => numbers.to_vec(),
        };
        let (mut stored, outside) = cast_to_nearest(&Values::Double(packed), self.taken)?;
        for at in outside {
            let number = numbers.get(at).copied().unwrap_or(f64::NAN);
            let missing = self.mask.value().filter(|_| number.is_nan());
            let is_put = missing.is_some_and(|missing| packing::put(&mut stored, at, &missing));
            if !is_put {
                let message = format!("the number {number} has no place in the type {}", self.stored.name());
                return Err(UnitError::invalid(message));
            }
        }
        Ok(taken_for(stored, self.stored))
    }
}

impl DecodedValues {
    /// The numbers as doubles, NaN for missing ones.
    pub fn numbers(&self) -> Vec<f64> {
        let mut numbers = doubles(&self.values);
        let missing = self.missing.iter().zip(&mut numbers).filter(|(missing, _)| **missing);
        missing.for_each(|(_, number)| *number = f64::NAN);
        numbers
    }
}

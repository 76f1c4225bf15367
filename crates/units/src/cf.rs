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
//! let decoded = decoding.decode(Values::Short(vec![3, -1, 4]))?;
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

use crate::nearest::{cast_integers, cast_to_nearest};
use crate::{CivilDate, Result, TimeUnits, UnitError};
use ncirrus_model::{Atomic, Attributes, ExactNumber, Values};
use packing::IntegerPacking;

/// How the stored values of a variable are decoded: its mask, packing and time units.
#[derive(Debug, Clone, PartialEq)]
pub struct CfDecoding {
    /// The type as which stored values are interpreted.
    taken: Atomic,
    stored: Atomic,
    mask: MissingMask,
    packing: Option<(LinearPacking, Atomic)>,
    /// Set if the packing is one of integers in their own type.
    integer_packing: Option<IntegerPacking>,
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
        let integer_packing = IntegerPacking::of(attributes, taken);
        let packing = LinearPacking::of(attributes).filter(|_| stored.is_numeric()).map(|packing| {
            let ty = integer_packing.map(IntegerPacking::ty);
            (packing, ty.unwrap_or_else(|| packing::unpacked_type(attributes, taken)))
        });
        let units = text(attributes, "units").filter(|_| stored.is_numeric());
        let calendar = text(attributes, "calendar");
        let time = units.and_then(|units| TimeUnits::parse(&units, calendar.as_deref()).ok().flatten());
        Ok(Self { taken, stored, mask, packing, integer_packing, time })
    }

    /// The type of the variable.
    pub fn stored_type(&self) -> Atomic {
        self.stored
    }

    /// The type of decoded values. For packed ones it depends on `scale_factor` and `add_offset` (CF 8.1): the
    /// variable's own integer type if both are of that, float if both are, otherwise double. Others have the variable's
    /// own type, unsigned if `_Unsigned` says so.
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
    ///
    /// # Errors
    /// `Invalid` if integers are packed in their own type, and one of them unpacks to a number beyond it.
    pub fn decode(&self, stored: Values) -> Result<DecodedValues> {
        let taken = taken_for(stored, self.taken);
        let mut missing = self.mask.of(&taken);
        missing.resize(taken.len(), false);
        let mut values = match (self.integer_packing, self.packing) {
            (Some(packing), _) => packing.unpack(&taken, &missing)?,
            (None, Some((packing, ty))) => packing.unpack(&taken, ty),
            (None, None) => taken,
        };
        for (at, _) in missing.iter().enumerate().filter(|(_, missing)| **missing) {
            packing::put_nan(&mut values, at);
        }
        Ok(DecodedValues { values, missing })
    }

    /// The dates (UTC) of decoded numbers, to the microsecond; `None` for a number that is missing or has no date. If
    /// the numbers are not times, all are `None`.
    pub fn dates(&self, decoded: &DecodedValues) -> Vec<Option<CivilDate>> {
        let one = |(at, missing): (usize, &bool)| {
            let number = ExactNumber::of(&decoded.values, at).filter(|_| !missing)?;
            self.time.as_ref()?.date_of(number)
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

impl CfDecoding {
    /// Whether decoded values are integers, and encoded ones, too: [`encode_integers`](Self::encode_integers) encodes
    /// them exactly.
    pub fn is_of_integers(&self) -> bool {
        self.decoded_type().integer_range().is_some()
    }

    /// The stored values of decoded integers, exactly; `None` becomes the missing value.
    ///
    /// # Errors
    /// `Invalid` naming the first number that cannot be stored: the type cannot hold it, the packing has no number for
    /// it, or what is stored means a missing value; if there is no missing value.
    pub fn encode_integers(&self, numbers: &[Option<i128>]) -> Result<Values> {
        let ty = self.stored.name();
        let pack = |number: &Option<i128>| match (number, self.integer_packing) {
            (Some(number), Some(packing)) => packing.pack(*number),
            (number, None) => *number,
            (None, Some(_)) => None,
        };
        let packed: Vec<Option<i128>> = numbers.iter().map(pack).collect();
        let (mut stored, outside) = cast_integers(&packed, self.taken)?;
        let masked = self.mask.of(&stored);
        for (at, number) in numbers.iter().enumerate() {
            match (number, self.mask.value()) {
                (Some(number), _) if outside.binary_search(&at).is_ok() => {
                    let message = format!("the number {number} has no place in the type {ty}");
                    return Err(UnitError::invalid(message));
                }
                (Some(number), _) if masked.get(at) == Some(&true) => {
                    return Err(UnitError::invalid(format!("the number {number} means a missing value")));
                }
                (None, Some(missing)) if packing::put(&mut stored, at, &missing) => {}
                (None, _) => return Err(UnitError::invalid("a missing value has no place there")),
                (Some(_), _) => {}
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

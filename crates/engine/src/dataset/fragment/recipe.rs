//! How stored values of a fragment become values of the aggregated variable (docs/spec/cfa.md 6.5): masked,
//! reinterpreted as unsigned, unpacked, converted to its units, cast; missing values become its missing value.
#[cfg(test)]
mod tests;

use crate::convert::cast_to_nearest;
use ncirrus_layout::{Error, Fragment, FragmentPacking, FragmentRules, Result};
use ncirrus_model::{Atomic, Attributes, ExactNumber, Values};
pub(crate) use ncirrus_units::cf::text;
use ncirrus_units::cf::{LinearPacking, MissingMask, doubles, is_unsigned, taken_for, unsigned};
use ncirrus_units::{NumberConversion, cast_integers};

/// How the values of a fragment are processed.
#[derive(Debug, Clone)]
pub(crate) struct ValueRecipe {
    /// The type as which stored values are interpreted.
    from: Atomic,
    mask: MissingMask,
    unpacking: Option<LinearPacking>,
    units: Option<NumberConversion>,
    packing: Option<LinearPacking>,
    /// The type that they are cast to, which differs from the variable's at most in signedness.
    to: Atomic,
    missing: Values,
    is_strict: bool,
}

impl ValueRecipe {
    /// How numbers of a type, of a variable with the given attributes, become numbers of another type whose missing
    /// value is given.
    ///
    /// # Errors
    /// `Malformed` if the units do not convert; `Invalid` if the types are not numeric.
    pub(crate) fn new(
        (from, attributes): (Atomic, &Attributes),
        fragment: &Fragment,
        (to, missing): (Atomic, &Values),
    ) -> Result<Self> {
        let rules = fragment.rules.as_ref();
        let stored = from;
        let from = if is_unsigned(attributes) { unsigned(stored) } else { stored };
        let as_unsigned = if is_unsigned(&rules.attributes) { unsigned(to) } else { to };
        let units = conversion(attributes, fragment)?;
        let mut unpacking = LinearPacking::of(attributes);
        let mut packing = None;
        if rules.packing == FragmentPacking::Same && unpacking == LinearPacking::of(&rules.attributes) {
            match units {
                // Packed values have no units: they are unpacked for the conversion and packed again.
                Some(_) => packing = unpacking,
                None => unpacking = None,
            }
        }
        let mask =
            MissingMask::new((stored, from), attributes).map_err(|error| Error::invalid(error.message()))?;
        let missing = taken_for(missing.clone(), as_unsigned);
        Ok(Self {
            from,
            mask,
            unpacking,
            units,
            packing,
            to: as_unsigned,
            missing,
            is_strict: rules.is_strict,
        })
    }

    /// Whether stored values are used unchanged.
    pub(crate) fn is_plain(&self) -> bool {
        let is_same = self.from == self.to && self.unpacking.is_none() && self.units.is_none();
        is_same && self.mask.is_only(&self.missing)
    }

    /// The values of the aggregated variable's type.
    ///
    /// # Errors
    /// `Malformed` with the first value that the type cannot hold, if that is an error.
    pub(crate) fn apply(&self, stored: Values, ty: Atomic) -> Result<Values> {
        if self.is_plain() {
            return Ok(taken_for(stored, ty));
        }
        let stored = taken_for(stored, self.from);
        let masked = self.mask.of(&stored);
        let (mut values, outside, shown) = self.computed(stored)?;
        let is_masked = |at: usize| masked.get(at).copied().unwrap_or(false);
        let mut lost = outside.into_iter().filter(|at| !is_masked(*at)).peekable();
        if let Some(first) = lost.peek().filter(|_| self.is_strict) {
            let value = shown(*first);
            return Err(Error::malformed(format!(
                "the value {value} cannot be represented in type {}",
                ty.name()
            )));
        }
        let missing = masked.iter().enumerate().filter(|(_, masked)| **masked).map(|(at, _)| at).chain(lost);
        put(&mut values, missing, &self.missing)?;
        Ok(taken_for(values, ty))
    }

    /// The numbers after unpacking and conversion of units, cast to the type; where they are outside its range; and
    /// the text of a number before the cast.
    fn computed(&self, stored: Values) -> Result<(Values, Vec<usize>, ShownNumber)> {
        let shown = |numbers: Values| -> ShownNumber {
            Box::new(move |at| {
                ExactNumber::of(&numbers, at).map(|number| number.to_string()).unwrap_or_default()
            })
        };
        if let Some(units) = self.units.filter(|units| self.is_of_integers(units, &stored)) {
            let integers: Vec<Option<i128>> =
                ExactNumber::all(&stored).into_iter().map(|number| units.nearest_integer(number)).collect();
            let (values, outside) =
                cast_integers(&integers, self.to).map_err(|error| Error::invalid(error.message()))?;
            return Ok((values, outside, shown(stored)));
        }
        let numbers = self.unpacked(stored);
        let (values, outside) = cast_to_nearest(&numbers, self.to)?;
        Ok((values, outside, shown(numbers)))
    }

    /// Whether integers become integers without doubles in between, which do not hold all of 64 bits.
    fn is_of_integers(&self, units: &NumberConversion, stored: &Values) -> bool {
        let is_integer = |ty: Option<Atomic>| ty.is_some_and(|ty| ty.integer_range().is_some());
        let is_packed = self.unpacking.is_some() || self.packing.is_some();
        !is_packed && units.is_exact() && is_integer(stored.atomic()) && is_integer(Some(self.to))
    }

    fn unpacked(&self, stored: Values) -> Values {
        if self.unpacking.is_none() && self.units.is_none() {
            return stored;
        }
        let mut numbers = doubles(&stored);
        if let Some(packing) = self.unpacking {
            numbers.iter_mut().for_each(|number| *number = packing.unpacked(*number));
        }
        if let Some(units) = &self.units {
            numbers.iter_mut().for_each(|number| *number = units.reals().apply(*number));
        }
        if let Some(packing) = self.packing {
            numbers.iter_mut().for_each(|number| *number = packing.pack(*number));
        }
        Values::Double(numbers)
    }
}

/// How the units of a fragment are converted to those of the aggregated variable, if they differ. A fragment without
/// units has the same ones; a time without a calendar has the same calendar.
fn conversion(attributes: &Attributes, fragment: &Fragment) -> Result<Option<NumberConversion>> {
    let FragmentRules { attributes: wanted, .. } = fragment.rules.as_ref();
    let Some(to) = text(wanted, "units") else { return Ok(None) };
    let (own_units, own_calendar) = (text(attributes, "units"), text(attributes, "calendar"));
    let said = fragment.units.as_ref();
    let from = said.and_then(|said| said.units.as_deref().map(str::to_owned)).or(own_units);
    let Some(from) = from else { return Ok(None) };
    let to_calendar = text(wanted, "calendar");
    let calendar = said.and_then(|said| said.calendar.as_deref().map(str::to_owned));
    let calendar = calendar.or(own_calendar).or_else(|| to_calendar.clone());
    let to_calendar = to_calendar.or_else(|| calendar.clone());
    NumberConversion::between((&from, calendar.as_deref()), (&to, to_calendar.as_deref())).map_err(|error| {
        Error::malformed(format!("units {from:?} cannot be converted to {to:?}: {}", error.message()))
    })
}

/// The text of a number at an index.
type ShownNumber = Box<dyn Fn(usize) -> String>;

/// Puts one value at several positions.
fn put(values: &mut Values, at: impl Iterator<Item = usize>, value: &Values) -> Result<()> {
    let wrong = || Error::internal("a missing value of another type");
    if values.atomic() != value.atomic() {
        return Err(wrong());
    }
    let value = value.as_bytes().ok_or_else(wrong)?;
    let bytes = values.as_bytes_mut().ok_or_else(wrong)?;
    for at in at {
        bytes.get_mut(at * value.len()..(at + 1) * value.len()).ok_or_else(wrong)?.copy_from_slice(value);
    }
    Ok(())
}

//! How stored values of a fragment become values of the aggregated variable (docs/spec/cfa.md 6.5): masked, taken as
//! unsigned, unpacked, brought to its units, cast; what is missing becomes its missing value.
mod mask;
#[cfg(test)]
mod tests;

use crate::convert::cast_to_nearest;
use crate::units::{self, UnitConversion};
use mask::MissingMask;
use ncirrus_layout::{Error, Fragment, FragmentPacking, FragmentRules, Result};
use ncirrus_model::{Atomic, Attributes, Values};

/// What is done with the values of a fragment.
#[derive(Debug, Clone)]
pub(crate) struct ValueRecipe {
    /// The type that the stored values are taken for.
    from: Atomic,
    mask: MissingMask,
    unpacking: Option<LinearPacking>,
    units: Option<UnitConversion>,
    packing: Option<LinearPacking>,
    /// The type that they are cast to, which differs from the variable's only in its sign.
    to: Atomic,
    missing: Values,
    is_strict: bool,
}

/// A packed number is `(number - offset) / scale`.
#[derive(Debug, Clone, Copy, PartialEq)]
struct LinearPacking {
    scale: f64,
    offset: f64,
}

impl ValueRecipe {
    /// What is done with numbers of a type, of a variable with those attributes, that become numbers of another type
    /// whose missing value is given.
    ///
    /// # Errors
    /// `Malformed` when the units do not convert; `Invalid` when the types are not numeric.
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
                // Packed values have no units: they are unpacked for a moment.
                Some(_) => packing = unpacking,
                None => unpacking = None,
            }
        }
        let mask = MissingMask::new((stored, from), attributes)?;
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

    /// Whether stored values are the values.
    pub(crate) fn is_plain(&self) -> bool {
        let is_same = self.from == self.to && self.unpacking.is_none() && self.units.is_none();
        is_same && self.mask.is_only(&self.missing)
    }

    /// The values of the aggregated variable's type.
    ///
    /// # Errors
    /// `Malformed` with the first value that the type cannot hold, where that is an error.
    pub(crate) fn apply(&self, stored: Values, ty: Atomic) -> Result<Values> {
        if self.is_plain() {
            return Ok(taken_for(stored, ty));
        }
        let stored = taken_for(stored, self.from);
        let masked = self.mask.of(&stored);
        let numbers = self.computed(stored);
        let (mut values, outside) = cast_to_nearest(&numbers, self.to)?;
        let is_masked = |at: usize| masked.get(at).copied().unwrap_or(false);
        let mut lost = outside.into_iter().filter(|at| !is_masked(*at)).peekable();
        if let Some(first) = lost.peek().filter(|_| self.is_strict) {
            let value = numbers.number(*first).unwrap_or(f64::NAN);
            return Err(Error::malformed(format!(
                "the value {value} has no place in the type {}",
                ty.name()
            )));
        }
        let missing = masked.iter().enumerate().filter(|(_, masked)| **masked).map(|(at, _)| at).chain(lost);
        put(&mut values, missing, &self.missing)?;
        Ok(taken_for(values, ty))
    }

    /// The numbers after unpacking and conversion of units.
    fn computed(&self, stored: Values) -> Values {
        if self.unpacking.is_none() && self.units.is_none() {
            return stored;
        }
        let mut numbers = doubles(&stored);
        if let Some(LinearPacking { scale, offset }) = self.unpacking {
            numbers.iter_mut().for_each(|number| *number = *number * scale + offset);
        }
        if let Some(units) = &self.units {
            numbers.iter_mut().for_each(|number| *number = units.apply(*number));
        }
        if let Some(LinearPacking { scale, offset }) = self.packing {
            numbers.iter_mut().for_each(|number| *number = (*number - offset) / scale);
        }
        Values::Double(numbers)
    }
}

impl LinearPacking {
    fn of(attributes: &Attributes) -> Option<Self> {
        let number = |name| attributes.find(name).and_then(|attribute| attribute.values.number(0));
        match (number("scale_factor"), number("add_offset")) {
            (None, None) => None,
            (scale, offset) => Some(Self { scale: scale.unwrap_or(1.0), offset: offset.unwrap_or(0.0) }),
        }
    }
}

/// How the units of a fragment become those of the aggregated variable, when they differ. A fragment without units has
/// the same; one that is a time without a calendar is of the same calendar.
fn conversion(attributes: &Attributes, fragment: &Fragment) -> Result<Option<UnitConversion>> {
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
    units::conversion((&from, calendar.as_deref()), (&to, to_calendar.as_deref())).map_err(|error| {
        Error::malformed(format!("units {from:?} do not become {to:?}: {}", error.message()))
    })
}

/// The text of an attribute.
pub(crate) fn text(attributes: &Attributes, name: &str) -> Option<String> {
    let bytes = match &attributes.find(name)?.values {
        Values::Char(text) => text.as_slice(),
        Values::String(list) => list.get(0)?,
        _ => return None,
    };
    let text = String::from_utf8_lossy(bytes);
    Some(text.trim_end_matches('\0').trim().to_owned())
}

fn is_unsigned(attributes: &Attributes) -> bool {
    text(attributes, "_Unsigned").is_some_and(|text| text.eq_ignore_ascii_case("true"))
}

/// The unsigned type of the same size.
fn unsigned(atomic: Atomic) -> Atomic {
    match atomic {
        Atomic::Byte => Atomic::UByte,
        Atomic::Short => Atomic::UShort,
        Atomic::Int => Atomic::UInt,
        Atomic::Int64 => Atomic::UInt64,
        other => other,
    }
}

/// The same bits as another type of the same size.
fn taken_for(values: Values, ty: Atomic) -> Values {
    if values.atomic() == Some(ty) {
        return values;
    }
    let same = values.as_bytes().filter(|_| values.atomic().and_then(Atomic::byte_len) == ty.byte_len());
    same.and_then(|bytes| Values::from_native_bytes(ty, bytes)).unwrap_or(values)
}

fn doubles(values: &Values) -> Vec<f64> {
    match values {
        Values::Byte(list) => list.iter().copied().map(f64::from).collect(),
        Values::UByte(list) => list.iter().copied().map(f64::from).collect(),
        Values::Short(list) => list.iter().copied().map(f64::from).collect(),
        Values::UShort(list) => list.iter().copied().map(f64::from).collect(),
        Values::Int(list) => list.iter().copied().map(f64::from).collect(),
        Values::UInt(list) => list.iter().copied().map(f64::from).collect(),
        Values::Float(list) => list.iter().copied().map(f64::from).collect(),
        Values::Double(list) => list.clone(),
        other => (0..other.len()).map(|at| other.number(at).unwrap_or(f64::NAN)).collect(),
    }
}

/// Puts one value at positions.
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

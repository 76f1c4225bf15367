//! Which stored values are missing.
use crate::convert::cast_to_nearest;
use ncirrus_layout::Result;
use ncirrus_model::{Atomic, Attributes, Values, default_fill};

/// Which values of a type are missing: those that equal one of some, those outside of a range.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Mask {
    /// Values of the type.
    equal: Values,
    least: Option<f64>,
    most: Option<f64>,
}

impl Mask {
    /// What the attributes of a variable say: its fill value (the type's own where it has none, but not of bytes), its
    /// missing values, its valid range. What the type cannot hold equals nothing.
    pub(super) fn new((stored, ty): (Atomic, Atomic), attributes: &Attributes) -> Result<Self> {
        let mut equal = Values::zeroed(ty, 0);
        let fill = attributes.find("_FillValue").map(|attribute| &attribute.values);
        match fill {
            Some(fill) => add(&mut equal, fill, ty)?,
            None if ty.byte_len().is_some_and(|len| len > 1) => add(&mut equal, &default_fill(stored), ty)?,
            None => {}
        }
        if let Some(missing) = attributes.find("missing_value") {
            add(&mut equal, &missing.values, ty)?;
        }
        let bound = |name: &str, range: usize| {
            let one = attributes.find(name).and_then(|attribute| number(&attribute.values, 0, ty));
            let range = || attributes.find("valid_range").and_then(|both| number(&both.values, range, ty));
            one.or_else(range)
        };
        Ok(Self { equal, least: bound("valid_min", 0), most: bound("valid_max", 1) })
    }

    /// Whether nothing is missing but what equals `value`.
    pub(super) fn is_only(&self, value: &Values) -> bool {
        let same = |at: usize| {
            let one = self.equal.slice(at..at + 1);
            one == *value || is_nan(&one) && is_nan(value)
        };
        self.least.is_none() && self.most.is_none() && (0..self.equal.len()).all(same)
    }

    /// Which ones of the values are missing; nothing when none is.
    pub(super) fn of(&self, values: &Values) -> Vec<bool> {
        let mut masked = Vec::new();
        macro_rules! look {
            ($($variant:ident),*) => {
                match (values, &self.equal) {
                    $((Values::$variant(list), Values::$variant(equal)) => for one in equal {
                        // NaN is the only value that differs from itself.
                        let is_nan = one != one;
                        mark(list, &mut masked, |value| value == one || is_nan && value != value);
                    })*
                    _ => {}
                }
            };
        }
        look!(Byte, Short, Int, Int64, UByte, UShort, UInt, UInt64, Float, Double, Char);
        if self.least.is_some() || self.most.is_some() {
            masked.resize(values.len(), false);
            for (at, masked) in masked.iter_mut().enumerate() {
                let value = values.number(at);
                let below = self.least.zip(value).is_some_and(|(least, value)| value < least);
                let above = self.most.zip(value).is_some_and(|(most, value)| value > most);
                *masked |= below || above;
            }
        }
        masked
    }
}

fn is_nan(one: &Values) -> bool {
    one.number(0).is_some_and(f64::is_nan)
}

fn mark<T>(list: &[T], masked: &mut Vec<bool>, is_masked: impl Fn(&T) -> bool) {
    if masked.is_empty() && !list.iter().any(&is_masked) {
        return;
    }
    masked.resize(list.len(), false);
    list.iter().zip(masked).for_each(|(value, masked)| *masked |= is_masked(value));
}

/// Adds those of the values that are values of the type, too.
fn add(equal: &mut Values, values: &Values, ty: Atomic) -> Result<()> {
    if values.atomic() == Some(ty) {
        _ = equal.extend_from(values, 0..values.len());
        return Ok(());
    }
    // Signed attributes of values that are taken for unsigned ones have the same bits.
    let bits = values.atomic().filter(|own| super::unsigned(*own) == ty).and(values.as_bytes());
    if let Some(same) = bits.and_then(|bytes| Values::from_native_bytes(ty, bytes)) {
        _ = equal.extend_from(&same, 0..same.len());
        return Ok(());
    }
    if !values.atomic().is_some_and(Atomic::is_numeric) || !ty.is_numeric() {
        return Ok(());
    }
    let (cast, outside) = cast_to_nearest(values, ty)?;
    for at in (0..cast.len()).filter(|at| !outside.contains(at)) {
        let is_same = match ty {
            Atomic::Float | Atomic::Double => true,
            _ => cast.number(at) == values.number(at),
        };
        if is_same {
            _ = equal.extend_from(&cast, at..at + 1);
        }
    }
    Ok(())
}

/// A bound of the valid range, in the type's own sense.
fn number(values: &Values, at: usize, ty: Atomic) -> Option<f64> {
    let bits = values.atomic().filter(|own| *own != ty && super::unsigned(*own) == ty).and(values.as_bytes());
    match bits.and_then(|bytes| Values::from_native_bytes(ty, bytes)) {
        Some(same) => same.number(at),
        None => values.number(at),
    }
}

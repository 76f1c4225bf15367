//! Which stored values are missing.
use super::LinearPacking;
use crate::Result;
use crate::nearest::cast_to_nearest;
use ncirrus_model::{Atomic, Attributes, ExactNumber, Values, default_fill};

/// Which values of a type are missing: those that equal one of several values, and those outside a range.
#[derive(Debug, Clone, PartialEq)]
pub struct MissingMask {
    /// Values that mean missing, in that type.
    equal: Values,
    min: Option<RangeLimit>,
    max: Option<RangeLimit>,
}

/// An end of the valid range.
#[derive(Debug, Clone, Copy, PartialEq)]
struct RangeLimit {
    value: ExactNumber,
    /// How stored numbers are unpacked before the comparison, if the limit applies to unpacked ones.
    unpacking: Option<LinearPacking>,
}

/// The relative excess over a limit that is tolerated in unpacked numbers: both are often rounded to float.
const ROUNDING: f64 = 1e-6;

impl MissingMask {
    /// The mask that the attributes of a variable define: its fill value (the type's default if it has none, except for
    /// bytes), its missing values, its valid range. Values that the type cannot represent equal nothing. Values are
    /// stored as one type and interpreted as another, which differs at most in signedness.
    ///
    /// # Errors
    /// `Invalid` if values of the attributes cannot be compared with those of the variable.
    pub fn new((stored, ty): (Atomic, Atomic), attributes: &Attributes) -> Result<Self> {
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
            let one = attributes
                .find(name)
                .and_then(|attribute| RangeLimit::new(&attribute.values, 0, ty, attributes));
            let range = || {
                let both = attributes.find("valid_range")?;
                RangeLimit::new(&both.values, range, ty, attributes)
            };
            one.or_else(range)
        };
        Ok(Self { equal, min: bound("valid_min", 0), max: bound("valid_max", 1) })
    }

    /// The value that represents a missing one: the fill value, otherwise the first missing value; `None` for bytes
    /// without either.
    pub fn value(&self) -> Option<Values> {
        (!self.equal.is_empty()).then(|| self.equal.slice(0..1))
    }

    /// Whether only values that equal `value` are missing.
    pub fn is_only(&self, value: &Values) -> bool {
        let same = |at: usize| {
            let one = self.equal.slice(at..at + 1);
            one == *value || is_nan(&one) && is_nan(value)
        };
        self.min.is_none() && self.max.is_none() && (0..self.equal.len()).all(same)
    }

    /// Marks for the values that are missing; empty if none is.
    pub fn of(&self, values: &Values) -> Vec<bool> {
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
        if self.min.is_some() || self.max.is_some() {
            masked.resize(values.len(), false);
            for (at, masked) in masked.iter_mut().enumerate() {
                let value = ExactNumber::of(values, at);
                let below = self.min.zip(value).is_some_and(|(min, value)| min.excess(value) < 0.0);
                let above = self.max.zip(value).is_some_and(|(max, value)| max.excess(value) > 0.0);
                *masked |= below || above;
            }
        }
        masked
    }
}

impl RangeLimit {
    fn new(values: &Values, at: usize, ty: Atomic, attributes: &Attributes) -> Option<Self> {
        let unpacking = LinearPacking::of(attributes).filter(|_| is_of_unpacked(values, ty, attributes));
        let value = number(values, at, ty)?;
        // A float that represents the same decimal number as the limit does not exceed it.
        let is_rounded =
            ty == Atomic::Float && values.atomic() == Some(Atomic::Double) && unpacking.is_none();
        #[expect(clippy::cast_possible_truncation, reason = "rounded as the stored numbers are")]
        let value = if is_rounded { ExactNumber::Real(f64::from(value.to_f64() as f32)) } else { value };
        Some(Self { value, unpacking })
    }

    /// How far a stored number is above the limit; negative if it is below.
    fn excess(self, stored: ExactNumber) -> f64 {
        let Some(LinearPacking { scale, offset }) = self.unpacking else {
            return match stored.partial_cmp(&self.value) {
                Some(order) => f64::from(order as i8),
                None => f64::NAN,
            };
        };
        let unpacked = stored.to_f64() * scale + offset;
        let limit = self.value.to_f64();
        let excess = unpacked - limit;
        let is_rounding = excess.abs() <= ROUNDING * unpacked.abs().max(limit.abs()).max(offset.abs());
        if is_rounding { 0.0 } else { excess }
    }
}

/// Whether a valid range applies to unpacked numbers (the netCDF User Guide's rule): if its type is wider than that of
/// the stored ones and that of the packing, or floating-point while integers are stored.
fn is_of_unpacked(range: &Values, stored: Atomic, attributes: &Attributes) -> bool {
    let width = |atomic: Atomic| WIDTHS.iter().position(|types| types.contains(&atomic));
    let Some(own) = range.atomic() else { return false };
    let packing = ["scale_factor", "add_offset"].into_iter().filter_map(|name| attributes.find(name));
    let packing =
        packing.filter_map(|attribute| attribute.values.atomic()).max_by_key(|atomic| width(*atomic));
    let is_float = |atomic: Atomic| matches!(atomic, Atomic::Float | Atomic::Double);
    width(own) > width(stored) && (Some(own) == packing || (is_float(own) && !is_float(stored)))
}

/// Types from narrow to wide; those that differ only in signedness have the same width.
const WIDTHS: [&[Atomic]; 6] = [
    &[Atomic::Byte, Atomic::UByte, Atomic::Char],
    &[Atomic::Short, Atomic::UShort],
    &[Atomic::Int, Atomic::UInt],
    &[Atomic::Int64, Atomic::UInt64],
    &[Atomic::Float],
    &[Atomic::Double],
];

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

/// Adds those of the values that the type can represent.
fn add(equal: &mut Values, values: &Values, ty: Atomic) -> Result<()> {
    if values.atomic() == Some(ty) {
        _ = equal.extend_from(values, 0..values.len());
        return Ok(());
    }
    // Signed attributes of values that are interpreted as unsigned have the same bits.
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
            _ => ExactNumber::of(&cast, at) == ExactNumber::of(values, at),
        };
        if is_same {
            _ = equal.extend_from(&cast, at..at + 1);
        }
    }
    Ok(())
}

/// A bound of the valid range, interpreted as the type.
fn number(values: &Values, at: usize, ty: Atomic) -> Option<ExactNumber> {
    let bits = values.atomic().filter(|own| *own != ty && super::unsigned(*own) == ty).and(values.as_bytes());
    match bits.and_then(|bytes| Values::from_native_bytes(ty, bytes)) {
        Some(same) => ExactNumber::of(&same, at),
        None => ExactNumber::of(values, at),
    }
}

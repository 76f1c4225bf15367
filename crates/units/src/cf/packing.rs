//! Numbers that are stored in fewer bits (CF 8.1), and reinterpretation of types.
use crate::nearest::cast_integers;
use crate::{Result, UnitError};
use ncirrus_model::{Atomic, Attributes, Values};

/// A packed number is `(number - offset) / scale`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LinearPacking {
    /// `scale_factor`, by default 1.
    pub scale: f64,
    /// `add_offset`, by default 0.
    pub offset: f64,
}

impl LinearPacking {
    /// The packing that `scale_factor` and `add_offset` define; `None` if there is neither.
    pub fn of(attributes: &Attributes) -> Option<Self> {
        let number = |name| attributes.find(name).and_then(|attribute| attribute.values.number(0));
        match (number("scale_factor"), number("add_offset")) {
            (None, None) => None,
            (scale, offset) => Some(Self { scale: scale.unwrap_or(1.0), offset: offset.unwrap_or(0.0) }),
        }
    }

    /// The number that a packed one represents.
    pub fn unpacked(self, packed: f64) -> f64 {
        packed * self.scale + self.offset
    }

    /// The packed number, not yet rounded.
    pub fn pack(self, number: f64) -> f64 {
        (number - self.offset) / self.scale
    }

    /// Unpacked numbers of a type: computed as doubles, then rounded to floats or integers.
    pub(super) fn unpack(self, packed: &Values, ty: Atomic) -> Values {
        let numbers: Vec<f64> = doubles(packed).into_iter().map(|number| self.unpacked(number)).collect();
        match ty {
            #[expect(clippy::cast_possible_truncation, reason = "the nearest float is meant")]
            Atomic::Float => Values::Float(numbers.into_iter().map(|number| number as f32).collect()),
            _ => Values::Double(numbers),
        }
    }
}

/// A packing of integers in their own type (CF 8.1): unpacked numbers are of that type, too, and exact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct IntegerPacking {
    scale: i128,
    offset: i128,
    ty: Atomic,
}

impl IntegerPacking {
    /// The packing of integers of a type, if the attributes that define it are of the same type.
    pub(super) fn of(attributes: &Attributes, ty: Atomic) -> Option<Self> {
        ty.integer_range()?;
        let number = |name, implied| match attributes.find(name) {
            None => Some(implied),
            Some(attribute)
                if attribute.values.atomic().is_some_and(|own| own == ty || unsigned(own) == ty) =>
            {
                attribute.values.integer(0)
            }
            Some(_) => None,
        };
        let (scale, offset) = (number("scale_factor", 1)?, number("add_offset", 0)?);
        let is_packed = ["scale_factor", "add_offset"].iter().any(|name| attributes.find(name).is_some());
        is_packed.then_some(Self { scale, offset, ty })
    }

    pub(super) fn ty(self) -> Atomic {
        self.ty
    }

    /// Unpacked numbers; those at the positions in `missing` stay as they are.
    ///
    /// # Errors
    /// `Invalid` naming the first number that the type cannot hold.
    pub(super) fn unpack(self, packed: &Values, missing: &[bool]) -> Result<Values> {
        let one = |at: usize| {
            let number = packed.integer(at)?;
            if missing.get(at) == Some(&true) {
                return Some(number);
            }
            number.checked_mul(self.scale)?.checked_add(self.offset)
        };
        let numbers: Vec<Option<i128>> = (0..packed.len()).map(one).collect();
        let (values, outside) = cast_integers(&numbers, self.ty)?;
        let Some(first) = outside.first() else { return Ok(values) };
        let stored = packed.integer(*first).unwrap_or_default();
        Err(UnitError::invalid(format!(
            "the packed number {stored} unpacks to {stored} * {} + {}, which the type {} cannot hold",
            self.scale,
            self.offset,
            self.ty.name()
        )))
    }

    /// The packed number; `None` if there is none that unpacks to it.
    pub(super) fn pack(self, number: i128) -> Option<i128> {
        let scaled = number.checked_sub(self.offset)?;
        (scaled.checked_rem(self.scale)? == 0).then_some(scaled / self.scale)
    }
}

/// The type of unpacked values: float if the attributes of the packing are floats, otherwise double.
pub(super) fn unpacked_type(attributes: &Attributes, stored: Atomic) -> Atomic {
    let types = ["scale_factor", "add_offset"].into_iter().filter_map(|name| attributes.find(name));
    let mut types = types.filter_map(|attribute| attribute.values.atomic());
    let is_float = types.all(|ty| ty == Atomic::Float) && stored != Atomic::Double;
    if is_float { Atomic::Float } else { Atomic::Double }
}

/// Whether stored integers are interpreted as unsigned: `_Unsigned = "true"` (the netCDF User Guide).
pub fn is_unsigned(attributes: &Attributes) -> bool {
    text(attributes, "_Unsigned").is_some_and(|text| text.eq_ignore_ascii_case("true"))
}

/// The text of an attribute, the first of several, without padding.
pub fn text(attributes: &Attributes, name: &str) -> Option<String> {
    let bytes = match &attributes.find(name)?.values {
        Values::Char(text) => text.as_slice(),
        Values::String(list) => list.get(0)?,
        _ => return None,
    };
    let text = String::from_utf8_lossy(bytes);
    Some(text.trim_end_matches('\0').trim().to_owned())
}

/// The unsigned type of the same size.
pub fn unsigned(atomic: Atomic) -> Atomic {
    match atomic {
        Atomic::Byte => Atomic::UByte,
        Atomic::Short => Atomic::UShort,
        Atomic::Int => Atomic::UInt,
        Atomic::Int64 => Atomic::UInt64,
        other => other,
    }
}

/// The same bits, interpreted as another type of the same size.
pub fn taken_for(values: Values, ty: Atomic) -> Values {
    if values.atomic() == Some(ty) {
        return values;
    }
    let same = values.as_bytes().filter(|_| values.atomic().and_then(Atomic::byte_len) == ty.byte_len());
    same.and_then(|bytes| Values::from_native_bytes(ty, bytes)).unwrap_or(values)
}

/// Numbers of any type as doubles, NaN for values that are not numbers.
pub fn doubles(values: &Values) -> Vec<f64> {
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

/// Sets a floating-point number to NaN.
pub(super) fn put_nan(values: &mut Values, at: usize) {
    match values {
        Values::Float(list) => list.get_mut(at).into_iter().for_each(|slot| *slot = f32::NAN),
        Values::Double(list) => list.get_mut(at).into_iter().for_each(|slot| *slot = f64::NAN),
        _ => {}
    }
}

/// Sets one position to a value of the same type; `false` if that is not possible.
pub(super) fn put(values: &mut Values, at: usize, value: &Values) -> bool {
    if values.atomic() != value.atomic() {
        return false;
    }
    let Some((value, bytes)) = value.as_bytes().zip(values.as_bytes_mut()) else { return false };
    let slot = bytes.get_mut(at * value.len()..(at + 1) * value.len());
    slot.map(|slot| slot.copy_from_slice(value)).is_some()
}

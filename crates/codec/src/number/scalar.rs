//! Single numbers in JSON, and the range of a type.
use super::{AnyNumber, NumberKind, NumberType};
use half::f16;
use serde_json::Value;

impl NumberType {
    /// A value in the form of Zarr v3's fill values: a number, `NaN`, `Infinity`, `-Infinity`, or the bits of a float in
    /// hexadecimal digits. `None` if the type does not have it.
    pub(crate) fn parse_scalar(self, value: &Value) -> Option<AnyNumber> {
        if self.is_float() {
            let number = match value {
                Value::String(text) => match text.strip_prefix("0x") {
                    Some(digits) => self.float_of(u64::from_str_radix(digits, 16).ok()?),
                    None => named(text)?,
                },
                other => other.as_f64()?,
            };
            return Some(AnyNumber::Float(self.round(number)));
        }
        let integer = match value {
            Value::Number(number) => number.as_i128().or_else(|| super::whole(number.as_f64()?))?,
            _ => return None,
        };
        let (min, max) = self.integer_range();
        (min..=max).contains(&integer).then_some(AnyNumber::Int(integer))
    }

    /// The least and the greatest integer; those of 64 bits for floats.
    pub(crate) fn integer_range(self) -> (i128, i128) {
        let bits = 8 * self.size.min(8);
        match self.kind {
            NumberKind::Unsigned => (0, (1i128 << bits) - 1),
            _ => (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1),
        }
    }

    /// The greatest finite float.
    pub(crate) fn largest_float(self) -> f64 {
        match self.size {
            2 => f16::MAX.to_f64(),
            4 => f64::from(f32::MAX),
            _ => f64::MAX,
        }
    }

    /// The nearest float of this type, rounded once.
    #[expect(clippy::cast_precision_loss, reason = "rounding is meant")]
    pub(crate) fn round_number(self, number: AnyNumber) -> f64 {
        match (number, self.size) {
            (AnyNumber::Int(value), 4) => f64::from(value as f32),
            (number, _) => self.round(number.to_f64()),
        }
    }

    /// Its name in Zarr v3.
    pub(crate) fn zarr_name(self) -> String {
        let word = match self.kind {
            NumberKind::Signed => "int",
            NumberKind::Unsigned => "uint",
            NumberKind::Float => "float",
        };
        format!("{word}{}", 8 * self.size)
    }

    #[expect(clippy::cast_possible_truncation, reason = "the bits of the type are the lowest ones")]
    fn float_of(self, bits: u64) -> f64 {
        match self.size {
            2 => f16::from_bits(bits as u16).to_f64(),
            4 => f64::from(f32::from_bits(bits as u32)),
            _ => f64::from_bits(bits),
        }
    }
}

fn named(text: &str) -> Option<f64> {
    match text {
        "NaN" => Some(f64::NAN),
        "Infinity" => Some(f64::INFINITY),
        "-Infinity" => Some(f64::NEG_INFINITY),
        other => other.trim().parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_are_those_of_the_type() {
        let of = |name: &str, value: Value| NumberType::parse(name).and_then(|ty| ty.parse_scalar(&value));
        assert_eq!(of("int8", json!(-128)), Some(AnyNumber::Int(-128)));
        assert_eq!(of("int8", json!(128)), None);
        assert_eq!(of("uint64", json!(u64::MAX)), Some(AnyNumber::Int(u64::MAX.into())));
        assert_eq!(of("int16", json!(2.0)), Some(AnyNumber::Int(2)));
        assert_eq!(of("int16", json!(2.5)), None);
        assert_eq!(of("float32", json!("0x3f800000")), Some(AnyNumber::Float(1.0)));
        assert_eq!(of("float64", json!("-Infinity")), Some(AnyNumber::Float(f64::NEG_INFINITY)));
        assert_eq!(of("float64", json!(null)), None);
    }
}

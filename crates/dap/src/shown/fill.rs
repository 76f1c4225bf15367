//! Fill values in the type of their variable: servers write them in others (docs/spec/dap.md 2.6).
use ncirrus_model::{Atomic, Values};

/// The first of the values in another type, and whether it is the same number: integers that do not fit are wrapped,
/// reals are truncated. `None` if it is not a number.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "what does not fit is wrapped, which the caller is told"
)]
pub(super) fn converted(values: &Values, to: Atomic) -> Option<(Values, bool)> {
    if values.atomic() == Some(to) {
        return Some((values.slice(0..1), true)).filter(|(values, _)| !values.is_empty());
    }
    let number = values.number(0)?;
    let integer = values.integer(0).unwrap_or(number as i128);
    let fits = match to.integer_range() {
        Some((min, max)) => {
            let whole = values.integer(0).is_some() || (number.is_finite() && number.trunc() == number);
            whole && (min..=max).contains(&integer)
        }
        None => true,
    };
    let values = match to {
        Atomic::Byte => Values::Byte(vec![integer as i8]),
        Atomic::UByte => Values::UByte(vec![integer as u8]),
        Atomic::Short => Values::Short(vec![integer as i16]),
        Atomic::UShort => Values::UShort(vec![integer as u16]),
        Atomic::Int => Values::Int(vec![integer as i32]),
        Atomic::UInt => Values::UInt(vec![integer as u32]),
        Atomic::Int64 => Values::Int64(vec![integer as i64]),
        Atomic::UInt64 => Values::UInt64(vec![integer as u64]),
        Atomic::Float => Values::Float(vec![number as f32]),
        Atomic::Double => Values::Double(vec![number]),
        Atomic::Char | Atomic::String => return None,
    };
    Some((values, fits))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_value_or_wrap() {
        let cases = [
            (Values::Double(vec![100.0]), Atomic::Int, Some((Values::Int(vec![100]), true))),
            (Values::Short(vec![-1]), Atomic::UByte, Some((Values::UByte(vec![255]), false))),
            (Values::UByte(vec![200]), Atomic::Byte, Some((Values::Byte(vec![-56]), false))),
            (Values::Double(vec![1.5]), Atomic::Short, Some((Values::Short(vec![1]), false))),
            (Values::Int(vec![3, 4]), Atomic::Int, Some((Values::Int(vec![3]), true))),
            (Values::Int(Vec::new()), Atomic::Int, None),
            (Values::Char(vec![b'x']), Atomic::Int, None),
            (Values::Int(vec![7]), Atomic::Float, Some((Values::Float(vec![7.0]), true))),
        ];
        for (values, to, expected) in cases {
            assert_eq!(converted(&values, to), expected, "{values:?} as {to:?}");
        }
    }
}

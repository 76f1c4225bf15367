//! Conversions of values between types as netCDF-C does them: which types convert, and what becomes of values that the
//! other type does not hold. Conversion itself is the caller's; these are the places where netCDF-C differs from it.
use ncirrus_model::{Atomic, Values};

/// Why values of a type do not convert to another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CastRefusal {
    /// Between text and numbers (`NC_ECHAR`).
    Text,
    /// Between strings and anything else (`NC_EBADTYPE`).
    Strings,
}

/// Whether values of one type convert to another.
///
/// # Errors
/// The reason, if they do not.
pub fn check(from: Atomic, to: Atomic) -> Result<(), CastRefusal> {
    match () {
        () if from == to => Ok(()),
        () if from == Atomic::Char || to == Atomic::Char => Err(CastRefusal::Text),
        () if from == Atomic::String || to == Atomic::String => Err(CastRefusal::Strings),
        () => Ok(()),
    }
}

/// Whether all values are floats that netCDF-4 converts to `NC_UINT` without `NC_ERANGE`: it compares them with the
/// largest `NC_UINT` as a float, which is 2^32. That fits, and becomes 0.
pub fn is_next_to_uint(values: &Values, to: Atomic) -> bool {
    let (Values::Float(floats), Atomic::UInt) = (values, to) else { return false };
    floats.iter().all(|float| *float >= 0.0 && *float <= 4_294_967_296.0)
}

/// Whether netCDF-3 rejects values that are put as doubles with `NC_ERANGE` although they convert: infinite floats.
pub fn is_infinite_for_classic(values: &Values, to: Atomic) -> bool {
    matches!((values, to), (Values::Float(floats), Atomic::Double) if floats.iter().any(|float| float.is_infinite()))
}

/// Changes values of a netCDF-3 file that were converted to a type of memory into those that netCDF-C returns: doubles
/// beyond the floats are the largest of those, and fractions that are the largest 64-bit integer, rounded, are that one.
pub fn limit_for_classic(values: &Values, converted: &mut Values) {
    limit_integers(values, converted);
    if let (Values::Double(_), Values::Float(floats)) = (values, converted) {
        for float in floats.iter_mut().filter(|float| float.is_infinite()) {
            *float = f32::MAX.copysign(*float);
        }
    }
}

#[expect(clippy::float_cmp, reason = "the limits are compared as doubles, as in the reference")]
fn limit_integers(values: &Values, converted: &mut Values) {
    const SIGNED: f64 = 9_223_372_036_854_775_808.0;
    const UNSIGNED: f64 = 18_446_744_073_709_551_616.0;
    if !matches!(values, Values::Float(_) | Values::Double(_)) {
        return;
    }
    let is = |index, limit| values.number(index).is_some_and(|number| number == limit);
    match converted {
        Values::Int64(numbers) => {
            let limited = numbers.iter_mut().enumerate().filter(|(index, _)| is(*index, SIGNED));
            limited.for_each(|(_, number)| *number = i64::MAX);
        }
        Values::UInt64(numbers) => {
            let limited = numbers.iter_mut().enumerate().filter(|(index, _)| is(*index, UNSIGNED));
            limited.for_each(|(_, number)| *number = u64::MAX);
        }
        _ => {}
    }
}

/// Which numbers of a netCDF-3 file reach the program's memory: fractions that do not fit an integer leave there what
/// was before. `None` for all.
#[expect(clippy::cast_precision_loss, reason = "the bounds are compared as doubles, as in the reference")]
pub fn stored_from_classic(values: &Values, to: Atomic) -> Option<Vec<bool>> {
    let (low, high) = to.integer_range()?;
    if !matches!(values, Values::Float(_) | Values::Double(_)) {
        return None;
    }
    let (low, high) = (low as f64, high as f64);
    let is_outside = |index| values.number(index).is_some_and(|number| number < low || number > high);
    Some((0..values.len()).map(|index| !is_outside(index)).collect())
}

/// Integers of the same bits without sign.
pub fn without_sign(values: Values) -> Values {
    match values {
        Values::Byte(numbers) => Values::UByte(numbers.into_iter().map(i8::cast_unsigned).collect()),
        Values::Short(numbers) => Values::UShort(numbers.into_iter().map(i16::cast_unsigned).collect()),
        Values::Int(numbers) => Values::UInt(numbers.into_iter().map(i32::cast_unsigned).collect()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_strings_convert_to_nothing_else() {
        assert_eq!(check(Atomic::Char, Atomic::Char), Ok(()));
        assert_eq!(check(Atomic::String, Atomic::String), Ok(()));
        assert_eq!(check(Atomic::Byte, Atomic::Double), Ok(()));
        assert_eq!(check(Atomic::Char, Atomic::String), Err(CastRefusal::Text));
        assert_eq!(check(Atomic::Int, Atomic::Char), Err(CastRefusal::Text));
        assert_eq!(check(Atomic::String, Atomic::Int), Err(CastRefusal::Strings));
    }

    #[test]
    fn two_to_the_32_fits_an_unsigned_integer_as_a_float() {
        assert!(is_next_to_uint(&Values::Float(vec![0.0, 4_294_967_296.0]), Atomic::UInt));
        assert!(!is_next_to_uint(&Values::Float(vec![-1.0]), Atomic::UInt));
        assert!(!is_next_to_uint(&Values::Double(vec![4_294_967_296.0]), Atomic::UInt));
        assert!(!is_next_to_uint(&Values::Float(vec![0.0]), Atomic::Int));
    }

    #[test]
    fn classic_files_have_no_infinite_doubles_from_floats() {
        assert!(is_infinite_for_classic(&Values::Float(vec![1.0, f32::INFINITY]), Atomic::Double));
        assert!(!is_infinite_for_classic(&Values::Float(vec![f32::INFINITY]), Atomic::Float));
        assert!(!is_infinite_for_classic(&Values::Double(vec![f64::INFINITY]), Atomic::Double));
    }

    #[test]
    fn values_read_from_classic_files_are_limited() {
        let mut floats = Values::Float(vec![f32::NEG_INFINITY, 1.0]);
        limit_for_classic(&Values::Double(vec![-1e300, 1.0]), &mut floats);
        assert_eq!(floats, Values::Float(vec![-f32::MAX, 1.0]));
        let mut integers = Values::Int64(vec![0, 5]);
        limit_for_classic(&Values::Double(vec![9_223_372_036_854_775_808.0, 5.0]), &mut integers);
        assert_eq!(integers, Values::Int64(vec![i64::MAX, 5]));
        let mut integers = Values::UInt64(vec![0]);
        limit_for_classic(&Values::Float(vec![18_446_744_073_709_551_616.0]), &mut integers);
        assert_eq!(integers, Values::UInt64(vec![u64::MAX]));
    }

    #[test]
    fn fractions_out_of_range_do_not_reach_memory() {
        let values = Values::Double(vec![-129.0, 5.5, 128.0]);
        assert_eq!(stored_from_classic(&values, Atomic::Byte), Some(vec![false, true, false]));
        assert_eq!(stored_from_classic(&values, Atomic::Float), None);
        assert_eq!(stored_from_classic(&Values::Int(vec![500]), Atomic::Byte), None);
    }

    #[test]
    fn integers_lose_their_sign_and_keep_their_bits() {
        assert_eq!(without_sign(Values::Byte(vec![-1])), Values::UByte(vec![255]));
        assert_eq!(without_sign(Values::Short(vec![-1])), Values::UShort(vec![65535]));
        assert_eq!(without_sign(Values::Int(vec![-1])), Values::UInt(vec![u32::MAX]));
        assert_eq!(without_sign(Values::Int64(vec![-1])), Values::Int64(vec![-1]));
    }
}

//! Values of a file as the type of the caller's memory, and the other way, by the rules of the file's format.
use crate::c_types::codes::{Code, NC_EBADTYPE, NC_ECHAR, NC_ERANGE, Outcome};
use crate::files::OpenFile;
use crate::files::file_state::FileFormat;
use ncirrus::convert::{ByteRule, CastRules, RangeExcess, cast_with};
use ncirrus::{Atomic, Format, Values};

/// The values as another type, by the rules of a format, and whether all were in its range: the program gets them, or the
/// file, in either case.
///
/// # Errors
/// `NC_ECHAR` between text and numbers, `NC_EBADTYPE` for values of user-defined types.
pub(crate) fn with_rules(format: FileFormat, values: &Values, to: Atomic) -> Outcome<(Values, Outcome<()>)> {
    check(values.atomic().ok_or(Code(NC_EBADTYPE))?, to)?;
    // CDF-1, CDF-2 and netCDF-4 of the classic model have one type of bytes.
    let bytes = match format.format() {
        Format::Classic | Format::Offset64 | Format::NetCdf4Classic => ByteRule::Classic,
        Format::Data64 | Format::NetCdf4 => ByteRule::Typed,
    };
    let rules = CastRules { excess: RangeExcess::Wrap, bytes };
    let (converted, report) = cast_with(values, to, rules)?;
    let is_clean = report.is_clean() || is_next_to_uint(format, values, to);
    Ok((converted, if is_clean { Ok(()) } else { Err(Code(NC_ERANGE)) }))
}

/// The reference compares floats with the largest `NC_UINT` as a float, which is 2^32: that fits, and becomes 0.
fn is_next_to_uint(format: FileFormat, values: &Values, to: Atomic) -> bool {
    let (Values::Float(floats), Atomic::UInt, false) = (values, to, format.is_classic()) else {
        return false;
    };
    floats.iter().all(|float| *float >= 0.0 && *float <= 4_294_967_296.0)
}

/// As [`with_rules`], for values that are put into a file: netCDF-3 has no infinite doubles from floats.
///
/// # Errors
/// As [`with_rules`].
pub(crate) fn to_file(format: FileFormat, values: &Values, to: Atomic) -> Outcome<(Values, Outcome<()>)> {
    let (converted, ended) = with_rules(format, values, to)?;
    let is_infinite = match (values, to) {
        (Values::Float(floats), Atomic::Double) => floats.iter().any(|float| float.is_infinite()),
        _ => false,
    };
    Ok((converted, if is_infinite && format.is_classic() { Err(Code(NC_ERANGE)) } else { ended }))
}

/// As [`with_rules`], of an open file: of netCDF-3, doubles beyond the floats reach memory as the largest of those.
///
/// # Errors
/// As [`with_rules`].
pub(crate) fn to_memory(file: &OpenFile, values: &Values, to: Atomic) -> Outcome<(Values, Outcome<()>)> {
    let (mut converted, ended) = with_rules(file.core.format, values, to)?;
    if file.is_classic() {
        limit_integers(values, &mut converted);
    }
    if let (Values::Double(_), Values::Float(floats)) = (values, &mut converted)
        && file.is_classic()
    {
        for float in floats.iter_mut().filter(|float| float.is_infinite()) {
            *float = f32::MAX.copysign(*float);
        }
    }
    Ok((converted, ended))
}

/// Fractions that are the largest 64-bit integer, rounded, are read from netCDF-3 as that one.
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

/// Which numbers reach the program's memory: of netCDF-3, fractions that do not fit an integer leave there what was before.
/// `None` for all.
#[expect(clippy::cast_precision_loss, reason = "the bounds are compared as doubles, as in the reference")]
pub(crate) fn stored(file: &OpenFile, values: &Values, to: Atomic) -> Option<Vec<bool>> {
    let (low, high) = to.integer_range()?;
    if !file.is_classic() || !matches!(values, Values::Float(_) | Values::Double(_)) {
        return None;
    }
    let (low, high) = (low as f64, high as f64);
    let is_outside = |index| values.number(index).is_some_and(|number| number < low || number > high);
    Some((0..values.len()).map(|index| !is_outside(index)).collect())
}

/// Integers of the same bits without sign.
pub(crate) fn without_sign(values: Values) -> Values {
    match values {
        Values::Byte(numbers) => Values::UByte(numbers.into_iter().map(i8::cast_unsigned).collect()),
        Values::Short(numbers) => Values::UShort(numbers.into_iter().map(i16::cast_unsigned).collect()),
        Values::Int(numbers) => Values::UInt(numbers.into_iter().map(i32::cast_unsigned).collect()),
        other => other,
    }
}

/// Whether values of one type can be converted to another.
///
/// # Errors
/// `NC_ECHAR` between text and numbers, `NC_EBADTYPE` between strings and others.
pub(crate) fn check(from: Atomic, to: Atomic) -> Outcome<()> {
    if from != to && (from == Atomic::Char || to == Atomic::Char) {
        return Err(Code(NC_ECHAR));
    }
    if from != to && (from == Atomic::String || to == Atomic::String) {
        return Err(Code(NC_EBADTYPE));
    }
    Ok(())
}

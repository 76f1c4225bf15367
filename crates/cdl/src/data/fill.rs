//! Which elements print as `_` (docs/spec/nczarr.md 12.2, "Fill").
use ncirrus_model::{Atomic, TypeRef, Values, Variable, default_fill};

/// The value that prints as `_`, if any: the attribute `_FillValue` of the variable's own type, otherwise the type's
/// default; neither bytes nor user-defined types have a default.
pub(super) fn fill_of(variable: &Variable) -> Option<Values> {
    if let Some(own) = variable.fill_attribute() {
        return Some(own.clone());
    }
    match variable.ty {
        TypeRef::Atomic(Atomic::Byte | Atomic::UByte) => None,
        TypeRef::Atomic(atomic) => Some(default_fill(atomic)),
        TypeRef::User(_) => None,
    }
}

/// Whether `values[index]` is the fill value, which is a single value of the same type.
pub(super) fn is_fill(values: &Values, index: usize, fill: &Values) -> bool {
    match (values, fill) {
        (Values::Float(v), Values::Float(fill)) => same_at(v, index, fill, float_is),
        (Values::Double(v), Values::Double(fill)) => same_at(v, index, fill, double_is),
        (Values::String(v), Values::String(fill)) => v.get(index) == fill.get(0),
        (Values::Char(v), Values::Char(fill)) => same_at(v, index, fill, |value, fill| value == fill),
        _ => match (values.integer(index), fill.integer(0)) {
            (Some(value), Some(fill)) => value == fill,
            _ => values.slice(index..index + 1) == *fill,
        },
    }
}

fn same_at<T: Copy>(values: &[T], index: usize, fill: &[T], is: impl Fn(T, T) -> bool) -> bool {
    matches!((values.get(index), fill.first()), (Some(&value), Some(&fill)) if is(value, fill))
}

/// Equal within the float type's epsilon, relative to the value. NaN equals NaN.
pub(super) fn float_is(value: f32, fill: f32) -> bool {
    if (value > 0.0) != (fill > 0.0) {
        return false;
    }
    if value.is_finite() && fill.is_finite() {
        return (value - fill).abs() <= (f32::EPSILON * fill).abs();
    }
    (value.is_nan() && fill.is_nan()) || (value.is_infinite() && fill.is_infinite())
}

/// As [`float_is`], for doubles.
pub(super) fn double_is(value: f64, fill: f64) -> bool {
    if (value > 0.0) != (fill > 0.0) {
        return false;
    }
    if value.is_finite() && fill.is_finite() {
        return (value - fill).abs() <= (f64::EPSILON * fill).abs();
    }
    (value.is_nan() && fill.is_nan()) || (value.is_infinite() && fill.is_infinite())
}

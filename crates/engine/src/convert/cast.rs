//! Casts between the numeric types with netCDF's range errors (docs/spec/nczarr.md 4.8).
//!
//! A value outside the range of the target is reported after everything was converted, as the C library does
//! (`NC_ERANGE`). What replaces it follows the C library too, see [`RangeExcess`]. Fractions are truncated. NaN to an
//! integer is a range error here, though not in the C library: a missing value must not become a number silently. Char
//! and string do not convert (`NC_ECHAR`).
use ncirrus_layout::{Error, Result};
use ncirrus_model::{Atomic, Values, default_fill};

/// Which values were outside the range of the target type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RangeReport {
    /// How many there were.
    pub count: usize,
    /// Index of the first one.
    pub first: Option<usize>,
}

impl RangeReport {
    /// Whether every value was in range.
    pub fn is_clean(&self) -> bool {
        self.count == 0
    }
}

/// How to cast.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CastRules {
    /// What replaces a value outside the range.
    pub excess: RangeExcess,
    /// Whether bytes may be treated as unsigned.
    pub bytes: ByteRule,
}

/// What replaces a value outside the range of the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RangeExcess {
    /// The low bits, as in netCDF-4 and NCZarr files.
    #[default]
    Wrap,
    /// The default fill value of the target, as in classic files.
    Fill,
    /// The nearest value of the target, 0 for NaN, as HDF5 converts.
    Nearest,
}

/// Whether bytes may be treated as unsigned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ByteRule {
    /// `byte` and `ubyte` are two types.
    #[default]
    Typed,
    /// Between `byte` and `ubyte` nothing is out of range: CDF-1 and CDF-2 have one byte type.
    Classic,
}

/// The values as another type, and which ones were out of range, by the rules of netCDF-4.
///
/// # Errors
/// `Invalid` if text is to become numbers or numbers text (`NC_ECHAR`), and for user-defined types.
pub fn cast(values: &Values, to: Atomic) -> Result<(Values, RangeReport)> {
    cast_with(values, to, CastRules::default())
}

/// As [`cast`], with other rules.
///
/// # Errors
/// As [`cast`].
pub fn cast_with(values: &Values, to: Atomic, rules: CastRules) -> Result<(Values, RangeReport)> {
    let from = values.atomic().ok_or_else(|| {
        Error::invalid(format!("values of a user-defined type cannot be converted to {}", to.name()))
    })?;
    if from == to {
        return Ok((values.clone(), RangeReport::default()));
    }
    if !(from.is_numeric() && to.is_numeric()) {
        return Err(Error::invalid(format!("{} cannot be converted to {}", from.name(), to.name())));
    }
    let one_type = matches!((from, to), (Atomic::Byte, Atomic::UByte) | (Atomic::UByte, Atomic::Byte));
    if let (ByteRule::Classic, true, Some(bytes)) = (rules.bytes, one_type, values.as_bytes()) {
        let same =
            Values::from_native_bytes(to, bytes).ok_or_else(|| Error::internal("bytes of one byte"))?;
        return Ok((same, RangeReport::default()));
    }
    let mut report = RangeReport::default();
    let values = numbers(values, to, rules.excess, &mut report)?;
    Ok((values, report))
}

/// The replacements for values outside the range of `T`.
#[derive(Clone, Copy)]
enum RangeStandIn<T> {
    LowBits,
    One(T),
    Nearest,
}

fn numbers(values: &Values, to: Atomic, excess: RangeExcess, report: &mut RangeReport) -> Result<Values> {
    macro_rules! into {
        ($variant:ident) => {{
            let stand = match (excess, default_fill(to)) {
                (RangeExcess::Nearest, _) => RangeStandIn::Nearest,
                (RangeExcess::Fill, Values::$variant(fill)) => {
                    fill.first().map_or(RangeStandIn::LowBits, |one| RangeStandIn::One(*one))
                }
                _ => RangeStandIn::LowBits,
            };
            Values::$variant(column(values, stand, report)?)
        }};
    }
    Ok(match to {
        Atomic::Byte => into!(Byte),
        Atomic::Short => into!(Short),
        Atomic::Int => into!(Int),
        Atomic::Int64 => into!(Int64),
        Atomic::UByte => into!(UByte),
        Atomic::UShort => into!(UShort),
        Atomic::UInt => into!(UInt),
        Atomic::UInt64 => into!(UInt64),
        Atomic::Float => into!(Float),
        Atomic::Double => into!(Double),
        Atomic::Char | Atomic::String => return Err(Error::internal("numbers cannot be converted to text")),
    })
}

fn column<T: CastTarget>(
    values: &Values,
    stand: RangeStandIn<T>,
    report: &mut RangeReport,
) -> Result<Vec<T>> {
    macro_rules! from {
        ($vector:expr, $number:path, $convert:path, $nearest:path) => {
            match stand {
                // The nearest number is used in any case; whether the value fitted, which the report counts, only the
                // conversion knows.
                RangeStandIn::Nearest => each($vector, None, report, |value| {
                    ($nearest($number(value)), $convert($number(value)).1)
                }),
                RangeStandIn::One(one) => each($vector, Some(one), report, |value| $convert($number(value))),
                RangeStandIn::LowBits => each($vector, None, report, |value| $convert($number(value))),
            }
        };
    }
    Ok(match values {
        Values::Byte(from) => from!(from, i128::from, T::from_int, T::nearest_int),
        Values::Short(from) => from!(from, i128::from, T::from_int, T::nearest_int),
        Values::Int(from) => from!(from, i128::from, T::from_int, T::nearest_int),
        Values::Int64(from) => from!(from, i128::from, T::from_int, T::nearest_int),
        Values::UByte(from) => from!(from, i128::from, T::from_int, T::nearest_int),
        Values::UShort(from) => from!(from, i128::from, T::from_int, T::nearest_int),
        Values::UInt(from) => from!(from, i128::from, T::from_int, T::nearest_int),
        Values::UInt64(from) => from!(from, i128::from, T::from_int, T::nearest_int),
        Values::Float(from) => from!(from, f64::from, T::from_float, T::nearest_float),
        Values::Double(from) => from!(from, f64::from, T::from_float, T::nearest_float),
        _ => return Err(Error::internal("text cannot be converted to numbers")),
    })
}

fn each<S: Copy, T: Copy>(
    from: &[S],
    fill: Option<T>,
    report: &mut RangeReport,
    convert: impl Fn(S) -> (T, bool),
) -> Vec<T> {
    let one = |(index, value): (usize, &S)| {
        let (value, outside) = convert(*value);
        if !outside {
            return value;
        }
        report.count += 1;
        report.first.get_or_insert(index);
        fill.unwrap_or(value)
    };
    from.iter().enumerate().map(one).collect()
}

/// A type that numbers are cast to.
trait CastTarget: Copy {
    /// The low bits, or the nearest float; and whether the value is outside the range.
    fn from_int(value: i128) -> (Self, bool);
    /// The integer part, or the nearest float; and whether the value is outside the range.
    fn from_float(value: f64) -> (Self, bool);
    /// The nearest value.
    fn nearest_int(value: i128) -> Self;
    /// The nearest value to the integer part, or the nearest float; 0 for NaN.
    fn nearest_float(value: f64) -> Self;
}

macro_rules! integer_target {
    ($($ty:ty, $whole:path;)*) => {$(
        impl CastTarget for $ty {
            #[expect(clippy::cast_possible_truncation, reason = "the low bits, as documented")]
            fn from_int(value: i128) -> (Self, bool) {
                let low_bits = value as Self;
                (low_bits, i128::from(low_bits) != value)
            }

            // The bounds are compared as doubles, as in the C library: 2^63 counts as inside the range of int64.
            fn from_float(value: f64) -> (Self, bool) {
                let (low_bits, _) = Self::from_int(i128::from($whole(value)));
                (low_bits, value.is_nan() || value < Self::MIN as f64 || value > Self::MAX as f64)
            }

            fn nearest_int(value: i128) -> Self {
                let bound = if value < 0 { Self::MIN } else { Self::MAX };
                Self::try_from(value).unwrap_or(bound)
            }

            #[expect(clippy::cast_possible_truncation, reason = "stops at the bounds, as documented")]
            fn nearest_float(value: f64) -> Self {
                value as Self
            }
        }
    )*};
}

integer_target! {
    i8, whole32; i16, whole32; i32, whole32; i64, whole64;
    u8, whole32; u16, whole32; u32, whole64; u64, whole_unsigned;
}

/// The integer part; the smallest integer for values that have none, as on the processors that the C library runs on.
#[expect(clippy::cast_possible_truncation, reason = "in range, or replaced")]
fn whole64(value: f64) -> i64 {
    let bound = 2f64.powi(63);
    if value >= -bound && value < bound { value as i64 } else { i64::MIN }
}

fn whole32(value: f64) -> i32 {
    i32::try_from(whole64(value)).unwrap_or(i32::MIN)
}

fn whole_unsigned(value: f64) -> u64 {
    let bound = 2f64.powi(63);
    if value >= bound {
        whole64(value - bound).cast_unsigned() ^ (1 << 63)
    } else {
        whole64(value).cast_unsigned()
    }
}

impl CastTarget for f32 {
    #[expect(clippy::cast_precision_loss, reason = "the nearest float is meant")]
    fn from_int(value: i128) -> (Self, bool) {
        (value as Self, false)
    }

    #[expect(clippy::cast_possible_truncation, reason = "the nearest float is meant")]
    fn from_float(value: f64) -> (Self, bool) {
        (value as Self, value.abs() > f64::from(Self::MAX))
    }

    fn nearest_int(value: i128) -> Self {
        Self::from_int(value).0
    }

    fn nearest_float(value: f64) -> Self {
        Self::from_float(value).0
    }
}

impl CastTarget for f64 {
    #[expect(clippy::cast_precision_loss, reason = "the nearest double is meant")]
    fn from_int(value: i128) -> (Self, bool) {
        (value as Self, false)
    }

    fn from_float(value: f64) -> (Self, bool) {
        (value, false)
    }

    fn nearest_int(value: i128) -> Self {
        Self::from_int(value).0
    }

    fn nearest_float(value: f64) -> Self {
        Self::from_float(value).0
    }
}

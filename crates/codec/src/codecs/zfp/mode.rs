//! The limits that users request, and their stored form.
use super::header::{CodingLimits, ZfpHeader, ZfpKind};
use super::{NAME, header_of};
use crate::parameters::CodecParameters;
use crate::{CodecError, DecodedElement, NumberKind};
use serde_json::{Map, Value, json};

/// How the limits of a block are chosen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum ZfpMode {
    /// Bits per number.
    Rate(f64),
    /// Bit planes.
    Precision(u32),
    /// The maximum error.
    Accuracy(f64),
    /// No error at all.
    Reversible,
    /// Minimum and maximum bits of a block, bit planes, lowest exponent.
    Expert([u32; 3], i32),
}

impl ZfpMode {
    /// From the parameters that users of the HDF5 filter give: `None` if they are something else, for instance a
    /// header.
    pub(super) fn of_user(numbers: &[u32]) -> Option<Self> {
        let double = || {
            let [_, _, low, high, ..] = numbers else { return None };
            Some(f64::from_bits(u64::from(*low) | (u64::from(*high) << 32)))
        };
        match numbers {
            [1, ..] => double().map(Self::Rate),
            [2, _, planes, ..] => Some(Self::Precision(*planes)),
            [3, ..] => double().map(Self::Accuracy),
            [4, _, min, max, planes, exponent, ..] => {
                Some(Self::Expert([*min, *max, *planes], exponent.cast_signed()))
            }
            [5, ..] => Some(Self::Reversible),
            _ => None,
        }
    }

    /// The same as those parameters.
    pub(super) fn to_user(self) -> Vec<u32> {
        let double = |mode: u32, value: f64| {
            let words = value.to_bits();
            let word = |at: u32| u32::try_from((words >> at) & u64::from(u32::MAX)).unwrap_or(0);
            vec![mode, 0, word(0), word(32)]
        };
        match self {
            Self::Rate(rate) => double(1, rate),
            Self::Precision(planes) => vec![2, 0, planes],
            Self::Accuracy(error) => double(3, error),
            Self::Expert([min, max, planes], exponent) => {
                vec![4, 0, min, max, planes, exponent.cast_unsigned()]
            }
            Self::Reversible => vec![5],
        }
    }

    /// From the members that numcodecs has.
    ///
    /// # Errors
    /// `Malformed` if they are invalid.
    pub(super) fn of_members(members: &CodecParameters) -> Result<Self, CodecError> {
        let number = |key: &str| -> Result<f64, CodecError> {
            let within = members.get("compression_kwargs").and_then(|kwargs| kwargs.get(key)?.as_f64());
            let value = match members.number(key)?.filter(|value| *value >= 0.0) {
                Some(value) => Some(value),
                None => within,
            };
            value.ok_or_else(|| members.missing(key))
        };
        match members.integer("mode")?.unwrap_or(4) {
            2 => Ok(Self::Rate(number("rate")?)),
            3 => {
                let planes = number("precision")?;
                let whole = (1..=64u32).find(|count| f64::from(*count) == planes);
                whole.map(Self::Precision).ok_or_else(|| members.bad("precision", &Value::from(planes)))
            }
            4 => Ok(Self::Accuracy(number("tolerance")?)),
            5 => Ok(Self::Reversible),
            other => Err(members.bad("mode", &Value::from(other))),
        }
    }

    /// From the members of the registry of Zarr v3.
    ///
    /// # Errors
    /// `Malformed` if they are invalid.
    pub(super) fn of_words(members: &CodecParameters) -> Result<Self, CodecError> {
        let number = |key: &str| members.number(key)?.ok_or_else(|| members.missing(key));
        let whole = |key: &str| -> Result<u32, CodecError> {
            let value = members.integer(key)?.ok_or_else(|| members.missing(key))?;
            u32::try_from(value).map_err(|_| members.bad(key, &Value::from(value)))
        };
        match members.text("mode")? {
            Some("reversible") => Ok(Self::Reversible),
            Some("fixed_accuracy") => Ok(Self::Accuracy(number("tolerance")?)),
            Some("fixed_rate") => Ok(Self::Rate(number("rate")?)),
            Some("fixed_precision") => Ok(Self::Precision(whole("precision")?)),
            Some("expert") => {
                let min = members.integer("minexp")?.ok_or_else(|| members.missing("minexp"))?;
                let min = i32::try_from(min).map_err(|_| members.bad("minexp", &Value::from(min)))?;
                Ok(Self::Expert([whole("minbits")?, whole("maxbits")?, whole("maxprec")?], min))
            }
            Some(other) => Err(members.bad("mode", &Value::from(other))),
            None => Err(members.missing("mode")),
        }
    }

    /// The same as those members.
    ///
    /// # Errors
    /// `Unsupported` if numcodecs has no such mode.
    pub(super) fn to_members(self) -> Result<Map<String, Value>, CodecError> {
        let (mode, tolerance, rate, precision) = match self {
            Self::Rate(rate) => (2, json!(-1), json!(rate), json!(-1)),
            Self::Precision(planes) => (3, json!(-1), json!(-1), json!(planes)),
            Self::Accuracy(error) => (4, json!(error), json!(-1), json!(-1)),
            Self::Reversible => (5, json!(-1), json!(-1), json!(-1)),
            Self::Expert(..) => {
                return Err(CodecError::unsupported(
                    NAME,
                    "block limits that numcodecs has no parameters for",
                ));
            }
        };
        let members =
            [("mode", json!(mode)), ("tolerance", tolerance), ("rate", rate), ("precision", precision)];
        Ok(members.map(|(key, value)| (key.to_owned(), value)).into_iter().collect())
    }

    /// The mode that a header describes.
    pub(super) fn of(header: &ZfpHeader) -> Self {
        let CodingLimits { min_bits, max_bits, max_planes, min_exponent, .. } = header.coding;
        let all = CodingLimits::ALL;
        let numbers = f64::from(4u32.pow(u32::try_from(header.shape.len()).unwrap_or(1)));
        let any_bits = min_bits <= all.min_bits && max_bits >= all.max_bits;
        let any_planes = max_planes >= all.max_planes;
        if header.coding.is_reversible() {
            Self::Reversible
        } else if min_bits == max_bits && any_planes && min_exponent == all.min_exponent {
            Self::Rate(f64::from(max_bits) / numbers)
        } else if any_bits && min_exponent == all.min_exponent {
            Self::Precision(max_planes)
        } else if any_bits && any_planes {
            Self::Accuracy(f64::from(min_exponent).exp2())
        } else {
            Self::Expert([min_bits, max_bits, max_planes], min_exponent)
        }
    }

    /// The limits, for numbers along `rank` axes.
    pub(super) fn coding(self, kind: ZfpKind, rank: usize) -> Result<CodingLimits, CodecError> {
        let bad = |what: &str| CodecError::malformed(NAME, format!("{what} in {self:?}"));
        let coding = match self {
            Self::Rate(rate) => {
                // As `zfp_stream_set_rate` rounds: a block has 4 numbers along each axis.
                let numbers = 4f64.powi(i32::try_from(rank).unwrap_or(4));
                let bits = (numbers * rate + 0.5).floor().max(f64::from(kind.min_rate_bits()));
                let bits = (1..=super::header::MAX_BITS).find(|count| f64::from(*count) >= bits);
                let bits = bits.filter(|_| rate > 0.0).ok_or_else(|| bad("an impossible rate"))?;
                CodingLimits { min_bits: bits, max_bits: bits, ..CodingLimits::ALL }
            }
            Self::Precision(planes @ 1..=64) => CodingLimits { max_planes: planes, ..CodingLimits::ALL },
            Self::Precision(_) => return Err(bad("a number of bit planes outside 1 to 64")),
            Self::Accuracy(error) if error >= 0.0 && error.is_finite() => {
                CodingLimits { min_exponent: exponent_of(error), ..CodingLimits::ALL }
            }
            Self::Accuracy(_) => return Err(bad("an impossible tolerance")),
            // zfp marks this mode by an exponent below the smallest one.
            Self::Reversible => {
                CodingLimits { min_exponent: CodingLimits::ALL.min_exponent - 1, ..CodingLimits::ALL }
            }
            Self::Expert([min, max, planes], exponent) => {
                let sound = (1..=max).contains(&min)
                    && max <= super::header::MAX_BITS
                    && (1..=64).contains(&planes)
                    && (-1075..=1023).contains(&exponent);
                if !sound {
                    return Err(bad("impossible block limits"));
                }
                CodingLimits {
                    min_bits: min,
                    max_bits: max,
                    max_planes: planes,
                    min_exponent: exponent,
                    ..CodingLimits::ALL
                }
            }
        };
        Ok(coding.named())
    }
}

/// The exponent of the largest power of two that is not larger.
fn exponent_of(error: f64) -> i32 {
    let min = super::header::MIN_EXPONENT;
    (min..=1023).rev().find(|exponent| f64::from(*exponent).exp2() <= error).unwrap_or(min)
}

/// The members for the parameters of HDF5, which are a header or what users give.
///
/// # Errors
/// `Malformed` if they are neither, `Unsupported` if numcodecs has no such mode.
pub(crate) fn members(numbers: &[u32]) -> Result<Map<String, Value>, CodecError> {
    match ZfpMode::of_user(numbers) {
        Some(mode) => mode.to_members(),
        None => ZfpMode::of(&header_of(numbers)?).to_members(),
    }
}

/// The parameters that users of the HDF5 filter would give for some members.
///
/// # Errors
/// `Malformed` if they are invalid.
pub(crate) fn user_numbers(members: &CodecParameters) -> Result<Vec<u32>, CodecError> {
    ZfpMode::of_members(members).map(ZfpMode::to_user)
}

/// Whether numbers are preserved: the mode is reversible.
pub(crate) fn is_reversible(numbers: &[u32]) -> bool {
    match ZfpMode::of_user(numbers) {
        Some(mode) => mode == ZfpMode::Reversible,
        None => header_of(numbers).is_ok_and(|header| header.coding.is_reversible()),
    }
}

impl ZfpHeader {
    /// For chunks of a shape, the slowest axis first.
    ///
    /// # Errors
    /// `Unsupported` if numbers are not of 4 or 8 bytes in little-endian order, or their type is not known, or there
    /// are more than four axes longer than 1; `Malformed` if the limits are invalid.
    pub(super) fn new(mode: ZfpMode, element: &DecodedElement, shape: &[u64]) -> Result<Self, CodecError> {
        Self::of_axes(mode, element, axes(shape)?)
    }

    /// As [`new`](Self::new), with all axes, as zfp itself sees an array.
    ///
    /// # Errors
    /// As [`new`](Self::new); `Unsupported` for more than four axes.
    pub(super) fn of_field(
        mode: ZfpMode,
        element: &DecodedElement,
        shape: &[u64],
    ) -> Result<Self, CodecError> {
        let unfit = || CodecError::unsupported(NAME, format!("chunks of shape {shape:?}"));
        let lens = shape.iter().rev().map(|len| usize::try_from(*len).ok().filter(|len| *len > 0));
        let mut lens: Vec<usize> = lens.collect::<Option<_>>().ok_or_else(unfit)?;
        if lens.is_empty() {
            lens.push(1);
        }
        if lens.len() > 4 { Err(unfit()) } else { Self::of_axes(mode, element, lens) }
    }

    fn of_axes(mode: ZfpMode, element: &DecodedElement, shape: Vec<usize>) -> Result<Self, CodecError> {
        let kind = kind_of(element)?;
        let coding = mode.coding(kind, shape.len())?;
        Ok(Self { kind, shape, coding })
    }
}

/// Lengths along the axes that are longer than 1, the fastest first.
pub(super) fn axes(shape: &[u64]) -> Result<Vec<usize>, CodecError> {
    let unfit = || CodecError::unsupported(NAME, format!("chunks of shape {shape:?}"));
    let lens = shape.iter().rev().filter(|len| **len != 1).map(|len| usize::try_from(*len).ok());
    let mut lens: Vec<usize> = lens.collect::<Option<_>>().ok_or_else(unfit)?;
    if lens.is_empty() {
        lens.push(1);
    }
    if lens.len() > 4 || lens.contains(&0) { Err(unfit()) } else { Ok(lens) }
}

/// The ZFP type of a chunk's numbers.
pub(super) fn kind_of(element: &DecodedElement) -> Result<ZfpKind, CodecError> {
    let number = element.number.ok_or_else(super::unknown_type)?;
    match (number.kind, number.size) {
        _ if number.big_endian => Err(CodecError::unsupported(NAME, "big-endian numbers")),
        // HDF5's filter treats unsigned numbers as signed.
        (NumberKind::Signed | NumberKind::Unsigned, 4) => Ok(ZfpKind::Int32),
        (NumberKind::Signed | NumberKind::Unsigned, 8) => Ok(ZfpKind::Int64),
        (NumberKind::Float, 4) => Ok(ZfpKind::Float32),
        (NumberKind::Float, 8) => Ok(ZfpKind::Float64),
        (_, size) => Err(CodecError::unsupported(NAME, format!("numbers of {size} bytes"))),
    }
}

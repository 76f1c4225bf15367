//! Floats of 4, 6 and 8 bits.

/// A format of floats that fit in a byte (registry of extensions of Zarr v3, data types `float4_*`, `float6_*`, `float8_*`).
/// All their values are values of a binary32.
///
/// ```
/// use ncirrus_model::SmallFloat;
/// assert_eq!(SmallFloat::find("float8_e4m3fn").map(|format| format.value(0x7e)), Some(448.0));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SmallFloat {
    name: &'static str,
    exponent_bits: u32,
    fraction_bits: u32,
    bias: i32,
    not_finite: NotFinite,
}

/// How a format represents infinities and NaN.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NotFinite {
    /// As IEEE 754: the largest exponent.
    Ieee,
    /// NaN is all bits but the sign; no infinities.
    AllOnes,
    /// NaN is the negative zero; no infinities.
    NegativeZero,
    /// Neither.
    Nothing,
    /// Only an exponent, without a sign and a zero; NaN is all bits.
    Exponent,
}

const FORMATS: [SmallFloat; 11] = [
    format("float8_e3m4", [3, 4], 3, NotFinite::Ieee),
    format("float8_e4m3", [4, 3], 7, NotFinite::Ieee),
    format("float8_e4m3fn", [4, 3], 7, NotFinite::AllOnes),
    format("float8_e4m3fnuz", [4, 3], 8, NotFinite::NegativeZero),
    format("float8_e4m3b11fnuz", [4, 3], 11, NotFinite::NegativeZero),
    format("float8_e5m2", [5, 2], 15, NotFinite::Ieee),
    format("float8_e5m2fnuz", [5, 2], 16, NotFinite::NegativeZero),
    format("float8_e8m0fnu", [8, 0], 127, NotFinite::Exponent),
    format("float6_e2m3fn", [2, 3], 1, NotFinite::Nothing),
    format("float6_e3m2fn", [3, 2], 3, NotFinite::Nothing),
    format("float4_e2m1fn", [2, 1], 1, NotFinite::Nothing),
];

const fn format(name: &'static str, bits: [u32; 2], bias: i32, not_finite: NotFinite) -> SmallFloat {
    let [exponent_bits, fraction_bits] = bits;
    SmallFloat { name, exponent_bits, fraction_bits, bias, not_finite }
}

impl SmallFloat {
    /// The format of that name.
    pub fn find(name: &str) -> Option<Self> {
        FORMATS.iter().find(|format| format.name == name).copied()
    }

    /// All formats.
    pub fn all() -> impl Iterator<Item = Self> {
        FORMATS.into_iter()
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        self.name
    }

    /// Bits of a number.
    pub fn bits(self) -> u32 {
        let sign = u32::from(self.not_finite != NotFinite::Exponent);
        sign + self.exponent_bits + self.fraction_bits
    }

    /// The value of a code, whose upper bits are ignored if the format has fewer.
    #[expect(clippy::cast_precision_loss, reason = "at most five bits become a float")]
    pub fn value(self, code: u8) -> f32 {
        let code = u32::from(code) & ((1 << self.bits()) - 1);
        let bits = self.exponent_bits + self.fraction_bits;
        if self.not_finite == NotFinite::Exponent {
            return if code == 255 { f32::NAN } else { power_of_two(code) };
        }
        let (sign, magnitude) = (code >> bits, code & ((1 << bits) - 1));
        let (exponent, fraction) =
            (magnitude >> self.fraction_bits, magnitude & ((1 << self.fraction_bits) - 1));
        let signed = |value: f32| if sign == 1 { -value } else { value };
        let largest = (1 << self.exponent_bits) - 1;
        match self.not_finite {
            NotFinite::Ieee if exponent == largest && fraction == 0 => return signed(f32::INFINITY),
            NotFinite::Ieee if exponent == largest => return signed(f32::NAN),
            NotFinite::AllOnes if magnitude == (1 << bits) - 1 => return signed(f32::NAN),
            NotFinite::NegativeZero if sign == 1 && magnitude == 0 => return f32::NAN,
            _ => {}
        }
        let (digits, exponent) =
            if exponent == 0 { (fraction, 1) } else { (fraction + (1 << self.fraction_bits), exponent) };
        let scale = exponent.cast_signed() - self.bias - self.fraction_bits.cast_signed();
        signed(digits as f32 * 2f32.powi(scale))
    }

    /// The code of the nearest value; of two, the even one. `None` if the format has no such value: beyond the largest
    /// one, NaN or an infinity that it lacks.
    pub fn nearest(self, value: f32) -> Option<u8> {
        let codes = u8::try_from((1u32 << self.bits()) - 1).unwrap_or(u8::MAX);
        let all = || (0..=codes).map(|code| (code, self.value(code)));
        let has_sign = |known: f32| known.is_sign_negative() == value.is_sign_negative();
        if value.is_nan() {
            let nan = || all().filter(|(_, known)| known.is_nan());
            let found = nan().find(|(_, known)| has_sign(*known)).or_else(|| nan().next());
            return found.map(|(code, _)| code);
        }
        let same = || all().filter(|(_, known)| *known == value);
        if let Some((code, _)) = same().find(|(_, known)| has_sign(*known)).or_else(|| same().next()) {
            return Some(code);
        }
        let finite = || all().filter(|(_, known)| known.is_finite() && (*known == 0.0 || has_sign(*known)));
        let distance = |known: f32| (f64::from(known) - f64::from(value)).abs();
        let largest = finite().map(|(_, known)| f64::from(known.abs())).fold(0f64, f64::max);
        let below = finite().map(|(_, known)| f64::from(known.abs())).filter(|known| *known < largest);
        let step = largest - below.fold(0f64, f64::max);
        if !value.is_finite() || f64::from(value.abs()) >= largest + step / 2.0 {
            return None;
        }
        let order = |one: &(u8, f32), other: &(u8, f32)| {
            distance(one.1).total_cmp(&distance(other.1)).then((one.0 & 1).cmp(&(other.0 & 1)))
        };
        finite().min_by(order).map(|(code, _)| code)
    }
}

/// 2 to the power of `code - 127`.
fn power_of_two(code: u32) -> f32 {
    // The smallest one is not a normal number.
    if code == 0 { f32::from_bits(1 << 22) } else { f32::from_bits(code << 23) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str) -> SmallFloat {
        SmallFloat::find(name).unwrap()
    }

    #[test]
    fn codes_have_the_values_of_the_formats() {
        // Smallest and largest values of each, from the texts of the registry.
        for (name, code, expected) in [
            ("float8_e4m3fn", 0x01, 2f32.powi(-9)),
            ("float8_e4m3fn", 0x7e, 448.0),
            ("float8_e4m3", 0x77, 240.0),
            ("float8_e4m3", 0x78, f32::INFINITY),
            ("float8_e4m3fnuz", 0x7f, 240.0),
            ("float8_e4m3b11fnuz", 0x7f, 30.0),
            ("float8_e5m2", 0x7b, 57344.0),
            ("float8_e5m2", 0xfc, f32::NEG_INFINITY),
            ("float8_e5m2fnuz", 0x7f, 57344.0),
            ("float8_e3m4", 0x6f, 15.5),
            ("float8_e8m0fnu", 0, 2f32.powi(-127)),
            ("float8_e8m0fnu", 0xfe, 2f32.powi(127)),
            ("float6_e2m3fn", 0x1f, 7.5),
            ("float6_e3m2fn", 0x3f, -28.0),
            ("float4_e2m1fn", 0xf7, 6.0),
            ("float4_e2m1fn", 0x01, 0.5),
        ] {
            assert_eq!(of(name).value(code).to_bits(), expected.to_bits(), "{name} {code:#x}");
        }
        for (name, code) in [
            ("float8_e4m3fn", 0x7f),
            ("float8_e4m3fnuz", 0x80),
            ("float8_e5m2", 0x7d),
            ("float8_e8m0fnu", 0xff),
        ] {
            assert!(of(name).value(code).is_nan(), "{name} {code:#x}");
        }
    }

    #[test]
    fn every_value_comes_back() {
        for format in SmallFloat::all() {
            for code in 0..=u8::MAX {
                let known = format.value(code);
                let back = format.value(format.nearest(known).unwrap());
                let is_same = known.to_bits() == back.to_bits() || (known.is_nan() && back.is_nan());
                assert!(is_same, "{} {code}", format.name());
            }
        }
    }

    #[test]
    fn numbers_are_rounded_to_even_and_refused_beyond_the_largest() {
        let near =
            |value: f32| of("float8_e4m3fn").nearest(value).map(|code| of("float8_e4m3fn").value(code));
        assert_eq!(near(17.0), Some(16.0));
        assert_eq!(near(19.0), Some(20.0));
        assert_eq!(near(463.0), Some(448.0));
        assert_eq!(near(465.0), None);
        assert_eq!(near(f32::INFINITY), None);
        assert_eq!(of("float4_e2m1fn").nearest(f32::NAN), None);
        assert_eq!(of("float8_e8m0fnu").nearest(-1.0), None);
        assert_eq!(of("float8_e8m0fnu").nearest(3.1).map(|code| of("float8_e8m0fnu").value(code)), Some(4.0));
    }
}

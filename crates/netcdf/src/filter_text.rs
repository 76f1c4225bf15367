//! Filters as text, as programs take them from their users: `32001,0,0,0,0,5|1,9` (netCDF-C's
//! `ncaux_h5filterspec_parselist`, and the option `-F` of `nccopy`).
//!
//! A parameter is a number. A letter after it states its type: `b`, `s`, `l`, `ll` for integers of 8, 16, 64, 64 bits,
//! each with `u` before it for those without a sign, `f` for a float, `d` for a double. Filters take words of 32 bits:
//! wide numbers become two words, the low one first.

/// A filter and its parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilterText {
    /// Its number in HDF5's registry.
    pub id: u32,
    /// Its parameters as words.
    pub parameters: Vec<u32>,
}

impl FilterText {
    /// `ID,PARAMETER,..`; `None` for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.trim().trim_matches(|c| c == '"' || c == '\'').split(',').map(str::trim);
        let id = parts.next()?.parse().ok()?;
        let words = parts.map(parameter).collect::<Option<Vec<_>>>()?;
        Some(Self { id, parameters: words.concat() })
    }
}

/// Filters of a list: between them are bars, or ampersands.
pub fn parts(text: &str) -> impl Iterator<Item = &str> {
    text.split(['|', '&'])
}

/// A list with the format that its filters are of before it, in brackets: `[1]307,9`. The number of the format, if there
/// is one, and the list. `None` for a format that is not a number.
pub fn split_format(text: &str) -> Option<(Option<i32>, &str)> {
    match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((format, rest)) => Some((Some(format.trim().parse().ok()?), rest)),
        None => Some((None, text)),
    }
}

/// One parameter as netCDF-C understands it: bits that do not fit its type are cut off. `None` for what is not a
/// number.
pub fn parameter(text: &str) -> Option<Vec<u32>> {
    if let Some(digits) = hexadecimal(text) {
        return Some(words(u64::from_str_radix(digits, 16).ok()?));
    }
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let tag = text[digits.len()..].to_ascii_lowercase();
    let cut = |mask: i128| digits.parse::<i128>().ok().and_then(|value| u64::try_from(value & mask).ok());
    match tag.as_str() {
        "f" => Some(vec![digits.parse::<f32>().ok()?.to_bits()]),
        "d" => Some(split(digits.parse::<f64>().ok()?.to_bits())),
        "" if digits.contains(['.', 'e', 'E']) => Some(split(digits.parse::<f64>().ok()?.to_bits())),
        "" | "u" => Some(words(cut(0xffff_ffff)?)),
        "s" | "us" => Some(words(cut(0xffff)?)),
        "b" | "ub" => Some(words(cut(0xff)?)),
        "l" | "ul" | "ll" | "ull" => Some(split(cut(0xffff_ffff_ffff_ffff)?)),
        _ => None,
    }
}

/// One parameter, of which nothing is cut off silently: integers without a letter, and hexadecimal ones with a sign or a
/// letter, that do not fit 32 bits are two words. `None` for what is not a number of at most 64 bits.
pub fn whole_parameter(text: &str) -> Option<Vec<u32>> {
    let (is_negative, digits) = text.strip_prefix('-').map_or((false, text), |digits| (true, digits));
    let (magnitude, is_long) = match hexadecimal(digits) {
        Some(hex) => {
            // `b` is a digit, `d` and `f` are, too.
            let number = hex.trim_end_matches(['u', 'U', 'l', 'L', 's', 'S']);
            (u64::from_str_radix(number, 16).ok()?, hex[number.len()..].to_ascii_lowercase().contains('l'))
        }
        None if digits.bytes().all(|byte| byte.is_ascii_digit()) => (digits.parse().ok()?, false),
        None => return parameter(text),
    };
    let value = if is_negative { -i128::from(magnitude) } else { i128::from(magnitude) };
    let is_short = i32::try_from(value).is_ok() || u32::try_from(value).is_ok();
    let bits = i64::try_from(value).map(i64::cast_unsigned).or_else(|_| u64::try_from(value)).ok()?;
    Some(if is_short && !is_long { vec![low(bits)] } else { split(bits) })
}

fn hexadecimal(text: &str) -> Option<&str> {
    text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"))
}

/// One word if it fits, else two.
fn words(value: u64) -> Vec<u32> {
    u32::try_from(value).map_or_else(|_| split(value), |word| vec![word])
}

fn split(value: u64) -> Vec<u32> {
    vec![low(value), low(value >> 32)]
}

#[expect(clippy::cast_possible_truncation, reason = "numbers are split into words")]
fn low(value: u64) -> u32 {
    value as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_is_a_number_and_parameters() {
        assert_eq!(FilterText::parse("1,9"), Some(FilterText { id: 1, parameters: vec![9] }));
        assert_eq!(FilterText::parse(" 307 "), Some(FilterText { id: 307, parameters: vec![] }));
        assert_eq!(FilterText::parse("\"2,1.5d,3\"").map(|filter| filter.parameters.len()), Some(3));
        for text in ["bzip2", "", ",", "1,x"] {
            assert_eq!(FilterText::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_list_may_begin_with_a_format() {
        assert_eq!(split_format("[ 1 ]307,9"), Some((Some(1), "307,9")));
        assert_eq!(split_format("307,9|1,2"), Some((None, "307,9|1,2")));
        assert_eq!(split_format("[x]307"), None);
        assert_eq!(parts("307,9|1,2&3").collect::<Vec<_>>(), ["307,9", "1,2", "3"]);
    }

    #[test]
    fn narrow_parameters_have_their_own_width() {
        for (text, word) in [("-17b", 239), ("300UB", 44), ("-25S", 65511), ("70000us", 4464)] {
            assert_eq!(parameter(text), Some(vec![word]), "{text}");
            assert_eq!(whole_parameter(text), Some(vec![word]), "{text}");
        }
    }

    #[test]
    fn wide_parameters_are_two_words() {
        for (text, words) in [
            ("1.5f", vec![0x3fc0_0000]),
            ("1.5d", vec![0, 0x3ff8_0000]),
            ("1.5", vec![0, 0x3ff8_0000]),
            ("4294967297ull", vec![1, 1]),
            ("5l", vec![5, 0]),
            ("-1ll", vec![u32::MAX, u32::MAX]),
            ("-1", vec![u32::MAX]),
            ("7u", vec![7]),
            ("0x10", vec![16]),
            ("0XABCDEF0123", vec![0xcdef_0123, 0xab]),
        ] {
            assert_eq!(parameter(text).as_ref(), Some(&words), "{text}");
            assert_eq!(whole_parameter(text), Some(words), "{text}");
        }
        for text in ["5i", "x", "", "-", "0x", "1.5x"] {
            assert_eq!(parameter(text), None, "{text}");
            assert_eq!(whole_parameter(text), None, "{text}");
        }
    }

    #[test]
    fn what_has_no_letter_is_cut_off_by_netcdf_c_only() {
        assert_eq!(parameter("4294967296"), Some(vec![0]));
        assert_eq!(whole_parameter("4294967296"), Some(vec![0, 1]));
        assert_eq!(whole_parameter("-4294967296"), Some(vec![0, u32::MAX]));
        assert_eq!(whole_parameter("18446744073709551615"), Some(vec![u32::MAX, u32::MAX]));
        assert_eq!(whole_parameter("18446744073709551616"), None);
        assert_eq!(whole_parameter("-9223372036854775809"), None);
    }

    #[test]
    fn hexadecimal_numbers_may_have_signs_and_letters() {
        assert_eq!(parameter("-0x10"), None);
        assert_eq!(whole_parameter("-0x10"), Some(vec![u32::MAX - 15]));
        assert_eq!(whole_parameter("0x10u"), Some(vec![16]));
        assert_eq!(whole_parameter("0x10ull"), Some(vec![16, 0]));
    }
}

//! Numbers compared with C's `printf`.
use ncirrus_cdl::{format_double, format_float};
use proptest::prelude::*;

#[test]
fn numbers_are_written_as_by_printf() {
    let text = include_str!("fixtures/numbers.txt");
    let mut compared = 0;
    for line in text.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let [kind, bits, short, long, _] = words[..] else { panic!("{line}") };
        let (have_short, have_long) = if kind == "f" {
            let value = f32::from_bits(u32::from_str_radix(bits, 16).unwrap());
            (format_float(value, 7), format_float(value, 9))
        } else {
            let value = f64::from_bits(u64::from_str_radix(bits, 16).unwrap());
            (format_double(value, 15), format_double(value, 17))
        };
        assert_eq!((have_short.as_str(), have_long.as_str()), (short, long), "{line}");
        compared += 1;
    }
    assert!(compared > 3000);
}

proptest! {
    #[test]
    fn seventeen_digits_read_back_as_the_same_double(bits: u64) {
        let value = f64::from_bits(bits);
        prop_assume!(value.is_finite());
        prop_assert_eq!(format_double(value, 17).parse::<f64>().unwrap().to_bits(), value.to_bits());
    }

    #[test]
    fn nine_digits_read_back_as_the_same_float(bits: u32) {
        let value = f32::from_bits(bits);
        prop_assume!(value.is_finite());
        prop_assert_eq!(format_float(value, 9).parse::<f32>().unwrap().to_bits(), value.to_bits());
    }

    /// The exact integer path agrees with the exactly rounding formatter of the standard library.
    #[test]
    fn digits_are_those_of_the_standard_library(bits: u64, digits in 1usize..18) {
        let value = f64::from_bits(bits).abs();
        prop_assume!(value.is_finite());
        let plain = |text: &str| {
            let (mantissa, _) = text.split_once('e').unwrap_or((text, ""));
            mantissa.replace('.', "").trim_start_matches('0').trim_end_matches('0').to_owned()
        };
        let expected = format!("{value:.*e}", digits - 1);
        prop_assert_eq!(plain(&format_double(value, digits)), plain(&expected));
    }

    #[test]
    fn ordinary_numbers_have_the_digits_of_the_standard_library(
        integer in 0u64..1 << 54, shift in 0u32..40, digits in 1usize..18,
    ) {
        #[expect(clippy::cast_precision_loss, reason = "any double will do")]
        let value = integer as f64 / 2f64.powi(i32::try_from(shift).unwrap());
        let written = format_double(value, digits).parse::<f64>().unwrap();
        prop_assert_eq!(written, format!("{value:.*e}", digits - 1).parse::<f64>().unwrap());
    }
}

use super::{format_double, format_float, write_attribute_number};

#[test]
fn floats_have_seven_digits_and_no_trailing_zeros() {
    let cases = [
        (0.0, "0"),
        (-0.0, "-0"),
        (1.0, "1"),
        (31_415_927.0, "3.141593e+07"),
        (3_141_592.7, "3141593"),
        (1e10, "1e+10"),
        (1e-5, "1e-05"),
        (1e-4, "0.0001"),
        (16_777_216.0, "1.677722e+07"),
        (f32::NAN, "NaNf"),
        (f32::NEG_INFINITY, "-Infinityf"),
        (1e-45, "1.401298e-45"),
        (f32::MAX, "3.402823e+38"),
    ];
    for (value, text) in cases {
        assert_eq!(format_float(value, 7), text);
    }
}

#[test]
fn doubles_have_fifteen_digits() {
    let cases = [
        (0.1, "0.1"),
        (0.1 + 0.2, "0.3"),
        (1e15, "1e+15"),
        (1e14, "100000000000000"),
        (999_999_999_999_999.9, "1e+15"),
        (f64::NAN, "NaN"),
        (f64::INFINITY, "Infinity"),
        (5e-324, "4.94065645841247e-324"),
        (1e300, "1e+300"),
    ];
    for (value, text) in cases {
        assert_eq!(format_double(value, 15), text);
    }
}

#[test]
fn ties_go_to_the_even_digit() {
    for (value, text) in
        [(0.5, "0.5"), (2.5, "2"), (3.5, "4"), (0.125, "0.1"), (12.5, "1e+01"), (1e22, "1e+22")]
    {
        assert_eq!(format_double(value, 1), text);
    }
    assert_eq!(format_double(0.125, 2), "0.12");
    assert_eq!(format_double(0.375, 2), "0.38");
}

#[test]
fn attributes_always_have_a_point() {
    for (value, text) in [(1.0, "1."), (1e10, "1.e+10"), (0.1, "0.1"), (100_000.0, "100000."), (-0.0, "-0.")]
    {
        let mut out = Vec::new();
        write_attribute_number(&mut out, value, 7);
        assert_eq!(String::from_utf8(out).unwrap(), text);
    }
}

use super::CFormat;
use ncirrus_model::{Atomic, Values};
use proptest::prelude::*;

fn written(format: &str, values: &Values) -> Option<String> {
    let format = CFormat::parse(format.as_bytes(), values.atomic().unwrap())?;
    let mut out = Vec::new();
    format.write(&mut out, values, 0).then(|| String::from_utf8(out).unwrap())
}

#[test]
fn conversions_are_those_of_printf() {
    let double = Values::Double(vec![-1.75]);
    let int = Values::Int(vec![-2]);
    // As printf writes them.
    for (format, values, text) in [
        ("%.3f", &double, "-1.750"),
        ("%12.4e|", &double, " -1.7500e+00|"),
        ("%-10.2f|", &double, "-1.75     |"),
        ("%08.2f", &double, "-0001.75"),
        ("%G", &double, "-1.75"),
        ("%#.3g", &Values::Double(vec![1.0]), "1.00"),
        ("%+d", &Values::Short(vec![7]), "+7"),
        ("%05d", &int, "-0002"),
        ("%x", &int, "fffffffe"),
        ("%#o", &Values::UInt(vec![8]), "010"),
        ("%5.1f%%", &Values::Float(vec![0.1]), "  0.1%"),
        ("%c", &Values::Char(b"x".to_vec()), "x"),
    ] {
        assert_eq!(written(format, values).as_deref(), Some(text), "{format}");
    }
}

#[test]
fn implausible_formats_are_ignored() {
    let double = Values::Double(vec![1.0]);
    for format in ["", "f7.2", "%d", "%s", "%n", "%g %g", "%*g", "%", "%.99999999g", "%99999f"] {
        assert_eq!(written(format, &double), None, "{format}");
    }
}

#[test]
fn what_is_not_finite_has_no_format() {
    assert_eq!(written("%.3f", &Values::Float(vec![f32::NAN])), None);
}

proptest! {
    #[test]
    fn no_format_panics(format in "%[-+ #0']{0,3}[0-9]{0,4}(\\.[0-9]{0,3})?[a-zA-Z]{1,2}", value: f64, integer: i64) {
        let _ = written(&format, &Values::Double(vec![value]));
        let _ = written(&format, &Values::Int64(vec![integer]));
    }

    #[test]
    fn no_bytes_panic(format: Vec<u8>) {
        let _ = CFormat::parse(&format, Atomic::Double);
    }
}

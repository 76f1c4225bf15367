use super::*;

fn packed(stored: Atomic, attributes: &[(&str, Values)]) -> Variable {
    let mut model = ncirrus_model::Model::new();
    let dimension =
        ncirrus_model::Dimension { name: "x".to_owned(), len: ncirrus_model::DimensionLen::Fixed(3) };
    let x = model.insert_dimension(model.root(), dimension).unwrap();
    let mut variable = Variable::new("v", stored.into(), vec![x]);
    let list = attributes.iter().map(|(name, values)| Attribute::atomic(*name, values.clone()));
    variable.attributes = ncirrus_model::AttributeState::Known(list.collect());
    variable
}

fn doubles(factor: f64, offset: f64) -> Vec<(&'static str, Values)> {
    vec![("scale_factor", Values::Double(vec![factor])), ("add_offset", Values::Double(vec![offset]))]
}

#[test]
fn powers_of_two_are_exact_in_types_that_have_the_digits() {
    for stored in [Atomic::Byte, Atomic::UByte, Atomic::Short, Atomic::UShort, Atomic::Int, Atomic::UInt] {
        for (factor, offset) in [(0.25, 0.0), (0.5, 273.0), (-2.0, 1.0), (1.0, -7.5)] {
            let found = by_codecs(&packed(stored, &doubles(factor, offset)));
            assert!(matches!(found, Ok(Some(_))), "{stored:?} {factor} {offset}: {found:?}");
        }
    }
    let floats = [("scale_factor", Values::Float(vec![0.125]))];
    assert!(by_codecs(&packed(Atomic::Short, &floats)).unwrap().is_some());
    assert_eq!(by_codecs(&packed(Atomic::Short, &[])), Ok(None));
}

#[test]
fn numbers_that_would_differ_are_refused_with_one_of_them() {
    let reason = |stored, attributes: &[_]| by_codecs(&packed(stored, attributes)).unwrap_err();
    let tenth = reason(Atomic::Short, &doubles(0.1, 0.0));
    assert!(tenth.contains("by the attributes") && tenth.contains("by the codecs"), "{tenth}");
    assert!(reason(Atomic::Int, &doubles(0.1, 0.0)).contains("not a power of two"));
    assert!(reason(Atomic::Int64, &doubles(0.5, 0.0)).contains("more digits"));
    assert!(reason(Atomic::Int, &[("scale_factor", Values::Float(vec![0.5]))]).contains("more digits"));
    assert!(reason(Atomic::Int, &doubles(0.5, 1e15)).contains("too large"));
    // The offset takes the digits of the product.
    assert!(reason(Atomic::Short, &doubles(f64::EPSILON, 1e6)).contains("as another number"));
    assert!(reason(Atomic::Short, &doubles(0.0, 0.0)).contains("other than 0"));
    assert!(reason(Atomic::Short, &doubles(f64::NAN, 0.0)).contains("other than 0"));
    assert!(reason(Atomic::Float, &doubles(0.5, 0.0)).contains("integers"));
    let with = |name: &'static str, values| {
        let mut all = doubles(0.5, 0.0);
        all.push((name, values));
        all
    };
    assert!(reason(Atomic::Short, &with("valid_max", Values::Short(vec![7]))).contains("valid_max"));
    let several = with("missing_value", Values::Short(vec![7]));
    assert!(reason(Atomic::Short, &several).contains("several"));
    assert!(reason(Atomic::Short, &[("scale_factor", Values::Short(vec![2]))]).contains("floats"));
}

fn codecs(text: &str) -> Vec<CodecSpec> {
    let list: Vec<Value> = serde_json::from_str(text).unwrap();
    let spec = |one: &Value| CodecSpec::V3 {
        name: one["name"].as_str().unwrap().to_owned(),
        configuration: one["configuration"].as_object().unwrap().clone(),
    };
    list.iter().map(spec).collect()
}

#[test]
fn what_codecs_mean_is_what_they_were_made_from() {
    let mut attributes = doubles(0.5, 10.0);
    attributes.push(("_FillValue", Values::Short(vec![-1])));
    let made = by_codecs(&packed(Atomic::Short, &attributes)).unwrap().unwrap();
    let ExtendedType::Packed { codecs: text, fill, is_single, .. } = &made else { panic!("{made:?}") };
    assert_eq!((fill.as_str(), *is_single), ("\"NaN\"", false));
    let (packing, fill, again) = Packing::of_codecs(false, &codecs(text), f64::NAN).unwrap();
    assert_eq!((again, fill, packing.check()), (made, -1, Ok(())));
    let names: Vec<String> = packing.attributes().into_iter().map(|one| one.name).collect();
    assert_eq!(names, ["scale_factor", "add_offset", "_FillValue"]);
}

#[test]
fn codecs_with_another_meaning_are_no_packing() {
    for text in [
        r#"[{"name": "scale_offset", "configuration": {"scale": 2}}]"#,
        r#"[{"name": "cast_value", "configuration": {"data_type": "float32"}}]"#,
        r#"[{"name": "cast_value", "configuration": {}}]"#,
        r#"[{"name": "cast_value", "configuration": {"data_type": "int8", "scalar_map": {"encode": [["NaN", 1]], "decode": []}}}]"#,
        r#"[{"name": "cast_value", "configuration": {"data_type": "int8", "scalar_map": {"encode": [[5, 1]], "decode": [[1, 5]]}}}]"#,
        r#"[{"name": "scale_offset", "configuration": {"scale": 0}}, {"name": "cast_value", "configuration": {"data_type": "int8"}}]"#,
        r#"[{"name": "scale_offset", "configuration": {"scale": "x"}}, {"name": "cast_value", "configuration": {"data_type": "int8"}}]"#,
    ] {
        assert!(Packing::of_codecs(false, &codecs(text), 0.0).is_none(), "{text}");
    }
    // The type has no number for the fill value.
    let plain = codecs(r#"[{"name": "cast_value", "configuration": {"data_type": "int8"}}]"#);
    assert!(Packing::of_codecs(false, &plain, f64::NAN).is_none());
    assert!(Packing::of_codecs(false, &plain, 1e9).is_none());
    assert!(Packing::of_codecs(true, &plain, 3.0).is_some());
}

#[test]
fn two_bytes_need_a_missing_number_because_cf_has_a_default() {
    let plain = |stored: &str| {
        let text = format!(r#"[{{"name": "cast_value", "configuration": {{"data_type": "{stored}"}}}}]"#);
        Packing::of_codecs(false, &codecs(&text), 0.0).unwrap().0.check()
    };
    for (stored, fill) in [("int16", "-32767"), ("uint16", "65535"), ("int32", "-2147483647")] {
        let reason = plain(stored).unwrap_err();
        assert!(reason.contains(fill) && reason.contains("missing by CF"), "{stored}: {reason}");
    }
    assert_eq!((plain("int8"), plain("uint8")), (Ok(()), Ok(())));
}

#[test]
fn fill_values_are_compared_with_their_stored_number() {
    let text = r#"[
        {"name": "scale_offset", "configuration": {"scale": 2}},
        {"name": "cast_value", "configuration": {
            "data_type": "int16", "scalar_map": {"encode": [["NaN", -1]], "decode": [[-1, "NaN"]]}}}
    ]"#;
    for (fill, is_exact) in
        [(0.5, true), (f64::NAN, true), (0.0, true), (-0.0, false), (0.3, false), (-0.5, false)]
    {
        let (packing, stored, _) = Packing::of_codecs(false, &codecs(text), fill).unwrap();
        let found = packing.check_fill(fill, stored);
        assert_eq!(found.is_ok(), is_exact, "{fill:?} {stored}: {found:?}");
    }
}

#[test]
fn missing_numbers_are_in_the_range_of_their_type() {
    for (stored, missing, is_known) in [("int8", 127, true), ("int8", 128, false), ("uint8", -1, false)] {
        let map = json!({"encode": [["NaN", missing]], "decode": [[missing, "NaN"]]});
        let cast = json!([{"name": "cast_value", "configuration": {"data_type": stored, "scalar_map": map}}]);
        let found = Packing::of_codecs(false, &codecs(&cast.to_string()), 1.0);
        assert_eq!(found.is_some(), is_known, "{stored} {missing}");
    }
}

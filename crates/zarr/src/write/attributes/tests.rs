use super::*;

fn written(dialect: Dialect, attributes: &[Attribute]) -> WrittenAttributes {
    let form = AttributeForm { json_text: false, ..holder(dialect) };
    let mut written = WrittenAttributes::default();
    for (index, attribute) in attributes.iter().enumerate() {
        written.add(&Model::new(), form, index, attribute).unwrap();
    }
    written
}

fn holder(dialect: Dialect) -> AttributeForm<'static> {
    AttributeForm { dialect, array: Some(Atomic::Float), json_text: true, fill: None }
}

#[test]
fn a_fill_value_that_the_array_has_is_left_out_of_the_attributes_of_plain_zarr_unless_it_is_an_integer() {
    let added = |fill: Option<&Values>, values: Values| {
        let mut written = WrittenAttributes::default();
        let form = AttributeForm { fill, ..holder(Dialect::Xarray) };
        written.add(&Model::new(), form, 1, &Attribute::atomic("_FillValue", values)).unwrap();
        (written.plain.get("_FillValue").cloned(), written.extension)
    };
    for (value, shown) in [(-9999.5_f32, json!(-9999.5)), (f32::NAN, json!("NaN")), (0.0, json!(0.0))] {
        let fill = Values::Float(vec![value]);
        let entry = json!({"name": "_FillValue", "index": 1, "type": "float", "value": [shown]});
        assert_eq!(added(Some(&fill), fill.clone()), (None, vec![entry]));
        assert!(added(None, fill).0.is_some());
    }
    let other = added(Some(&Values::Float(vec![-0.0])), Values::Float(vec![0.0]));
    assert_eq!(other, (Some(json!(0.0)), Vec::new()));
    let text = Values::Char(b"x".to_vec());
    let entry = json!({"name": "_FillValue", "index": 1, "type": "char", "base64": "eA=="});
    assert_eq!(added(Some(&text), text.clone()), (None, vec![entry]));
    let integer = added(Some(&Values::Int(vec![5])), Values::Int(vec![5]));
    assert_eq!(integer, (Some(json!(5)), Vec::new()));
}

fn strings(items: &[Option<&str>]) -> Values {
    Values::String(items.iter().copied().collect())
}

#[test]
fn numbers_and_text_have_the_types_of_the_reference() {
    let written = written(
        Dialect::Attributes,
        &[
            Attribute::text("title", "basic"),
            Attribute::atomic("version", Values::Int(vec![2])),
            Attribute::atomic("pi", Values::Double(vec![0.123_456_789_012_345_6])),
            Attribute::atomic("range", Values::Float(vec![0.1, f32::NAN])),
            Attribute::atomic("b", Values::Byte(vec![-1])),
            Attribute::atomic("names", strings(&[Some("a"), Some("bcd")])),
            Attribute::atomic("one", strings(&[Some("")])),
            Attribute::atomic("none", Values::Int(vec![])),
        ],
    );
    let plain = json!({"title": "basic", "version": 2, "pi": 0.1234567890123456, "range": [0.10000000149011612, "NaN"], "b": -1,
        "names": ["a", "bcd"], "one": "", "none": []});
    let types = json!({"title": ">S1", "version": "<i4", "pi": "<f8", "range": "<f4", "b": "<i1",
        "names": "|S3", "one": "|S1", "none": "<i4"});
    assert_eq!(Value::Object(written.plain), plain);
    assert_eq!(Value::Object(written.types), types);
    assert!(written.extension.is_empty());
}

#[test]
fn text_that_looks_like_json_stays_text() {
    let written =
        written(Dialect::Attributes, &[Attribute::text("n", "12"), Attribute::text("o", "{\"a\": 1}")]);
    assert_eq!(Value::Object(written.plain), json!({"n": "12", "o": "{\"a\": 1}"}));
}

#[test]
fn text_that_json_cannot_hold_is_kept_whole_and_shown_in_part() {
    let latin = Attribute::atomic("who", Values::Char(b"Jos\xe9\0".to_vec()));
    let written = written(Dialect::Attributes, &[Attribute::text("a", ""), latin]);
    assert_eq!(written.plain["who"], json!("Jos\u{fffd}"));
    let entry =
        json!({"name": "who", "index": 1, "type": "char", "base64": "Sm9z6QA=", "shown": "Jos\u{fffd}"});
    assert_eq!(written.extension, [entry]);
}

#[test]
fn null_strings_and_strings_of_old_dialects_go_into_the_extension() {
    let null = Attribute::atomic("s", strings(&[Some("a"), None]));
    let entry = json!({"name": "s", "index": 0, "type": "string", "value": ["a", null]});
    assert_eq!(written(Dialect::Attributes, &[null]).extension, [entry]);
    let whole = Attribute::atomic("s", strings(&[Some("a")]));
    assert_eq!(written(Dialect::UpperCase, &[whole]).extension.len(), 1);
}

#[test]
fn reserved_names_are_refused() {
    let mut written = WrittenAttributes::default();
    let refused =
        written.add(&Model::new(), holder(Dialect::Plain), 0, &Attribute::text("_nczarr_attr", "x"));
    assert!(refused.unwrap_err().message().contains("_nczarr_attr"));
}

#[test]
fn numbers_without_digits_stay_numbers_where_nothing_tells_types() {
    let nan = Attribute::atomic("nan", Values::Double(vec![f64::NAN]));
    let range = Attribute::atomic("range", Values::Float(vec![f32::NEG_INFINITY, 1.0]));
    let written = written(Dialect::Xarray, &[nan, range]);
    assert_eq!(Value::Object(written.plain), json!({"nan": "NaN"}));
    let entries = [
        json!({"name": "nan", "index": 0, "type": "double", "value": ["NaN"], "shown": "NaN"}),
        json!({"name": "range", "index": 1, "type": "float", "value": ["-Infinity", 1.0]}),
    ];
    assert_eq!(written.extension, entries);
}

#[test]
fn the_fill_value_of_zarr_v3_is_of_the_type_of_its_array() {
    let model = Model::new();
    let base64 = |number: f64| json!(base64::encode(&number.to_le_bytes()));
    let whole = |number: i8| {
        let one = [ExactNumber::Integer(number.into())];
        let types = Atomic::ALL
            .into_iter()
            .filter(move |ty| ty.is_numeric() && (number >= 0 || !ty.name().starts_with('u')));
        types.filter_map(move |ty| ExactNumber::all_as(&one, ty))
    };
    for dialect in [Dialect::V3, Dialect::Nczarr3] {
        for ty in Atomic::ALL.into_iter().filter(|ty| ty.is_numeric()) {
            let is_float = matches!(ty, Atomic::Float | Atomic::Double);
            let added = |values: &Values| {
                let mut written = WrittenAttributes::default();
                let attribute = Attribute::atomic("_FillValue", values.clone());
                written
                    .add(&model, AttributeForm { array: Some(ty), ..holder(dialect) }, 0, &attribute)
                    .unwrap();
                written
            };
            for number in [99_i8, -99] {
                for values in whole(number) {
                    let written = added(&values);
                    let has = is_float || number >= 0 || !ty.name().starts_with('u');
                    let expected = if is_float { base64(number.into()) } else { json!(number) };
                    let found = written.plain.get("_FillValue");
                    assert_eq!(found, has.then_some(&expected), "{values:?} of {}", ty.name());
                    assert_eq!(written.extension.len(), usize::from(!has));
                }
            }
            // What the type does not have is kept for ncirrus, and hidden from programs that would fail.
            for values in [
                Values::Double(vec![0.5]),
                Values::Double(vec![f64::NAN]),
                Values::Float(vec![f32::INFINITY]),
                Values::Double(vec![1e300]),
            ] {
                let written = added(&values);
                assert_eq!(written.plain.contains_key("_FillValue"), is_float, "{values:?} of {}", ty.name());
                assert_eq!(written.extension.len(), usize::from(!is_float));
            }
            for values in [
                Values::Int(vec![1, 2]),
                Values::Int(vec![]),
                Values::Char(b"1".to_vec()),
                strings(&[Some("1")]),
            ] {
                let written = added(&values);
                assert!(
                    written.plain.is_empty() && written.extension.len() == 1,
                    "{values:?} of {}",
                    ty.name()
                );
            }
        }
        let mut text = WrittenAttributes::default();
        let attribute = Attribute::atomic("_FillValue", Values::Int(vec![1]));
        text.add(&model, AttributeForm { array: None, ..holder(dialect) }, 0, &attribute).unwrap();
        assert!(text.plain.is_empty(), "an array of strings has no number");
    }
}

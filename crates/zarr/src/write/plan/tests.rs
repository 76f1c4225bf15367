use super::*;
use ncirrus_model::DimensionLen;

fn v2(value: &Value) -> CodecSpec {
    CodecSpec::V2(value.as_object().unwrap().clone())
}

fn planned(writer: &ZarrWriter, ty: Atomic, change: impl FnOnce(&mut Variable)) -> Result<NewArray> {
    let mut model = Model::new();
    let x = model.add_dimension(model.root(), "x", DimensionLen::Fixed(6)).unwrap();
    let var = model.add_variable(model.root(), "v", ty.into(), &[x]).unwrap();
    change(model.variable_mut(var).unwrap());
    match plan(writer, &model, var, "v".to_owned())?.array {
        ArrayForm::New(array) => Ok(*array),
        ArrayForm::Kept { .. } => unreachable!(),
    }
}

#[test]
fn the_last_compressor_is_the_compressor_and_shuffle_knows_its_elements() {
    let shuffle = || v2(&json!({"id": "shuffle", "elementsize": 0}));
    let array = planned(&ZarrWriter::default(), Atomic::Int, |v| {
        v.filters = vec![shuffle(), v2(&json!({"id": "zlib", "level": 4}))];
    });
    let array = array.unwrap();
    assert_eq!(array.codecs, [json!({"id": "shuffle", "elementsize": 4})]);
    assert_eq!(array.compressor, json!({"id": "zlib", "level": 4}));
    let checked = planned(&ZarrWriter::default(), Atomic::Int, |v| {
        v.filters = vec![v2(&json!({"id": "zlib", "level": 1})), v2(&json!({"id": "fletcher32"}))];
    });
    let checked = checked.unwrap();
    assert_eq!((checked.codecs.len(), checked.compressor), (2, Value::Null));
}

#[test]
fn v3_chains_have_one_codec_from_array_to_bytes_in_its_place() {
    let writer = ZarrWriter::new(Dialect::V3);
    let array = planned(&writer, Atomic::Int, |v| {
        v.endianness = Endianness::Big;
        let order = json!({"order": [0]}).as_object().unwrap().clone();
        v.filters = vec![
            CodecSpec::V3 { name: "transpose".into(), configuration: order },
            CodecSpec::v3("bytes"),
            CodecSpec::v3("crc32c"),
        ];
    });
    let names: Vec<String> = array.unwrap().codecs.iter().map(|codec| codec.to_string()).collect();
    let expected = [
        r#"{"name":"transpose","configuration":{"order":[0]}}"#,
        r#"{"name":"bytes","configuration":{"endian":"big"}}"#,
        r#"{"name":"crc32c","configuration":{}}"#,
    ];
    assert_eq!(names, expected);
}

#[test]
fn fill_values_are_exact() {
    let fill = |ty, fill: Fill| planned(&ZarrWriter::default(), ty, |v| v.fill = fill).unwrap();
    assert_eq!(fill(Atomic::Float, Fill::Attribute).fill.to_string(), "9.96921e+36");
    assert_eq!(fill(Atomic::Double, Fill::Attribute).fill.to_string(), "9.969209968386869e+36");
    assert_eq!(fill(Atomic::Int64, Fill::Attribute).fill, json!(-9_223_372_036_854_775_806_i64));
    assert_eq!(fill(Atomic::Int, Fill::None).fill, Value::Null);
    assert_eq!(fill(Atomic::Char, Fill::Attribute).fill, json!(""));
    let x = fill(Atomic::Char, Fill::Apart(Values::Char(b"x".to_vec())));
    assert_eq!((x.fill, x.copied_fill), (json!("x"), json!("eA==")));
    assert_eq!(fill(Atomic::Float, Fill::Apart(Values::Float(vec![f32::NAN]))).fill, json!("NaN"));
}

#[test]
fn strings_have_a_fixed_length_only_when_someone_says_so() {
    let free = planned(&ZarrWriter::default(), Atomic::String, |_| ()).unwrap();
    assert_eq!((free.form.data_type, free.form.listed), (json!("|O"), false));
    assert_eq!(free.codecs, [json!({"id": "vlen-utf8"})]);
    let fixed = planned(&ZarrWriter::default(), Atomic::String, |v| {
        let length = ncirrus_model::Attribute::atomic("_nczarr_maxstrlen", Values::Int(vec![4]));
        v.attributes.known_mut().put(length);
    });
    let fixed = fixed.unwrap();
    assert_eq!((fixed.form.data_type, fixed.form.listed), (json!("|S4"), true));
    let length = FixedString { byte_len: 7, has_nulls: false, is_utf8: true };
    let given = planned(&ZarrWriter::default().string_length("/v", length), Atomic::String, |_| ()).unwrap();
    assert_eq!((given.form.data_type, given.form.zeros_are_empty), (json!("|S7"), true));
    let all = planned(&ZarrWriter::default().fixed_strings(9), Atomic::String, |_| ()).unwrap();
    assert_eq!((all.form.data_type, all.form.zeros_are_empty), (json!("|S9"), true));
}

#[test]
fn a_codec_of_another_format_is_refused() {
    let refused = planned(&ZarrWriter::default(), Atomic::Int, |v| v.filters = vec![CodecSpec::v3("zstd")]);
    assert!(refused.unwrap_err().message().contains("zstd"));
}

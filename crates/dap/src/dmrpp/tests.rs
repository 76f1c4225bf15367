use super::*;
use ncirrus_layout::ErrorKind;
use proptest::prelude::*;

const DOCUMENT: &str = r#"<?xml version="1.0" encoding="ISO-8859-1"?>
<Dataset xmlns="http://xml.opendap.org/ns/DAP/4.0#" xmlns:dmrpp="http://xml.opendap.org/dap/dmrpp/1.0.0#"
  dapVersion="4.0" dmrVersion="1.0" name="x.h5" dmrpp:href="OPeNDAP_DMRpp_DATA_ACCESS_URL" dmrpp:version="3.20.13">
  <Dimension name="y" size="5"/>
  <Dimension name="x" size="4"/>
  <Attribute name="title" type="String"><Value>a title</Value></Attribute>
  <Int32 name="chunked">
    <Dim name="/y"/><Dim name="/x"/>
    <Attribute name="valid_range" type="Int32"><Value>-1</Value><Value>9</Value></Attribute>
    <dmrpp:chunks compressionType="fletcher32 shuffle deflate" deflateLevel="1" fillValue="-7" byteOrder="LE">
      <dmrpp:chunkDimensionSizes>2 4</dmrpp:chunkDimensionSizes>
      <dmrpp:chunk offset="4016" nBytes="22" chunkPositionInArray="[0,0]"/>
      <dmrpp:chunk offset="4038" nBytes="21" chunkPositionInArray="[4,0]" href="s3://b/other.h5"/>
    </dmrpp:chunks>
  </Int32>
  <Float64 name="contiguous">
    <Dim name="/x"/>
    <dmrpp:chunks fillValue="nan" byteOrder="BE"><dmrpp:chunk offset="100" nBytes="32"/></dmrpp:chunks>
  </Float64>
  <Int16 name="compact"><Dim size="2"/><dmrpp:compact>AQACAA==</dmrpp:compact></Int16>
  <UInt8 name="missing"><Dim size="100"/><dmrpp:missingdata>eJxjAAAAAQAB</dmrpp:missingdata></UInt8>
  <String name="texts"><Dim size="4"/><dmrpp:vlsa><v>so</v><v c="3">much</v></dmrpp:vlsa></String>
  <String name="fixed"><Dim size="2"/><dmrpp:FixedLengthStringArray string_length="3" pad="null_pad"/>
    <dmrpp:chunk offset="200" nBytes="6"/></String>
  <Structure name="record"><Int32 name="a"/><dmrpp:chunks><dmrpp:chunk offset="1" nBytes="4"/></dmrpp:chunks></Structure>
  <Int32 name="nowhere"><Dim size="2"/></Int32>
  <Int32 name="packed"><Dim size="2"/><dmrpp:chunks compressionType="szip"><dmrpp:chunk offset="1" nBytes="8"/></dmrpp:chunks></Int32>
  <Group name="g"><Byte name="flag"><dmrpp:chunk offset="300" nBytes="1"/></Byte></Group>
</Dataset>"#;

fn parse(text: &str) -> Result<Dmrpp> {
    Dmrpp::parse(text.as_bytes(), &Limits::default())
}

fn object(dmrpp: &Dmrpp, key: &str) -> Value {
    let (_, body) = dmrpp.objects.iter().find(|(name, _)| name == key).unwrap();
    serde_json::from_slice(body).unwrap()
}

#[test]
fn variables_become_arrays() {
    let found = parse(DOCUMENT).unwrap();
    let array = object(&found, "chunked/.zarray");
    assert_eq!(array["shape"], json!([5, 4]));
    assert_eq!(array["chunks"], json!([2, 4]));
    assert_eq!((&array["dtype"], &array["fill_value"]), (&json!("<i4"), &json!(-7)));
    let filters =
        json!([{"id": "fletcher32"}, {"id": "shuffle", "elementsize": 4}, {"id": "zlib", "level": 1}]);
    assert_eq!(array["filters"], filters);
    let attributes = object(&found, "chunked/.zattrs");
    assert_eq!(attributes, json!({"valid_range": [-1, 9], "_ARRAY_DIMENSIONS": ["y", "x"]}));
    let array = object(&found, "contiguous/.zarray");
    assert_eq!(
        (&array["dtype"], &array["fill_value"], &array["chunks"]),
        (&json!(">f8"), &Value::Null, &json!([4]))
    );
    assert_eq!(object(&found, "missing/.zarray")["filters"], json!([{"id": "zlib", "level": 4}]));
    assert_eq!(object(&found, "fixed/.zarray")["dtype"], json!("|S3"));
    assert_eq!(object(&found, "g/flag/.zarray")["shape"], json!([]));
    assert_eq!(object(&found, ".zattrs"), json!({"title": "a title"}));
    assert_eq!(object(&found, ".zmetadata")["metadata"]["g/.zgroup"], json!({"zarr_format": 2}));
}

#[test]
fn chunks_are_in_the_file_or_in_the_document() {
    let found = parse(DOCUMENT).unwrap();
    let chunk = |key: &str, href: Option<&str>, offset, len| DmrppChunk {
        key: key.to_owned(),
        href: href.map(str::to_owned),
        offset,
        len,
    };
    assert_eq!(
        found.chunks,
        [
            chunk("chunked/0.0", None, 4016, 22),
            chunk("chunked/2.0", Some("s3://b/other.h5"), 4038, 21),
            chunk("contiguous/0", None, 100, 32),
            chunk("fixed/0", None, 200, 6),
            chunk("g/flag/0", None, 300, 1),
        ]
    );
    let embedded = |key: &str| found.objects.iter().find(|(name, _)| name == key).unwrap().1.clone();
    assert_eq!(embedded("compact/0"), [1, 0, 2, 0]);
    let texts =
        [&[4u8, 0, 0, 0, 2, 0, 0, 0][..], b"so", &[[4, 0, 0, 0].as_slice(), b"much"].concat().repeat(3)]
            .concat();
    assert_eq!(embedded("texts/0"), texts);
    assert_eq!(found.href.as_deref(), Some("OPeNDAP_DMRpp_DATA_ACCESS_URL"));
}

#[test]
fn what_cannot_be_read_is_left_out_and_named() {
    let found = parse(DOCUMENT).unwrap();
    assert_eq!(found.warnings.len(), 3, "{:?}", found.warnings);
    for (warning, words) in found.warnings.iter().zip(["/record", "/nowhere", "szip"]) {
        assert!(warning.contains(words), "{warning}");
    }
}

#[test]
fn filters_of_documents_without_a_version_are_in_the_order_of_hdf5() {
    let found = parse(&DOCUMENT.replace(r#" dmrpp:version="3.20.13""#, "")).unwrap();
    let filters = &object(&found, "chunked/.zarray")["filters"];
    let names: Vec<&str> =
        filters.as_array().unwrap().iter().map(|filter| filter["id"].as_str().unwrap()).collect();
    assert_eq!(names, ["shuffle", "zlib", "fletcher32"]);
}

#[test]
fn chunks_that_do_not_fit_are_refused() {
    for (from, to) in [
        ("[4,0]", "[3,0]"),
        ("[4,0]", "[6,0]"),
        ("[4,0]", "[4]"),
        ("[4,0]", "[x,0]"),
        ("<dmrpp:chunkDimensionSizes>2 4<", "<dmrpp:chunkDimensionSizes>2<"),
        ("<dmrpp:chunkDimensionSizes>2 4<", "<dmrpp:chunkDimensionSizes>0 4<"),
        ("offset=\"4016\"", "offset=\"-1\""),
        ("nBytes=\"22\"", "nBytes=\"18446744073709551615\""),
        ("AQACAA==", "AQACA"),
        ("AQACAA==", "AQAC"),
        ("c=\"3\"", "c=\"4\""),
        ("c=\"3\"", "c=\"99999999999999\""),
        ("string_length=\"3\"", "string_length=\"0\""),
    ] {
        let error = parse(&DOCUMENT.replacen(from, to, 1)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Malformed, "{to}: {error}");
    }
}

#[test]
fn every_prefix_is_refused() {
    for len in (0..DOCUMENT.len()).filter(|len| DOCUMENT.is_char_boundary(*len)) {
        assert!(parse(&DOCUMENT[..len]).is_err(), "{len}");
    }
}

proptest! {
    #[test]
    fn no_document_makes_it_panic(at in 0usize..3500, byte in 32u8..127, other in "[<>\"/a-z0-9 ]{0,6}") {
        let mut text = DOCUMENT.as_bytes().to_vec();
        let at = at % text.len();
        text.splice(at..=at, std::iter::once(byte).chain(other.bytes()));
        let _ = Dmrpp::parse(&text, &Limits::default());
    }
}

use super::*;
use ncirrus_model::Values;

fn parse(inside: &str) -> Result<Dmr> {
    let text = format!("<?xml version='1.0'?><Dataset name='x' dapVersion='4.0'>{inside}</Dataset>\r\n\0");
    super::parse(text.as_bytes(), &Limits::default())
}

#[test]
fn references_are_found_by_path_or_in_enclosing_groups() {
    let dmr = parse(
        "<Group name='a b'><Dimension name='d.x' size='3'/>\
         <Group name='g'><Int8 name='v'><Dim name='d.x'/><Dim name='/a\\ b/d\\.x'/><Dim size='2'/></Int8></Group>\
         <Byte name='w'><Map name='/m'/></Byte></Group>\
         <Dimension name='u' size='0' _edu.ucar.isunlimited='1'/>",
    )
    .unwrap();
    let variables = dmr.variables();
    assert_eq!(
        variables.iter().map(|(path, v)| (path.len(), &*v.name)).collect::<Vec<_>>(),
        [(1, "w"), (2, "v")]
    );
    assert_eq!(variables[1].1.dims.iter().map(|dim| dim.size).collect::<Vec<_>>(), [3, 3, 2]);
    assert_eq!(
        (&variables[0].1.kind, &*variables[0].1.maps),
        (&DmrKind::Atomic(Atomic::UByte), &["/m".to_owned()][..])
    );
    let flat = parse("<Dimension name='/g/y' size='4'/><Int8 name='/g/y'><Dim name='/g/y'/></Int8>").unwrap();
    assert_eq!(flat.root.variables[0].dims[0].size, 4);
    assert!(dmr.root.dimensions[0].unlimited);
    assert!(
        parse("<Int8 name='v'><Dim name='/none'/></Int8>")
            .unwrap_err()
            .to_string()
            .contains("no dimension /none")
    );
}

#[test]
fn enumerations_have_a_base_type() {
    let dmr = parse(
        "<Enumeration name='e'><EnumConst name='A' value='-1'/></Enumeration>\
         <Enumeration name='f' basetype='UInt8'/><Enum name='v' enum='/e'/><Enum name='w' enum='f'/>",
    )
    .unwrap();
    assert_eq!(dmr.root.enumerations[0].constants, [("A".to_owned(), -1)]);
    let bases: Vec<_> = dmr.root.variables.iter().map(|variable| variable.kind.clone()).collect();
    assert!(matches!(
        &bases[..],
        [DmrKind::Enum { base: Atomic::Int, .. }, DmrKind::Enum { base: Atomic::UByte, .. }]
    ));
    assert!(parse("<Enumeration name='f' basetype='Float32'/>").is_err());
}

#[test]
fn attributes_in_every_form() {
    let dmr = parse(
        "<Attribute name='a' type='Float64'><Value value='NaN'/><Value>-inf</Value></Attribute>\
         <Attribute name='b' type='str'><Value> x &amp; y </Value><Value/></Attribute>\
         <Attribute name='c' type='UInt8' value='255'/>\
         <Attribute name='d' type='Container'><Attribute name='e' type='Int8'><Value value='300'/></Attribute></Attribute>",
    )
    .unwrap();
    let values: Vec<_> = dmr.root.attributes.iter().map(DmrAttribute::values).collect();
    let Some((Values::Double(doubles), 0)) = &values[0] else { panic!("{values:?}") };
    assert!(doubles[0].is_nan() && doubles[1] == f64::NEG_INFINITY);
    assert_eq!(values[1], Some((Values::String([Some(" x & y "), Some("")].into_iter().collect()), 0)));
    assert_eq!(values[2], Some((Values::UByte(vec![255]), 0)));
    assert_eq!(
        (&values[3], dmr.root.attributes[3].children[0].values()),
        (&None, Some((Values::Byte(vec![0]), 1)))
    );
}

#[test]
fn what_is_no_dmr_is_refused() {
    let cases = [
        ("<Int8/>", "<Int8> without name"),
        ("<Wrong name='x'/>", "<Wrong> is no type of DAP4"),
        ("<Dimension name='d' size='-1'/>", "the size \"-1\""),
        ("<Enum name='x' enum='/e'/>", "no enumeration /e"),
    ];
    for (text, expected) in cases {
        let error = parse(text).unwrap_err().to_string();
        assert!(error.contains(expected), "{text}: {error}");
    }
    let error =
        super::parse(b"<Error httpcode='403'><Message>no</Message></Error>", &Limits::default()).unwrap_err();
    assert_eq!(error.to_string(), "the server answers: error 403: no");
}

//! The contents of masters, line by line as the originals write it.
use super::{Convention, FragmentArray, FragmentCell, FragmentDescriber, MasterForm, conventions};
use ncirrus_layout::{ErrorKind, Result};
use ncirrus_model::{
    Atomic, Attribute, AttributeState, Attributes, DimId, DimensionLen, Model, NodeId, Strings, Values, VarId,
};
use rstest::rstest;
use std::sync::Arc;

type WrittenMaster = Vec<(VarId, Arc<Values>)>;

/// A master with dimensions of these lengths and scalar variables of these names, all along all of the dimensions.
fn master(dims: &[(&str, u64)], names: &[&str]) -> (Model, Vec<DimId>, Vec<VarId>) {
    let mut model = Model::new();
    let root = model.root();
    let dims = dims
        .iter()
        .map(|(name, len)| model.add_dimension(root, name, DimensionLen::Fixed(*len)).unwrap())
        .collect();
    let vars =
        names.iter().map(|name| model.add_variable(root, name, Atomic::Float.into(), &[]).unwrap()).collect();
    (model, dims, vars)
}

fn cell(file: &str, variable: &str) -> Option<FragmentCell> {
    Some(FragmentCell { file: file.into(), variable: variable.into(), format: "NETCDF4" })
}

fn fragments(sizes: &[&[u64]], cells: Vec<Option<FragmentCell>>) -> FragmentArray {
    let sizes: Vec<Vec<u64>> = sizes.iter().map(|sizes| sizes.to_vec()).collect();
    FragmentArray { lacking: vec![false; sizes.len()], sizes, cells }
}

fn form(convention: Convention) -> MasterForm {
    MasterForm { convention, ..MasterForm::default() }
}

/// The fragments of the corpus' `s3nc-regular`: 10 by 4 by 6 in halves of the first two.
fn regular() -> FragmentArray {
    let cells = [[0, 0], [0, 1], [1, 0], [1, 1]].map(|[t, y]| cell(&format!("m/m.tas.{t}.{y}.0.nc"), "/tas"));
    fragments(&[&[5, 5], &[2, 2], &[6]], cells.to_vec())
}

fn described(form: MasterForm, array: &FragmentArray) -> Result<(Model, WrittenMaster)> {
    let dims = [("time", 10), ("lat", 4), ("lon", 6)];
    let (mut model, dims, vars) = master(&dims[..array.sizes.len()], &["tas"]);
    let mut describer = FragmentDescriber::new(&mut model, form)?;
    describer.describe(vars[0], &dims, array)?;
    let written = describer.finish();
    Ok((model, written))
}

/// Every definition and value below the root, one line each.
fn lines(model: &Model, written: &[(VarId, Arc<Values>)]) -> Vec<String> {
    let mut lines = Vec::new();
    for group in model.walk() {
        for dim in &model.group(group).unwrap().dims {
            let len = model.dimension(*dim).unwrap().len.current();
            lines.push(format!("{} = {len}", model.dimension_path(*dim)));
        }
    }
    for var in model.variables() {
        let variable = model.variable(var).unwrap();
        let dims: Vec<String> = variable.dims.iter().map(|dim| model.dimension_path(*dim)).collect();
        let base = model.base_atomic(variable.ty).unwrap().name();
        lines.push(format!("{base} {}({})", model.variable_path(var), dims.join(" ")));
        for attribute in variable.attributes.known().unwrap().iter() {
            lines.push(format!(":{} = {}", attribute.name, attribute.as_text().unwrap_or_default()));
        }
        if let Some((_, values)) = written.iter().find(|(id, _)| *id == var) {
            lines.push(format!("= {}", shown(values)));
        }
    }
    lines
}

fn shown(values: &Values) -> String {
    match values {
        Values::String(strings) => {
            let all = strings.iter().map(|text| String::from_utf8_lossy(text.unwrap_or(b"NIL")).into_owned());
            all.collect::<Vec<_>>().join("|")
        }
        Values::Char(chars) => String::from_utf8_lossy(chars).replace('\0', "."),
        Values::Int(ints) => ints
            .iter()
            .map(|int| if *int == -2_147_483_647 { "_".to_owned() } else { int.to_string() })
            .collect::<Vec<_>>()
            .join(" "),
        other => format!("{other:?}"),
    }
}

#[rstest]
fn a_name_that_would_be_read_as_two_is_refused(
    #[values(Convention::Cf113, Convention::Cfa06, Convention::Cfa05, Convention::Cfa04)]
    convention: Convention,
) {
    let (mut model, dims, vars) = master(&[("my time", 10)], &["tas"]);
    let mut describer = FragmentDescriber::new(&mut model, form(convention)).unwrap();
    let array = fragments(&[&[10]], vec![cell("a.nc", "/tas")]);
    let error = describer.describe(vars[0], &dims, &array).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert!(error.message().contains("\"my time\""), "{error}");
}

#[test]
fn cf_1_13_has_a_map_names_and_identifiers() {
    let cells = vec![cell("a.nc", "/pt"), cell("b.nc", "/pt")];
    let (model, written) =
        described(form(Convention::Cf113), &fragments(&[&[4, 6], &[4], &[6]], cells)).unwrap();
    let want = [
        "/time = 10",
        "/lat = 4",
        "/lon = 6",
        "/a_map_j3 = 3",
        "/a_map_i2 = 2",
        "/a_time = 2",
        "/a_lat = 1",
        "/a_lon = 1",
        "float /tas()",
        ":aggregated_dimensions = time lat lon",
        ":aggregated_data = identifiers: fragment_identifiers map: fragment_map uris: fragment_uris",
        "int /fragment_map(/a_map_j3 /a_map_i2)",
        "= 4 6 4 _ 6 _",
        "string /fragment_uris(/a_time /a_lat /a_lon)",
        "= a.nc|b.nc",
        "string /fragment_identifiers()",
        "= pt",
    ];
    assert_eq!(lines(&model, &written), want);
    let root = model.attributes(NodeId::Group(model.root())).and_then(AttributeState::known).unwrap();
    assert_eq!(root.find("Conventions").and_then(Attribute::as_text).as_deref(), Some("CF-1.13"));
}

#[test]
fn a_netcdf3_master_has_characters() {
    let cells = vec![cell("a.nc", "/pt"), cell("long.nc", "/pt")];
    let form = MasterForm { is_classic: true, ..form(Convention::Cf113) };
    let (model, written) = described(form, &fragments(&[&[4, 6], &[4], &[6]], cells)).unwrap();
    let lines = lines(&model, &written);
    for want in [
        "/strlen7 = 7",
        "char /fragment_uris(/a_time /a_lat /a_lon /strlen7)",
        "= a.nc...long.nc",
        "/strlen2 = 2",
        "char /fragment_identifiers(/strlen2)",
    ] {
        assert!(lines.iter().any(|line| line == want), "{want}: {lines:#?}");
    }
}

#[test]
fn cfa_0_6_says_where_there_is_nothing_and_what_names_stand_for() {
    let form =
        MasterForm { substitutions: vec![("base".into(), "file:///d/".into())], ..form(Convention::Cfa06) };
    let (model, written) =
        described(form, &fragments(&[&[4, 6], &[4], &[6]], vec![cell("${base}a.nc", "/tas"), None])).unwrap();
    let want = [
        "/time = 10",
        "/lat = 4",
        "/lon = 6",
        "/f_3_loc = 3",
        "/f_2_loc = 2",
        "/f_time = 2",
        "/f_lat = 1",
        "/f_lon = 1",
        "float /tas()",
        ":aggregated_dimensions = time lat lon",
        ":aggregated_data = address: cfa_address file: cfa_file format: cfa_format location: cfa_location",
        "int /cfa_location(/f_3_loc /f_2_loc)",
        "= 4 6 4 _ 6 _",
        "string /cfa_file(/f_time /f_lat /f_lon)",
        ":substitutions = ${base}: file:///d/",
        "= ${base}a.nc|",
        "string /cfa_address()",
        "= tas",
        "string /cfa_format()",
        "= nc",
    ];
    assert_eq!(lines(&model, &written), want);
}

#[test]
fn cfa_0_5_is_a_group_as_s3netcdf4_writes_it() {
    let mut array = regular();
    array.cells[2] = None;
    let (model, written) = described(form(Convention::Cfa05), &array).unwrap();
    let want = [
        "/time = 10",
        "/lat = 4",
        "/lon = 6",
        "/cfa_tas/time = 2",
        "/cfa_tas/lat = 2",
        "/cfa_tas/lon = 1",
        "/cfa_tas/ndimensions = 3",
        "/cfa_tas/bounds = 2",
        "float /tas()",
        ":cf_role = cfa_variable",
        ":cfa_dimensions = time lat lon",
        ":cfa_group = cfa_tas",
        "int /cfa_tas/pmshape(/cfa_tas/ndimensions)",
        "= 2 2 1",
        "string /cfa_tas/pmdimensions()",
        "= time, lat, lon",
        "int /cfa_tas/index(/cfa_tas/time /cfa_tas/lat /cfa_tas/lon /cfa_tas/ndimensions)",
        "= 0 0 0 0 1 0 _ _ _ 1 1 0",
        "int /cfa_tas/location(/cfa_tas/time /cfa_tas/lat /cfa_tas/lon /cfa_tas/ndimensions /cfa_tas/bounds)",
        "= 0 5 0 2 0 6 0 5 2 4 0 6 _ _ _ _ _ _ 5 10 2 4 0 6",
        "string /cfa_tas/ncvar(/cfa_tas/time /cfa_tas/lat /cfa_tas/lon)",
        "= tas|tas||tas",
        "string /cfa_tas/file(/cfa_tas/time /cfa_tas/lat /cfa_tas/lon)",
        "= m/m.tas.0.0.0.nc|m/m.tas.0.1.0.nc||m/m.tas.1.1.0.nc",
        "string /cfa_tas/format(/cfa_tas/time /cfa_tas/lat /cfa_tas/lon)",
        "= NETCDF4|NETCDF4||NETCDF4",
        "int /cfa_tas/shape(/cfa_tas/time /cfa_tas/lat /cfa_tas/lon /cfa_tas/ndimensions)",
        "= 5 2 6 5 2 6 _ _ _ 5 2 6",
    ];
    assert_eq!(lines(&model, &written), want);
}

#[test]
fn cfa_0_4_is_json_as_s3netcdf4_writes_it() {
    let (model, _) = described(form(Convention::Cfa04), &regular()).unwrap();
    let attributes = model.variable(model.variable_at("tas").unwrap()).unwrap().attributes.known().unwrap();
    let names: Vec<&str> = attributes.iter().map(|attribute| attribute.name.as_str()).collect();
    assert_eq!(names, ["cf_role", "cfa_dimensions", "cfa_array"]);
    let json = attributes.find("cfa_array").and_then(Attribute::as_text).unwrap();
    let start = r#"{"pmshape": [2, 2, 1], "pmdimensions": ["time", "lat", "lon"], "Partitions": [{"subarray": {"ncvar": "tas", "file": "m/m.tas.0.0.0.nc", "format": "NETCDF4", "shape": [5, 2, 6]}, "index": [0, 0, 0], "location": [[0, 4], [0, 1], [0, 5]]}, {"subarray": "#;
    assert!(json.starts_with(start), "{json}");
    let parsed: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(parsed["Partitions"].as_array().unwrap().len(), 4);
}

#[test]
fn json_lists_axes_that_fragments_lack_and_escapes_names() {
    let mut array = fragments(&[&[1, 1], &[4], &[6]], vec![cell("a\"b\\µ\u{1F30D}.nc", "/tas"), None]);
    array.lacking[0] = true;
    let (model, _) = described(form(Convention::Cfa04), &array).unwrap();
    let attributes = model.variable(model.variable_at("tas").unwrap()).unwrap().attributes.known().unwrap();
    let json = attributes.find("cfa_array").and_then(Attribute::as_text).unwrap();
    assert!(json.is_ascii(), "{json}");
    let parsed: serde_json::Value = serde_json::from_str(&json).unwrap();
    let partition = &parsed["Partitions"][0];
    assert_eq!(partition["subarray"]["file"], "a\"b\\µ\u{1F30D}.nc");
    assert_eq!(partition["subarray"]["shape"], serde_json::json!([4, 6]));
    assert_eq!(partition["pdimensions"], serde_json::json!(["lat", "lon"]));
    assert_eq!(parsed["Partitions"].as_array().unwrap().len(), 1);
}

#[rstest]
#[case(Convention::Cf113, "int /fragment_map()")]
#[case(Convention::Cfa06, "int /cfa_location(/f_1_loc)")]
fn scalar_data_have_one_fragment(#[case] convention: Convention, #[case] sizes: &str) {
    let (model, written) = described(form(convention), &fragments(&[], vec![cell("a.nc", "/h")])).unwrap();
    let lines = lines(&model, &written);
    let at = lines.iter().position(|line| line == sizes).unwrap();
    assert_eq!(lines[at + 1], "= 1");
    assert!(lines.iter().any(|line| line == ":aggregated_dimensions = "));
}

#[test]
fn descriptions_are_shared_only_when_they_are_equal() {
    let (mut model, dims, vars) = master(&[("time", 10)], &["a", "b", "c"]);
    let mut describer = FragmentDescriber::new(&mut model, form(Convention::Cf113)).unwrap();
    let two = |name| fragments(&[&[4, 6]], vec![cell("1.nc", name), cell("2.nc", name)]);
    describer.describe(vars[0], &dims, &two("/a")).unwrap();
    describer.describe(vars[1], &dims, &two("/b")).unwrap();
    let three = vec![cell("1.nc", "/c"), cell("2.nc", "/c"), cell("3.nc", "/c")];
    describer.describe(vars[2], &dims, &fragments(&[&[4, 3, 3]], three)).unwrap();
    let _ = describer.finish();
    let terms = |name: &str| {
        let attributes =
            model.variable(model.variable_at(name).unwrap()).unwrap().attributes.known().unwrap();
        attributes.find("aggregated_data").and_then(Attribute::as_text).unwrap()
    };
    assert_eq!(terms("a"), "identifiers: fragment_identifiers map: fragment_map uris: fragment_uris");
    assert_eq!(terms("b"), "identifiers: fragment_identifiers_1 map: fragment_map uris: fragment_uris");
    assert_eq!(terms("c"), "identifiers: fragment_identifiers_2 map: fragment_map_1 uris: fragment_uris_1");
    assert_eq!(model.dimension(model.dimension_at("a_time_1").unwrap()).unwrap().len.current(), 3);
}

#[test]
fn variables_in_groups_are_described_in_their_groups() {
    for (convention, compat, want) in [
        (Convention::Cf113, false, "= /ocean/sst"),
        (Convention::Cf113, true, "= ocean/sst"),
        (Convention::Cfa05, false, "= sst"),
    ] {
        let (mut model, dims, _) = master(&[("time", 2)], &[]);
        let ocean = model.add_group(model.root(), "ocean").unwrap();
        let var = model.add_variable(ocean, "sst", Atomic::Float.into(), &[]).unwrap();
        let mut describer =
            FragmentDescriber::new(&mut model, MasterForm { compat, ..form(convention) }).unwrap();
        describer.describe(var, &dims, &fragments(&[&[2]], vec![cell("a.nc", "/ocean/sst")])).unwrap();
        let written = describer.finish();
        let lines = lines(&model, &written);
        assert!(lines.iter().any(|line| line == want), "{lines:#?}");
        assert!(written.iter().all(|(var, _)| model.variable_path(*var).starts_with("/ocean/")));
    }
}

#[test]
fn compatible_old_masters_have_a_fill_value_and_one_format() {
    let form = MasterForm { compat: true, ..form(Convention::Cfa04) };
    let (model, _) = described(form, &regular()).unwrap();
    let attributes = model.variable(model.variable_at("tas").unwrap()).unwrap().attributes.known().unwrap();
    assert!(attributes.find("_FillValue").is_some());
    let json = attributes.find("cfa_array").and_then(Attribute::as_text).unwrap();
    assert_eq!(json.matches("\"format\": \"netCDF\"").count(), 4, "{json}");
}

#[rstest]
#[case(form(Convention::Cf113), "fragments are missing")]
#[case(MasterForm { compat: true, ..form(Convention::Cfa05) }, "fragments are missing")]
#[case(MasterForm { is_classic: true, ..form(Convention::Cfa05) }, "netCDF-3")]
#[case(MasterForm { is_classic: true, compat: true, ..form(Convention::Cf113) }, "no strings")]
#[case(MasterForm { substitutions: vec![("b".into(), "x".into())], ..form(Convention::Cf113) }, "no substitutions")]
fn what_a_convention_cannot_say_is_refused(#[case] form: MasterForm, #[case] reason: &str) {
    let mut array = regular();
    array.cells[1] = None;
    let error = described(form, &array).unwrap_err();
    assert!(error.to_string().contains(reason), "{error}");
}

#[test]
fn dimensions_named_as_those_of_cfa_0_5_are_refused() {
    for name in ["bounds", "ndimensions"] {
        let (mut model, dims, vars) = master(&[("time", 2), (name, 2)], &["v"]);
        let mut describer = FragmentDescriber::new(&mut model, form(Convention::Cfa05)).unwrap();
        let error =
            describer.describe(vars[0], &dims, &fragments(&[&[2], &[2]], vec![cell("a", "v")])).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert!(error.to_string().contains(name), "{error}");
    }
}

#[rstest]
#[case(None, Convention::Cfa04, "CFA-0.4")]
#[case(Some("CF-1.7"), Convention::Cfa04, "CF-1.7 CFA-0.4")]
#[case(Some("CF-1.7 CFA-0.4"), Convention::Cfa05, "CF-1.7 CFA-0.5")]
#[case(Some("CF-1.9 CFA"), Convention::Cfa06, "CF-1.9 CFA-0.6.2")]
#[case(None, Convention::Cfa06, "CF-1.11 CFA-0.6.2")]
#[case(Some("CF-1.6, ACDD-1.3"), Convention::Cf113, "CF-1.13 ACDD-1.3")]
fn conventions_keep_what_else_they_name(
    #[case] old: Option<&str>,
    #[case] convention: Convention,
    #[case] want: &str,
) {
    let mut attributes = Attributes::new();
    if let Some(old) = old {
        attributes.put(Attribute::atomic("Conventions", Values::String(Strings::from_iter([Some(old)]))));
    }
    conventions(&mut attributes, convention);
    assert_eq!(attributes.find("Conventions").and_then(Attribute::as_text).as_deref(), Some(want));
}

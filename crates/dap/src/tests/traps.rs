//! The traps of docs/spec/dap.md 10: those that no other test shows, and where each of them is tested.
use crate::place::{DapPlace, DapProtocol, DapView};
use crate::query::DapSource;
use crate::shown::dap2::{self, Dap2Facts};
use crate::shown::{ShownDataset, dap4};
use crate::{Das, Dds, Dmr, DodsAnswer, XdrPeculiarities};
use ncirrus_layout::{
    AddressHints, ErrorKind, Limits, ObjectId, QueryAxis, QueryBox, QuerySource as _, StoreId,
};
use ncirrus_model::{Atomic, Model, NodeId, TypeRef, Values};
use std::path::Path;
use std::sync::Arc;

fn limits() -> Limits {
    Limits::default()
}

fn place(protocol: DapProtocol, view: DapView, query: Option<&str>) -> DapPlace {
    let root = ObjectId::new(StoreId::new("http://host"), "x");
    let hints = AddressHints { query: query.map(str::to_owned), ..AddressHints::default() };
    let mut place = DapPlace::new(&root, protocol, false, &hints).unwrap();
    place.view = view;
    place
}

/// A dataset as it is shown, and its source.
fn opened(place: DapPlace, shown: ShownDataset) -> (Model, DapSource) {
    let variables = shown.model.variables().into_iter().map(|id| shown.variables[&id].clone()).collect();
    (shown.model, DapSource::new(Arc::new(place), variables))
}

pub(super) fn dap2_with(dds: &str, das: &str, view: DapView, facts: &Dap2Facts) -> (Model, DapSource) {
    let place = place(DapProtocol::Dap2, view, None);
    let dds = Dds::parse(format!("Dataset {{ {dds} }} x;").as_bytes(), &limits()).unwrap();
    let das = Das::parse(format!("Attributes {{ {das} }}").as_bytes(), &limits()).unwrap();
    let shown = dap2::show(&dds, &das, &place, facts, &limits()).unwrap();
    opened(place, shown)
}

fn dap2(dds: &str, das: &str) -> (Model, DapSource) {
    dap2_with(dds, das, DapView::Native, &Dap2Facts::default())
}

fn dap4(inside: &str) -> (Model, DapSource) {
    let place = place(DapProtocol::Dap4, DapView::Native, None);
    let document = format!("<Dataset name=\"x\" dapVersion=\"4.0\" dmrVersion=\"1.0\">{inside}</Dataset>");
    let dmr = Dmr::parse(document.as_bytes(), &limits()).unwrap();
    let shown = dap4::show(&dmr, &place, &limits()).unwrap();
    opened(place, shown)
}

pub(super) fn whole(source: &DapSource, variable: usize) -> QueryBox {
    let axis = |len: &u64| QueryAxis { start: 0, count: *len, stride: 1 };
    QueryBox { variable, axes: source.variables[variable].shape.iter().map(axis).collect() }
}

/// Names and shapes of all variables.
fn shapes(model: &Model) -> Vec<(String, Vec<u64>)> {
    model.variables().into_iter().map(|id| (model.variable_path(id), model.shape(id))).collect()
}

fn dims(model: &Model) -> Vec<(String, u64)> {
    let group = model.group(model.root()).unwrap();
    let dims = group.dims.iter().filter_map(|dim| model.dimension(*dim));
    dims.map(|dim| (dim.name.clone(), dim.len.current())).collect()
}

fn ty(model: &Model, path: &str) -> TypeRef {
    model.variable(model.variable_at(path).unwrap()).unwrap().ty
}

fn text(model: &Model, path: Option<&str>, name: &str) -> Option<Values> {
    let known = match path {
        Some(path) => model.variable(model.variable_at(path)?)?.attributes.known(),
        None => model.group(model.root())?.attributes.known(),
    };
    known?.iter().find(|attribute| attribute.name == name).map(|attribute| attribute.values.clone())
}

fn dods(dds: &str, words: &[u32]) -> bytes::Bytes {
    let mut body = format!("Dataset {{ {dds} }} x;\nData:\n").into_bytes();
    words.iter().for_each(|word| body.extend(word.to_be_bytes()));
    body.into()
}

fn strings(texts: &[&str]) -> Values {
    Values::String(texts.iter().map(|text| Some(*text)).collect())
}

#[test]
fn variables_are_found_in_whatever_order_they_come() {
    let (_, source) = dap2("Int32 a[x = 2]; Int16 b[x = 2];", "");
    let boxes = [whole(&source, 0), whole(&source, 1)];
    let answer = dods("Int16 b[x = 2]; Int32 a[x = 2];", &[2, 2, 7, 8, 2, 2, 1, 2]);
    let values = source.decode_answer(&boxes, &answer, &limits()).unwrap();
    assert_eq!(values, [Values::Int(vec![1, 2]), Values::Short(vec![7, 8])]);
}

/// A box of the first variable.
fn part(axes: &[(u64, u64)]) -> QueryBox {
    let axis = |(start, count): &(u64, u64)| QueryAxis { start: *start, count: *count, stride: 1 };
    QueryBox { variable: 0, axes: axes.iter().map(axis).collect() }
}

fn query_of(source: &DapSource, requested: &QueryBox) -> String {
    let [query] = source.plan(std::slice::from_ref(requested)).unwrap().try_into().unwrap();
    query.object.query().unwrap_or_default().to_owned()
}

#[test]
fn parts_of_grids_are_decoded_by_the_structure_of_the_answer() {
    let grid = "Grid { Array: Int16 g[y = 3]; Maps: Float32 y[y = 3]; } g;";
    let (_, source) = dap2(grid, "");
    let requested = part(&[(1, 2)]);
    assert_eq!(query_of(&source, &requested), "g.g%5B1:2%5D");
    let answers = [
        dods("Structure { Int16 g[y = 2]; } g;", &[2, 2, 8, 9]),
        dods("Int16 g[y = 2];", &[2, 2, 8, 9]),
        dods("Float64 z; Structure { Int16 G[2]; } G;", &[0, 0, 2, 2, 8, 9]),
        // All of it, whatever was asked for.
        dods(grid, &[3, 3, 7, 8, 9, 3, 3, 0, 0, 0]),
    ];
    for answer in answers {
        let values = source.decode_answer(std::slice::from_ref(&requested), &answer, &limits()).unwrap();
        assert_eq!(values, [Values::Short(vec![8, 9])], "{answer:?}");
    }
}

#[test]
fn all_dimensions_are_subscripted_or_none() {
    let (_, source) = dap2("Int32 a[x = 4][y = 3][z = 2];", "");
    for (axes, query) in [
        ([(0, 4), (0, 3), (0, 2)], "a"),
        ([(1, 2), (0, 3), (0, 2)], "a%5B1:2%5D%5B0:2%5D%5B0:1%5D"),
        ([(0, 4), (0, 3), (1, 1)], "a%5B0:3%5D%5B0:2%5D%5B1%5D"),
    ] {
        assert_eq!(query_of(&source, &part(&axes)), query);
    }
    let (_, source) = dap4("<Int32 name=\"a\"><Dim size=\"4\"/><Dim size=\"3\"/></Int32>");
    for (axes, query) in
        [([(0, 4), (0, 3)], "dap4.ce=/a&"), ([(0, 4), (1, 2)], "dap4.ce=/a%5B0:3%5D%5B1:2%5D&")]
    {
        let found = query_of(&source, &part(&axes));
        assert!(found.starts_with(query), "{found}");
    }
}

#[test]
fn parts_of_dap4_have_sizes_instead_of_dimensions_and_no_maps() {
    let (_, source) = dap4(
        "<Dimension name=\"x\" size=\"4\"/><Int16 name=\"v\"><Dim name=\"/x\"/><Map name=\"/x\"/></Int16>\
         <Float32 name=\"x\"><Dim name=\"/x\"/></Float32>",
    );
    let document = "<Dataset name=\"x\"><Int16 name=\"v\"><Dim size=\"2\"/>\
                    <Attribute name=\"_DAP4_Checksum_CRC32\" type=\"UInt32\"><Value value=\"0\"/></Attribute>\
                    </Int16></Dataset>\r\n";
    let chunk =
        |flags: u8, payload: &[u8]| [&[flags, 0, 0, u8::try_from(payload.len()).unwrap()], payload].concat();
    let data = [8, 0, 9, 0];
    let data = [&data[..], &crc32fast::hash(&data).to_le_bytes()].concat();
    let answer = [chunk(4, document.as_bytes()), chunk(5, &data)].concat();
    let values = source.decode_answer(&[part(&[(1, 2)])], &answer.into(), &limits()).unwrap();
    assert_eq!(values, [Values::Short(vec![8, 9])]);
}

#[test]
fn scalar_bytes_may_be_extended_by_their_sign_and_arrays_empty() {
    let answer = dods("Byte b; Int32 a[x = 0]; String s[x = 0]; Byte c;", &[0xffff_ff81, 0, 0, 0, 9]);
    let answer = DodsAnswer::parse(&answer, &limits()).unwrap();
    let values = answer.values(XdrPeculiarities::default(), &limits()).unwrap().variables;
    let (empty, none) = (Values::Int(Vec::new()), strings(&[]));
    assert_eq!(values, [Values::UByte(vec![0x81]), empty, none, Values::UByte(vec![9])]);
}

#[test]
fn characters_of_strings_are_not_on_the_wire() {
    let (model, source) = dap2_with("String s[x = 9];", "", DapView::NetcdfC, &Dap2Facts::default());
    assert_eq!(model.shape(model.variable_at("/s").unwrap()), [9, 64]);
    let axis = |start, count| QueryAxis { start, count, stride: 1 };
    let part = QueryBox { variable: 0, axes: vec![axis(2, 3), axis(0, 10)] };
    let query = source.plan(&[part]).unwrap().remove(0);
    assert_eq!(query.object.query(), Some("s%5B2:4%5D"));
}

#[test]
fn maps_of_grids_without_a_variable_of_their_own_are_shown_once() {
    let grid = |name: &str| {
        format!(
            "Grid {{ ARRAY: Int16 {name}[y = 2][x = 3]; maps: Float32 y[y = 2]; Float32 x[x = 3]; }} {name};"
        )
    };
    let (model, _) = dap2(&format!("Float32 x[x = 3]; {} {}", grid("g"), grid("h")), "");
    let named = |name: &str, shape: &[u64]| (format!("/{name}"), shape.to_vec());
    let mut shown = shapes(&model);
    shown.sort();
    assert_eq!(shown, [named("g", &[2, 3]), named("h", &[2, 3]), named("x", &[3]), named("y", &[2])]);
}

#[test]
fn dimensions_of_one_name_and_three_lengths_are_three() {
    let (model, _) = dap2("Byte a[d = 2]; Byte b[d = 3]; Byte c[d = 4]; Byte e[d = 3];", "");
    assert_eq!(dims(&model), [("d".to_owned(), 2), ("d_1".to_owned(), 3), ("d_2".to_owned(), 4)]);
    assert_eq!(shapes(&model).iter().map(|(_, shape)| shape[0]).collect::<Vec<_>>(), [2, 3, 4, 3]);
}

#[test]
fn dimensions_without_names_are_named_after_their_variable() {
    let dds = "Structure { Int32 q[2][3]; } s[2];";
    let (model, _) = dap2_with(dds, "", DapView::NetcdfC, &Dap2Facts::default());
    let expected = [("s.q_0", 2), ("s.q_1", 2), ("s.q_2", 3)].map(|(name, len)| (name.to_owned(), len));
    assert_eq!(dims(&model), expected);
}

#[test]
fn containers_of_any_global_kind_are_attributes_of_the_dataset() {
    let das = "HDF_GLOBAL { String a \"1\"; } NC_GLOBAL { String b \"2\"; } HDFEOS_Global { String c \"3\"; } \
               box { String d \"4\"; }";
    let (model, _) = dap2("Byte v;", das);
    for (name, value) in [("a", "1"), ("b", "2"), ("c", "3"), ("box.d", "4")] {
        assert_eq!(text(&model, None, name), Some(Values::Char(value.into())), "{name}");
    }
}

#[test]
fn containers_that_belong_to_very_many_members_take_no_time() {
    let dds: String = (0..20_000).map(|at| format!("Structure {{ Byte t; }} s{at};")).collect();
    let (model, _) =
        dap2_with(&dds, &"t { Byte a 1; }".repeat(20_000), DapView::NetcdfC, &Dap2Facts::default());
    let own = |at: usize| text(&model, Some(&format!("/s{at}.t")), "a");
    assert_eq!((own(0), own(19_999)), (Some(Values::Byte(vec![1])), Some(Values::Byte(vec![1]))));
}

#[test]
fn several_strings_are_joined_in_the_view_of_netcdf_c_only() {
    let (native, _) = dap2("Byte v;", "v { String t \"a\", \"b\"; }");
    assert_eq!(text(&native, Some("/v"), "t"), Some(strings(&["a", "b"])));
    let (joined, _) =
        dap2_with("Byte v;", "v { String t \"a\", \"b\"; }", DapView::NetcdfC, &Dap2Facts::default());
    assert_eq!(text(&joined, Some("/v"), "t"), Some(Values::Char(b"a\nb".to_vec())));
}

#[test]
fn integers_keep_their_sign_natively() {
    let dds = "UInt16 u; UInt32 w; Byte b; Byte s; Byte m;";
    let das = "s { String _Unsigned \"false\"; } m { Byte missing_value -1; }";
    let (native, _) = dap2(dds, das);
    let types = |model: &Model| ["/u", "/w", "/b", "/s", "/m"].map(|path| ty(model, path));
    let atomics = [Atomic::UShort, Atomic::UInt, Atomic::UByte, Atomic::Byte, Atomic::Byte];
    assert_eq!(types(&native), atomics.map(TypeRef::Atomic));
    let (classic, _) = dap2_with(dds, das, DapView::NetcdfC, &Dap2Facts::default());
    let atomics = [Atomic::Short, Atomic::Int, Atomic::Byte, Atomic::Byte, Atomic::Byte];
    assert_eq!(types(&classic), atomics.map(TypeRef::Atomic));
}

#[test]
fn facts_of_folded_characters_do_no_harm() {
    let das = "s { DODS { Int32 strlen 7; String dimName \"letters\"; } String units \"m\"; }";
    let shape = |model: &Model| model.shape(model.variable_at("/s").unwrap());
    let (model, _) = dap2("String s[x = 2];", das);
    assert_eq!((ty(&model, "/s"), shape(&model)), (Atomic::String.into(), vec![2]));
    assert!(text(&model, Some("/s"), "units").is_some());
    let (model, _) = dap2_with("String s[x = 2];", das, DapView::NetcdfC, &Dap2Facts::default());
    assert_eq!((ty(&model, "/s"), shape(&model)), (Atomic::Char.into(), vec![2, 64]));
    assert!(text(&model, Some("/s"), "units").is_some());
    for (name, value) in
        [("DODS.strlen", Values::Int(vec![7])), ("DODS.dimName", Values::Char(b"letters".to_vec()))]
    {
        assert_eq!(text(&model, None, name), Some(value), "{name}");
    }
}

#[test]
fn characters_are_as_many_as_the_longest_string_has() {
    let facts = Dap2Facts { longest: [(vec![0], 70), (vec![1], 7)].into(), ..Dap2Facts::default() };
    let (model, _) = dap2_with("String s[x = 2]; String t;", "", DapView::NetcdfC, &facts);
    let named = |name: &str, shape: &[u64]| (name.to_owned(), shape.to_vec());
    assert_eq!(shapes(&model), [named("/s", &[2, 70]), named("/t", &[64])]);
}

#[test]
fn fill_values_of_another_type_become_those_of_the_variable() {
    let (model, _) =
        dap2("Int16 v; Float32 w;", "v { Float64 _FillValue -999.0; } w { Int32 _FillValue 7; }");
    assert_eq!(text(&model, Some("/v"), "_FillValue"), Some(Values::Short(vec![-999])));
    assert_eq!(text(&model, Some("/w"), "_FillValue"), Some(Values::Float(vec![7.0])));
    let own = |path: &str| model.variable(model.variable_at(path).unwrap()).unwrap().fill_value();
    assert_eq!((own("/v"), own("/w")), (Some(Values::Short(vec![-999])), Some(Values::Float(vec![7.0]))));
}

#[test]
fn dimensions_are_unlimited_by_hint_only_with_the_length_of_the_constraint() {
    let das = "DODS_EXTRA { String Unlimited_Dimension \"t\"; }";
    let (model, _) = dap2("Byte v[t = 4][x = 2];", das);
    let is_unlimited = |model: &Model| {
        let group = model.group(model.root()).unwrap();
        group.dims.iter().map(|dim| model.dimension(*dim).unwrap().len.is_unlimited()).collect::<Vec<_>>()
    };
    // `v[3:6][0:1]` of more steps has these four.
    assert_eq!((is_unlimited(&model), dims(&model)[0].1), (vec![true, false], 4));
    assert_eq!(is_unlimited(&dap2("Byte v[t = 4];", "").0), [false]);
    let (hinted, _) = dap4(
        "<Dimension name=\"t\" size=\"4\" _edu.ucar.isunlimited=\"1\"/><Dimension name=\"x\" size=\"2\"/>",
    );
    assert_eq!(is_unlimited(&hinted), [true, false]);
}

#[test]
fn attributes_of_variables_that_projections_leave_out_have_no_owner() {
    let all = "Dataset { Byte v; Byte w; Structure { Byte a; Byte b; } s; } x;";
    let das = "v { String units \"m\"; } w { String units \"K\"; } s { String note \"n\"; b { String units \"s\"; } } \
               other { String units \"?\"; }";
    // A structure that is shown as a variable has its attributes itself.
    let cases = [(DapView::Native, &["other.units"][..]), (DapView::NetcdfC, &["s.note", "other.units"])];
    for (view, expected) in cases {
        let unprojected = Dds::parse(all.as_bytes(), &limits()).ok();
        let facts = Dap2Facts { unprojected, ..Dap2Facts::default() };
        let (model, _) = dap2_with("Byte v; Structure { Byte a; } s;", das, view, &facts);
        let list = model.attributes(NodeId::Group(model.root())).and_then(|state| state.known()).unwrap();
        let names: Vec<&str> = list.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, expected, "{view:?}");
        assert_eq!(text(&model, Some("/s"), "note").is_some(), view == DapView::Native);
        assert!(text(&model, Some("/v"), "units").is_some(), "{view:?}");
    }
}

#[test]
fn rows_that_changed_are_reported_with_both_counts() {
    let facts = Dap2Facts { rows: [(vec![0], Ok(2))].into(), ..Dap2Facts::default() };
    let (model, source) = dap2_with("Sequence { Int32 i; } q;", "", DapView::Native, &facts);
    assert_eq!(shapes(&model), [("/q.i".to_owned(), vec![2])]);
    let three =
        dods("Sequence { Int32 i; } q;", &[0x5a00_0000, 1, 0x5a00_0000, 2, 0x5a00_0000, 3, 0xa500_0000]);
    let error = source.decode_answer(&[whole(&source, 0)], &three, &limits()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Changed);
    assert!(error.to_string().contains("the sequence q has 3 rows; it had 2"), "{error}");
}

#[test]
fn queries_stay_below_four_thousand_bytes() {
    let dds: String = (0..400).map(|at| format!("Int32 a_rather_long_name_{at}[2];")).collect();
    let (_, source) = dap2(&dds, "");
    let boxes: Vec<QueryBox> = (0..400).map(|at| whole(&source, at)).collect();
    let queries = source.plan(&boxes).unwrap();
    let longest = queries.iter().filter_map(|query| query.object.query()).map(str::len).max().unwrap();
    assert!(longest < 4000 && queries.len() <= 4, "{longest} in {}", queries.len());
    assert_eq!(queries.iter().map(|query| query.boxes.len()).sum::<usize>(), 400);
}

#[test]
fn a_sequence_whose_columns_do_not_fit_an_address_is_requested_whole() {
    let columns: String = (0..400).map(|at| format!("Int32 a_rather_long_name_{at};")).collect();
    let facts = Dap2Facts { rows: [(vec![0], Ok(2))].into(), ..Dap2Facts::default() };
    let dds = format!("Sequence {{ {columns} }} q;");
    let (_, source) = dap2_with(&dds, "", DapView::Native, &facts);
    let plan = |count: usize| {
        let boxes: Vec<QueryBox> = (0..count).map(|at| whole(&source, at)).collect();
        let [query] = source.plan(&boxes).unwrap().try_into().unwrap();
        assert_eq!(query.boxes, (0..count).collect::<Vec<_>>(), "all of them come in one answer");
        (boxes, query)
    };
    let (_, few) = plan(3);
    let names = "q.a_rather_long_name_0,q.a_rather_long_name_1,q.a_rather_long_name_2";
    assert_eq!((few.object.query(), few.bytes), (Some(names), 2 * (4 + 3 * 4)));
    let (boxes, query) = plan(300);
    // All columns are sent then, also those that are not read.
    assert_eq!((query.object.query(), query.bytes, query.is_exact), (Some("q"), 2 * (4 + 400 * 4), true));
    let row = |first: u32| [vec![0x5a00_0000], (first..first + 400).collect()].concat();
    let answer = dods(&dds, &[row(0), row(1000), vec![0xa500_0000]].concat());
    let values = source.decode_answer(&boxes, &answer, &limits()).unwrap();
    assert_eq!((values.len(), &values[299]), (300, &Values::Int(vec![299, 1299])));
}

#[test]
fn variables_of_a_group_come_before_those_of_its_groups() {
    let document = "<Dataset name=\"x\"><Group name=\"g\"><Int8 name=\"b\"/><Group name=\"h\"><Int8 name=\"c\"/></Group>\
                    <Int8 name=\"d\"/></Group><Int8 name=\"a\"/></Dataset>\r\n\0\0 ";
    let dmr = Dmr::parse(document.as_bytes(), &limits()).unwrap();
    let names: Vec<&str> = dmr.variables().iter().map(|(_, variable)| variable.name.as_str()).collect();
    assert_eq!(names, ["a", "b", "d", "c"]);
}

/// The numbers of the traps, and the test that shows each, in this crate or another.
const TRAPS: &[(&[u32], &str, &str)] = &[
    (&[1, 2, 15], "dap/src/dods.rs", "data_begin_at_any_byte_after_either_mark"),
    (&[3, 28], "dap/src/tests/traps.rs", "parts_of_grids_are_decoded_by_the_structure_of_the_answer"),
    (&[4], "dap/src/tests/traps.rs", "variables_are_found_in_whatever_order_they_come"),
    (&[5, 8, 9, 11], "dap/src/xdr/tests.rs", "captured_bytes_are_read_as_the_specification_has_them"),
    (&[6, 12], "dap/src/tests/traps.rs", "scalar_bytes_may_be_extended_by_their_sign_and_arrays_empty"),
    (
        &[7],
        "dap/src/xdr/tests.rs",
        "a_scalar_byte_is_read_from_its_first_byte_where_the_server_puts_it_there",
    ),
    (
        &[10],
        "dap/src/xdr/tests.rs",
        "arrays_have_two_counts_those_of_strings_and_structures_one_and_grids_none",
    ),
    (&[13, 14], "dap/src/xdr/tests.rs", "sequences_end_with_their_mark"),
    (&[16], "cli/tests/opendap.rs", "what_a_server_says_is_the_error_with_any_status"),
    (&[17], "dap/src/dods.rs", "errors_of_the_server_are_found_among_values"),
    (&[18], "cli/tests/opendap_faults.rs", "bad_structures_are_reported_as_what_they_are"),
    (&[19], "cli/tests/opendap.rs", "attributes_that_cannot_be_read_are_left_out_with_a_warning"),
    (&[20], "cli/tests/opendap_faults.rs", "answers_that_end_early_are_errors_with_a_length_and_without"),
    (&[21], "cli/tests/opendap.rs", "brackets_are_left_alone_for_servers_that_do_not_decode_them"),
    (&[21], "cli/tests/opendap.rs", "what_a_host_shows_of_brackets_is_remembered_for_its_datasets"),
    (&[22], "dap/src/constraint.rs", "names_of_the_wire_are_encoded_again"),
    (&[23], "http/src/web/redirects/tests.rs", "a_query_that_a_redirect_encodes_again_is_decoded_once"),
    (&[24], "dap/src/constraint.rs", "the_last_element_is_included_and_none_cannot_be_requested"),
    (&[25], "cli/tests/opendap_server.rs", "reads_take_the_requests_that_they_should"),
    (&[26], "dap/src/tests/traps.rs", "all_dimensions_are_subscripted_or_none"),
    (&[27], "dap/src/tests/traps.rs", "characters_of_strings_are_not_on_the_wire"),
    (&[29], "dap/src/tests/traps.rs", "maps_of_grids_without_a_variable_of_their_own_are_shown_once"),
    (&[30], "dap/src/tests/traps.rs", "dimensions_of_one_name_and_three_lengths_are_three"),
    (&[31], "dap/src/tests/traps.rs", "dimensions_without_names_are_named_after_their_variable"),
    (&[32, 33], "dap/src/dds.rs", "keywords_are_names_where_names_stand"),
    (&[34], "dap/src/tests/traps.rs", "containers_of_any_global_kind_are_attributes_of_the_dataset"),
    (&[35], "dap/src/das.rs", "containers_and_names_of_any_letters"),
    (&[35], "dap/src/das.rs", "numbers_are_read_as_servers_write_them"),
    (&[36], "dap/src/literal.rs", "escapes"),
    (&[37], "dap/src/tests/traps.rs", "several_strings_are_joined_in_the_view_of_netcdf_c_only"),
    (&[38], "dap/src/tests/traps.rs", "fill_values_of_another_type_become_those_of_the_variable"),
    (&[39, 40], "dap/src/tests/traps.rs", "integers_keep_their_sign_natively"),
    (&[41], "dap/src/conversion.rs", "strings_become_characters_and_are_never_cut"),
    (&[41], "dap/src/tests/traps.rs", "characters_are_as_many_as_the_longest_string_has"),
    (&[42], "dap/src/tests/traps.rs", "facts_of_folded_characters_do_no_harm"),
    (
        &[43, 69],
        "dap/src/tests/traps.rs",
        "dimensions_are_unlimited_by_hint_only_with_the_length_of_the_constraint",
    ),
    (&[44], "dap/src/tests/traps.rs", "rows_that_changed_are_reported_with_both_counts"),
    (&[45], "dap/src/constraint.rs", "selections_of_the_user_are_repeated"),
    (&[46], "dap/src/tests/traps.rs", "queries_stay_below_four_thousand_bytes"),
    (&[47], "cli/tests/opendap.rs", "a_box_that_is_too_large_for_the_server_is_halved"),
    (&[48], "cli/tests/opendap_faults.rs", "a_refused_request_for_several_variables_is_not_sent_again"),
    (&[49, 50], "store/src/url/tests.rs", "schemes"),
    (&[52, 53, 54], "dap/src/query/stream/tests.rs", "numbers_of_dap4_are_put_as_they_come"),
    (&[51, 55, 56], "dap/src/chunks/tests.rs", "chunks_are_cut_anywhere_and_checksums_found_out"),
    (&[57], "dap/src/tests.rs", "a_truncated_answer_of_dap4_is_an_error_at_every_byte"),
    (&[58], "dap/src/query/stream/tests.rs", "errors_are_found_where_servers_write_them"),
    (&[59, 60], "dap/src/tests/traps.rs", "variables_of_a_group_come_before_those_of_its_groups"),
    (&[61, 62], "dap/src/dmr/parser/tests.rs", "attributes_in_every_form"),
    (&[63], "dap/src/dmr/parser/tests.rs", "enumerations_have_a_base_type"),
    (&[64], "dap/src/constraint.rs", "paths_of_dap4_are_escaped_before_they_are_encoded"),
    (&[65], "dap/src/tests/traps.rs", "parts_of_dap4_have_sizes_instead_of_dimensions_and_no_maps"),
    (&[66], "dap/src/conversion.rs", "opaque_values_have_one_size"),
    (&[67], "dap/src/chunks/tests.rs", "sizes_are_refused_before_there_is_memory_for_them"),
    (&[68], "http/src/web/encoding.rs", "all_encodings_are_decoded_in_pieces_of_any_length"),
    (&[70], "http/src/web/redirects/tests.rs", "the_login_of_the_first_server_stays_there"),
    (&[71], "cli/tests/opendap_server.rs", "checksums_of_the_structure_are_those_behind_the_values"),
];

#[test]
fn each_trap_has_a_test() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut known: Vec<u32> = Vec::new();
    for (numbers, file, test) in TRAPS {
        let source = std::fs::read_to_string(crates.join(file)).unwrap();
        assert!(source.contains(&format!("fn {test}(")), "{numbers:?}: no {test} in {file}");
        known.extend(*numbers);
    }
    known.sort_unstable();
    known.dedup();
    assert_eq!(known, (1..=71).collect::<Vec<u32>>());
    let spec = std::fs::read_to_string(crates.join("..").join("docs/spec/dap.md")).unwrap();
    let (_, chapter) = spec.split_once("## 10 Traps").unwrap();
    let chapter = chapter.split("\n## ").next().unwrap();
    let lines = chapter.lines().filter(|line| line.starts_with(|first: char| first.is_ascii_digit()));
    assert_eq!(lines.count(), 71);
}

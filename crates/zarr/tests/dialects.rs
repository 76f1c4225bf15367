//! Dialects and damage that are not in the corpus.
#![expect(clippy::expect_used, reason = "a broken fixture fails the test")]
use bytes::Bytes;
use ncirrus_layout::{
    Catalog, Consolidated, Driver, Error, Layout, Limits, Listing, Memo, ObjectBytes, ObjectId, OpenOptions,
    Result, Step, StoredType, TextEncoding, VariableRef, View, Want, settle,
};
use ncirrus_model::{
    Atomic, CodecSpec, DimensionLen, FaultKind, Model, Selection, TypeRef, UserKind, Values, Variable,
};
use ncirrus_testkit::{MemoryView, ObjectView};
use ncirrus_zarr::ZarrDriver;
use std::ops::Range;
use std::sync::Arc;

fn store(objects: &[(&str, &str)]) -> MemoryView {
    let mut all = ObjectView::new();
    objects.iter().for_each(|(key, body)| all.put(key, (*body).to_owned()));
    MemoryView::new(all)
}

fn open_with(view: &dyn View, options: &OpenOptions) -> Result<Arc<dyn Catalog>> {
    settle(ZarrDriver.open(view, &ObjectView::id(""), options)).expect("nothing is missing")
}

fn open(view: &dyn View) -> (Arc<dyn Catalog>, Arc<Model>) {
    let catalog = open_with(view, &OpenOptions::default()).expect("it opens");
    let model = catalog.tree(view).expect("a tree");
    (catalog, model)
}

fn variable<'m>(model: &'m Model, path: &str) -> &'m Variable {
    model.variable_at(path).and_then(|id| model.variable(id)).expect("the variable is there")
}

fn fact(catalog: &dyn Catalog, name: &str) -> String {
    catalog
        .facts()
        .pairs()
        .into_iter()
        .find(|(key, _)| *key == name)
        .map(|(_, value)| value)
        .unwrap_or_default()
}

const GRID: &str = r#""chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [3]}}"#;

fn array_3(members: &str) -> String {
    format!(
        r#"{{"zarr_format": 3, "node_type": "array", "shape": [3], {GRID}, "chunk_key_encoding": {{"name": "default"}}, {members}}}"#
    )
}

#[test]
fn the_draft_for_version_3_keeps_types_and_dimensions() {
    let root = r#"{"zarr_format": 3, "node_type": "group", "attributes": {"n": 1, "t": "x",
        "_nczarr_superblock": {"version": "3.0.0", "format": 3},
        "_nczarr_group": {"dimensions": [{"name": "x", "size": 3, "unlimited": 0}, {"name": "t", "size": 3, "unlimited": 1}],
            "arrays": ["s", "c"], "subgroups": ["g"]},
        "_nczarr_attrs": {"attribute_types": [{"name": "n", "configuration": {"type": "short"}}, {"name": "t", "configuration": {"type": "char"}}]}}}"#;
    let c = array_3(
        r#""data_type": "uint8", "fill_value": 0, "codecs": ["bytes"], "attributes": {"_nczarr_array": {"dimension_references": ["/x"], "type_alias": "char"}}"#,
    );
    let s = array_3(
        r#""data_type": "r32", "fill_value": null, "codecs": ["bytes"], "attributes": {"_nczarr_array": {"dimension_references": ["/t"], "type_alias": "string"}}"#,
    );
    let g = r#"{"zarr_format": 3, "node_type": "group", "attributes": {}}"#;
    let view = store(&[("zarr.json", root), ("c/zarr.json", &c), ("s/zarr.json", &s), ("g/zarr.json", g)]);
    let (catalog, model) = open(&view);
    assert_eq!(fact(catalog.as_ref(), "dialect"), "N3");
    let order: Vec<String> = model.variables().into_iter().map(|id| model.variable_path(id)).collect();
    assert_eq!(order, ["/s", "/c"]);
    assert_eq!(variable(&model, "/c").ty, TypeRef::Atomic(Atomic::Char));
    assert_eq!(variable(&model, "/s").ty, TypeRef::Atomic(Atomic::String));
    let source = catalog.source(&view, model.variable_at("/s").expect("there")).expect("a source");
    assert_eq!(source.stored, StoredType::Text { byte_len: 4, encoding: TextEncoding::NulPadded });
    let time = model.dimension_at("/t").and_then(|id| model.dimension(id)).expect("a dimension");
    assert_eq!(time.len, DimensionLen::Unlimited(3));
    let root = model.group(model.root()).expect("the root");
    let attributes = root.attributes.known().expect("read");
    assert_eq!(attributes.find("n").expect("there").values, Values::Short(vec![1]));
    assert!(model.group_at("/g").is_some());
}

#[test]
fn our_own_extension_is_read_in_plain_stores() {
    let attributes = r#"{"_NCProperties": "version=2,ncirrus=0.1.0,zarr=2", "_ncirrus": {"version": 1,
        "types": [{"name": "level_t", "kind": "enum", "base": "byte", "members": {"Low": 0, "High": 1}}],
        "arrays": ["z", "a"], "attributes": [{"name": "worst", "index": 0, "type": "/level_t", "value": ["High"]}]}}"#;
    let array = |dtype: &str, fill: &str| {
        format!(
            r#"{{"zarr_format": 2, "shape": [3], "chunks": [3], "dtype": "{dtype}", "fill_value": {fill}, "order": "C", "compressor": null, "filters": null}}"#
        )
    };
    let (z, a) = (array("|i1", "1"), array("|S1", "\"WA==\""));
    let view = store(&[
        (".zgroup", r#"{"zarr_format": 2}"#),
        (".zattrs", attributes),
        ("z/.zarray", &z),
        ("z/.zattrs", r#"{"_ARRAY_DIMENSIONS": ["x"], "_ncirrus": {"version": 1, "type": "/level_t"}}"#),
        ("a/.zarray", &a),
        ("a/.zattrs", r#"{"_ARRAY_DIMENSIONS": ["x"], "_ncirrus": {"version": 1, "type": "char"}}"#),
    ]);
    let (catalog, model) = open(&view);
    let order: Vec<String> = model.variables().into_iter().map(|id| model.variable_path(id)).collect();
    assert_eq!(order, ["/z", "/a"]);
    let TypeRef::User(id) = variable(&model, "/z").ty else { panic!("an enum") };
    assert!(matches!(model.user_type(id).expect("defined").kind, UserKind::Enum { base: Atomic::Byte, .. }));
    assert_eq!(variable(&model, "/z").own_fill(), Some(&Values::Byte(vec![1])));
    assert_eq!(variable(&model, "/a").ty, TypeRef::Atomic(Atomic::Char));
    assert_eq!(variable(&model, "/a").own_fill(), Some(&Values::Char(b"X".to_vec())));
    let root = model.group(model.root()).expect("the root").attributes.known().expect("read").clone();
    assert_eq!(root.iter().map(|attribute| attribute.name.as_str()).collect::<Vec<_>>(), ["worst"]);
    assert_eq!(catalog.warnings(), Vec::<String>::new());
}

#[test]
fn what_cannot_be_represented_is_one_variables_fault() {
    let sound = r#"{"zarr_format": 2, "shape": [3], "chunks": [3], "dtype": "<i4", "fill_value": 0}"#;
    let strange = r#"{"zarr_format": 2, "shape": [3], "chunks": [3], "dtype": "<c32", "fill_value": 0}"#;
    let view = store(&[
        (".zgroup", r#"{"zarr_format": 2}"#),
        ("a/.zarray", strange),
        ("a/.zattrs", r#"{"_ARRAY_DIMENSIONS": ["x"], "units": "m"}"#),
        ("b/.zarray", "{\"shape\": "),
        ("c/.zarray", sound),
        ("c/.zattrs", "[1, 2]"),
        ("d/.zarray", sound),
    ]);
    let (catalog, model) = open(&view);
    let a = variable(&model, "/a");
    assert_eq!(a.fault.as_ref().expect("a fault").kind, FaultKind::Unsupported);
    assert_eq!(model.shape(model.variable_at("/a").expect("there")), [3]);
    assert!(a.attributes.known().expect("read").find("units").is_some());
    let b = variable(&model, "/b").fault.clone().expect("a fault");
    assert_eq!(b.kind, FaultKind::Malformed);
    assert!(b.message.contains("b/.zarray") && b.message.contains("at byte"), "{}", b.message);
    assert!(variable(&model, "/c").attributes.known().is_none() && variable(&model, "/c").fault.is_none());
    assert_eq!(variable(&model, "/d").fault, None);
    assert_eq!(catalog.warnings().len(), 3);
}

#[test]
fn faults_of_old_writers_are_repaired_by_default() {
    let stored = |version: &str, options: &OpenOptions| {
        let attributes = format!(r#"{{"_NCProperties": "version=2,netcdf={version},nczarr=2.0.0"}}"#);
        let array = r#"{"zarr_format": 2, "shape": [3], "chunks": [3], "dtype": ">i4", "fill_value": -1}"#;
        let view =
            store(&[(".zgroup", "{\"zarr_format\": 2}"), (".zattrs", &attributes), ("v/.zarray", array)]);
        let catalog = open_with(&view, options).expect("it opens");
        let model = catalog.tree(&view).expect("a tree");
        let source = catalog.source(&view, model.variable_at("/v").expect("there")).expect("a source");
        let StoredType::Integer { order, .. } = source.stored else { panic!("integers") };
        (order == ncirrus_layout::ByteOrder::Big, source.swapped_fill)
    };
    let (repair, keep) = (OpenOptions::default(), OpenOptions::new().no_repairs(true));
    assert_eq!(stored("4.9.2", &repair), (false, false));
    assert_eq!(stored("4.9.2", &keep), (true, false));
    assert_eq!(stored("4.10.1", &repair), (true, true));
    assert_eq!(stored("4.10.1", &keep), (true, false));
    assert_eq!(stored("x", &repair), (true, false));
}

#[test]
fn six_digit_default_fill_is_the_exact_default() {
    let array = |fill: &str| {
        format!(r#"{{"zarr_format": 2, "shape": [3], "chunks": [3], "dtype": "<f8", "fill_value": {fill}}}"#)
    };
    let (rounded, own) = (array("9.96921e+36"), array("9.5e+36"));
    let view = store(&[
        (".zgroup", "{\"zarr_format\": 2}"),
        (".zattrs", r#"{"_NCProperties": "version=2,netcdf=4.10.1,nczarr=2.0.0"}"#),
        ("own/.zarray", &own),
        ("rounded/.zarray", &rounded),
    ]);
    let (catalog, model) = open(&view);
    let rounded = variable(&model, "/rounded");
    assert!(rounded.is_filled() && rounded.own_fill().is_none());
    let source = catalog.source(&view, model.variable_at("/rounded").expect("there")).expect("a source");
    assert_eq!(source.fill, ncirrus_model::default_fill(Atomic::Double));
    assert_eq!(variable(&model, "/own").own_fill(), Some(&Values::Double(vec![9.5e36])));
}

#[test]
fn versions_and_consolidated_metadata_can_be_chosen() {
    let array = r#"{"zarr_format": 2, "shape": [3], "chunks": [3], "dtype": "<i4", "fill_value": 0}"#;
    let three = array_3(r#""data_type": "int32", "fill_value": 0, "codecs": ["bytes"]"#);
    let view = store(&[
        ("zarr.json", r#"{"zarr_format": 3, "node_type": "group"}"#),
        ("new/zarr.json", &three),
        (".zgroup", r#"{"zarr_format": 2}"#),
        ("old/.zarray", array),
        (".zmetadata", r#"{"zarr_consolidated_format": 1, "metadata": {".zgroup": {"zarr_format": 2}}}"#),
    ]);
    let names = |options: OpenOptions| {
        let model = open_with(&view, &options).expect("it opens").tree(&view).expect("a tree");
        model.variables().into_iter().map(|id| model.variable_path(id)).collect::<Vec<_>>()
    };
    assert_eq!(names(OpenOptions::default()), ["/new"]);
    assert_eq!(names(OpenOptions::new().prefer_v2(true)), Vec::<String>::new());
    let never = OpenOptions::new().prefer_v2(true).consolidated(Consolidated::Never);
    assert_eq!(names(never), ["/old"]);
}

#[test]
fn names_in_metadata_never_lead_out_of_the_store() {
    let root = r#"{"_nczarr_superblock": {"version": "2.0.0"},
        "_nczarr_group": {"dimensions": {"a/b": 3}, "arrays": ["../../v", "..", ".", "", "a/b"], "groups": [".."]}}"#;
    let view = store(&[(".zgroup", r#"{"zarr_format": 2}"#), (".zattrs", root)]);
    let (_, model) = open(&view);
    assert!(model.variables().is_empty() && model.walk().len() == 1);
}

#[test]
fn an_array_at_the_root_is_named_after_its_key() {
    let array =
        r#"{"zarr_format": 2, "shape": [], "dtype": "<i4", "fill_value": 0, "compressor": {"id": "zlib"}}"#;
    let mut objects = ObjectView::new();
    objects.put("data/sst.zarr/.zarray", array);
    let view = MemoryView::new(objects);
    let root = ObjectView::id("data/sst.zarr");
    let catalog =
        settle(ZarrDriver.open(&view, &root, &OpenOptions::default())).expect("complete").expect("it opens");
    let model = catalog.tree(&view).expect("a tree");
    let id = model.variable_at("/sst").expect("named after the key");
    let Layout::Grid { index, .. } = catalog.source(&view, id).expect("a source").layout else {
        panic!("a grid")
    };
    let chunk = index.locate(&view, &ncirrus_layout::CellList::one(&[])).expect("located");
    let expected = ncirrus_layout::Location::Object(ObjectView::id("data/sst.zarr/0"));
    assert_eq!(chunk.first().map(|chunk| &chunk.location), Some(&expected));
}

/// A store that cannot list, such as a web server.
struct Unlisted(MemoryView);

impl View for Unlisted {
    fn read(&self, object: &ObjectId, want: Want) -> Step<Option<ObjectBytes>> {
        self.0.read(object, want)
    }
    fn decoded(
        &self,
        object: &ObjectId,
        range: Range<u64>,
        codecs: &[CodecSpec],
        mask: u32,
        len: u64,
    ) -> Step<Bytes> {
        self.0.decoded(object, range, codecs, mask, len)
    }
    fn values(&self, variable: &VariableRef, selection: &Selection) -> Step<Values> {
        self.0.values(variable, selection)
    }
    fn list(&self, _: &ObjectId, _: Option<&str>) -> Step<Listing> {
        Err(Error::unsupported("the store cannot list").into())
    }
    fn release(&self, object: &ObjectId, end: u64) {
        self.0.release(object, end);
    }
    fn memo(&self) -> &Memo {
        self.0.memo()
    }
    fn limits(&self) -> &Limits {
        self.0.limits()
    }
}

#[test]
fn listing_is_needed_for_plain_groups_only() {
    let array = r#"{"zarr_format": 2, "shape": [3], "chunks": [3], "dtype": "<i4", "fill_value": 0}"#;
    let info = r#"{"_nczarr_superblock": {"version": "2.0.0"}, "_nczarr_group": {"dimensions": {}, "arrays": ["v"], "groups": []}}"#;
    let group = (".zgroup", r#"{"zarr_format": 2}"#);
    let listed = Unlisted(store(&[group, (".zattrs", info), ("v/.zarray", array)]));
    assert_eq!(open(&listed).1.variables().len(), 1);
    let plain = Unlisted(store(&[group, ("v/.zarray", array)]));
    let error = open_with(&plain, &OpenOptions::default()).expect_err("nothing names the members");
    assert_eq!(error.kind(), ncirrus_layout::ErrorKind::Unsupported);
    let metadata = format!(
        r#"{{"zarr_consolidated_format": 1, "metadata": {{".zgroup": {{"zarr_format": 2}}, "v/.zarray": {array}}}}}"#
    );
    let consolidated = Unlisted(store(&[(".zmetadata", &metadata)]));
    assert_eq!(open(&consolidated).1.variables().len(), 1);
}

#[test]
fn consolidated_metadata_need_not_name_the_groups() {
    let array = r#"{"zarr_format": 2, "shape": [3], "chunks": [3], "dtype": "<i4", "fill_value": 0}"#;
    let two = format!(r#"{{"zarr_consolidated_format": 1, "metadata": {{"g/h/v/.zarray": {array}}}}}"#);
    assert!(open(&store(&[(".zmetadata", &two)])).1.variable_at("/g/h/v").is_some());
    let three = array_3(r#""data_type": "int32", "fill_value": 0, "codecs": ["bytes"]"#);
    let root = format!(
        r#"{{"zarr_format": 3, "node_type": "group", "consolidated_metadata": {{"kind": "inline", "metadata": {{"g/h/v": {three}}}}}}}"#
    );
    assert!(open(&store(&[("zarr.json", &root)])).1.variable_at("/g/h/v").is_some());
}

#[test]
fn damaged_documents_of_groups_are_reported() {
    let array = r#"{"zarr_format": 2, "shape": [3], "chunks": [3], "dtype": "<i4", "fill_value": 0}"#;
    let view = store(&[
        (".zmetadata", "{\"metadata\": {"),
        (".zgroup", "<html>"),
        (".zattrs", "{}"),
        ("g/.zgroup", "<html>"),
        ("g/v/.zarray", array),
    ]);
    let (catalog, model) = open(&view);
    assert_eq!(catalog.warnings().len(), 3, "{:?}", catalog.warnings());
    let g = model.group_at("/g").and_then(|id| model.group(id)).expect("listed");
    assert_eq!(g.fault.as_ref().expect("a fault").kind, FaultKind::Malformed);
    assert!(model.variable_at("/g/v").is_some());
}

/// Plain Zarr with an array of `<U1`, three elements in a chunk.
fn one_byte_unicode(properties: &str, chunk: &str) -> MemoryView {
    let zarray = r#"{"zarr_format": 2, "shape": [3], "dtype": "<U1", "chunks": [3], "fill_value": "",
        "order": "C", "compressor": null, "filters": null}"#;
    store(&[
        (".zgroup", r#"{"zarr_format": 2}"#),
        (".zattrs", properties),
        ("c/.zarray", zarray),
        ("c/.zattrs", r#"{"_ARRAY_DIMENSIONS": ["x"]}"#),
        ("c/0", chunk),
    ])
}

#[test]
fn one_byte_per_cell_of_u1_is_char_from_every_writer() {
    let text = "a\0\0\0b\0\0\0c\0\0\0";
    let by = |version: &str| format!(r#"{{"_NCProperties": "version=2,netcdf={version},nczarr=2.0.0"}}"#);
    for (properties, chunk, ty) in [
        ("{}".to_owned(), "abc", Atomic::Char),
        ("{}".to_owned(), text, Atomic::String),
        (by("4.9.2"), "abc", Atomic::Char),
        (by("4.9.2"), text, Atomic::String),
        (by("4.9.0"), "abc", Atomic::Char),
        (by("4.8.1"), text, Atomic::Char),
    ] {
        let view = one_byte_unicode(&properties, chunk);
        let (catalog, model) = open(&view);
        assert_eq!(variable(&model, "/c").ty, TypeRef::Atomic(ty), "{properties} {chunk:?}");
        let source = catalog.source(&view, model.variable_at("/c").expect("there")).expect("a source");
        assert_eq!(source.stored == StoredType::Char, ty == Atomic::Char);
    }
}

#[test]
fn the_draft_of_2018_may_have_sizes_in_bits_and_lengths_of_strings_in_attributes() {
    let array = |dtype: &str, more: &str| {
        format!(
            r#"{{"zarr_format": 2, "compressor": null, "filters": null, "order": "C", "shape": [2], "chunks": [2],
            "fill_value": null, "dtype": {dtype}, "dimensions": ["/x"]{more}}}"#
        )
    };
    let compound = r#"[["n", "<i16"], ["s", "|S"], ["v", "<f32", [2]]]"#;
    let (root, types) = (r#"{"T.s": 3}"#, format!(r#"{{"T": {compound}}}"#));
    let (a, b) = (array(r#""<i32""#, ""), array(r#""<i8""#, ""));
    let c = array(compound, r#", "typedef": "/T""#);
    let objects = [
        (".zdataset", r#"{"nczarr_version": "1.0.0"}"#),
        (".zgroup", r#"{"zarr_format": 2}"#),
        (".zdims", r#"{"x": 2}"#),
        (".zattrs", root),
        (".ztypedefs", &types),
        ("a/.zarray", &a),
        ("b/.zarray", &b),
        ("c/.zarray", &c),
    ];
    let view = store(&objects);
    let (catalog, model) = open(&view);
    assert_eq!(variable(&model, "/a").ty, TypeRef::Atomic(Atomic::Int));
    assert_eq!(variable(&model, "/b").ty, TypeRef::Atomic(Atomic::Byte));
    let compound = variable(&model, "/c");
    assert!(compound.fault.is_none(), "{:?}", compound.fault);
    let TypeRef::User(id) = compound.ty else { panic!("a compound") };
    assert_eq!(model.type_path(id), "/T");
    let source = catalog.source(&view, model.variable_at("/c").expect("there")).expect("a source");
    assert_eq!(source.stored.byte_len(), Some(2 + 3 + 8));
    // Without such a size they are in bytes, as in Zarr.
    let plain: Vec<(&str, &str)> = objects
        .into_iter()
        .filter(|(key, _)| !matches!(*key, "a/.zarray" | "c/.zarray" | ".ztypedefs"))
        .collect();
    assert_eq!(variable(&open(&store(&plain)).1, "/b").ty, TypeRef::Atomic(Atomic::Int64));
}

const PLAIN_ARRAY: &str = r#"{"zarr_format": 2, "compressor": null, "filters": null, "order": "C", "shape": [3],
    "chunks": [3], "fill_value": null, "dtype": "<i4"}"#;

fn with_modes(modes: &[&str]) -> OpenOptions {
    let modes = modes.iter().map(|mode| (*mode).to_owned()).collect();
    let address = ncirrus_layout::AddressHints { modes, ..ncirrus_layout::AddressHints::default() };
    OpenOptions::new().address(address)
}

#[test]
fn a_folder_of_arrays_is_read_if_the_mode_says_so() {
    let view = store(&[
        ("v/.zarray", PLAIN_ARRAY),
        ("v/.zattrs", r#"{"_ARRAY_DIMENSIONS": ["x"]}"#),
        ("w/.zarray", PLAIN_ARRAY),
    ]);
    assert!(open_with(&view, &OpenOptions::default()).is_err());
    for mode in ["zarr", "nczarr"] {
        let catalog = open_with(&view, &with_modes(&[mode])).expect("it opens");
        let model = catalog.tree(&view).expect("a tree");
        let paths: Vec<String> = model.variables().into_iter().map(|id| model.variable_path(id)).collect();
        assert_eq!(paths, ["/v", "/w"], "{mode}");
    }
    assert!(open_with(&store(&[("other/text", "x")]), &with_modes(&["zarr"])).is_err());
}

#[test]
fn names_of_array_dimensions_are_not_used_with_noxarray() {
    let group = (".zgroup", r#"{"zarr_format": 2}"#);
    let attributes = ("v/.zattrs", r#"{"_ARRAY_DIMENSIONS": ["x"], "a": 1}"#);
    let view = store(&[group, ("v/.zarray", PLAIN_ARRAY), attributes]);
    for (modes, name) in [(&["zarr"][..], "/x"), (&["zarr", "noxarray"], "/_Anonymous_Dim_3")] {
        let model = open_with(&view, &with_modes(modes)).expect("it opens").tree(&view).expect("a tree");
        let v = variable(&model, "/v");
        assert_eq!(model.dimension_path(v.dims[0]), name);
        let names: Vec<&str> =
            v.attributes.known().expect("read").iter().map(|attribute| attribute.name.as_str()).collect();
        assert_eq!(names, ["a"]);
    }
}

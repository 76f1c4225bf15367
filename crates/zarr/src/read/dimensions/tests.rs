use super::*;

fn info(dimensions: &[&str]) -> ArrayInfo {
    let dimensions = dimensions.iter().map(|&path| path.to_owned()).collect();
    ArrayInfo { dimensions, ..ArrayInfo::default() }
}

fn names(list: &[Option<&str>]) -> Option<Vec<Option<String>>> {
    Some(list.iter().map(|name| name.map(str::to_owned)).collect())
}

#[test]
fn anonymous_dimensions_have_the_names_of_the_view() {
    for (view, name) in [(DatasetView::Own, "/_Anonymous_Dim_3"), (DatasetView::NetcdfC, "/_zdim_3")] {
        let (mut model, mut known, mut warnings) = (Model::new(), DimensionNames::new(view), Vec::new());
        let spanned = plain(model.root(), &[3], None);
        let dims = resolve(&mut model, &mut known, &spanned, &mut warnings).unwrap();
        assert_eq!(model.dimension_path(dims[0]), name);
    }
}

/// Paths of the dimensions, and the number of warnings.
fn resolved(model: &mut Model, spanned: &SpannedVariable<'_>) -> (Vec<String>, usize) {
    let mut warnings = Vec::new();
    let mut known = DimensionNames::new(DatasetView::Own);
    for group in model.walk() {
        known.enter(model, group);
        for id in model.group(group).unwrap().dims.clone() {
            known.named.insert((group, model.dimension(id).unwrap().name.clone()), id);
        }
    }
    let dims = resolve(model, &mut known, spanned, &mut warnings).unwrap();
    (dims.into_iter().map(|id| model.dimension_path(id)).collect(), warnings.len())
}

fn plain<'a>(group: GroupId, shape: &'a [u64], names: Option<Vec<Option<String>>>) -> SpannedVariable<'a> {
    SpannedVariable { group, path: "/v", shape, info: None, names, in_nczarr: false }
}

fn nczarr<'a>(group: GroupId, shape: &'a [u64], info: &'a ArrayInfo) -> SpannedVariable<'a> {
    SpannedVariable { group, path: "/v", shape, info: Some(info), names: None, in_nczarr: true }
}

#[test]
fn references_are_paths_and_lengths_must_agree() {
    let mut model = Model::new();
    let root = model.root();
    let g = model.add_group(root, "g").unwrap();
    model.add_dimension(root, "x y", DimensionLen::Fixed(3)).unwrap();
    model.add_dimension(root, "time", DimensionLen::Unlimited(5)).unwrap();
    model.add_dimension(g, "y", DimensionLen::Fixed(4)).unwrap();
    let sound = info(&["/time", "/x y", "/g/y"]);
    let all = resolved(&mut model, &nczarr(g, &[2, 3, 4], &sound));
    assert_eq!(all, (vec!["/time".into(), "/x y".into(), "/g/y".into()], 0));
    let relative = info(&["y"]);
    assert_eq!(resolved(&mut model, &nczarr(g, &[4], &relative)), (vec!["/g/y".into()], 0));
    let wrong = info(&["/x y", "/nope"]);
    let anonymous = "/_Anonymous_Dim_9".to_owned();
    assert_eq!(resolved(&mut model, &nczarr(root, &[9, 9], &wrong)), (vec![anonymous.clone(), anonymous], 2));
}

#[test]
fn scalars_have_no_dimensions_whatever_their_stored_shape() {
    let mut model = Model::new();
    let root = model.root();
    let marked = ArrayInfo { scalar: true, ..ArrayInfo::default() };
    assert_eq!(resolved(&mut model, &nczarr(root, &[1], &marked)).0.len(), 0);
    assert_eq!(resolved(&mut model, &nczarr(root, &[1], &info(&[]))).0.len(), 0);
    assert_eq!(resolved(&mut model, &plain(root, &[], None)).0.len(), 0);
    assert_eq!(resolved(&mut model, &plain(root, &[1], names(&[Some("_scalar_")]))).0.len(), 0);
    assert_eq!(resolved(&mut model, &plain(root, &[], names(&[Some("d0")]))), (Vec::new(), 1));
    assert_eq!(resolved(&mut model, &plain(root, &[1], names(&[]))), (vec!["/_Anonymous_Dim_1".into()], 0));
}

#[test]
fn names_belong_to_the_group_and_conflicts_become_anonymous() {
    let mut model = Model::new();
    let root = model.root();
    let g = model.add_group(root, "g").unwrap();
    let x = names(&[Some("x")]);
    assert_eq!(resolved(&mut model, &plain(root, &[3], x.clone())), (vec!["/x".into()], 0));
    assert_eq!(resolved(&mut model, &plain(root, &[5], x.clone())), (vec!["/_Anonymous_Dim_5".into()], 1));
    assert_eq!(resolved(&mut model, &plain(g, &[5], x)), (vec!["/g/x".into()], 0));
    let odd = names(&[Some("a/b"), None, Some("")]);
    let all = resolved(&mut model, &plain(root, &[2, 7, 7], odd));
    assert_eq!(all.0, ["/a_b", "/_Anonymous_Dim_7", "/_Anonymous_Dim_7"]);
    let few = names(&[Some("x")]);
    assert_eq!(resolved(&mut model, &plain(root, &[2, 7], few)).1, 1);
}

#[test]
fn empty_axes_are_unlimited() {
    let mut model = Model::new();
    let root = model.root();
    resolved(&mut model, &plain(root, &[0, 0], names(&[Some("t"), None])));
    for path in ["/t", "/_Anonymous_Dim_0"] {
        let id = model.dimension_at(path).unwrap();
        assert_eq!(model.dimension(id).unwrap().len, DimensionLen::Unlimited(0));
    }
}

#[test]
fn array_dimensions_must_be_a_list_of_strings() {
    let read = |text: &'static str| {
        let json = crate::json::parse(
            &bytes::Bytes::from_static(text.as_bytes()),
            &ncirrus_layout::Limits::default(),
        );
        array_dimensions(json.ok().as_ref())
    };
    assert_eq!(read(r#"["a", "b"]"#), names(&[Some("a"), Some("b")]));
    assert_eq!(read("[]"), Some(Vec::new()));
    for text in [r#""x""#, "[1]", r#"["a", null]"#, "{}"] {
        assert_eq!(read(text), None, "{text}");
    }
}

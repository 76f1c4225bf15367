//! Members that cannot be read are replaced by a comment; everything else is printed.
#![expect(clippy::unwrap_used, reason = "helpers of tests may panic")]
use ncirrus_cdl::{CdlError, DataSource, PrintOptions, PrintSummary, ReadError, ncml, print};
use ncirrus_model::{
    Atomic, Attribute, AttributeState, Attributes, DimensionLen, Fault, FaultKind, Model, NodeId, Selection,
    Values, VarId,
};

/// Values are the flat indices; fails from `fail_at` on, and records what was requested.
struct Counting {
    fail_at: u64,
    requested: Vec<Selection>,
    given: i32,
}

impl Counting {
    fn new(fail_at: u64) -> Self {
        Self { fail_at, requested: Vec::new(), given: 0 }
    }
}

impl DataSource for Counting {
    fn read(&mut self, _: VarId, selection: &Selection) -> Result<Values, ReadError> {
        self.requested.push(selection.clone());
        let count = i32::try_from(selection.element_count().unwrap())?;
        if u64::try_from(self.given + count)? > self.fail_at {
            return Err("chunk 3 is\nmissing".into());
        }
        let values = Values::Int((self.given..self.given + count).collect());
        self.given += count;
        Ok(values)
    }

    fn special(&mut self, node: NodeId) -> Vec<Attribute> {
        match node {
            NodeId::Group(_) => {
                vec![Attribute::text("_NCProperties", "version=2"), Attribute::text("_Format", "netCDF-4")]
            }
            NodeId::Variable(_) => {
                let sizes = Values::Int(vec![2, 1]);
                vec![Attribute::text("_Storage", "chunked"), Attribute::atomic("_ChunkSizes", sizes)]
            }
        }
    }
}

fn model(shape: &[u64]) -> (Model, VarId) {
    let mut model = Model::new();
    let root = model.root();
    let dims: Vec<_> = shape
        .iter()
        .enumerate()
        .map(|(at, &len)| model.add_dimension(root, &format!("d{at}"), DimensionLen::Fixed(len)).unwrap())
        .collect();
    let id = model.add_variable(root, "v", Atomic::Int.into(), &dims).unwrap();
    (model, id)
}

fn run(model: &Model, source: &mut Counting, options: &PrintOptions) -> (String, PrintSummary) {
    let mut text = Vec::new();
    let summary = print(&mut text, model, source, options).unwrap();
    (String::from_utf8(text).unwrap(), summary)
}

#[test]
fn faulty_variable_is_declared_and_its_data_are_a_comment() {
    let (mut model, id) = model(&[2]);
    model.variable_mut(id).unwrap().fault = Some(Fault::new(FaultKind::Unsupported, "unknown codec \"x\""));
    let (text, summary) = run(&model, &mut Counting::new(u64::MAX), &PrintOptions::default());
    assert!(text.contains("\tint v(d0) ;\n"));
    assert!(text.ends_with("data:\n\n // v: unknown codec \"x\"\n}\n"), "{text}");
    assert_eq!(summary.faults, [("/v".to_owned(), "unknown codec \"x\"".to_owned())]);
}

#[test]
fn a_variable_with_more_elements_than_can_be_counted_is_a_comment_and_not_read() {
    let (model, _) = model(&[1 << 40, 1 << 40]);
    let mut source = Counting::new(u64::MAX);
    let (text, summary) = run(&model, &mut source, &PrintOptions::default());
    assert!(text.contains("\tint v(d0, d1) ;\n") && text.contains("// v: [1099511627776, "), "{text}");
    assert_eq!(summary.faults.len(), 1);
    assert!(source.requested.is_empty());
}

#[test]
fn read_error_is_reported_on_one_line_and_the_rest_is_printed() {
    let (mut model, _) = model(&[2]);
    let root = model.root();
    model.add_variable(root, "w", Atomic::Int.into(), &[]).unwrap();
    let (text, summary) = run(&model, &mut Counting::new(1), &PrintOptions::default());
    assert!(text.ends_with("data:\n\n // v: chunk 3 is missing\n\n w = 0 ;\n}\n"), "{text}");
    assert_eq!(summary.faults.len(), 1);
}

#[test]
fn read_error_in_the_middle_ends_the_variable() {
    let (model, _) = model(&[300_000, 2]);
    let (text, summary) = run(&model, &mut Counting::new(300_000), &PrintOptions::default());
    assert!(text.contains("\n  262142, 262143,\n"));
    assert!(text.ends_with(" // v: chunk 3 is missing\n}\n"));
    assert_eq!(summary.faults.len(), 1);
}

#[test]
fn damaged_attributes_are_comments() {
    let (mut model, id) = model(&[1]);
    let mut attributes = Attributes::new();
    attributes.faults.push(("a".to_owned(), Fault::new(FaultKind::Malformed, "not a list")));
    model.variable_mut(id).unwrap().attributes = AttributeState::Known(attributes);
    let root = model.root();
    *model.group_mut(root).unwrap().attributes =
        AttributeState::Damaged(Fault::new(FaultKind::Missing, "no .zattrs"));
    let (text, summary) = run(&model, &mut Counting::new(u64::MAX), &PrintOptions::default());
    assert!(text.contains("// v:a: not a list\n"), "{text}");
    let paths: Vec<&str> = summary.faults.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(paths, ["/v:a", "/"]);
}

#[test]
fn blocks_are_bounded_and_follow_each_other() {
    for shape in [&[300_000, 2][..], &[3, 700_000], &[7, 11, 13], &[1_000, 1, 1_000], &[5, 300, 1_000], &[]] {
        let (model, _) = model(shape);
        let mut source = Counting::new(u64::MAX);
        let (_, summary) = run(&model, &mut source, &PrintOptions::default());
        assert!(summary.faults.is_empty());
        let mut next = 0;
        for region in source.requested.iter().map(|selection| selection.as_region().unwrap()) {
            let flat = region.start.iter().zip(shape).fold(0, |at, (index, len)| at * len + index);
            assert_eq!(flat, next, "{shape:?}");
            assert!(region.element_count().unwrap() * 4 <= 1 << 20);
            next += region.element_count().unwrap();
        }
        assert_eq!(next, shape.iter().product::<u64>());
    }
}

#[test]
fn special_attributes_follow_the_others() {
    let (mut model, id) = model(&[1]);
    let root = model.root();
    model.variable_mut(id).unwrap().attributes.known_mut().put(Attribute::text("units", "m"));
    model.group_mut(root).unwrap().attributes.known_mut().put(Attribute::text("title", "t"));
    let options = PrintOptions::new().special(true).no_properties(true);
    let (text, _) = run(&model, &mut Counting::new(u64::MAX), &options);
    let variable = "\t\tv:units = \"m\" ;\n\t\tv:_Storage = \"chunked\" ;\n\t\tv:_ChunkSizes = 2, 1 ;\n";
    assert!(text.contains(variable), "{text}");
    assert!(text.contains("\t\t:title = \"t\" ;\n\t\t:_Format = \"netCDF-4\" ;\n"));
    assert!(!text.contains("_NCProperties"));
}

#[test]
fn unknown_names_are_errors_before_anything_is_printed() {
    let (model, _) = model(&[1]);
    let mut text = Vec::new();
    let options = PrintOptions::new().variables(vec!["v".into(), "nope".into()]);
    let error = print(&mut text, &model, &mut Counting::new(1), &options).unwrap_err();
    assert!(matches!(error, CdlError::NoSuchVariable(name) if name == "nope"));
    let options = PrintOptions::new().groups(vec!["g".into()]);
    let error = print(&mut text, &model, &mut Counting::new(1), &options).unwrap_err();
    assert!(matches!(error, CdlError::NoSuchGroup(name) if name == "g"));
    assert!(text.is_empty());
}

#[test]
fn ncml_of_the_classic_model_is_the_references() {
    let (mut model, id) = model(&[2]);
    let root = model.root();
    model.group_mut(root).unwrap().attributes.known_mut().put(Attribute::text("t", "a<b\n\u{7}"));
    model
        .variable_mut(id)
        .unwrap()
        .attributes
        .known_mut()
        .put(Attribute::atomic("f", Values::Float(vec![1.5, 2.0])));
    let options = PrintOptions::new().classic(true);
    let mut text = Vec::new();
    ncml(&mut text, &model, "a.nc", &options).unwrap();
    // As ncdump -x prints: netcdf a { dimensions: d0 = 2; variables: int v(d0); v:f = 1.5f, 2.f; :t = "a<b\n\007"; }
    let expected = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
        <netcdf xmlns=\"https://www.unidata.ucar.edu/namespaces/netcdf/ncml-2.2\" location=\"a.nc\">\n  \
        <dimension name=\"d0\" length=\"2\" />\n  \
        <attribute name=\"t\" value=\"a&lt;b&#xA;&#7;\" />\n  \
        <variable name=\"v\" shape=\"d0\" type=\"int\">\n    \
        <attribute name=\"f\" type=\"float\" value=\"1.5 2.\" />\n  \
        </variable>\n</netcdf>\n";
    assert_eq!(String::from_utf8(text).unwrap(), expected);
}

#[test]
fn storage_properties_head_every_group_and_stand_close_to_names_that_are_keywords() {
    let (mut model, id) = model(&[2]);
    let root = model.root();
    model.rename_variable(id, "data").unwrap();
    let own = Attribute::atomic("a", Values::Int(vec![1]));
    model.variable_mut(id).unwrap().attributes.known_mut().put(own);
    model.add_group(root, "empty").unwrap();
    let options = PrintOptions::new().special(true);
    let (text, _) = run(&model, &mut Counting::new(u64::MAX), &options);
    assert!(text.contains("\t\tdata :a = 1 ;\n\t\tdata:_Storage = \"chunked\" ;\n"), "{text}");
    assert!(text.contains("\ngroup: empty {\n\n  // group attributes:\n"), "{text}");
}

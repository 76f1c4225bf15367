//! Answers against the parsers of this crate: what is served is what is read.
use super::*;
use crate::{ChecksumRule, DapAnswer, Das, Dds, Dmr, DodsAnswer, XdrPeculiarities};
use ncirrus_layout::{Error, ErrorKind, Limits};
use ncirrus_model::{
    Atomic, Attribute, DimensionLen, EnumMember, Field, Model, NodeId, Strings, TypeRef, UserKind, UserType,
};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Definitions and all values.
struct Sample {
    model: Arc<Model>,
    values: HashMap<VarId, Values>,
}

fn sample() -> Sample {
    let mut model = Model::new();
    let root = model.root();
    let x = model.add_dimension(root, "x", DimensionLen::Fixed(5)).unwrap();
    let y = model.add_dimension(root, "y", DimensionLen::Unlimited(3)).unwrap();
    let letters = model.add_dimension(root, "len", DimensionLen::Fixed(4)).unwrap();
    let none = model.add_dimension(root, "none", DimensionLen::Fixed(0)).unwrap();
    let group = model.add_group(root, "g").unwrap();
    let fields = vec![
        Field { name: "a".into(), ty: Atomic::Int.into(), dims: vec![] },
        Field { name: "b".into(), ty: Atomic::UByte.into(), dims: vec![3] },
    ];
    let compound = UserType { name: "pair".into(), kind: UserKind::Compound(fields) };
    let compound = model.add_type(root, compound).unwrap();
    let members =
        vec![EnumMember { name: "no".into(), value: 0 }, EnumMember { name: "yes".into(), value: 1 }];
    let choice = UserType { name: "choice".into(), kind: UserKind::Enum { base: Atomic::UByte, members } };
    let choice = model.add_type(root, choice).unwrap();
    let vlen = UserType { name: "many".into(), kind: UserKind::Vlen(Atomic::Short.into()) };
    let vlen = model.add_type(root, vlen).unwrap();
    let mut values = HashMap::new();
    let mut add = |group, name: &str, ty: TypeRef, dims: &[_], all: Values| {
        let id = model.add_variable(group, name, ty, dims).unwrap();
        values.insert(id, all);
        id
    };
    let floats: Vec<f32> = (0..15_u8).map(f32::from).collect();
    let t = add(root, "t", Atomic::Float.into(), &[y, x], Values::Float(floats));
    add(root, "bytes", Atomic::Byte.into(), &[x], Values::Byte(vec![-1, 0, 1, 127, -128]));
    add(root, "one", Atomic::UByte.into(), &[], Values::UByte(vec![200]));
    add(root, "short.er", Atomic::Short.into(), &[x], Values::Short(vec![-1, 0, 1, 2, 300]));
    add(root, "wide", Atomic::Int64.into(), &[y], Values::Int64(vec![-1, 1 << 40, 7]));
    add(root, "text", Atomic::Char.into(), &[y, letters], Values::Char(b"one\0twotfour".to_vec()));
    let strings: Strings = [Some("a"), None, Some("caf\u{e9}")].into_iter().collect();
    add(root, "strings", Atomic::String.into(), &[y], Values::String(strings));
    add(root, "empty", Atomic::Double.into(), &[none, x], Values::Double(vec![]));
    let pairs = Values::Compound {
        len: 3,
        fields: vec![Values::Int(vec![1, -2, 3]), Values::UByte(vec![1, 2, 3, 4, 5, 6, 7, 8, 9])],
    };
    add(root, "pairs", TypeRef::User(compound), &[y], pairs);
    add(root, "choices", TypeRef::User(choice), &[y], Values::UByte(vec![1, 0, 1]));
    let lists = Values::Vlen { ends: vec![2, 2, 3], elements: Box::new(Values::Short(vec![4, 5, 6])) };
    add(root, "lists", TypeRef::User(vlen), &[y], lists);
    add(group, "inner", Atomic::UShort.into(), &[x], Values::UShort(vec![1, 2, 3, 4, 65535]));
    model.set_attribute(NodeId::Variable(t), Attribute::text("units", "m \"s\"\n-1")).unwrap();
    model
        .set_attribute(NodeId::Variable(t), Attribute::atomic("_FillValue", Values::Float(vec![1e20])))
        .unwrap();
    model.set_attribute(NodeId::Group(root), Attribute::text("title", "a & b < c")).unwrap();
    Sample { model: Arc::new(model), values }
}

impl Sample {
    fn read(&self, step: &ReadStep) -> StepValues {
        let all = &self.values[&step.variable];
        let mut places = vec![0_usize];
        for (axis, len) in step.selection.axes().iter().zip(self.model.shape(step.variable)) {
            let along = |place: usize| {
                (0..axis.count()).map(move |at| {
                    place * usize::try_from(len).unwrap() + usize::try_from(axis.index(at).unwrap()).unwrap()
                })
            };
            places = places.into_iter().flat_map(along).collect();
        }
        let mut part = all.empty_like();
        places.iter().for_each(|at| assert!(part.extend_from(all, *at..at + 1)));
        if step.is_packed {
            // The values of the room are any.
            let room = vec![0xa5; step.room + 3];
            let buffer = [room.as_slice(), part.as_bytes().unwrap()].concat();
            StepValues::Packed(StepBytes::new(buffer, room.len()))
        } else {
            StepValues::Values(part)
        }
    }

    fn dods(&self, query: &str, piece: usize) -> (Vec<u8>, Option<u64>) {
        let dataset = Arc::new(Dap2Dataset::new(Arc::clone(&self.model), "sample.nc"));
        let request = dataset.request(query).unwrap();
        let len = dataset.answer_len(&request);
        let mut answer = dataset.answer(request, piece).unwrap();
        let mut body = Vec::new();
        loop {
            match answer.step().unwrap() {
                AnswerStep::Send(bytes) => body.extend(bytes),
                AnswerStep::Read(step) => body.extend(answer.take(self.read(&step)).unwrap().as_ref()),
                AnswerStep::End => return (body, len),
            }
        }
    }

    fn dap(&self, expression: &str, piece: usize, has_checksums: bool) -> Vec<u8> {
        let dataset = Arc::new(Dap4Dataset::new(Arc::clone(&self.model), "sample.nc"));
        let request = dataset.request(expression).unwrap();
        let mut answer = dataset.answer(request, has_checksums, &BTreeMap::new(), piece).unwrap();
        let mut body = Vec::new();
        loop {
            match answer.step().unwrap() {
                AnswerStep::Send(bytes) => body.extend(bytes),
                AnswerStep::Read(step) => body.extend(answer.take(self.read(&step)).unwrap().as_ref()),
                AnswerStep::End => return body,
            }
        }
    }
}

fn texts(list: &[&str]) -> Values {
    Values::String(list.iter().map(|text| Some(*text)).collect())
}

#[test]
fn values_of_dap2_are_read_back_whatever_the_size_of_pieces() {
    let sample = sample();
    let limits = Limits::default();
    let (whole, _) = sample.dods("", 1 << 20);
    for piece in [1, 3, 8, 20, 64] {
        assert_eq!(sample.dods("", piece).0, whole, "{piece}");
    }
    let answer = DodsAnswer::parse(&whole.into(), &limits).unwrap();
    let names: Vec<&str> = answer.dds.variables.iter().map(|one| one.name.shown.as_str()).collect();
    assert_eq!(
        names,
        ["t", "bytes", "one", "short.er", "wide", "text", "strings", "empty", "pairs", "choices", "g_inner"]
    );
    let values = answer.values(XdrPeculiarities::default(), &limits).unwrap().variables;
    assert_eq!(values[1], Values::UByte(vec![255, 0, 1, 127, 128]));
    assert_eq!(values[2], Values::UByte(vec![200]));
    assert_eq!(values[4], Values::Double(vec![-1.0, 1_099_511_627_776.0, 7.0]));
    assert_eq!(values[5], texts(&["one", "twot", "four"]));
    assert_eq!(values[6], texts(&["a", "", "caf\u{e9}"]));
    assert_eq!(values[7].len(), 0);
    let Values::Compound { len: 3, fields } = &values[8] else { panic!("{:?}", values[8]) };
    assert_eq!(fields[1], Values::UByte(vec![1, 2, 3, 4, 5, 6, 7, 8, 9]));
    assert_eq!(values[10], Values::UShort(vec![1, 2, 3, 4, 65535]));
}

#[test]
fn projections_select_and_keep_the_order_of_the_dataset() {
    let sample = sample();
    let limits = Limits::default();
    let query = "g_inner[1:2:4],t[0:2:2][1:3],pairs[1:2].b[1],short%2Eer[4],one";
    let (body, len) = sample.dods(query, 4);
    assert_eq!(len, Some(body.len() as u64));
    let answer = DodsAnswer::parse(&body.into(), &limits).unwrap();
    let values = answer.values(XdrPeculiarities::default(), &limits).unwrap().variables;
    assert_eq!(values[0], Values::Float(vec![1.0, 2.0, 3.0, 11.0, 12.0, 13.0]));
    assert_eq!(values[1], Values::UByte(vec![200]));
    assert_eq!(values[2], Values::Short(vec![300]));
    let Values::Compound { fields, .. } = &values[3] else { panic!("{:?}", values[3]) };
    assert_eq!(fields.as_slice(), [Values::UByte(vec![5, 8])]);
    assert_eq!(values[4], Values::UShort(vec![2, 4]));
}

#[test]
fn the_length_of_an_answer_is_known_if_it_has_no_strings() {
    let sample = sample();
    for query in ["t", "bytes", "one", "wide", "empty", "pairs", "choices,bytes[0:1]"] {
        let (body, len) = sample.dods(query, 5);
        assert_eq!(len, Some(body.len() as u64), "{query}");
    }
    assert_eq!(sample.dods("strings", 5).1, None);
}

#[test]
fn what_dap2_cannot_hold_is_named() {
    let sample = sample();
    let dataset = Dap2Dataset::new(Arc::clone(&sample.model), "sample.nc");
    assert_eq!(dataset.left_out()[0].path, "/lists");
    let das = dataset.das();
    assert!(das.contains("left_out_by_server \"/lists: DAP2 has no values of variable length\""), "{das}");
    let dods = dataset.request("").unwrap();
    Dds::parse(dataset.dds(&dods).as_bytes(), &Limits::default()).unwrap();
    Das::parse(das.as_bytes(), &Limits::default()).unwrap();
    assert!(das.contains("String units \"m \\\"s\\\"\n-1\""), "{das}");
    assert!(das.contains("Float32 %5FFillValue 1e20") || das.contains("Float32 _FillValue 1e20"), "{das}");
}

#[test]
fn an_integer_that_does_not_fit_is_an_error() {
    let mut sample = sample();
    let id = sample.model.variable_at("/wide").unwrap();
    sample.values.insert(id, Values::Int64(vec![(1 << 53) + 1, 0, 0]));
    let dataset = Arc::new(Dap2Dataset::new(Arc::clone(&sample.model), "sample.nc"));
    let mut answer = dataset.answer(dataset.request("wide").unwrap(), 100).unwrap();
    let error = loop {
        match answer.step().unwrap() {
            AnswerStep::Send(_) => {}
            AnswerStep::Read(step) => break answer.take(sample.read(&step)).unwrap_err(),
            AnswerStep::End => panic!("no error"),
        }
    };
    assert_eq!(error.kind(), ErrorKind::Unsupported);
}

/// The first values of an answer in one piece, in a buffer with free space behind them.
fn buffered(sample: &Sample, step: &ReadStep) -> Vec<u8> {
    let StepValues::Packed(values) = sample.read(step) else { panic!("not packed") };
    let mut buffer = Vec::with_capacity(1000);
    buffer.extend(values.into_buffer());
    buffer
}

#[test]
fn packed_elements_stay_in_the_buffer_that_they_were_read_into() {
    let sample = sample();
    for name in ["t", "short.er", "bytes", "one"] {
        let dataset = Arc::new(Dap2Dataset::new(Arc::clone(&sample.model), "sample.nc"));
        let mut answer = dataset.answer(dataset.request(name).unwrap(), 1000).unwrap();
        let step = loop {
            if let AnswerStep::Read(step) = answer.step().unwrap() {
                break step;
            }
        };
        let buffer = buffered(&sample, &step);
        let (before, start) = (buffer.as_ptr(), step.room + 3);
        let sent = answer.take(StepValues::Packed(StepBytes::new(buffer, start))).unwrap().into_buffer();
        assert_eq!(sent.as_ptr(), before, "{name}");
    }
    let dataset = Arc::new(Dap4Dataset::new(Arc::clone(&sample.model), "sample.nc"));
    let request = dataset.request("/t").unwrap();
    let mut answer = dataset.answer(request, true, &BTreeMap::new(), 1000).unwrap();
    answer.step().unwrap();
    let AnswerStep::Read(step) = answer.step().unwrap() else { panic!("no values") };
    let buffer = buffered(&sample, &step);
    let (before, start) = (buffer.as_ptr(), step.room + 3);
    let sent = answer.take(StepValues::Packed(StepBytes::new(buffer, start))).unwrap();
    assert_eq!(sent.as_ref().len(), 4 + 15 * 4 + 4);
    let sent = sent.into_buffer();
    assert_eq!(sent.as_ptr(), before);
}

#[test]
fn packed_elements_without_their_room_are_refused() {
    let sample = sample();
    let dataset = Arc::new(Dap4Dataset::new(Arc::clone(&sample.model), "sample.nc"));
    let request = dataset.request("/t").unwrap();
    let mut answer = dataset.answer(request, true, &BTreeMap::new(), 1000).unwrap();
    answer.step().unwrap();
    assert!(matches!(answer.step().unwrap(), AnswerStep::Read(_)));
    let refused = answer.take(StepValues::Packed(vec![0; 60].into())).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Internal);
}

#[test]
fn wrong_constraints_are_refused_before_anything_is_sent() {
    let dataset = Dap2Dataset::new(sample().model, "sample.nc");
    for (query, kind) in [
        ("nothing", ErrorKind::NotFound),
        ("t[0:9][0]", ErrorKind::Invalid),
        ("t[0]", ErrorKind::Invalid),
        ("t[1:0][0]", ErrorKind::Invalid),
        ("t[0][0", ErrorKind::Invalid),
        ("t[-1][0]", ErrorKind::Invalid),
        ("t[0]x[0]", ErrorKind::Invalid),
        ("t&t>3", ErrorKind::Unsupported),
        ("mean(t)", ErrorKind::Unsupported),
        ("pairs.c", ErrorKind::NotFound),
        ("t[18446744073709551615:18446744073709551615][0]", ErrorKind::Invalid),
    ] {
        assert_eq!(dataset.request(query).unwrap_err().kind(), kind, "{query}");
    }
    let dataset = Dap4Dataset::new(sample().model, "sample.nc");
    for (expression, kind) in [
        ("/nothing", ErrorKind::NotFound),
        ("/t[0:9][0]", ErrorKind::Invalid),
        ("/t[0]", ErrorKind::Invalid),
        ("/t[0][", ErrorKind::Invalid),
        ("/t[0,2][0]", ErrorKind::Unsupported),
        ("/lists|lists>3", ErrorKind::Unsupported),
        ("/pairs{c}", ErrorKind::NotFound),
        ("/pairs{a", ErrorKind::Invalid),
        ("/z=[0:1];/t", ErrorKind::NotFound),
        ("/x=[0:9];/t", ErrorKind::Invalid),
        ("/t[7:][0]", ErrorKind::Invalid),
    ] {
        assert_eq!(dataset.request(expression).unwrap_err().kind(), kind, "{expression}");
    }
}

#[test]
fn values_of_dap4_are_read_back_whatever_the_size_of_pieces() {
    let sample = sample();
    let limits = Limits::default();
    for (piece, has_checksums) in [(1 << 20, true), (1 << 20, false), (1, true), (7, false), (20, true)] {
        let body = sample.dap("", piece, has_checksums);
        let answer = DapAnswer::parse(&body.into(), &limits).unwrap();
        let found = answer.values(ChecksumRule::Verify, &limits).unwrap();
        assert_eq!(found.checksums, has_checksums, "{piece}");
        let paths: Vec<String> = answer
            .dmr
            .variables()
            .iter()
            .map(|(groups, one)| format!("{}/{}", groups.join("/"), one.name))
            .collect();
        assert_eq!(paths.last().map(String::as_str), Some("g/inner"));
        let expected: Vec<&Values> = sample.model.variables().iter().map(|id| &sample.values[id]).collect();
        for ((path, got), wanted) in paths.iter().zip(&found.variables).zip(expected) {
            match (got, wanted) {
                // A sequence has a compound of its one column; null strings are empty.
                (Values::Vlen { elements, .. }, Values::Vlen { elements: wanted, .. }) => {
                    let Values::Compound { fields, .. } = &**elements else { panic!("{elements:?}") };
                    assert_eq!(fields.as_slice(), [(**wanted).clone()]);
                }
                (got, Values::String(_)) => assert_eq!(*got, texts(&["a", "", "caf\u{e9}"])),
                (got, wanted) => assert_eq!(got, wanted, "{path}"),
            }
        }
    }
}

#[test]
fn expressions_select_members_and_slices_of_dimensions() {
    let sample = sample();
    let limits = Limits::default();
    let body = sample.dap("/x=[1:2:3];/t[][];/g/inner;/pairs[1:2]{b};/short\\.er[3:]", 6, true);
    let answer = DapAnswer::parse(&body.into(), &limits).unwrap();
    let values = answer.values(ChecksumRule::Verify, &limits).unwrap().variables;
    assert_eq!(values[0], Values::Float(vec![1.0, 3.0, 6.0, 8.0, 11.0, 13.0]));
    assert_eq!(values[1], Values::Short(vec![2, 300]));
    let Values::Compound { fields, .. } = &values[2] else { panic!("{:?}", values[2]) };
    assert_eq!(fields.as_slice(), [Values::UByte(vec![4, 5, 6, 7, 8, 9])]);
    assert_eq!(values[3], Values::UShort(vec![2, 4]));
    // The slice is one of the dimension, wherever it is in the expression.
    let dataset = Dap4Dataset::new(sample.model, "sample.nc");
    let request = |expression: &str| dataset.request(expression).unwrap();
    assert_eq!(request("/t[][];/x=[1:2:3];/bytes"), request("/x=[1:2:3];/t[][];/bytes"));
}

#[test]
fn the_dmr_states_checksums_that_are_known_and_names_what_types_are() {
    let sample = sample();
    let dataset = Arc::new(Dap4Dataset::new(Arc::clone(&sample.model), "sample.nc"));
    let dmr = dataset.dmr(&dataset.request("").unwrap());
    for part in [
        "<Dimension name=\"y\" size=\"3\" _edu.ucar.isunlimited=\"1\"/>",
        "<Enum name=\"choices\" enum=\"/choice\">",
        "<Attribute name=\"_edu.ucar.isvlen\"",
        "value=\"a &amp; b &lt; c\"",
        "value=\"m &quot;s&quot;&#10;-1\"",
    ] {
        assert!(dmr.contains(part), "{part} in {dmr}");
    }
    Dmr::parse(dmr.as_bytes(), &Limits::default()).unwrap();
    let id = sample.model.variable_at("/one").unwrap();
    let request = dataset.request("/one").unwrap();
    let mut answer = dataset.answer(request, true, &BTreeMap::from([(id, 7)]), 10).unwrap();
    let AnswerStep::Send(head) = answer.step().unwrap() else { panic!() };
    assert!(String::from_utf8_lossy(&head).contains("_DAP4_Checksum_CRC32"));
}

#[test]
fn text_has_a_line_for_each_row() {
    let sample = sample();
    let dataset = Arc::new(Dap2Dataset::new(Arc::clone(&sample.model), "sample.nc"));
    let request = dataset.request("t[0:1][0:2],strings,one,pairs[0]").unwrap();
    let mut answer = dataset.ascii(request, 8).unwrap();
    let mut body = Vec::new();
    loop {
        match answer.step().unwrap() {
            AnswerStep::Send(bytes) => body.extend(bytes),
            AnswerStep::Read(step) => {
                let step = ReadStep { is_packed: false, ..step };
                body.extend(answer.take(sample.read(&step)).unwrap().as_ref());
            }
            AnswerStep::End => break,
        }
    }
    let text = String::from_utf8(body).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines,
        [
            "Dataset: sample.nc",
            "t[0], 0.0, 1.0, 2.0",
            "t[1], 5.0, 6.0, 7.0",
            "one, 200",
            "strings, \"a\", \"\", \"caf\u{e9}\"",
            "pairs, {a = 1; b = 1, 2, 3}",
        ]
    );
}

#[test]
fn errors_are_documents_that_clients_recognize() {
    let error = Error::no_member(ncirrus_layout::Member::Variable, "x").at_path("x");
    let text = dap2_error(&error);
    assert!(matches!(crate::classify(text.as_bytes()), crate::AnswerKind::Error(_)), "{text}");
    let text = dap4_error(404, &error);
    assert!(matches!(crate::classify(text.as_bytes()), crate::AnswerKind::Error(_)), "{text}");
    let chunk = Dap4Answer::failed(500, &Error::malformed("damaged"));
    assert!(DapAnswer::parse(&chunk.into(), &Limits::default()).is_err());
}

proptest::proptest! {
    #![proptest_config(proptest::test_runner::Config::with_cases(300))]

    #[test]
    fn any_constraint_is_refused_or_answered_in_the_length_that_was_said(
        names in proptest::collection::vec(
            proptest::sample::select(vec!["t", "bytes", "one", "pairs", "pairs.b", "short.er", "text", "g_inner", "/g/inner", "x=", "/y="]),
            1..4,
        ),
        ranges in proptest::collection::vec((0_u64..7, 0_u64..4, 0_u64..7), 0..4),
        rest in "[\\[\\]{}0-9:;,.=&%|*\\\\a-z]{0,12}",
    ) {
        let sample = sample();
        let ranges: String = ranges.iter().map(|(a, s, b)| format!("[{a}:{s}:{b}]")).collect();
        let of = |separator: &str| {
            names.iter().map(|name| format!("{name}{ranges}")).collect::<Vec<_>>().join(separator) + &rest
        };
        let shown = Arc::new(Dap2Dataset::new(Arc::clone(&sample.model), "sample.nc"));
        if shown.request(&of(",")).is_ok() {
            let (body, len) = sample.dods(&of(","), 9);
            proptest::prop_assert!(len.is_none_or(|len| len == body.len() as u64));
        }
        let shown = Arc::new(Dap4Dataset::new(Arc::clone(&sample.model), "sample.nc"));
        if shown.request(&of(";")).is_ok() {
            let body = sample.dap(&of(";"), 9, true);
            let answer = DapAnswer::parse(&body.into(), &Limits::default()).unwrap();
            proptest::prop_assert!(answer.values(ChecksumRule::Verify, &Limits::default()).is_ok());
        }
    }
}

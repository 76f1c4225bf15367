//! Texts that are wrong: each fault with its place.
use super::rebuilt::read;
use ncirrus_cdl::parse::{CdlFault, NumberRange, ParseFailure, ParseOptions};

fn faults_of(text: &[u8], options: &ParseOptions) -> Vec<CdlFault> {
    match read(text, options) {
        Err(ParseFailure::Faults(faults)) => faults,
        other => panic!("{:?} has faults: {other:?}", String::from_utf8_lossy(text)),
    }
}

/// Line, column and a part of each message.
fn assert_faults(text: &str, expected: &[(u64, u64, &str)]) {
    let faults = faults_of(text.as_bytes(), &ParseOptions::new());
    let found: Vec<_> =
        faults.iter().map(|fault| (fault.line, fault.column, fault.message.as_str())).collect();
    assert_eq!(found.len(), expected.len(), "{text}: {found:?}");
    for ((line, column, message), (want_line, want_column, part)) in found.iter().zip(expected) {
        assert_eq!((line, column), (want_line, want_column), "{text}: {found:?}");
        assert!(message.contains(part), "{text}: {message}");
    }
}

#[test]
fn a_fault_is_reported_with_its_line_and_a_caret() {
    let text = "netcdf t {\nvariables:\n\tint v\ndata:\n v = 1;\n}\n";
    let faults = faults_of(text.as_bytes(), &ParseOptions::new());
    assert_eq!(
        faults[0].display("file.cdl").to_string(),
        "file.cdl:4:1: unexpected \"data:\", expected \";\"\ndata:\n^"
    );
    let text = "netcdf t {\n\tdimensions: é = x;\n}";
    let faults = faults_of(text.as_bytes(), &ParseOptions::new());
    let display = faults[0].display("-").to_string();
    assert_eq!(display.lines().next().unwrap(), "-:2:18: unexpected \"x\", expected a length or UNLIMITED");
    assert_eq!(display.lines().last().unwrap(), "\t                ^");
}

#[test]
fn reading_goes_on_behind_the_next_semicolon() {
    let text = "netcdf t { dimensions: a = -1; b = 2;\nvariables:\n int v(c);\n foo w;\n int x(b);\n int x;\n w:a = 1;\ndata:\n x = 1 2;\n}";
    assert_faults(
        text,
        &[
            (1, 28, "-1 is not the length"),
            (3, 8, "no dimension \"c\""),
            (4, 2, "no type \"foo\""),
            (6, 6, "a variable \"x\" is declared already"),
            (7, 2, "no variable and no type \"w\""),
        ],
    );
}

#[test]
fn a_declaration_of_a_type_that_cannot_be_read_is_one_fault() {
    let rest = "int(*) w;\ndimensions: x = 2;\nvariables: c v(x); d u(x); int y(x);\nv:a = 1; c v:b = {1}; d u:c = {2};\n\
                data:\nv = {1, 2}, {3, 4};\nu = {{1, 2}};\ny = 1, 2;\n}";
    for (ty, column, message) in [
        ("compund c { int a; float b; };", 1, "no type \"compund\""),
        ("compound c { int a; floot b; int e; };", 21, "no type \"floot\""),
        ("compound c { int a, ; float b; };", 21, "unexpected \";\", expected the name of a field"),
        ("compound c { int a; float b };", 29, "unexpected \"}\", expected \";\""),
        ("compound c { int a float b; };", 20, "expected \";\""),
        ("int enum c { A = 1, B = };", 25, "expected an integer"),
        ("int enum c ( A = 1, B = 2 );", 12, "expected \"{\""),
        ("opaque(x) c;", 8, "expected the length"),
        ("int(x) c;", 5, "expected \"*\""),
        ("compound { int a; } c;", 10, "expected \":\""),
    ] {
        let text = format!("netcdf t {{\ntypes:\n{ty}\ncompound d {{ c inner; int k; }};\n{rest}");
        assert_faults(&text, &[(3, column, message)]);
    }
    // What has nothing to do with types is a fault of its own; a brace that is missing is one fault.
    let text = format!(
        "netcdf t {{\ntypes:\ncompound c {{ int a; }};\nopaque() d;\n{}",
        rest.replace("int y(x);", "int y(7);")
    );
    let lines: Vec<u64> =
        faults_of(text.as_bytes(), &ParseOptions::new()).iter().map(|fault| fault.line).collect();
    assert_eq!(lines, [4, 7]);
    let text = format!("netcdf t {{\ntypes:\ncompound c {{ int a;\ncompound d {{ c inner; }};\n{rest}");
    assert_eq!(faults_of(text.as_bytes(), &ParseOptions::new()).len(), 1);
}

#[test]
fn numbers_that_do_not_fit_are_shown_as_people_write_them() {
    for (constant, shown) in [
        ("5.5e300", "5.5e300 does"),
        ("-1e200", "-1e200 does"),
        ("3e9", "3000000000 does"),
        ("1e30f", "1e30 does"),
    ] {
        let text = format!("netcdf t {{ variables: int v; v:a = 1; int v:b = {constant}; }}");
        assert!(faults_of(text.as_bytes(), &ParseOptions::new())[0].message.contains(shown));
        let text = format!("netcdf t {{ variables: int v(x);\ndata: v = {constant}; }}").replace("(x)", "");
        assert!(faults_of(text.as_bytes(), &ParseOptions::new())[0].message.contains(shown));
    }
}

#[test]
fn faults_of_data_are_all_reported() {
    let text = "netcdf t {\nvariables:\n int v, w, x;\ndata:\n v = a;\n w = 1 2;\n x = 99999999999;\n}";
    assert_faults(
        text,
        &[
            (5, 6, "expected a number"),
            (6, 8, "expected \",\" or \";\""),
            (7, 6, "99999999999 does not fit int"),
        ],
    );
}

#[test]
fn not_more_than_twenty_faults_are_reported() {
    let text = format!("netcdf t {{ dimensions: {} }}", "a = -1;\n".repeat(50));
    assert_eq!(faults_of(text.as_bytes(), &ParseOptions::new()).len(), 20);
}

#[test]
fn what_is_wrong_is_named() {
    for (body, part) in [
        ("dimensions: d = 2; d = 3;", "a dimension \"d\" is declared already"),
        ("types: int enum e {A=1, A=2};", "constant \"A\" is declared already"),
        ("types: int enum e {A=1, B=1};", "has the value 1 of another"),
        ("types: byte enum e {A=300};", "does not fit byte"),
        ("types: float enum e {A=1};", "its type is an integer"),
        ("types: compound c {int a; int a;};", "field \"a\" is declared already"),
        ("types: compound c {};", "expected the type of a field"),
        ("types: opaque(0) o;", "1 to"),
        ("types: e(*) w;", "no type \"e\""),
        ("dimensions: d = 4; variables: int v(d); v:_ChunkSizes = 5;", "longer than its axis of 4"),
        ("dimensions: d = 4; variables: int v(d); v:_ChunkSizes = 2, 2;", "2 chunk lengths"),
        ("variables: int v; v:_Storage = \"odd\";", "contiguous, compact or chunked"),
        ("variables: int v; v:_DeflateLevel = 10;", "0 to 9"),
        ("variables: int v; v:_Shuffle = 2;", "\"true\" or \"false\""),
        (":_Format = \"nc9\";", "_Format is"),
        ("variables: int v; v:_FillValue = 1, 2;", "one value, not 2"),
        ("variables: int v; v:a = 1, \"x\";", "numbers or text"),
        ("variables: int v; v:a = -1, 3000000000;", "-1 does not fit uint"),
        ("variables: int v; v:a = A;", "have their type in front"),
        (":a = 018;", "octal"),
        (":a = 1, ;", "expected a number"),
        (":a = 'ab';", "one character"),
        (":a = \"x;", "has no end"),
        ("/* x", "has no end"),
        ("variables: int v; data: v = 1.5;", "not a whole number"),
        ("variables: byte v; data: v = 300;", "300 does not fit byte"),
        ("variables: float v; data: v = 1e39;", "does not fit float"),
        ("dimensions: d=2; variables: int v(d); data: v = 1,2,3;", "more values than the 2 elements of /v"),
        ("dimensions: d=2; variables: int v(d); data: v = {1,2};", "braces are for"),
        ("variables: int v; data: v = 1};", "unexpected \"}\""),
        ("dimensions: t=UNLIMITED; x=2; variables: int v(x,t); data: v = 1,2;", "stand in braces"),
        (
            "types: int enum e {A=1}; int enum f {A=2}; variables: int v; data: v = A;",
            "of two types, /e and /f",
        ),
        ("types: int enum e {A=1}; variables: int v; data: v = A;", "a constant of the type /e, not int"),
        ("types: int enum e {A=1}; int enum f {B=2}; variables: e v; data: v = B;", "the type /f, not of /e"),
        ("types: int enum e {A=1}; variables: e v; data: v = Q;", "no constant \"Q\""),
        ("types: int(*) w; variables: w v; data: v = 1;", "expected \"{\""),
        ("types: compound c {int a;}; variables: c v; data: v = {1, 2};", "more than the 1 fields"),
        ("types: opaque(1) o; variables: o v; data: v = 0x0102;", "2 bytes for an opaque type of 1"),
        ("variables: double t; data: t = tome(\"2000-01-01\");", "no function \"tome\""),
        ("variables: double t; data: t = time(\"x\");", "is not a date"),
        ("data: w = 1;", "no variable \"w\""),
        ("variables: int v; dimensions: d = 2;", "unexpected \"dimensions:\""),
        ("group: g { } group: g { }", "a group \"g\" is declared already"),
        ("variables: int v", "expected \";\""),
        ("dimensions: a = 2; variables: int a\\/b;", "backslash"),
    ] {
        let text = format!("netcdf t {{ {body} }}");
        let faults = faults_of(text.as_bytes(), &ParseOptions::new());
        assert!(faults[0].message.contains(part), "{body}: {:?}", faults[0].message);
        assert!(faults[0].line >= 1 && faults[0].column >= 1);
    }
    assert!(faults_of(b"\xff\xfen\0e\0", &ParseOptions::new())[0].message.contains("UTF-16"));
    assert!(faults_of(b"", &ParseOptions::new())[0].message.contains("expected \"netcdf\""));
}

#[test]
fn the_reference_form_keeps_what_does_not_fit_and_reports_it() {
    let text = b"netcdf t {\ndimensions: d=3; variables:\nint v(d);\nbyte :a = 300;\ndata:\nv = 1,\n99999999999, 1e10;\n}";
    let options = ParseOptions::new().range(NumberRange::Reference);
    let rebuilt = read(text, &options).unwrap();
    let v = rebuilt.model.variable_at("v").unwrap();
    assert_eq!(rebuilt.values[&v], ncirrus_model::Values::Int(vec![1, 1_215_752_191, i32::MIN]));
    let note = &rebuilt.summary.unfit[0];
    assert_eq!((note.name.as_str(), note.line, note.count), ("/v", 7, 2));
    assert_eq!(note.constant, "99999999999");
    let note = &rebuilt.definitions.unfit()[0];
    assert_eq!((note.name.as_str(), note.line, note.count), ("/:a", 4, 1));
}

/// Every beginning of a text is read or is a fault with a place; none is a panic.
#[test]
fn a_text_that_ends_early_is_a_fault_with_a_place() {
    let text = include_str!("everything.cdl");
    let text = text.as_bytes();
    let options = ParseOptions::new();
    read(text, &options).unwrap();
    let last = text.iter().rposition(|byte| *byte == b'}').unwrap();
    for len in 0..=last {
        let faults = faults_of(&text[..len], &options);
        assert!(faults.iter().all(|fault| fault.line >= 1 && fault.column >= 1), "{len}: {faults:?}");
    }
}

//! Null for every pointer of every function of the table, one after the other, on both libraries.
use super::{Library, printed};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::process::Command;

/// What comes before the cases: a file with a bit of everything, made by each process for itself.
const START: &str = include_str!("../c/null_start.h");

/// Calls that differ, each with the reason.
const EXCEPTIONS: &str = include_str!("null_exceptions.tsv");

/// The argument of a call: what the other calls pass in its place.
fn valid(function: &str, name: &str, ty: &str) -> String {
    let is_pointer = ty.contains('*');
    let value = match (ty, name) {
        ("const char *", "path" | "filename" | "path1") => "path",
        ("const char *", "newname" | "new_name") => "\"new\"",
        ("const char *" | "char *", _) if function.contains("att") => "\"a\"",
        ("const char *", _) if function.contains("dim") => "\"x\"",
        ("const char *", _) if function.contains("grp") || function.contains("inq_ncid") => "\"g\"",
        ("const char *", _) => "\"v\"",
        ("const size_t *", name) if name.contains("start") || name.contains("index") => "zeros",
        ("const size_t *", _) => "ones",
        ("const ptrdiff_t *", _) => "steps",
        ("const long *", name) if name.contains("start") || name.contains("index") => "zeros",
        ("const long *", _) => "ones",
        ("void *", "tag") => "tag",
        _ if is_pointer => "big",
        (_, "xtype" | "typeid" | "typeid1" | "typeid2") if function.contains("compound") => "compound",
        (_, "xtype" | "typeid" | "typeid1" | "typeid2") if function.contains("enum") => "enumeration",
        (_, "xtype" | "typeid" | "typeid1" | "typeid2") if function.contains("vlen") => "rows",
        (_, "xtype" | "typeid" | "typeid1" | "typeid2") if function.contains("opaque") => "blob",
        (
            _,
            "xtype" | "typeid" | "typeid1" | "typeid2" | "datatype" | "memtype" | "field_typeid"
            | "base_typeid",
        ) => "NC_INT",
        (_, name) if name.contains("ncid") || name == "grpid" || name == "cdfid" => "file",
        (_, "len" | "size" | "count" | "ndims" | "nparams" | "nvlens") => "1",
        _ => "0",
    };
    if is_pointer { format!("(void *){value}") } else { value.to_owned() }
}

/// The cases: a name and a call.
fn cases() -> Vec<(String, String)> {
    let output = Command::new("nm")
        .args(["--dynamic", "--defined-only", "/usr/lib/x86_64-linux-gnu/libnetcdf.so.19"])
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let debians: BTreeSet<&str> = text.lines().filter_map(|line| line.split_whitespace().nth(2)).collect();
    let mut cases = Vec::new();
    for row in ncirrus_netcdf::functions() {
        let is_called = row.name.starts_with("nc") && !row.header.is_empty() && (row.returns)() == "int";
        if !is_called || !debians.contains(row.name) {
            continue;
        }
        let types: Vec<String> = row.arguments.iter().map(|(_, ty)| ty()).collect();
        for (null, _) in types.iter().enumerate().filter(|(_, ty)| ty.contains('*')) {
            let pass = |(at, (name, _)): (usize, &(&str, _))| match at == null {
                true => "NULL".to_owned(),
                false => valid(row.name, name, &types[at]),
            };
            let arguments: Vec<String> = row.arguments.iter().enumerate().map(pass).collect();
            let name = format!("{}({})", row.name, row.arguments[null].0);
            cases.push((name, format!("{}({})", row.name, arguments.join(", "))));
        }
    }
    cases
}

/// What each call answered: its code, or that it ended the process.
fn answers(library: Library, folder: &std::path::Path, program: &str) -> BTreeMap<String, String> {
    let text = printed(library, folder, program, &["."]);
    text.lines()
        .filter_map(|line| line.split_once(" = "))
        .map(|(a, b)| (a.to_owned(), b.to_owned()))
        .collect()
}

#[test]
fn null_is_answered_as_by_debians_library_wherever_that_does_not_crash() {
    let folder = tempfile::tempdir().unwrap();
    let cases = cases();
    assert!(cases.len() > 600, "{}", cases.len());
    let mut text = START.to_owned();
    for (at, (_, call)) in cases.iter().enumerate() {
        let _ = writeln!(text, "static int case_{at}(void) {{ return {call}; }}");
    }
    text.push_str("static const struct { const char *name; int (*call)(void); } cases[] = {\n");
    for (at, (name, _)) in cases.iter().enumerate() {
        let _ = writeln!(text, "    {{\"{name}\", case_{at}}},");
    }
    text.push_str("};\nint main(void) {\n    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) run(cases[i].name, cases[i].call);\n    return 0;\n}\n");
    let source = folder.path().join("nulls.c");
    std::fs::write(&source, text).unwrap();
    let program = folder.path().join("nulls");
    let output =
        Command::new("gcc").args(["-w", "-o"]).arg(&program).arg(&source).arg("-lnetcdf").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let program = program.to_str().unwrap();
    let debian = answers(Library::Debian, folder.path(), program);
    let own = answers(Library::Own, folder.path(), program);
    let exceptions: BTreeMap<&str, &str> =
        EXCEPTIONS.lines().filter_map(|line| line.split_once('\t')).collect();
    let mut wrong = Vec::new();
    for (name, _) in &cases {
        let (expected, found) = (&debian[name], &own[name]);
        let is_right = match expected.as_str() {
            // Debian's ends the process there: ours answers.
            "crash" => found != "crash",
            _ => found == expected,
        };
        match (is_right, exceptions.get(name.as_str())) {
            (false, None) => wrong.push(format!("{name}: {found}, Debian's {expected}")),
            (true, Some(_)) => wrong.push(format!("{name} is an exception and right")),
            _ => {}
        }
    }
    assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong.join("\n"));
}

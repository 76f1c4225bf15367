//! Calls with one wrong argument each, on both libraries: equal codes.
use super::{Library, printed};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

/// What comes before the cases: a file with a bit of everything, made by each process for itself.
const START: &str = include_str!("../c/argument_start.h");

/// A call with a wrong argument.
pub(super) struct WrongCall {
    /// The function, the argument and what is wrong with it.
    pub(super) name: String,
    /// In C.
    pub(super) call: String,
}

/// Arguments that name a type.
pub(super) const TYPE_ARGUMENTS: [&str; 9] = [
    "xtype",
    "xtypeid",
    "typeid",
    "typeid1",
    "typeid2",
    "datatype",
    "memtype",
    "field_typeid",
    "base_typeid",
];

/// The argument of a call: what the other calls pass in its place.
pub(super) fn valid(function: &str, name: &str, ty: &str) -> String {
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
        (_, name) if TYPE_ARGUMENTS.contains(&name) => "NC_INT",
        (_, name) if name.contains("ncid") || name == "grpid" || name == "cdfid" => "file",
        (_, "len" | "size" | "count" | "ndims" | "nparams" | "nvlens") => "1",
        _ => "0",
    };
    if is_pointer { format!("(void *){value}") } else { value.to_owned() }
}

/// The functions that Debian's library has, too, and that answer codes.
pub(super) fn common_functions() -> Vec<ncirrus_netcdf::FunctionRow> {
    let output = Command::new("nm")
        .args(["--dynamic", "--defined-only", "/usr/lib/x86_64-linux-gnu/libnetcdf.so.19"])
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let debians: BTreeSet<&str> = text.lines().filter_map(|line| line.split_whitespace().nth(2)).collect();
    let is_called = |row: &ncirrus_netcdf::FunctionRow| {
        row.name.starts_with("nc") && !row.header.is_empty() && (row.returns)() == "int"
    };
    let rows = ncirrus_netcdf::functions().into_iter();
    rows.filter(|row| is_called(row) && debians.contains(row.name)).collect()
}

/// The call of a function with one argument replaced.
pub(super) fn with_argument(row: &ncirrus_netcdf::FunctionRow, replaced: usize, by: &str) -> String {
    let pass = |(at, (name, ty)): (usize, &(&str, ncirrus_netcdf::CTypeName))| {
        if at == replaced { by.to_owned() } else { valid(row.name, name, &ty()) }
    };
    let arguments: Vec<String> = row.arguments.iter().enumerate().map(pass).collect();
    format!("{}({})", row.name, arguments.join(", "))
}

/// What each call answered: its code, or that it ended the process.
fn answers(library: Library, folder: &Path, program: &str, kind: &str) -> BTreeMap<String, String> {
    let text = printed(library, folder, program, &[kind]);
    text.lines()
        .filter_map(|line| line.split_once(" = "))
        .map(|(a, b)| (a.to_owned(), b.to_owned()))
        .collect()
}

/// Makes every call on both libraries, on a file of a kind; `exceptions` has a line of kinds, call and reason for what differs. A call
/// that ends in an asterisk stands for all that begin so. Among all calls, each exception is needed.
pub(super) fn assert_equal_codes(calls: &[WrongCall], kind: &str, exceptions: &str, has_all: bool) {
    let folder = tempfile::tempdir().unwrap();
    let program = compiled(folder.path(), calls);
    let debian = answers(Library::Debian, folder.path(), &program, kind);
    let own = answers(Library::Own, folder.path(), &program, kind);
    let known: Vec<&str> = exceptions.lines().filter_map(|line| excepted(line, kind)).collect();
    let mut used = BTreeSet::new();
    let mut wrong = Vec::new();
    for WrongCall { name, .. } in calls {
        let (expected, found) = (&debian[name], &own[name]);
        let is_right = match expected.as_str() {
            // Debian's ends the process there: ours answers.
            "crash" | "hang" => found != "crash" && found != "hang",
            _ => found == expected,
        };
        let fits = |pattern: &&&str| match pattern.strip_suffix('*') {
            Some(start) => name.starts_with(start),
            None => name == **pattern,
        };
        match (is_right, known.iter().find(fits)) {
            (false, Some(pattern)) => _ = used.insert(*pattern),
            (false, None) => wrong.push(format!("{name}: {found}, Debian's {expected}")),
            (true, _) => {}
        }
    }
    let unused = known.iter().filter(|pattern| has_all && !used.contains(*pattern));
    wrong.extend(unused.map(|pattern| format!("{pattern} is an exception and right")));
    assert!(wrong.is_empty(), "{kind}: {}\n{}", wrong.len(), wrong.join("\n"));
}

/// The call of an exception, if it is of a kind of file; the reason follows it.
fn excepted<'a>(line: &'a str, kind: &str) -> Option<&'a str> {
    let (kinds, rest) = line.split_once('\t')?;
    let (call, reason) = rest.split_once('\t')?;
    assert!(!reason.is_empty(), "{line}");
    kinds.split(' ').any(|of| of == kind).then_some(call)
}

/// A program that makes each call in a process of its own.
fn compiled(folder: &Path, calls: &[WrongCall]) -> String {
    let mut text = START.to_owned();
    for (at, WrongCall { call, .. }) in calls.iter().enumerate() {
        let _ = writeln!(text, "static int case_{at}(void) {{ return {call}; }}");
    }
    text.push_str("static const struct { const char *name; int (*call)(void); } cases[] = {\n");
    for (at, WrongCall { name, .. }) in calls.iter().enumerate() {
        let _ = writeln!(text, "    {{\"{name}\", case_{at}}},");
    }
    text.push_str(END);
    let source = folder.join("calls.c");
    std::fs::write(&source, text).unwrap();
    let program = folder.join("calls");
    let output =
        Command::new("gcc").args(["-w", "-o"]).arg(&program).arg(&source).arg("-lnetcdf").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    program.to_str().unwrap().to_owned()
}

const END: &str = "};
int main(int count, char **arguments) {
    if (count > 1) kind = arguments[1];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) run(cases[i].name, cases[i].call);
    return 0;
}
";

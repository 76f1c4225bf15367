//! Wrong ids, numbers, counts, names and types, one argument after the other, on both libraries.
use super::arguments::{TYPE_ARGUMENTS, WrongCall, assert_equal_codes, common_functions, with_argument};
use ncirrus_testkit::sample::{all_cases, in_turn};

/// Calls that differ, each with the reason.
const EXCEPTIONS: &str = include_str!("wrong_exceptions.tsv");

/// What is wrong with an argument, and the argument in C.
type Wrong = (&'static str, &'static str);

const IDS: &[Wrong] = &[
    ("-1", "-1"),
    ("0", "0"),
    ("65535", "65535"),
    ("closed", "closed_one"),
    ("other", "other"),
    ("no group", "file | 0xfff"),
];
const VARIABLES: &[Wrong] = &[("-1", "-1"), ("-2", "-2"), ("99", "99"), ("65536", "65536")];
const DIMENSIONS: &[Wrong] = &[("-1", "-1"), ("99", "99")];
const TYPES: &[Wrong] = &[
    ("0", "0"),
    ("-1", "-1"),
    ("13", "13"),
    ("999", "999"),
    ("char", "NC_CHAR"),
    ("string", "NC_STRING"),
    ("compound", "compound"),
    ("vlen", "rows"),
    ("enum", "enumeration"),
    ("opaque", "blob"),
];
const RANKS: &[Wrong] =
    &[("-1", "-1"), ("0", "0"), ("1025", "1025"), ("most", "INT_MAX"), ("least", "INT_MIN")];
const NUMBERS: &[Wrong] = &[("-1", "-1"), ("99", "99")];
const SIZES: &[Wrong] = &[("0", "0"), ("2^63", "(size_t)1 << 63"), ("most", "(size_t)-1")];
const NAMES: &[Wrong] = &[
    ("empty", "\"\""),
    ("long", "long_name"),
    ("slash", "\"a/b\""),
    ("no UTF-8", "\"\\xff\\xfe\""),
    ("not normal", "\"e\\xcc\\x81\""),
    ("blank before", "\" b\""),
    ("blank after", "\"b \""),
    ("control", "\"b\\x01\""),
    ("none", "\"nothing\""),
];
const STARTS: &[Wrong] = &[("2", "twos"), ("2^63", "huge"), ("most", "most")];
const COUNTS: &[Wrong] = &[("0", "zeros"), ("2^63", "huge"), ("most", "most")];
const STEPS: &[Wrong] = &[("0", "zeros"), ("-1", "backwards"), ("-2^63", "farthest")];
const DIMENSION_LISTS: &[Wrong] = &[("-1", "no_dims"), ("99", "strange_dims")];

fn wrong_values(name: &str, ty: &str) -> &'static [Wrong] {
    match ty {
        "int" if name.contains("ncid") || ["grpid", "cdfid"].contains(&name) => IDS,
        "int" if name.contains("varid") => VARIABLES,
        "int" if name.contains("dimid") => DIMENSIONS,
        "int" | "nc_type" if TYPE_ARGUMENTS.contains(&name) => TYPES,
        "int" if name.contains("ndims") || name.starts_with('n') => RANKS,
        "int" | "unsigned int" => NUMBERS,
        "size_t" => SIZES,
        "const char *" if !name.contains("path") && !name.contains("filename") => NAMES,
        "const size_t *" if name.contains("start") || name.contains("index") => STARTS,
        "const size_t *" => COUNTS,
        "const ptrdiff_t *" => STEPS,
        "const int *" if name.contains("dim") => DIMENSION_LISTS,
        _ => &[],
    }
}

/// One of several types stands for all that are passed in the same way.
const LIKE_INT: [&str; 11] = [
    "_uchar",
    "_schar",
    "_short",
    "_long",
    "_float",
    "_double",
    "_ubyte",
    "_ushort",
    "_uint",
    "_longlong",
    "_ulonglong",
];

fn calls() -> Vec<WrongCall> {
    let mut calls = Vec::new();
    for row in common_functions() {
        if LIKE_INT.iter().any(|ty| row.name.ends_with(ty)) {
            continue;
        }
        for (at, (name, ty)) in row.arguments.iter().enumerate() {
            for (what, value) in wrong_values(name, &ty()) {
                let call = with_argument(&row, at, value);
                calls.push(WrongCall { name: format!("{}({name}: {what})", row.name), call });
            }
        }
    }
    assert!(calls.len() > 1500, "{}", calls.len());
    calls
}

/// Each call is made on one kind of file in turn, or on each if all cases are wanted.
fn assert_in_turn(turn: usize, kind: &str) {
    let calls = calls().into_iter().enumerate().filter(|(number, _)| in_turn(number + turn, 3));
    let calls: Vec<WrongCall> = calls.map(|(_, call)| call).collect();
    assert_equal_codes(&calls, kind, EXCEPTIONS, all_cases());
}

#[test]
fn wrong_arguments_are_answered_as_by_debians_library_for_netcdf_4() {
    assert_in_turn(0, "netCDF-4");
}

#[test]
fn wrong_arguments_are_answered_as_by_debians_library_for_netcdf_3() {
    assert_in_turn(1, "classic");
}

#[test]
fn wrong_arguments_are_answered_as_by_debians_library_in_define_mode() {
    assert_in_turn(2, "defining");
}

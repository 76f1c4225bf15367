//! Null for every pointer of every function of the table, one after the other, on both libraries.
use super::arguments::{WrongCall, assert_equal_codes, common_functions, with_argument};

/// Calls that differ, each with the reason.
const EXCEPTIONS: &str = include_str!("null_exceptions.tsv");

fn calls() -> Vec<WrongCall> {
    let mut calls = Vec::new();
    for row in common_functions() {
        for (at, (name, _)) in row.arguments.iter().enumerate().filter(|(_, (_, ty))| ty().contains('*')) {
            calls.push(WrongCall {
                name: format!("{}({name})", row.name),
                call: with_argument(&row, at, "NULL"),
            });
        }
    }
    assert!(calls.len() > 600, "{}", calls.len());
    calls
}

#[test]
fn null_is_answered_as_by_debians_library_for_netcdf_4() {
    assert_equal_codes(&calls(), "netCDF-4", EXCEPTIONS, true);
}

#[test]
fn null_is_answered_as_by_debians_library_for_netcdf_3() {
    assert_equal_codes(&calls(), "classic", EXCEPTIONS, true);
}

#[test]
fn null_is_answered_as_by_debians_library_in_define_mode() {
    assert_equal_codes(&calls(), "defining", EXCEPTIONS, true);
}

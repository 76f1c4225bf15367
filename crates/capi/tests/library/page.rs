//! The page of the functions: what each does, and how results for wrong or null arguments differ from those of Debian's library.
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Calls whose results differ from those of Debian's library, each with the reason: the tests compare all others.
const DIFFERENCES: [&str; 2] = [include_str!("wrong_exceptions.tsv"), include_str!("null_exceptions.tsv")];

const BEGIN: &str = "# The functions of the C library

This page lists every function of `libnetcdf.so.19`, for programmers who need to know whether a function exists and
whether it behaves as in netCDF-C. It is generated from the table of the library (`crates/capi/src/abi/functions`) by
`cargo run --workspace --example page`; a test compares both.

Every function returns the same as in Debian's netCDF-C 4.9.0 for the same call, including calls with wrong or null
arguments: tests make these calls on both libraries. The column `differs` gives the reason for each exception.
Differences beyond single calls are described in [the C library](c-library.md).
";

/// What differs, by function.
fn differences() -> BTreeMap<&'static str, BTreeSet<&'static str>> {
    let mut found: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for line in DIFFERENCES.iter().flat_map(|text| text.lines()) {
        let mut cells = line.split('\t').skip(1);
        let (Some(call), Some(why)) = (cells.next(), cells.next()) else { continue };
        found.entry(call.split('(').next().unwrap_or(call)).or_default().insert(why);
    }
    found
}

/// The page, in Markdown.
pub(crate) fn page() -> String {
    let (mut page, differences) = (BEGIN.to_owned(), differences());
    let functions = ncirrus_netcdf::functions();
    for header in ncirrus_netcdf::HEADERS.iter().copied().chain([""]) {
        let of_header: Vec<_> = functions.iter().filter(|row| row.header == header).collect();
        let title = if header.is_empty() { "Without a header".to_owned() } else { format!("`{header}`") };
        _ = write!(
            page,
            "\n## {title} ({})\n\n| function | does | differs |\n|---|---|---|\n",
            of_header.len()
        );
        for row in of_header {
            let about: Vec<&str> = row.about.iter().map(|line| line.trim()).collect();
            let differs = differences
                .get(row.name)
                .map_or(String::new(), |why| why.iter().copied().collect::<Vec<_>>().join("; "));
            let cell = |text: &str| text.replace('|', "\\|");
            _ = writeln!(
                page,
                "| `{}` | {} | {} |",
                cell(&row.prototype()),
                cell(&about.join(" ")),
                cell(&differs)
            );
        }
    }
    page
}

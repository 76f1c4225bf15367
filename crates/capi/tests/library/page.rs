//! The page of the functions: what each does, and what differs from Debian's library in answers to arguments that are wrong or null.
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Calls that answer something else than Debian's library, each with the reason: the tests compare all others.
const DIFFERENCES: [&str; 2] = [include_str!("wrong_exceptions.tsv"), include_str!("null_exceptions.tsv")];

const BEGIN: &str = "# The functions of the C library

Made from the table of the library (`crates/capi/src/abi/functions`) by `cargo run --workspace --example page`; a test compares.

Every function answers what Debian's netCDF-C 4.9.0 answers for the same call, also for arguments that are wrong or null: tests make the
calls on both. Where one answers something else, its line tells why; `docs/c-library.md` has what differs beyond single calls.
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
        let title = if header.is_empty() { "In no header".to_owned() } else { format!("`{header}`") };
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

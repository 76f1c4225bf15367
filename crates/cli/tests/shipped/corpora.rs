//! The program prints every dataset of the corpus as the library reads it, which the library's tests compare with the
//! reference data, and fails where the library fails.
use super::sources::{self, Source};
use super::{NAME, is_large, none, run, str_of, text};
use crate::support::{difference, open, session};
use ncirrus::Session;
use ncirrus_tools::cdl;

#[test]
fn nczarr_is_printed_as_the_library_reads_it() {
    each_of("nczarr");
}

#[test]
fn hdf5_is_printed_as_the_library_reads_it() {
    each_of("hdf5");
}

#[test]
fn aggregations_are_printed_as_the_library_reads_them() {
    each_of("cfa");
}

#[test]
fn real_data_are_printed_as_the_library_reads_them() {
    each_of("realdata");
}

fn each_of(folder: &str) {
    let session = session();
    let sources = sources::of(folder);
    let said =
        |source: &Source| same(source, &session).err().map(|reason| format!("{}: {reason}", source.id));
    none(&sources.iter().filter_map(said).collect::<Vec<_>>());
}

fn same(source: &Source, session: &Session) -> Result<(), String> {
    let path = str_of(&source.path);
    let dump = ["dump", "-n", NAME, "-p", "9,17", path, "-h"];
    let dataset = match open(&source.path, session) {
        Ok(dataset) => dataset,
        Err(error) => return refused(&run(&dump), &error),
    };
    // Data of large datasets are compared when they are copied.
    let (data, arguments) = if is_large(&dataset) {
        (cdl::DataChoice::HeaderOnly, &dump[..])
    } else {
        (cdl::DataChoice::All, &dump[..6])
    };
    let printed = run(arguments);
    let (expected, is_whole) = match text(&dataset, data) {
        Ok(expected) => expected,
        Err(error) => return refused(&printed, &error),
    };
    difference(&expected, &printed.out)?;
    let is_whole = is_whole && dataset.left_out().is_ok_and(|left_out| left_out.is_empty());
    let due = if is_whole { 0 } else { 1 };
    if printed.code == Some(due) { Ok(()) } else { Err(format!("exit code {:?}, not {due}", printed.code)) }
}

fn refused(run: &super::Run, error: &ncirrus::Error) -> Result<(), String> {
    if run.is_done() {
        return Err(format!("exit code {:?} where the library says: {error}", run.code));
    }
    if run.err.contains(error.message()) { Ok(()) } else { Err(format!("{:?} is not {error}", run.err)) }
}

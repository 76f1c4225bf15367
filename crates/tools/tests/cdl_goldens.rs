//! CDL byte for byte as netCDF-C's `ncdump` printed it: of a classic dataset for every option, and of two HDF5 files
//! with user-defined types, strings and fill values.
#![expect(clippy::unwrap_used, reason = "helpers of tests may panic")]

use crate::support::{open, session};
use ncirrus::Dataset;
use ncirrus_testkit::corpus::corpus;
use ncirrus_tools::cdl::{AnnotationStyle, DataChoice, IndexAnnotation, IndexOrder, PrintOptions, TimeStyle};
use ncirrus_tools::{dump, dump_ncml};
use std::path::Path;

type Change = fn(&mut PrintOptions);

/// The middle of a golden text's name, and the options that it was printed with.
const GOLDENS: [(&str, Change); 12] = [
    ("default", |_| ()),
    ("h", |options| options.data = DataChoice::HeaderOnly),
    ("c", |options| options.data = DataChoice::Coordinates),
    ("sh", |options| {
        options.special = true;
        options.data = DataChoice::HeaderOnly;
    }),
    ("t", |options| options.times = Some(TimeStyle::Blank)),
    ("ivtime", |options| {
        options.times = Some(TimeStyle::T);
        options.variables = vec!["time".to_owned()];
    }),
    ("l40", |options| options.line_len = 40),
    ("p4", |options| options.float_digits = Some(4)),
    ("p917", |options| {
        options.float_digits = Some(9);
        options.double_digits = Some(17);
    }),
    ("bcvpi", |options| annotated(options, AnnotationStyle::Brief, IndexOrder::C, "pi")),
    ("bfvrec", |options| annotated(options, AnnotationStyle::Brief, IndexOrder::Fortran, "rec")),
    ("fcvnames", |options| annotated(options, AnnotationStyle::Full, IndexOrder::C, "names")),
];

/// Golden texts of HDF5 files: the dataset, the middle of the text's name, its options.
const HDF5_GOLDENS: [(&str, &str, Change); 4] = [
    ("enhanced", "default", |_| ()),
    ("enhanced", "s", |options| options.special = true),
    ("enhanced", "hs", |options| {
        options.special = true;
        options.data = DataChoice::HeaderOnly;
    }),
    ("fill", "default", |_| ()),
];

fn annotated(options: &mut PrintOptions, style: AnnotationStyle, order: IndexOrder, variable: &str) {
    options.annotation = Some(IndexAnnotation { style, order });
    options.variables = vec![variable.to_owned()];
}

fn classic(root: &Path) -> Dataset {
    open(&root.join("classic.nc"), &session()).unwrap()
}

fn options(dataset: &Dataset) -> PrintOptions {
    PrintOptions::new().name("classic").classic(ncirrus_tools::is_classic(dataset))
}

/// Bytes as text in which every byte is visible.
fn visible(bytes: &[u8]) -> String {
    let line = |line: &[u8]| line.escape_ascii().to_string();
    bytes.split(|byte| *byte == b'\n').map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn every_option_prints_the_golden_text() {
    let Some(root) = corpus("nczarr/cdl-format") else { return };
    let dataset = classic(&root);
    for (name, change) in GOLDENS {
        is_golden(&dataset, &root.join(format!("classic.{name}.cdl")), &options(&dataset), change);
    }
}

#[test]
fn hdf5_files_print_the_golden_text() {
    let Some(root) = corpus("nczarr/cdl-format") else { return };
    for (file, name, change) in HDF5_GOLDENS {
        let dataset = open(&root.join(format!("{file}.nc")), &session()).unwrap();
        let options = PrintOptions::new().name(file.to_owned());
        is_golden(&dataset, &root.join(format!("{file}.{name}.cdl")), &options, change);
    }
}

fn is_golden(dataset: &Dataset, golden: &Path, options: &PrintOptions, change: Change) {
    let mut options = options.clone();
    change(&mut options);
    let mut text = Vec::new();
    let summary = dump(dataset, &mut text, &options).unwrap();
    assert!(summary.faults.is_empty(), "{}: {:?}", golden.display(), summary.faults);
    let expected = std::fs::read(golden).unwrap();
    let difference = crate::support::difference(&visible(&expected), &visible(&text));
    assert!(difference.is_ok(), "{}: {difference:?}", golden.display());
}

#[test]
fn ncml_is_the_golden_text() {
    let Some(root) = corpus("nczarr/cdl-format") else { return };
    let dataset = classic(&root);
    let golden = std::fs::read(root.join("classic.xh.cdl")).unwrap();
    let options = options(&dataset).data(DataChoice::HeaderOnly);
    let mut text = Vec::new();
    dump_ncml(&dataset, &mut text, &options).unwrap();
    // The golden text was printed in the folder of the dataset.
    let text = visible(&text).replace(dataset.url(), "classic.nc");
    assert_eq!(crate::support::difference(&visible(&golden), &text), Ok(()));
}

#[test]
fn every_golden_text_is_tested() {
    let Some(root) = corpus("nczarr/cdl-format") else { return };
    let names = std::fs::read_dir(&root).unwrap().map(|entry| entry.unwrap().file_name());
    // A name with one dot is that of a text from which a dataset was made.
    let goldens = names.filter_map(|name| {
        let name = name.into_string().unwrap();
        Some(name.strip_suffix(".cdl")?.to_owned()).filter(|name| name.contains('.'))
    });
    let classic = GOLDENS.iter().map(|(name, _)| *name).chain(["xh"]).map(|name| format!("classic.{name}"));
    let hdf5 = HDF5_GOLDENS.iter().map(|(file, name, _)| format!("{file}.{name}"));
    let tested: Vec<String> = classic.chain(hdf5).collect();
    let missed: Vec<String> = goldens.filter(|name| !tested.contains(name)).collect();
    assert!(missed.is_empty(), "not tested: {missed:?}");
}

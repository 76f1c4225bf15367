//! Texts and dumps of the reference: `source.cdl` is what `ncgen` made a dataset from, `default.txt` what `ncdump` printed
//! of it.
use super::rebuilt::{printed, read};
use ncirrus_cdl::PrintOptions;
use ncirrus_cdl::parse::{NumberRange, ParseOptions};
use std::fs;
use std::path::{Path, PathBuf};

/// Folders of fixtures that have a file.
fn cases(file: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let folders = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    folders.filter(|folder| folder.join(file).is_file() && folder.join("default.txt").is_file()).collect()
}

fn is_classic(case: &Path) -> bool {
    let tree = fs::read_to_string(case.join("tree.json")).unwrap();
    let tree: serde_json::Value = serde_json::from_str(&tree).unwrap();
    tree["format"] != 3
}

/// Reads a text and prints it with the fixture's options.
fn again(case: &Path, text: &[u8], range: NumberRange, block_len: usize) -> String {
    let options = ParseOptions::new().range(range).block_len(block_len);
    let rebuilt = read(text, &options).unwrap_or_else(|failure| panic!("{}: {failure}", case.display()));
    let name = case.file_name().unwrap().to_str().unwrap();
    let options = PrintOptions::new().name(name).classic(is_classic(case));
    String::from_utf8(printed(&rebuilt.model, &rebuilt.values, &options)).unwrap()
}

fn assert_lines(have: &str, want: &str, case: &Path) {
    for (at, (have, want)) in have.lines().zip(want.lines()).enumerate() {
        assert_eq!(have, want, "{} line {}", case.display(), at + 1);
    }
    assert_eq!(have.len(), want.len(), "{}", case.display());
}

#[test]
fn what_the_reference_was_given_is_read_as_the_reference_reads_it() {
    let cases = cases("source.cdl");
    assert!(cases.len() >= 5, "only {} cases", cases.len());
    for case in cases {
        // The reference shifts characters of inner unlimited dimensions (ncgen(1) has an example, which it does not follow).
        if case.ends_with("text") {
            continue;
        }
        let text = fs::read(case.join("source.cdl")).unwrap();
        let want = fs::read_to_string(case.join("default.txt")).unwrap();
        assert_lines(&again(&case, &text, NumberRange::Reference, 4 << 20), &want, &case);
    }
}

#[test]
fn what_the_reference_printed_is_read_and_printed_again_whatever_the_blocks() {
    for case in cases("default.txt") {
        // The constants of an enum are printed without their escapes, numbers by C_format as anything, types of enclosing groups by
        // a name that an inner one has, too, and the largest double with too few digits: none can be read as what it was.
        if ["types", "formats", "scopes", "numbers"].iter().any(|name| case.ends_with(name)) {
            continue;
        }
        let text = fs::read_to_string(case.join("default.txt")).unwrap();
        for block_len in [1, 24, 1 << 20] {
            assert_lines(&again(&case, text.as_bytes(), NumberRange::Strict, block_len), &text, &case);
        }
    }
}

//! Whole dumps compared with the text that ncdump 4.9.0 printed for the same dataset and options.
//!
//! `fixtures/<case>/source.cdl` is the text from which ncgen made the dataset, `tree.json` is the dataset, and each
//! `.txt` file is named by the options: `b_c.txt` is `ncdump -b c`. `fixtures/make.py` makes them anew.

use ncirrus_cdl::{AnnotationStyle, DataChoice, IndexAnnotation, IndexOrder, PrintOptions, TimeStyle, print};
use std::fs;
use std::path::Path;

#[test]
fn every_fixture_prints_as_the_reference_prints_it() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let mut compared = 0;
    for case in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir())
    {
        let tree = fs::read_to_string(case.join("tree.json")).unwrap();
        for file in fs::read_dir(&case).unwrap().map(|entry| entry.unwrap().path()) {
            if file.extension().is_some_and(|extension| extension == "txt") {
                compare(&case, &tree, &file);
                compared += 1;
            }
        }
    }
    assert!(compared >= 35, "only {compared} dumps were compared");
}

fn compare(case: &Path, tree: &str, file: &Path) {
    let mut fixture = crate::support::load(tree);
    let mut options = options(file.file_stem().unwrap().to_str().unwrap());
    options.name = case.file_name().unwrap().to_str().unwrap().to_owned();
    options.classic = fixture.classic;
    let mut text = Vec::new();
    let summary = print(&mut text, &fixture.model, &mut fixture.values, &options).unwrap();
    assert!(summary.faults.is_empty());
    let expected = fs::read(file).unwrap();
    let lines = |text: &[u8]| text.split(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect::<Vec<_>>();
    for (at, (have, want)) in lines(&text).iter().zip(lines(&expected)).enumerate() {
        let show = |line: &[u8]| String::from_utf8_lossy(line).into_owned();
        assert_eq!(show(have), show(&want), "{} line {}", file.display(), at + 1);
    }
    assert!(text == expected, "{}: {} bytes instead of {}", file.display(), text.len(), expected.len());
}

/// The options that a file's name represents.
fn options(name: &str) -> PrintOptions {
    let mut options = PrintOptions::default();
    let mut words = name.split('_');
    let list = |words: &str| words.replace('+', "/").split(',').map(str::to_owned).collect::<Vec<_>>();
    while let Some(word) = words.next() {
        let mut argument = || words.next().unwrap();
        match word {
            "default" => {}
            "h" => options.data = DataChoice::HeaderOnly,
            "c" => options.data = DataChoice::Coordinates,
            "v" => options.variables = list(argument()),
            "g" => options.groups = list(argument()),
            "l" => options.line_len = argument().parse().unwrap(),
            "t" => options.times = Some(TimeStyle::Blank),
            "i" => options.times = Some(TimeStyle::T),
            "XF" => options.fill_types = true,
            "p" => {
                let mut digits = argument().split(',').map(|digits| digits.parse().unwrap());
                (options.float_digits, options.double_digits) = (digits.next(), digits.next());
            }
            "b" | "f" => {
                let style = if word == "b" { AnnotationStyle::Brief } else { AnnotationStyle::Full };
                let order = if argument() == "c" { IndexOrder::C } else { IndexOrder::Fortran };
                options.annotation = Some(IndexAnnotation { style, order });
            }
            other => panic!("option {other}"),
        }
    }
    options
}

//! Tests of the document about licences.
use super::files::{chosen, is_licence, kept};
use super::*;

fn texts(paths: &[&str]) -> Vec<Text> {
    paths.iter().map(|path| Text { path: (*path).to_owned(), text: (*path).to_owned() }).collect()
}

fn paths(texts: &[Text]) -> Vec<&str> {
    texts.iter().map(|text| text.path.as_str()).collect()
}

#[test]
fn lines_of_the_tree_are_names_and_versions() {
    let tree = "ncirrus-cli v0.1.0 (/a/crates/cli)\nlibc v0.2.1 (*)\n\nlz4-sys v1.11.1+lz4-1.10.0\n";
    let names: Vec<_> =
        names_and_versions(tree).into_iter().map(|(name, version)| name + " " + &version).collect();
    assert_eq!(names, ["libc 0.2.1", "lz4-sys 1.11.1+lz4-1.10.0", "ncirrus-cli 0.1.0"]);
}

#[test]
fn names_of_licence_files() {
    for name in ["LICENSE", "LICENSE-MIT", "licence.txt", "COPYING", "COPYRIGHT.txt", "NOTICE", "UNLICENSE"] {
        assert!(is_licence(name), "{name}");
    }
    for name in ["README.md", "license.rs", "copyright.html", "lib.rs"] {
        assert!(!is_licence(name), "{name}");
    }
}

#[test]
fn of_alternatives_the_text_of_mit_is_chosen() {
    let both = ["LICENSE-APACHE", "LICENSE-MIT", "NOTICE", "c/LICENSE-APACHE"];
    assert_eq!(
        paths(&chosen("MIT OR Apache-2.0", texts(&both))),
        ["LICENSE-MIT", "NOTICE", "c/LICENSE-APACHE"]
    );
    assert_eq!(chosen("MIT AND Apache-2.0", texts(&both)).len(), 4);
    assert_eq!(paths(&chosen("MIT OR Apache-2.0", texts(&["LICENSE-APACHE"]))), ["LICENSE-APACHE"]);
}

#[test]
fn a_text_that_several_crates_have_is_given_once() {
    let one = |name: &str, text: &str| Crate {
        name: name.to_owned(),
        version: "1.0.0".to_owned(),
        licence: "MIT".to_owned(),
        home: String::new(),
        has_c: name == "b",
        texts: vec![Text { path: "LICENSE".to_owned(), text: text.to_owned() }],
    };
    let text = document(&[one("a", "Free\n to use"), one("b", "Free to use"), one("c", "Other")]);
    assert!(text.contains("| b | 1.0.0 | MIT | yes | [1](#text-1) |\n"), "{text}");
    assert!(
        text.contains("## Text 1\n\na 1.0.0 (`LICENSE`), b 1.0.0 (`LICENSE`)\n\n    Free\n     to use\n"),
        "{text}"
    );
    assert!(text.contains("## Text 2\n\nc 1.0.0 (`LICENSE`)\n\n    Other\n"), "{text}");
}

#[test]
fn a_crate_without_a_text_needs_one_that_the_project_keeps() {
    assert!(kept("blosc-src").is_ok_and(|text| text.text.contains("Francesc Alted")));
    assert!(kept("no-such-crate").is_err());
}

#[test]
fn every_crate_that_ships_has_a_licence_text() {
    // A new dependency whose package has none is found here, before a release is made.
    let made = text().unwrap_or_else(|message| format!("failed: {message}"));
    assert!(made.starts_with("# Software of others"), "{made}");
}

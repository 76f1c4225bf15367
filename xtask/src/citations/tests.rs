//! Correct citations, and each kind of wrong ones.
use super::*;

const TOY: &str = "# Toys\n\n5.5 is before all sections\n\n## 1. Blocks\n\n1.1 Wood.\n2.0 is a version, no paragraph.\n\n```\n1.7 is code\n```\n\n\
    ## 2.3 Balls **[ran]**\n\n- D7 red\n\n| Q1 | blue |\n\n### A. Letters\n\n### A.1 Vowels\n";

fn toys() -> Specifications {
    Specifications(BTreeMap::from([("toy.md".to_owned(), sections(TOY))]))
}

/// The errors of a text; the folder is inserted here, since this file is checked, too.
fn wrong(text: &str) -> Vec<String> {
    toys().wrong_citations("a.rs", &text.replace("SPEC", "docs/spec"))
}

#[test]
fn sections_are_headings_paragraphs_and_entries() {
    let expected = ["1", "1.1", "2.3", "A", "A.1", "D7", "Q1"];
    assert_eq!(sections(TOY), expected.map(str::to_owned).into());
}

#[test]
fn what_is_there_may_be_cited_in_every_form() {
    for text in [
        "/// Wood (SPEC/toy.md 1.1).",
        "//! Balls (`SPEC/toy.md` 2.3, D7 and A to A.1; 9.9 of another).",
        "    // SPEC/toy.md\n    // 1.1, 2.3.",
        "# all of SPEC/toy.md is read",
        "a [page](../spec/toy.md)",
        "opentoy.md 9 and toys.mdx",
    ] {
        assert_eq!(wrong(text), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn sections_that_are_not_there_are_reported() {
    assert_eq!(wrong("//\n/// (SPEC/toy.md 1.2)"), ["a.rs:2: toy.md has no section 1.2"]);
    assert_eq!(wrong("/// (`SPEC/toy.md` 1.1,\n/// A.2 to D8)").len(), 2);
    assert_eq!(wrong("// SPEC/toy.md\n// 7").len(), 1);
    assert_eq!(wrong("// SPEC/toy.md 1.7").len(), 1, "numbers in code are no sections");
}

#[test]
fn specifications_are_cited_with_their_folder() {
    assert_eq!(wrong("/// (toy.md 1.1)"), [format!("a.rs:1: toy.md is {FOLDER}toy.md")]);
    assert_eq!(wrong("/// SPEC/other.md 1"), [format!("a.rs:1: there is no {FOLDER}other.md")]);
}

#[test]
fn files_may_say_once_which_specification_they_mean() {
    let words = "Numbers are sections of `SPEC/toy.md`.\n| red (1.1, 2.3) | blue (1.5) |\n(version 9.9)";
    assert_eq!(wrong(words), ["a.rs:2: toy.md has no section 1.5"]);
    let table = format!("# sections of {FOLDER}toy.md\na\t1.1: x\nb\t3.1: y (4.5)\n");
    let wrong_in_table = toys().wrong_citations("a.tsv", &table);
    assert_eq!(wrong_in_table, ["a.tsv:3: toy.md has no section 3.1"]);
    assert_eq!(wrong("| blue (1.5) |"), Vec::<String>::new());
}

#[test]
fn files_that_documents_name_exist() {
    let text =
        "`xtask/src/main.rs`, `docs/`, `crates/nothing/src/lib.rs`,\n`docs/*.md` and `cargo xtask docs`";
    let expected = ["b.md:1: there is no crates/nothing/src/lib.rs"];
    assert_eq!(missing_files(&project(), "b.md", text), expected);
}

#[test]
fn everything_that_the_project_cites_is_there() {
    check().unwrap();
}

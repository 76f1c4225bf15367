//! Every external type with every type of memory, at the limits of all, on both libraries.
use super::calls::compiled_with;
use super::exceptions::{KnownDifference, fits};
use super::{Library, printed};
use std::collections::{BTreeMap, BTreeSet};

/// Conversions that differ: which, what Debian's library answers, what ours does, and the reason. An asterisk stands for any text.
const EXCEPTIONS: &str = include_str!("conversion_exceptions.tsv");

#[test]
fn values_at_the_limits_of_types_are_converted_as_by_debians_library() {
    let folder = tempfile::tempdir().unwrap();
    let program = compiled_with(folder.path(), "conversions", &["-lm"]);
    let [debian, own] = [(Library::Debian, "debian"), (Library::Own, "own")].map(|(library, place)| {
        std::fs::create_dir(folder.path().join(place)).unwrap();
        printed(library, folder.path(), &program, &[place])
    });
    assert!(debian.lines().count() > 200_000, "{}", debian.lines().count());
    assert_eq!(own.lines().count(), debian.lines().count());
    let rules: Vec<KnownDifference> = EXCEPTIONS.lines().map(KnownDifference::from_line).collect();
    let mut used = BTreeSet::new();
    // One of each conversion that differs is told.
    let mut wrong = BTreeMap::new();
    for (debian, own) in debian.lines().zip(own.lines()).filter(|(debian, own)| debian != own) {
        match rules.iter().position(|rule| is_met_by(rule, debian, own)) {
            Some(rule) => _ = used.insert(rule),
            None => {
                let conversion: Vec<&str> = debian.split(' ').take(5).collect();
                wrong.entry(conversion).or_insert_with(|| format!("Debian's: {debian}\n    ours: {own}"));
            }
        }
    }
    let told: Vec<String> = wrong.into_values().collect();
    assert!(told.is_empty(), "{} conversions differ:\n{}", told.len(), told.join("\n"));
    let unused: Vec<&str> =
        (0..rules.len()).filter(|rule| !used.contains(rule)).map(|rule| rules[rule].of).collect();
    assert!(unused.is_empty(), "exceptions that no conversion has: {unused:#?}");
}

/// Whether two lines are of one conversion, and differ as it is known.
fn is_met_by(rule: &KnownDifference<'_>, debian: &str, own: &str) -> bool {
    let (Some((conversion, debian)), Some((of_own, own))) = (debian.split_once(": "), own.split_once(": "))
    else {
        return false;
    };
    conversion == of_own && fits(rule.of, conversion) && rule.answers(debian, own)
}

//! Tests of others, with the library that they are made for and with ours: whether all that pass with it pass with ours.
use crate::run::Outcome;
use std::collections::BTreeMap;

/// Whether each test passed, by its name.
pub(crate) type PassedTests = BTreeMap<String, bool>;

/// Fails for tests that pass with the reference and not with ours, except those in a list (lines of a name, a tab and
/// the reason); and for those in the list that pass. Prints how many pass.
pub(crate) fn compare(reference: &PassedTests, found: &PassedTests, exceptions: &str) -> Outcome {
    let reasons: BTreeMap<&str, &str> = exceptions.lines().filter_map(|line| line.split_once('\t')).collect();
    let passed = |results: &PassedTests| results.values().filter(|passed| **passed).count();
    println!("with the reference {} of {} pass", passed(reference), reference.len());
    println!("with ours {} of {} pass", passed(found), found.len());
    let mut wrong = Vec::new();
    for (test, _) in reference.iter().filter(|(_, passed)| **passed) {
        let passes = found.get(test).copied().unwrap_or(false);
        match (passes, reasons.get(test.as_str())) {
            (false, None) => wrong.push(format!("{test} fails")),
            (true, Some(_)) => wrong.push(format!("{test} is an exception and passes")),
            (false, Some(reason)) => println!("{test}: {reason}"),
            (true, None) => {}
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("; ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn results(tests: &[(&str, bool)]) -> PassedTests {
        tests.iter().map(|(name, passed)| ((*name).to_owned(), *passed)).collect()
    }

    #[test]
    fn what_passes_with_the_reference_must_pass_or_have_a_reason() {
        let reference = results(&[("a", true), ("b", true), ("c", false)]);
        let found = results(&[("a", true), ("b", false), ("c", false)]);
        assert_eq!(compare(&reference, &found, ""), Err("b fails".to_owned()));
        assert_eq!(compare(&reference, &found, "b\tno need\n"), Ok(()));
        let reported = compare(&reference, &found, "a\tno need\nb\tno need\n");
        assert_eq!(reported, Err("a is an exception and passes".to_owned()));
        assert_eq!(compare(&reference, &results(&[("a", true)]), ""), Err("b fails".to_owned()));
    }
}

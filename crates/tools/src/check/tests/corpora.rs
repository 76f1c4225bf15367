//! Datasets that other programs wrote: sound ones have no errors.
use super::*;
use std::collections::BTreeMap;

/// The codes of severity error in a dataset; what cannot be opened for another reason than damage has none.
fn errors(url: &str) -> Option<Vec<(String, String)>> {
    let report = match check(url, &CheckOptions::new(), &session()) {
        Ok(report) => report,
        Err(error) if error.kind() == ErrorKind::Unsupported => return None,
        Err(error) => return Some(vec![("error".to_owned(), format!("{:?}: {error}", error.kind()))]),
    };
    let errors = report.findings.iter().filter(|finding| finding.severity == Severity::Error);
    Some(errors.map(|finding| (finding.code.name().to_owned(), finding.to_string())).collect())
}

/// Checks datasets and prints how many have no errors.
fn expect_sound(corpus: &str, datasets: impl Iterator<Item = (String, String)>) {
    let (mut sound, mut all, mut wrong) = (0, 0, BTreeMap::new());
    for (name, url) in datasets {
        let Some(found) = errors(&url) else { continue };
        all += 1;
        if found.is_empty() { sound += 1 } else { _ = wrong.insert(name, found) }
    }
    println!("{corpus}: {sound} of {all} sound datasets have no errors");
    assert!(wrong.is_empty(), "{wrong:?}");
    assert!(all > 0);
}

#[test]
fn real_data_have_no_errors() {
    let Some(folder) = ncirrus_testkit::corpus::corpus("realdata") else { return };
    let files = std::fs::read_dir(folder.join("files")).unwrap().map(|entry| entry.unwrap().path());
    expect_sound("realdata", files.map(|path| (address(&path), address(&path))));
}

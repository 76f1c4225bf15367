//! Files as archives have them: those of models, reanalyses, satellites and instruments.
use super::{Verdict, assert_same, fits, made, optimized, reference_check, text};
use crate::support::{session, temp};
use ncirrus_testkit::sample::in_turn;
use ncirrus_tools::{OptimizeOptions, Profile};
use std::path::PathBuf;

/// All files; in turns of a number that has no divisor in common with that of the kinds, each kind is in the sample.
const FILES: usize = 200;
const ONE_IN: usize = 19;

fn numbers() -> impl Iterator<Item = usize> {
    (0..FILES).filter(|number| in_turn(*number, ONE_IN))
}

#[test]
fn files_of_many_shapes_fit_afterwards_and_keep_everything() {
    let (_guard, root) = temp();
    let (originals, session) = (root.join("originals"), session());
    std::fs::create_dir(&originals).unwrap();
    let Some(paths) = made(&originals, numbers()) else { return };
    let Some(before) = reference_check(&paths) else { return };
    let (mut rewritten, mut passed) = (0, 0);
    for profile in [Profile::cmip7(), Profile::cloud()] {
        let folder = root.join(&profile.name);
        std::fs::create_dir(&folder).unwrap();
        let copies: Vec<PathBuf> = paths.iter().map(|path| folder.join(path.file_name().unwrap())).collect();
        for (path, copy) in paths.iter().zip(&copies) {
            std::fs::copy(path, copy).unwrap();
        }
        // What the reference does not accept, we do not accept either.
        for (path, verdict) in paths.iter().zip(&before).filter(|_| profile.name == "cmip7") {
            let (is_fit, report) = fits(&text(path), &profile, &session);
            assert!(!is_fit || *verdict != Verdict::Fails, "{}: {report}", path.display());
        }
        let options = OptimizeOptions::new().profile(profile.clone()).jobs(2);
        let files = optimized(&copies, &options, &session);
        rewritten += files.iter().filter(|file| file.outcome.name() == "optimized").count();
        for (path, copy) in paths.iter().zip(&copies) {
            assert_same(path, copy, &session);
            let (is_fit, report) = fits(&text(copy), &profile, &session);
            assert!(is_fit, "{}: {report}", copy.display());
        }
        let after = reference_check(&copies).unwrap();
        for (copy, verdict) in copies.iter().zip(after).filter(|_| profile.name == "cmip7") {
            let is_typed = text(copy).contains("_typed");
            let wanted = if is_typed { Verdict::CannotParse } else { Verdict::Passes };
            assert_eq!(verdict, wanted, "{}", copy.display());
            passed += usize::from(verdict == Verdict::Passes);
        }
        // A list that is repeated changes nothing.
        let states = |copies: &[PathBuf]| -> Vec<Vec<u8>> {
            copies.iter().map(|copy| std::fs::read(copy).unwrap()).collect()
        };
        let first = states(&copies);
        let again = optimized(&copies, &options, &session);
        assert!(again.iter().all(|file| file.outcome.name() == "unchanged"));
        assert_eq!(states(&copies), first);
        let left: Vec<_> = std::fs::read_dir(&folder).unwrap().collect();
        assert_eq!(left.len(), copies.len(), "{left:?}");
    }
    assert!(passed * 5 >= paths.len() * 4, "the reference check accepts {passed} of {} files", paths.len());
    assert!(rewritten > paths.len(), "{rewritten} of twice {} files were rewritten", paths.len());
}

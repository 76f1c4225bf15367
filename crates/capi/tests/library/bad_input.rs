//! What the system refuses, takes away or damages: the codes of Debian's library, errors that name their object, and nothing else is lost.
use super::calls::{compiled, compiled_with};
use super::exceptions::{KnownDifference, fits};
use super::{Library, loaded_from, printed};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// What differs: case and kind, Debian's line, ours, and the reason. Debian's line is `-` for what does not hold on ours. An asterisk stands
/// for any text.
const EXCEPTIONS: &str = include_str!("bad_input_exceptions.tsv");

const CASES: [&str; 6] = ["full_new", "full_old", "cut_off", "no_place", "denied", "locked"];
const KINDS: [&str; 5] = ["classic", "64-bit-offset", "cdf5", "netcdf4", "netcdf4-classic"];

#[test]
fn what_the_system_refuses_is_told_and_leaves_the_rest() {
    let folder = tempfile::tempdir().unwrap();
    let program = compiled(folder.path(), "bad_input");
    let mut differences = Differences::new(&CASES);
    for case in CASES {
        for (number, kind) in KINDS.iter().enumerate() {
            let said = |library: Library| {
                // Beside the library's folder: another user passes through.
                let place = tempfile::tempdir().unwrap();
                let mut command = Command::new(&program);
                command.args([case, &number.to_string()]).current_dir(place.path());
                if library == Library::Own {
                    command.env("LD_LIBRARY_PATH", loaded_from(folder.path()));
                }
                let output = command.output().unwrap();
                // Debian's library may end the process there.
                assert!(
                    library == Library::Debian || output.status.success(),
                    "{case} {kind}: {}",
                    output.status
                );
                String::from_utf8(output.stdout).unwrap()
            };
            differences.add(&format!("{case} {kind}"), &said(Library::Debian), &said(Library::Own));
        }
    }
    differences.assert_known();
}

#[test]
fn a_damaged_chunk_and_a_missing_filter_keep_nothing_else_from_being_read() {
    let folder = tempfile::tempdir().unwrap();
    let program = compiled(folder.path(), "damaged");
    let plugins = folder.path().join("plugins");
    std::fs::create_dir(&plugins).unwrap();
    let plugin = compiled_with(folder.path(), "identity_filter", &["-shared", "-fPIC"]);
    std::fs::rename(plugin, plugins.join("libidentity.so")).unwrap();
    let said = |library: Library, what: &str, plugins: &Path| {
        let mut command = Command::new(&program);
        command.arg(what).current_dir(folder.path()).env("HDF5_PLUGIN_PATH", plugins);
        if library == Library::Own {
            command.env("LD_LIBRARY_PATH", loaded_from(folder.path()));
        }
        let output = command.output().unwrap();
        assert!(output.status.success(), "{what}: {}", output.status);
        String::from_utf8(output.stdout).unwrap()
    };
    let mut differences = Differences::new(&["damaged"]);
    for (writer, name) in [(Library::Debian, "Debian's"), (Library::Own, "ours")] {
        said(writer, "make", &plugins);
        for (plugins, has) in [(plugins.as_path(), "with"), (Path::new("/none"), "without")] {
            let [debian, own] = [Library::Debian, Library::Own].map(|library| said(library, "read", plugins));
            assert_eq!(debian.lines().filter(|line| *line == " chunk = -101").count(), 2, "{debian}");
            differences.add(&format!("damaged {name} {has} filter"), &debian, &own);
        }
    }
    differences.assert_known();
    // What is damaged is in no other tool's way, either.
    printed(Library::Own, folder.path(), "ncdump", &["-v", "plain,shuffled", "damaged.nc"]);
}

/// What differs from Debian's library, or does not hold.
struct Differences {
    rules: Vec<KnownDifference<'static>>,
    used: BTreeSet<usize>,
    wrong: Vec<String>,
}

impl Differences {
    /// With the exceptions of some cases.
    fn new(cases: &[&str]) -> Self {
        let rules = EXCEPTIONS.lines().map(KnownDifference::from_line);
        let rules = rules.filter(|rule| cases.iter().any(|case| rule.of.starts_with(case))).collect();
        Self { rules, used: BTreeSet::new(), wrong: Vec::new() }
    }

    /// Compares what both libraries printed; where Debian's ended, ours goes on.
    fn add(&mut self, place: &str, debian: &str, own: &str) {
        let (wrong, told): (Vec<&str>, Vec<&str>) = own.lines().partition(|line| line.starts_with("wrong: "));
        assert_eq!(told.last(), Some(&"done"), "{place}: {own}");
        let pairs = debian.lines().zip(told).filter(|(debian, own)| debian != own);
        for (debian, own) in pairs.chain(wrong.into_iter().map(|line| ("-", line))) {
            let is_met = |rule: &KnownDifference<'_>| fits(rule.of, place) && rule.answers(debian, own);
            match self.rules.iter().position(is_met) {
                Some(rule) => _ = self.used.insert(rule),
                None => self.wrong.push(format!("{place}: Debian's: {debian}; ours: {own}")),
            }
        }
    }

    fn assert_known(mut self) {
        let unused = (0..self.rules.len()).filter(|rule| !self.used.contains(rule));
        let unused: Vec<String> =
            unused.map(|rule| format!("an exception that is none: {:?}", self.rules[rule])).collect();
        self.wrong.extend(unused);
        assert!(self.wrong.is_empty(), "{}", self.wrong.join("\n"));
    }
}

//! Programs of all golden texts: the text beside that of Debian's ncgen, and what they make.
use super::*;
use crate::generate::tests::{Golden, goldens};
use ncirrus::CreateOptions;
use ncirrus_cdl::ProgramLanguage;
use ncirrus_cdl::parse::NumberRange;
use ncirrus_testkit::corpus::program as tool;
use ncirrus_testkit::sample::in_turn;
use std::fs;
use std::path::Path;
use std::process::Command;

/// What differs on purpose: golden, which text or program, reason.
const EXCEPTIONS: &str = include_str!("../../../tests/ncgen/programs.tsv");

/// Agreements, and disagreements that are not in the list of exceptions.
#[derive(Default)]
struct Tally {
    same: usize,
    of: usize,
    wrong: Vec<String>,
}

impl Tally {
    fn add(&mut self, name: &str, what: &str, outcome: std::result::Result<(), String>) {
        let mut exceptions = EXCEPTIONS.lines().filter(|line| !line.starts_with('#'));
        let is_excepted = exceptions.any(|line| {
            let mut columns = line.split('\t');
            let is_it = columns.next() == Some(name) && columns.next() == Some(what);
            is_it && columns.next().is_some_and(|reason| !reason.is_empty())
        });
        self.of += 1;
        self.same += usize::from(outcome.is_ok());
        match outcome {
            Ok(()) if is_excepted => {
                self.wrong.push(format!("{name}\t{what}\tis the same now: no exception"));
            }
            Err(error) if !is_excepted => self.wrong.push(format!("{name}\t{what}\t{error}")),
            _ => {}
        }
    }

    fn check(self, what: &str) {
        println!("{what}: {} of {} agree", self.same, self.of);
        assert!(
            self.wrong.is_empty(),
            "{} of {} differ:\n{}",
            self.wrong.len(),
            self.of,
            self.wrong.join("\n")
        );
    }
}

/// The program of a golden text.
fn text_of(golden: &Golden, language: ProgramLanguage) -> Result<String> {
    let kind = match golden.flag.as_deref() {
        Some("-3") => Some(Kind::Nc3),
        Some("-4") => Some(Kind::Nc4),
        Some("-5") => Some(Kind::Nc5),
        _ => None,
    };
    let session = Session::new().unwrap();
    let options = GenerateOptions::new()
        .create(CreateOptions::new().kind(kind).default_chunks(ncirrus::DefaultChunks::NetcdfC))
        .kind_by_text(true)
        .range(NumberRange::Reference);
    let mut program = ProgramOptions::new();
    program.language = language;
    program.target = "t.nc".to_owned();
    let mut out = Vec::new();
    generate_program(&golden.text.as_bytes(), &mut out, program, &options, &session)?;
    Ok(String::from_utf8(out).unwrap())
}

fn without_blanks(text: &str) -> String {
    text.chars().filter(|character| !character.is_whitespace()).collect()
}

/// The first difference of two texts without blanks.
fn equal_text(ours: &str, theirs: &str) -> std::result::Result<(), String> {
    let (ours, theirs) = (without_blanks(ours), without_blanks(theirs));
    if ours == theirs {
        return Ok(());
    }
    let at =
        ours.bytes().zip(theirs.bytes()).position(|(a, b)| a != b).unwrap_or(ours.len().min(theirs.len()));
    let around = |text: &str| {
        let part = text.as_bytes().get(at.saturating_sub(50)..(at + 60).min(text.len())).unwrap_or_default();
        String::from_utf8_lossy(part).into_owned()
    };
    Err(format!("{} / {}", around(&ours), around(&theirs)))
}

/// Compiles and runs a program, and compares what Debian's ncdump prints of the dataset.
fn makes(golden: &Golden, text: &str, compiler: &[&str], file: &str) -> std::result::Result<(), String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    fs::write(path.join(file), text).unwrap();
    let (first, rest) = compiler.split_first().unwrap();
    let compiled =
        Command::new(first).current_dir(path).args(["-o", "made", file]).args(rest).output().unwrap();
    if !compiled.status.success() {
        let reported = String::from_utf8_lossy(&compiled.stderr).into_owned();
        return Err(format!(
            "does not compile: {}",
            reported.lines().take(8).collect::<Vec<_>>().join(" | ")
        ));
    }
    let run = Command::new(path.join("made")).current_dir(path).output().unwrap();
    if !run.status.success() {
        let reported = [run.stdout, run.stderr].concat();
        return Err(format!("fails: {}", String::from_utf8_lossy(&reported)));
    }
    if golden.exit != "0" {
        return Ok(());
    }
    equal_dump(golden, path)
}

/// Whether a program is compiled.
fn is_chosen(number: usize) -> bool {
    in_turn(number, 6)
}

fn equal_dump(golden: &Golden, folder: &Path) -> std::result::Result<(), String> {
    let dump = Command::new("/usr/bin/ncdump").current_dir(folder).args(["-s", "t.nc"]).output().unwrap();
    let dump = String::from_utf8_lossy(&dump.stdout).into_owned();
    let reported = |line: &&str| !line.contains("_NCProperties") && !line.contains("_SuperblockVersion");
    let dump: String = dump.lines().filter(reported).map(|line| format!("{line}\n")).collect();
    equal_text(&dump, &golden.dump)
}

#[test]
fn programs_in_c_are_the_references_and_make_the_dataset() {
    let (Some(ncgen), Some(_)) = (tool("ncgen"), tool("gcc")) else { return };
    let (mut texts, mut programs) = (Tally::default(), Tally::default());
    for golden in goldens() {
        let Ok(text) = text_of(&golden, ProgramLanguage::C) else { continue };
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("t.cdl"), &golden.text).unwrap();
        let mut command = Command::new(&ncgen);
        command.current_dir(folder.path()).args(["-lc"]).args(&golden.flag).args(["-o", "t.nc", "t.cdl"]);
        let theirs = command.output().unwrap();
        let same = equal_text(&text, &String::from_utf8_lossy(&theirs.stdout));
        // Programs with the text of Debian's make what Debian's make.
        let is_new = same.is_err() || !theirs.status.success();
        if theirs.status.success() {
            texts.add(&golden.name, "text", same);
        }
        if is_new || is_chosen(programs.of) {
            programs.add(&golden.name, "c", makes(&golden, &text, &["gcc", "-w", "-lnetcdf"], "t.c"));
        } else {
            programs.of += 1;
            programs.same += 1;
        }
    }
    assert!(programs.of >= 130, "{}", programs.of);
    let wrong = [std::mem::take(&mut texts.wrong), std::mem::take(&mut programs.wrong)].concat();
    texts.check("texts of programs in C");
    programs.check("datasets of programs in C");
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn programs_in_fortran_compile_and_make_the_dataset() {
    let (Some(_), Some(_)) = (tool("gfortran"), tool("nf-config")) else { return };
    let mut programs = Tally::default();
    let (mut refused, mut names) = (0, Vec::new());
    for golden in goldens() {
        match text_of(&golden, ProgramLanguage::Fortran77) {
            Ok(text) if !is_chosen(programs.of) => {
                programs.of += 1;
                programs.same += 1;
                if text.lines().any(|line| line.len() > 72) {
                    names.push(golden.name);
                }
            }
            Ok(text) => {
                let compiler = ["gfortran", "-w", "-I/usr/include", "-lnetcdff", "-lnetcdf"];
                programs.add(&golden.name, "f77", makes(&golden, &text, &compiler, "t.f"));
                let long = text.lines().filter(|line| line.len() > 72).count();
                if long > 0 {
                    names.push(golden.name);
                }
            }
            Err(error) => refused += usize::from(error.to_string().contains("Fortran 77's interface has no")),
        }
    }
    assert!(names.is_empty(), "lines are too long: {names:?}");
    assert!(programs.of >= 60 && refused >= 30, "{} and {refused}", programs.of);
    programs.check("datasets of programs in Fortran");
}

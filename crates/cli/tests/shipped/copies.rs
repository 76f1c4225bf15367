//! The program copies every dataset of the corpus and the fixtures as the library does, and back: to a third of the
//! kinds in turn, with `NCIRRUS_ALL_CASES` in the environment to all of them.
use super::sources::{self, Source};
use super::{is_large, none, run, str_of, whole};
use crate::fixtures::FIXTURES;
use crate::support::{difference, open, session, temp, values};
use ncirrus::{CreateOptions, Dataset, FileStructures, Kind, Session};
use ncirrus_testkit::sample::in_turn;
use ncirrus_tools::{CopyOptions, copy};
use std::path::Path;

/// Name of a kind, the kind, whether it can represent everything.
const KINDS: [(&str, Kind, bool); 8] = [
    ("nc3", Kind::Nc3, false),
    ("nc6", Kind::Nc6, false),
    ("nc5", Kind::Nc5, false),
    ("nc4c", Kind::Nc4Classic, false),
    ("zarr2", Kind::Zarr2, false),
    ("zarr3", Kind::Zarr3, true),
    ("nczarr", Kind::NcZarr, true),
    ("nc4", Kind::Nc4, true),
];

#[test]
fn nczarr_is_copied_as_the_library_does() {
    all(&sources::of("nczarr"));
}

#[test]
fn hdf5_is_copied_as_the_library_does() {
    all(&sources::of("hdf5"));
}

#[test]
fn aggregations_are_copied_as_the_library_does() {
    all(&sources::of("cfa"));
}

#[test]
fn real_data_are_copied_as_the_library_does() {
    all(&sources::of("realdata"));
}

#[test]
fn fixtures_are_copied_as_the_library_does() {
    let (session, (_folder, temp)) = (session(), temp());
    let forms = [("old", FileStructures::V18), ("new", FileStructures::V110)];
    let made = FIXTURES.iter().flat_map(|fixture| forms.map(|form| (fixture, form)));
    let source = |(fixture, (form, structures)): (&crate::fixtures::Fixture, (&str, FileStructures))| {
        let id = format!("{}-{form}.nc", fixture.name);
        let path = temp.join(&id);
        fixture.write(&path, structures, &session);
        Source { id, path }
    };
    all(&made.map(source).collect::<Vec<_>>());
}

fn all(sources: &[Source]) {
    let session = session();
    let mut failures = Vec::new();
    for (number, source) in sources.iter().enumerate() {
        let Ok(dataset) = open(&source.path, &session) else { continue };
        let (_folder, temp) = temp();
        let trip = Trip { source: &source.path, dataset, session: &session, temp: &temp };
        // Each is copied to every fifth kind, its neighbours to the others.
        let kinds = KINDS.iter().enumerate().filter(|(at, _)| in_turn(at + number, 5)).map(|(_, kind)| *kind);
        for (name, kind, holds_all) in kinds {
            let outcome = if is_large(&trip.dataset) {
                if holds_all { trip.same_values(name) } else { Ok(()) }
            } else {
                trip.same_text(name, kind, holds_all)
            };
            failures.extend(outcome.err().map(|reason| format!("{} to {name}: {reason}", source.id)));
        }
    }
    none(&failures);
}

/// A list that netCDF-C wrote as an attribute of the corpus and no JSON parser takes; and as it is in copies.
const NO_JSON: (&str, &str) = ("[0.,0.,1.]", "[0.0,0.0,1.0]");

/// A dataset to be copied.
struct Trip<'a> {
    source: &'a Path,
    dataset: Dataset,
    session: &'a Session,
    temp: &'a Path,
}

impl Trip<'_> {
    fn same_text(&self, name: &str, kind: Kind, holds_all: bool) -> Result<(), String> {
        let (theirs, ours) =
            (self.temp.join(format!("library.{name}")), self.temp.join(format!("program.{name}")));
        let create = CreateOptions::new().kind(kind);
        let options = CopyOptions::new().create(create);
        let copied = copy(&self.dataset, str_of(&theirs), &options, self.session);
        let run = run(&["copy", "-q", "--no-sync", "-k", name, str_of(self.source), str_of(&ours)]);
        if let Err(error) = copied {
            return match (run.is_done(), ours.exists()) {
                (false, false) => Ok(()),
                state => Err(format!("done and there {state:?}, where the library says: {error}")),
            };
        }
        if !run.is_done() {
            return Err(format!("exit code {:?}: {}", run.code, run.err));
        }
        difference(&whole(&self.open(&theirs)?)?, &whole(&self.open(&ours)?)?)?;
        // What could be read of a damaged dataset is in the copy.
        if holds_all && run.code == Some(0) { self.back(name, &ours) } else { Ok(()) }
    }

    fn back(&self, name: &str, copied: &Path) -> Result<(), String> {
        let back = self.temp.join(format!("back-{name}.zarr"));
        super::done(&["copy", "-q", "--no-sync", str_of(copied), str_of(&back)])?;
        let text = |dataset: &Dataset| Ok::<_, String>(whole(dataset)?.replace(NO_JSON.0, NO_JSON.1));
        difference(&text(&self.dataset)?, &text(&self.open(&back)?)?)
            .map_err(|reason| format!("back: {reason}"))
    }

    /// For large ones, the values of each variable.
    fn same_values(&self, name: &str) -> Result<(), String> {
        let ours = self.temp.join(format!("program.{name}"));
        super::done(&["copy", "-q", "--no-sync", "-k", name, str_of(self.source), str_of(&ours)])?;
        let copied = self.open(&ours)?;
        for variable in self.dataset.variables() {
            let path = variable.path();
            let read = |variable| values(variable).map_err(|error| format!("{path}: {error}"));
            let other = copied.variable(&path).map_err(|error| format!("{path}: {error}"))?;
            let (expected, got) = (read(&variable)?, read(&other)?);
            let is_same = match (expected.as_bytes(), got.as_bytes()) {
                (Some(expected), Some(got)) => expected == got,
                _ => expected == got,
            };
            if !is_same {
                return Err(format!("values of {path} differ"));
            }
        }
        Ok(())
    }

    fn open(&self, path: &Path) -> Result<Dataset, String> {
        open(path, self.session).map_err(|error| format!("{}: {error}", path.display()))
    }
}

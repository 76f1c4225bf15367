//! `cargo xtask release`: everything that is published, in `target/release-VERSION`, and each artefact tried where it will
//! be used. `docs/design/024-release.md` has the reasons.
mod crates;
mod deb;
mod elf;
mod licences;
mod lint;
mod linux;
mod report;
mod roots;
mod sbom;
mod stage;
mod tarball;
mod tools;
mod wheel;

use crate::run::{self, Outcome, target};
use report::{Part, StepOutput};
use std::path::PathBuf;
use std::time::Instant;

/// The version of all crates and packages.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A part of the recipe that can be run alone.
struct ReleaseStep {
    name: &'static str,
    about: &'static str,
    run: fn() -> Result<StepOutput, String>,
}

/// In this order: later steps use files of earlier ones, and build them again if they run alone.
const STEPS: &[ReleaseStep] = &[
    ReleaseStep {
        name: "tarball",
        about: "the command for any Linux from glibc 2.28 on",
        run: tarball::make,
    },
    ReleaseStep { name: "deb", about: "the Debian packages", run: deb::make },
    ReleaseStep { name: "wheel", about: "the sdist and the wheel", run: wheel::make },
    ReleaseStep { name: "sbom", about: "lists of what is linked in, as CycloneDX", run: sbom::make },
    ReleaseStep { name: "conda", about: "checks the conda recipe", run: lint::conda },
    ReleaseStep { name: "container", about: "checks the container file", run: lint::container },
    ReleaseStep { name: "crates", about: "publishes all crates, without uploading them", run: crates::check },
    ReleaseStep {
        name: "roots",
        about: "installs and uses the artefacts in fresh Debian systems",
        run: roots::check,
    },
];

/// Runs the named steps, or all of them. `--dirty` accepts changes that are not committed.
pub(crate) fn run(arguments: &[String]) -> Outcome {
    let (flags, names): (Vec<&String>, Vec<&String>) =
        arguments.iter().partition(|argument| argument.starts_with("--"));
    if let Some(flag) = flags.iter().find(|flag| **flag != "--dirty") {
        return Err(format!("unknown option {flag}"));
    }
    let steps = selected(&names)?;
    if flags.is_empty() {
        check_clean()?;
    }
    if names.is_empty() {
        remove_old()?;
    }
    create(&folder())?;
    let mut outcome = Ok(());
    for step in steps {
        println!("== release {}: {}", step.name, step.about);
        outcome = run_step(step);
        if outcome.is_err() {
            break;
        }
    }
    let order: Vec<&str> = STEPS.iter().map(|step| step.name).collect();
    let written = report::write(&folder(), &order);
    outcome.and(written)
}

/// Runs a step and records what it made, how long it took and what it checked.
fn run_step(step: &ReleaseStep) -> Outcome {
    let start = Instant::now();
    let made = (step.run)();
    let took = start.elapsed();
    let failed = match &made {
        Ok(made) => made.failures(),
        Err(message) => Err(message.clone()),
    };
    Part { made: made.unwrap_or_default(), took, failed: failed.clone().err() }.save(step.name)?;
    failed.map_err(|message| format!("{}: {message}", step.name))
}

fn selected(names: &[&String]) -> Result<Vec<&'static ReleaseStep>, String> {
    if names.is_empty() {
        return Ok(STEPS.iter().collect());
    }
    if let Some(unknown) = names.iter().find(|name| !STEPS.iter().any(|step| step.name == name.as_str())) {
        let known: Vec<&str> = STEPS.iter().map(|step| step.name).collect();
        return Err(format!("unknown step {unknown}; the steps are {}", known.join(", ")));
    }
    Ok(STEPS.iter().filter(|step| names.iter().any(|name| *name == step.name)).collect())
}

/// An artefact must be that of a commit.
fn check_clean() -> Outcome {
    let changed = run::output("git", &["status", "--porcelain"], &[])?;
    if changed.is_empty() {
        return Ok(());
    }
    Err(format!("files differ from the commit; commit them, or use --dirty:\n{}", changed.trim_end()))
}

/// The folder of the artefacts.
fn folder() -> PathBuf {
    target().join(format!("release-{VERSION}"))
}

fn remove_old() -> Outcome {
    for old in [folder(), report::parts()] {
        if old.exists() {
            std::fs::remove_dir_all(&old).map_err(|error| format!("{}: {error}", old.display()))?;
        }
    }
    Ok(())
}

fn create(folder: &std::path::Path) -> Outcome {
    std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))
}

/// The time of the commit, for files that must not depend on when they are made.
fn commit_time() -> Result<String, String> {
    Ok(run::output("git", &["log", "-1", "--format=%ct"], &[])?.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_selected_in_their_own_order() {
        let names = ["sbom".to_owned(), "tarball".to_owned()];
        let steps = selected(&names.iter().collect::<Vec<_>>()).unwrap_or_default();
        assert_eq!(steps.iter().map(|step| step.name).collect::<Vec<_>>(), ["tarball", "sbom"]);
        let wrong = "rpm".to_owned();
        assert!(selected(&[&wrong]).is_err_and(|message| message.contains("unknown step rpm")));
    }

    #[test]
    fn all_packages_have_one_version() {
        for (path, text) in [
            ("crates/capi/Cargo.toml", format!("libnetcdf-ncirrus (= {VERSION})")),
            ("packaging/conda/recipe.yaml", format!("version: \"{VERSION}\"\n")),
            ("packaging/Containerfile", format!("COPY ncirrus_{VERSION}_amd64.deb ")),
        ] {
            let file = std::fs::read_to_string(run::project().join(path)).unwrap_or_default();
            assert!(file.contains(&text), "{path}: has no {text}");
        }
        let manifest = std::fs::read_to_string(run::project().join("Cargo.toml")).unwrap_or_default();
        let own =
            manifest.lines().filter(|line| line.contains("path = \"crates/") && line.contains("version"));
        for line in own {
            assert!(line.contains(&format!("version = \"{VERSION}\"")), "{line}");
        }
    }
}

//! The tarball of the command.
use super::report::StepOutput;
use super::{VERSION, commit_time, create, folder, stage};
use crate::run::{self, Outcome, project, target};
use std::fs;
use std::path::Path;

/// Makes the tarball, and `THIRD-PARTY.md` beside it. Its bytes depend on the files alone.
pub(super) fn make() -> Result<StepOutput, String> {
    let stage = stage::command()?;
    let home = target().join("release-tarball");
    if home.exists() {
        fs::remove_dir_all(&home).map_err(|error| format!("{}: {error}", home.display()))?;
    }
    let top = home.join(format!("ncirrus-{VERSION}-x86_64-linux"));
    create(&top)?;
    for name in ["bin", "share"] {
        let from = stage.join(name);
        run::command("cp", &["-R", &from.to_string_lossy(), &top.to_string_lossy()], &[])?;
    }
    let documents = ["THIRD-PARTY.md", "RUST-LIBRARY.html"].map(|name| stage.join("doc").join(name));
    let own = stage::own_licences().into_iter().chain([project().join("README.md")]);
    for file in own.chain(documents).filter(|file| file.exists()) {
        stage::copy(&file, &top.join(file.file_name().unwrap_or_default()))?;
    }
    let name = name();
    pack(&home, &top, &folder().join(&name))?;
    stage::copy(&top.join("THIRD-PARTY.md"), &folder().join("THIRD-PARTY.md"))?;
    Ok(StepOutput::of([name, "THIRD-PARTY.md".to_owned()]))
}

/// The name of the tarball.
pub(super) fn name() -> String {
    format!("ncirrus-{VERSION}-x86_64-linux.tar.gz")
}

fn pack(home: &Path, top: &Path, tarball: &Path) -> Outcome {
    let (home, shown) = (home.to_string_lossy(), tarball.to_string_lossy());
    let top = top.file_name().unwrap_or_default().to_string_lossy();
    let time = format!("--mtime=@{}", commit_time()?);
    let same = ["--sort=name", &time, "--owner=0", "--group=0", "--numeric-owner"];
    let mode =
        ["--mode=u+rw,go+r-w,a+X", "--use-compress-program=gzip -9n", "-cf", &shown, "-C", &home, &top];
    run::command("tar", &[&same[..], &mode].concat(), &[])
}

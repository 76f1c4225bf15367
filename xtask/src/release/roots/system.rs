//! A fresh Debian system in a folder, in which programs run by `chroot`.
use crate::peers;
use crate::release::{create, folder};
use crate::run::{self, Outcome, project, target};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A system that is removed when it is no longer used. It has the artefacts in `/release` and the example in `/data`.
pub(super) struct System {
    folder: PathBuf,
    /// The packages of Debian that apt has fetched, which all systems of a release share.
    fetched: PathBuf,
}

/// Fails if systems cannot be made here.
pub(super) fn prepare() -> Outcome {
    if !peers::is_root() {
        return Err("debootstrap and chroot need root: run `cargo xtask release roots` as root".to_owned());
    }
    peers::debian(&[("debootstrap", "debootstrap")])
}

/// The folder of all systems.
pub(super) fn home() -> PathBuf {
    target().join("roots")
}

impl System {
    /// Unpacks a new system; the first one of a release of Debian is made by debootstrap.
    pub(super) fn fresh(suite: &str, purpose: &str) -> Result<Self, String> {
        let base = base(suite)?;
        let folder = home().join(format!("{suite}-{purpose}"));
        let fetched = home().join(format!("{suite}-packages"));
        remove(&folder)?;
        create(&folder)?;
        create(&fetched)?;
        let system = Self { folder, fetched };
        run::command("tar", &["-xf", &text(&base), "-C", &text(&system.folder)], &[])?;
        system.copy_artefacts()?;
        system.put(&project().join("examples/sst.nc"), "data/sst.nc")?;
        // Names are resolved as on this machine.
        system.put(Path::new("/etc/resolv.conf"), "etc/resolv.conf")?;
        // dpkg waits until its files are on the disk, and otherwise for all of those above as well.
        run::command("sync", &["-f", &text(&system.folder)], &[])?;
        Ok(system)
    }

    fn copy_artefacts(&self) -> Outcome {
        let from = folder();
        for entry in fs::read_dir(&from).map_err(|error| at(&from, &error))?.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if [".deb", ".whl", ".tar.gz"].iter().any(|ending| name.ends_with(ending)) {
                self.put(&entry.path(), &format!("release/{name}"))?;
            }
        }
        Ok(())
    }

    /// Copies a file into the system.
    pub(super) fn put(&self, from: &Path, to: &str) -> Outcome {
        let to = self.folder.join(to);
        to.parent().map_or(Ok(()), create)?;
        fs::copy(from, &to)
            .map(|_| ())
            .map_err(|error| format!("{} to {}: {error}", from.display(), to.display()))
    }

    /// Installs packages of Debian, which are fetched.
    pub(super) fn install(&self, packages: &[&str]) -> Outcome {
        self.run("apt-get -qq update", &[])?;
        let install = format!("apt-get -qq install --yes --no-install-recommends {}", packages.join(" "));
        self.run(&install, &[]).map(|_| ())
    }

    /// What a script for `sh` prints that succeeds.
    pub(super) fn run(&self, script: &str, arguments: &[&str]) -> Result<String, String> {
        let output = self.command(script, arguments).output().map_err(|error| format!("chroot: {error}"))?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        let said =
            [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text).trim().to_owned());
        let said = said.join("\n");
        let lines: Vec<&str> = said.lines().collect();
        Err(format!("{}: {}", output.status, lines[lines.len().saturating_sub(20)..].join("\n")))
    }

    /// What a script prints to both of its outputs, and its exit code.
    pub(super) fn transcribe(&self, script: &str) -> Result<(String, i32), String> {
        let output = self
            .command(&format!("exec 2>&1\n{script}"), &[])
            .output()
            .map_err(|error| format!("chroot: {error}"))?;
        Ok((String::from_utf8_lossy(&output.stdout).into_owned(), output.status.code().unwrap_or(-1)))
    }

    /// The process table and the packages that apt has fetched before are mounted for the program alone, so that nothing
    /// remains mounted.
    fn command(&self, script: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new("unshare");
        command.args(["--mount", "sh", "-c", ENTER, "enter"]).arg(&self.folder).arg(&self.fetched);
        command.arg(script).args(arguments);
        command.env_clear().envs(ENVIRONMENT);
        command
    }
}

const ENTER: &str =
    "mount -t proc proc \"$1/proc\" && mount --bind \"$2\" \"$1/var/cache/apt/archives\" || exit
folder=$1; script=$3; shift 3
exec chroot \"$folder\" /bin/sh -ec \"$script\" sh \"$@\"";

/// All variables in a system.
const ENVIRONMENT: [(&str, &str); 5] = [
    ("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"),
    ("HOME", "/root"),
    ("LANG", "C.UTF-8"),
    ("DEBIAN_FRONTEND", "noninteractive"),
    ("TERM", "dumb"),
];

impl Drop for System {
    fn drop(&mut self) {
        // The next one of this name removes it.
        _ = remove(&self.folder);
    }
}

fn remove(folder: &Path) -> Outcome {
    if folder.exists() { fs::remove_dir_all(folder).map_err(|error| at(folder, &error)) } else { Ok(()) }
}

/// The archive of a system as debootstrap makes it.
pub(super) fn base(suite: &str) -> Result<PathBuf, String> {
    let archive = home().join(format!("{suite}.tar"));
    if archive.exists() {
        return Ok(archive);
    }
    let (part, unfinished) = (home().join(format!("{suite}.part")), home().join(format!("{suite}.tar.part")));
    remove(&part)?;
    create(&home())?;
    println!("making a system of {suite}");
    let settings = apt_settings()?;
    let (folder, mirror) = (text(&part), mirror()?);
    let bootstrap = ["--variant=minbase", suite, &folder, &mirror];
    run::output("debootstrap", &[&bootstrap[..], script_of(suite)].concat(), &[])?;
    let path = part.join("etc/apt/apt.conf.d/01release");
    fs::write(&path, settings).map_err(|error| at(&path, &error))?;
    run::command("tar", &["-cf", &text(&unfinished), "-C", &text(&part), "."], &[])?;
    remove(&part)?;
    fs::rename(&unfinished, &archive).map_err(|error| at(&archive, &error))?;
    Ok(archive)
}

/// The script of debootstrap, where it may be older than the release of Debian and have none under its name. Those of all
/// recent releases are the same.
fn script_of(suite: &str) -> &'static [&'static str] {
    let is_known = Path::new("/usr/share/debootstrap/scripts").join(suite).exists();
    if is_known { &[] } else { &["/usr/share/debootstrap/scripts/sid"] }
}

/// The mirror that this machine's apt uses.
fn mirror() -> Result<String, String> {
    let targets = ["indextargets", "--format", "$(ORIGIN)/$(LABEL) $(REPO_URI)", "Created-By: Packages"];
    let all = run::output("apt-get", &targets, &[])?;
    // The label of security updates is `Debian-Security`; repositories of others have other origins.
    let first = all.lines().find_map(|line| line.strip_prefix("Debian/Debian "));
    first
        .map(str::to_owned)
        .ok_or_else(|| "apt has no mirror of Debian; `apt-get update` may help".to_owned())
}

/// Those of this machine's settings of apt on which access to the mirror depends.
fn apt_settings() -> Result<String, String> {
    let all = run::output("apt-config", &["dump"], &[])?;
    let names = [
        "Acquire::Check-Valid-Until ",
        "Acquire::Check-Date ",
        "Acquire::http::Proxy ",
        "Acquire::https::Proxy ",
    ];
    let kept = all.lines().filter(|line| names.iter().any(|name| line.starts_with(name)));
    Ok(kept.map(|line| format!("{line}\n")).collect())
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

fn at(path: &Path, error: &std::io::Error) -> String {
    format!("{}: {error}", path.display())
}

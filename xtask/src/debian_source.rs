//! Source packages of Debian, whose tests are run with programs and libraries of ours.
use crate::run::{Outcome, command_in, target};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// The folder of an unpacked source, without Debian's patches. It is fetched into cargo's folder when it is not there.
pub(crate) fn unpacked(package: &str) -> Result<PathBuf, String> {
    let home = target().join("debian-source");
    let source = home.join(package);
    if source.exists() {
        return Ok(source);
    }
    fetch(&home, package)?;
    let archive = archive(&home, package)?;
    // Whatever is interrupted is done again.
    let part = home.join(format!("{package}.part"));
    _ = fs::remove_dir_all(&part);
    fs::create_dir_all(&part).map_err(|error| format!("{}: {error}", part.display()))?;
    let archive = archive.to_string_lossy();
    command_in(&part, "tar", &["xf", &archive, "--strip-components=1"])?;
    fs::rename(&part, &source).map_err(|error| format!("{}: {error}", source.display()))?;
    Ok(source)
}

fn archive(home: &Path, package: &str) -> Result<PathBuf, String> {
    let entries = fs::read_dir(home).map_err(|error| format!("{}: {error}", home.display()))?;
    let mut names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let name = names.find(|name| name.starts_with(&format!("{package}_")) && name.contains(".orig.tar."));
    name.map(|name| home.join(name)).ok_or_else(|| format!("{}: apt left no {package}", home.display()))
}

/// Asks apt for the archive of a source, by lists of its own: the machine's are left as they are.
pub(crate) fn fetch(home: &Path, package: &str) -> Outcome {
    for folder in ["apt/lists/partial", "apt/parts"] {
        let folder = home.join(folder);
        fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    let list = home.join("apt/sources.list");
    let deb822 = home.join("apt/parts/debian.sources");
    let both = [
        (Path::new("/etc/apt/sources.list"), &list, "deb ", "deb-src "),
        (Path::new("/etc/apt/sources.list.d/debian.sources"), &deb822, "Types: deb", "Types: deb-src"),
    ];
    for (from, to, binary, source) in both {
        let mut text = String::new();
        for line in fs::read_to_string(from).unwrap_or_default().lines() {
            let line = line.strip_prefix(binary).map_or(line.to_owned(), |rest| format!("{source}{rest}"));
            _ = writeln!(text, "{line}");
        }
        fs::write(to, text).map_err(|error| format!("{}: {error}", to.display()))?;
    }
    let options = [
        format!("Dir::Etc::sourcelist={}", list.display()),
        format!("Dir::Etc::sourceparts={}", home.join("apt/parts").display()),
        format!("Dir::State::lists={}", home.join("apt/lists").display()),
    ];
    let ask = |rest: &[&str]| {
        let mut all: Vec<&str> = vec!["-qq"];
        options.iter().for_each(|option| all.extend(["-o", option]));
        all.extend(rest);
        command_in(home, "apt-get", &all)
    };
    ask(&["update"])?;
    ask(&["source", "--download-only", "--tar-only", package])
}

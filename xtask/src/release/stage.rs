//! The files of the tarball and of the Debian packages, laid out in one folder.
use super::{VERSION, create, licences, linux, tools};
use crate::run::{self, Outcome, project, target};
use crate::{capi, peers};
use std::fs;
use std::path::{Path, PathBuf};

/// The folder with the files. It is below the folder that cargo builds in, where cargo-deb finds it by a path that does
/// not depend on the machine.
pub(super) fn folder() -> PathBuf {
    target().join(linux::TRIPLE).join("release/stage")
}

/// Builds the command and lays out what comes with it: `bin`, `share`, `doc`.
pub(super) fn command() -> Result<PathBuf, String> {
    let (built, stage) = (linux::build()?, folder());
    let bin = stage.join("bin");
    create(&bin)?;
    let program = bin.join("ncirrus");
    strip(&built.join("ncirrus"), &program, &[])?;
    linux::check(&program)?;
    manual(&program, &stage.join("share/man/man1"))?;
    for (shell, name) in COMPLETIONS {
        let script = run::output(&program.to_string_lossy(), &["completions", shell], &[])?;
        let path = stage.join("share").join(name);
        path.parent().map_or(Ok(()), create)?;
        write(&path, &script)?;
    }
    documents(&stage.join("doc"))?;
    Ok(stage)
}

/// Shells, and where they look for completions below `share`.
const COMPLETIONS: &[(&str, &str)] = &[
    ("bash", "bash-completion/completions/ncirrus"),
    ("zsh", "zsh/vendor-completions/_ncirrus"),
    ("fish", "fish/vendor_completions.d/ncirrus.fish"),
];

/// Pages of commands that no longer exist must not remain.
fn manual(program: &Path, folder: &Path) -> Outcome {
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    create(folder)?;
    run::command(&program.to_string_lossy(), &["manual", &folder.to_string_lossy()], &[])
}

/// Compressed copies of the manual pages in `man`, for the Debian package: cargo-deb compresses only files that it does not
/// take from cargo's build folder.
pub(super) fn compress_manual() -> Outcome {
    let (from, to) = (folder().join("share/man/man1"), folder().join("man"));
    if to.exists() {
        fs::remove_dir_all(&to).map_err(|error| format!("{}: {error}", to.display()))?;
    }
    run::command("cp", &["-R", &from.to_string_lossy(), &to.to_string_lossy()], &[])?;
    run::command("gzip", &["-9nr", &to.to_string_lossy()], &[])
}

/// Licences, and what Debian wants in each package.
fn documents(folder: &Path) -> Outcome {
    create(folder)?;
    write(&folder.join("THIRD-PARTY.md"), &licences::text()?)?;
    if let Some(notices) = licences::of_standard_library()? {
        copy(&notices, &folder.join("RUST-LIBRARY.html"))?;
    }
    write(&folder.join("copyright"), &copyright())?;
    let changes = folder.join("changelog");
    write(&changes, &changelog()?)?;
    run::command("gzip", &["-9nf", &changes.to_string_lossy()], &[])
}

/// Lays out the C library: `lib`, `include`, `pkgconfig`, `cmake`, and the documents.
pub(super) fn library() -> Result<PathBuf, String> {
    let (built, stage) = (linux::build()?, folder());
    let (lib, include) = (stage.join("lib"), stage.join("include"));
    for folder in [&lib, &include, &stage.join("pkgconfig"), &stage.join("cmake")] {
        create(folder)?;
    }
    let shared = lib.join("libnetcdf.so.19");
    strip(&built.join("libncirrus_netcdf.so"), &shared, &["--strip-unneeded"])?;
    linux::check(&shared)?;
    for name in ["libncirrus_netcdf.so", "libnetcdf.so"] {
        capi::link("libnetcdf.so.19", &lib.join(name))?;
    }
    newer_name(&shared, &lib.join("libnetcdf.so.22"))?;
    strip(&built.join("libncirrus_netcdf.a"), &lib.join("libnetcdf.a"), ONLY_CODE)?;
    let headers = tools::helpers()?.join(run::program("ncirrus-netcdf-headers"));
    run::command(&headers.to_string_lossy(), &[&include.to_string_lossy()], &[])?;
    for (from, to) in FILES {
        write(&stage.join(to), &for_debian(from, capi::file(from)?)?)?;
    }
    documents(&stage.join("doc"))?;
    Ok(stage)
}

/// Links a library that has only a name, that of netCDF-C 4.9.3 and later, and the other library as its dependency. A link
/// would not do: ldconfig enters libraries under the names that they have inside.
fn newer_name(shared: &Path, library: &Path) -> Outcome {
    let python = peers::release_python()?;
    let empty = library.with_extension("c");
    write(&empty, "")?;
    let target = format!("x86_64-linux-gnu.{}.{}", linux::OLDEST.0, linux::OLDEST.1);
    let (empty_name, from, to) =
        (empty.to_string_lossy(), shared.to_string_lossy(), library.to_string_lossy());
    let link = ["-m", "ziglang", "cc", "-target", &target, "-shared", "-nostdlib", "-Wl,-s,--no-as-needed"];
    let names = ["-Wl,-soname,libnetcdf.so.22,-rpath,$ORIGIN", "-o", &to, &empty_name, &from];
    if library.is_symlink() {
        // The linker would write into the other library.
        fs::remove_file(library).map_err(|error| format!("{}: {error}", library.display()))?;
    }
    let linked = run::command(&python.to_string_lossy(), &[&link[..], &names].concat(), &[]);
    fs::remove_file(&empty).map_err(|error| format!("{}: {error}", empty.display()))?;
    linked
}

/// More than half of the static library is bitcode, which only rustc could use to optimise again.
const ONLY_CODE: &[&str] = &["--strip-debug", "--remove-section=.llvmbc", "--remove-section=.llvmcmd"];

/// Files of an installation, and where they are in the folder.
const FILES: &[(&str, &str)] = &[
    ("lib/pkgconfig/netcdf.pc", "pkgconfig/netcdf-ncirrus.pc"),
    ("lib/cmake/netCDF/netCDFConfig.cmake", "cmake/netCDFConfig.cmake"),
    ("lib/cmake/netCDF/netCDFConfigVersion.cmake", "cmake/netCDFConfigVersion.cmake"),
    ("include/netcdf_meta.h", "include/netcdf_meta.h"),
];

/// The folder of the library in Debian, beside Debian's own.
pub(super) const LIBRARY: &str = "/usr/lib/x86_64-linux-gnu/ncirrus";
/// The folder of the headers in Debian.
const HEADERS: &str = "/usr/include/ncirrus-netcdf";

/// A file of an installation below one prefix, with the folders of the Debian packages. Programs find the library by
/// their run path: it is not among the folders of the system unless an administrator has chosen it.
fn for_debian(name: &str, text: String) -> Result<String, String> {
    let changes: &[(&str, String)] = if name.ends_with(".pc") {
        &[
            ("prefix=PREFIX_HERE", "prefix=/usr".to_owned()),
            ("libdir=${prefix}/lib", format!("libdir={LIBRARY}")),
            ("includedir=${prefix}/include", format!("includedir={HEADERS}")),
            ("Libs: -L${libdir}", "Libs: -L${libdir} -Wl,-rpath,${libdir}".to_owned()),
        ]
    } else if name.ends_with("Config.cmake") {
        &[
            ("\"${CMAKE_CURRENT_LIST_DIR}/../../..\"", "\"/usr\"".to_owned()),
            ("${netCDF_INSTALL_PREFIX}/include", HEADERS.to_owned()),
            ("${netCDF_INSTALL_PREFIX}/lib", LIBRARY.to_owned()),
        ]
    } else {
        &[]
    };
    changes.iter().try_fold(text, |text, (from, to)| {
        if text.contains(from) { Ok(text.replace(from, to)) } else { Err(format!("{name}: has no {from}")) }
    })
}

/// Copies a program or library without what only debuggers read.
fn strip(from: &Path, to: &Path, options: &[&str]) -> Outcome {
    let (from, to) = (from.to_string_lossy(), to.to_string_lossy());
    run::command("strip", &[options, &["-o", &to, &from]].concat(), &[])
        .map_err(|error| format!("strip is needed (Debian's package binutils): {error}"))
}

/// In Debian's format. The licences of what is linked in are in a document of their own.
fn copyright() -> String {
    "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n\
     Upstream-Name: ncirrus\n\
     Source: https://github.com/ncirrus/ncirrus\n\
     Comment: THIRD-PARTY.md in this folder has the licences of the software that is linked in.\n\n\
     Files: *\n\
     Copyright: 2026 the ncirrus developers\n\
     License: Apache-2.0 or Expat\n\n\
     License: Apache-2.0\n On Debian systems its text is in /usr/share/common-licenses/Apache-2.0.\n\n\
     License: Expat\n"
        .to_owned()
        + &indented(include_str!("../../../LICENSE-MIT"))
}

/// A text as a field of a control file: empty lines are dots.
fn indented(text: &str) -> String {
    text.lines()
        .map(|line| if line.trim().is_empty() { " .\n".to_owned() } else { format!(" {line}\n") })
        .collect()
}

/// In Debian's format.
fn changelog() -> Result<String, String> {
    let date = run::output("git", &["log", "-1", "--format=%cD"], &[])?;
    Ok(format!(
        "ncirrus ({VERSION}) unstable; urgency=medium\n\n  * Release {VERSION}; CHANGELOG.md lists the changes.\n\n \
         -- {MAINTAINER}  {}\n",
        date.trim()
    ))
}

/// As in the manifests of the crates.
const MAINTAINER: &str = "the ncirrus developers <maintainers@ncirrus.invalid>";

pub(super) fn copy(from: &Path, to: &Path) -> Outcome {
    fs::copy(from, to).map(|_| ()).map_err(|error| format!("{} to {}: {error}", from.display(), to.display()))
}

fn write(path: &Path, text: &str) -> Outcome {
    fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}

/// The licences of the project.
pub(super) fn own_licences() -> [PathBuf; 2] {
    ["LICENSE-APACHE", "LICENSE-MIT"].map(|name| project().join(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_an_installation_name_the_folders_of_debian() {
        for (name, _) in FILES {
            let text = for_debian(name, capi::file(name).unwrap_or_default()).unwrap_or_default();
            assert!(!text.is_empty() && !text.contains("_HERE"), "{name}: {text}");
        }
        let name = "lib/pkgconfig/netcdf.pc";
        let text = for_debian(name, capi::file(name).unwrap_or_default()).unwrap_or_default();
        assert!(text.contains("libdir=/usr/lib/x86_64-linux-gnu/ncirrus\n"), "{text}");
        assert!(text.contains("-Wl,-rpath,${libdir} -lnetcdf"), "{text}");
    }

    #[test]
    fn empty_lines_of_a_field_are_dots() {
        assert_eq!(indented("a\n\nb\n"), " a\n .\n b\n");
    }
}

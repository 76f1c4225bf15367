//! Installs the C library: `cargo xtask capi PREFIX`.
use crate::run::{Outcome, cargo, command, program, target};
use std::fs;
use std::path::{Path, PathBuf};

/// The version of the interface, which programs ask for.
const VERSION: &str = "4.9.0";

/// Builds the library as it ships and puts it, its headers and the files by which build systems find it below a folder.
pub(crate) fn install(arguments: &[String]) -> Outcome {
    let [prefix] = arguments else { return Err("name the folder to install to".to_owned()) };
    let prefix = std::path::absolute(prefix).map_err(|error| format!("{prefix}: {error}"))?;
    build(&["--bin", HEADERS])?;
    install_built(&prefix, &target().join("release").join(program(HEADERS)))
}

/// Installs for the tests: as [`install`], but the headers are written by the program that the tests were built with, as
/// another one would be linked with the whole library again.
pub(crate) fn install_for_tests(prefix: &Path) -> Outcome {
    build(&[])?;
    build_checked()?;
    install_built(prefix, &target().join("checked").join(program(HEADERS)))
}

/// Writes the headers into a folder.
const HEADERS: &str = "ncirrus-netcdf-headers";

/// Puts what is built below a folder.
fn install_built(prefix: &Path, headers: &Path) -> Outcome {
    let include = prefix.join("include");
    for folder in ["include", "lib/pkgconfig", "lib/cmake/netCDF", "bin"] {
        let folder = prefix.join(folder);
        fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    let (built, lib, bin) = (target().join("release"), prefix.join("lib"), prefix.join("bin"));
    command(&headers.to_string_lossy(), &[&include.to_string_lossy()], &[])?;
    copy(&built.join("libncirrus_netcdf.so"), &lib.join("libncirrus_netcdf.so"))?;
    copy(&built.join("libncirrus_netcdf.a"), &lib.join("libnetcdf.a"))?;
    for name in ["libnetcdf.so", "libnetcdf.so.19", "libnetcdf.so.22"] {
        link("libncirrus_netcdf.so", &lib.join(name))?;
    }
    for (name, _) in FILES {
        write(&prefix.join(name), &file(name)?.replace("PREFIX_HERE", &prefix.to_string_lossy()))?;
    }
    executable(&bin.join("nc-config"))?;
    // The program itself lies beside its links: what is installed needs no folder of cargo's.
    let ncirrus = bin.join(program("ncirrus"));
    copy(&built.join(program("ncirrus")), &ncirrus)?;
    command(&ncirrus.to_string_lossy(), &["link", &bin.to_string_lossy()], &[])
}

/// Builds the program and the C library as they ship, at once, so that all crates have the same features. Further targets can
/// be named.
pub(crate) fn build(targets: &[&str]) -> Outcome {
    let packages = ["--package", "ncirrus-cli", "--package", "ncirrus-capi", "--lib", "--bin", "ncirrus"];
    cargo(&[&["build", "--quiet", "--release"], &packages[..], targets].concat())
}

/// The library and the program that writes its headers, as the tests build them: nothing is compiled for a recipe alone.
pub(crate) fn build_checked() -> Outcome {
    let targets = ["--lib", "--tests", "--bin", HEADERS];
    cargo(&[&["build", "--quiet", "--profile", "checked", "--workspace"], &targets[..]].concat())
}

/// The folder in which programs find the library as it ships: of what was installed below a folder, or what is built now.
pub(crate) fn library_folder(prefix: Option<&String>) -> Result<PathBuf, String> {
    let prefix = match prefix {
        Some(prefix) => PathBuf::from(prefix),
        None => {
            let prefix = target().join("prefix");
            install(&[prefix.to_string_lossy().into_owned()])?;
            prefix
        }
    };
    let folder = prefix.join("lib");
    // Without it, programs would load the system's library unnoticed.
    let library = folder.join("libnetcdf.so.19");
    fs::metadata(&library).map_err(|error| format!("{}: {error}", library.display()))?;
    fs::canonicalize(&folder).map_err(|error| format!("{}: {error}", folder.display()))
}

/// The files by which programs and build systems find the library.
const FILES: [(&str, &str); 6] = [
    ("lib/pkgconfig/netcdf.pc", include_str!("capi/netcdf.pc")),
    ("lib/cmake/netCDF/netCDFConfig.cmake", include_str!("capi/netCDFConfig.cmake")),
    ("lib/cmake/netCDF/netCDFConfigVersion.cmake", include_str!("capi/netCDFConfigVersion.cmake")),
    ("lib/libnetcdf.settings", include_str!("capi/libnetcdf.settings")),
    ("include/netcdf_meta.h", include_str!("capi/netcdf_meta.h")),
    ("bin/nc-config", include_str!("capi/nc-config.sh")),
];

/// The text of one of these files; the folder is still to be put in the place of `PREFIX_HERE`.
pub(crate) fn file(name: &str) -> Result<String, String> {
    let found = FILES.iter().find(|(known, _)| *known == name);
    found
        .map(|(_, text)| text.replace("VERSION_HERE", VERSION))
        .ok_or_else(|| format!("{name} is not installed"))
}

fn copy(from: &Path, to: &Path) -> Outcome {
    fs::copy(from, to).map(|_| ()).map_err(|error| format!("{} to {}: {error}", from.display(), to.display()))
}

fn write(path: &Path, text: &str) -> Outcome {
    fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}

#[cfg(unix)]
pub(crate) fn link(to: &str, path: &Path) -> Outcome {
    if path.is_symlink() {
        fs::remove_file(path).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    std::os::unix::fs::symlink(to, path).map_err(|error| format!("{}: {error}", path.display()))
}

#[cfg(not(unix))]
pub(crate) fn link(to: &str, path: &Path) -> Outcome {
    path.parent().map_or(Ok(()), |folder| copy(&folder.join(to), path))
}

/// A folder in which a library has the name that programs load.
pub(crate) fn linked_folder(folder: &Path, library: &Path) -> Result<PathBuf, String> {
    fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    link(&library.to_string_lossy(), &folder.join("libnetcdf.so.19"))?;
    Ok(folder.to_owned())
}

#[cfg(unix)]
pub(crate) fn executable(path: &Path) -> Outcome {
    use std::os::unix::fs::PermissionsExt;
    let all = fs::Permissions::from_mode(0o755);
    fs::set_permissions(path, all).map_err(|error| format!("{}: {error}", path.display()))
}

#[cfg(not(unix))]
pub(crate) fn executable(_: &Path) -> Outcome {
    Ok(())
}

//! Installs the C library: `cargo xtask capi PREFIX`.
use crate::run::{Outcome, cargo, target};
use std::fs;
use std::path::Path;

/// The version of the interface, which programs ask for.
const VERSION: &str = "4.9.0";

/// Builds the library as it ships and puts it, its headers and the files by which build systems find it below a folder.
pub(crate) fn install(arguments: &[String]) -> Outcome {
    let [prefix] = arguments else { return Err("name the folder to install to".to_owned()) };
    let prefix = std::path::absolute(prefix).map_err(|error| format!("{prefix}: {error}"))?;
    cargo(&["build", "--package", "ncirrus-capi", "--release"])?;
    let include = prefix.join("include");
    for folder in ["include", "lib/pkgconfig", "lib/cmake/netCDF", "bin"] {
        let folder = prefix.join(folder);
        fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    let headers = ["run", "--package", "ncirrus-capi", "--release", "--example", "headers", "--"];
    cargo(&[&headers[..], &[&include.to_string_lossy()]].concat())?;
    let (built, lib) = (target().join("release"), prefix.join("lib"));
    copy(&built.join("libncirrus_netcdf.so"), &lib.join("libncirrus_netcdf.so"))?;
    copy(&built.join("libncirrus_netcdf.a"), &lib.join("libnetcdf.a"))?;
    for name in ["libnetcdf.so", "libnetcdf.so.19", "libnetcdf.so.22"] {
        link("libncirrus_netcdf.so", &lib.join(name))?;
    }
    write(&lib.join("pkgconfig/netcdf.pc"), &package_config(&prefix))?;
    write(&lib.join("cmake/netCDF/netCDFConfig.cmake"), CMAKE)?;
    let cmake_version = CMAKE_VERSION.replace("VERSION_HERE", VERSION);
    write(&lib.join("cmake/netCDF/netCDFConfigVersion.cmake"), &cmake_version)?;
    let script = prefix.join("bin/nc-config");
    write(
        &script,
        &NC_CONFIG.replace("PREFIX_HERE", &prefix.to_string_lossy()).replace("VERSION_HERE", VERSION),
    )?;
    executable(&script)
}

/// What `pkg-config` says; the static library needs the system's own ones.
fn package_config(prefix: &Path) -> String {
    format!(
        "prefix={}\nlibdir=${{prefix}}/lib\nincludedir=${{prefix}}/include\n\nName: netCDF\n\
         Description: netCDF for C, by ncirrus\nVersion: {VERSION}\nLibs: -L${{libdir}} -lnetcdf\n\
         Libs.private: -lpthread -ldl -lm -lgcc_s\nCflags: -I${{includedir}}\n",
        prefix.display()
    )
}

fn copy(from: &Path, to: &Path) -> Outcome {
    fs::copy(from, to).map(|_| ()).map_err(|error| format!("{} to {}: {error}", from.display(), to.display()))
}

fn write(path: &Path, text: &str) -> Outcome {
    fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}

#[cfg(unix)]
fn link(to: &str, path: &Path) -> Outcome {
    if path.is_symlink() {
        fs::remove_file(path).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    std::os::unix::fs::symlink(to, path).map_err(|error| format!("{}: {error}", path.display()))
}

#[cfg(not(unix))]
fn link(to: &str, path: &Path) -> Outcome {
    path.parent().map_or(Ok(()), |folder| copy(&folder.join(to), path))
}

#[cfg(unix)]
fn executable(path: &Path) -> Outcome {
    use std::os::unix::fs::PermissionsExt;
    let all = fs::Permissions::from_mode(0o755);
    fs::set_permissions(path, all).map_err(|error| format!("{}: {error}", path.display()))
}

#[cfg(not(unix))]
fn executable(_: &Path) -> Outcome {
    Ok(())
}

const CMAKE: &str = r#"# Found relative to this file.
get_filename_component(_netcdf_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(netCDF_INCLUDE_DIR "${_netcdf_prefix}/include")
set(netCDF_LIB_DIR "${_netcdf_prefix}/lib")
set(netCDF_LIBRARIES netCDF::netcdf)
set(netCDF_FOUND TRUE)
if(NOT TARGET netCDF::netcdf)
  add_library(netCDF::netcdf SHARED IMPORTED)
  set_target_properties(netCDF::netcdf PROPERTIES
    IMPORTED_LOCATION "${netCDF_LIB_DIR}/libnetcdf.so"
    IMPORTED_SONAME "libnetcdf.so.19"
    INTERFACE_INCLUDE_DIRECTORIES "${netCDF_INCLUDE_DIR}")
endif()
"#;

const CMAKE_VERSION: &str = r#"set(PACKAGE_VERSION "VERSION_HERE")
if(PACKAGE_VERSION VERSION_LESS PACKAGE_FIND_VERSION)
  set(PACKAGE_VERSION_COMPATIBLE FALSE)
else()
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
  if(PACKAGE_FIND_VERSION VERSION_EQUAL PACKAGE_VERSION)
    set(PACKAGE_VERSION_EXACT TRUE)
  endif()
endif()
"#;

const NC_CONFIG: &str = r#"#!/bin/sh
# How programs are compiled with the C library of ncirrus.
prefix='PREFIX_HERE'
[ $# -gt 0 ] || { echo "usage: nc-config OPTION.." >&2; exit 1; }
for option; do
  case "$option" in
    --prefix) echo "$prefix" ;;
    --includedir) echo "$prefix/include" ;;
    --libdir) echo "$prefix/lib" ;;
    --version) echo "netCDF VERSION_HERE" ;;
    --cc) echo "cc" ;;
    --cflags) echo "-I$prefix/include" ;;
    --libs) echo "-L$prefix/lib -lnetcdf" ;;
    --static) echo "-lpthread -ldl -lm -lgcc_s" ;;
    --has-nc4|--has-hdf5|--has-nczarr|--has-cdf5|--has-szlib|--has-quantize) echo yes ;;
    --has-*) echo no ;;
    *) echo "unknown option: $option" >&2; exit 1 ;;
  esac
done
"#;

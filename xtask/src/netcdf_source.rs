//! Debian's source package of netCDF-C, unpacked and configured: its tests are run with programs and libraries of ours.
use crate::debian_source::fetch;
use crate::run::{command_in, target};
use std::path::{Path, PathBuf};

/// The version that Debian 12 has, whose behaviour is the reference.
const VERSION: &str = "4.9.0";

/// Where Debian puts the serial HDF5, which the test programs are linked with.
const HDF5: [&str; 2] = ["/usr/include/hdf5/serial", "/usr/lib/x86_64-linux-gnu/hdf5/serial"];

/// The folder of the configured source. It is fetched by apt into cargo's folder when it is not there.
pub(crate) fn configured() -> Result<PathBuf, String> {
    let home = target().join("netcdf-source");
    let source = home.join(format!("netcdf-c-{VERSION}"));
    if source.join("config.h").exists() {
        return Ok(source);
    }
    crate::peers::debian(&[("m4", "m4"), ("nc-config", "libnetcdf-dev"), ("cc", "gcc")])?;
    fetch(&home, "netcdf")?;
    let archive = format!("netcdf_{VERSION}.orig.tar.gz");
    command_in(&home, "tar", &["xzf", &archive])?;
    let flags = [format!("CPPFLAGS=-I{}", HDF5[0]), format!("LDFLAGS=-L{}", HDF5[1])];
    let off = ["dap", "byterange", "doxygen", "libxml2", "shared"].map(|name| format!("--disable-{name}"));
    let arguments: Vec<&str> = off.iter().chain(&flags).map(String::as_str).chain(["--quiet"]).collect();
    command_in(&source, "./configure", &arguments)?;
    Ok(source)
}

/// Compiles a test program of a folder of the source against Debian's library. `false`: it does not compile.
pub(crate) fn compile(source: &Path, folder: &str, program: &str, others: &[&str]) -> Result<bool, String> {
    let main = format!("{program}.c");
    let mut arguments =
        vec!["-w".to_owned(), "-O1".to_owned(), "-DHAVE_CONFIG_H".to_owned(), "-I.".to_owned()];
    for include in ["", "include", "libnczarr", "libsrc4", "libsrc"] {
        arguments.push(format!("-I{}", source.join(include).display()));
    }
    arguments.push(format!("-I{}", HDF5[0]));
    for name in ["TOPSRCDIR", "TOPBINDIR"] {
        arguments.push(format!("-D{name}=\"{}\"", source.display()));
    }
    arguments.extend(["-o", program, &main].map(str::to_owned));
    arguments.extend(others.iter().map(|other| (*other).to_owned()));
    arguments.push(format!("-L{}", HDF5[1]));
    arguments.extend(["-lnetcdf", "-lhdf5_hl", "-lhdf5", "-lm"].map(str::to_owned));
    let output = std::process::Command::new("cc")
        .args(&arguments)
        .current_dir(source.join(folder))
        .output()
        .map_err(|error| format!("cc cannot be run: {error}"))?;
    Ok(output.status.success())
}

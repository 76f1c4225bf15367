//! Programs in C that are compiled with the package for development, beside Debian's own.
use super::system::System;
use super::{Checks, equal};
use crate::release::{deb, stage};
use crate::run::{Outcome, project};

/// Compiles a program through pkg-config and CMake, with the shared and the static library.
pub(super) fn check(suite: &str, checks: &mut Checks) -> Outcome {
    let system = System::fresh(suite, "development")?;
    system.install(&["gcc", "libc6-dev", "pkg-config", "cmake", "make", "libnetcdf-dev"])?;
    let name = deb::file("libnetcdf-ncirrus-dev");
    let install = format!(
        "apt-get -qq install --yes --no-install-recommends /release/{} /release/{name}",
        deb::file("libnetcdf-ncirrus")
    );
    let installed = system.run(&install, &[]).map(|_| String::new());
    if !checks.add(&name, "installed beside Debian's libnetcdf-dev", installed) {
        return Ok(());
    }
    system.put(&project().join("crates/capi/tests/installed/small.c"), "work/small.c")?;
    system.put(&project().join("xtask/src/release/roots/CMakeLists.txt"), "work/CMakeLists.txt")?;
    for (what, script) in [
        (
            "pkg-config, shared",
            "cc -Wall -Werror -o /work/shared small.c $(pkg-config --cflags --libs netcdf-ncirrus)",
        ),
        ("pkg-config, static", STATIC),
        ("CMake, shared", CMAKE),
        ("CMake, static", "cp /work/build/static /work/static"),
    ] {
        let program = if what.ends_with("shared") { "/work/shared" } else { "/work/static" };
        let outcome = system.run(&format!("cd /work && {script}"), &[]).and_then(|_| {
            let output = system.run("\"$1\" /tmp", &[program])?;
            equal(&output, "7 8 9\nsame version: 1\nncirrus: 1\n")?;
            let libraries =
                system.run("ldd \"$1\" | sed -n 's/^[[:space:]]*\\(libnetcdf.*\\) (.*/\\1/p'", &[program])?;
            let expected = format!("libnetcdf.so.19 => {}/libnetcdf.so.19\n", stage::LIBRARY);
            equal(&libraries, if what.ends_with("shared") { &expected } else { "" })
        });
        checks.add(&name, &format!("a program in C: {what}"), outcome);
    }
    Ok(())
}

const STATIC: &str = "cc -Wall -Werror -o /work/static small.c $(pkg-config --cflags netcdf-ncirrus) \
    $(pkg-config --variable=libdir netcdf-ncirrus)/libnetcdf.a -lpthread -ldl -lm";

const CMAKE: &str = "cmake -S . -B build -DnetCDF_DIR=/usr/lib/x86_64-linux-gnu/ncirrus/cmake/netCDF && cmake --build build \
    && cp build/shared /work/shared";

//! The C library under Debian's own programs: `ncdump`, NCO and CDO.
use super::system::System;
use super::{Checks, equal};
use crate::release::{deb, stage};
use crate::run::Outcome;

/// Runs Debian's programs on Debian's library, and on ours, chosen in both ways.
pub(super) fn check(suite: &str, checks: &mut Checks) -> Outcome {
    let system = System::fresh(suite, "library")?;
    system.install(&["netcdf-bin", "nco", "cdo"])?;
    system.run("nccopy -k nc4 -d 1 -s -c time/1,lat/18,lon/36 /data/sst.nc /data/sst4.nc", &[])?;
    let own = operations(&system, "")?;
    let name = deb::file("libnetcdf-ncirrus");
    let install = "apt-get -qq install --yes --no-install-recommends \"/release/$1\"";
    if !checks.add_installation(&name, || system.run(install, &[&name])) {
        return Ok(());
    }
    let mut compare = |what: &str, before: &str, variables: &str, is_ours: bool| {
        let outcome =
            system.run(before, &[]).and_then(|_| operations(&system, variables)).and_then(|found| {
                check_loaded(&found.loaded, is_ours)?;
                equal(&found.printed, &own.printed)?;
                Ok(format!("{} lines, on {}", found.printed.lines().count(), found.loaded.join(" ")))
            });
        checks.add(&name, what, outcome);
    };
    compare("ncdump, NCO, CDO: Debian's library stays the default", "true", "", false);
    let path = format!("LD_LIBRARY_PATH={}", stage::LIBRARY);
    compare("ncdump, NCO, CDO on ours by LD_LIBRARY_PATH: the same values", "true", &path, true);
    let choose = "update-alternatives --set libnetcdf /usr/share/libnetcdf-ncirrus/ncirrus.conf && ldconfig";
    compare("ncdump, NCO, CDO on ours by alternatives: the same values", choose, "", true);
    let again = "update-alternatives --auto libnetcdf && ldconfig";
    compare("ncdump, NCO, CDO: Debian's library is chosen again", again, "", false);
    // Removed while ours is the system's choice.
    let remove = format!(
        "{choose} && apt-get -qq purge --yes libnetcdf-ncirrus && ! ls /etc/ld.so.conf.d/00-libnetcdf.conf"
    );
    compare("ncdump, NCO, CDO: removal restores Debian's library", &remove, "", false);
    Ok(())
}

/// What Debian's programs printed, and the libraries that they loaded.
struct Results {
    printed: String,
    loaded: Vec<String>,
}

fn operations(system: &System, variables: &str) -> Result<Results, String> {
    let printed = system.run(OPERATIONS, &[variables])?;
    let loaded = system.run("cat /tmp/loaded", &[])?;
    Ok(Results { printed, loaded: loaded.lines().map(str::to_owned).collect() })
}

const OPERATIONS: &str = include_str!("operations.sh");

fn check_loaded(loaded: &[String], is_ours: bool) -> Outcome {
    let ours = |path: &String| path.starts_with(stage::LIBRARY);
    if !loaded.is_empty() && loaded.iter().all(|path| ours(path) == is_ours) {
        return Ok(());
    }
    Err(format!("loaded {loaded:?}"))
}

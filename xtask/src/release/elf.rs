//! What a program or library needs of the system that it runs on, by `objdump`.
use crate::run;
use std::path::Path;

/// Fails if a file needs a newer glibc, or another library than those of glibc.
pub(super) fn check(file: &Path, oldest: (u32, u32)) -> Result<String, String> {
    let shown = file.to_string_lossy();
    let objdump = |option: &str| {
        run::output("objdump", &[option, &shown], &[])
            .map_err(|error| format!("objdump is needed (Debian's package binutils): {error}"))
    };
    let newest = newest_glibc(&objdump("-T")?).ok_or_else(|| format!("{shown}: no symbol of glibc"))?;
    let named = |(major, minor): (u32, u32)| format!("{major}.{minor}");
    if newest > oldest {
        return Err(format!("{shown}: needs glibc {}, not {}", named(newest), named(oldest)));
    }
    let headers = objdump("-p")?;
    if let Some(other) = needed(&headers).find(|name| !OF_GLIBC.contains(name)) {
        return Err(format!("{shown}: needs {other}, which is not part of glibc"));
    }
    Ok(format!("newest symbol of glibc: {}", named(newest)))
}

/// Every Linux with glibc has them.
const OF_GLIBC: &[&str] =
    &["libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1", "ld-linux-x86-64.so.2"];

/// The newest version of glibc that a table of symbols names.
fn newest_glibc(table: &str) -> Option<(u32, u32)> {
    let versions = table.split("GLIBC_").skip(1).filter_map(|rest| {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let mut numbers = rest[..end].split('.').map(|number| number.parse().ok());
        Some((numbers.next()??, numbers.next()??))
    });
    versions.max()
}

/// The libraries that a file asks the loader for.
fn needed(headers: &str) -> impl Iterator<Item = &str> {
    headers.lines().filter_map(|line| line.trim().strip_prefix("NEEDED")).map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_version_is_found_by_number() {
        let table = "0 DF *UND* 0 (GLIBC_2.9) a\n0 DF *UND* 0 (GLIBC_2.28) b\n0 DF *UND* 0 (GLIBC_2.2.5) c\n\
                     0 DF *UND* 0 (GLIBC_PRIVATE) d\n";
        assert_eq!(newest_glibc(table), Some((2, 28)));
        assert_eq!(newest_glibc("0 g DF .text 10 Base main\n"), None);
    }

    #[test]
    fn needed_libraries_are_listed() {
        let headers =
            "Dynamic Section:\n  NEEDED               libm.so.6\n  SONAME               libnetcdf.so.19\n";
        assert_eq!(needed(headers).collect::<Vec<_>>(), ["libm.so.6"]);
    }
}

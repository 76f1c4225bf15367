//! The sources and their precedence.
mod files;
mod http;
mod netcdf;
mod properties;
mod s3netcdf;
mod show;

use super::*;
use rstest::rstest;
use std::fs;
use tempfile::TempDir;

/// A home folder with files in it.
pub(super) fn home(files: &[(&str, &str)]) -> TempDir {
    let home = TempDir::new().unwrap();
    for (name, text) in files {
        let path = home.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    home
}

/// The settings from the files in a home folder and some variables.
pub(super) fn gathered(home: &TempDir, variables: &[(&str, &str)]) -> ConfigSettings {
    let environment = ProcessEnvironment::default().at_home(home.path());
    let environment = variables.iter().fold(environment, |all, (name, value)| all.with(name, value));
    ConfigSettings::gather(environment, None).unwrap()
}

/// An origin without the folder in front.
pub(super) fn origin_of(settings: &ConfigSettings, key: ConfigKey, home: &TempDir) -> String {
    let origin = settings.origin(key).map(ToString::to_string).unwrap_or_default();
    origin.replace(&format!("{}/", home.path().display()), "")
}

/// Which source wins: whether the variable, the configuration file, netCDF's, S3netCDF4's are present; the expected
/// value and its origin.
#[rstest]
#[case([true, true, true, true], Some((1 << 30, "NCIRRUS_MEMORY")), Some((10, "NCIRRUS_TIMEOUT")))]
#[case([false, true, true, true], Some((2 << 30, ".config/ncirrus/config.toml:2")), Some((20, ".config/ncirrus/config.toml:1")))]
#[case([false, false, true, true], Some((4_000_000_000, ".s3nc.json:2")), Some((30, ".ncrc:2")))]
#[case([false, false, false, true], Some((4_000_000_000, ".s3nc.json:2")), None)]
#[case([false, false, false, false], None, None)]
fn the_first_source_that_says_something_counts(
    #[case] sources: [bool; 4],
    #[case] memory: Option<(u64, &str)>,
    #[case] timeout: Option<(u64, &str)>,
) {
    let [variable, own, netcdf, s3netcdf] = sources;
    let files = [
        (own, (".config/ncirrus/config.toml", "timeout = 20\nmemory = \"2G\"\n")),
        (netcdf, (".ncrc", "# seconds\nHTTP.TIMEOUT=30\n")),
        (s3netcdf, (".s3nc.json", "{\"version\": \"9\", \"resource_allocation\": {\n\"memory\": \"4GB\"}}")),
    ];
    let files: Vec<_> = files.into_iter().filter(|(is_there, _)| *is_there).map(|(_, file)| file).collect();
    let home = home(&files);
    let variables: &[_] = &[("NCIRRUS_MEMORY", "1G"), ("NCIRRUS_TIMEOUT", "10s")];
    let settings = gathered(&home, if variable { variables } else { &[] });
    assert_eq!(settings.size(ConfigKey::Memory), memory.map(|(size, _)| size));
    assert_eq!(origin_of(&settings, ConfigKey::Memory, &home), memory.map_or("", |(_, origin)| origin));
    assert_eq!(
        settings.duration(ConfigKey::Timeout),
        timeout.map(|(seconds, _)| Duration::from_secs(seconds))
    );
    assert_eq!(origin_of(&settings, ConfigKey::Timeout, &home), timeout.map_or("", |(_, origin)| origin));
    assert_eq!(settings.warnings(), [""; 0]);
}

#[rstest]
#[case("0", 0)]
#[case("512B", 512)]
#[case("2G", 2 << 30)]
#[case("2GiB", 2 << 30)]
#[case("50MB", 50_000_000)]
#[case("1.5 kB", 1500)]
#[case("3PB", 3_000_000_000_000_000)]
#[case("1EB", 1_000_000_000_000_000_000)]
fn sizes(#[case] text: &str, #[case] bytes: u64) {
    assert_eq!(parse_size(text), Ok(bytes));
}

#[rstest]
#[case("")]
#[case("M")]
#[case("-1")]
#[case("1 lot")]
#[case("1.2.3M")]
#[case("99EiB")]
#[case("nan")]
fn no_sizes(#[case] text: &str) {
    assert!(parse_size(text).is_err());
}

#[rstest]
#[case("30", 30_000)]
#[case("1.5", 1_500)]
#[case("500ms", 500)]
#[case("2m", 120_000)]
#[case("1h", 3_600_000)]
fn times(#[case] text: &str, #[case] milliseconds: u64) {
    assert_eq!(parse_duration(text), Ok(Duration::from_millis(milliseconds)));
}

#[rstest]
#[case("")]
#[case("-1s")]
#[case("soon")]
#[case("1e300h")]
fn no_times(#[case] text: &str) {
    assert!(parse_duration(text).is_err());
}

#[test]
fn each_key_has_its_row() {
    for key in ConfigKey::all() {
        assert_eq!(ConfigKey::named(key.name()), Some(key));
        assert!(!key.meaning().is_empty());
    }
}

#[test]
fn each_key_and_its_variables_stand_in_the_documentation() {
    let page = include_str!("../../../docs/configuration.md");
    for key in ConfigKey::all() {
        let row = page.lines().find(|line| line.starts_with(&format!("| `{key}` |")));
        let row = row.unwrap_or_else(|| panic!("{key} is not in the table"));
        for name in key.variables() {
            assert!(row.contains(&format!("`{name}`")), "{name} of {key}");
        }
    }
}

#[test]
fn a_variable_that_cannot_be_understood_is_a_warning() {
    let settings =
        ConfigSettings::of_environment(ProcessEnvironment::default().with("NCIRRUS_MEMORY", "much"));
    assert_eq!(settings.size(ConfigKey::Memory), None);
    assert_eq!(settings.warnings(), ["NCIRRUS_MEMORY: memory: \"much\" is not a size such as 500M or 2G"]);
}

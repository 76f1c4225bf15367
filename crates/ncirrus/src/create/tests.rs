//! What a configuration says about new datasets.
use super::*;
use crate::ErrorKind;
use ncirrus_config::{ConfigFormat, ProcessEnvironment};
use std::path::Path;

fn settings(consolidated: &str, rc: &str) -> ConfigSettings {
    let environment = ProcessEnvironment::default().with("NCZARR_CONSOLIDATED", consolidated);
    let mut settings = ConfigSettings::of_environment(environment);
    settings.read(ConfigFormat::NetCdf, rc, Path::new(".ncrc")).unwrap();
    settings
}

const RC: &str = "ZARR.DIMENSION_SEPARATOR=/\n[https://h.org]ZARR.DIMENSION_SEPARATOR=.\n[https://odd.org]ZARR.DIMENSION_SEPARATOR=-";

#[test]
fn the_configuration_says_what_the_options_do_not() {
    let made = |options: CreateOptions, url: &str, consolidated: &str| {
        let options = options.configured(&Url::parse(url).unwrap(), &settings(consolidated, RC)).unwrap();
        (options.consolidated, options.separator)
    };
    let default = CreateOptions::default;
    assert_eq!(made(default(), "file:///a#mode=nczarr", ""), (true, Some('/')));
    assert_eq!(made(default(), "https://h.org/a", "yes"), (true, Some('.')));
    assert_eq!(made(default(), "a.zarr", "0"), (false, Some('/')));
    assert_eq!(made(default(), "file:///a#mode=nczarr,consolidated", "0"), (true, Some('/')));
    let chosen = default().separator('.').consolidated(false);
    assert_eq!(made(chosen, "a.zarr", "1"), (false, Some('.')));
}

#[test]
fn a_separator_that_is_none_is_told_with_its_place() {
    let (options, lengths) = (CreateOptions::default(), StringLengths::default());
    let error = options.resolve("https://odd.org/a.zarr", &lengths, &settings("", RC)).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert!(error.to_string().contains(".ncrc:3"), "{error}");
}

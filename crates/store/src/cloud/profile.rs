//! Profiles in Amazon's configuration files (`nczarr.md` 9.6).
use super::build::configuration_file;
use ncirrus_layout::{Error, Result};
use std::collections::BTreeMap;

/// The settings of a profile.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Profile(BTreeMap<String, String>);

impl Profile {
    pub(super) fn value(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str).filter(|value| !value.is_empty())
    }
}

/// Largest file that is looked at.
const LARGEST: u64 = 1 << 20;

/// The profile of that name in the user's files; those of the credentials file go before those of the other.
pub(super) fn find(name: &str, must_exist: bool) -> Result<Option<Profile>> {
    let files = [("AWS_CONFIG_FILE", ".aws/config"), ("AWS_SHARED_CREDENTIALS_FILE", ".aws/credentials")];
    let mut found = None;
    for path in files.into_iter().filter_map(|(variable, default)| configuration_file(variable, default)) {
        let is_small = std::fs::metadata(&path).is_ok_and(|metadata| metadata.len() <= LARGEST);
        if let Some(text) = is_small.then(|| std::fs::read_to_string(&path).ok()).flatten() {
            merge(&mut found, &text, name);
        }
    }
    match found {
        None if must_exist => {
            Err(Error::invalid(format!("there is no profile {name:?} in the aws configuration")))
        }
        found => Ok(found),
    }
}

/// Adds the settings of a profile that stand in a file: `[name]` or `[profile name]`, then `key = value`. Comments start
/// with `#` or `;`; values go to the end of the line; what is indented belongs to a nested block and is left out.
pub(super) fn merge(found: &mut Option<Profile>, text: &str, name: &str) {
    let mut is_inside = false;
    for line in text.lines() {
        let header = line.trim().strip_prefix('[').and_then(|rest| rest.split_once(']'));
        if let Some((header, _)) = header {
            let header = header.trim();
            let its_name = header.strip_prefix("profile ").map_or(header, str::trim);
            is_inside = its_name == name;
            if is_inside {
                found.get_or_insert_default();
            }
            continue;
        }
        let is_setting = is_inside && !line.starts_with([' ', '\t', '#', ';']);
        if let Some((key, value)) = line.split_once('=').filter(|_| is_setting) {
            let settings = &mut found.get_or_insert_default().0;
            settings.insert(key.trim().to_ascii_lowercase(), without_comment(value).to_owned());
        }
    }
}

/// A comment behind a value starts with a blank.
fn without_comment(value: &str) -> &str {
    let end = value.find(" #").or_else(|| value.find(" ;")).unwrap_or(value.len());
    value.get(..end).unwrap_or(value).trim()
}

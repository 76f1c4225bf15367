//! Profiles in Amazon's configuration files (docs/spec/nczarr.md 9.6), with the syntax of Amazon's tools.
#[cfg(test)]
mod tests;

use ncirrus_config::{ProcessEnvironment, ValueOrigin};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The contents of both files.
#[derive(Debug, Default, Clone)]
pub(crate) struct ProfileFiles {
    sections: BTreeMap<(ProfileSection, String), CredentialProfile>,
    /// The files that were looked for.
    files: Vec<PathBuf>,
    /// What was ignored.
    pub(crate) warnings: Vec<String>,
}

/// The kind of a section.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ProfileSection {
    Profile,
    SsoSession,
    Services,
}

/// The settings of a section. The keys of nested blocks are prefixed with the name of the block: `s3.endpoint_url`.
#[derive(Default, Clone, PartialEq, Eq)]
pub(crate) struct CredentialProfile(BTreeMap<String, (String, Option<ValueOrigin>)>);

impl CredentialProfile {
    pub(crate) fn value(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(|(value, _)| value.as_str()).filter(|value| !value.is_empty())
    }

    /// Where a setting is defined.
    pub(crate) fn origin(&self, key: &str) -> String {
        self.0.get(key).and_then(|(_, origin)| origin.as_ref()).map(ToString::to_string).unwrap_or_default()
    }

    fn set(&mut self, key: &str, value: &str, origin: Option<ValueOrigin>) {
        self.0.insert(key.trim().to_ascii_lowercase(), (without_comment(value).to_owned(), origin));
    }
}

/// Only names of settings: values may be secret.
impl std::fmt::Debug for CredentialProfile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Profile({:?})", self.0.keys())
    }
}

impl ProfileFiles {
    /// The user's files; settings in the credentials file override those in the other.
    pub(crate) fn read(environment: &ProcessEnvironment) -> Self {
        let mut profiles = Self::default();
        let files = [("AWS_CONFIG_FILE", ".aws/config"), ("AWS_SHARED_CREDENTIALS_FILE", ".aws/credentials")];
        for path in files.into_iter().filter_map(|(variable, default)| environment.file(variable, default)) {
            match environment.text(&path) {
                Ok(Some(text)) => profiles.take(&text, &path),
                Ok(None) => {}
                Err(why) => profiles.warnings.push(format!("{}: {why}", path.display())),
            }
            profiles.files.push(path);
        }
        profiles
    }

    /// The section of that kind and name.
    pub(crate) fn find(&self, section: ProfileSection, name: &str) -> Option<&CredentialProfile> {
        self.sections.get(&(section, name.to_owned()))
    }

    /// The names of the files, for messages.
    pub(crate) fn places(&self) -> String {
        self.files.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
    }

    /// Adds the sections of a file: `[name]`, `[profile name]`, `[sso-session name]` or `[services name]`, then
    /// `key = value`. Comments start with `#` or `;`. Lines indented more than the key above belong to it.
    pub(crate) fn take(&mut self, text: &str, path: &Path) {
        let mut section: Option<(ProfileSection, String)> = None;
        // The key above: its indentation, and its name if it has no value.
        let mut above: Option<(usize, Option<String>)> = None;
        for (at, line) in text.lines().enumerate() {
            let content = line.trim();
            if content.is_empty() || content.starts_with(['#', ';']) {
                continue;
            }
            let indent = line.len() - line.trim_start().len();
            let is_below = above.as_ref().is_some_and(|(above, _)| indent > *above);
            if let Some(header) = content.strip_prefix('[').filter(|_| !is_below) {
                section = header.split_once(']').and_then(|(header, _)| named(header));
                above = None;
                if let Some(name) = &section {
                    self.sections.entry(name.clone()).or_default();
                }
                continue;
            }
            let settings = section.as_ref().and_then(|name| self.sections.get_mut(name));
            let (Some(settings), Some((key, value))) = (settings, content.split_once(['=', ':'])) else {
                continue;
            };
            let origin = Some(ValueOrigin::File(path.to_owned(), Some(at + 1)));
            match &above {
                Some((_, Some(block))) if is_below => {
                    settings.set(&format!("{block}.{}", key.trim()), value, origin);
                }
                // A value that continues on the next line.
                Some((_, None)) if is_below => {}
                _ => {
                    settings.set(key, value, origin);
                    above = Some((indent, value.trim().is_empty().then(|| key.trim().to_owned())));
                }
            }
        }
    }
}

/// The section that a header names.
fn named(header: &str) -> Option<(ProfileSection, String)> {
    let header = header.trim();
    let (kind, name) = header.split_once(char::is_whitespace).unwrap_or(("", header));
    let (section, name) = match kind {
        "profile" => (ProfileSection::Profile, name),
        "sso-session" => (ProfileSection::SsoSession, name),
        "services" => (ProfileSection::Services, name),
        "preview" | "plugins" => return None,
        _ => (ProfileSection::Profile, header),
    };
    let name = name.trim();
    let quoted = ['"', '\''].into_iter().find_map(|mark| name.strip_prefix(mark)?.strip_suffix(mark));
    Some((section, quoted.unwrap_or(name).to_owned()))
}

/// A comment behind a value must follow a blank.
fn without_comment(value: &str) -> &str {
    let end = [" #", " ;", "\t#", "\t;"].iter().filter_map(|mark| value.find(mark)).min();
    value.get(..end.unwrap_or(value.len())).unwrap_or(value).trim()
}

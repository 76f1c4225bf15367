//! Names of datasets as written in descriptions.
use crate::keywords::pairs;
use crate::subject::OpenChoices;
use ncirrus_layout::{Error, Result};
use ncirrus_model::Attributes;
use std::collections::BTreeMap;
use std::sync::Arc;

#[cfg(test)]
mod tests;

/// The values of `${NAME}` in names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct NameSubstitutions(BTreeMap<String, String>);

impl NameSubstitutions {
    /// Those of the caller.
    pub(crate) fn of_caller(choices: &OpenChoices) -> Self {
        Self(choices.substitutions.clone())
    }

    /// Those of the caller, then those of the variable of names (CFA-0.6.2).
    ///
    /// # Errors
    /// `Malformed` if the attribute is not a list of pairs.
    pub(crate) fn new(choices: &OpenChoices, attributes: &Attributes) -> Result<Self> {
        let mut all = Self::of_caller(choices);
        let Some(attribute) = attributes.find("substitutions") else { return Ok(all) };
        let text = attribute.as_text();
        let text = text.ok_or_else(|| Error::malformed("the attribute substitutions is not text"))?;
        for (name, value) in pairs(&text)? {
            all.0.entry(bare(&name).to_owned()).or_insert(value);
        }
        Ok(all)
    }

    /// The name with all substitutions; `${NAME}` stays if it has no value.
    pub(crate) fn apply(&self, name: &str) -> Arc<str> {
        if self.0.is_empty() || !name.contains("${") {
            return Arc::from(name);
        }
        let mut whole = String::with_capacity(name.len());
        let mut rest = name;
        while let Some((before, after)) = rest.split_once("${") {
            whole.push_str(before);
            match after.split_once('}').and_then(|(name, after)| Some((self.0.get(name)?, after))) {
                Some((value, after)) => {
                    whole.push_str(value);
                    rest = after;
                }
                None => {
                    whole.push_str("${");
                    rest = after;
                }
            }
        }
        whole.push_str(rest);
        Arc::from(whole)
    }
}

/// The name of a substitution, which may be written as `${NAME}`.
pub(crate) fn bare(name: &str) -> &str {
    name.strip_prefix("${").and_then(|name| name.strip_suffix('}')).unwrap_or(name)
}

/// Whether a name is a URL: it begins with a scheme (RFC 3986, 3.1).
pub(crate) fn has_scheme(name: &str) -> bool {
    let Some((scheme, _)) = name.split_once(':') else { return false };
    // One letter is a drive, not a scheme.
    scheme.len() > 1
        && scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.chars().all(|char| char.is_ascii_alphanumeric() || "+-.".contains(char))
}

/// A name below the base of a CFA-0.4 or 0.5 description (docs/spec/cfa.md 2.2).
pub(crate) fn join(base: Option<&str>, name: &str) -> String {
    match base.filter(|base| !base.is_empty()) {
        Some(base) if !has_scheme(name) && !name.starts_with('/') => {
            format!("{}/{name}", base.trim_end_matches('/'))
        }
        _ => name.to_owned(),
    }
}

/// Refuses formats of sub-arrays that are not netCDF (docs/spec/cfa.md 2.3, 4.1).
///
/// # Errors
/// `Unsupported` with the format.
pub(crate) fn check_format(format: Option<&str>) -> Result<()> {
    let Some(format) = format else { return Ok(()) };
    let lower = format.trim().to_ascii_lowercase();
    if lower.is_empty() || lower == "nc" || lower.starts_with("netcdf") {
        return Ok(());
    }
    Err(Error::unsupported(format!("fragments in the format {format:?}")))
}

//! Addresses in parts, as netCDF's own programs change them.

/// The parts of an address with a scheme.
#[derive(Debug)]
pub(crate) struct UriParts {
    /// Everything before `#`.
    pub(crate) before: String,
    /// Keys and values after it; no value for a key alone.
    pub(crate) fragment: Vec<(String, Option<String>)>,
}

impl UriParts {
    /// `None` for what has no scheme: a path.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let (before, fragment) = text.split_once('#').unwrap_or((text, ""));
        let (scheme, rest) = before.split_once("://")?;
        let is_scheme =
            scheme.len() > 1 && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'+');
        if !is_scheme || rest.is_empty() {
            return None;
        }
        let pair = |part: &str| match part.split_once('=') {
            Some((key, value)) => (key.to_owned(), Some(value.to_owned())),
            None => (part.to_owned(), None),
        };
        let fragment = fragment.split('&').filter(|part| !part.is_empty()).map(pair).collect();
        Some(Self { before: before.to_owned(), fragment })
    }

    /// The whole address.
    pub(crate) fn build(&self) -> String {
        let pair = |(key, value): &(String, Option<String>)| match value {
            Some(value) => format!("{key}={value}"),
            None => key.clone(),
        };
        let fragment: Vec<String> = self.fragment.iter().map(pair).collect();
        let hash = if fragment.is_empty() { "" } else { "#" };
        format!("{}{hash}{}", self.before, fragment.join("&"))
    }
}

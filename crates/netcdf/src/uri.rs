//! Addresses in parts, as netCDF's own programs change them.

/// The parts of an address with a scheme.
#[derive(Debug)]
pub struct UriParts {
    /// Everything before `#`.
    pub before: String,
    /// Keys and values after it; no value for a key alone.
    pub fragment: Vec<(String, Option<String>)>,
}

impl UriParts {
    /// `None` for what has no scheme: a path.
    pub fn parse(text: &str) -> Option<Self> {
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
    pub fn build(&self) -> String {
        let pair = |(key, value): &(String, Option<String>)| match value {
            Some(value) => format!("{key}={value}"),
            None => key.clone(),
        };
        let fragment: Vec<String> = self.fragment.iter().map(pair).collect();
        let hash = if fragment.is_empty() { "" } else { "#" };
        format!("{}{hash}{}", self.before, fragment.join("&"))
    }

    /// Adds a key to the part after `#`; a value is joined to the one that the key has.
    pub fn append_key(&mut self, key: String, value: Option<String>) {
        match (self.fragment.iter_mut().find(|(known, _)| *known == key), value) {
            (Some((_, old)), Some(value)) => {
                *old = Some(old.as_ref().map_or_else(|| value.clone(), |old| format!("{old},{value}")));
            }
            (Some(_), None) => {}
            (None, value) => self.fragment.push((key, value)),
        }
    }

    /// The last part of the path, without its extension.
    pub fn stem(&self) -> &str {
        let before = self.before.split('?').next().unwrap_or_default();
        let last = before.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        last.rsplit_once('.').map_or(last, |(stem, _)| stem)
    }
}

#[cfg(test)]
mod tests {
    use super::UriParts;

    #[test]
    fn addresses_are_taken_apart_and_put_together() {
        let mut parts = UriParts::parse("https://host/a/b.nc?x=1#mode=zarr&s3").unwrap();
        assert_eq!(parts.stem(), "b");
        parts.append_key("mode".to_owned(), Some("v2".to_owned()));
        parts.append_key("new".to_owned(), None);
        assert_eq!(parts.build(), "https://host/a/b.nc?x=1#mode=zarr,v2&s3&new");
        assert!(UriParts::parse("a/b.nc").is_none() && UriParts::parse("c://x").is_none());
    }
}

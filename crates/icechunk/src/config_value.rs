//! The values of configurations, whatever form these are stored in.

/// A value of a configuration.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ConfigValue {
    Null,
    Text(String),
    Map(Vec<(String, ConfigValue)>),
    /// A value that nothing here depends on.
    Other,
}

impl ConfigValue {
    pub(crate) fn member(&self, key: &str) -> Option<&Self> {
        self.entries().iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    pub(crate) fn entries(&self) -> &[(String, Self)] {
        match self {
            Self::Map(entries) => entries,
            _ => &[],
        }
    }

    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }
}

//! Values and where they came from.
use std::fmt;
use std::path::PathBuf;

/// A value and where it came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigValue<T> {
    /// The value.
    pub value: T,
    /// Where it came from.
    pub origin: ValueOrigin,
}

/// Where a value came from.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum ValueOrigin {
    /// An environment variable.
    Variable(String),
    /// A file; its first line is 1. `None` is the file as a whole.
    File(PathBuf, Option<usize>),
    /// The address of the dataset: its host, or a key of its fragment.
    Url(&'static str),
    /// The program: an option of the session or of the command.
    Program,
    /// Not set.
    Default,
}

impl fmt::Display for ValueOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Variable(name) => f.write_str(name),
            Self::File(path, None) => write!(f, "{}", path.display()),
            Self::File(path, Some(line)) => write!(f, "{}:{line}", path.display()),
            Self::Url(part) => write!(f, "{part} of the URL"),
            Self::Program => f.write_str("the program"),
            Self::Default => f.write_str("default"),
        }
    }
}

/// A text that is never displayed.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SecretText(String);

impl SecretText {
    /// Wraps a text so that it is not displayed.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text, for sending it to the server that it belongs to.
    pub fn exposed(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for SecretText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl fmt::Display for SecretText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

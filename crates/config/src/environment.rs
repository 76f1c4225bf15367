//! What is read from the process: variables, folders, files.
use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

/// What is read from the process: variables and folders. Tests provide their own.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct ProcessEnvironment {
    variables: BTreeMap<String, String>,
    home: Option<PathBuf>,
    folder: Option<PathBuf>,
    maker: Option<String>,
}

/// Size limit of files that are read.
const LARGEST: u64 = 1 << 20;
/// Where Linux reports the manufacturer of the machine.
const MAKER: &str = "/sys/class/dmi/id/sys_vendor";

impl ProcessEnvironment {
    /// The environment of the process.
    pub fn of_process() -> Self {
        let pair = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        };
        Self {
            variables: std::env::vars_os().filter_map(pair).collect(),
            home: std::env::home_dir().filter(|home| !home.as_os_str().is_empty()),
            folder: std::env::current_dir().ok(),
            maker: fs::read_to_string(MAKER).ok(),
        }
    }

    /// Sets a variable.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.variables.insert(name.to_owned(), value.to_owned());
        self
    }

    /// Sets the home folder.
    #[must_use]
    pub fn at_home(self, home: impl Into<PathBuf>) -> Self {
        Self { home: Some(home.into()), ..self }
    }

    /// Sets the current folder.
    #[must_use]
    pub fn in_folder(self, folder: impl Into<PathBuf>) -> Self {
        Self { folder: Some(folder.into()), ..self }
    }

    /// Sets the manufacturer of the machine, as reported by its firmware.
    #[must_use]
    pub fn made_by(self, maker: &str) -> Self {
        Self { maker: Some(maker.to_owned()), ..self }
    }

    /// The value of a variable that is set and not empty.
    pub fn variable(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// All non-empty variables whose names begin with the prefix.
    pub fn variables<'a>(&'a self, start: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        let variables = self.variables.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        variables.filter(move |(name, value)| name.starts_with(start) && !value.is_empty())
    }

    /// Whether a variable is set, even if empty.
    pub fn is_set(&self, name: &str) -> bool {
        self.variables.contains_key(name)
    }

    /// The user's home folder.
    pub fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    /// The current folder.
    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// Expands a path as users write it: `~` is the home folder.
    pub fn expanded(&self, path: &str) -> PathBuf {
        match (path.strip_prefix('~'), &self.home) {
            (Some(""), Some(home)) => home.clone(),
            (Some(rest), Some(home)) if rest.starts_with('/') => home.join(rest.trim_start_matches('/')),
            _ => PathBuf::from(path),
        }
    }

    /// The file that a variable names, else one below the home folder.
    pub fn file(&self, variable: &str, below_home: &str) -> Option<PathBuf> {
        match self.variable(variable) {
            Some(path) => Some(self.expanded(path)),
            None => Some(self.home.as_ref()?.join(below_home)),
        }
    }

    /// The text of a file; `None` if it does not exist.
    pub fn text(&self, path: &Path) -> Result<Option<String>, String> {
        let file = match fs::File::open(path) {
            Ok(file) => file,
            Err(error) if ncirrus_store::fault::is_absence(&error) => return Ok(None),
            Err(error) => return Err(error.to_string()),
        };
        let mut text = String::new();
        match file.take(LARGEST + 1).read_to_string(&mut text) {
            Ok(len) if len as u64 > LARGEST => Err(format!("has more than {LARGEST} bytes")),
            Ok(_) => Ok(Some(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Whether Amazon's instance metadata service can be expected to answer.
    pub fn is_at_amazon(&self) -> bool {
        let is_off = self
            .variable("AWS_EC2_METADATA_DISABLED")
            .is_some_and(|value| value.eq_ignore_ascii_case("true"));
        let is_named = self.variable("AWS_EC2_METADATA_SERVICE_ENDPOINT").is_some();
        !is_off && (is_named || self.maker.as_deref().is_some_and(|maker| maker.starts_with("Amazon EC2")))
    }
}

/// Only names of variables: values may be secret.
impl fmt::Debug for ProcessEnvironment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Environment({:?})", self.variables.keys())
    }
}

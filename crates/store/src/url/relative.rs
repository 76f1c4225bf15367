//! Addresses made from others.
use super::{Url, UrlFragment, UrlModes};

impl Url {
    /// The same server with another path, without a query. The path is in the form that [`path`](Self::path) returns.
    #[must_use]
    pub fn with_path(&self, path: impl Into<String>) -> Self {
        Self { path: path.into(), query: None, whole: None, ..self.clone() }
    }

    /// The same address, which also says that its dataset is of a mode.
    #[must_use]
    pub fn with_mode(&self, word: &str) -> Self {
        let modes = UrlModes::infer(self.fragment.modes().iter().chain([word]));
        Self { fragment: UrlFragment { modes, ..self.fragment.clone() }, ..self.clone() }
    }

    /// The address of another dataset beside this one: as [`with_path`](Self::with_path), with the same settings
    /// (profile, region), but without the modes for the kind of this one.
    #[must_use]
    pub fn beside(&self, path: impl Into<String>) -> Self {
        let kept = self.fragment.modes().iter().filter(|word| ["s3", "gs3"].contains(word));
        let modes = UrlModes::infer(kept);
        Self { fragment: UrlFragment { modes, ..self.fragment.clone() }, ..self.with_path(path) }
    }
}

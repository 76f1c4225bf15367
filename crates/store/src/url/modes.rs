//! Mode words and what follows from them (docs/spec/nczarr.md 8.4).

/// The mode words of an address, after all inferences, in order of first occurrence.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UrlModes(Vec<String>);

/// A word, and the words that follow from it.
const INFERENCES: [(&str, &[&str]); 4] =
    [("zarr", &["nczarr"]), ("zarr3", &["nczarr"]), ("xarray", &["zarr"]), ("noxarray", &["nczarr", "zarr"])];

/// A word, and the words that it removes.
const NEGATIONS: [(&str, &[&str]); 2] = [("bytes", &["nczarr", "zarr"]), ("noxarray", &["xarray"])];

/// Words that choose an implementation, besides `udf0` to `udf9`.
const IMPLEMENTATIONS: [&str; 9] =
    ["dap2", "dap4", "netcdf-3", "classic", "netcdf-4", "enhanced", "nczarr", "zarr", "bytes"];

impl UrlModes {
    /// The words and everything that follows from them; duplicates and empty words are dropped. Unknown words stay,
    /// without effect.
    pub fn infer<'a>(words: impl IntoIterator<Item = &'a str>) -> Self {
        let mut modes = Self::default();
        words.into_iter().for_each(|word| modes.add(word));
        // Added words are processed in turn, so that one pass reaches the fixed point.
        let mut at = 0;
        while let Some(word) = modes.0.get(at).cloned() {
            following(&INFERENCES, &word).iter().for_each(|word| modes.add(word));
            at += 1;
        }
        for word in modes.0.clone() {
            modes.0.retain(|mode| !following(&NEGATIONS, &word).contains(&mode.as_str()));
        }
        modes
    }

    /// Whether a word is set.
    pub fn contains(&self, word: &str) -> bool {
        self.0.iter().any(|mode| mode == word)
    }

    /// Whether no word is set.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The words.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// The first word that chooses an implementation (docs/spec/nczarr.md 8.5).
    pub fn implementation(&self) -> Option<&str> {
        self.iter().find(|word| IMPLEMENTATIONS.contains(word) || is_user_defined(word))
    }

    fn add(&mut self, word: &str) {
        if !word.is_empty() && !self.contains(word) {
            self.0.push(word.to_owned());
        }
    }
}

fn following(rules: &[(&str, &'static [&'static str])], word: &str) -> &'static [&'static str] {
    rules.iter().find(|(name, _)| *name == word).map_or(&[], |(_, words)| words)
}

/// `udf0` to `udf9`.
fn is_user_defined(word: &str) -> bool {
    word.strip_prefix("udf")
        .is_some_and(|digit| digit.len() == 1 && digit.chars().all(|c| c.is_ascii_digit()))
}

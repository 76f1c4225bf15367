//! The contents of `aggregated_data`, and the convention that it follows (docs/spec/cfa.md 1.3).
use ncirrus_layout::{Error, Result};

#[cfg(test)]
mod tests;

/// The conventions that use `aggregated_dimensions` and `aggregated_data`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeywordGeneration {
    /// CFA-0.6, 0.6.1 and 0.6.2.
    Cfa06,
    /// The keywords of cfdm 1.12.0 and 1.12.1.
    DraftA,
    /// The keywords of earlier versions of CFAPyX.
    DraftB,
    /// CF-1.13, section 2.8.
    Cf113,
}

impl KeywordGeneration {
    /// The convention as `Conventions` would name it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Cfa06 => "CFA-0.6",
            Self::DraftA | Self::DraftB => "CF-1.12 draft",
            Self::Cf113 => "CF-1.13",
        }
    }
}

/// The variables that describe the fragments of an aggregated variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KeywordTerms {
    pub(crate) generation: KeywordGeneration,
    /// Sizes of the fragments along each dimension.
    pub(crate) map: String,
    pub(crate) content: TermsContent,
    /// Keywords that the convention does not know, with their variables: CFA-0.6 only.
    pub(crate) others: Vec<(String, String)>,
}

/// The content of the fragments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TermsContent {
    /// Variables of datasets; in draft B those that have a value of their own hold nothing else.
    Datasets { names: String, variables: String, formats: Option<String>, values: Option<String> },
    /// One value each.
    Values(String),
}

/// Parses the attribute and detects the convention from the keywords.
///
/// # Errors
/// `Malformed` if it is not a list of pairs, or if the keywords match no convention.
pub(crate) fn terms(text: &str, lenient: bool) -> Result<KeywordTerms> {
    let pairs = pairs(text)?;
    let found = FoundPairs { pairs: &pairs, lenient };
    if let Some(keyword) = found.twice() {
        return Err(Error::malformed(format!("the keyword {keyword} occurs twice in {text:?}")));
    }
    found.known().ok_or_else(|| {
        let names: Vec<&str> = pairs.iter().map(|(keyword, _)| keyword.as_str()).collect();
        let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        Error::malformed(format!("the keywords of aggregated_data fit no convention: {names}"))
    })
}

/// `keyword: word` pairs separated by blanks or newlines, each keyword once.
///
/// # Errors
/// `Malformed` if it is not such a list.
pub(crate) fn pairs(text: &str) -> Result<Vec<(String, String)>> {
    let mut pairs: Vec<(String, String)> = Vec::new();
    let mut words = text.split_whitespace().peekable();
    while let Some(word) = words.next() {
        let keyword = match word.strip_suffix(':') {
            Some(keyword) => Some(keyword),
            None => words.next_if_eq(&":").map(|_| word),
        };
        let keyword = keyword.filter(|keyword| !keyword.is_empty());
        let (Some(keyword), Some(value)) = (keyword, words.next()) else {
            return Err(Error::malformed(format!("{text:?} is not a list of pairs \"keyword: variable\"")));
        };
        if pairs.iter().any(|(other, _)| other == keyword) {
            return Err(Error::malformed(format!("the keyword {keyword} occurs twice in {text:?}")));
        }
        pairs.push((keyword.to_owned(), value.to_owned()));
    }
    Ok(pairs)
}

/// The pairs of an attribute.
struct FoundPairs<'a> {
    pairs: &'a [(String, String)],
    lenient: bool,
}

impl FoundPairs<'_> {
    /// The terms, if the keywords are those of a convention.
    fn known(&self) -> Option<KeywordTerms> {
        // `location` means sizes in 0.6 and names in the drafts: the whole set decides.
        if self.get("file", true).is_some() {
            return self.cfa06();
        }
        let (generation, map, names, variables, values) = self.generation()?;
        let map = self.of(map)?;
        let content = match (self.of(names), self.of(variables), self.of(values)) {
            (None, None, Some(value)) => TermsContent::Values(value),
            (Some(names), Some(variables), values)
                if values.is_none() || generation == KeywordGeneration::DraftB =>
            {
                TermsContent::Datasets { names, variables, formats: None, values }
            }
            _ => return None,
        };
        let count = match &content {
            TermsContent::Values(_) => 2,
            TermsContent::Datasets { values, .. } => 3 + usize::from(values.is_some()),
        };
        let terms = KeywordTerms { generation, map, content, others: Vec::new() };
        (self.pairs.len() == count).then_some(terms)
    }

    /// The convention, and its keywords for sizes, names, variables and values.
    fn generation(&self) -> Option<(KeywordGeneration, &str, &str, &str, &str)> {
        let any = |names: &[&str]| names.iter().any(|name| self.of(name).is_some());
        if any(&["shape"]) {
            Some((KeywordGeneration::DraftB, "shape", "location", "address", "value"))
        } else if any(&["variable", "unique_value"]) {
            Some((KeywordGeneration::DraftA, "map", "location", "variable", "unique_value"))
        } else if any(&["uris", "identifiers", "unique_values"]) {
            Some((KeywordGeneration::Cf113, "map", "uris", "identifiers", "unique_values"))
        } else {
            None
        }
    }

    fn cfa06(&self) -> Option<KeywordTerms> {
        let standard = ["location", "file", "format", "address"];
        let get = |name: &str| self.get(name, true);
        let formats = Some(get("format")).filter(|format| self.lenient || format.is_some())?;
        let (names, variables) = (get("file")?, get("address")?);
        let content = TermsContent::Datasets { names, variables, formats, values: None };
        let is_other =
            |pair: &&(String, String)| !standard.iter().any(|name| pair.0.eq_ignore_ascii_case(name));
        let others = self.pairs.iter().filter(is_other).cloned().collect();
        Some(KeywordTerms { generation: KeywordGeneration::Cfa06, map: get("location")?, content, others })
    }

    /// A keyword that occurs twice, if its case does not matter.
    fn twice(&self) -> Option<&str> {
        if !self.lenient && self.get("file", true).is_none() {
            return None;
        }
        let is_twice = |(at, (keyword, _)): &(usize, &(String, String))| {
            self.pairs.iter().take(*at).any(|(other, _)| other.eq_ignore_ascii_case(keyword))
        };
        self.pairs.iter().enumerate().find(is_twice).map(|(_, (keyword, _))| keyword.as_str())
    }

    /// The value of a keyword whose case matters.
    fn of(&self, keyword: &str) -> Option<String> {
        self.get(keyword, self.lenient)
    }

    fn get(&self, keyword: &str, any_case: bool) -> Option<String> {
        let is = |name: &str| if any_case { name.eq_ignore_ascii_case(keyword) } else { name == keyword };
        self.pairs.iter().find(|(name, _)| is(name)).map(|(_, value)| value.clone())
    }
}

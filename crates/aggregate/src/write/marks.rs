//! Attributes that mark a dataset or a variable as an aggregation.
use super::Convention;
use ncirrus_model::{Attribute, Attributes};

/// Attributes that describe an aggregated variable in some convention.
pub const CFA_ATTRIBUTES: [&str; 6] =
    ["cf_role", "cfa_dimensions", "cfa_array", "cfa_group", "aggregated_dimensions", "aggregated_data"];

/// `Conventions` with the convention's own entry in place of other aggregation conventions (docs/spec/cfa.md 1.2).
pub fn conventions(attributes: &mut Attributes, convention: Convention) {
    let old = attributes.find("Conventions").and_then(Attribute::as_text).unwrap_or_default();
    let separators = [' ', ',', '\t', '\n'];
    let words = old.split(separators).filter(|word| !word.is_empty());
    let is_cf = |word: &&str| word.starts_with("CF-");
    let (cf, rest): (Vec<&str>, Vec<&str>) =
        words.filter(|word| *word != "CFA" && !word.starts_with("CFA-")).partition(is_cf);
    let (cf, token) = match convention {
        Convention::Cf113 => (Some("CF-1.13"), None),
        Convention::Cfa06 => (Some(cf.first().copied().unwrap_or("CF-1.11")), Some("CFA-0.6.2")),
        Convention::Cfa05 => (cf.first().copied(), Some("CFA-0.5")),
        Convention::Cfa04 => (cf.first().copied(), Some("CFA-0.4")),
    };
    let words: Vec<&str> = cf.into_iter().chain(rest).chain(token).collect();
    attributes.put(Attribute::text("Conventions", &words.join(" ")));
}

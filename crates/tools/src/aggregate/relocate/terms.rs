//! Where a master stores the names of fragments.
use ncirrus_model::{Attribute, GroupId, Model, NodeId, VarId};

use super::super::shape::known;

/// Text of an attribute of a variable.
pub(in super::super) fn text(model: &Model, var: VarId, name: &str) -> Option<String> {
    known(model, NodeId::Variable(var)).find(name).and_then(Attribute::as_text)
}

/// Whether a variable is aggregated, by any convention.
pub(in super::super) fn is_aggregated(model: &Model, var: VarId) -> bool {
    let by_role = || text(model, var, "cf_role").as_deref() == Some("cfa_variable");
    text(model, var, "aggregated_data").is_some() || by_role()
}

/// The variable with the names of an aggregated variable's fragments; `None` if an attribute has them, or there are
/// none.
pub(in super::super) fn names_of(model: &Model, var: VarId) -> Option<VarId> {
    let home = model.variable_group(var)?;
    if let Some(terms) = text(model, var, "aggregated_data") {
        let terms: Vec<(String, String)> = pairs(&terms);
        // In drafts these are locations; in CFA-0.6 locations are sizes (docs/spec/cfa.md 1.3).
        let holder = ["uris", "file", "location"].into_iter().find_map(|wanted| {
            terms.iter().find(|(term, _)| term.to_ascii_lowercase() == wanted).map(|(_, name)| name)
        })?;
        return find(model, home, holder);
    }
    let group = text(model, var, "cfa_group")?;
    let group =
        if group.starts_with('/') { model.group_at(&group)? } else { model.subgroup(home, &group)? };
    model.variable_in(group, "file")
}

fn find(model: &Model, home: GroupId, name: &str) -> Option<VarId> {
    if name.contains('/') {
        model.variable_at(name)
    } else {
        model.scope(home).into_iter().find_map(|group| model.variable_in(group, name))
    }
}

/// `keyword: value` pairs.
fn pairs(text: &str) -> Vec<(String, String)> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let pair = |two: &[&str]| {
        let [keyword, value] = two else { return None };
        Some((keyword.strip_suffix(':')?.to_owned(), (*value).to_owned()))
    };
    words.windows(2).filter_map(pair).collect()
}

/// Substitutions of names: `${NAME}` and its value.
pub(in super::super) fn substitutions(model: &Model, var: VarId) -> Vec<(String, String)> {
    text(model, var, "substitutions").map(|text| pairs(&text)).unwrap_or_default()
}

//! Attributes of several files.
use super::PreparedAggregation;
use ncirrus_model::{Attribute, Model, NodeId};

impl PreparedAggregation {
    /// Keeps attributes that are the same in all files.
    pub(super) fn merge_attributes(&self, model: &mut Model) {
        for (path, name) in self.parts.iter().flat_map(|part| &part.differing) {
            let group = model.group_at(path).map(NodeId::Group);
            let node = model.variable_at(path).map(NodeId::Variable).or(group);
            if let Some(attributes) = node.and_then(|node| model.attributes_mut(node)) {
                attributes.known_mut().remove(name);
            }
        }
        self.merge_conventions(model);
    }

    /// Of `Conventions`, keeps the words that all files have; the master adds its own.
    fn merge_conventions(&self, model: &mut Model) {
        let root = NodeId::Group(model.root());
        let Some(attributes) = model.attributes_mut(root) else { return };
        let Some(text) = attributes.known().and_then(|known| known.find("Conventions")?.as_text()) else {
            return;
        };
        let mut kept = words(&text);
        let all = kept.len();
        for part in self.parts.iter().filter(|part| part.fragments.is_none()) {
            let own = words(&part.conventions);
            kept.retain(|word| own.contains(word));
        }
        if kept.len() < all {
            attributes.known_mut().put(Attribute::text("Conventions", &kept.join(" ")));
        }
    }
}

/// The conventions of a dataset except those of aggregations.
fn words(text: &str) -> Vec<&str> {
    let words = text.split([' ', ',', '\t', '\n']).filter(|word| !word.is_empty());
    words.filter(|word| *word != "CFA" && !word.starts_with("CFA-")).collect()
}

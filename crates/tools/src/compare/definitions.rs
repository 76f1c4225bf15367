//! What differs in the definitions of two datasets.
use super::elements::{attribute_text, type_text};
use super::{CompareOptions, DefinitionDifference};
use ncirrus::{Attributes, Dataset, Model, Result};
use ncirrus_model::{DimId, DimensionLen, GroupId};
use std::collections::BTreeMap;
use std::sync::Arc;

/// One of the two datasets.
struct Side<'a> {
    dataset: &'a Dataset,
    model: Arc<Model>,
}

/// The comparison of the definitions of two datasets.
pub(super) struct DefinitionComparison<'a> {
    sides: [Side<'a>; 2],
    options: &'a CompareOptions,
    found: Vec<DefinitionDifference>,
}

impl<'a> DefinitionComparison<'a> {
    pub(super) fn new(first: &'a Dataset, second: &'a Dataset, options: &'a CompareOptions) -> Result<Self> {
        let side = |dataset: &'a Dataset| Ok::<_, ncirrus::Error>(Side { dataset, model: dataset.model()? });
        Ok(Self { sides: [side(first)?, side(second)?], options, found: Vec::new() })
    }

    /// What differs in the variables of these paths and, if they are all, in everything else.
    pub(super) fn run(mut self, variables: &[String]) -> Vec<DefinitionDifference> {
        if !self.options.is_partial() {
            self.members("group", |side| side.groups());
            self.members("type", |side| side.types());
            self.members("dimension", |side| side.dimensions());
            self.group_attributes();
            self.orders();
        }
        for path in variables {
            self.variable(path);
        }
        self.found
    }

    /// Members of one kind, each described by a text that contains everything that counts.
    fn members(&mut self, aspect: &'static str, of: impl Fn(&Side<'a>) -> BTreeMap<String, String>) {
        let [first, second] = self.sides.each_ref().map(of);
        for (path, ours) in &first {
            if second.get(path) != Some(ours) {
                self.note(path, aspect, Some(ours.clone()), second.get(path).cloned());
            }
        }
        for (path, theirs) in second.iter().filter(|(path, _)| !first.contains_key(*path)) {
            self.note(path, aspect, None, Some(theirs.clone()));
        }
    }

    fn variable(&mut self, path: &str) {
        let described = self.sides.each_ref().map(|side| side.variable(path));
        match described {
            [Some((ours, our_dims)), Some((theirs, their_dims))] => {
                if ours != theirs {
                    self.note(path, "variable", Some(ours), Some(theirs));
                }
                if our_dims != their_dims {
                    self.note(path, "dimensions", Some(our_dims), Some(their_dims));
                }
                let attributes = self.sides.each_ref().map(|side| side.attributes_of_variable(path));
                self.attributes(path, attributes);
            }
            [ours, theirs] => {
                let whole = |(ty, dims): (String, String)| format!("{ty} {dims}");
                self.note(path, "variable", ours.map(whole), theirs.map(whole));
            }
        }
    }

    fn group_attributes(&mut self) {
        let [first, second] = self.sides.each_ref().map(Side::groups);
        for path in first.keys().filter(|path| second.contains_key(*path)) {
            let attributes = self.sides.each_ref().map(|side| side.attributes_of_group(path));
            self.attributes(&format!("{}/", path.trim_end_matches('/')), attributes);
        }
    }

    /// Attributes of a member; those that cannot be read are among what the datasets cannot give.
    fn attributes(&mut self, holder: &str, [first, second]: [Attributes; 2]) {
        let [ours, theirs] = [(&first, 0), (&second, 1)].map(|(attributes, side)| {
            let counted =
                attributes.iter().filter(|attribute| !self.options.ignore.contains(&attribute.name));
            let model = self.sides.get(side).map(|side| &side.model);
            let text = |attribute| model.map(|model| attribute_text(model, attribute)).unwrap_or_default();
            counted.map(|attribute| (attribute.name.clone(), text(attribute))).collect::<Vec<_>>()
        });
        let find = |list: &[(String, String)], name: &str| {
            list.iter().find(|(known, _)| known == name).map(|(_, text)| text.clone())
        };
        for (name, text) in &ours {
            let other = find(&theirs, name);
            let is_same = other.as_ref() == Some(text)
                && first
                    .find(name)
                    .zip(second.find(name))
                    .is_some_and(|(a, b)| a.values.is_identical(&b.values));
            if !is_same {
                self.note(&format!("{holder}:{name}"), "attribute", Some(text.clone()), other);
            }
        }
        for (name, text) in theirs.iter().filter(|(name, _)| find(&ours, name).is_none()) {
            self.note(&format!("{holder}:{name}"), "attribute", None, Some(text.clone()));
        }
        let names = |list: &[(String, String)]| list.iter().map(|(name, _)| name.clone()).collect();
        self.order(holder, "attributes", names(&ours), names(&theirs));
    }

    fn orders(&mut self) {
        let [first, second] = self.sides.each_ref().map(Side::groups);
        for path in first.keys().filter(|path| second.contains_key(*path)) {
            for what in ["groups", "types", "dimensions", "variables"] {
                let [ours, theirs] = self.sides.each_ref().map(|side| side.names(path, what));
                self.order(path, what, ours, theirs);
            }
        }
    }

    /// The order of the members that both have.
    fn order(&mut self, path: &str, what: &str, mut ours: Vec<String>, mut theirs: Vec<String>) {
        if !self.options.order {
            return;
        }
        let (all_ours, all_theirs) = (ours.clone(), theirs.clone());
        ours.retain(|name| all_theirs.contains(name));
        theirs.retain(|name| all_ours.contains(name));
        if ours != theirs {
            let text = |names: Vec<String>| Some(format!("{what} {}", names.join(", ")));
            self.note(path, "order", text(ours), text(theirs));
        }
    }

    fn note(&mut self, path: &str, aspect: &'static str, first: Option<String>, second: Option<String>) {
        self.found.push(DefinitionDifference { path: path.to_owned(), aspect, first, second });
    }
}

impl Side<'_> {
    fn groups(&self) -> BTreeMap<String, String> {
        self.model.walk().into_iter().map(|id| (self.model.group_path(id), String::from("group"))).collect()
    }

    fn types(&self) -> BTreeMap<String, String> {
        let types = self.model.types().into_iter();
        types
            .map(|id| (self.model.type_path(id), type_text(&self.model, ncirrus::TypeRef::User(id))))
            .collect()
    }

    fn dimensions(&self) -> BTreeMap<String, String> {
        let groups = self.model.walk().into_iter().filter_map(|id| self.model.group(id));
        let dims = groups.flat_map(|group| group.dims.iter().copied());
        dims.map(|id| (self.model.dimension_path(id), self.length(id))).collect()
    }

    fn length(&self, id: DimId) -> String {
        match self.model.dimension(id).map(|dimension| dimension.len) {
            Some(DimensionLen::Unlimited(len)) => format!("{len} (unlimited)"),
            Some(len) => len.current().to_string(),
            None => String::new(),
        }
    }

    /// Type, and dimensions with their lengths, of a variable.
    fn variable(&self, path: &str) -> Option<(String, String)> {
        let variable = self.model.variable(self.model.variable_at(path)?)?;
        let dims = variable.dims.iter().map(|id| {
            let name = self.model.dimension(*id).map(|dimension| dimension.name.as_str()).unwrap_or_default();
            format!("{name} = {}", self.length(*id))
        });
        Some((type_text(&self.model, variable.ty), format!("({})", dims.collect::<Vec<_>>().join(", "))))
    }

    fn attributes_of_variable(&self, path: &str) -> Attributes {
        self.dataset.variable(path).and_then(|variable| variable.attributes()).unwrap_or_default()
    }

    fn attributes_of_group(&self, path: &str) -> Attributes {
        self.dataset.group(path).and_then(|group| group.attributes()).unwrap_or_default()
    }

    /// Names of a group's members of one kind, in definition order.
    fn names(&self, path: &str, what: &str) -> Vec<String> {
        let model = &self.model;
        let Some(group) = model.group_at(path).and_then(|id: GroupId| model.group(id)) else {
            return Vec::new();
        };
        let groups = || group.groups.iter().filter_map(|id| model.group(*id)).map(|group| group.name.clone());
        let types = || group.types.iter().filter_map(|id| model.user_type(*id)).map(|ty| ty.name.clone());
        let dims = || group.dims.iter().filter_map(|id| model.dimension(*id)).map(|dim| dim.name.clone());
        let vars = || group.vars.iter().filter_map(|id| model.variable(*id)).map(|var| var.name.clone());
        match what {
            "groups" => groups().collect(),
            "types" => types().collect(),
            "dimensions" => dims().collect(),
            _ => vars().collect(),
        }
    }
}

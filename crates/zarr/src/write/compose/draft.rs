//! The specifics of the draft of December 2018 (`docs/spec/nczarr.md` 7).
use super::DocumentComposer;
use crate::special;
use crate::write::extension;
use ncirrus_model::GroupId;
use ncirrus_model::VarId;
use serde_json::{Map, Value, json};

impl DocumentComposer<'_> {
    /// The further objects of a group.
    pub(super) fn draft_group(
        &self,
        group: GroupId,
        mut types: Map<String, Value>,
    ) -> Vec<(&'static str, Value)> {
        let mut objects = Vec::new();
        let mut dimensions = Map::new();
        let members = self.model.group(group);
        let dims = members.map(|group| group.dims.as_slice()).unwrap_or_default();
        for dimension in dims.iter().filter_map(|id| self.model.dimension(*id)) {
            dimensions.insert(dimension.name.clone(), json!(dimension.len.current()));
        }
        objects.push((special::D18_DIMENSIONS, Value::Object(dimensions)));
        let mut definitions = Map::new();
        for id in members.map(|group| group.types.as_slice()).unwrap_or_default() {
            if let (Some(ty), Some(definition)) =
                (self.model.user_type(*id), extension::draft_definition(self.model, *id))
            {
                definitions.insert(ty.name.clone(), definition);
            }
        }
        if self.in_draft && !definitions.is_empty() {
            objects.push((special::D18_TYPES, Value::Object(definitions)));
        }
        if self.properties(group).is_some() {
            types.insert(special::PROPERTIES.to_owned(), json!("char"));
        }
        objects.push((special::D18_ATTRIBUTE_TYPES, Value::Object(types)));
        if self.is_root(group) {
            objects.push((special::D18_SUPERBLOCK, json!({"nczarr_version": "1.0.0"})));
        }
        objects
    }

    /// The further members of an array.
    pub(super) fn add_draft_members(&self, var: VarId, body: &mut Map<String, Value>) {
        body.insert("dimensions".to_owned(), json!(self.dimension_references(var)));
        if let Some(path) = self.draft_type(var) {
            body.insert("typedef".to_owned(), json!(path));
        }
    }
}

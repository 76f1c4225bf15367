//! Documents of Zarr v3, with and without NCZarr's appendix (`docs/spec/nczarr.md` 6).
use super::{
    ComposedDocuments, DocumentComposer, DocumentLevel, MetadataDocument, gathered, join, split_quantize,
};
use crate::chunk_key::KeyEncoding;
use crate::special::EXTENSION;
use crate::write::attributes::WrittenAttributes;
use crate::write::conventions;
use crate::write::plan::{ArrayForm, NewArray, VariablePlan};
use crate::{Dialect, special};
use ncirrus_layout::{ChunkGrid, Result};
use ncirrus_model::{AttributeState, GroupId, NodeId, Values, VarId};
use serde_json::{Map, Value, json};

const CONSOLIDATED: &str = "consolidated_metadata";

impl DocumentComposer<'_> {
    pub(super) fn v3_documents(&self) -> Result<ComposedDocuments> {
        let mut documents = ComposedDocuments::default();
        if let Some(array) = self.root_array() {
            let body = self.plans.get(&array).map(|plan| self.v3_array(array, plan)).transpose()?.flatten();
            let root = body.map(|body| MetadataDocument {
                key: special::ZARR_JSON.to_owned(),
                level: DocumentLevel::Root,
                body,
            });
            documents.list.extend(root);
            return Ok(documents);
        }
        let mut copies = Map::new();
        let mut root = Map::new();
        for group in self.model.walk() {
            let body = self.v3_group(group)?;
            let key = self.group_key(group, special::ZARR_JSON);
            if self.is_root(group) {
                root = body;
                continue;
            }
            let path = self.model.group_path(group);
            copies.insert(path.trim_start_matches('/').to_owned(), Value::Object(body.clone()));
            let level = DocumentLevel::Group(self.group_level(group));
            documents.list.push(MetadataDocument { key, level, body: Value::Object(body) });
        }
        for var in self.model.variables() {
            let Some(plan) = self.plans.get(&var) else {
                // It is left as it is, such as one of an unknown type.
                if let Some(kept) = self.present.and_then(|present| present.array(var, false)) {
                    let path = self.model.variable_path(var);
                    copies.insert(path.trim_start_matches('/').to_owned(), Value::Object(kept.clone()));
                }
                continue;
            };
            let Some(body) = self.v3_array(var, plan)? else { continue };
            copies.insert(plan.key.clone(), body.clone());
            let key = join(&plan.key, special::ZARR_JSON);
            documents.list.push(MetadataDocument { key, level: DocumentLevel::Array, body });
        }
        let mut whole = root.clone();
        let copies = gathered(copies, |key| key);
        let consolidated = json!({"kind": "inline", "must_understand": false, "metadata": copies});
        whole.insert(CONSOLIDATED.to_owned(), consolidated);
        let at_root =
            |body| MetadataDocument { key: special::ZARR_JSON.to_owned(), level: DocumentLevel::Root, body };
        documents.list.push(at_root(Value::Object(root)));
        documents.consolidated = Some(at_root(Value::Object(whole)));
        Ok(documents)
    }

    fn v3_group(&self, group: GroupId) -> Result<Map<String, Value>> {
        let written = self.attributes(NodeId::Group(group))?;
        let attributes = self.v3_group_attributes(group, written);
        let key = self.present.and_then(|present| present.group_key(group, special::ZARR_JSON));
        let kept = key.and_then(|key| self.present?.objects.get(&key)?.as_object().cloned());
        let mut body = kept.unwrap_or_default();
        body.shift_remove(CONSOLIDATED);
        body.insert("attributes".to_owned(), Value::Object(attributes));
        body.entry("zarr_format").or_insert(json!(3));
        body.entry("node_type").or_insert(json!("group"));
        Ok(body)
    }

    fn v3_group_attributes(&self, group: GroupId, written: WrittenAttributes) -> Map<String, Value> {
        let WrittenAttributes { plain: mut body, mut types, extension } = written;
        if let Some(properties) = self.properties(group) {
            body.insert(special::PROPERTIES.to_owned(), properties);
            types.insert(special::PROPERTIES.to_owned(), json!("char"));
        }
        if let Some(extension) = self.group_extension(group, &extension) {
            body.insert(EXTENSION.to_owned(), extension);
        }
        if self.dialect() == Dialect::Nczarr3 {
            if self.is_root(group) {
                body.insert(special::SUPERBLOCK.to_owned(), json!({"version": "3.0.0", "format": 3}));
            }
            body.insert(special::GROUP.to_owned(), self.v3_group_information(group));
            body.insert(special::ATTRIBUTES_3.to_owned(), attribute_types(&types));
        }
        self.add_conventions(NodeId::Group(group), &types, &mut body);
        body
    }

    /// In plain Zarr v3: the conventions of GeoZarr that a new group or array follows, and the types of attributes in datasets
    /// that follow NZ, the netCDF conventions for Zarr v3. Types that other programs wrote are kept.
    fn add_conventions(&self, node: NodeId, types: &Map<String, Value>, body: &mut Map<String, Value>) {
        if self.dialect() != Dialect::V3 {
            return;
        }
        let stored = self.present.and_then(|present| present.stored_attributes(node));
        if stored.is_none() {
            conventions::declare(body, matches!(node, NodeId::Variable(_)));
        }
        let kept = stored.and_then(|stored| stored.get(special::ATTRIBUTES));
        let typed = match self.is_nz() {
            true => conventions::nz_types(body, types, kept),
            false => kept.cloned(),
        };
        if let Some(typed) = typed {
            body.insert(special::ATTRIBUTES.to_owned(), typed);
        }
    }

    /// Whether the attribute `conventions` of the root names NZ. It may have a capital, as in netCDF.
    fn is_nz(&self) -> bool {
        let root = self.model.attributes(NodeId::Group(self.model.root()));
        let Some(AttributeState::Known(list)) = root else { return false };
        let text = |name: &str| match &list.find(name)?.values {
            Values::Char(text) => std::str::from_utf8(text).ok(),
            Values::String(strings) => std::str::from_utf8(strings.get(0)?).ok(),
            _ => None,
        };
        ["conventions", "Conventions"].iter().any(|name| conventions::is_nz(text(name)))
    }

    fn v3_group_information(&self, group: GroupId) -> Value {
        let dims = self.model.group(group).map(|group| group.dims.as_slice()).unwrap_or_default();
        let dimensions: Vec<Value> = dims
            .iter()
            .filter_map(|id| self.model.dimension(*id))
            .map(|dimension| {
                let unlimited = u8::from(dimension.len.is_unlimited());
                json!({"name": dimension.name, "size": dimension.len.current(), "unlimited": unlimited})
            })
            .collect();
        json!({
            "dimensions": dimensions,
            "arrays": self.listed_arrays(group),
            "subgroups": self.subgroup_names(group),
        })
    }

    fn v3_array(&self, var: VarId, plan: &VariablePlan) -> Result<Option<Value>> {
        let written = self.attributes(NodeId::Variable(var))?;
        let mut body = match &plan.array {
            ArrayForm::New(array) => self.new_array(var, plan, array),
            ArrayForm::Kept { .. } => {
                let Some(kept) = self.present.and_then(|present| present.array(var, false)) else {
                    return Ok(None);
                };
                let mut kept = kept.clone();
                if let Some(shape) = self.changed_shape(var) {
                    kept.insert("shape".to_owned(), json!(shape));
                }
                if plan.is_extended {
                    kept.insert("chunk_grid".to_owned(), chunk_grid(&plan.object_grid()?, &[]));
                }
                kept
            }
        };
        let attributes = self.v3_array_attributes(var, &plan.array, written);
        body.insert("attributes".to_owned(), Value::Object(attributes));
        if self.names_dimensions(var) {
            body.insert("dimension_names".to_owned(), json!(self.dimension_names(var)));
        }
        body.entry("zarr_format").or_insert(json!(3));
        body.entry("node_type").or_insert(json!("array"));
        body.entry("storage_transformers").or_insert(json!([]));
        Ok(Some(Value::Object(body)))
    }

    fn new_array(&self, var: VarId, plan: &VariablePlan, array: &NewArray) -> Map<String, Value> {
        let encoding = match plan.keys.encoding {
            KeyEncoding::V2 => "v2",
            KeyEncoding::Default => "default",
        };
        let separator = plan.keys.separator.as_str();
        let mut body = Map::new();
        body.insert("shape".to_owned(), json!(self.model.shape(var)));
        body.insert("data_type".to_owned(), array.form.data_type.clone());
        let (grid, codecs) = match &array.shards {
            Some((shape, form)) => (
                json!({"name": "regular", "configuration": {"chunk_shape": shape}}),
                vec![form.to_json(&array.chunks, &array.codecs)],
            ),
            None => (chunk_grid(&plan.encoding.grid, &array.chunks), array.codecs.clone()),
        };
        body.insert("chunk_grid".to_owned(), grid);
        let keys = json!({"name": encoding, "configuration": {"separator": separator}});
        body.insert("chunk_key_encoding".to_owned(), keys);
        body.insert("fill_value".to_owned(), array.fill.clone());
        body.insert("codecs".to_owned(), Value::Array(codecs));
        body
    }

    fn v3_array_attributes(
        &self,
        var: VarId,
        form: &ArrayForm,
        written: WrittenAttributes,
    ) -> Map<String, Value> {
        let (mut body, quantize) = split_quantize(written.plain);
        body.extend(quantize);
        if let Some(extension) = self.array_extension(var, false, &written.extension) {
            body.insert(EXTENSION.to_owned(), extension);
        }
        if self.dialect() == Dialect::Nczarr3 {
            if let Some(information) = self.v3_array_information(var, form) {
                body.insert(special::ARRAY.to_owned(), information);
            }
            body.insert(special::ATTRIBUTES_3.to_owned(), attribute_types(&written.types));
        }
        self.add_conventions(NodeId::Variable(var), &written.types, &mut body);
        body
    }

    fn v3_array_information(&self, var: VarId, form: &ArrayForm) -> Option<Value> {
        let references = json!(self.dimension_references(var));
        match form {
            ArrayForm::New(array) => {
                let mut body = json!({"dimension_references": references});
                if let Some(alias) = array.form.alias {
                    body["type_alias"] = json!(alias);
                }
                Some(body)
            }
            ArrayForm::Kept { .. } => {
                let mut body = self.present?.array_attributes(var, false)?.get(special::ARRAY)?.clone();
                body.as_object_mut()?.insert("dimension_references".to_owned(), references);
                Some(body)
            }
        }
    }
}

/// The member `chunk_grid`. In a rectilinear grid, equal lengths in a row are written as a length and their number
/// (docs/spec/zarr3.md 2).
fn chunk_grid(grid: &ChunkGrid, chunks: &[u64]) -> Value {
    let ChunkGrid::Rectilinear(ends) = grid else {
        return json!({"name": "regular", "configuration": {"chunk_shape": chunks}});
    };
    let runs = |ends: &[u64]| {
        let mut runs: Vec<(u64, u64)> = Vec::new();
        let mut start = 0;
        for end in ends {
            let len = end - start;
            start = *end;
            match runs.last_mut() {
                Some((last, count)) if *last == len => *count += 1,
                _ => runs.push((len, 1)),
            }
        }
        let run = |(len, count): (u64, u64)| if count == 1 { json!(len) } else { json!([len, count]) };
        runs.into_iter().map(run).collect::<Value>()
    };
    let shapes: Vec<Value> = ends.iter().map(|ends| runs(ends)).collect();
    json!({"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": shapes}})
}

fn attribute_types(types: &Map<String, Value>) -> Value {
    let list: Vec<Value> =
        types.iter().map(|(name, ty)| json!({"name": name, "configuration": {"type": ty}})).collect();
    json!({"attribute_types": list})
}

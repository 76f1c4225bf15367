//! Documents of Zarr v2 and the NCZarr dialects in it (`docs/spec/nczarr.md` 3).
use super::{
    ComposedDocuments, DocumentComposer, DocumentLevel, MetadataDocument, array_dimensions, gathered, join,
    split_quantize,
};
use crate::special::EXTENSION;
use crate::write::attributes::WrittenAttributes;
use crate::write::element;
use crate::write::plan::{ArrayForm, NewArray};
use crate::{Dialect, special};
use ncirrus_layout::Result;
use ncirrus_model::{Atomic, DimId, DimensionLen, GroupId, Model, NodeId, TypeRef, VarId, default_fill};
use serde_json::{Map, Value, json};

/// The names that a dialect uses.
struct DialectWords {
    superblock: &'static str,
    group: &'static str,
    array: &'static str,
    attributes: &'static str,
    dimensions: &'static str,
    arrays: &'static str,
    references: &'static str,
    /// Whether everything is stored in `.zattrs`.
    in_attributes: bool,
}

const ATT: DialectWords = DialectWords {
    superblock: special::SUPERBLOCK,
    group: special::GROUP,
    array: special::ARRAY,
    attributes: special::ATTRIBUTES,
    dimensions: "dimensions",
    arrays: "arrays",
    references: "dimension_references",
    in_attributes: true,
};
const LC: DialectWords =
    DialectWords { dimensions: "dims", arrays: "vars", references: "dimrefs", in_attributes: false, ..ATT };
const UC: DialectWords = DialectWords {
    superblock: special::UC_SUPERBLOCK,
    group: special::UC_GROUP,
    array: special::UC_ARRAY,
    attributes: special::UC_ATTRIBUTES,
    ..LC
};

/// The names in a dialect of the reference; `None` for plain Zarr and the draft.
fn words(dialect: Dialect) -> Option<&'static DialectWords> {
    match dialect {
        Dialect::Attributes => Some(&ATT),
        Dialect::LowerCase => Some(&LC),
        Dialect::UpperCase | Dialect::UpperCaseXarray => Some(&UC),
        _ => None,
    }
}

impl DocumentComposer<'_> {
    pub(super) fn v2_documents(&self) -> Result<ComposedDocuments> {
        let mut documents = ComposedDocuments::default();
        let mut copies = Map::new();
        if let Some(array) = self.root_array() {
            self.v2_array(array, &mut documents.list, &mut copies)?;
            return Ok(documents);
        }
        for group in self.model.walk() {
            self.v2_group(group, &mut documents.list, &mut copies)?;
        }
        for var in self.model.variables() {
            self.v2_array(var, &mut documents.list, &mut copies)?;
        }
        let copies = gathered(copies, |key| key.rsplit_once('/').map_or("", |(node, _)| node));
        documents.consolidated = Some(MetadataDocument {
            key: special::ZMETADATA.to_owned(),
            level: DocumentLevel::Consolidated,
            body: json!({"metadata": copies, "zarr_consolidated_format": 1}),
        });
        Ok(documents)
    }

    fn v2_group(
        &self,
        group: GroupId,
        list: &mut Vec<MetadataDocument>,
        copies: &mut Map<String, Value>,
    ) -> Result<()> {
        let written = self.attributes(NodeId::Group(group))?;
        let (level, attributes_level, detail) = if self.is_root(group) {
            (DocumentLevel::Root, DocumentLevel::RootAttributes, DocumentLevel::RootDetail)
        } else {
            let level = DocumentLevel::Group(self.group_level(group));
            (level, level, level)
        };
        let mut add = |name: &str, level: DocumentLevel, body: Value| {
            let key = self.group_key(group, name);
            copies.insert(key.clone(), body.clone());
            list.push(MetadataDocument { key, level, body });
        };
        let types = written.types.clone();
        add(special::ZGROUP, level, self.zgroup(group));
        if let Some(attributes) = self.group_attributes(group, written) {
            add(special::ZATTRS, attributes_level, attributes);
        }
        if self.dialect() == Dialect::Draft2018 {
            for (name, body) in self.draft_group(group, types) {
                let recognised = name == special::D18_SUPERBLOCK;
                add(name, if recognised { attributes_level } else { detail }, body);
            }
        }
        Ok(())
    }

    fn zgroup(&self, group: GroupId) -> Value {
        let key = self.present.and_then(|present| present.group_key(group, special::ZGROUP));
        let kept = key.and_then(|key| self.present?.objects.get(&key)?.as_object().cloned());
        let mut body = kept.unwrap_or_default();
        body.entry("zarr_format").or_insert(json!(2));
        if let Some(words) = words(self.dialect()).filter(|words| !words.in_attributes) {
            if self.is_root(group) {
                body.entry(words.superblock).or_insert(json!({"version": "2.0.0"}));
            }
            body.insert(words.group.to_owned(), self.group_information(group, words));
        }
        Value::Object(body)
    }

    /// `None` if there are none and there was no object for them.
    fn group_attributes(&self, group: GroupId, written: WrittenAttributes) -> Option<Value> {
        let WrittenAttributes { plain: mut body, mut types, extension } = written;
        let words = words(self.dialect());
        if let Some(properties) = self.properties(group) {
            body.insert(special::PROPERTIES.to_owned(), properties);
            let word = super::super::stored::char_dtype(self.dialect()).unwrap_or(">S1");
            types.insert(special::PROPERTIES.to_owned(), json!(word));
        }
        if let Some(extension) = self.group_extension(group, &extension) {
            body.insert(EXTENSION.to_owned(), extension);
        }
        if let Some(words) = words.filter(|words| words.in_attributes) {
            body.insert(words.group.to_owned(), self.group_information(group, words));
            types.insert(words.group.to_owned(), json!("|J0"));
            if self.is_root(group) {
                body.insert(words.superblock.to_owned(), json!({"version": "2.0.0"}));
                types.insert(words.superblock.to_owned(), json!("|J0"));
            }
        }
        add_types(words, &mut body, types);
        let was_absent = self.present.is_some_and(|present| {
            present.group_key(group, special::ZATTRS).is_some_and(|key| !present.objects.contains_key(&key))
        });
        (!(body.is_empty() && was_absent)).then_some(Value::Object(body))
    }

    fn group_information(&self, group: GroupId, words: &DialectWords) -> Value {
        let mut dimensions = Map::new();
        let dims = self.model.group(group).map(|group| group.dims.as_slice()).unwrap_or_default();
        for dimension in dims.iter().filter_map(|id| self.model.dimension(*id)) {
            let size = match dimension.len {
                DimensionLen::Unlimited(size) if words.in_attributes => json!({"size": size, "unlimited": 1}),
                len => json!(len.current()),
            };
            dimensions.insert(dimension.name.clone(), size);
        }
        let mut body = Map::new();
        body.insert(words.dimensions.to_owned(), Value::Object(dimensions));
        body.insert(words.arrays.to_owned(), json!(self.listed_arrays(group)));
        body.insert("groups".to_owned(), json!(self.subgroup_names(group)));
        Value::Object(body)
    }

    fn v2_array(
        &self,
        var: VarId,
        list: &mut Vec<MetadataDocument>,
        copies: &mut Map<String, Value>,
    ) -> Result<()> {
        let Some(plan) = self.plans.get(&var) else {
            // It is left as it is, such as one of an unknown type.
            let path = self.model.variable_path(var);
            let present = self.present.into_iter();
            let kept = present.flat_map(|present| {
                [
                    (special::ZARRAY, present.array(var, false)),
                    (special::ZATTRS, present.array_attributes(var, false)),
                ]
            });
            copies.extend(kept.filter_map(|(name, body)| {
                Some((join(path.trim_start_matches('/'), name), Value::Object(body?.clone())))
            }));
            return Ok(());
        };
        let written = self.attributes(NodeId::Variable(var))?;
        let names =
            [(special::ZARRAY, DocumentLevel::Array), (special::ZATTRS, DocumentLevel::ArrayAttributes)];
        for (name, level) in names {
            let key = join(&plan.key, name);
            let body = |copy: bool| match level {
                DocumentLevel::Array => self.zarray(var, &plan.array, copy),
                _ => self.array_attributes(var, &plan.array, &written, copy),
            };
            if let Some(copy) = body(true) {
                copies.insert(key.clone(), copy);
            }
            if let Some(body) = body(false) {
                list.push(MetadataDocument { key, level, body });
            }
        }
        if self.dialect() == Dialect::Draft2018 {
            let key = join(&plan.key, special::D18_ATTRIBUTE_TYPES);
            let body = Value::Object(written.types);
            copies.insert(key.clone(), body.clone());
            list.push(MetadataDocument { key, level: DocumentLevel::ArrayAttributes, body });
        }
        Ok(())
    }

    fn zarray(&self, var: VarId, form: &ArrayForm, copy: bool) -> Option<Value> {
        let words = words(self.dialect()).filter(|words| !words.in_attributes);
        let mut body = match form {
            ArrayForm::New(array) => self.new_zarray(var, array, copy),
            ArrayForm::Kept { .. } => self.present?.array(var, copy)?.clone(),
        };
        if let (Some(fill), true) = (self.default_fill(var), self.is_sparse(var))
            && body.get("fill_value").is_some_and(Value::is_null)
        {
            body.insert("fill_value".to_owned(), fill);
        }
        if let (ArrayForm::Kept { .. }, Some(shape)) = (form, self.changed_shape(var)) {
            body.insert("shape".to_owned(), json!(shape));
        }
        if let Some(words) = words {
            let kept = matches!(form, ArrayForm::Kept { .. }).then(|| body.get(words.array).cloned());
            if let Some(information) = self.array_information(var, words, kept) {
                body.insert(words.array.to_owned(), information);
            }
        }
        if self.dialect() == Dialect::Draft2018 {
            self.add_draft_members(var, &mut body);
        }
        Some(Value::Object(body))
    }

    fn new_zarray(&self, var: VarId, array: &NewArray, copy: bool) -> Map<String, Value> {
        let is_char = array.form.alias == Some("char");
        let dtype = match &array.form.copied_type {
            _ if copy && is_char => json!("|S1"),
            Some(copied) if copy => copied.clone(),
            _ => array.form.data_type.clone(),
        };
        let fill = if self.hides_fill(var, copy) {
            &Value::Null
        } else if copy {
            &array.copied_fill
        } else {
            &array.fill
        };
        let filters = if array.codecs.is_empty() { Value::Null } else { json!(array.codecs) };
        let mut body = Map::new();
        body.insert("zarr_format".to_owned(), json!(2));
        // zarr-python and xarray read the copy: there the scalar has no axis.
        let axes = |shape: Vec<u64>| if copy { shape } else { self.unit_axis(var, shape) };
        body.insert("shape".to_owned(), json!(axes(self.model.shape(var))));
        body.insert("dtype".to_owned(), dtype);
        body.insert("chunks".to_owned(), json!(axes(array.chunks.clone())));
        body.insert("fill_value".to_owned(), fill.clone());
        body.insert("order".to_owned(), json!("C"));
        body.insert("compressor".to_owned(), array.compressor.clone());
        body.insert("filters".to_owned(), filters);
        let separator = self.plans.get(&var).map_or(".", |plan| plan.keys.separator.as_str());
        if separator != "." {
            body.insert("dimension_separator".to_owned(), json!(separator));
        }
        body
    }

    /// Whether zarr-python and xarray are to see no fill value: they treat netCDF's default like one that was chosen,
    /// and xarray masks it. NCZarr's own documents have it, as in netCDF-C.
    fn hides_fill(&self, var: VarId, copy: bool) -> bool {
        (copy || words(self.dialect()).is_none())
            && self.dialect() != Dialect::Draft2018
            && self.present.is_none_or(|present| present.is_ours())
            && match self.defaulted(var) {
                // Without a fill value, what was never written would be empty to them, too.
                Some(Atomic::Char | Atomic::String) => true,
                Some(_) => !self.is_sparse(var),
                None => false,
            }
    }

    fn is_sparse(&self, var: VarId) -> bool {
        self.sparse.is_some_and(|sparse| sparse.contains(&var))
    }

    /// The type of a variable without a fill value of its own.
    fn defaulted(&self, var: VarId) -> Option<Atomic> {
        let variable = self.model.variable(var)?;
        let TypeRef::Atomic(atomic) = variable.ty else { return None };
        let own = variable.attributes.known().and_then(|known| known.find(special::FILL_VALUE));
        (variable.is_filled() && variable.own_fill().is_none() && own.is_none()).then_some(atomic)
    }

    /// The default of a number for a variable without a fill value of its own.
    fn default_fill(&self, var: VarId) -> Option<Value> {
        self.defaulted(var).and_then(|atomic| element::number(&default_fill(atomic), 0))
    }

    /// The reference's dialects give a scalar one axis of length 1 (docs/spec/nczarr.md 3.7).
    fn unit_axis(&self, var: VarId, shape: Vec<u64>) -> Vec<u64> {
        if self.has_unit_axis(var) { vec![1] } else { shape }
    }

    fn has_unit_axis(&self, var: VarId) -> bool {
        let is_scalar = self.model.variable(var).is_some_and(|variable| variable.rank() == 0);
        is_scalar && words(self.dialect()).is_some()
    }

    /// `kept` is the metadata of an array that existed before.
    fn array_information(
        &self,
        var: VarId,
        words: &DialectWords,
        kept: Option<Option<Value>>,
    ) -> Option<Value> {
        let references = json!(self.dimension_references(var));
        if let Some(kept) = kept {
            let mut body = kept?.as_object()?.clone();
            let key = ["dimension_references", "dimrefs"].into_iter().find(|key| body.contains_key(*key))?;
            body.insert(key.to_owned(), references);
            return Some(Value::Object(body));
        }
        let mut body = Map::new();
        body.insert(words.references.to_owned(), references);
        let is_scalar = self.has_unit_axis(var);
        if is_scalar && words.in_attributes {
            body.insert("scalar".to_owned(), json!(1));
        }
        let storage = if is_scalar && !words.in_attributes { "scalar" } else { "chunked" };
        body.insert("storage".to_owned(), json!(storage));
        Some(Value::Object(body))
    }

    fn array_attributes(
        &self,
        var: VarId,
        form: &ArrayForm,
        written: &WrittenAttributes,
        copy: bool,
    ) -> Option<Value> {
        let words = words(self.dialect());
        let kept = match form {
            ArrayForm::Kept { .. } => Some(self.present?.array_attributes(var, copy)),
            ArrayForm::New(_) => None,
        };
        let mut types = written.types.clone();
        let (mut body, quantize) = split_quantize(written.plain.clone());
        if self.shows_encoding(var) {
            body.shift_remove(special::ENCODING);
            if copy {
                body.insert(special::ENCODING.to_owned(), json!("utf-8"));
            }
        }
        if self.names_dimensions(var) {
            let names = match kept.flatten().and_then(|kept| kept.get(special::ARRAY_DIMENSIONS)) {
                Some(kept) if self.has_same_dimensions(var) => kept.clone(),
                _ => array_dimensions(&self.dimension_names(var), self.writes_unit_axis(var, form, copy)),
            };
            body.insert(special::ARRAY_DIMENSIONS.to_owned(), names);
        }
        body.extend(quantize);
        if let Some(extension) = self.array_extension(var, copy, &written.extension) {
            body.insert(EXTENSION.to_owned(), extension);
        }
        if let Some(words) = words.filter(|words| words.in_attributes) {
            let kept = kept.map(|kept| kept.and_then(|kept| kept.get(words.array).cloned()));
            if let Some(information) = self.array_information(var, words, kept) {
                body.insert(words.array.to_owned(), information);
                types.insert(words.array.to_owned(), json!("|J0"));
            }
        }
        add_types(words, &mut body, types);
        // An array that had no document of attributes gets none for nothing.
        let was_absent = kept.is_some_and(|kept| kept.is_none());
        (!(body.is_empty() && was_absent)).then_some(Value::Object(body))
    }

    /// Whether the dimensions of an existing array have the names that they had: those that are stored may be others, which
    /// the opened dataset does not show.
    fn has_same_dimensions(&self, var: VarId) -> bool {
        let names = |model: &Model| -> Option<Vec<String>> {
            let name = |id: &DimId| Some(model.dimension(*id)?.name.clone());
            model.variable(var)?.dims.iter().map(name).collect()
        };
        self.present.is_some_and(|present| names(&present.model) == names(self.model))
    }

    fn writes_unit_axis(&self, var: VarId, form: &ArrayForm, copy: bool) -> bool {
        match form {
            ArrayForm::New(_) => self.has_unit_axis(var) && !copy,
            ArrayForm::Kept { .. } => {
                let shape =
                    self.present.and_then(|present| present.array(var, copy)?.get("shape")?.as_array());
                shape.is_some_and(|shape| shape.len() == 1)
            }
        }
    }
}

/// The dictionary of attribute types, which lists itself if everything is stored in attributes (3.8.2).
fn add_types(words: Option<&DialectWords>, body: &mut Map<String, Value>, mut types: Map<String, Value>) {
    let Some(words) = words else { return };
    if words.in_attributes {
        types.insert(words.attributes.to_owned(), json!("|J0"));
    }
    body.insert(words.attributes.to_owned(), json!({"types": types}));
}

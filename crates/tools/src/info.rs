//! A summary of a dataset for users and programs.
use crate::opened;
use ncirrus::internals::DatasetInternals;
use ncirrus::{CodecSpec, Dataset, LeftOut, Model, Result, Selection, Storage, TypeRef, Values};
use ncirrus_codec::{DecodedElement, names};
use ncirrus_engine::{FragmentInfo, FragmentKind};
use ncirrus_model::{CodecSpace, DatasetKind, GroupId, StorageFacts, VarId};

/// A summary of a dataset.
#[derive(Debug, Clone, PartialEq)]
pub struct Info {
    /// Name of the dataset.
    pub name: String,
    /// URL or path that was opened.
    pub url: String,
    /// What it is.
    pub kind: DatasetKind,
    /// Facts about the storage.
    pub facts: StorageFacts,
    /// What was repaired or ignored on opening.
    pub warnings: Vec<String>,
    /// What cannot be read, or does not exist in netCDF's model.
    pub left_out: Vec<LeftOut>,
    /// The groups, the root first.
    pub groups: Vec<GroupInfo>,
}

/// A group's summary.
#[derive(Debug, Clone, PartialEq)]
pub struct GroupInfo {
    /// Absolute path.
    pub path: String,
    /// Dimensions: name, current length, unlimited.
    pub dimensions: Vec<(String, u64, bool)>,
    /// Names of user-defined types.
    pub types: Vec<String>,
    /// Attributes: name and abbreviated value.
    pub attributes: Vec<(String, String)>,
    /// Variables.
    pub variables: Vec<VariableInfo>,
    /// Why the group is damaged, if it is.
    pub fault: Option<String>,
}

/// A variable's summary.
#[derive(Debug, Clone, PartialEq)]
pub struct VariableInfo {
    /// Simple name.
    pub name: String,
    /// Element type's name.
    pub ty: String,
    /// Names of the dimensions.
    pub dimensions: Vec<String>,
    /// Current shape.
    pub shape: Vec<u64>,
    /// Chunk shape, if chunked.
    pub chunks: Option<Vec<u64>>,
    /// Shape of the objects that chunks share; `None` if each chunk is one of its own.
    pub shards: Option<Vec<u64>>,
    /// Filters in short, in the order of encoding.
    pub filters: Vec<String>,
    /// Bytes of the values when decoded; `None` for types of variable length.
    pub raw_bytes: Option<u64>,
    /// Stored size of the values in bytes; `None` if it is expensive to determine.
    pub stored_bytes: Option<u64>,
    /// Attributes: name and abbreviated value.
    pub attributes: Vec<(String, String)>,
    /// Its fragments, if it is aggregated.
    pub fragments: Option<FragmentsInfo>,
    /// Why the values cannot be read, if so.
    pub fault: Option<String>,
}

/// Summary of an aggregated variable's fragments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FragmentsInfo {
    /// The convention that describes them.
    pub convention: &'static str,
    /// How many are described.
    pub count: u64,
    /// Shape of the array of fragments; their number if they do not lie on a grid.
    pub shape: Vec<u64>,
    /// Where the one with the first element is looked for; `here` and `constant` for those in the master itself.
    pub first: Option<String>,
    /// The same of the one with the last element.
    pub last: Option<String>,
}

/// Summarises a dataset; values of variables are not read.
///
/// # Errors
/// If the attributes cannot be fetched.
pub fn info(dataset: &Dataset) -> Result<Info> {
    let model = dataset.model()?;
    Ok(Info {
        name: dataset.name().to_owned(),
        url: dataset.url().to_owned(),
        kind: dataset.kind(),
        facts: dataset.facts(),
        warnings: dataset.warnings(),
        left_out: dataset.left_out()?,
        groups: model.walk().into_iter().filter_map(|id| group_info(dataset, &model, id)).collect(),
    })
}

fn group_info(dataset: &Dataset, model: &Model, id: GroupId) -> Option<GroupInfo> {
    let group = model.group(id)?;
    let dimension = |id: &ncirrus_model::DimId| {
        let dimension = model.dimension(*id)?;
        Some((dimension.name.clone(), dimension.len.current(), dimension.len.is_unlimited()))
    };
    Some(GroupInfo {
        path: model.group_path(id),
        dimensions: group.dims.iter().filter_map(dimension).collect(),
        types: group.types.iter().filter_map(|id| model.user_type(*id)).map(|ty| ty.name.clone()).collect(),
        attributes: attributes_in_short(group.attributes.known()),
        variables: group.vars.iter().filter_map(|id| variable_info(dataset, model, *id)).collect(),
        fault: group.fault.as_ref().map(ToString::to_string),
    })
}

fn variable_info(dataset: &Dataset, model: &Model, id: VarId) -> Option<VariableInfo> {
    let variable = model.variable(id)?;
    let shape = model.shape(id);
    let count = shape.iter().try_fold(1u64, |product, len| product.checked_mul(*len));
    let names = variable.dims.iter().filter_map(|dim| model.dimension(*dim));
    Some(VariableInfo {
        name: variable.name.clone(),
        ty: type_name(model, variable.ty),
        dimensions: names.map(|dimension| dimension.name.clone()).collect(),
        chunks: match &variable.storage {
            Storage::Chunked(chunks) => Some(chunks.clone()),
            _ => None,
        },
        shards: variable.shards.as_ref().map(|shards| shards.shape.clone()),
        filters: variable.filters.iter().map(filter_in_short).collect(),
        raw_bytes: count.and_then(|count| count.checked_mul(model.packed_len(variable.ty)?)),
        stored_bytes: opened::stored_bytes(dataset, id),
        fragments: fragments_info(dataset, id, &shape),
        attributes: attributes_in_short(variable.attributes.known()),
        fault: variable.fault.as_ref().map(ToString::to_string),
        shape,
    })
}

/// The array of fragments of an aggregated variable, and the locations of the first and the last of them.
fn fragments_info(dataset: &Dataset, id: VarId, shape: &[u64]) -> Option<FragmentsInfo> {
    let found = opened::aggregation(dataset, id).ok()??;
    let one = vec![1; shape.len()];
    let place = |start: Vec<u64>| {
        let FragmentInfo { kind, places, .. } =
            dataset.fragments(id, &Selection::slab(&start, &one)).ok()?.pop()?;
        let other = (kind != FragmentKind::Missing).then(|| kind.name().to_owned());
        places.into_iter().next().or(other)
    };
    Some(FragmentsInfo {
        convention: found.convention,
        count: found.fragments,
        shape: found.shape.unwrap_or_else(|| vec![found.fragments]),
        first: place(vec![0; shape.len()]),
        last: place(shape.iter().map(|len| len.saturating_sub(1)).collect()),
    })
}

/// The name of a type: the CDL keyword, or the path of a user-defined type.
pub fn type_name(model: &Model, ty: TypeRef) -> String {
    match ty {
        TypeRef::Atomic(atomic) => atomic.name().to_owned(),
        TypeRef::User(id) => model.type_path(id).trim_start_matches('/').to_owned(),
    }
}

/// A filter in readable form: its Zarr name and level, or its JSON.
fn filter_in_short(spec: &CodecSpec) -> String {
    let v2 = names::translate(spec, CodecSpace::V2, &DecodedElement::sized(None));
    match v2.as_ref().unwrap_or(spec) {
        CodecSpec::V2(map) => {
            let id = map.get("id").and_then(|id| id.as_str()).unwrap_or("?");
            let details = ["cname", "level", "clevel"].into_iter().filter_map(|key| map.get(key));
            let details: Vec<String> =
                details.map(|value| value.as_str().map_or(value.to_string(), str::to_owned)).collect();
            if details.is_empty() { id.to_owned() } else { format!("{id}({})", details.join(",")) }
        }
        CodecSpec::Hdf5 { id, parameters, .. } => format!("HDF5 filter {id} {parameters:?}"),
        other => other.text().unwrap_or_default(),
    }
}

fn attributes_in_short(attributes: Option<&ncirrus::Attributes>) -> Vec<(String, String)> {
    let Some(attributes) = attributes else { return Vec::new() };
    let readable =
        attributes.iter().map(|attribute| (attribute.name.clone(), value_in_short(&attribute.values)));
    let damaged =
        attributes.faults.iter().map(|(name, fault)| (name.clone(), format!("unreadable: {fault}")));
    readable.chain(damaged).collect()
}

/// Maximum number of values shown for one attribute.
const SHOWN: usize = 8;

fn value_in_short(values: &Values) -> String {
    let shown = values.len().min(SHOWN);
    let one = |at: usize| match values {
        Values::Float(list) => list.get(at).map(ToString::to_string),
        Values::Double(list) => list.get(at).map(ToString::to_string),
        Values::String(list) => {
            Some(list.get(at).map_or("NIL".to_owned(), |text| String::from_utf8_lossy(text).into_owned()))
        }
        other => other.integer(at).map(|value| value.to_string()),
    };
    match values {
        Values::Char(text) => String::from_utf8_lossy(text).trim_end_matches('\0').to_owned(),
        Values::Opaque { .. } | Values::Vlen { .. } | Values::Compound { .. } => {
            format!("{} values of a user-defined type", values.len())
        }
        _ => {
            let mut text = (0..shown).filter_map(one).collect::<Vec<_>>().join(", ");
            if values.len() > SHOWN {
                text.push_str(&format!(", ... ({} values)", values.len()));
            }
            text
        }
    }
}

impl Info {
    /// The summary as JSON.
    pub fn to_json(&self) -> serde_json::Value {
        let pairs = |pairs: &[(String, String)]| {
            pairs
                .iter()
                .map(|(name, value)| (name.clone(), value.clone().into()))
                .collect::<serde_json::Map<_, _>>()
        };
        let variable = |variable: &VariableInfo| {
            serde_json::json!({
                "name": variable.name, "type": variable.ty, "dimensions": variable.dimensions,
                "shape": variable.shape, "chunks": variable.chunks, "shards": variable.shards, "filters": variable.filters,
                "raw_bytes": variable.raw_bytes, "stored_bytes": variable.stored_bytes,
                "fragments": variable.fragments.as_ref().map(FragmentsInfo::to_json),
                "attributes": pairs(&variable.attributes), "fault": variable.fault,
            })
        };
        let group = |group: &GroupInfo| {
            let dimensions = group.dimensions.iter().map(|(name, len, unlimited)| {
                serde_json::json!({"name": name, "length": len, "unlimited": unlimited})
            });
            serde_json::json!({
                "path": group.path, "dimensions": dimensions.collect::<Vec<_>>(), "types": group.types,
                "variables": group.variables.iter().map(variable).collect::<Vec<_>>(),
                "attributes": pairs(&group.attributes), "fault": group.fault,
            })
        };
        let facts: serde_json::Map<_, _> =
            self.facts.pairs().into_iter().map(|(name, value)| (name.to_owned(), value.into())).collect();
        serde_json::json!({
            "name": self.name, "url": self.url, "kind": self.kind.to_string(), "facts": facts, "warnings": self.warnings,
            "left_out": self.left_out.iter().map(LeftOut::to_json).collect::<Vec<_>>(),
            "groups": self.groups.iter().map(group).collect::<Vec<_>>(),
        })
    }
}

impl FragmentsInfo {
    fn to_json(&self) -> serde_json::Value {
        serde_json::json!({
            "convention": self.convention, "count": self.count, "shape": self.shape,
            "first": self.first, "last": self.last,
        })
    }
}

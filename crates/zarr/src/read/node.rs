//! The result of walking the metadata objects, for all dialects.
use super::documents::ParsedDocument;
use crate::dialect::Dialect;
use crate::json::{JsonObject, JsonValue};
use ncirrus_layout::{Error, ObjectId};
use ncirrus_model::DimensionLen;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// A dataset's metadata.
#[derive(Debug)]
pub(super) struct DatasetMetadata {
    /// Its dialect.
    pub(super) dialect: Dialect,
    /// Whether consolidated metadata were used.
    pub(super) consolidated: bool,
    /// Version in the superblock.
    pub(super) superblock: Option<String>,
    /// The root group; an array at the root is its only member.
    pub(super) root: GroupNode,
}

/// A group's metadata.
#[derive(Debug, Default)]
pub(super) struct GroupNode {
    /// Simple name.
    pub(super) name: String,
    /// Attributes.
    pub(super) attributes: AttributeHolder,
    /// Dimensions that NCZarr defines here.
    pub(super) dims: Vec<(String, DimensionLen)>,
    /// User-defined types of the 2018 draft.
    pub(super) types: Option<Arc<JsonValue>>,
    /// Variables, in the order in which they are shown.
    pub(super) arrays: Vec<ArrayNode>,
    /// Subgroups, likewise.
    pub(super) groups: Vec<Self>,
    /// Why it is damaged.
    pub(super) fault: Option<Error>,
    /// What was ignored or repaired.
    pub(super) warnings: Vec<String>,
    /// What is not shown because it is damaged; also reported in the warnings.
    pub(super) losses: Vec<String>,
}

/// An array's metadata.
#[derive(Debug)]
pub(super) struct ArrayNode {
    /// Simple name.
    pub(super) name: String,
    /// Where its chunks are.
    pub(super) prefix: ObjectId,
    /// `.zarray` or `zarr.json`, or why there is none.
    pub(super) metadata: Result<Arc<JsonValue>, Error>,
    /// Attributes.
    pub(super) attributes: AttributeHolder,
    /// NCZarr's information about it.
    pub(super) info: Option<ArrayInfo>,
    /// Whether its `<U1` is char: a chunk has one byte per element (docs/spec/nczarr.md 3.12).
    pub(super) has_one_byte_cells: bool,
    /// Faults of the objects with its dimensions and the types of its attributes.
    pub(super) losses: Vec<String>,
}

/// NCZarr's information about an array (docs/spec/nczarr.md 3.5, 6.3).
#[derive(Debug, Default, Clone, PartialEq)]
pub(super) struct ArrayInfo {
    /// Dimensions by path.
    pub(super) dimensions: Vec<String>,
    /// Marked as a scalar.
    pub(super) scalar: bool,
    /// N3: the type for which the Zarr type is a substitute.
    pub(super) alias: Option<String>,
    /// D18: path of the user-defined type.
    pub(super) typedef: Option<String>,
}

/// Attributes as documents: a document or a member of it, and their types.
#[derive(Debug, Default, Clone)]
pub(super) struct AttributeHolder {
    document: Option<Arc<JsonValue>>,
    member: Option<&'static str>,
    /// Types by attribute name, from whichever dictionary exists.
    pub(super) types: HashMap<String, String>,
    /// Why the attributes cannot be read.
    pub(super) fault: Option<Error>,
}

impl AttributeHolder {
    /// Attributes in a document of their own.
    pub(super) fn whole(document: ParsedDocument) -> Self {
        match document {
            None => Self::default(),
            Some(Ok(json)) => Self { document: Some(json), ..Self::default() }.checked(),
            Some(Err(error)) => Self { fault: Some(error), ..Self::default() },
        }
    }

    /// Attributes in a member of a document.
    pub(super) fn member(document: Arc<JsonValue>, member: &'static str) -> Self {
        Self { document: Some(document), member: Some(member), ..Self::default() }.checked()
    }

    fn checked(mut self) -> Self {
        if self.value().is_some_and(|json| !matches!(json, JsonValue::Object(_) | JsonValue::Null)) {
            self.fault = Some(Error::malformed("the attributes are not a JSON object"));
        }
        self
    }

    fn value(&self) -> Option<&JsonValue> {
        let document = self.document.as_deref()?;
        match self.member {
            Some(member) => document.member(member),
            None => Some(document),
        }
    }

    /// All members, including those with a meaning of their own.
    pub(super) fn object(&self) -> Option<&JsonObject> {
        self.value()?.as_object()
    }

    /// The member of that name.
    pub(super) fn find(&self, name: &str) -> Option<&JsonValue> {
        self.object()?.find(name)
    }

    /// The declared type of an attribute.
    pub(super) fn type_of(&self, name: &str) -> Option<&str> {
        self.types.get(name).map(String::as_str)
    }
}

/// The document, if it exists and was parsed.
pub(super) fn usable(document: ParsedDocument) -> Option<Arc<JsonValue>> {
    document.and_then(Result::ok)
}

/// A list of names; entries that are not strings are left out.
pub(super) fn names(json: Option<&JsonValue>) -> Vec<String> {
    let items = json.and_then(JsonValue::as_array).unwrap_or_default();
    items.iter().filter_map(JsonValue::as_str).map(str::to_owned).collect()
}

/// Whether a name from metadata can be one segment of a key: names never lead out of their group.
pub(super) fn is_segment(name: &str) -> bool {
    !name.is_empty() && name != "." && name != ".." && !name.contains('/')
}

/// Dimensions of a group: a size, or an object with `size` and `unlimited` (`docs/spec/nczarr.md` 3.6), by name; or a list of
/// such objects with their names inside (6.3).
pub(super) fn dimensions(json: Option<&JsonValue>, losses: &mut Vec<String>) -> Vec<(String, DimensionLen)> {
    let named: Vec<(String, &JsonValue)> = match json {
        Some(JsonValue::Object(object)) => {
            object.iter().map(|(name, size)| (name.to_owned(), size)).collect()
        }
        Some(JsonValue::Array(list)) => {
            let name_of = |json| {
                JsonValue::member(json, "name").and_then(JsonValue::as_str).unwrap_or_default().to_owned()
            };
            list.items.iter().map(|json| (name_of(json), json)).collect()
        }
        _ => Vec::new(),
    };
    let mut dims = Vec::with_capacity(named.len());
    for (name, json) in named {
        match dimension_len(json).filter(|_| is_segment(&name)) {
            Some(len) => dims.push((name, len)),
            None => losses.push(format!("dimension {name:?} is ignored: it has no size")),
        }
    }
    dims
}

fn dimension_len(json: &JsonValue) -> Option<DimensionLen> {
    if let Some(size) = json.as_u64() {
        return Some(DimensionLen::Fixed(size));
    }
    let size = json.member("size")?.as_u64()?;
    let unlimited = match json.member("unlimited") {
        Some(JsonValue::Bool(flag)) => *flag,
        Some(flag) => flag.as_u64() == Some(1),
        None => false,
    };
    Some(if unlimited { DimensionLen::Unlimited(size) } else { DimensionLen::Fixed(size) })
}

/// A name below a group, and its kind according to the metadata.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct GroupMember {
    /// Simple name.
    pub(super) name: String,
    /// Its kind.
    pub(super) kind: MemberKind,
}

/// The kind of a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MemberKind {
    /// Listed as an array.
    Array,
    /// Listed as a group.
    Group,
    /// Not listed: determined by its own objects.
    Unlisted,
}

/// The members of a group, each once: arrays in the order of `order`, then the other listed ones, then those found
/// only by listing the store (docs/spec/nczarr.md 3.4).
pub(super) fn members(
    order: Vec<String>,
    arrays: Vec<String>,
    groups: Vec<String>,
    children: Vec<String>,
) -> Vec<GroupMember> {
    let kinds = [
        (order, MemberKind::Array),
        (arrays, MemberKind::Array),
        (groups, MemberKind::Group),
        (children, MemberKind::Unlisted),
    ];
    let mut seen = HashSet::new();
    let mut members = Vec::new();
    for (names, kind) in kinds {
        for name in names {
            if is_segment(&name) && seen.insert(name.clone()) {
                members.push(GroupMember { name, kind });
            }
        }
    }
    members
}

/// A member that was read.
#[derive(Debug)]
pub(super) enum MemberNode {
    /// A variable.
    Array(Box<ArrayNode>),
    /// A subgroup.
    Group(Box<GroupNode>),
    /// Neither.
    Nothing,
}

impl GroupNode {
    /// Records what is not shown.
    pub(super) fn lose(&mut self, losses: Vec<String>) {
        self.warnings.extend(losses.iter().cloned());
        self.losses.extend(losses);
    }

    /// Adds the members that were read.
    pub(super) fn adopt(&mut self, nodes: Vec<MemberNode>) {
        for node in nodes {
            match node {
                MemberNode::Array(mut array) => {
                    self.lose(std::mem::take(&mut array.losses));
                    self.arrays.push(*array);
                }
                MemberNode::Group(group) => self.groups.push(*group),
                MemberNode::Nothing => {}
            }
        }
    }

    /// Calls `act` for each array in the group and below it.
    pub(super) fn each_array<'a>(&'a mut self, act: &mut dyn FnMut(&'a mut ArrayNode)) {
        self.arrays.iter_mut().for_each(&mut *act);
        self.groups.iter_mut().for_each(|group| group.each_array(act));
    }

    /// Whether any array in the group or below it satisfies `test`.
    pub(super) fn any_array(&self, test: &dyn Fn(&ArrayNode) -> bool) -> bool {
        self.arrays.iter().any(test) || self.groups.iter().any(|group| group.any_array(test))
    }
}

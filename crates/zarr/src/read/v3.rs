//! The walk over the objects of Zarr v3 and of NCZarr's draft appendix to it (`docs/spec/nczarr.md` 6).
use super::array::check_understood;
use super::documents::{self, DocumentSource, ParsedDocument};
use super::extension;
use super::node::{
    ArrayInfo, ArrayNode, AttributeHolder, DatasetMetadata, GroupMember, GroupNode, MemberKind, MemberNode,
    dimensions, members, names, usable,
};
use crate::dialect::Dialect;
use crate::json::{JsonObject, JsonValue};
use crate::special::{ARRAY, ATTRIBUTES, ATTRIBUTES_3, GROUP, SUPERBLOCK, ZARR_JSON};
use ncirrus_layout::Consolidated;
use ncirrus_layout::{Error, ObjectId, OpenOptions, Step, View, both, join};
use std::collections::HashSet;
use std::sync::Arc;

/// Whether a document is the metadata of a Zarr v3 node.
pub(super) fn is_node(json: &JsonValue) -> bool {
    json.member("zarr_format").and_then(JsonValue::as_u64) == Some(3) && json.member("node_type").is_some()
}

/// Reads everything, starting from the root's metadata.
pub(super) fn walk(
    view: &dyn View,
    root: &ObjectId,
    zarr_json: ParsedDocument,
    options: &OpenOptions,
) -> Step<DatasetMetadata> {
    let Some(json) = usable(zarr_json) else {
        return Err(Error::not_found("no zarr.json").at_object(root).into());
    };
    let consolidated = match options.consolidated {
        Consolidated::Auto => documents::inline(view, root, &json)?,
        Consolidated::Never => None,
    };
    let walker = V3Walker { documents: DocumentSource::new(view, root, consolidated, options.members) };
    let superblock = json.member("attributes").and_then(|attributes| attributes.member(SUPERBLOCK));
    let dialect = if superblock.is_some() { Dialect::Nczarr3 } else { Dialect::V3 };
    let version = superblock.and_then(|superblock| superblock.member("version")).and_then(JsonValue::as_str);
    let superblock = version.map(str::to_owned);
    let group = match node_type(&json) {
        Some("array") => GroupNode { arrays: vec![walker.array(&json, "", "")], ..GroupNode::default() },
        _ => walker.group(&json, "", "", 0)?,
    };
    Ok(DatasetMetadata { dialect, consolidated: walker.documents.is_consolidated(), superblock, root: group })
}

fn node_type(json: &JsonValue) -> Option<&str> {
    json.member("node_type").and_then(JsonValue::as_str)
}

/// The members of the document of a group (Zarr v3).
const MEMBERS: [&str; 4] = ["zarr_format", "node_type", "attributes", "consolidated_metadata"];

struct V3Walker<'a> {
    documents: DocumentSource<'a>,
}

impl V3Walker<'_> {
    /// A group's members; `json` is its own document.
    fn group(&self, json: &Arc<JsonValue>, path: &str, name: &str, depth: u32) -> Step<GroupNode> {
        let mut group =
            GroupNode { name: name.to_owned(), attributes: attributes(json), ..GroupNode::default() };
        let understood = check_understood(json, &MEMBERS)
            .map_err(|error| error.at_object(self.documents.object(path).child(ZARR_JSON)));
        let sound = self.documents.view.limits().depth(depth, "group nesting").and(understood);
        if let Err(error) = sound {
            // Without its root there is no dataset; any other group is kept, with its fault.
            if name.is_empty() {
                return Err(error.into());
            }
            group.fault = Some(error);
            return Ok(group);
        }
        let info = json.member("attributes").and_then(|attributes| attributes.member(GROUP));
        let mut losses = Vec::new();
        group.dims = dimensions(info.and_then(|info| info.member("dimensions")), &mut losses);
        group.lose(losses);
        let list = |key: &str| names(info.and_then(|info| info.member(key)));
        let groups = [list("subgroups"), list("groups")].concat();
        let order = extension::array_order(&group.attributes);
        let listed = members(order, list("arrays"), groups, Vec::new());
        let read_listed = join(&listed, |member| self.member(path, member, depth));
        let are_named = info.is_some_and(|info| info.member("arrays").is_some());
        let (mut nodes, children) = both(read_listed, self.documents.unnamed_children(path, are_named))?;
        let Some(children) = children else {
            if info.is_none() {
                return Self::unlistable(group, &self.documents.object(path));
            }
            group.adopt(nodes);
            return Ok(group);
        };
        let known: HashSet<&str> = listed.iter().map(|member| member.name.as_str()).collect();
        let others = children.into_iter().filter(|name| !known.contains(name.as_str())).collect();
        let others = members(Vec::new(), Vec::new(), Vec::new(), others);
        nodes.extend(join(&others, |member| self.member(path, member, depth))?);
        group.adopt(nodes);
        Ok(group)
    }

    /// A group whose members are neither named nor listed: an error at the root, a fault of the group elsewhere.
    fn unlistable(mut group: GroupNode, object: &ObjectId) -> Step<GroupNode> {
        let error = Error::unsupported("the store cannot list, and the metadata do not name the members");
        let error = error.at_object(object);
        if group.name.is_empty() {
            return Err(error.into());
        }
        group.fault = Some(error);
        Ok(group)
    }

    fn member(&self, parent: &str, member: &GroupMember, depth: u32) -> Step<MemberNode> {
        let name = member.name.as_str();
        let path = if parent.is_empty() { name.to_owned() } else { format!("{parent}/{name}") };
        let object = || self.documents.object(&path).child(ZARR_JSON);
        // A member that cannot be read is kept with its fault, as what it was listed as; without a kind as an array, of
        // which nothing more is read.
        let damaged = |error: Error| match member.kind {
            MemberKind::Group => MemberNode::Group(Box::new(GroupNode {
                name: name.to_owned(),
                fault: Some(error),
                ..GroupNode::default()
            })),
            MemberKind::Array | MemberKind::Unlisted => {
                let (name, prefix) = (name.to_owned(), self.documents.object(&path));
                let attributes = AttributeHolder::default();
                MemberNode::Array(Box::new(ArrayNode {
                    name,
                    prefix,
                    metadata: Err(error),
                    attributes,
                    info: None,
                    has_one_byte_cells: false,
                    losses: Vec::new(),
                }))
            }
        };
        match self.documents.read(&path, ZARR_JSON)? {
            Some(Ok(json)) if node_type(&json) == Some("array") => {
                Ok(MemberNode::Array(Box::new(self.array(&json, &path, name))))
            }
            Some(Ok(json)) if node_type(&json) == Some("group") => {
                Ok(MemberNode::Group(Box::new(self.group(&json, &path, name, depth + 1)?)))
            }
            Some(Ok(_)) => {
                Ok(damaged(Error::malformed("node_type is neither array nor group").at_object(object())))
            }
            Some(Err(error)) => Ok(damaged(error)),
            // Consolidated metadata may have members of groups that have no document of their own.
            None if self.documents.is_implied_group(&path) => {
                let empty = Arc::new(JsonValue::Null);
                Ok(MemberNode::Group(Box::new(self.group(&empty, &path, name, depth + 1)?)))
            }
            None if member.kind == MemberKind::Unlisted => Ok(MemberNode::Nothing),
            None => {
                Ok(damaged(Error::not_found("the member is listed but has no zarr.json").at_object(object())))
            }
        }
    }

    fn array(&self, json: &Arc<JsonValue>, path: &str, name: &str) -> ArrayNode {
        let attributes = attributes(json);
        let info = attributes.find(ARRAY).and_then(ArrayInfo::parse);
        let prefix = self.documents.object(path);
        let (name, metadata) = (name.to_owned(), Ok(Arc::clone(json)));
        ArrayNode { name, prefix, metadata, attributes, info, has_one_byte_cells: false, losses: Vec::new() }
    }
}

/// The attributes with their types (`docs/spec/nczarr.md` 6.3).
fn attributes(json: &Arc<JsonValue>) -> AttributeHolder {
    let mut holder = AttributeHolder::member(Arc::clone(json), "attributes");
    let types = holder
        .find(ATTRIBUTES_3)
        .and_then(|types| types.member("attribute_types"))
        .and_then(JsonValue::as_array);
    let entry = |entry: &JsonValue| {
        let ty = entry.member("configuration").and_then(|configuration| configuration.member("type"))?;
        Some((entry.member("name")?.as_str()?.to_owned(), ty.as_str()?.to_owned()))
    };
    holder.types = types.unwrap_or_default().iter().filter_map(entry).collect();
    // NZ, the netCDF conventions for Zarr v3, has a dictionary.
    let named =
        holder.find(ATTRIBUTES).and_then(|types| types.member("types")).and_then(JsonValue::as_object);
    let named: Vec<(String, String)> = named
        .into_iter()
        .flat_map(JsonObject::iter)
        .filter_map(|(name, word)| Some((name.to_owned(), word.as_str()?.to_owned())))
        .collect();
    holder.types.extend(named);
    holder
}

//! The walk over the objects of Zarr v2 and of every NCZarr dialect built on it (docs/spec/nczarr.md 2 and 3).
use super::array::rules;
use super::documents::{DocumentSource, ParsedDocument};
use super::extension;
use super::node::{
    ArrayInfo, ArrayNode, AttributeHolder, DatasetMetadata, GroupMember, GroupNode, MemberKind, MemberNode,
    dimensions, members, names, usable,
};
use super::one_byte;
use super::provenance::DatasetProvenance;
use crate::dialect::Dialect;
use crate::json::JsonValue;
use crate::special::{
    ARRAY, ARRAY_DIMENSIONS, ATTRIBUTES, D18_ATTRIBUTE_TYPES, D18_ATTRIBUTES, D18_DIMENSIONS, D18_SUPERBLOCK,
    D18_TYPES, GROUP, PROPERTIES, SUPERBLOCK, UC_ARRAY, UC_ATTRIBUTES, UC_GROUP, UC_SUPERBLOCK, V1_ARRAY,
    V1_ATTRIBUTES, V1_GROUP, V1_SUPERBLOCK, V1D_ARRAY, V1D_ATTRIBUTES, ZARRAY, ZATTRS, ZGROUP,
};
use ncirrus_layout::{Error, Step, both, join};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Whether the root holds any object of Zarr v2.
pub(super) fn is_there(documents: &DocumentSource<'_>) -> Step<bool> {
    let found = join([ZGROUP, ZARRAY, ZATTRS], |name| documents.read("", name))?;
    Ok(documents.is_consolidated() || found.into_iter().any(|document| usable(document).is_some()))
}

/// Reads everything; `None` if the root has no object of Zarr v2. With `reads_bare`, it may have none if there are arrays
/// or groups below it, as in netCDF-C.
pub(super) fn walk(documents: &DocumentSource<'_>, reads_bare: bool) -> Step<Option<DatasetMetadata>> {
    let with_names = |stall| both(Err(stall), documents.children("")).map(|(none, _)| none);
    let bag = match NodeObjects::read(documents, "", MARKERS.to_vec()) {
        Ok(bag) => bag,
        Err(stall) if documents.trusts_names() => return Err(stall),
        Err(stall) => return with_names(stall),
    };
    let is_bare = !documents.is_consolidated() && !MARKERS.iter().any(|name| bag.is_there(name));
    if is_bare {
        match MARKERS.iter().find_map(|name| bag.error(name)) {
            Some(error) => return Err(error.into()),
            None if !reads_bare => return Ok(None),
            None => {}
        }
    }
    let bag = match bag.with_superblocks(documents) {
        Ok(bag) => bag.with_old_objects(documents)?,
        Err(stall) => return with_names(stall),
    };
    let mut dialect = bag.dialect();
    let sorts = DatasetProvenance::of(&bag.attributes()).is_netcdf_c();
    let walker = V2Walker { documents, dialect, sorts, names_members: bag.names_members() };
    let mut root = walker.root(&bag, documents.unnamed_children("", bag.names_members()))?;
    if is_bare && root.arrays.is_empty() && root.groups.is_empty() {
        return Ok(None);
    }
    let rules = rules(dialect, &DatasetProvenance::of(&root.attributes));
    one_byte::find(documents.view, &mut root, rules)?;
    let is_named = |array: &ArrayNode| array.attributes.find(ARRAY_DIMENSIONS).is_some();
    if root.any_array(&is_named) {
        dialect = match dialect {
            Dialect::UpperCase => Dialect::UpperCaseXarray,
            Dialect::Plain if root.attributes.find(PROPERTIES).is_some() => Dialect::PlainXarray,
            Dialect::Plain => Dialect::Xarray,
            other => other,
        };
    }
    let superblock = bag.superblock_version();
    Ok(Some(DatasetMetadata { dialect, consolidated: documents.is_consolidated(), superblock, root }))
}

/// The objects of a root, of which at least one must exist (docs/spec/nczarr.md 2.2).
pub(super) const MARKERS: [&str; 3] = [ZGROUP, ZATTRS, ZARRAY];
/// Further objects of dialects that keep their superblock in none of these; they have references to others.
const SUPERBLOCKS: [&str; 2] = [V1_SUPERBLOCK, D18_SUPERBLOCK];
const V1_GROUP_OBJECTS: &[&str] = &[V1_GROUP, V1_ATTRIBUTES, V1D_ATTRIBUTES];
const V1_ARRAY_OBJECTS: &[&str] = &[V1_ARRAY, V1D_ARRAY, V1_ATTRIBUTES, V1D_ATTRIBUTES];
const D18_GROUP_OBJECTS: &[&str] = &[D18_DIMENSIONS, D18_TYPES, D18_ATTRIBUTES, D18_ATTRIBUTE_TYPES];
const D18_ARRAY_OBJECTS: &[&str] = &[D18_ATTRIBUTES, D18_ATTRIBUTE_TYPES];

struct V2Walker<'a> {
    documents: &'a DocumentSource<'a>,
    dialect: Dialect,
    /// Whether unlisted members are shown in byte order of their names even if consolidated metadata have another
    /// order: netcdf-c does so (docs/spec/nczarr.md 5.1).
    sorts: bool,
    /// Whether the root's document names its members: then those of the other groups do, too.
    names_members: bool,
}

impl V2Walker<'_> {
    fn root(&self, bag: &NodeObjects, children: Step<Option<Vec<String>>>) -> Step<GroupNode> {
        let is_array = bag.is_there(ZARRAY);
        let children = if is_array && !bag.is_there(ZGROUP) { Ok(Some(Vec::new())) } else { children };
        let mut group = self.group_from(bag, children, "", 0)?;
        if is_array {
            let attributes = std::mem::take(&mut group.attributes);
            // Faults of the other objects are reported as the group's.
            let array = self.array_from(bag, "", "");
            group.arrays.insert(0, ArrayNode { attributes, losses: Vec::new(), ..array });
        }
        match group.fault.take() {
            Some(error) => Err(error.at_object(self.documents.root).into()),
            None => Ok(group),
        }
    }

    /// A group's own objects and its members.
    fn group(&self, path: &str, name: &str, depth: u32) -> Step<GroupNode> {
        if let Err(error) = self.documents.view.limits().depth(depth, "group nesting") {
            return Ok(GroupNode { name: name.to_owned(), fault: Some(error), ..GroupNode::default() });
        }
        let objects = self.objects(&[ZGROUP, ZATTRS], V1_GROUP_OBJECTS, D18_GROUP_OBJECTS);
        let bag = NodeObjects::read(self.documents, path, objects);
        let (bag, children) = if self.names_members && self.documents.trusts_names() {
            let bag = bag?;
            let children = self.documents.unnamed_children(path, bag.names_members());
            (bag, children)
        } else {
            both(bag, self.documents.children(path)).map(|(bag, children)| (bag, Ok(children)))?
        };
        let mut group = self.group_from(&bag, children, path, depth)?;
        name.clone_into(&mut group.name);
        if bag.is_empty() && !self.documents.is_implied_group(path) {
            let object = self.documents.object(path).child(ZGROUP);
            group.fault = Some(Error::not_found("the group is listed but has no objects").at_object(object));
        } else if group.fault.is_none() {
            group.fault = bag.error(ZGROUP).or_else(|| bag.error(V1_GROUP));
        }
        Ok(group)
    }

    /// A group from its own objects. Listed members do not wait for the listing of the store.
    fn group_from(
        &self,
        bag: &NodeObjects,
        children: Step<Option<Vec<String>>>,
        path: &str,
        depth: u32,
    ) -> Step<GroupNode> {
        let mut group = GroupNode { attributes: bag.attributes(), ..GroupNode::default() };
        let mut losses = bag.errors_but(&[ZATTRS, D18_ATTRIBUTES]);
        let info = bag.group_info();
        let dims = match &info {
            Some(info) => info.member("dimensions").or_else(|| info.member("dims")),
            None => bag.json(D18_DIMENSIONS),
        };
        group.dims = dimensions(dims, &mut losses);
        group.lose(losses);
        group.types = bag.document(D18_TYPES);
        let list = |long: &str, short: &str| {
            names(info.and_then(|info| info.member(long).or_else(|| info.member(short))))
        };
        let order = extension::array_order(&group.attributes);
        let listed = members(order, list("arrays", "vars"), list("groups", "groups"), Vec::new());
        let read = |members: &[GroupMember]| join(members, |member| self.member(path, member, depth));
        let (mut nodes, children) = both(read(&listed), children)?;
        if children.is_none() && info.is_none() {
            group.fault =
                Some(Error::unsupported("the store cannot list, and the metadata do not name the members"));
        }
        let known: HashSet<&str> = listed.iter().map(|member| member.name.as_str()).collect();
        let mut others = children.unwrap_or_default();
        others.retain(|name| !known.contains(name.as_str()));
        if self.sorts {
            others.sort_unstable();
        }
        nodes.extend(read(&members(Vec::new(), Vec::new(), Vec::new(), others))?);
        group.adopt(nodes);
        Ok(group)
    }

    fn member(&self, parent: &str, member: &GroupMember, depth: u32) -> Step<MemberNode> {
        let name = member.name.as_str();
        let path = if parent.is_empty() { name.to_owned() } else { format!("{parent}/{name}") };
        let group = || Ok(MemberNode::Group(Box::new(self.group(&path, name, depth + 1)?)));
        if member.kind == MemberKind::Group {
            return group();
        }
        let mut own = vec![ZARRAY, ZATTRS];
        if member.kind == MemberKind::Unlisted {
            own.push(ZGROUP);
        }
        let bag = NodeObjects::read(
            self.documents,
            &path,
            self.objects(&own, V1_ARRAY_OBJECTS, D18_ARRAY_OBJECTS),
        )?;
        let is_group = !bag.is_absent(ZGROUP) || self.documents.is_implied_group(&path);
        match member.kind {
            MemberKind::Unlisted if bag.is_absent(ZARRAY) && is_group => group(),
            MemberKind::Unlisted if bag.is_absent(ZARRAY) => Ok(MemberNode::Nothing),
            _ => Ok(MemberNode::Array(Box::new(self.array_from(&bag, &path, name)))),
        }
    }

    fn array_from(&self, bag: &NodeObjects, path: &str, name: &str) -> ArrayNode {
        let prefix = self.documents.object(path);
        let metadata =
            match bag.documents.get(ZARRAY) {
                Some(Ok(json)) => Ok(Arc::clone(json)),
                Some(Err(error)) => Err(error.clone()),
                None => Err(Error::not_found("the array is listed but has no .zarray")
                    .at_object(prefix.child(ZARRAY))),
            };
        ArrayNode {
            name: name.to_owned(),
            prefix,
            metadata,
            attributes: bag.attributes(),
            info: bag.array_info(),
            has_one_byte_cells: false,
            losses: bag.errors_but(&[ZARRAY, ZATTRS, D18_ATTRIBUTES]),
        }
    }

    /// The objects to request: only those that the dialect has.
    fn objects(&self, own: &[&'static str], v1: &[&'static str], d18: &[&'static str]) -> Vec<&'static str> {
        match self.dialect {
            Dialect::V1 | Dialect::V1Documented => [own, v1].concat(),
            Dialect::Draft2018 => [own, d18].concat(),
            _ => own.to_vec(),
        }
    }
}

/// The metadata objects of one node, by name; absent ones are left out.
struct NodeObjects {
    documents: HashMap<&'static str, Result<Arc<JsonValue>, Error>>,
}

impl NodeObjects {
    fn read(documents: &DocumentSource<'_>, path: &str, objects: Vec<&'static str>) -> Step<Self> {
        let read = |name: &'static str| Ok((name, documents.read(path, name)?));
        let all: Vec<(&'static str, ParsedDocument)> = join(objects, read)?;
        let found = all.into_iter().filter_map(|(name, document)| Some((name, document?)));
        Ok(Self { documents: found.collect() })
    }

    /// Adds the root's superblocks that are separate objects, unless there is one elsewhere.
    fn with_superblocks(mut self, documents: &DocumentSource<'_>) -> Step<Self> {
        if documents.is_consolidated() || self.dialect() == Dialect::Plain {
            self.documents.extend(Self::read(documents, "", SUPERBLOCKS.to_vec())?.documents);
        }
        Ok(self)
    }

    /// Adds the root's further objects, in dialects that have them.
    fn with_old_objects(mut self, documents: &DocumentSource<'_>) -> Step<Self> {
        let objects = match () {
            () if self.is_there(V1_SUPERBLOCK) => V1_GROUP_OBJECTS,
            () if self.is_there(D18_SUPERBLOCK) => D18_GROUP_OBJECTS,
            () => return Ok(self),
        };
        self.documents.extend(Self::read(documents, "", objects.to_vec())?.documents);
        Ok(self)
    }

    fn is_empty(&self) -> bool {
        self.documents.is_empty()
    }

    fn is_there(&self, name: &str) -> bool {
        self.json(name).is_some()
    }

    fn is_absent(&self, name: &str) -> bool {
        !self.documents.contains_key(name)
    }

    fn error(&self, name: &str) -> Option<Error> {
        self.documents.get(name)?.as_ref().err().cloned()
    }

    /// Faults of the objects, except those that are reported elsewhere.
    fn errors_but(&self, others: &[&str]) -> Vec<String> {
        let damaged = self.documents.iter().filter(|(name, _)| !others.contains(*name));
        let mut errors: Vec<String> =
            damaged.filter_map(|(_, document)| document.as_ref().err()).map(ToString::to_string).collect();
        errors.sort_unstable();
        errors
    }

    fn document(&self, name: &str) -> Option<Arc<JsonValue>> {
        usable(self.documents.get(name).cloned())
    }

    fn json(&self, name: &str) -> Option<&JsonValue> {
        self.documents.get(name)?.as_ref().ok().map(AsRef::as_ref)
    }

    /// A member of the first of the objects that exists.
    fn member(&self, places: &[(&str, &str)]) -> Option<&JsonValue> {
        places.iter().find_map(|(object, member)| self.json(object)?.member(member))
    }

    /// The dialect, detected from the root's objects (docs/spec/nczarr.md 2.2).
    fn dialect(&self) -> Dialect {
        let has = |object, member| self.member(&[(object, member)]).is_some();
        if self.is_there(V1_SUPERBLOCK) {
            let documented = self.is_there(V1D_ATTRIBUTES) && !self.is_there(V1_ATTRIBUTES);
            return if documented { Dialect::V1Documented } else { Dialect::V1 };
        }
        match () {
            () if has(ZATTRS, SUPERBLOCK) => Dialect::Attributes,
            () if has(ZGROUP, SUPERBLOCK) => Dialect::LowerCase,
            () if has(ZGROUP, UC_SUPERBLOCK) => Dialect::UpperCase,
            () if self.is_there(D18_SUPERBLOCK) => Dialect::Draft2018,
            () => Dialect::Plain,
        }
    }

    fn superblock_version(&self) -> Option<String> {
        let places = [(ZATTRS, SUPERBLOCK), (ZGROUP, SUPERBLOCK), (ZGROUP, UC_SUPERBLOCK)];
        let member = self.member(&places).and_then(|superblock| superblock.member("version"));
        let object = || self.member(&[(V1_SUPERBLOCK, "nczarr_version"), (D18_SUPERBLOCK, "nczarr_version")]);
        Some(member.or_else(object)?.as_str()?.to_owned())
    }

    fn group_info(&self) -> Option<&JsonValue> {
        self.member(&[(ZATTRS, GROUP), (ZGROUP, GROUP), (ZGROUP, UC_GROUP)]).or_else(|| self.json(V1_GROUP))
    }

    /// Whether members are named; NCZarr's groups always name them.
    fn names_members(&self) -> bool {
        self.group_info().is_some_and(|info| info.member("arrays").or_else(|| info.member("vars")).is_some())
    }

    fn array_info(&self) -> Option<ArrayInfo> {
        let member = self.member(&[(ZATTRS, ARRAY), (ZARRAY, ARRAY), (ZARRAY, UC_ARRAY)]);
        let info = member.or_else(|| self.json(V1_ARRAY)).or_else(|| self.json(V1D_ARRAY));
        match info {
            Some(info) => ArrayInfo::parse(info),
            None => ArrayInfo::parse_draft(self.json(ZARRAY)?),
        }
    }

    /// The attributes with their types.
    fn attributes(&self) -> AttributeHolder {
        let own = if self.is_absent(ZATTRS) { D18_ATTRIBUTES } else { ZATTRS };
        let mut holder = AttributeHolder::whole(self.documents.get(own).cloned());
        let member = self.member(&[(ZATTRS, ATTRIBUTES), (ZATTRS, UC_ATTRIBUTES)]);
        let object = || self.json(V1_ATTRIBUTES).or_else(|| self.json(V1D_ATTRIBUTES));
        let types = member.or_else(object).and_then(|json| json.member("types"));
        if let Some(types) = types.or_else(|| self.json(D18_ATTRIBUTE_TYPES)).and_then(JsonValue::as_object) {
            let named =
                types.iter().filter_map(|(name, ty)| Some((name.to_owned(), ty.as_str()?.to_owned())));
            holder.types = named.collect();
        }
        holder
    }
}

impl ArrayInfo {
    /// Array information of V1, UC, LC, ATT, N3; `None` if it has no list of dimensions.
    pub(super) fn parse(json: &JsonValue) -> Option<Self> {
        let dimensions = json.member("dimension_references").or_else(|| json.member("dimrefs"))?;
        dimensions.as_array()?;
        let marked = json.member("scalar").and_then(JsonValue::as_u64) == Some(1);
        let stored = json.member("storage").and_then(JsonValue::as_str) == Some("scalar");
        let alias = json.member("type_alias").and_then(JsonValue::as_str).map(str::to_owned);
        Some(Self { dimensions: names(Some(dimensions)), scalar: marked || stored, alias, typedef: None })
    }

    /// The additions of the 2018 draft to `.zarray`.
    fn parse_draft(zarray: &JsonValue) -> Option<Self> {
        let dimensions = zarray.member("dimensions")?;
        dimensions.as_array()?;
        let typedef = zarray.member("typedef").and_then(JsonValue::as_str).map(str::to_owned);
        Some(Self { dimensions: names(Some(dimensions)), typedef, ..Self::default() })
    }
}

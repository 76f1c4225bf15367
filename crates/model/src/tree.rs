//! The tree of groups, dimensions, types and variables.
//!
//! Members have ids that are never reused: the id of a deleted member stays unused, so that a reader with an older
//! model cannot mistake one variable for another.
use crate::error::Fault;
use crate::{AttributeState, Attributes, FileRoom, ModelError, TypeRef, UserType, Variable, check_name};

mod changes;
mod edit;
mod lookup;
mod members;
#[cfg(test)]
mod tests;
mod users;

use members::{GroupIndexes, LentVariable};
use users::DimensionUsers;

pub use changes::Changes;
use changes::Tracking;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(u32);

        impl $name {
            /// The id's number, for tables indexed by id.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

id!(
    /// A group of a [`Model`].
    GroupId
);
id!(
    /// A dimension of a [`Model`].
    DimId
);
id!(
    /// A user-defined type of a [`Model`].
    TypeId
);
id!(
    /// A variable of a [`Model`].
    VarId
);

/// Something that has attributes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum NodeId {
    /// A group; its attributes are global in the root group.
    Group(GroupId),
    /// A variable.
    Variable(VarId),
}

/// A group: members in definition order.
#[derive(Clone, PartialEq)]
pub struct Group {
    /// Simple name; empty for the root.
    pub name: String,
    /// The enclosing group; `None` for the root.
    pub parent: Option<GroupId>,
    /// Subgroups.
    pub groups: Vec<GroupId>,
    /// Dimensions defined here.
    pub dims: Vec<DimId>,
    /// Types defined here.
    pub types: Vec<TypeId>,
    /// Variables.
    pub vars: Vec<VarId>,
    /// Attributes.
    pub attributes: AttributeState,
    /// Set if the group exists but is damaged; what could be read of it is still listed.
    pub fault: Option<Fault>,
    indexes: GroupIndexes,
}

/// What a group has that is not subject to rules, for changing.
#[derive(Debug)]
pub struct GroupMut<'a> {
    /// Attributes.
    pub attributes: &'a mut AttributeState,
    /// Set if the group exists but is damaged.
    pub fault: &'a mut Option<Fault>,
}

/// Without what follows from the rest: equal ones are shown alike.
impl std::fmt::Debug for Group {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { name, parent, groups, dims, types, vars, attributes, fault, .. } = self;
        f.debug_struct("Group")
            .field("name", name)
            .field("parent", parent)
            .field("groups", groups)
            .field("dims", dims)
            .field("types", types)
            .field("vars", vars)
            .field("attributes", attributes)
            .field("fault", fault)
            .finish()
    }
}

impl Group {
    /// Whether it has no members; attributes do not count.
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty() && self.dims.is_empty() && self.types.is_empty() && self.vars.is_empty()
    }
}

/// A dimension: a name and a length that variables share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dimension {
    /// Simple name.
    pub name: String,
    /// Current length.
    pub len: DimensionLen,
}

/// The length of a dimension.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DimensionLen {
    /// It never changes.
    Fixed(u64),
    /// Current length of an unlimited dimension.
    Unlimited(u64),
}

impl DimensionLen {
    /// The current length.
    pub fn current(self) -> u64 {
        match self {
            Self::Fixed(len) | Self::Unlimited(len) => len,
        }
    }

    /// Whether it may grow.
    pub fn is_unlimited(self) -> bool {
        matches!(self, Self::Unlimited(_))
    }
}

/// A dataset's description: groups, dimensions, types, variables and attributes.
///
/// Members are found by name in constant time, however many a group has, and so are the users of a dimension.
#[derive(Clone)]
pub struct Model {
    groups: Vec<Option<Group>>,
    dims: Vec<Option<(GroupId, Dimension)>>,
    types: Vec<Option<(GroupId, UserType)>>,
    vars: Vec<Option<(GroupId, Variable)>>,
    room: Option<FileRoom>,
    tracking: Tracking,
    /// The variable that was changed last by [`variable_mut`](Self::variable_mut).
    lent: Option<LentVariable>,
    users: DimensionUsers,
}

/// Without what follows from the rest: equal ones are shown alike.
impl std::fmt::Debug for Model {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { groups, dims, types, vars, room, .. } = self;
        f.debug_struct("Model")
            .field("groups", groups)
            .field("dims", dims)
            .field("types", types)
            .field("vars", vars)
            .field("room", room)
            .finish()
    }
}

impl PartialEq for Model {
    fn eq(&self, other: &Self) -> bool {
        let Self { groups, dims, types, vars, room, lent: _, tracking: _, users: _ } = self;
        *groups == other.groups
            && *dims == other.dims
            && *types == other.types
            && *vars == other.vars
            && *room == other.room
    }
}

impl Default for Model {
    fn default() -> Self {
        Self::new()
    }
}

fn new_group(name: String, parent: Option<GroupId>) -> Group {
    Group {
        name,
        parent,
        groups: Vec::new(),
        dims: Vec::new(),
        types: Vec::new(),
        vars: Vec::new(),
        attributes: AttributeState::Known(Attributes::new()),
        fault: None,
        indexes: GroupIndexes::default(),
    }
}

/// The id for the next member of a table; a model never holds 2^32 members.
fn next_id(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}

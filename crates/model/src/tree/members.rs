//! The members of groups by name, whatever their kind.
use super::{DimId, Group, GroupId, Model, TypeId, VarId};
use crate::name_index::{Lookup, NameIndex};

/// Indexes of a group's members, one for each kind.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct GroupIndexes {
    groups: NameIndex,
    dims: NameIndex,
    types: NameIndex,
    vars: NameIndex,
}

/// A variable that was lent for changing. Its name may be another one by now.
#[derive(Debug, Clone, Copy)]
pub(super) struct LentVariable {
    id: VarId,
    /// Where the index of its group has it.
    hash: u32,
}

/// The id of a kind of members.
pub(super) trait MemberId: Copy + Ord {
    fn new(at: u32) -> Self;
    fn at(self) -> u32;
    fn name(self, model: &Model) -> Option<&str>;
    fn list(group: &Group) -> &[Self];
    fn list_mut(group: &mut Group) -> &mut Vec<Self>;
    fn index(group: &Group) -> &NameIndex;
    fn index_mut(group: &mut Group) -> &mut NameIndex;
}

macro_rules! member_id {
    ($id:ident, $list:ident, $member:ident) => {
        impl MemberId for $id {
            fn new(at: u32) -> Self {
                Self(at)
            }
            fn at(self) -> u32 {
                self.0
            }
            fn name(self, model: &Model) -> Option<&str> {
                model.$member(self).map(|member| member.name.as_str())
            }
            fn list(group: &Group) -> &[Self] {
                &group.$list
            }
            fn list_mut(group: &mut Group) -> &mut Vec<Self> {
                &mut group.$list
            }
            fn index(group: &Group) -> &NameIndex {
                &group.indexes.$list
            }
            fn index_mut(group: &mut Group) -> &mut NameIndex {
                &mut group.indexes.$list
            }
        }
    };
}

member_id!(GroupId, groups, group);
member_id!(DimId, dims, dimension);
member_id!(TypeId, types, user_type);
member_id!(VarId, vars, variable);

impl Model {
    /// The first member of that name.
    pub(super) fn member_in<I: MemberId>(&self, group: GroupId, name: &str) -> Option<I> {
        let group = self.group(group)?;
        match I::index(group).find(name, |at| I::new(at).name(self)) {
            Lookup::Indexed(at) => at.map(I::new),
            Lookup::Search => self.search(group, name),
        }
    }

    fn search<I: MemberId>(&self, group: &Group, name: &str) -> Option<I> {
        I::list(group).iter().copied().find(|id| id.name(self) == Some(name))
    }

    /// The first variable of that name. The name of the one that was lent last may differ from the index.
    pub(super) fn variable_named(&self, group: GroupId, name: &str) -> Option<VarId> {
        let Some(lent) = self.lent.filter(|lent| self.variable_group(lent.id) == Some(group)) else {
            return self.member_in(group, name);
        };
        let home = self.group(group)?;
        if home.indexes.vars.has_repeated() {
            return self.search(home, name);
        }
        let lent = (lent.id.name(self) == Some(name)).then_some(lent.id);
        let indexed = self.member_in(group, name);
        lent.into_iter().chain(indexed).min()
    }

    /// Adds the last member of a group to it.
    pub(super) fn enlist<I: MemberId>(&mut self, group: GroupId, id: I) {
        if let Some(group) = self.group_slot(group) {
            I::list_mut(group).push(id);
        }
        self.with_index::<I>(group, |index, list, model| {
            index.add(id.at(), list.iter().map(|id| id.at()), |at| I::new(at).name(model));
        });
    }

    /// Removes a member, which has left its table already, from its group. Ids increase, as members are added at the
    /// end only.
    pub(super) fn delist<I: MemberId>(&mut self, group: GroupId, id: I, name: &str) {
        let Some(home) = self.group_slot(group) else { return };
        let list = I::list_mut(home);
        if let Ok(at) = list.binary_search(&id) {
            list.remove(at);
        }
        if let Some(hash) = I::index(home).hash(name) {
            self.forget(group, id, hash);
        }
    }

    /// Puts the name of a member in place of its former one.
    pub(super) fn renamed<I: MemberId>(&mut self, group: GroupId, id: I, former: &str) {
        if let Some(hash) = self.group(group).and_then(|group| I::index(group).hash(former)) {
            self.moved(group, id, hash);
        }
    }

    /// Notes that a variable's name may change without notice.
    pub(super) fn lend(&mut self, id: VarId) {
        if self.lent.is_some_and(|lent| lent.id == id) {
            return;
        }
        self.take_back();
        let hash = |group: GroupId| self.group(group)?.indexes.vars.hash(id.name(self)?);
        self.lent = self.variable_group(id).and_then(hash).map(|hash| LentVariable { id, hash });
    }

    /// Notes the name of the variable that was lent last.
    pub(super) fn take_back(&mut self) {
        if let Some(LentVariable { id, hash }) = self.lent.take()
            && let Some(group) = self.variable_group(id)
        {
            let now = self.group(group).and_then(|group| group.indexes.vars.hash(id.name(self)?));
            if now != Some(hash) {
                self.moved(group, id, hash);
            }
        }
    }

    fn moved<I: MemberId>(&mut self, group: GroupId, id: I, hash: u32) {
        self.forget(group, id, hash);
        self.with_index::<I>(group, |index, list, model| {
            index.add(id.at(), list.iter().map(|id| id.at()), |at| I::new(at).name(model));
        });
    }

    fn forget<I: MemberId>(&mut self, group: GroupId, id: I, hash: u32) {
        self.with_index::<I>(group, |index, list, model| {
            index.remove(id.at(), hash, list.iter().map(|id| id.at()), |at| I::new(at).name(model));
        });
    }

    /// Changes an index, for which names of the model are needed.
    fn with_index<I: MemberId>(&mut self, id: GroupId, change: impl FnOnce(&mut NameIndex, &[I], &Self)) {
        let Some(group) = self.group_slot(id) else { return };
        let mut index = std::mem::take(I::index_mut(group));
        if let Some(group) = self.group(id) {
            change(&mut index, I::list(group), self);
        }
        if let Some(group) = self.group_slot(id) {
            *I::index_mut(group) = index;
        }
    }
}

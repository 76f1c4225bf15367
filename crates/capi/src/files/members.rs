//! The definitions of a file, and the numbers under which programs know its groups, dimensions and types.
use crate::c_types::codes::{Code, NC_EBADDIM, NC_EBADTYPE, Outcome};
use crate::c_types::numbers::member;
use crate::files::numbered_members::NumberedMembers;
use ncirrus::{Atomic, DimId, Draft, GroupId, Model, TypeId, TypeRef};
use std::collections::BTreeMap;
use std::ffi::c_int;
use std::sync::Arc;

/// The number of the first user-defined type.
pub(crate) const FIRST_USER_TYPE: c_int = 32;

/// The definitions of a file, its members in the order of their numbers, and how programs lay out compounds.
#[derive(Debug, Clone)]
pub(crate) struct FileMembers {
    pub(crate) model: Draft,
    numbers: Arc<MemberNumbers>,
    /// Sizes and offsets of compounds that programs defined.
    pub(crate) layouts: Arc<BTreeMap<TypeId, CompoundLayout>>,
}

/// Members in the order of their numbers.
#[derive(Debug, Clone, Default)]
struct MemberNumbers {
    groups: NumberedMembers<GroupId>,
    dims: NumberedMembers<DimId>,
    types: NumberedMembers<TypeId>,
}

/// A compound in the memory of the program that defined it.
#[derive(Debug, Clone, Default)]
pub(crate) struct CompoundLayout {
    /// Bytes of one element.
    pub(crate) len: usize,
    /// Where the fields begin.
    pub(crate) offsets: Vec<usize>,
}

impl FileMembers {
    /// Dimensions in the order of definition, other members in that of their groups.
    pub(crate) fn of(model: Arc<Model>) -> Self {
        let members = Self { model: model.into(), numbers: Arc::default(), layouts: Arc::default() };
        members.numbered()
    }

    /// The same with numbers for members that had none.
    pub(crate) fn numbered(mut self) -> Self {
        self.number_new();
        self
    }

    /// Gives numbers to members that have none.
    pub(crate) fn number_new(&mut self) {
        let numbers = Arc::make_mut(&mut self.numbers);
        let mut dims: Vec<DimId> = Vec::new();
        for id in self.model.walk() {
            numbers.groups.add(id);
            if let Some(group) = self.model.group(id) {
                dims.extend(&group.dims);
                group.types.iter().for_each(|id| _ = numbers.types.add(*id));
            }
        }
        // A dimension of a group may have been defined before one of the root group.
        dims.sort_unstable();
        dims.into_iter().for_each(|id| _ = numbers.dims.add(id));
    }

    /// Members of the same file as it was opened again: those that had a number keep it.
    pub(crate) fn reopened(&self, model: Arc<Model>) -> Self {
        let old = &self.model;
        let group = |id: &GroupId| model.group_at(&old.group_path(*id));
        let dim = |id: &DimId| model.dimension_at(&old.dimension_path(*id));
        let ty = |id: &TypeId| model.type_at(&old.type_path(*id));
        let numbers = MemberNumbers {
            groups: self.numbers.groups.list().iter().filter_map(group).collect(),
            dims: self.numbers.dims.list().iter().filter_map(dim).collect(),
            types: self.numbers.types.list().iter().filter_map(ty).collect(),
        };
        let layout = |(id, layout): (&TypeId, &CompoundLayout)| Some((ty(id)?, layout.clone()));
        let layouts = self.layouts.iter().filter_map(layout).collect();
        Self { numbers: Arc::new(numbers), layouts: Arc::new(layouts), model: model.into() }.numbered()
    }

    /// Definitions that go on in place of these.
    pub(crate) fn successor(&self) -> Self {
        let (numbers, layouts) = (Arc::clone(&self.numbers), Arc::clone(&self.layouts));
        Self { model: self.model.successor(), numbers, layouts }
    }

    /// The definitions, to be changed.
    pub(crate) fn model_mut(&mut self) -> &mut Model {
        self.model.model_mut()
    }

    /// Gives the next number to a new dimension.
    pub(crate) fn add_dim(&mut self, id: DimId) -> c_int {
        Arc::make_mut(&mut self.numbers).dims.add(id)
    }

    /// Gives the next number to a new group.
    pub(crate) fn add_group(&mut self, id: GroupId) -> c_int {
        Arc::make_mut(&mut self.numbers).groups.add(id)
    }

    /// Gives the next number to a new type.
    pub(crate) fn add_type(&mut self, id: TypeId) -> c_int {
        FIRST_USER_TYPE.saturating_add(Arc::make_mut(&mut self.numbers).types.add(id))
    }

    /// The group with a number.
    pub(crate) fn group(&self, number: usize) -> Option<GroupId> {
        self.numbers.groups.list().get(number).copied()
    }

    /// The number of a group.
    pub(crate) fn number_of_group(&self, id: GroupId) -> c_int {
        self.numbers.groups.number_of(id)
    }

    /// How many types there are.
    pub(crate) fn type_count(&self) -> usize {
        self.numbers.types.list().len()
    }

    /// The number of a dimension.
    pub(crate) fn number_of_dim(&self, id: DimId) -> c_int {
        self.numbers.dims.number_of(id)
    }

    /// The dimension with a number.
    ///
    /// # Errors
    /// `NC_EBADDIM`.
    pub(crate) fn dim(&self, number: c_int) -> Outcome<DimId> {
        member(self.numbers.dims.list(), number).ok_or(Code(NC_EBADDIM))
    }

    /// The number of a type.
    pub(crate) fn number_of_type(&self, ty: TypeRef) -> c_int {
        match ty {
            TypeRef::Atomic(atomic) => c_int::from(atomic.number()),
            TypeRef::User(id) => self.numbers.types.number_of(id).saturating_add(FIRST_USER_TYPE),
        }
    }

    /// The type with a number.
    ///
    /// # Errors
    /// `NC_EBADTYPE`.
    pub(crate) fn ty(&self, number: c_int) -> Outcome<TypeRef> {
        let user =
            || member(self.numbers.types.list(), number.checked_sub(FIRST_USER_TYPE)?).map(TypeRef::User);
        atomic_of(number).map(TypeRef::Atomic).or_else(user).ok_or(Code(NC_EBADTYPE))
    }
}

/// The atomic type with a number.
pub(crate) fn atomic_of(number: c_int) -> Option<Atomic> {
    Atomic::ALL.into_iter().find(|atomic| c_int::from(atomic.number()) == number)
}

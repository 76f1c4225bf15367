//! Members of one kind with the numbers under which programs know them.
use crate::c_types::numbers::number;
use std::collections::HashMap;
use std::ffi::c_int;
use std::hash::Hash;

/// Ids in the order of their numbers, which begin at zero.
#[derive(Debug, Clone)]
pub(super) struct NumberedMembers<I> {
    list: Vec<I>,
    numbers: HashMap<I, c_int>,
}

impl<I> Default for NumberedMembers<I> {
    fn default() -> Self {
        Self { list: Vec::new(), numbers: HashMap::new() }
    }
}

impl<I: Copy + Eq + Hash> NumberedMembers<I> {
    /// The number of a member; one that has none gets the next.
    pub(super) fn add(&mut self, id: I) -> c_int {
        let next = number(self.list.len());
        *self.numbers.entry(id).or_insert_with(|| {
            self.list.push(id);
            next
        })
    }

    /// The number of a member; -1 if it has none.
    pub(super) fn number_of(&self, id: I) -> c_int {
        self.numbers.get(&id).copied().unwrap_or(-1)
    }

    /// All members.
    pub(super) fn list(&self) -> &[I] {
        &self.list
    }
}

impl<I: Copy + Eq + Hash> FromIterator<I> for NumberedMembers<I> {
    fn from_iter<T: IntoIterator<Item = I>>(ids: T) -> Self {
        let mut members = Self::default();
        ids.into_iter().for_each(|id| _ = members.add(id));
        members
    }
}

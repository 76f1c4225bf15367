//! Positions by name, beside a list whose members have names.
//!
//! A [`NameIndex`] holds hashes and positions, no names: names are compared where hashes are equal. So it takes 8 to 32
//! bytes for each member, is copied in one piece, and never returns a member of another name. Short lists are searched
//! member by member and have no index.
use std::hash::{BuildHasher, RandomState};

/// From names to positions in a list of the owner.
#[derive(Debug, Clone, Default)]
pub(crate) struct NameIndex(Option<Box<Table>>);

/// What an index returns for a name.
pub(crate) enum Lookup {
    /// The list is short: the owner searches it.
    Search,
    /// The first position with the name, if there is one.
    Indexed(Option<u32>),
}

impl NameIndex {
    /// The first position of a name; `name_of` returns the names of positions.
    pub(crate) fn find<'a>(&self, name: &str, name_of: impl Fn(u32) -> Option<&'a str>) -> Lookup {
        let Some(table) = &self.0 else { return Lookup::Search };
        let slot = table.find(table.hash(name), name, name_of);
        Lookup::Indexed(slot.map(|slot| table.slots[slot].at))
    }

    /// Whether some name occurs twice in the list. Only its first position is in the index then.
    pub(crate) fn has_repeated(&self) -> bool {
        self.0.as_ref().is_some_and(|table| table.has_repeated)
    }

    /// The hash under which a name is kept; `None` as long as there is no index.
    pub(crate) fn hash(&self, name: &str) -> Option<u32> {
        self.0.as_ref().map(|table| table.hash(name))
    }

    /// Adds a position, after the list got it. `all` are the list's positions.
    pub(crate) fn add<'a>(
        &mut self,
        at: u32,
        all: impl ExactSizeIterator<Item = u32>,
        name_of: impl Fn(u32) -> Option<&'a str>,
    ) {
        match &mut self.0 {
            Some(table) => table.insert(at, name_of),
            None if all.len() > SEARCHED => self.build(all, name_of),
            None => {}
        }
    }

    /// Removes a position that was added under a hash, after the list lost it. `all` are the list's positions.
    pub(crate) fn remove<'a>(
        &mut self,
        at: u32,
        hash: u32,
        all: impl ExactSizeIterator<Item = u32>,
        name_of: impl Fn(u32) -> Option<&'a str>,
    ) {
        match &mut self.0 {
            // A position with the same name may have to take its place.
            Some(table) if table.has_repeated => self.build(all, name_of),
            Some(table) => table.remove(hash, at),
            None => {}
        }
    }

    /// Removes a position like [`remove`](Self::remove), and moves those after it down by one, as in a vector.
    pub(crate) fn remove_shifting<'a>(
        &mut self,
        at: u32,
        hash: u32,
        all: impl ExactSizeIterator<Item = u32>,
        name_of: impl Fn(u32) -> Option<&'a str>,
    ) {
        let is_built_anew = self.has_repeated();
        self.remove(at, hash, all, name_of);
        if !is_built_anew {
            let slots = self.0.iter_mut().flat_map(|table| &mut table.slots);
            slots.filter(|slot| slot.at != FREE && slot.at > at).for_each(|slot| slot.at -= 1);
        }
    }

    fn build<'a>(
        &mut self,
        all: impl ExactSizeIterator<Item = u32>,
        name_of: impl Fn(u32) -> Option<&'a str>,
    ) {
        let mut table = Table::new(all.len());
        all.for_each(|at| table.insert(at, &name_of));
        self.0 = Some(Box::new(table));
    }
}

/// Indexes follow from the lists beside them.
impl PartialEq for NameIndex {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// Open addressing with linear probing. The number of slots is a power of two, and at most half of them are in use.
#[derive(Debug, Clone)]
struct Table {
    /// Random keys, so that names in a file cannot be chosen to have the same hash.
    hasher: RandomState,
    slots: Vec<Slot>,
    used: usize,
    has_repeated: bool,
}

#[derive(Debug, Clone, Copy)]
struct Slot {
    hash: u32,
    at: u32,
}

impl Table {
    fn new(len: usize) -> Self {
        let slots = vec![EMPTY; (2 * len).next_power_of_two()];
        Self { hasher: RandomState::new(), slots, used: 0, has_repeated: false }
    }

    #[expect(clippy::cast_possible_truncation, reason = "any 32 bits of a hash are a hash")]
    fn hash(&self, name: &str) -> u32 {
        self.hasher.hash_one(name) as u32
    }

    /// The slots in which an entry with this hash may be, in the order of search.
    fn probe(&self, hash: u32) -> impl Iterator<Item = usize> + use<> {
        let mask = self.slots.len() - 1;
        (hash as usize..).map(move |at| at & mask)
    }

    fn find<'a>(&self, hash: u32, name: &str, name_of: impl Fn(u32) -> Option<&'a str>) -> Option<usize> {
        let used = self.probe(hash).take_while(|at| self.slots[*at].at != FREE);
        let equal = used.filter(|at| self.slots[*at].hash == hash);
        equal.filter(|at| name_of(self.slots[*at].at) == Some(name)).min_by_key(|at| self.slots[*at].at)
    }

    fn insert<'a>(&mut self, at: u32, name_of: impl Fn(u32) -> Option<&'a str>) {
        let Some(name) = name_of(at) else { return };
        let hash = self.hash(name);
        match self.find(hash, name, name_of) {
            Some(slot) if self.slots[slot].at == at => {}
            Some(slot) => {
                self.has_repeated = true;
                self.slots[slot].at = at.min(self.slots[slot].at);
            }
            None => self.push(Slot { hash, at }),
        }
    }

    fn push(&mut self, new: Slot) {
        self.used += 1;
        if 2 * self.used > self.slots.len() {
            let slots = vec![EMPTY; 2 * self.slots.len()];
            let old = std::mem::replace(&mut self.slots, slots);
            old.into_iter().filter(|slot| slot.at != FREE).for_each(|slot| self.place(slot));
        }
        self.place(new);
    }

    fn place(&mut self, new: Slot) {
        if let Some(at) = self.probe(new.hash).find(|at| self.slots[*at].at == FREE) {
            self.slots[at] = new;
        }
    }

    /// Frees a slot, and moves up entries after it that a search would no longer reach.
    fn remove(&mut self, hash: u32, at: u32) {
        let mut used = self.probe(hash).take_while(|slot| self.slots[*slot].at != FREE);
        let Some(mut hole) = used.find(|slot| self.slots[*slot].at == at) else { return };
        let mask = self.slots.len() - 1;
        let mut next = (hole + 1) & mask;
        while self.slots[next].at != FREE {
            let wanted = self.slots[next].hash as usize & mask;
            // How far the entry is from its wanted slot, and how far the hole is from it.
            if next.wrapping_sub(wanted) & mask >= next.wrapping_sub(hole) & mask {
                self.slots[hole] = self.slots[next];
                hole = next;
            }
            next = (next + 1) & mask;
        }
        self.slots[hole] = EMPTY;
        self.used -= 1;
    }
}

const FREE: u32 = u32::MAX;
const EMPTY: Slot = Slot { hash: 0, at: FREE };

/// Lists up to this length are searched.
const SEARCHED: usize = 16;

#[cfg(test)]
mod tests;

//! The dimensions of a DAP2 dataset (docs/spec/dap.md 5.3).
use super::walk::{DimensionUse, FoundVariable};
use std::collections::{HashMap, HashSet};

/// Dimensions by name and length, and which of them each variable has.
#[derive(Debug, Default)]
pub(super) struct DimensionTable {
    /// Name and length.
    pub(super) entries: Vec<(String, u64)>,
    /// For each variable the entries of its dimensions.
    pub(super) uses: Vec<Vec<usize>>,
    /// The entries in the order in which they are shown.
    pub(super) order: Vec<usize>,
    known: HashMap<(String, u64), usize>,
    names: HashSet<String>,
}

impl DimensionTable {
    /// The dimensions of variables; those with characters have one more. The first of several that have one name keeps
    /// it, the others are numbered.
    pub(super) fn new(found: &[FoundVariable<'_>], characters: &[Option<u64>]) -> Self {
        let mut table = Self::default();
        // Names that variables share are not taken by those that are made up.
        let named = found.iter().flat_map(|variable| &variable.dims);
        for dim in named {
            if let DimensionUse::Named(name, size) = dim {
                table.entry(name, *size);
            }
        }
        for (variable, characters) in found.iter().zip(characters) {
            let mut uses = Vec::new();
            for (at, dim) in variable.dims.iter().enumerate() {
                uses.push(match dim {
                    DimensionUse::Named(name, size) => table.entry(name, *size),
                    DimensionUse::Own(size) => table.entry(&format!("{}_{at}", variable.name), *size),
                });
            }
            uses.extend(characters.map(|len| table.entry(&format!("maxStrlen{len}"), len)));
            table.uses.push(uses);
        }
        table.order = (0..table.entries.len()).collect();
        table
    }

    /// In the order of netCDF-C: by name, the unlimited one first.
    pub(super) fn sort(&mut self, unlimited: Option<&str>) {
        let entries = &self.entries;
        let key = |index: &usize| {
            let name = entries.get(*index).map(|(name, _)| name.as_str());
            (name != unlimited || unlimited.is_none(), name)
        };
        self.order.sort_by(|a, b| key(a).cmp(&key(b)));
    }

    fn entry(&mut self, name: &str, size: u64) -> usize {
        if let Some(index) = self.known.get(&(name.to_owned(), size)) {
            return *index;
        }
        let numbered = |number: usize| if number == 0 { name.to_owned() } else { format!("{name}_{number}") };
        let unique = (0..).map(numbered).find(|candidate| !self.names.contains(candidate));
        let unique = unique.unwrap_or_else(|| name.to_owned());
        let index = self.entries.len();
        self.names.insert(unique.clone());
        self.entries.push((unique, size));
        self.known.insert((name.to_owned(), size), index);
        index
    }
}

//! How fragments are described in a master, for each convention (docs/spec/cfa.md 2.5, 3.1, 4.5, 5.3).
mod describer;
mod group;
mod json;
mod marks;
mod terms;
#[cfg(test)]
mod tests;

pub use describer::FragmentDescriber;
pub use marks::{CFA_ATTRIBUTES, conventions};

use ncirrus_layout::grid::{block_starts, row_major_index};
use std::sync::Arc;

/// The conventions by which aggregations are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Convention {
    /// CF-1.13, section 2.8.
    #[default]
    Cf113,
    /// CFA-0.6.2.
    Cfa06,
    /// CFA-0.5, as S3netCDF4 has it: groups and strings.
    Cfa05,
    /// CFA-0.4: JSON in an attribute.
    Cfa04,
}

/// How a master describes fragments.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MasterForm {
    /// The convention.
    pub convention: Convention,
    /// In the form that most other readers understand (docs/spec/cfa.md 2.6, 3.2, 5.4).
    pub compat: bool,
    /// Whether the master is netCDF-3: text instead of strings, no groups.
    pub is_classic: bool,
    /// The values of `${NAME}` in names, to be recorded in the master (CFA-0.6 only).
    pub substitutions: Vec<(String, String)>,
}

/// The fragments of an aggregated variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FragmentArray {
    /// Lengths of the fragments along each dimension, none of them 0.
    pub sizes: Vec<Vec<u64>>,
    /// One per element of the array of fragments, in row-major order; `None` if there is no fragment.
    pub cells: Vec<Option<FragmentCell>>,
    /// For each dimension, whether the fragments lack it; it then has one element in each.
    pub lacking: Vec<bool>,
}

/// The location of a fragment and the name of its variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FragmentCell {
    /// Name of its dataset, as it is to be written.
    pub file: Arc<str>,
    /// Path of the variable in it.
    pub variable: Arc<str>,
    /// Format as S3netCDF4 names it: `NETCDF4`, `NETCDF3_CLASSIC`.
    pub format: &'static str,
}

impl Convention {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Cf113, Self::Cfa06, Self::Cfa05, Self::Cfa04];

    /// The name by which it is selected.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cf113 => "cf-1.13",
            Self::Cfa06 => "cfa-0.6",
            Self::Cfa05 => "cfa-0.5",
            Self::Cfa04 => "cfa-0.4",
        }
    }

    /// Whether fragments may be missing.
    pub fn has_gaps(self) -> bool {
        self != Self::Cf113
    }

    /// Whether a packed variable is described in its unpacked form: the fragments' own attributes define the packing
    /// (docs/spec/cfa.md 5.1).
    pub fn is_unpacked(self) -> bool {
        matches!(self, Self::Cf113 | Self::Cfa06)
    }
}

impl FragmentArray {
    /// Shape of the array of fragments.
    pub fn shape(&self) -> Vec<u64> {
        self.sizes.iter().map(|sizes| sizes.len() as u64).collect()
    }

    /// The indices of all places, with their fragments.
    fn places(&self) -> impl Iterator<Item = (Vec<usize>, Option<&FragmentCell>)> {
        let lens: Vec<usize> = self.sizes.iter().map(Vec::len).collect();
        self.cells.iter().enumerate().map(move |(at, cell)| (row_major_index(at, &lens), cell.as_ref()))
    }

    /// First element and length of a place along each dimension.
    fn extents(&self, place: &[usize], starts: &[Vec<u64>]) -> Vec<(u64, u64)> {
        let along = |((sizes, starts), &at): ((&Vec<u64>, &Vec<u64>), &usize)| {
            Some((starts.get(at).copied()?, sizes.get(at).copied()?))
        };
        self.sizes.iter().zip(starts).zip(place).filter_map(along).collect()
    }

    /// Where the fragments begin along each dimension.
    pub fn starts(&self) -> Vec<Vec<u64>> {
        self.sizes.iter().map(|sizes| block_starts(sizes)).collect()
    }
}

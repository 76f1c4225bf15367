//! Datasets as they are shown: definitions of netCDF-4, and the place of each variable in answers.
pub(crate) mod dap2;
pub(crate) mod dap4;
mod fill;
mod types;

use crate::WireName;
use crate::conversion::{ValueConversion, signed_type};
use ncirrus_layout::Error;
use ncirrus_model::{Atomic, DimId, Model, ModelError, TypeRef, VarId};
use std::collections::{HashMap, HashSet};

/// A dataset as it is shown.
#[derive(Debug)]
pub(crate) struct ShownDataset {
    pub(crate) model: Model,
    pub(crate) variables: HashMap<VarId, ShownVariable>,
    pub(crate) warnings: Vec<String>,
}

/// The place of a variable's values in answers.
#[derive(Debug, Clone)]
pub(crate) struct ShownVariable {
    pub(crate) wire: WirePath,
    /// Lengths along its axes in answers: without the one that is shown for the characters of strings.
    pub(crate) shape: Vec<u64>,
    pub(crate) conversion: ValueConversion,
    /// Its type, if that is atomic.
    pub(crate) atomic: Option<Atomic>,
    /// Bytes of an element in an answer; `None` if they differ.
    pub(crate) element_len: Option<u64>,
    /// Whether it is the coordinate of its only dimension.
    pub(crate) is_coordinate: bool,
    /// Characters of each string, if they are shown.
    pub(crate) characters: Option<u64>,
    /// Why its shape is not known.
    pub(crate) fault: Option<Error>,
}

impl ShownVariable {
    /// The names that lead to the sequence whose rows are its first axis.
    pub(crate) fn sequence(&self) -> Option<&[WireSegment]> {
        match &self.wire {
            WirePath::Dap2 { segments, rows: Some(names), .. } => segments.get(..*names),
            _ => None,
        }
    }

    /// Bytes of a box of so many elements along each axis in an answer; `None` if elements differ. What structures or rows
    /// repeat has its counts each time, and bytes are padded.
    pub(crate) fn answer_len(&self, counts: &[u64]) -> Option<u64> {
        let counts = counts.get(..self.shape.len()).unwrap_or(counts);
        let product = |counts: &[u64]| counts.iter().fold(1_u64, |product, len| product.saturating_mul(*len));
        let Some((last, outer)) = self.wire.segments().split_last() else {
            return Some(product(counts).saturating_mul(self.element_len?));
        };
        let (rows, mut rest) = counts.split_at(usize::from(self.sequence().is_some()).min(counts.len()));
        let (mut repeated, mut is_repeated, mut bytes) = (product(rows), !rows.is_empty(), 0_u64);
        for segment in outer.iter().filter(|segment| segment.rank > 0) {
            let (own, after) = rest.split_at(segment.rank.min(rest.len()));
            let len = if is_repeated { COUNT.saturating_mul(repeated) } else { 0 };
            bytes = bytes.saturating_add(len);
            (repeated, is_repeated, rest) = (repeated.saturating_mul(product(own)), true, after);
        }
        let array = product(rest).saturating_mul(self.element_len?);
        let each = match self.atomic {
            _ if last.rank == 0 || !is_repeated => array,
            Some(_) => array.checked_next_multiple_of(4)?.saturating_add(2 * COUNT),
            None => array.saturating_add(COUNT),
        };
        Some(bytes.saturating_add(each.saturating_mul(repeated)))
    }

    /// Whether its elements are numbers whose bits are those of the answer.
    pub(crate) fn is_direct(&self) -> bool {
        let is_same = matches!(self.conversion, ValueConversion::Same | ValueConversion::Signed);
        let has_size = self.atomic.and_then(Atomic::byte_len).is_some();
        is_same && has_size && !self.shape.is_empty()
    }

    /// Whether numbers of a type have the bits of its own.
    pub(crate) fn has_bits_of(&self, sent: Atomic) -> bool {
        let shown = match self.conversion {
            ValueConversion::Signed => signed_type(sent),
            _ => sent,
        };
        self.atomic == Some(shown)
    }
}

/// Bytes of a count of DAP2.
const COUNT: u64 = 4;

/// How a variable is asked for.
#[derive(Debug, Clone)]
pub(crate) enum WirePath {
    /// Names from the outermost structure on; `rows`: the first axis counts the rows of the sequence that so many names
    /// lead to; `map`: which map of its grid it is.
    Dap2 { segments: Vec<WireSegment>, rows: Option<usize>, map: Option<usize> },
    /// Groups and name.
    Dap4 { path: Vec<String> },
}

impl WirePath {
    /// The names of a path of DAP2.
    pub(crate) fn segments(&self) -> &[WireSegment] {
        match self {
            Self::Dap2 { segments, .. } => segments,
            Self::Dap4 { .. } => &[],
        }
    }
}

/// A name of a path, and how many axes belong to it.
#[derive(Debug, Clone)]
pub(crate) struct WireSegment {
    pub(crate) name: WireName,
    pub(crate) rank: usize,
}

/// Names that are in use.
#[derive(Debug, Default)]
struct TakenNames(HashSet<String>);

impl TakenNames {
    /// The name, or that name with the first number that makes it new.
    fn unique(&mut self, name: &str) -> String {
        let numbered = |number: usize| if number == 0 { name.to_owned() } else { format!("{name}_{number}") };
        let unique = (0..).map(numbered).find(|candidate| !self.0.contains(candidate));
        let unique = unique.unwrap_or_else(|| name.to_owned());
        self.0.insert(unique.clone());
        unique
    }
}

fn atomic_of(ty: TypeRef) -> Option<Atomic> {
    match ty {
        TypeRef::Atomic(atomic) => Some(atomic),
        TypeRef::User(_) => None,
    }
}

/// A definition that the model refuses although it was checked.
fn refused(error: &ModelError) -> Error {
    Error::malformed(error.to_string())
}

/// Whether a variable of that name is the coordinate of its only dimension.
fn is_coordinate(model: &Model, name: &str, dims: &[DimId]) -> bool {
    matches!(dims, [dim] if model.dimension(*dim).is_some_and(|dim| dim.name == name))
}

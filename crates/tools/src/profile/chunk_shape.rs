//! The shape of a variable's chunks by a profile.
use super::{ChunkGrowth, Profile};
use ncirrus::DefaultChunks;
use ncirrus_model::{DimensionLen, Model, Storage, TypeRef, VarId, Variable};

/// HDF5 stores the size of a chunk in 32 bits.
const MAX_HDF5_CHUNK: u64 = u32::MAX as u64;
/// Bytes of an element that refers to values of any length: a length, an address and an index.
const REFERENCE: u64 = 16;

/// A chunked variable with its current chunks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct VariableGeometry {
    pub(crate) axes: Vec<DimensionLen>,
    pub(crate) chunk: Vec<u64>,
    /// Bytes of an element.
    pub(crate) element: u64,
    /// Whether the variable is to be one chunk.
    pub(crate) whole: bool,
}

/// How chunks do not fit a profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ChunkFault {
    /// The variable is to be one chunk.
    Several { chunks: u64 },
    /// Bytes of a decoded chunk.
    Small { bytes: u64 },
    /// Bytes of a decoded chunk.
    Large { bytes: u64 },
}

impl VariableGeometry {
    /// The geometry of a chunked variable; `None` for others.
    pub(crate) fn of(model: &Model, var: VarId, whole: bool) -> Option<Self> {
        let variable = model.variable(var)?;
        let Storage::Chunked(chunk) = &variable.storage else { return None };
        let len = |dim| model.dimension(dim).map_or(DimensionLen::Fixed(1), |dimension| dimension.len);
        let axes: Vec<DimensionLen> = variable.dims.iter().map(|dim| len(*dim)).collect();
        let is_valid = chunk.len() == axes.len() && !axes.is_empty() && !chunk.contains(&0);
        is_valid.then(|| Self { axes, chunk: chunk.clone(), element: element(model, variable), whole })
    }

    /// Why the chunks do not fit a profile; `None` if they do.
    pub(crate) fn fault(&self, profile: &Profile) -> Option<ChunkFault> {
        let (chunks, bytes) = (self.chunk_count(), self.byte_len(&self.chunk));
        let is_several = chunks > 1;
        if self.whole && is_several {
            return Some(ChunkFault::Several { chunks });
        }
        // A chunk that one more step would make large enough is accepted, as the reference check of CMIP7 does.
        let step = bytes / self.chunk.first().copied().unwrap_or(1).max(1);
        let step = if self.chunk.len() > 1 { step } else { 0 };
        if is_several && bytes.saturating_add(step) < profile.min_chunk_bytes {
            return Some(ChunkFault::Small { bytes });
        }
        let bytes = self.byte_len(&self.filled());
        let is_large = profile.max_chunk_bytes.is_some_and(|max| bytes > max);
        (is_large && !self.whole).then_some(ChunkFault::Large { bytes })
    }

    /// The chunk shape that fits a profile; `None` if the present one does, or none does that HDF5 can store.
    pub(crate) fn fitted(&self, profile: &Profile) -> Option<Vec<u64>> {
        let chunk = match (self.fault(profile)?, profile.growth) {
            (ChunkFault::Several { .. }, _) => self.lens(),
            (ChunkFault::Small { .. }, ChunkGrowth::Slowest) => self.grown(profile),
            (ChunkFault::Small { .. }, ChunkGrowth::Balanced) | (ChunkFault::Large { .. }, _) => {
                self.balanced(profile)
            }
        };
        (chunk != self.chunk && self.byte_len(&chunk) <= MAX_HDF5_CHUNK).then_some(chunk)
    }

    /// Chunks that suit maps and series alike, within the limits of a profile.
    fn balanced(&self, profile: &Profile) -> Vec<u64> {
        let mut chunk = DefaultChunks::Balanced.shape(&self.axes, self.element);
        while profile.max_chunk_bytes.is_some_and(|max| self.byte_len(&chunk) > max)
            && let Some(longest) = chunk.iter_mut().filter(|len| **len > 1).max()
        {
            *longest = longest.div_ceil(2);
        }
        let balanced = Self { chunk, ..self.clone() };
        match balanced.fault(profile) {
            Some(ChunkFault::Small { .. }) => balanced.grown(profile),
            _ => balanced.chunk,
        }
    }

    /// Chunks that are put together from whole ones of the present shape, along the slowest axes first.
    fn grown(&self, profile: &Profile) -> Vec<u64> {
        let mut chunk = self.chunk.clone();
        for axis in 0..chunk.len() {
            let (present, len) = (self.chunk[axis], self.len(axis));
            let others = self.byte_len(&chunk) / present;
            let needed = profile.min_chunk_bytes.div_ceil(others.max(1)).next_multiple_of(present);
            chunk[axis] = needed.min(len.max(present));
            if chunk[axis] >= needed {
                break;
            }
            chunk[axis] = len.max(1);
        }
        chunk
    }

    /// Chunks of which the array consists.
    pub(crate) fn chunk_count(&self) -> u64 {
        let along = self.chunk.iter().enumerate().map(|(axis, chunk)| self.len(axis).div_ceil(*chunk));
        along.fold(1, u64::saturating_mul)
    }

    /// Bytes of a decoded chunk of that shape.
    pub(crate) fn byte_len(&self, chunk: &[u64]) -> u64 {
        chunk.iter().fold(self.element, |bytes, len| bytes.saturating_mul(*len))
    }

    /// The lengths of the axes, at least 1.
    fn lens(&self) -> Vec<u64> {
        self.axes.iter().map(|axis| axis.current().max(1)).collect()
    }

    /// The part of a chunk that has elements.
    fn filled(&self) -> Vec<u64> {
        self.chunk.iter().zip(self.lens()).map(|(chunk, len)| (*chunk).min(len)).collect()
    }

    fn len(&self, axis: usize) -> u64 {
        self.axes.get(axis).map_or(1, |axis| axis.current())
    }
}

fn element(model: &Model, variable: &Variable) -> u64 {
    let ty: TypeRef = variable.ty;
    model.packed_len(ty).unwrap_or(REFERENCE).max(1)
}

//! Reads of adjacent slabs: from the second one on, those that follow are read before they are asked for.
//!
//! A variable that is read slab after slab has windows: parts of it that come next, read by the threads of the session while the caller
//! works. A window ends where a chunk ends, and each is twice as long as the one before, up to a bound; when the caller comes to one, the
//! next is begun. A caller that has to wait for a remote one is faster than the requests: then two are begun, which grow fourfold. All
//! windows of a session together hold at most a quarter of its memory. What cannot be read ahead is read when
//! it is asked for, which reports what is wrong with it.
//!
//! Datasets that are written have none, nor local ones that need no decoding: the system reads them ahead. A few values of a local dataset
//! are copied out of a block instead ([`super::single_values`]).
use super::followed::{FollowedRead, ReadAhead};
use super::single_values::ReadBlocks;
use super::value_blocks::ValueBlocks;
use crate::dataset::{Dataset, DatasetState};
use crate::session::is_local;
use crate::{Region, Result, Selection, Storage, TypeRef, Values, Variable};
use ncirrus_layout::LockExt;
use std::sync::OnceLock;

/// Reads of at most as many values of a local dataset are served by the cache of decoded chunks.
const SMALL: u64 = 64;
/// What the longest windows cost in bytes: of a local dataset decoding takes the time, of a remote one requests do.
const LONGEST_NEAR: u64 = 8 << 20;
const LONGEST_FAR: u64 = 32 << 20;

/// What is read ahead of a dataset.
#[derive(Debug, Default)]
pub(crate) struct DatasetPace {
    ahead: ReadAhead,
    pub(super) blocks: ReadBlocks,
    place: OnceLock<DatasetPlace>,
}

/// Where a dataset is, and what reading takes.
#[derive(Debug, Clone, Copy)]
pub(super) struct DatasetPlace {
    pub(super) is_near: bool,
    is_hdf5: bool,
    /// Whether a server computes the values, of which more is fetched than is asked for by rules of its own.
    pub(super) is_queried: bool,
}

impl DatasetPace {
    /// Other chunks may be kept from now on.
    pub(crate) fn forget_blocks(&self) {
        *self.blocks.guard() = ValueBlocks::new();
    }

    pub(super) fn place(&self, dataset: &Dataset) -> DatasetPlace {
        *self.place.get_or_init(|| DatasetPlace::of(dataset))
    }
}

impl DatasetPlace {
    fn of(dataset: &Dataset) -> Self {
        let kind = dataset.kind();
        Self {
            is_near: is_local(dataset.url()),
            is_hdf5: kind.is_hdf5(),
            is_queried: kind.stored.is_computed(),
        }
    }
}

impl Variable {
    /// Reads a selection into memory; adjacent ones from what was read ahead. Errors do not yet name the variable.
    ///
    /// # Errors
    /// As [`read_bytes_into`](Self::read_bytes_into).
    pub(crate) fn read_paced(&self, selection: &Selection, out: &mut [u8]) -> Result<()> {
        let plainly = |out: &mut [u8]| self.dataset().read_native(self.id(), selection, out);
        if let Some(read) = self.small_read(selection) {
            return read.into_memory(out, plainly);
        }
        let Some((read, slab)) = self.followed_read(selection) else { return plainly(out) };
        let len = slab.element_count().and_then(|count| count.checked_mul(read.element as u64));
        // A buffer of another length is an error, which the read reports.
        if len != Some(out.len() as u64) {
            return plainly(out);
        }
        let ahead = &self.dataset().pace().ahead;
        if read.copy(ahead, &slab, out)? {
            return Ok(());
        }
        read.followed_by(ahead, &slab, || plainly(out))
    }

    /// The values of a selection; adjacent ones from what was read ahead. Errors do not yet name the variable.
    ///
    /// # Errors
    /// As [`values`](Self::values).
    pub(crate) fn values_paced(&self, selection: &Selection) -> Result<Values> {
        let plainly = || self.dataset().read_values(self.id(), selection);
        if let Some(read) = self.small_read(selection) {
            let mut values = read.memory();
            return match values.as_bytes_mut() {
                Some(out) => {
                    read.into_memory(out, |out| self.dataset().read_native(self.id(), selection, out))?;
                    Ok(values)
                }
                None => plainly(),
            };
        }
        let Some((read, slab)) = self.followed_read(selection) else { return plainly() };
        let count = slab.element_count().and_then(|count| usize::try_from(count).ok());
        let (Some(TypeRef::Atomic(ty)), Some(count)) = (self.ty(), count) else { return plainly() };
        let ahead = &self.dataset().pace().ahead;
        let mut values = Values::zeroed(ty, count);
        let is_served = match values.as_bytes_mut() {
            Some(bytes) => read.copy(ahead, &slab, bytes)?,
            None => return plainly(),
        };
        if is_served { Ok(values) } else { read.followed_by(ahead, &slab, plainly) }
    }

    /// What is known of a read, and its box. `None` if the next one is not worth reading before it is asked for.
    fn followed_read(&self, selection: &Selection) -> Option<(FollowedRead<'_>, Region)> {
        let dataset = self.dataset();
        let DatasetState::Reading(reader) = dataset.state() else { return None };
        let budget = dataset.session().windows.as_ref()?;
        let count = selection.element_count()?;
        let place = dataset.pace().place(dataset);
        if place.is_queried || count == 0 || place.is_near && count <= SMALL {
            return None;
        }
        let model = reader.model();
        let described = model.variable(self.id())?;
        let chunks = match &described.storage {
            Storage::Chunked(chunks) => Some(chunks.clone()),
            _ => None,
        };
        let is_decoded = chunks.is_some() && (!described.filters.is_empty() || !place.is_hdf5);
        if place.is_near && !is_decoded {
            return None;
        }
        let element = usize::try_from(model.packed_len(described.ty)?).ok()?;
        let longest = if place.is_near { LONGEST_NEAR } else { LONGEST_FAR };
        count.checked_mul(element as u64).filter(|len| *len > 0 && *len <= longest)?;
        let region = selection.as_region().filter(|region| region.rank() > 0)?;
        let (shape, variable) = (model.shape(self.id()), self);
        if region.rank() != shape.len() {
            return None;
        }
        let has_records = chunks.is_none() && model.growing(self.id()).first() == Some(&true);
        let (dataset, is_far) = (reader, !place.is_near);
        let read =
            FollowedRead { variable, dataset, budget, shape, chunks, has_records, element, longest, is_far };
        Some((read, region))
    }
}

//! The variables of a group of partitions.
use crate::entries::FragmentEntries;
use crate::names::NameSubstitutions;
use ncirrus_layout::{Error, Result};
use ncirrus_model::Values;
use std::ops::Range;

/// The variables of the group.
#[derive(Debug)]
pub(super) struct GroupColumns {
    pub(super) file: FragmentEntries,
    pub(super) ncvar: FragmentEntries,
    pub(super) location: FragmentEntries,
    pub(super) format: Option<FragmentEntries>,
    pub(super) shape: Option<FragmentEntries>,
    pub(super) index: Option<FragmentEntries>,
    /// The missing value of locations.
    pub(super) missing: i128,
    pub(super) base: Option<String>,
    pub(super) substitutions: NameSubstitutions,
}

impl GroupColumns {
    /// The position of a partition along one axis, from an array of locations; `None` if it is not defined.
    ///
    /// # Errors
    /// `Malformed` if it begins after its end, or before the first element.
    pub(super) fn span(&self, values: &Values, at: usize) -> Result<Option<Range<u64>>> {
        let pair = (values.integer(2 * at), values.integer(2 * at + 1));
        let (Some(start), Some(end)) = pair else { return Ok(None) };
        if start == self.missing || end == self.missing {
            return Ok(None);
        }
        let place = u64::try_from(start).ok().zip(u64::try_from(end).ok());
        let place = place.map(|(start, end)| start..end).filter(|place| place.start <= place.end);
        let wrong = || Error::malformed(format!("{}: a place {start} to {end}", self.location.path));
        place.map(Some).ok_or_else(wrong)
    }
}

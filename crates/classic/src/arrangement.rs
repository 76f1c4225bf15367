//! The arrangement of variables: fixed ones after the header in definition order, then the records, each with its
//! part of every record variable.
use crate::FormatVersion;
use crate::definition::{FittedModel, VariableDefinition, too_large};
use crate::geometry::record_size;
use ncirrus_layout::{Error, Result};
use ncirrus_model::VarId;
use std::collections::HashMap;

/// The positions of all variables.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct FileArrangement {
    positions: HashMap<VarId, VariablePosition>,
    /// Where the first variable may begin.
    data_begin: u64,
    /// Where the last fixed variable, including its padding, ends.
    fixed_end: u64,
    /// Where the first record begins; equal to `fixed_end` unless it was elsewhere before.
    record_begin: u64,
    record_size: u64,
    /// Whether the room before the records belongs to the file even without records.
    has_room: bool,
}

/// The position of a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct VariablePosition {
    /// Offset of its first element.
    pub(crate) begin: u64,
    /// Size of its elements, or of those of one record.
    pub(crate) len: u64,
    /// Bytes from one record to the next; `None` for a fixed variable.
    pub(crate) record_size: Option<u64>,
}

/// Whether data were written, so that the position should be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HeldPlaces {
    pub(crate) fixed: bool,
    pub(crate) records: bool,
}

impl VariablePosition {
    /// Offset of a byte of the slab in a record.
    pub(crate) fn offset(&self, row: u64, within: u64) -> Option<u64> {
        let of_row = row.checked_mul(self.record_size.unwrap_or(0))?;
        self.begin.checked_add(of_row)?.checked_add(within)
    }
}

impl FileArrangement {
    /// Arranges variables after a header of that length. Variables in `held`, which have data, stay in place as far
    /// as possible; if anything has to move, it moves into an order without gaps, with the room that the definition
    /// asks for; if it asks for none, with `pad` bytes after the header.
    ///
    /// # Errors
    /// `Limit` naming the variable that would begin at too large an offset, and for a file that would be too long.
    pub(crate) fn plan(
        definition: &FittedModel,
        header_len: u64,
        pad: u64,
        old: &Self,
        held: HeldPlaces,
    ) -> Result<Self> {
        let kept = (held.fixed || held.records).then_some(old.data_begin);
        let data_begin = match definition.room {
            Some(room) => begin_after(kept, header_len, room.header_free, room.variable_align),
            None if kept.is_some_and(|begin| begin >= header_len) => kept,
            None => begin_after(None, header_len, pad, 4),
        };
        let data_begin = data_begin.ok_or_else(|| Error::limit("the room after the header is too large"))?;
        let keeps = kept == Some(data_begin);
        let has_room = definition.room.is_some();
        let mut planned = Self { data_begin, fixed_end: data_begin, has_room, ..Self::default() };
        planned.place_fixed(definition, (keeps && held.fixed).then_some(old))?;
        planned.place_records(definition, held.records.then_some(old))?;
        if has_room && definition.part(false).next().is_none() && definition.part(true).next().is_some() {
            planned.data_begin = planned.record_begin;
        }
        planned.check_begins(definition)?;
        planned.check_len(definition)?;
        Ok(planned)
    }

    /// The existing arrangement of a file: `positions`, and where each part of it begins and ends.
    pub(crate) fn found(positions: HashMap<VarId, VariablePosition>, bounds: FileBounds) -> Self {
        let FileBounds { data_begin, fixed_end, record_begin, record_size } = bounds;
        Self { positions, data_begin, fixed_end, record_begin, record_size, has_room: false }
    }

    fn place_fixed(&mut self, definition: &FittedModel, old: Option<&Self>) -> Result<()> {
        self.fixed_end = old.map_or(self.fixed_end, |old| old.fixed_end.max(self.fixed_end));
        for var in definition.part(false) {
            let len = var.slab.byte_len;
            let kept = old.and_then(|old| old.positions.get(&var.id));
            let kept = kept.filter(|kept| kept.len == len && kept.record_size.is_none());
            let begin = kept.map_or(self.fixed_end, |kept| kept.begin);
            let end = begin.checked_add(var.padded_len()?).ok_or_else(|| too_large(&var.path))?;
            self.fixed_end = self.fixed_end.max(end);
            self.positions.insert(var.id, VariablePosition { begin, len, record_size: None });
        }
        Ok(())
    }

    fn place_records(&mut self, definition: &FittedModel, old: Option<&Self>) -> Result<()> {
        let vars: Vec<&VariableDefinition> = definition.part(true).collect();
        let lens: Vec<u64> = vars.iter().map(|var| var.slab.byte_len).collect();
        let size =
            record_size(&lens).ok_or_else(|| Error::limit("the size of a record does not fit 64 bits"))?;
        self.record_size = size;
        let room = definition.room.unwrap_or_default();
        let kept = old.map(|old| old.record_begin);
        let begin = begin_after(kept, self.fixed_end, room.variable_free, room.record_align);
        self.record_begin = begin.ok_or_else(|| Error::limit("the room before the records is too large"))?;
        let same = old.filter(|old| old.record_begin == self.record_begin && old.has_records_of(&vars, size));
        let mut begin = self.record_begin;
        for var in vars {
            let kept = same.and_then(|old| old.positions.get(&var.id)).map(|kept| kept.begin);
            let position = VariablePosition {
                begin: kept.unwrap_or(begin),
                len: var.slab.byte_len,
                record_size: Some(size),
            };
            self.positions.insert(var.id, position);
            begin = begin.checked_add(var.padded_len()?).ok_or_else(|| too_large(&var.path))?;
        }
        Ok(())
    }

    /// Whether records consist of these variables and no others.
    fn has_records_of(&self, vars: &[&VariableDefinition], size: u64) -> bool {
        let same = |var: &&VariableDefinition| {
            let old = self.positions.get(&var.id);
            old.is_some_and(|old| old.len == var.slab.byte_len && old.record_size == Some(size))
        };
        self.record_size == size && vars.iter().all(same)
    }

    fn check_begins(&self, definition: &FittedModel) -> Result<()> {
        let max = definition.version.max_begin();
        for var in &definition.vars {
            let VariablePosition { begin, len, .. } = self.position(var.id)?;
            let kind = definition.version.format();
            let message = if begin > max {
                format!("it would begin at byte {begin}, beyond the {max} of kind {kind}")
            } else if begin.checked_add(len).is_none_or(|end| end > FormatVersion::Data64.max_begin()) {
                format!("it would begin at byte {begin} and end beyond 2^63")
            } else {
                continue;
            };
            return Err(Error::limit(message).at_path(&var.path).by("classic"));
        }
        Ok(())
    }

    /// The file is not longer than its room.
    fn check_len(&self, definition: &FittedModel) -> Result<()> {
        let Some(max) = definition.room.and_then(|room| room.max_len) else { return Ok(()) };
        match self.file_len(definition.records) {
            Some(len) if len <= max => Ok(()),
            Some(len) => Err(Error::limit(format!("the file would have {len} bytes, more than {max}"))),
            None => Err(Error::limit(format!("the file would be longer than 2^64 bytes, more than {max}"))),
        }
    }

    /// The position of a variable.
    pub(crate) fn position(&self, var: VarId) -> Result<VariablePosition> {
        let missing = || Error::not_found("the variable is not defined in the file");
        self.positions.get(&var).copied().ok_or_else(missing)
    }

    /// Whether the records of a variable are contiguous, without others between them and without padding.
    pub(crate) fn records_adjoin(&self, var: &VariableDefinition) -> bool {
        let position = self.positions.get(&var.id);
        position.is_some_and(|position| position.record_size == Some(var.slab.byte_len))
    }

    /// The record variables.
    pub(crate) fn record_vars(&self) -> impl Iterator<Item = VarId> + '_ {
        self.positions.iter().filter(|(_, position)| position.record_size.is_some()).map(|(id, _)| *id)
    }

    /// Where the first variable may begin.
    pub(crate) fn data_begin(&self) -> u64 {
        self.data_begin
    }

    /// Length of a file with that many records; `None` if it does not fit 64 bits.
    pub(crate) fn file_len(&self, records: u64) -> Option<u64> {
        let has_records = self.record_size > 0 && (records > 0 || self.has_room);
        if has_records {
            records.checked_mul(self.record_size)?.checked_add(self.record_begin)
        } else {
            Some(self.fixed_end)
        }
    }
}

/// Where a part begins that follows `end` with some bytes between them: where it was, if there is room enough and that is
/// aligned, and never before.
fn begin_after(kept: Option<u64>, end: u64, free: u64, align: u64) -> Option<u64> {
    let (min, align) = (end.checked_add(free)?, align.max(1));
    match kept {
        Some(begin) if begin >= min && begin.is_multiple_of(align) => Some(begin),
        _ => Some(min.checked_next_multiple_of(align)?.max(kept.unwrap_or(0))),
    }
}

/// Where the parts of a file begin and end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FileBounds {
    pub(crate) data_begin: u64,
    pub(crate) fixed_end: u64,
    pub(crate) record_begin: u64,
    pub(crate) record_size: u64,
}

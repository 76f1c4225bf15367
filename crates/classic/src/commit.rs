//! Committing what was placed.
use crate::arrangement::VariablePosition;
use crate::definition::VariableDefinition;
use crate::encode::{RECORDS_OFFSET, encode, encode_records};
use crate::placer::{ClassicPlacer, CommittedState};
use crate::relocation::FileRelocation;
use ncirrus_layout::{Error, PhaseForm, PutPhase, Result, StorePut};
use std::ops::Range;

impl ClassicPlacer {
    /// The phases of a commit. A new file and one that is rewritten become visible atomically; in a file that is
    /// changed in place, bytes that readers do not see yet come first, and then the header, or only the number of
    /// records if nothing else in it changes: definitions and records become visible together.
    pub(crate) fn phases(&self) -> Result<(Vec<PutPhase>, CommittedState)> {
        let (records, old_records) = (self.definition.records, self.committed.records);
        if records < old_records {
            let message = format!("{old_records} records cannot become {records}: records are never removed");
            return Err(Error::unsupported(message).by("classic"));
        }
        let header = encode(&self.definition, Some(&self.target), records)?;
        let total = self.target.file_len(records);
        let total = total.ok_or_else(|| Error::limit("the file would be longer than 2^64 bytes"))?;
        let phases = if self.moving {
            vec![self.rewriting(header.clone(), total)?]
        } else if self.committed.header.is_empty() {
            vec![self.creating(header.clone(), total)?]
        } else {
            self.changing(total)?
        };
        let file_len = if self.moving { total } else { self.file_len.max(total) };
        let header_len = header.len() as u64;
        Ok((phases, CommittedState { header, header_len, records, file_len }))
    }

    /// A commit is done: the target is the file.
    pub(crate) fn settle(&mut self) {
        let Some(done) = self.planned.take() else { return };
        for var in &self.definition.vars {
            let Some(track) = self.tracks.get_mut(&var.id) else { continue };
            for (index, piece) in self.scratch.of(var.id) {
                track.written.insert(index..index.saturating_add(piece.count));
            }
            // What was never written has bytes all the same, as in an existing file.
            let rows = if var.is_record { done.records } else { 1 };
            track.written.insert(0..rows.saturating_mul(track.cut.cells()));
        }
        self.scratch.clear();
        self.actual = self.target.clone();
        self.moving = false;
        self.file_len = done.file_len;
        self.committed = done;
        self.hold(self.holding());
    }

    fn creating(&self, header: Vec<u8>, total: u64) -> Result<PutPhase> {
        let mut puts = self.fill_short_cells()?;
        puts.push(self.patch(0, header));
        puts.extend(self.extend_to(total));
        Ok(PutPhase { puts, form: PhaseForm::Separate })
    }

    fn changing(&self, total: u64) -> Result<Vec<PutPhase>> {
        let (version, records) = (self.definition.version, self.definition.records);
        let mut hidden = self.fill_short_cells()?;
        hidden.extend(self.extend_to(total));
        let mut shown = Vec::new();
        if encode(&self.definition, Some(&self.target), self.committed.records)? != self.committed.header {
            let mut header = encode(&self.definition, Some(&self.target), records)?;
            let room = usize::try_from(self.target.data_begin()).unwrap_or(usize::MAX);
            let old_len = usize::try_from(self.committed.header_len).unwrap_or(usize::MAX).min(room);
            header.resize(header.len().max(old_len), 0);
            shown.push(self.patch(0, header));
        } else if records != self.committed.records {
            shown.push(self.patch(RECORDS_OFFSET, encode_records(version, records)?));
        }
        let phases = [hidden, shown].into_iter().map(|puts| PutPhase { puts, form: PhaseForm::Separate });
        Ok(phases.filter(|phase| !phase.puts.is_empty()).collect())
    }

    /// Moves everything to its target, then writes the header and the zeros up to the first variable.
    fn rewriting(&self, mut header: Vec<u8>, total: u64) -> Result<PutPhase> {
        let mut relocation = FileRelocation::new(self.file_len);
        self.move_fixed(&mut relocation)?;
        self.move_records(&mut relocation)?;
        self.move_scratch(&mut relocation)?;
        let mut puts = relocation.into_puts(&self.root, total);
        puts.extend(self.fill_short_cells()?);
        let room = usize::try_from(self.target.data_begin()).unwrap_or(usize::MAX).min(LONGEST_ZEROS);
        header.resize(header.len().max(room), 0);
        let object = self.root.clone();
        puts.push(StorePut::Patch { object: object.clone(), offset: 0, body: header.into() });
        puts.push(StorePut::Resize { object, len: total });
        Ok(PutPhase { puts, form: PhaseForm::Rewritten })
    }

    fn move_fixed(&self, relocation: &mut FileRelocation) -> Result<()> {
        for var in self.definition.part(false) {
            if let Some((from, to)) = self.both_places(var)? {
                relocation.push(from.begin, to.begin, from.len);
            }
        }
        Ok(())
    }

    fn move_records(&self, relocation: &mut FileRelocation) -> Result<()> {
        let mut moving = Vec::new();
        let mut rows = 0;
        for var in self.definition.part(true) {
            let Some((from, to)) = self.both_places(var)? else { continue };
            let adjoins = self.actual.records_adjoin(var) || self.target.records_adjoin(var);
            let len = if adjoins { from.len } else { var.padded_len()? };
            if len == 0 {
                continue;
            }
            let track = self.tracks.get(&var.id);
            rows = rows.max(track.map_or(0, |track| track.written.end().div_ceil(track.cut.cells().max(1))));
            moving.push((from, to, len));
        }
        moving.sort_by_key(|(from, _, _)| from.begin);
        for row in 0..rows {
            let mut is_in_file = false;
            for (from, to, len) in &moving {
                let (Some(from), Some(to)) = (from.offset(row, 0), to.offset(row, 0)) else {
                    return Err(Error::limit(format!("record {row} lies beyond 2^64 bytes")));
                };
                is_in_file |= from < self.file_len;
                relocation.push(from, to, *len);
            }
            // A damaged header may state any number of records.
            if !is_in_file {
                break;
            }
        }
        Ok(())
    }

    fn move_scratch(&self, relocation: &mut FileRelocation) -> Result<()> {
        for var in &self.definition.vars {
            let Some(track) = self.tracks.get(&var.id) else { continue };
            let (to, cells) = (self.target.position(var.id)?, track.cut.cells().max(1));
            for (index, piece) in self.scratch.of(var.id) {
                for step in 0..piece.count {
                    let (row, cell) = ((index + step) / cells, (index + step) % cells);
                    let from = piece.unit.checked_mul(step).and_then(|skip| piece.offset.checked_add(skip));
                    let to = track.cut.offset_of(cell).and_then(|within| to.offset(row, within));
                    let (Some(from), Some(to)) = (from, to) else {
                        return Err(Error::limit("a cell lies beyond 2^64 bytes").at_path(&var.path));
                    };
                    relocation.push(from, to, piece.unit);
                }
            }
        }
        Ok(())
    }

    /// Where the data of a variable in the file are and where they go.
    fn both_places(&self, var: &VariableDefinition) -> Result<Option<(VariablePosition, VariablePosition)>> {
        let has_data = self.tracks.get(&var.id).is_some_and(|track| !track.written.is_empty());
        if !has_data {
            return Ok(None);
        }
        Ok(Some((self.actual.position(var.id)?, self.target.position(var.id)?)))
    }

    /// Fills the end of chunks that were written when there were fewer records.
    fn fill_short_cells(&self) -> Result<Vec<StorePut>> {
        let mut puts = Vec::new();
        for var in self.definition.part(true).filter(|var| var.is_filled) {
            let Some(track) = self.tracks.get(&var.id) else { continue };
            let position = self.target.position(var.id)?;
            let in_scratch = self.scratch.of(var.id).map(|(index, piece)| index.saturating_add(piece.count));
            for end in track.written.ends().chain(in_scratch) {
                let is_there =
                    track.written.run_end(end).is_some() || self.scratch.find(var.id, end).is_some();
                let rest = track.rest_of_cell(end, self.definition.records).filter(|_| !is_there);
                if let Some(rest) = rest {
                    puts.push(self.fill(var, &position, &rest)?);
                }
            }
        }
        Ok(puts)
    }

    fn fill(
        &self,
        var: &VariableDefinition,
        position: &VariablePosition,
        records: &Range<u64>,
    ) -> Result<StorePut> {
        let len = (records.end - records.start).checked_mul(position.len);
        let place = len.and_then(|len| usize::try_from(len).ok()).zip(position.offset(records.start, 0));
        let (len, offset) =
            place.ok_or_else(|| Error::limit("fill beyond 2^64 bytes").at_path(var.path.clone()))?;
        Ok(self.patch(offset, var.fill_bytes()?.into_iter().cycle().take(len).collect()))
    }

    /// Extends the file to the length in its header, if its end was never written.
    fn extend_to(&self, total: u64) -> Option<StorePut> {
        (self.file_len < total).then(|| StorePut::Resize { object: self.root.clone(), len: total })
    }

    fn patch(&self, offset: u64, body: Vec<u8>) -> StorePut {
        StorePut::Patch { object: self.root.clone(), offset, body: body.into() }
    }
}

/// Maximum number of zeros written between the header and the first variable.
const LONGEST_ZEROS: usize = 1 << 20;

//! Where written bytes go. Chunks are written into the file as they come; the header follows at commit, the number of
//! records last.
//!
//! Two arrangements matter: the `actual` one, in which the file's bytes are, and the `target` of the model. They
//! differ only after a change of definitions that makes data move. Until that is committed, chunks are placed in a
//! scratch area behind the file's data, where no reader looks; the commit then rewrites the file.
use crate::ClassicWriter;
use crate::arrangement::{FileArrangement, HeldPlaces};
use crate::definition::{FittedModel, VariableDefinition, too_large};
use crate::encode::fitted;
use crate::scratch::{ScratchArea, ScratchPiece};
use crate::track::{PlacedCell, VariableTrack};
use crate::written::NumberRuns;
use bytes::Bytes;
use ncirrus_layout::{
    Abilities, CellList, ChunkRef, Encoding, Error, FillStorage, Location, ObjectId, PatchRows, Placer,
    PlacerWork, PreparedPlacement, PutPhase, Result, Step, StorePut, View,
};
use ncirrus_model::{Changes, Model, Values, VarId};
use std::collections::HashMap;
use std::sync::Arc;

/// A file that is being created or changed.
#[derive(Debug)]
pub(crate) struct ClassicPlacer {
    pub(crate) root: ObjectId,
    choices: ClassicWriter,
    pub(crate) definition: FittedModel,
    pub(crate) target: FileArrangement,
    pub(crate) actual: FileArrangement,
    pub(crate) tracks: HashMap<VarId, VariableTrack>,
    pub(crate) scratch: ScratchArea,
    /// Whether data must move before the file matches the model.
    pub(crate) moving: bool,
    /// Whether the target is that of an earlier definition, with fewer members.
    pub(crate) is_target_old: bool,
    held: HeldPlaces,
    pub(crate) committed: CommittedState,
    pub(crate) planned: Option<CommittedState>,
    /// Length of the file as put so far.
    pub(crate) file_len: u64,
}

/// The file as readers see it.
#[derive(Debug, Clone, Default)]
pub(crate) struct CommittedState {
    /// The header's bytes as written here; empty before the first commit.
    pub(crate) header: Vec<u8>,
    /// Size of the header in the file; another writer may have reserved more.
    pub(crate) header_len: u64,
    pub(crate) records: u64,
    /// Length of the file.
    pub(crate) file_len: u64,
}

impl ClassicPlacer {
    /// Starts with a file in which `definition`, with that arrangement, is committed: every variable of it is
    /// written.
    ///
    /// # Errors
    /// `Limit` if a variable is too large.
    pub(crate) fn new(
        root: &ObjectId,
        choices: &ClassicWriter,
        definition: FittedModel,
        arrangement: FileArrangement,
        committed: CommittedState,
    ) -> Result<Self> {
        let mut tracks = HashMap::new();
        for var in &definition.vars {
            let mut track = VariableTrack::new(var, choices.cell_bytes, arrangement.records_adjoin(var))?;
            let rows = if var.is_record { committed.records } else { 1 };
            let cells = rows.checked_mul(track.cut.cells()).ok_or_else(|| too_large(&var.path))?;
            track.written = NumberRuns::below(cells);
            tracks.insert(var.id, track);
        }
        let mut placer = Self {
            root: root.clone(),
            choices: choices.clone(),
            definition,
            target: arrangement.clone(),
            actual: arrangement,
            tracks,
            scratch: ScratchArea::default(),
            moving: false,
            is_target_old: false,
            held: HeldPlaces { fixed: false, records: false },
            file_len: committed.file_len,
            committed,
            planned: None,
        };
        placer.held = placer.holding();
        Ok(placer)
    }

    /// Applies a changed model; nothing is changed if it does not fit.
    pub(crate) fn adopt(&mut self, model: &Model) -> Result<()> {
        let definition = fitted(self.definition.version, model)?;
        self.check_unchanged(&definition)?;
        let header_len = definition.header_len;
        if definition.room.is_some() {
            self.renew_target()?;
        }
        // Room that was determined before is kept although nothing may be in the file yet that needs it.
        let (old, held) = match definition.room {
            Some(_) => (&self.target, HeldPlaces { fixed: true, records: true }),
            None => (&self.actual, self.held),
        };
        let target = FileArrangement::plan(&definition, header_len, self.choices.header_pad, old, held)?;
        let mut tracks = HashMap::new();
        for var in &definition.vars {
            tracks.insert(
                var.id,
                VariableTrack::new(var, self.choices.cell_bytes, self.may_share_cells(var, &target))?,
            );
        }
        for (id, track) in &mut tracks {
            if let Some(old) = self.tracks.get_mut(id) {
                track.written = std::mem::take(&mut old.written);
            }
        }
        self.scratch.retain(|var| tracks.contains_key(&var));
        self.tracks = tracks;
        self.moving = !self.scratch.is_empty() || self.must_move(&target);
        if !self.moving {
            self.actual = target.clone();
        }
        (self.definition, self.target, self.is_target_old) = (definition, target, false);
        Ok(())
    }

    /// Determines the arrangement of the present definition, after additions that were adopted without.
    fn renew_target(&mut self) -> Result<()> {
        if std::mem::take(&mut self.is_target_old) {
            let (definition, pad) = (&self.definition, self.choices.header_pad);
            let len = definition.header_len;
            self.target = FileArrangement::plan(definition, len, pad, &self.actual, self.held)?;
        }
        Ok(())
    }

    pub(crate) fn header_pad(&self) -> u64 {
        self.choices.header_pad
    }

    pub(crate) fn cell_bytes(&self) -> u64 {
        self.choices.cell_bytes
    }

    /// Refuses to reshape existing data.
    fn check_unchanged(&self, definition: &FittedModel) -> Result<()> {
        for var in &definition.vars {
            let Ok(old) = self.definition.var(var.id) else { continue };
            let written = self.tracks.get(&var.id).is_some_and(|track| !track.written.is_empty());
            let same = (old.ty, old.is_record, &old.shape) == (var.ty, var.is_record, &var.shape);
            if !same && (written || self.scratch.holds(var.id)) {
                let message =
                    format!("its type and its shape {:?} cannot change once it has data", old.shape);
                return Err(Error::unsupported(message).at_path(&var.path).by("classic"));
            }
        }
        Ok(())
    }

    /// Whether several records of a variable may share a chunk: they are contiguous now and will be. Once a variable
    /// has data with one chunk per record this stays so, because callers of this handle know those chunks.
    fn may_share_cells(&self, var: &VariableDefinition, target: &FileArrangement) -> bool {
        let adjoin = target.records_adjoin(var);
        let Some(track) = self.tracks.get(&var.id) else { return adjoin };
        let lies_together = track.written.is_empty() || self.actual.records_adjoin(var);
        let is_empty = track.written.is_empty() && !self.scratch.holds(var.id);
        adjoin && lies_together && (track.cut.rows() > 1 || is_empty)
    }

    /// Whether anything in the file is not where it has to be, or something that a reader still sees would be
    /// overwritten (data of a variable that was removed).
    fn must_move(&self, target: &FileArrangement) -> bool {
        let moves = |(id, track): (&VarId, &VariableTrack)| {
            !track.written.is_empty() && self.actual.position(*id).ok() != target.position(*id).ok()
        };
        let drops_records =
            self.committed.records > 0 && self.actual.record_vars().any(|id| !self.tracks.contains_key(&id));
        let data_begin = self.actual.data_begin();
        let shifts_data = self.committed.file_len > data_begin && target.data_begin() != data_begin;
        drops_records || shifts_data || self.tracks.iter().any(moves)
    }

    /// Which positions are kept: all that a reader of the file knows of, and those of records if there are any.
    pub(crate) fn holding(&self) -> HeldPlaces {
        let has_data = |var: &VariableDefinition| {
            self.tracks.get(&var.id).is_some_and(|track| !track.written.is_empty())
        };
        HeldPlaces {
            fixed: !self.committed.header.is_empty(),
            records: self.definition.part(true).any(has_data),
        }
    }

    /// Begins to keep the positions of variables with data, again after each commit.
    pub(crate) fn hold(&mut self, held: HeldPlaces) {
        self.held = held;
    }

    pub(crate) fn track(&self, var: VarId) -> Result<&VariableTrack> {
        self.tracks.get(&var).ok_or_else(|| Error::not_found("the variable is not defined in the file"))
    }

    /// The chunks of a variable of that shape, and how many they are; those of several records count as one of each.
    fn chunks_of(&self, var: VarId, shape: &[u64]) -> Option<(&VariableTrack, u64)> {
        let track = self.tracks.get(&var)?;
        let rows = if self.definition.var(var).ok()?.is_record { *shape.first()? } else { 1 };
        Some((track, rows.checked_mul(track.cut.cells())?))
    }

    /// Where a chunk is now.
    fn find(&self, var: VarId, track: &VariableTrack, cell: &[u64]) -> Result<Location> {
        let piece = track.piece(cell)?;
        let rows = track.cut.rows();
        let range = match (self.scratch.find(var, piece.index), track.written.run_end(piece.index)) {
            (Some(held), _) => {
                let len = piece.span.len.checked_mul(held.count.min(rows));
                len.and_then(|len| Some(held.offset..held.offset.checked_add(len)?))
            }
            (None, Some(end)) => {
                let count = (end - piece.index).min(rows);
                VariableTrack::range(&piece, &self.actual.position(var)?, count)
            }
            (None, None) => return Ok(Location::Absent),
        };
        let range = range.ok_or_else(|| Error::limit("the cell lies beyond 2^64 bytes"))?;
        Ok(Location::Bytes(self.root.clone(), range))
    }

    /// Places bytes behind the file's data.
    fn place_aside(&mut self, var: VarId, piece: &PlacedCell, count: u64, body: Bytes) -> Result<StorePut> {
        let new = ScratchPiece { offset: self.file_len, count, unit: piece.span.len };
        let offset = self.scratch.place(var, piece.index, new);
        self.put_at(offset, body)
    }

    /// Places bytes at their final position, and the padding that follows.
    fn place_in_file(&mut self, var: VarId, piece: &PlacedCell, count: u64, body: Bytes) -> Result<StorePut> {
        let position = self.actual.position(var)?;
        let range = VariableTrack::range(piece, &position, count);
        let range = range.ok_or_else(|| Error::limit("the cell lies beyond 2^64 bytes"))?;
        let padding = self.padding(var, piece)?;
        let body = if padding.is_empty() { body } else { [body.as_ref(), &padding].concat().into() };
        let put = self.put_at(range.start, body)?;
        let track = self.tracks.get_mut(&var);
        let track =
            track.ok_or_else(|| Error::internal(format!("a cell of variable {var:?}, which has none")))?;
        track.written.insert(piece.index..piece.index.saturating_add(count));
        let is_record = position.record_size.is_some();
        self.held.records |= is_record;
        self.held.fixed |= !is_record;
        Ok(put)
    }

    /// The padding after the last chunk of a slab up to a multiple of four: fill values.
    pub(crate) fn padding(&self, var: VarId, piece: &PlacedCell) -> Result<Vec<u8>> {
        let definition = self.definition.var(var)?;
        let len = definition.slab.byte_len;
        if piece.span.offset.checked_add(piece.span.len) != Some(len)
            || self.actual.records_adjoin(definition)
        {
            return Ok(Vec::new());
        }
        let missing = usize::try_from(definition.padded_len()? - len).unwrap_or(0);
        Ok(definition.fill_bytes()?.into_iter().cycle().take(missing).collect())
    }

    /// Bytes at an offset of the file.
    fn put_at(&mut self, offset: u64, body: Bytes) -> Result<StorePut> {
        let end = offset.checked_add(body.len() as u64);
        let end = end.ok_or_else(|| Error::limit("the file would be longer than 2^64 bytes"))?;
        self.file_len = self.file_len.max(end);
        Ok(StorePut::Patch { object: self.root.clone(), offset, body })
    }

    /// Notes that records were placed, the last of which ends there.
    pub(crate) fn note_records(&mut self, end: u64) {
        self.file_len = self.file_len.max(end);
        self.held.records = true;
    }

    /// Refuses a record that the variant cannot count.
    pub(crate) fn check_records(&self, piece: &PlacedCell, count: u64) -> Result<()> {
        let max = self.definition.version.max_records();
        if piece.span.row.checked_add(count).is_none_or(|records| records > max) {
            let kind = self.definition.version.format();
            return Err(Error::limit(format!("more than the {max} records of kind {kind}")).by("classic"));
        }
        Ok(())
    }
}

impl Placer for ClassicPlacer {
    fn abilities(&self) -> Abilities {
        Abilities {
            redefine: true,
            codecs: None,
            sparse: false,
            shards: false,
            patches: true,
            unlimits: false,
            keeps_unlimited: true,
            fills: FillStorage::Attribute,
        }
    }

    fn define(&mut self, _: &dyn View, model: &Model, changes: Option<&Changes>) -> Step<Vec<StorePut>> {
        if !changes.is_some_and(|changes| self.adopt_additions(model, changes)) {
            self.adopt(model)?;
        }
        Ok(Vec::new())
    }

    fn encoding(&self, var: VarId) -> Result<Arc<Encoding>> {
        Ok(Arc::clone(&self.track(var)?.encoding))
    }

    fn has_all(&self, var: VarId, shape: &[u64]) -> bool {
        self.chunks_of(var, shape).is_some_and(|(track, count)| track.written.run_end(0) >= Some(count))
    }

    fn locate(&self, _: &dyn View, var: VarId, cells: &CellList) -> Step<Vec<ChunkRef>> {
        let track = self.track(var)?;
        let located = cells.iter().map(|cell| Ok(ChunkRef::new(self.find(var, track, cell)?)));
        Ok(located.collect::<Result<_>>().map_err(|error| self.at(var, error))?)
    }

    fn prepare(&self, _: &dyn View, _: &[PlacerWork]) -> Step<PreparedPlacement> {
        Ok(PreparedPlacement::nothing())
    }

    fn intern(&mut self, var: VarId, _: &Values) -> Result<(Bytes, Vec<StorePut>)> {
        let error = Error::internal("a classic file has no values of variable length");
        Err(self.at(var, error))
    }

    fn place(
        &mut self,
        _: &PreparedPlacement,
        var: VarId,
        cell: &[u64],
        body: Bytes,
        _: u32,
    ) -> Result<Vec<StorePut>> {
        let placed = self.track(var).and_then(|track| {
            let piece = track.piece(cell)?;
            let count = track.records_of(&piece, body.len() as u64)?;
            self.check_records(&piece, count)?;
            Ok((piece, count))
        });
        let put = placed.and_then(|(piece, count)| {
            if self.moving {
                self.place_aside(var, &piece, count, body)
            } else {
                self.place_in_file(var, &piece, count, body)
            }
        });
        put.map(|put| vec![put]).map_err(|error| self.at(var, error.at_chunk(cell)))
    }

    fn place_rows(
        &mut self,
        var: VarId,
        cell: &[u64],
        count: u64,
        body: Vec<u8>,
    ) -> Result<Option<PatchRows>> {
        let placed = self.record_rows(var, cell, count, body);
        placed.map_err(|error| self.at(var, error.at_chunk(cell)))
    }

    fn plan_commit(&mut self, _: &dyn View, model: &Model) -> Step<Vec<PutPhase>> {
        self.adopt(model)?;
        let (phases, planned) = self.phases()?;
        self.planned = Some(planned);
        Ok(phases)
    }

    fn committed(&mut self) {
        self.settle();
    }
}

impl ClassicPlacer {
    fn at(&self, var: VarId, error: Error) -> Error {
        match self.definition.var(var) {
            Ok(definition) => error.at_path(&definition.path).by("classic"),
            Err(_) => error.by("classic"),
        }
    }
}

//! Records of a variable that are placed together: rows at equal distances, with the parts of other variables between them.
use crate::placer::ClassicPlacer;
use ncirrus_layout::{Error, PatchRows, Result};
use ncirrus_model::VarId;

impl ClassicPlacer {
    /// Places records of a variable, of which each is one chunk, beginning with that of `cell`. `None` if its chunks are others, or do
    /// not get their final place yet.
    ///
    /// # Errors
    /// `Limit` for records that the variant cannot count, `Internal` if the bytes are not those of so many records.
    pub(crate) fn record_rows(
        &mut self,
        var: VarId,
        cell: &[u64],
        count: u64,
        body: Vec<u8>,
    ) -> Result<Option<PatchRows>> {
        // While data move, new variables have no position yet.
        if self.moving {
            return Ok(None);
        }
        let (track, position) = (self.track(var)?, self.actual.position(var)?);
        let Some(stride) = position.record_size else { return Ok(None) };
        if track.cut.rows() != 1 || track.cut.cells() != 1 || count == 0 {
            return Ok(None);
        }
        let piece = track.piece(cell)?;
        if piece.span.len.checked_mul(count) != Some(body.len() as u64) {
            let message = format!("{} bytes for {count} records of {} bytes", body.len(), piece.span.len);
            return Err(Error::internal(message));
        }
        self.check_records(&piece, count)?;
        let padding = self.padding(var, &piece)?;
        let row = usize::try_from(piece.span.len).map_or(usize::MAX, |len| len.saturating_add(padding.len()));
        let last = piece.span.row.checked_add(count - 1).and_then(|last| position.offset(last, 0));
        let end = last.and_then(|last| last.checked_add(row as u64));
        let (Some(offset), Some(end)) = (position.offset(piece.span.row, 0), end) else {
            return Err(Error::limit("the records lie beyond 2^64 bytes"));
        };
        // The parts of damaged files may overlap.
        if row == 0 || row as u64 > stride {
            return Ok(None);
        }
        let bytes = match padding.as_slice() {
            [] => body,
            padding => {
                let mut bytes = Vec::with_capacity(
                    body.len().saturating_add(body.len() / (row - padding.len()) * padding.len()),
                );
                for record in body.chunks_exact(row - padding.len()) {
                    bytes.extend_from_slice(record);
                    bytes.extend_from_slice(padding);
                }
                bytes
            }
        };
        let index = piece.index;
        let track =
            self.tracks.get_mut(&var).ok_or_else(|| Error::internal("records of an unknown variable"))?;
        track.written.insert(index..index.saturating_add(count));
        self.note_records(end);
        Ok(Some(PatchRows { object: self.root.clone(), offset, stride, row, bytes }))
    }
}

//! A variable that several processes write: what each of its objects contains.
use super::text::TicketVariable;
use crate::{Error, Result, Session, Variable};
use bytes::Bytes;
use ncirrus_engine::{EncodedChunk, VariableEncoder};
use ncirrus_layout::Sharding;
use ncirrus_model::{Region, Shards};
use std::sync::Arc;

/// The encoder of a variable of a ticket, and what else is known of it. Its *units* are what one process writes alone and
/// whole: its chunks, or the shards that contain them.
pub(super) struct JoinedVariable {
    pub(super) reported: TicketVariable,
    pub(super) encoder: VariableEncoder,
    shards: Option<JoinedShards>,
}

struct JoinedShards {
    shape: Vec<u64>,
    form: Arc<dyn Sharding>,
}

impl JoinedVariable {
    pub(super) fn new(reported: TicketVariable, session: &Session) -> Result<Self> {
        let encoder = Variable::encoder_from_text(&reported.encoder, session)?;
        let shards = reported.shards.as_ref().map(|shards| JoinedShards::new(shards, &encoder));
        let shards = shards.transpose().map_err(|error| error.at_path(&reported.path))?;
        Ok(Self { reported, encoder, shards })
    }

    /// The shape of its shards.
    pub(super) fn shard_shape(&self) -> Option<&[u64]> {
        self.shards.as_ref().map(|shards| shards.shape.as_slice())
    }

    /// The elements of a unit in the array.
    ///
    /// # Errors
    /// `Invalid` if the array has no such unit.
    pub(super) fn region(&self, unit: &[u64]) -> Result<Region> {
        match &self.shards {
            None => self.encoder.region(unit),
            Some(shards) => shards.region(unit, self.encoder.shape()).ok_or_else(|| {
                Error::invalid("the array has no such shard").at_path(&self.reported.path).at_chunk(unit)
            }),
        }
    }

    /// The units that a box of the array consists of.
    ///
    /// # Errors
    /// `Invalid` if the box is not inside the array, or contains only a part of a unit, which is named.
    pub(super) fn whole_units(&self, region: &Region) -> Result<Vec<Vec<u64>>> {
        let array = self.encoder.shape();
        let is_inside =
            region.intersect(&Region::all(array)).as_ref() == Some(region) && region.rank() == array.len();
        match &self.shards {
            Some(shards) if is_inside => {
                shards.whole(region, array).map_err(|error| error.at_path(&self.reported.path))
            }
            _ => self.encoder.whole_chunks(region),
        }
    }

    /// Checks that a unit contains no existing data.
    ///
    /// # Errors
    /// `Invalid` if it does, or if the array has no such unit.
    pub(super) fn check_new(&self, unit: &[u64]) -> Result<()> {
        let region = self.region(unit)?;
        let Some(old) = &self.reported.old else { return Ok(()) };
        if region.intersect(&Region::all(old)).is_none() && !old.is_empty() {
            return Ok(());
        }
        let what = if self.shards.is_some() { "shard" } else { "chunk" };
        let message =
            format!("the {what} contains existing data; only the process that finishes may write it");
        Err(Error::invalid(message).at_path(&self.reported.path).at_chunk(unit))
    }

    /// The object of a unit, from the elements of a box that contains it.
    ///
    /// # Errors
    /// As [`VariableEncoder::cut`] and [`VariableEncoder::encode`].
    pub(super) fn object(&self, unit: &[u64], region: &Region, bytes: &[u8]) -> Result<Bytes> {
        let encode =
            |cell: &[u64]| Ok(self.encoder.encode(cell, &self.encoder.cut(region, bytes, cell)?)?.body);
        let Some(shards) = &self.shards else { return encode(unit) };
        let mut chunks: Vec<Option<Bytes>> = Vec::new();
        for cell in shards.form.cells_of(unit).filter(|cell| self.encoder.region(cell).is_ok()) {
            let slot = shards.form.slot(&cell);
            if chunks.len() <= slot {
                chunks.resize(slot + 1, None);
            }
            if let Some(chunk) = chunks.get_mut(slot) {
                *chunk = Some(encode(&cell)?);
            }
        }
        shards.form.assemble(unit, &chunks)
    }

    /// The chunks of the object of a unit.
    ///
    /// # Errors
    /// `Malformed` if the object is not that of a shard.
    pub(super) fn chunks(&self, unit: &[u64], body: &Bytes) -> Result<Vec<EncodedChunk>> {
        let chunk = |cell: Vec<u64>, body: Bytes| EncodedChunk { cell, body, mask: 0 };
        let Some(shards) = &self.shards else { return Ok(vec![chunk(unit.to_vec(), body.clone())]) };
        let ranges = shards.form.ranges(unit, body)?;
        let mut chunks = Vec::new();
        for cell in shards.form.cells_of(unit).filter(|cell| self.encoder.region(cell).is_ok()) {
            let range = ranges.get(shards.form.slot(&cell)).cloned().flatten();
            let range =
                range.ok_or_else(|| Error::malformed("a chunk of the shard is missing").at_chunk(&cell))?;
            chunks.push(chunk(cell, body.slice(range)));
        }
        Ok(chunks)
    }
}

impl JoinedShards {
    fn new(shards: &Shards, encoder: &VariableEncoder) -> Result<Self> {
        let chunk = encoder.chunk_shape().unwrap_or_default();
        Ok(Self { shape: shards.shape.clone(), form: ncirrus_zarr::sharding_of(shards, &chunk)? })
    }

    fn region(&self, shard: &[u64], array: &[u64]) -> Option<Region> {
        if shard.len() != array.len() || shard.len() != self.shape.len() {
            return None;
        }
        let along = |((at, len), end): ((&u64, &u64), &u64)| {
            let start = at.checked_mul(*len).filter(|start| start < end)?;
            Some((start, (*len).min(end - start)))
        };
        let (start, count) = shard
            .iter()
            .zip(&self.shape)
            .zip(array)
            .map(along)
            .collect::<Option<Vec<_>>>()?
            .into_iter()
            .unzip();
        Some(Region { start, count })
    }

    /// The shards of a box inside of the array.
    fn whole(&self, region: &Region, array: &[u64]) -> Result<Vec<Vec<u64>>> {
        if region.is_empty() {
            return Ok(Vec::new());
        }
        let mut shards = vec![Vec::new()];
        for ((start, count), len) in region.start.iter().zip(&region.count).zip(&self.shape) {
            let last = start.saturating_add(count.saturating_sub(1)) / (*len).max(1);
            let along = start / (*len).max(1)..=last;
            shards = shards
                .iter()
                .flat_map(|before| along.clone().map(move |at| [before.as_slice(), &[at]].concat()))
                .collect();
        }
        for shard in &shards {
            let whole = self.region(shard, array);
            if whole.is_none() || whole.as_ref().and_then(|whole| whole.intersect(region)) != whole {
                let message = format!(
                    "the box has a part of the shard only, where whole shards of {:?} are written",
                    self.shape
                );
                return Err(Error::invalid(message).at_chunk(shard));
            }
        }
        Ok(shards)
    }
}

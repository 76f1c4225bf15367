//! Chunks that are encoded by one process and stored by another.
use super::Variable;
use crate::dataset::DatasetState;
use crate::{EncodedChunk, Error, Result, Session};
use ncirrus_engine::VariableEncoder;

impl Variable {
    /// The encoder for chunks of this variable, on any handle, for its present shape. As text
    /// ([`VariableEncoder::to_text`]) it can be passed to another process, which needs no access to the dataset.
    ///
    /// # Errors
    /// `Unsupported` for elements without a fixed size, and on a handle for reading for variables that are not chunked.
    pub fn encoder(&self) -> Result<VariableEncoder> {
        let engine = self.dataset.engine();
        let encoder = match self.dataset.state() {
            DatasetState::Reading(dataset) => engine.wait(dataset.encoder(self.id)),
            DatasetState::Writing(open) => engine.wait(self.dataset.written(open)?.encoder(self.id)),
        };
        encoder.map_err(|error| error.at_path(self.path()))
    }

    /// The encoder that a text describes, bound to the codecs of a session.
    ///
    /// # Errors
    /// `Malformed` if it is not such a text; `Unsupported` if it has another version or is from a machine with another
    /// byte order, or names a codec that the session does not have.
    pub fn encoder_from_text(text: &str, session: &Session) -> Result<VariableEncoder> {
        VariableEncoder::from_text(text, &session.engine)
    }

    /// The chunk with these coordinates, encoded from its elements inside the array, in the form that
    /// [`packed_len`](Self::packed_len) describes, row-major. To encode many chunks, make one
    /// [`encoder`](Self::encoder).
    ///
    /// # Errors
    /// As [`encoder`](Self::encoder); `Invalid` if there is no such chunk or the bytes are not its elements.
    pub fn encode_chunk(&self, index: &[u64], bytes: &[u8]) -> Result<EncodedChunk> {
        self.encoder()?.encode(index, bytes)
    }

    /// Stores chunks that this variable's encoder produced, here or in another process. They replace what was written
    /// of these chunks before; the variable does not grow ([`grow_to`](Self::grow_to) extends it).
    ///
    /// # Errors
    /// `Invalid` if a chunk is outside or occurs twice, or, without codecs, differs in length from its elements;
    /// `Unsupported` for variables whose chunks are clipped at the array's end, as in netCDF-3. Nothing is changed
    /// then. If the dataset is not open for writing; if writing fails.
    pub fn write_encoded(&self, chunks: Vec<EncodedChunk>) -> Result<()> {
        let open = self.dataset.open_for_writing()?;
        let written = self.dataset.engine().wait(open.writer.write_encoded(self.id, chunks));
        written.map_err(|error: Error| error.at_path(self.path()))
    }

    /// How far the variable reaches itself along each axis: to the end of what was stored of it when the dataset was opened, and
    /// of what this handle and its copies wrote since. Other variables may have made its unlimited dimensions longer.
    ///
    /// # Errors
    /// `Invalid` if the dataset is not open for writing.
    pub fn reach(&self) -> Result<Vec<u64>> {
        Ok(self.dataset.open_for_writing()?.writer.reach(self.id))
    }

    /// Raises the lengths of unlimited dimensions so that the variable has at least that shape; elements that are not
    /// written hold the fill value.
    ///
    /// # Errors
    /// `Invalid` if a dimension that does not grow has another length; if the dataset is not open for writing.
    pub fn grow_to(&self, shape: &[u64]) -> Result<()> {
        let open = self.dataset.open_for_writing()?;
        let grown = self.dataset.engine().wait(open.writer.grow_to(self.id, shape));
        grown.map_err(|error: Error| error.at_path(self.path()))
    }

    /// Adds chunks of these lengths along an axis of a variable whose chunks have different lengths (Zarr v3), for elements
    /// that will be written. Without this, one chunk has all that the variable grows by at a time, or chunks of the same length
    /// are added if those along the axis are alike.
    ///
    /// # Errors
    /// `Invalid` if the variable's chunks are all alike, or a length is 0; if the dataset is not open for writing.
    pub fn add_chunks(&self, axis: usize, lengths: &[u64]) -> Result<()> {
        let open = self.dataset.open_for_writing()?;
        self.dataset.engine().wait(open.writer.add_chunks(self.id, axis, lengths))
    }

    /// The lengths of the chunks along each axis, if they differ (Zarr v3): as they were when the dataset was opened.
    pub fn chunk_lengths(&self) -> Option<Vec<Vec<u64>>> {
        let model = self.dataset.snapshot();
        model.variable(self.id)?.irregular_chunks().map(<[Vec<u64>]>::to_vec)
    }
}

#[cfg(test)]
mod tests;

//! Chunks that are encoded by one process and stored by another.
use super::Variable;
use crate::dataset::DatasetState;
use crate::{EncodedChunk, Error, Result, Session};
use ncirrus_engine::VariableEncoder;

impl Variable {
    /// What makes stored chunks of this variable from elements, on any handle, for the shape that it has now. As text
    /// ([`VariableEncoder::to_text`]) it goes to another process, which needs no access to the dataset.
    ///
    /// # Errors
    /// `Unsupported` for elements of no fixed size, and on a handle for reading for variables that are not chunked.
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
    /// `Malformed` when it is no such text; `Unsupported` when it is of another version or of a machine with another byte
    /// order, or names a codec that the session does not know.
    pub fn encoder_from_text(text: &str, session: &Session) -> Result<VariableEncoder> {
        VariableEncoder::from_text(text, &session.engine)
    }

    /// The chunk with these coordinates from its elements inside of the array, as
    /// [`packed_len`](Self::packed_len) has them, row-major. Who encodes many makes one [`encoder`](Self::encoder).
    ///
    /// # Errors
    /// As [`encoder`](Self::encoder); `Invalid` when there is no such chunk or the bytes are not its elements.
    pub fn encode_chunk(&self, index: &[u64], bytes: &[u8]) -> Result<EncodedChunk> {
        self.encoder()?.encode(index, bytes)
    }

    /// Stores chunks as they are, which this variable's encoder made, here or elsewhere. What was written of these
    /// chunks before is replaced; the variable does not grow ([`grow_to`](Self::grow_to) makes it).
    ///
    /// # Errors
    /// `Invalid` when a chunk lies outside or is given twice, or has another length than its elements where nothing
    /// encodes them; `Unsupported` for variables whose chunks are not whole at the array's end, as in netCDF-3. Nothing is
    /// changed then. When the dataset is not open for writing; when writing fails.
    pub fn write_encoded(&self, chunks: Vec<EncodedChunk>) -> Result<()> {
        let open = self.dataset.open_for_writing()?;
        let written = self.dataset.engine().wait(open.writer.write_encoded(self.id, chunks));
        written.map_err(|error: Error| error.at_path(self.path()))
    }

    /// Raises the lengths of unlimited dimensions so that the variable has at least that shape; elements that nobody writes
    /// hold the fill value.
    ///
    /// # Errors
    /// `Invalid` when a dimension that does not grow has another length; when the dataset is not open for writing.
    pub fn grow_to(&self, shape: &[u64]) -> Result<()> {
        let open = self.dataset.open_for_writing()?;
        let grown = self.dataset.engine().wait(open.writer.grow_to(self.id, shape));
        grown.map_err(|error: Error| error.at_path(self.path()))
    }
}

#[cfg(test)]
mod tests;

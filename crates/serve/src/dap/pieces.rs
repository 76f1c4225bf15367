//! Answers in pieces: values are read as the encoders ask for them.
#[cfg(test)]
mod tests;

use crate::response::{PieceBuffers, Pieces};
use crate::{HttpError, ServedDataset};
use bytes::Bytes;
use ncirrus::{Error, VarId};
use ncirrus_dap::{AnswerStep, Dap2Answer, Dap4Answer, ReadStep, StepBytes, StepValues};
use std::collections::BTreeMap;
use std::sync::Arc;

/// An answer of a protocol, in steps.
trait Answer {
    fn step(&mut self) -> ncirrus::Result<AnswerStep>;

    fn take(&mut self, values: StepValues) -> ncirrus::Result<StepBytes>;
}

impl Answer for Dap2Answer {
    fn step(&mut self) -> ncirrus::Result<AnswerStep> {
        Self::step(self)
    }

    fn take(&mut self, values: StepValues) -> ncirrus::Result<StepBytes> {
        Self::take(self, values)
    }
}

impl Answer for Dap4Answer {
    fn step(&mut self) -> ncirrus::Result<AnswerStep> {
        Self::step(self)
    }

    fn take(&mut self, values: StepValues) -> ncirrus::Result<StepBytes> {
        Self::take(self, values)
    }
}

/// Reads the values of an answer.
struct AnswerReader<A> {
    served: Arc<ServedDataset>,
    answer: A,
    buffers: PieceBuffers,
}

impl<A: Answer> AnswerReader<A> {
    fn new(served: Arc<ServedDataset>, answer: A) -> Self {
        Self { served, answer, buffers: PieceBuffers::default() }
    }

    /// The next bytes; `None` at the end.
    fn next(&mut self) -> ncirrus::Result<Option<Bytes>> {
        loop {
            let bytes = match self.answer.step()? {
                AnswerStep::Send(bytes) => bytes.into(),
                AnswerStep::Read(step) => {
                    let values = self.read(&step)?;
                    self.buffers.sent(self.answer.take(values)?)
                }
                AnswerStep::End => return Ok(None),
            };
            if !bytes.is_empty() {
                return Ok(Some(bytes));
            }
        }
    }

    /// Reads what a step needs.
    fn read(&self, step: &ReadStep) -> ncirrus::Result<StepValues> {
        let variable = self.served.dataset().variable_by_id(step.variable);
        if !step.is_packed {
            return variable.values(&step.selection).map(StepValues::Values);
        }
        let count = step.selection.element_count().and_then(|count| usize::try_from(count).ok());
        let len = count.zip(variable.packed_len()).and_then(|(count, len)| count.checked_mul(len));
        let bytes = len.and_then(|len| self.buffers.take(step.room, len));
        let mut bytes = bytes.ok_or_else(|| Error::internal("values without a size"))?;
        variable.read_bytes_into(&step.selection, bytes.as_mut())?;
        Ok(StepValues::Packed(bytes))
    }
}

/// An answer of DAP2.
pub(super) struct Dap2Pieces(AnswerReader<Dap2Answer>);

impl Dap2Pieces {
    pub(super) fn new(served: Arc<ServedDataset>, answer: Dap2Answer) -> Self {
        Self(AnswerReader::new(served, answer))
    }
}

impl Pieces for Dap2Pieces {
    fn next_piece(&mut self) -> Result<Option<Bytes>, HttpError> {
        Ok(self.0.next()?)
    }
}

/// An answer of DAP4.
pub(super) struct Dap4Pieces {
    reader: AnswerReader<Dap4Answer>,
    has_failed: bool,
}

impl Dap4Pieces {
    pub(super) fn new(served: Arc<ServedDataset>, answer: Dap4Answer) -> Self {
        Self { reader: AnswerReader::new(served, answer), has_failed: false }
    }

    /// The checksums of all variables.
    pub(super) fn checksums(mut self) -> Result<BTreeMap<VarId, u32>, HttpError> {
        while self.reader.next()?.is_some() {}
        Ok(self.reader.answer.checksums().clone())
    }
}

impl Pieces for Dap4Pieces {
    /// An error is a chunk of the answer, its last one.
    fn next_piece(&mut self) -> Result<Option<Bytes>, HttpError> {
        if self.has_failed {
            return Ok(None);
        }
        let error = match self.reader.next() {
            Ok(piece) => return Ok(piece),
            Err(error) => error,
        };
        self.has_failed = true;
        let shown = HttpError::from(error.clone());
        let shown_error = Error::new(error.kind(), shown.message);
        Ok(Some(Dap4Answer::failed(shown.status.as_u16(), &shown_error).into()))
    }
}

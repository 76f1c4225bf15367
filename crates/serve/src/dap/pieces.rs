//! Answers in pieces: values are read as the encoders ask for them.
use crate::response::Pieces;
use crate::{HttpError, ServedDataset};
use bytes::Bytes;
use ncirrus::{Error, VarId};
use ncirrus_dap::{AnswerStep, Dap2Answer, Dap4Answer, ReadStep, StepValues};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Reads what a step needs.
fn read(served: &ServedDataset, step: &ReadStep) -> ncirrus::Result<StepValues> {
    let variable = served.dataset().variable_by_id(step.variable);
    if !step.is_packed {
        return variable.values(&step.selection).map(StepValues::Values);
    }
    let count = step.selection.element_count().and_then(|count| usize::try_from(count).ok());
    let len = count.zip(variable.packed_len()).and_then(|(count, len)| count.checked_mul(len));
    let mut bytes = vec![0; len.ok_or_else(|| Error::internal("values without a size"))?];
    variable.read_bytes_into(&step.selection, &mut bytes)?;
    Ok(StepValues::Packed(bytes))
}

/// An answer of DAP2.
pub(super) struct Dap2Pieces {
    served: Arc<ServedDataset>,
    answer: Dap2Answer,
}

impl Dap2Pieces {
    pub(super) fn new(served: Arc<ServedDataset>, answer: Dap2Answer) -> Self {
        Self { served, answer }
    }
}

impl Pieces for Dap2Pieces {
    fn next_piece(&mut self) -> Result<Option<Bytes>, HttpError> {
        loop {
            let bytes = match self.answer.step()? {
                AnswerStep::Send(bytes) => bytes,
                AnswerStep::Read(step) => {
                    let values = read(&self.served, &step)?;
                    self.answer.take(values)?
                }
                AnswerStep::End => return Ok(None),
            };
            if !bytes.is_empty() {
                return Ok(Some(bytes.into()));
            }
        }
    }
}

/// An answer of DAP4.
pub(super) struct Dap4Pieces {
    served: Arc<ServedDataset>,
    answer: Dap4Answer,
    has_failed: bool,
}

impl Dap4Pieces {
    pub(super) fn new(served: Arc<ServedDataset>, answer: Dap4Answer) -> Self {
        Self { served, answer, has_failed: false }
    }

    /// The checksums of all variables.
    pub(super) fn checksums(mut self) -> Result<BTreeMap<VarId, u32>, HttpError> {
        while self.next()?.is_some() {}
        Ok(self.answer.checksums().clone())
    }

    fn next(&mut self) -> ncirrus::Result<Option<Vec<u8>>> {
        loop {
            let bytes = match self.answer.step()? {
                AnswerStep::Send(bytes) => bytes,
                AnswerStep::Read(step) => {
                    let values = read(&self.served, &step)?;
                    self.answer.take(values)?
                }
                AnswerStep::End => return Ok(None),
            };
            if !bytes.is_empty() {
                return Ok(Some(bytes));
            }
        }
    }
}

impl Pieces for Dap4Pieces {
    /// An error is a chunk of the answer, its last one.
    fn next_piece(&mut self) -> Result<Option<Bytes>, HttpError> {
        if self.has_failed {
            return Ok(None);
        }
        let error = match self.next() {
            Ok(piece) => return Ok(piece.map(Bytes::from)),
            Err(error) => error,
        };
        self.has_failed = true;
        let shown = HttpError::from(error.clone());
        let shown_error = Error::new(error.kind(), shown.message);
        Ok(Some(Dap4Answer::failed(shown.status.as_u16(), &shown_error).into()))
    }
}

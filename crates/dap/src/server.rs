//! What a server sends (docs/spec/dap.md 3, 6, 9): documents, and answers in steps.
//!
//! A dataset as a protocol shows it ([`Dap2Dataset`], [`Dap4Dataset`]) is made of its definitions. It checks a constraint
//! as a whole, before anything is sent, and makes an answer of it. The answer is a sequence of [`AnswerStep`]s: bytes to
//! send, and boxes of values to read, whose size is bounded. The caller reads and sends; nothing here does.
mod bytes;
mod cuts;
mod dap2;
mod dap4;
mod select;
mod text;

#[cfg(test)]
mod tests;

pub use bytes::StepBytes;
pub use dap2::{Dap2Answer, Dap2Dataset, Dap2Request};
pub use dap4::{Dap4Answer, Dap4Dataset, Dap4Request, dap4_error};
pub use text::dap2_error;

use ncirrus_model::{Selection, Values, VarId};

/// A variable or attribute that a protocol cannot hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotServed {
    /// Its path.
    pub path: String,
    /// Why.
    pub reason: String,
}

/// What comes next of an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum AnswerStep {
    /// These bytes are sent.
    Send(Vec<u8>),
    /// These values are read and handed to the answer.
    Read(ReadStep),
    /// The answer is complete.
    End,
}

/// Values that an answer needs.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadStep {
    /// The variable.
    pub variable: VarId,
    /// The elements.
    pub selection: Selection,
    /// Whether the elements are wanted as bytes: contiguous, numbers in the machine's byte order.
    pub is_packed: bool,
    /// Bytes that are free in front of packed elements, at least: the answer changes the elements where they are, and puts
    /// there what belongs in front of them.
    pub room: usize,
}

/// Values that were read for a step.
#[derive(Debug, Clone, PartialEq)]
pub enum StepValues {
    /// For a step that is packed: the elements, behind their room.
    Packed(StepBytes),
    /// For all others.
    Values(Values),
}

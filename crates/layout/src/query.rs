//! Boxes of variables that a server computes: what is asked for, and the answers.
use crate::{Error, Limits, ObjectId, Result};
use bytes::Bytes;
use ncirrus_model::Values;
use std::fmt::Debug;

/// Elements along one axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct QueryAxis {
    /// The first one.
    pub start: u64,
    /// How many.
    pub count: u64,
    /// From one to the next, at least 1.
    pub stride: u64,
}

impl QueryAxis {
    /// The index of the last one; `None` if there is none, or past 64 bits.
    pub fn last(&self) -> Option<u64> {
        let steps = self.count.checked_sub(1)?;
        self.start.checked_add(steps.checked_mul(self.stride)?)
    }
}

/// A box of a variable.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct QueryBox {
    /// The variable, by the number in its [`Layout::Query`](crate::Layout::Query).
    pub variable: usize,
    /// Its elements along each axis of the variable, at least one.
    pub axes: Vec<QueryAxis>,
}

impl QueryBox {
    /// Number of elements.
    pub fn count(&self) -> u64 {
        self.axes.iter().fold(1, |product, axis| product.saturating_mul(axis.count))
    }
}

/// A request, and which boxes its answer holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    /// The object that is the answer.
    pub object: ObjectId,
    /// The boxes, by their numbers in the list that was planned.
    pub boxes: Vec<usize>,
    /// Bytes of values that are expected in the answer.
    pub bytes: u64,
    /// Whether there are exactly that many.
    pub is_exact: bool,
}

/// Takes elements of a box as they are decoded: the number of the first one in row-major order, and their bytes, of the
/// variable's type in the machine's byte order.
pub type PutElements<'a> = dyn FnMut(u64, &[u8]) -> Result<()> + Send + 'a;

/// Decodes the answer to the query for one box while it arrives.
pub trait QueryDecoder: Debug + Send {
    /// Takes the next bytes of the answer, and puts the elements that they complete. Of the answer itself it keeps no
    /// more than an error message needs, if elements can be put before its end.
    ///
    /// # Errors
    /// As [`QuerySource::decode`], and those of `put`.
    fn piece(&mut self, bytes: &[u8], put: &mut PutElements<'_>) -> Result<()>;

    /// The answer is complete. `None` if all elements were put; else the values of the box, which could only be decoded
    /// together, and none was put.
    ///
    /// # Errors
    /// As [`QuerySource::decode`].
    fn finish(self: Box<Self>) -> Result<Option<Values>>;
}

/// Turns boxes into requests and decodes the answers, for all variables of a dataset.
///
/// An answer is not an object with a state: it has no ranges, and its tag says nothing.
pub trait QuerySource: Debug + Send + Sync {
    /// The requests that obtain boxes: each box is in one of them, and those of one sequence are in the same.
    ///
    /// # Errors
    /// If a box cannot be requested.
    fn plan(&self, boxes: &[QueryBox]) -> Result<Vec<Query>>;

    /// The values of boxes in the answer to the query for them, each in row-major order.
    ///
    /// # Errors
    /// What the server says if the answer is an error; `Malformed` if it does not match the request; `Changed` if the
    /// dataset has changed since it was opened.
    fn decode(&self, boxes: &[QueryBox], answer: &Bytes, limits: &Limits) -> Result<Vec<Values>>;

    /// Decodes the answer to the query for one box from its pieces.
    fn decoder<'a>(&'a self, wanted: &'a QueryBox, limits: &'a Limits) -> Box<dyn QueryDecoder + 'a>;

    /// Bytes of an element of a variable in an answer; `None` if they differ.
    fn element_len(&self, variable: usize) -> Option<u64>;

    /// The sequence whose rows are the first axis of a variable, by a number of its own; `None` for other variables. Rows
    /// have no numbers in requests, and may change between them: all of them are sent, and columns that are read
    /// together come in one answer.
    fn sequence(&self, variable: usize) -> Option<usize>;

    /// Boxes that arrived when the dataset was opened, once.
    fn take_arrived(&self) -> Vec<(QueryBox, Values)>;

    /// Whole small variables that are usually read together with this one, itself among them; none if it is read alone.
    fn companions(&self, variable: usize) -> Vec<QueryBox>;

    /// Whether requests are written differently from now on because of an error, so that the same box may be asked for
    /// once more.
    fn adapts(&self, error: &Error) -> bool;

    /// Whether an error says that an answer was damaged on its way, so that it may be asked for once more.
    fn is_damaged(&self, error: &Error) -> bool;

    /// Whether an error says that less should be asked for.
    fn is_too_large(&self, error: &Error) -> bool;
}

//! A value, or what is still needed to compute it.
use crate::request::{VariableRef, Want};
use crate::{Error, ObjectId};
use ncirrus_model::{CodecSpec, Selection};
use std::ops::Range;

/// A value, or what is still needed to compute it.
pub type Step<T> = Result<T, Stall>;

/// Why a step did not finish.
#[derive(Debug, Clone)]
pub enum Stall {
    /// It lacks bytes; once they are available it can be run again.
    Need(Needs),
    /// It failed permanently.
    Fail(Error),
}

impl From<Error> for Stall {
    fn from(error: Error) -> Self {
        Self::Fail(error)
    }
}

impl From<Need> for Stall {
    fn from(need: Need) -> Self {
        Self::Need(Needs { list: vec![need] })
    }
}

impl Stall {
    /// Maps the error, if it is one: for adding a place.
    #[must_use]
    pub fn map_error(self, change: impl FnOnce(Error) -> Error) -> Self {
        match self {
            Self::Need(needs) => Self::Need(needs),
            Self::Fail(error) => Self::Fail(change(error)),
        }
    }
}

/// One thing that a step may need.
#[derive(Debug, Clone, PartialEq)]
pub enum Need {
    /// Bytes of an object.
    Object {
        /// The object.
        object: ObjectId,
        /// Which bytes.
        want: Want,
    },
    /// Bytes that are stored encoded.
    Decoded {
        /// The object.
        object: ObjectId,
        /// Where the encoded bytes are stored.
        range: Range<u64>,
        /// How they were encoded.
        codecs: Vec<CodecSpec>,
        /// Which codecs were skipped (bit i: codec i).
        mask: u32,
        /// Length of the decoded bytes.
        len: u64,
    },
    /// Values of another variable.
    Values {
        /// The variable.
        variable: VariableRef,
        /// Which values.
        selection: Selection,
    },
    /// The names below a prefix.
    List {
        /// The prefix.
        prefix: ObjectId,
        /// The token to continue from; `None` for the first page.
        page: Option<String>,
    },
}

/// Everything that a step needs, without duplicates.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Needs {
    list: Vec<Need>,
}

impl Needs {
    /// The needs, in the order in which they arose.
    pub fn iter(&self) -> std::slice::Iter<'_, Need> {
        self.list.iter()
    }

    /// Whether nothing is needed.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// How many things are needed.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Adds all of `other`; duplicates are dropped when they are fetched.
    pub fn merge(&mut self, other: Self) {
        self.list.extend(other.list);
    }
}

/// Runs `f` on every item and merges what they need, so that independent needs are fetched together. A need takes
/// precedence over a failure; of several failures the first in item order is returned.
///
/// # Errors
/// `Need` if any item needs something, otherwise the first failure.
pub fn join<I, T>(items: I, mut f: impl FnMut(I::Item) -> Step<T>) -> Step<Vec<T>>
where
    I: IntoIterator,
{
    let mut values = Vec::new();
    let mut needs = Needs::default();
    let mut failure = None;
    for item in items {
        match f(item) {
            Ok(value) => values.push(value),
            Err(Stall::Need(more)) => needs.merge(more),
            Err(Stall::Fail(error)) => _ = failure.get_or_insert(error),
        }
    }
    match (needs.is_empty(), failure) {
        (false, _) => Err(Stall::Need(needs)),
        (true, Some(error)) => Err(Stall::Fail(error)),
        (true, None) => Ok(values),
    }
}

/// Both values, or the combined needs of both.
///
/// # Errors
/// `Need` if either needs something, otherwise the first failure.
pub fn both<A, B>(a: Step<A>, b: Step<B>) -> Step<(A, B)> {
    match (a, b) {
        (Ok(a), Ok(b)) => Ok((a, b)),
        (Err(Stall::Need(mut needs)), Err(Stall::Need(more))) => {
            needs.merge(more);
            Err(Stall::Need(needs))
        }
        (Err(Stall::Need(needs)), _) | (_, Err(Stall::Need(needs))) => Err(Stall::Need(needs)),
        (Err(stall), _) | (_, Err(stall)) => Err(stall),
    }
}

/// As [`join`], but keeps an error per item.
///
/// # Errors
/// `Need` if any item needs something; never a failure.
pub fn join_each<I, T>(items: I, mut f: impl FnMut(I::Item) -> Step<T>) -> Step<Vec<Result<T, Error>>>
where
    I: IntoIterator,
{
    join(items, |item| settle(f(item)).map_err(Stall::Need))
}

/// The only way to catch an error inside a step: a need is never mistaken for damage.
///
/// # Errors
/// The needs, which the caller must pass on (`.map_err(Stall::Need)`).
pub fn settle<T>(step: Step<T>) -> Result<Result<T, Error>, Needs> {
    match step {
        Ok(value) => Ok(Ok(value)),
        Err(Stall::Fail(error)) => Ok(Err(error)),
        Err(Stall::Need(needs)) => Err(needs),
    }
}

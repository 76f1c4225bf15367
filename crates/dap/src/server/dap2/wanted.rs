//! Which part of a declaration a request asks for.
use crate::server::cuts::Slice;

/// A declaration that is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wanted {
    /// Its number.
    pub(super) index: usize,
    pub(super) slices: Vec<Slice>,
    /// Those of its members that are asked for.
    pub(super) members: Vec<Wanted>,
}

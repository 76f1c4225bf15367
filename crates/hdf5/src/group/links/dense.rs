//! Densely stored links: link messages in a fractal heap, found through B-trees (C.2).
use super::{Dense, Found};
use crate::file::File;
use ncirrus_layout::{Error, Step, View};

/// The links of a heap.
pub(super) fn read(_view: &dyn View, _file: &File, _dense: &Dense) -> Step<Found> {
    Err(Error::unsupported("dense links").into())
}

//! Messages that several objects share (hdf5-netcdf4.md B.4, B.6).
use super::{Message, Resolved};
use crate::file::File;
use ncirrus_layout::{Error, Step, View};

/// The bytes of a message, followed to where they are shared.
pub(crate) fn resolve(_view: &dyn View, _file: &File, _message: &Message) -> Step<Resolved> {
    Err(Error::unsupported("shared messages").into())
}

/// As [`resolve`], from a shared-message record itself: in attributes, whose datatype or dataspace is shared.
pub(crate) fn resolve_record(_view: &dyn View, _file: &File, _kind: u16, _record: &[u8]) -> Step<Resolved> {
    Err(Error::unsupported("shared messages").into())
}

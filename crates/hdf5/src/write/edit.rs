//! Changing the messages of a header that exists, of version 1 or 2, in place (hdf5-netcdf4.md J.1).
use super::Change;
use super::header::Draft;
use super::space::Space;
use crate::file::File;
use crate::object::ObjectRef;
use ncirrus_layout::{Error, Step, View};

/// A header as it lies in the file: the pieces it is made of, and all messages, those that manage space too.
#[derive(Debug, Clone)]
pub(crate) struct Editable {
    /// The messages that mean something, in order.
    pub(crate) messages: Vec<Draft>,
}

impl Editable {
    /// Reads the header for changing.
    pub(crate) fn load(_view: &dyn View, _object: &ObjectRef) -> Step<Self> {
        Err(Error::unsupported("changing of headers").into())
    }

    /// How the header gets `messages` instead of those that it has. The last patch of `then` is one write of the first
    /// piece, which switches from the old messages to the new ones; messages of unchanged size are changed in place.
    pub(crate) fn change(
        &self,
        _file: &File,
        _messages: Vec<Draft>,
        _space: &mut Space,
    ) -> Result<Change, Error> {
        Err(Error::unsupported(format!("changing {} messages", self.messages.len())))
    }
}

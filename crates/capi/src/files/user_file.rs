//! Files of formats that programs define.
use crate::c_types::memory::UserTable;

/// A file of a format of the program.
#[derive(Debug)]
pub(crate) struct UserFile {
    pub(crate) table: UserTable,
    /// The path as it was passed.
    pub(crate) path: Vec<u8>,
}

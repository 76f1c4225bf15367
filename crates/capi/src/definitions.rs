//! The members of a file: what programs ask about them, and how they define them.

pub(crate) mod auxiliary;
pub(crate) mod define;
pub(crate) mod define_storage;
pub(crate) mod define_types;
pub(crate) mod inquiry;
pub(crate) mod layouts;
pub(crate) mod room;
pub(crate) mod storage;
pub(crate) mod types;

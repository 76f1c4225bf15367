//! Opening, creating and closing files, and what a process keeps of them.

pub(crate) mod chunk_caches;
pub(crate) mod create;
pub(crate) mod fork;
pub(crate) mod in_memory;
pub(crate) mod open;
pub(crate) mod place_checks;
pub(crate) mod place_turns;

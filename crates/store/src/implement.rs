//! For stores of a program's own: what every store has to do alike.
pub use crate::key::check as check_key;
pub use crate::page::cut as page;
pub use crate::want::resolve;

//! Pictures of datasets: which axes are chosen, what is read, and what the pictures look like.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod axes;
mod costs;
mod golden;
mod made;

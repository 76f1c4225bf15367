//! Loops: what is read before it is asked for, and the parts of which faces make writes that are collected or go on behind the caller. For
//! the project's own faces; programs do not need it.
mod ahead_window;
mod followed;
mod late_puts;
mod put_run;
mod reads;
mod single_values;
mod small_casts;
mod value_blocks;
mod waiting_puts;

pub use late_puts::{CollectedRuns, LatePuts, PutBehind};
pub use put_run::{OpenRun, PutRuns, RunPlace, is_small_put};
pub(crate) use reads::DatasetPace;
pub use single_values::{copy_held, copy_held_element};
pub use small_casts::{NumberBytes, can_cast, cast};
pub use value_blocks::{BlockedVariable, ValueBlock, ValueBlocks};

#[cfg(test)]
mod tests;

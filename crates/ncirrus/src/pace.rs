//! Loops: reads that are made before they are asked for, and writes that are collected or go on behind the caller. For the project's own
//! faces; programs do not need it.
mod ahead_window;
mod followed;
mod put_run;
mod small_casts;
mod waiting_puts;

pub use ahead_window::Span;
pub use followed::{FollowedRead, ReadAhead};
pub use put_run::{CollectedPuts, PutRun, RunPlace, row_place};
pub use small_casts::{NumberBytes, can_cast, cast};
pub use waiting_puts::{PutReach, PutTask, PutsBehind, WaitingPut, take_before};

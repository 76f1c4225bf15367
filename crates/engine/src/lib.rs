//! The engine: sessions, driving of steps, planning, fetching, decoding, scattering, writing.
//!
//! A [`Session`] owns everything that is shared: threads, caches, budgets, codecs. It opens a [`Dataset`] through the
//! formats' drivers; a read is planned, fetched, decoded and scattered directly into the caller's memory.
#![deny(unsafe_code)]

mod bound_source;
pub mod convert;
mod dataset;
mod decode;
mod drive;
mod filling;
mod merge;
mod open;
mod picked;
mod plan;
mod read;
mod request_event;
pub mod request_log;
mod resources;
mod scatter;
mod session;
mod snapshot;
mod stored;
mod write;

pub use dataset::{Dataset, FragmentCheck, FragmentInfo, FragmentKind, StoragePlacement, StoredChunk};
pub use plan::{PlannedRequest, PlannedSource, ReadPlan};
pub use read::{AbsentFragment, ReadReport};
pub use request_event::RequestEvent;
pub use resources::{MissingChunks, SessionStatistics, ShortChunks, is_thread_ending, watch};
pub use session::{Session, SessionBuilder, SessionTask, max_threads};
pub use write::{
    CopiedCounts, CopyPlan, DatasetWriter, Draft, EncodedChunk, KeyForm, PassedChunkCheck, SkippedPart,
    ValueTreatment, VariableEncoder, copy_around_damage, copy_observed, copy_selection, copy_variable,
    element_in, plan_copy,
};

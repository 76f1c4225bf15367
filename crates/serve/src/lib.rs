//! A server that hands datasets on, read only: over DAP2, DAP4, as Zarr, as subsets in netCDF, with a catalogue.
//!
//! # A module of routes
//!
//! Each protocol is a module with a function `routes() -> Router<ServerState>`, which [`Server::router`] merges. A
//! handler receives the [`ServerState`] by axum's `State`, and reaches a dataset in two steps:
//!
//! ```ignore
//! pub(crate) fn routes() -> Router<ServerState> {
//!     Router::new().route("/things/{*path}", get(thing))
//! }
//!
//! async fn thing(State(state): State<ServerState>, Path(path): Path<String>) -> Result<Response, HttpError> {
//!     // Finds the dataset that the first segments of the path name. Names are only compared with those that the given
//!     // folders list: no path is made of them. `rest` is what follows the name.
//!     let (dataset, rest) = state.open(&path).await?;
//!     // Opening and reading block: they belong on a worker thread, whose number is bounded.
//!     let text = state.work(move || Ok(dataset.dataset().variable(&rest)?.path())).await?;
//!     Ok(text.into_response())
//! }
//! ```
//!
//! - [`ServerState::entries`] lists a folder of what is served; [`ServerState::open`] opens a dataset, or returns the
//!   one that is open, after a check whether it changed. [`ServedDataset::etag`] names its state.
//! - [`ServerState::work`] runs what blocks. [`response::streamed`] sends what is produced piece by piece: a piece is
//!   produced while the one before is sent.
//! - Errors of the library become [`HttpError`]s with `?`; a module that has its own form of errors maps them.
//! - A program adds routes of its own with [`ServerBuilder::mount`]: they are under the base path as all others.
#![forbid(unsafe_code)]

mod access;
mod catalog;
mod compress;
mod connections;
mod dap;
mod error;
#[doc(hidden)]
pub mod fuzzing;
mod guard;
mod http;
pub mod limits;
mod metrics;
mod nc;
pub mod pages;
pub mod published;
pub mod response;
mod server;
mod state;
mod temporary;
mod zarr;

pub use access::AccessLog;
pub use error::HttpError;
pub use limits::ServerLimits;
pub use pages::{LocalViewer, PageOptions};
pub use published::{Entry, EntryKind, Published, ServedDataset};
pub use server::{Server, ServerBuilder};
pub use state::ServerState;

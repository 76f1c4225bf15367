//! Formats as the facade reads and writes them: chunks, laws, truncated files, the corpus of the project. One binary, so
//! that the whole stack is linked once.
#![expect(clippy::unwrap_used, reason = "helpers of tests may panic")]

#[path = "support/far.rs"]
mod far;
mod support;

mod chunks;
mod hdf5_law;
mod hdf5_truncation;
mod netcdf4_writing;
mod own_corpus;

//! Laws, fixtures and fault injection for the tests of ncirrus. Development only.
#![forbid(unsafe_code)]

pub mod corpus;
pub mod dap_server;
pub mod files_over_http;
pub mod http_server;
pub mod law;
pub mod library;
mod rounds;
pub mod sample;
pub mod small_s3;
mod view;

pub use rounds::{StallingView, drive};
pub use view::{MemoryView, ObjectView};

//! Where bytes lie: URLs, local files, memory, zip, HTTP, object stores.
//!
//! A [`Store`] answers for objects by key. Local stores also offer [`LocalStore`]: the same without waiting elsewhere.
#![deny(unsafe_code)]

pub mod cache;
#[cfg(feature = "cloud")]
mod cloud;
pub mod config;
#[cfg(any(test, feature = "conformance"))]
pub mod conformance;
#[cfg(any(feature = "http", feature = "cloud"))]
mod connections;
mod create;
mod directory;
mod fault;
#[cfg(feature = "http")]
mod http;
pub mod implement;
mod key;
pub mod kv;
mod mapped;
mod marker;
mod memory;
mod multipart;
mod net;
mod open;
mod options;
mod page;
mod platform;
mod reference;
mod registry;
mod remote;
mod scratch_file;
mod store;
mod temporary;
mod tree;
mod url;
mod want;
#[cfg(feature = "zip")]
mod zip;

#[cfg(test)]
mod tests;

#[cfg(feature = "cloud")]
pub use cloud::{BucketIdentity, CloudStore, CredentialRegistry, MfaCodes, SourcedValue};
#[cfg(any(feature = "http", feature = "cloud"))]
pub use connections::ConnectionPool;
pub use create::{
    DatasetRemoval, DatasetShape, Leftover, OverwritePolicy, StagedDataset, create, create_url, leftovers,
    removal, update,
};
pub use directory::{DirectoryStore, HandleBudget};
#[cfg(feature = "http")]
pub use http::HttpStore;
pub use mapped::MappedFile;
pub use memory::MemoryStore;
pub use multipart::MultipartUpload;
#[cfg(feature = "net")]
pub use net::NetworkTraffic;
pub use net::{RetryPolicy, at_most};
pub use open::{Opened, check_apart, is_same_place, looks_like_zip, open, open_url, open_zip};
pub use options::{Credentials, MemoryStores, StoreOptions, UploadMode, ZipLayout};
pub use reference::{ReferenceStore, parse_references};
pub use registry::{SchemeRegistry, StoreFactory};
pub use scratch_file::ScratchFile;
pub use store::{BlockingStore, LocalStore, ObjectPage, PutCondition, ReadAt, Store, StoreFacts};
pub use url::{BucketUrl, CloudProvider, Scheme, Url, UrlFragment, UrlModes, dataset_name, percent_encoded};
#[cfg(feature = "zip")]
pub use zip::{ZipStore, ZipWriterStore};

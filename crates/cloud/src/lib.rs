//! Object stores: Amazon S3, Google Cloud Storage, Azure Blob Storage, and compatible ones; and the credentials that
//! requests to them are signed with (`docs/credentials.md`).
#![deny(unsafe_code)]

mod asking;
mod build;
mod connector;
mod fault;
mod identity;
mod opener;
mod profile;
mod store;
mod xml;

pub use identity::{BucketIdentity, CloudContext, CredentialRegistry, MfaCodes, SourcedValue};
pub use opener::CloudOpener;
pub use store::CloudStore;

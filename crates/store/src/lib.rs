//! Where bytes are stored: addresses, local files, memory, zip files, reference files, caches; and staging of new
//! datasets.
//!
//! A [`Store`] holds objects by key. Local stores also offer [`LocalStore`]: the same operations, blocking. Networks
//! are reached only through the openers of a [`StoreContext`]: this crate knows none.
#![deny(unsafe_code)]

pub mod cache;
pub mod conformance;
mod context;
mod create;
mod directory;
pub mod fault;
mod hosts;
pub mod implement;
pub mod key;
pub mod kv;
mod locate;
mod mapped;
mod marker;
mod memory;
mod open;
mod opened;
mod options;
mod outside;
mod overlap;
mod page;
mod parquet;
pub mod path_text;
mod platform;
mod reference;
mod reference_formats;
mod retry_policy;
mod schemes;
mod scratch_file;
mod store;
mod targets;
mod temporary;
mod tree;
mod upkeep;
mod url;
pub mod want;
#[cfg(feature = "zip")]
mod zip;
mod zstd_reader;

#[cfg(test)]
mod far;
#[cfg(test)]
mod tests;

pub use context::{MemoryStores, StoreContext};
pub use create::{
    DatasetRemoval, DatasetShape, FileReplacement, JoinedPlace, JointPlace, JointStaging, Leftover,
    OverwritePolicy, StagedDataset, create, create_url, leftovers, removal, update,
};
pub use directory::{DirectoryStore, FRONT, HandleBudget};
pub use hosts::{HostAccess, has_host, hosts_in};
pub use mapped::MappedFile;
pub use memory::MemoryStore;
pub use open::{looks_like_zip, open, open_url, open_zip};
pub use opened::Opened;
pub use options::{ContainerRule, Credentials, StoreOptions, UploadMode, ZipLayout};
pub use outside::OutsideStore;
pub use overlap::{check_apart, is_same_place};
pub use parquet::{ParquetColumn, write_flat_table};
pub use reference::{Reference, ReferenceStore, open_references, parse_records, parse_references};
pub use reference_formats::{ReferenceFormats, ReferenceTranslation, TranslatedReferences};
pub use retry_policy::RetryPolicy;
pub use schemes::{SchemeRegistry, StoreFactory, StoreOpener};
pub use scratch_file::ScratchFile;
pub use store::{
    AnswerPart, AnswerReceiver, BlockingStore, Exclusion, LocalStore, MultipartUpload, ObjectPage,
    ObjectRange, PutBody, PutCondition, ReadAt, ReadOnlyStore, Store, StoreAbilities, StoreExt, StoreFacts,
};
pub use upkeep::{StoreUpkeep, UnfinishedUpload};
pub use url::{
    BucketUrl, CloudProvider, Scheme, Url, UrlFragment, UrlModes, dataset_name, percent_decoded,
    percent_encoded, query_encoded,
};
#[cfg(feature = "zip")]
pub use zip::{ZipStore, ZipWriterStore};

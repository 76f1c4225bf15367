//! Addresses, stores, the configuration, networks: everything with which a session opens stores.
#[cfg(feature = "cloud")]
pub use ncirrus_cloud::{
    BucketIdentity, CloudContext, CloudOpener, CloudStore, CredentialRegistry, MfaCodes, SourcedValue,
};
pub use ncirrus_config as config;
#[cfg(any(feature = "http", feature = "cloud"))]
pub use ncirrus_http::{ConnectionPool, HttpOpener, HttpStore, NetworkContext, NetworkTraffic};
pub use ncirrus_store::*;

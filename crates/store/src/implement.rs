//! For custom stores: the types in the signatures of [`Store`](crate::Store), and helpers common to all stores.
pub use crate::key::check as check_key;
pub use crate::page::cut as page;
pub use crate::store::copy_by_hand;
pub use crate::want::resolve;
pub use bytes::Bytes;
pub use futures_util::future::BoxFuture;
pub use ncirrus_layout::{ListEntry, Listing, ObjectBytes, StoreId, Tag, Want};

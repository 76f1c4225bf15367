//! netCDF for the cloud: one library for netCDF-3, NCZarr and Zarr, wherever they lie.
//!
//! A [`Dataset`] is opened from a path or URL, whatever its format and place: a file, a directory, a zip, HTTP, S3.
//!
//! ```no_run
//! use ncirrus::Dataset;
//!
//! let dataset = Dataset::open("sst.nc")?;
//! let sst = dataset.variable("/sst")?;
//! let values = sst.read::<f32>()?;
//! println!("{:?} {:?} {}", sst.shape(), sst.attribute("units")?, values.len());
//! # Ok::<(), ncirrus::Error>(())
//! ```
//!
//! Handles are `Send + Sync` and cheap to clone; any number of threads may read one dataset. All calls block; inside an
//! asynchronous runtime they wait on the session's own threads.
#![forbid(unsafe_code)]

mod blocking;
pub mod cf;
pub mod codec;
mod create;
mod dataset;
mod element;
mod group;
#[doc(hidden)]
pub mod internals;
mod left_out;
mod select;
mod session;
pub mod store;
mod variable;

pub use create::{CreateOptions, DefaultChunks, Dialect, FileStructures, Kind, StringForm};
pub use dataset::Dataset;
pub use element::Element;
pub use group::Group;
pub use left_out::LeftOut;
#[cfg(feature = "plugins")]
pub use ncirrus_codec::PluginOptions;
pub use ncirrus_codec::{CodecEntry, CodecOrigin, CodecRegistry, IgnoredPlugin};
pub use ncirrus_engine::{
    AbsentFragment, FragmentCheck, FragmentInfo, FragmentKind, MissingChunks, PlannedRequest, PlannedSource,
    SessionStatistics, StoredChunk, convert,
};
pub use ncirrus_layout::{
    ChunkRef, Consolidated, Detail, Error, ErrorKind, ErrorPlace, Found, Limits, Location, Member, Members,
    ObjectId, OpenOptions, Result,
};
pub use ncirrus_model::{
    Atomic, Attribute, AttributeState, Attributes, AxisSelection, CodecSpec, DimId, Dimension, DimensionLen,
    Endianness, EnumMember, Fault, Field, FillValue, GroupId, Json, JsonMap, Model, NodeId, Region,
    Selection, Storage, Strings, TypeId, TypeRef, UserKind, UserType, Values, VarId,
};
pub use select::VariableSelect;
pub use session::{AddressProbe, Session, SessionBuilder};
pub use variable::{Array, Numbers, Variable};

/// The version of this library.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

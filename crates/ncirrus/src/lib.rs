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

pub mod aggregate;
mod blocking;
mod copy;
mod create;
mod dataset;
mod dump;
mod element;
mod group;
mod info;
#[doc(hidden)]
pub mod internals;
mod left_out;
mod opened;
mod overwrite;
pub mod places;
mod reference;
mod select;
mod session;
mod upkeep;
mod variable;

pub use copy::{
    ChunkRule, CopyOptions, CopyPlans, CopyReport, FilterRule, Filters, LongNames, Progress, QuantizeRule,
    copy, plan_copy,
};
pub use create::{CreateOptions, DefaultChunks, Dialect, FileStructures, Kind, StringForm};
pub use dataset::Dataset;
pub use dump::{dump, dump_ncml, is_classic, is_classic_model};
pub use element::Element;
pub use group::Group;
pub use info::{FragmentsInfo, GroupInfo, Info, VariableInfo, info, type_name};
pub use left_out::LeftOut;
pub use ncirrus_cdl as cdl;
#[cfg(feature = "plugins")]
pub use ncirrus_codec::PluginOptions;
pub use ncirrus_codec::{CodecEntry, CodecOrigin, CodecRegistry, IgnoredPlugin};
pub use ncirrus_engine::{
    AbsentFragment, CopyPlan, FragmentCheck, FragmentInfo, FragmentKind, MissingChunks, PlannedRequest,
    PlannedSource, SessionStatistics, SkippedPart, StoredChunk, convert,
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
pub use ncirrus_store as store;
pub use reference::{ReferenceOptions, ReferenceReport, write_references};
pub use select::VariableSelect;
pub use session::{AddressProbe, Session, SessionBuilder};
pub use upkeep::{leftovers, removal, remove, remove_leftover};
pub use variable::{Array, Numbers, Variable};

/// The version of this library.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

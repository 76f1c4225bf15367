//! netCDF for the cloud: one library for netCDF-3, netCDF-4, NCZarr and Zarr, local or remote.
//!
//! A [`Dataset`] is opened from a path or URL, whatever its format and location: a file, a directory, a zip, HTTP, S3.
//! It has groups, dimensions, types, variables and attributes as in netCDF-4, and is read and written in the same way
//! in every format.
//!
//! Handles are `Send + Sync` and cheap to clone; any number of threads may read one dataset. All calls block; inside an
//! asynchronous runtime they wait on the session's own threads.
//!
//! # Open
//!
//! ```no_run
//! use ncirrus::{Dataset, OpenOptions, Session};
//!
//! let dataset = Dataset::open("sst.nc")?;
//! for variable in dataset.variables() {
//!     println!("{} {:?} {:?}", variable.path(), variable.shape(), variable.attribute("units")?);
//! }
//! // With options, and a session whose threads, caches and credentials several datasets share:
//! let session = Session::new()?;
//! let options = OpenOptions::new().raw(true);
//! let remote = Dataset::open_with("s3://bucket/sst.zarr", &options, &session)?;
//! # Ok::<(), ncirrus::Error>(())
//! ```
//!
//! [`Dataset::root`] is the root [`Group`], [`Dataset::model`] all definitions at once. Damaged members leave the rest
//! readable: [`Dataset::left_out`] lists what cannot be read, and [`Dataset::warnings`] what was repaired.
//!
//! # Read
//!
//! ```no_run
//! # use ncirrus::{Dataset, Selection};
//! let sst = Dataset::open("sst.nc")?.variable("/sst")?;
//! let all = sst.read::<f32>()?;
//! let step = sst.read_selection::<f32>(&Selection::slab(&[11, 0, 0], &[1, 90, 180]))?;
//! println!("{:?} {} {}", step.shape(), all.len(), step[0]);
//! # Ok::<(), ncirrus::Error>(())
//! ```
//!
//! [`Variable::read`] converts to the requested number type and puts arrays that are larger than the session's memory
//! into a file; [`Variable::read_into`] fills a buffer of the caller; [`Variable::values`] returns values of any type,
//! including text, strings and compounds. [`Dataset::plan`] shows which requests a read would make. Packed numbers,
//! missing values and times are decoded by the CF conventions in [`cf`].
//!
//! # Select
//!
//! A [`Selection`] has one [`AxisSelection`] per dimension: a start, count and stride, or a list of indices. A
//! [`VariableSelect`] is parsed from what a user writes:
//!
//! ```
//! use ncirrus::VariableSelect;
//!
//! let select = VariableSelect::parse("/sst[0:10:2,{3,5},:]")?;
//! assert_eq!(select.resolve(&[12, 90, 180])?.shape(), [5, 2, 180]);
//! # Ok::<(), ncirrus::Error>(())
//! ```
//!
//! # Write
//!
//! A new dataset appears under its name when it is closed, as a whole. [`CreateOptions`] choose the [`Kind`] if the
//! name does not determine it.
//!
//! ```
//! use ncirrus::{Atomic, Attribute, CreateOptions, Dataset, DimensionLen, Kind, Session};
//!
//! let session = Session::new()?;
//! let options = CreateOptions::new().kind(Kind::NcZarr);
//! let dataset = Dataset::create_with("memory://book/a.zarr", &options, &session)?;
//! dataset.edit(|model| {
//!     let time = model.add_dimension(model.root(), "time", DimensionLen::Unlimited(0))?;
//!     model.add_variable(model.root(), "t", Atomic::Float.into(), &[time])?;
//!     Ok(())
//! })?;
//! let t = dataset.variable("t")?;
//! t.set_attribute(Attribute::text("units", "K"))?;
//! t.write(&ncirrus::Selection::slab(&[0], &[3]), &[280.0f32, 281.0, 282.5])?;
//! dataset.close()?;
//! # let again = Dataset::open_with("memory://book/a.zarr", &Default::default(), &session)?;
//! # assert_eq!(again.variable("t")?.read::<f32>()?, [280.0, 281.0, 282.5]);
//! # Ok::<(), ncirrus::Error>(())
//! ```
//!
//! # Append
//!
//! [`Dataset::update`] opens a dataset to be changed in place; writing past the end of an unlimited dimension extends
//! it. [`Dataset::sync`] commits what was written so far. On object stores several programs may write to one dataset:
//! changes to the same chunk are merged, or the write ends in a conflict.
//!
//! ```no_run
//! # use ncirrus::{Dataset, Selection};
//! let dataset = Dataset::update("series.nc")?;
//! let t = dataset.variable("t")?;
//! t.write(&Selection::slab(&[t.shape()[0]], &[1]), &[283.0f32])?;
//! dataset.close()?;
//! # Ok::<(), ncirrus::Error>(())
//! ```
//!
//! # Copy, aggregate, list, remove
//!
//! The crate `ncirrus-tools` works on whole datasets: copies between kinds with other chunks and filters, aggregations
//! of many files, reference files, CDL, listings and removal.
//!
//! # Sessions
//!
//! A [`Session`] owns threads, caches, budgets, limits and credentials; there are no globals. [`Session::builder`]
//! starts with the settings of the environment and the user's files ([`store::config`]), which a program can override.
//! [`Session::statistics`] returns what was fetched and decoded. Codecs are those of a [`CodecRegistry`].
//!
//! # Stores
//!
//! Objects are kept in a [`store::Store`]: folders, zip files, memory, web servers, object stores, reference files, and
//! stores defined by a program, which [`SessionBuilder::store`] adds under a scheme. `docs/extending.md` explains one.
//!
//! # Errors
//!
//! Every call fails with an [`Error`]: its [`ErrorKind`] says who must act, its [`ErrorPlace`] names object, path and chunk,
//! and its [`Detail`] what exactly is wrong, for programs.
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
#[doc(hidden)]
pub mod pace;
mod select;
mod session;
pub mod store;
mod variable;

pub use create::{CreateOptions, DefaultChunks, Dialect, FileStructures, Kind, StringForm};
pub use dataset::Dataset;
pub use dataset::joint::JointWriter;
pub use element::Element;
pub use group::Group;
pub use left_out::LeftOut;
#[cfg(feature = "plugins")]
pub use ncirrus_codec::PluginOptions;
pub use ncirrus_codec::{CodecEntry, CodecOrigin, CodecRegistry, IgnoredPlugin};
pub use ncirrus_engine::{
    AbsentFragment, Draft, EncodedChunk, FragmentCheck, FragmentInfo, FragmentKind, MissingChunks,
    PlannedRequest, PlannedSource, ReadPlan, SessionStatistics, SessionTask, StoredChunk, VariableEncoder,
    convert, watch,
};
pub use ncirrus_layout as layout;
pub use ncirrus_layout::{
    ChunkRef, Consolidated, DatasetView, Detail, Error, ErrorKind, ErrorPlace, Found, Limits, Location,
    Member, Members, ObjectId, OpenOptions, PackedArrays, RefEntry, RepositoryHistory, Result,
    SnapshotChanges, SnapshotEntry, Source,
};
pub use ncirrus_model as model;
pub use ncirrus_model::{
    Atomic, Attribute, AttributeState, Attributes, AxisSelection, CodecSpec, DatasetKind, DimId, Dimension,
    DimensionLen, Endianness, EnumMember, ExtendedType, Fault, FaultKind, Field, Fill, Format, GroupId, Json,
    JsonMap, Model, ModelError, NodeId, PointSelection, Region, Selection, SelectionError, Shards, Storage,
    StorageFacts, Stored, Strings, TypeId, TypeRef, UserKind, UserType, Values, VarId, ZarrForm,
};
pub use ncirrus_netcdf_view as netcdf;
pub use select::{VariableSelect, slice_by_steps};
pub use session::{AddressProbe, Session, SessionBuilder};
pub use variable::{Array, Numbers, StridedBytes, Variable};

/// The version of this library.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

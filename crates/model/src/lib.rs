//! The netCDF-4 data model, in plain values.
//!
//! A [`Model`] is a tree of groups with shared dimensions, user-defined types, variables and typed attributes. It
//! holds descriptions only: the values of variables are read separately, as [`Values`].
//!
//! ```
//! use ncirrus_model::{Atomic, DimensionLen, Model, TypeRef};
//!
//! let mut model = Model::new();
//! let root = model.root();
//! let time = model.add_dimension(root, "time", DimensionLen::Unlimited(0))?;
//! let sst = model.add_variable(root, "sst", TypeRef::Atomic(Atomic::Float), &[time])?;
//! assert_eq!(model.variable_path(sst), "/sst");
//! # Ok::<(), ncirrus_model::ModelError>(())
//! ```
#![forbid(unsafe_code)]

mod attribute;
mod codec;
mod detail;
mod error;
mod exact_number;
mod facts;
mod fill;
mod kind;
mod name;
mod name_index;
mod room;
mod selection;
mod small_float;
mod tree;
mod types;
mod values;
mod variable;

pub use attribute::{Attribute, AttributeState, Attributes};
pub use codec::{CodecSpace, CodecSpec};
pub use detail::{Detail, Found, Member};
pub use error::{Fault, FaultKind, ModelError};
pub use exact_number::ExactNumber;
pub use facts::StorageFacts;
pub use fill::{Fill, default_fill};
pub use kind::{DatasetKind, Format, Stored, UnknownFormat, ZarrForm};
pub use name::{NAME_MAX_BYTES, check_name, normalize_name};
pub use room::FileRoom;
pub use selection::{AxisSelection, PointSelection, Region, Selection, SelectionError};
pub use serde_json::{Map as JsonMap, Value as Json};
pub use small_float::SmallFloat;
pub use tree::{
    Changes, DimId, Dimension, DimensionLen, Group, GroupId, GroupMut, Model, NodeId, TypeId, VarId,
};
pub use types::{Atomic, Endianness, EnumMember, ExtendedType, Field, TypeRef, UserKind, UserType};
pub use values::{Strings, Values};
pub use variable::{Shards, Storage, Variable};

//! How to obtain a box of elements: the layouts to which every format is reduced.
//!
//! Format code is *pure*. It reads through a [`View`], and if the view lacks some bytes it returns a [`Stall`] with
//! the ranges it needs; the driver of the step fetches them and runs it again. [`Driver`] and [`Catalog`] describe a
//! dataset, [`Source`] and [`Layout`] where a variable's elements are, [`Placer`] where written elements go.
#![forbid(unsafe_code)]

pub mod base64;
mod boxes;
mod cover;
mod dataset_view;
mod driver;
mod error;
mod fragment;
pub mod grid;
mod hints;
mod history;
mod index;
mod limits;
mod lock;
mod memo;
mod named_kind;
mod object;
mod outside;
mod placer;
mod query;
mod request;
pub mod sequence;
mod sharding;
mod source;
mod step;
mod stored;
mod view;
pub mod xml;

pub use boxes::BoxTree;
pub use cover::{split_region, uncovered};
pub use dataset_view::DatasetView;
pub use driver::{Catalog, Confidence, Consolidated, Driver, Members, OpenOptions, Overlay, PackedArrays};
pub use error::{Error, ErrorKind, ErrorPlace, Result};
pub use fragment::{
    Aggregation, Fragment, FragmentAbsence, FragmentAxis, FragmentPacking, FragmentPart, FragmentRules,
    FragmentUnits, FragmentVariable,
};
pub use grid::{CellList, ChunkGrid, EdgeChunks};
pub use hints::{AddressHints, yes_or_no};
pub use history::{RefEntry, RepositoryHistory, SnapshotChanges, SnapshotEntry};
pub use index::{ChunkIndex, ChunkRef, Location};
pub use limits::Limits;
pub use lock::LockExt;
pub use memo::Memo;
pub use named_kind::NamedKind;
pub use ncirrus_model::{Detail, Found, Member};
pub use object::{ObjectId, StoreId, Tag};
pub use outside::{OutsideContainer, OutsideObject};
pub use placer::{
    Abilities, Encoding, FillStorage, FilledElements, PatchRows, PhaseForm, Placer, PlacerWork,
    PreparedPlacement, PutPhase, StorePut, Writing,
};
pub use query::{PutElements, Query, QueryAxis, QueryBox, QueryDecoder, QuerySource};
pub use request::{ListEntry, Listing, ObjectBytes, VariableRef, Want};
pub use sharding::Sharding;
pub use source::{Extent, Layout, Resolver, Source, Tile, TileIndex, TileSource};
pub use step::{Need, Needs, Stall, Step, both, join, join_each, settle};
pub use stored::{ByteOrder, SequenceItem, StoredField, StoredType, TextEncoding};
pub use view::{ANY_LEN, View};

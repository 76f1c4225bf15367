//! Operations on whole netCDF datasets, based on [`ncirrus`]: what its command does, as functions.
//!
//! - [`copy`](fn@copy) copies a dataset to any kind and location; [`plan_copy`] returns what that costs.
//! - [`nccopy`](fn@nccopy) copies by the rules of netCDF's program of that name.
//! - [`aggregate`](mod@aggregate) combines many files into one dataset without copying their data, splits datasets,
//!   and updates aggregations whose files have moved.
//! - [`write_references`] writes reference files (kerchunk).
//! - [`append`](fn@append) adds the records of datasets to another one.
//! - [`compare`](fn@compare) reports what differs between two datasets of any kinds.
//! - [`optimize`](fn@optimize) stores netCDF-4 files so that few requests read them, in place or beside.
//! - [`check`](fn@check) reports whether a dataset is sound: metadata, chunks, checksums, references.
//! - [`dump`](fn@dump) prints CDL as `ncdump` does, [`dump_ncml`] NcML; [`info`](fn@info) summarises a dataset.
//! - [`generate`](fn@generate) makes datasets of CDL text as `ncgen` does, [`check_text`] only reads it.
//! - [`plan_json`] shows the plan of a read as JSON, [`RequestEvent`] is what subscribers receive for a request.
//! - [`places`] lists the datasets below a prefix and the objects of a store.
//! - [`removal`] and [`remove`] remove datasets, [`leftovers`] and [`remove_leftover`] what killed writers left.
//!
//! ```
//! use ncirrus::{Dataset, DimensionLen, Session};
//! use ncirrus_tools::{CopyOptions, copy};
//!
//! let session = Session::new()?;
//! let source = Dataset::create_with("memory://tools/a.nc", &Default::default(), &session)?;
//! source.root().add_dimension("time", DimensionLen::Fixed(3))?;
//! source.close()?;
//! let source = Dataset::open_with("memory://tools/a.nc", &Default::default(), &session)?;
//! let report = copy(&source, "memory://tools/b.zarr", &CopyOptions::default(), &session)?;
//! assert!(report.is_complete());
//! # Ok::<(), ncirrus::Error>(())
//! ```
#![forbid(unsafe_code)]

pub mod aggregate;
mod append;
mod check;
mod compare;
mod copy;
mod dump;
mod explain;
mod generate;
mod info;
mod nccopy;
mod opened;
mod optimize;
mod overwrite;
pub mod places;
mod profile;
mod reference;
mod upkeep;
mod whole;

pub use append::{AppendOptions, AppendReport, append};
pub use check::{
    AbsentChunks, CheckFinding, CheckOptions, CheckPlan, CheckProgress, CheckReport, FindingCode, Severity,
    VariableDigest, check,
};
pub use compare::{
    CompareOptions, CompareScope, ComparisonReport, DefinitionDifference, DifferentElement,
    VariableComparison, compare,
};
pub use copy::{
    ChunkLengths, ChunkRule, CopyOptions, CopyPlans, CopyReport, FilterRule, Filters, LongNames, PackingForm,
    Progress, QuantizeRule, ShardRule, copy, plan_copy,
};
pub use dump::{dump, dump_ncml, extended_kind, is_classic, is_classic_model};
pub use explain::{plan_json, plans_json};
pub use generate::{
    GenerateOptions, GenerateReport, TextInput, check_text, generate, generate_program, kind_of_format,
};
pub use info::{FragmentsInfo, GroupInfo, Info, VariableInfo, info, type_name};
pub use nccopy::{NccopyOptions, nccopy};
pub use ncirrus::internals::{RequestEvent, request_log};
pub use ncirrus_cdl as cdl;
pub use ncirrus_engine::{CopyPlan, SkippedPart};
pub use opened::stored_bytes;
pub use optimize::{
    FileOutcome, OptimizeOptions, OptimizeProgress, OptimizedFile, PlannedVariable, ReadCost, TypicalReads,
    optimize,
};
pub use profile::{ChunkGrowth, Profile};
pub use reference::{
    PlannedArray, PlannedChunk, PlannedObject, ReferenceForm, ReferenceOptions, ReferenceReport,
    VirtualChunkPlan, plan_virtual_chunks, write_references,
};
pub use upkeep::{leftovers, removal, remove, remove_leftover};

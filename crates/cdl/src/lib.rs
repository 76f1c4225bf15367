//! Prints a netCDF tree and its data as CDL text, byte for byte as `ncdump` 4.9 does (docs/spec/nczarr.md 12), and reads such
//! text back ([`parse`]).
//!
//! [`print`](fn@print) takes the description ([`Model`](ncirrus_model::Model)) and a source of values ([`DataSource`]);
//! values are read in bounded pieces, so that memory does not grow with the data.
//!
//! ```
//! use ncirrus_cdl::{DataSource, PrintOptions, ReadError};
//! use ncirrus_model::{Atomic, DimensionLen, Model, Selection, Values, VarId};
//!
//! struct Ones;
//! impl DataSource for Ones {
//!     fn read(&mut self, _: VarId, selection: &Selection) -> Result<Values, ReadError> {
//!         let count = selection.element_count().and_then(|count| usize::try_from(count).ok()).unwrap_or(0);
//!         Ok(Values::Int(vec![1; count]))
//!     }
//! }
//!
//! let mut model = Model::new();
//! let x = model.add_dimension(model.root(), "x", DimensionLen::Fixed(3))?;
//! model.add_variable(model.root(), "v", Atomic::Int.into(), &[x])?;
//! let mut text = Vec::new();
//! let options = PrintOptions::new().name("demo");
//! ncirrus_cdl::print(&mut text, &model, &mut Ones, &options)?;
//! assert!(String::from_utf8(text)?.ends_with("data:\n\n v = 1, 1, 1 ;\n}\n"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod attribute;
mod cell;
mod cformat;
mod choice;
mod data;
mod declare;
mod error;
mod line;
mod name;
mod ncml;
mod number;
mod options;
mod out;
pub mod parse;
mod print;
mod printer;
mod program;
mod source;
mod text;
mod time;

pub use choice::has_members;
pub use error::CdlError;
pub use name::escape_name;
pub use ncml::ncml;
pub use number::{format_double, format_float};
pub use options::{AnnotationStyle, DataChoice, IndexAnnotation, IndexOrder, PrintOptions, TimeStyle};
pub use print::print;
pub use printer::PrintSummary;
pub use program::{ProgramLanguage, ProgramOptions, program};
pub use source::{DataSource, ReadError};

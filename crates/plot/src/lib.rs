//! Pictures of netCDF variables: maps, images and lines, as PNG, as SVG and for terminals.
//!
//! [`read`] chooses the axes of a picture by the CF conventions, reads no more values than can be seen, and returns a
//! [`Figure`]. A figure is plain data; [`Figure::to_png`], [`Figure::to_svg`] and [`terminal`] draw it without any input
//! or output.
//!
//! ```
//! use ncirrus::{Dataset, DimensionLen, Atomic, OpenOptions, Session, VariableSelect};
//! use ncirrus_plot::{PlotOptions, PlotPlan};
//!
//! let (url, session) = ("memory://plot/a.nc", Session::new()?);
//! let dataset = Dataset::create_with(url, &Default::default(), &session)?;
//! dataset.edit(|model| {
//!     let time = model.add_dimension(model.root(), "time", DimensionLen::Fixed(3))?;
//!     model.add_variable(model.root(), "t", Atomic::Double.into(), &[time])?;
//!     Ok(())
//! })?;
//! dataset.variable("t")?.write_all(&[280.0f64, 281.0, 282.5])?;
//! dataset.close()?;
//!
//! let dataset = Dataset::open_with(url, &OpenOptions::default(), &session)?;
//! let plan = PlotPlan::new(&dataset, &[VariableSelect::parse("t")?], &PlotOptions::default())?;
//! let figure = plan.read(&mut |_, _| {})?;
//! assert!(figure.to_png()?.starts_with(b"\x89PNG"));
//! assert!(figure.to_svg()?.starts_with("<svg"));
//! # Ok::<(), ncirrus::Error>(())
//! ```
#![forbid(unsafe_code)]

mod axis;
mod clip;
mod coastlines;
mod colours;
mod draw;
mod facts;
mod field;
mod figure;
mod grid;
mod layout;
mod number;
mod raster;
pub mod read;
mod scale;
mod scene;
mod strides;
mod svg;
pub mod terminal;
#[cfg(test)]
mod tests;
mod ticks;

pub use axis::{Axis, AxisKind};
pub use coastlines::{CoastlineError, Coastlines, Detail as CoastlineDetail};
pub use colours::ColourMap;
pub use figure::{FieldPanel, Figure, LinePanel, Panel, PictureSize, Series};
pub use grid::Cells;
pub use read::{PlotCost, PlotOptions, PlotPlan};
pub use scale::{ColourScale, ScaleOptions};

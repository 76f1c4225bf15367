//! Times as ncdump parses them (docs/spec/nczarr.md 12.4): leniently, and differently from UDUNITS. Units are
//! identified by their first letters, missing parts of a date are filled in, and nonsense is ignored; months have their
//! own lengths. For printing only: computations with times use [`TimeUnits`](crate::TimeUnits). Both count days by
//! [`Calendar`](crate::Calendar).
mod calendar;
mod moment;
mod units;

pub use calendar::{CdlCalendar, CdlDate};
pub use moment::{DateMoment, moment_at};
pub use units::{CdlTimeBase, CdlTimeUnit, parse_units};

//! Times as ncdump reads them (docs/spec/nczarr.md 12.4): leniently, and otherwise than UDUNITS. Units are known by their first
//! letters, what is missing of a date is filled in, and what makes no sense is passed over; months have their own lengths.
//! For printing alone: whatever computes with times reads them by [`TimeUnits`](crate::TimeUnits). Days are counted by
//! [`Calendar`](crate::Calendar) for both.
mod calendar;
mod units;

pub use calendar::{CdlCalendar, CdlDate};
pub use units::{CdlTimeBase, CdlTimeUnit, parse_units};

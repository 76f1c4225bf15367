//! Units of measurement.
use ncirrus_layout::{Error, Result};

/// How numbers in one unit become numbers in another.
#[derive(Debug, Clone, PartialEq)]
pub struct Conversion {
    slope: f64,
    intercept: f64,
}

impl Conversion {
    /// The number in the other unit.
    pub fn apply(&self, number: f64) -> f64 {
        number * self.slope + self.intercept
    }
}

/// How numbers become numbers in other units, each with its calendar; `None` when the units are the same.
///
/// # Errors
/// `Unsupported` when the units differ.
pub fn conversion(from: (&str, Option<&str>), to: (&str, Option<&str>)) -> Result<Option<Conversion>> {
    if from == to { Ok(None) } else { Err(Error::unsupported("other units")) }
}

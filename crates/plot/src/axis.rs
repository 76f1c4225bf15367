//! Axes of a picture.
use crate::ticks::{self, Tick};
use ncirrus::cf::TimeUnits;

/// What the numbers of an axis are.
#[derive(Debug, Clone, PartialEq)]
pub enum AxisKind {
    /// Plain numbers.
    Number,
    /// Degrees east.
    Longitude,
    /// Degrees north.
    Latitude,
    /// Times since a date.
    Time(TimeUnits),
}

/// An axis: its range and what it shows.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// Its name and units.
    pub label: String,
    /// The number at the left or the bottom.
    pub start: f64,
    /// The number at the right or the top; less than `start` for axes that point down.
    pub end: f64,
    /// What its numbers are.
    pub kind: AxisKind,
    /// Whether equal factors are equal steps.
    pub log: bool,
}

impl Axis {
    /// An axis of plain numbers.
    pub fn numbers(label: impl Into<String>, start: f64, end: f64) -> Self {
        Self { label: label.into(), start, end, kind: AxisKind::Number, log: false }
    }

    /// The position of a number: 0 at the start, 1 at the end.
    pub fn position(&self, value: f64) -> f64 {
        if self.log {
            // Differences, because quotients of very small and very large numbers overflow.
            (value.ln() - self.start.ln()) / (self.end.ln() - self.start.ln())
        } else {
            (value / 2.0 - self.start / 2.0) / (self.end / 2.0 - self.start / 2.0)
        }
    }

    /// The number at a position.
    pub fn value(&self, position: f64) -> f64 {
        if self.log {
            (self.start.ln() * (1.0 - position) + self.end.ln() * position).exp()
        } else {
            self.start * (1.0 - position) + self.end * position
        }
    }

    /// About `count` round numbers with their labels.
    pub(crate) fn ticks(&self, count: usize) -> Vec<Tick> {
        let (low, high) = (self.start.min(self.end), self.start.max(self.end));
        match &self.kind {
            _ if self.log => ticks::logarithmic(low, high, count),
            AxisKind::Number => ticks::linear(low, high, count),
            AxisKind::Longitude => ticks::degrees(low, high, count, ticks::longitude),
            AxisKind::Latitude => ticks::degrees(low, high, count, ticks::latitude),
            AxisKind::Time(units) => ticks::times(units, low, high, count),
        }
    }
}

/// A number of an axis as text: a date, degrees, or the number itself.
pub(crate) fn text(kind: &AxisKind, value: f64) -> String {
    match kind {
        AxisKind::Time(units) => {
            units.date(value).map_or_else(|| ticks::short(value), |date| date.to_string())
        }
        AxisKind::Longitude => ticks::longitude(value, &ticks::short),
        AxisKind::Latitude => ticks::latitude(value, &ticks::short),
        AxisKind::Number => ticks::short(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithmic_axes_may_span_all_numbers() {
        for (start, end) in [(1e-310, 2.0), (1e-300, 1e300), (1000.0, 1.0)] {
            let axis = Axis { log: true, ..Axis::numbers("", start, end) };
            assert_eq!((axis.position(start), axis.position(end)), (0.0, 1.0));
            let middle = axis.value(0.5);
            assert!((axis.position(middle) - 0.5).abs() < 1e-9, "{start} to {end}: {middle}");
            assert!(axis.ticks(5).len() >= 2, "{start} to {end}");
        }
    }
}

//! From numbers to colours: the range, robust against outliers, and its colour map.
use crate::colours::{ColourMap, Rgb};

/// How numbers become colours, or heights of a line.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ScaleOptions {
    /// The range; without it the range of the values is used.
    pub range: Option<(f64, f64)>,
    /// Logarithmic: only positive numbers are drawn.
    pub log: bool,
    /// The colour map; without it viridis, or the diverging one if the range crosses zero and has zero in its middle.
    pub colours: Option<ColourMap>,
}

impl ScaleOptions {
    /// Whether zero is, or can be, in the middle of the range, where diverging colours have white.
    pub(crate) fn can_centre_zero(&self) -> bool {
        !self.log && self.range.is_none_or(|(low, high)| low == -high)
    }
}

/// A range of numbers with its colours.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ColourScale {
    /// The number of the first colour.
    pub low: f64,
    /// The number of the last colour.
    pub high: f64,
    /// Whether equal factors are equal steps.
    pub log: bool,
    /// The colours.
    pub colours: ColourMap,
    /// Whether values below the range were seen: they have its first colour.
    pub clips_low: bool,
    /// Whether values above the range were seen: they have its last colour.
    pub clips_high: bool,
}

/// The fraction of values outside the range at each end, so that outliers do not take all colours.
const OUTLIERS: f64 = 0.02;
/// A range crosses zero if the shorter side has at least this fraction of the longer one.
const SHORT_SIDE: f64 = 0.1;
/// Percentiles are taken of about this many values.
const SAMPLES: usize = 200_000;

impl ColourScale {
    /// The scale of values; NaN and infinite ones are ignored.
    pub fn of(values: &[f64], options: &ScaleOptions) -> Self {
        let usable = |value: &f64| value.is_finite() && (!options.log || *value > 0.0);
        let (mut low, mut high) = match options.range {
            Some(range) => range,
            None => robust(values, usable).unwrap_or(if options.log { (1.0, 10.0) } else { (0.0, 1.0) }),
        };
        let crosses_zero = low < 0.0 && high > 0.0 && (-low).min(high) >= SHORT_SIDE * (-low).max(high);
        let diverges = crosses_zero && options.can_centre_zero();
        let default = if diverges { ColourMap::Diverging } else { ColourMap::Viridis };
        let colours = options.colours.unwrap_or(default);
        if colours.is_diverging() && options.range.is_none() && !options.log {
            let reach = low.abs().max(high.abs());
            (low, high) = (-reach, reach);
        }
        (low, high) = widened(low, high, options.log);
        let seen = values.iter().filter(|value| usable(value));
        let (mut clips_low, mut clips_high) = (false, false);
        for value in seen {
            clips_low |= *value < low;
            clips_high |= *value > high;
        }
        Self { low, high, log: options.log, colours, clips_low, clips_high }
    }

    /// The position of a number in the range, 0 to 1; `None` for numbers without one: missing and infinite ones, and those
    /// without a logarithm.
    pub fn position(&self, value: f64) -> Option<f64> {
        if !value.is_finite() || (self.log && value <= 0.0) {
            return None;
        }
        let at = if self.log {
            // Differences, because quotients of very small and very large numbers overflow.
            (value.ln() - self.low.ln()) / (self.high.ln() - self.low.ln())
        } else {
            // Halves, so that the widest range does not overflow.
            (value / 2.0 - self.low / 2.0) / (self.high / 2.0 - self.low / 2.0)
        };
        (!at.is_nan()).then(|| at.clamp(0.0, 1.0))
    }

    /// The colour of a number; `None` for missing ones.
    pub(crate) fn colour(&self, value: f64) -> Option<Rgb> {
        self.position(value).map(|at| self.colours.colour(at))
    }
}

/// The range of most values: without outliers, but with all values if most of them are one number.
fn robust(values: &[f64], usable: impl Fn(&f64) -> bool) -> Option<(f64, f64)> {
    let step = values.len().div_ceil(SAMPLES).max(1);
    let mut seen: Vec<f64> = values.iter().step_by(step).copied().filter(|value| usable(value)).collect();
    if seen.is_empty() {
        seen = values.iter().copied().filter(|value| usable(value)).collect();
    }
    seen.sort_unstable_by(f64::total_cmp);
    let last = seen.len().checked_sub(1)?;
    let at = |fraction: f64| seen.get(crate::number::index((last as f64 * fraction).round())).copied();
    let (low, high) = (at(OUTLIERS)?, at(1.0 - OUTLIERS)?);
    if low < high {
        return Some((low, high));
    }
    // The few other values are what there is to see, such as rain between zeros.
    let all = values.iter().copied().filter(|value| usable(value));
    Some(all.fold((low, high), |(low, high), value| (low.min(value), high.max(value))))
}

/// A range of more than one number.
fn widened(low: f64, high: f64, log: bool) -> (f64, f64) {
    let (low, high) = if low <= high { (low, high) } else { (high, low) };
    if low < high {
        return (low, high);
    }
    if log {
        return (low / 2.0, high * 2.0);
    }
    let around = if low == 0.0 { 1.0 } else { low.abs() * 0.01 };
    (low - around, high + around)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[f64]) -> ColourScale {
        ColourScale::of(values, &ScaleOptions::default())
    }

    #[test]
    fn outliers_do_not_take_the_range() {
        let mut values: Vec<f64> = (0..1000).map(f64::from).collect();
        values[17] = 1e30;
        let scale = of(&values);
        assert!((scale.low - 20.0).abs() < 2.0 && (scale.high - 979.0).abs() < 2.0, "{scale:?}");
        assert!(scale.clips_high && scale.clips_low);
        assert_eq!(scale.colour(1e30), scale.colour(scale.high));
    }

    #[test]
    fn a_range_across_zero_is_symmetric_and_diverging() {
        let scale = of(&[-2.0, 1.0, 3.0]);
        assert_eq!((scale.low, scale.high, scale.colours), (-3.0, 3.0, ColourMap::Diverging));
        // A few degrees of frost do not make temperatures diverge.
        assert_eq!(of(&[-1.0, 5.0, 30.0]).colours, ColourMap::Viridis);
    }

    #[test]
    fn a_given_range_and_map_are_used_as_they_are() {
        let options = ScaleOptions { range: Some((-1.0, 4.0)), log: false, colours: Some(ColourMap::Magma) };
        let scale = ColourScale::of(&[-9.0, 2.0], &options);
        assert_eq!((scale.low, scale.high, scale.colours), (-1.0, 4.0, ColourMap::Magma));
        assert!(scale.clips_low && !scale.clips_high);
    }

    #[test]
    fn a_given_range_diverges_only_around_zero() {
        for (range, colours) in [
            ((-1.0, 4.0), ColourMap::Viridis),
            ((-4.0, 4.0), ColourMap::Diverging),
            ((-8.0, -4.0), ColourMap::Viridis),
        ] {
            let given = ScaleOptions { range: Some(range), ..ScaleOptions::default() };
            let scale = ColourScale::of(&[0.0], &given);
            assert_eq!((scale.low, scale.high, scale.colours), (range.0, range.1, colours));
        }
    }

    #[test]
    fn values_that_are_mostly_one_number_have_the_range_of_all() {
        let mut rain = vec![0.0; 1000];
        for (number, value) in rain.iter_mut().step_by(100).enumerate() {
            *value = f64::from(u32::try_from(number).unwrap());
        }
        let scale = of(&rain);
        assert_eq!((scale.low, scale.high), (0.0, 9.0));
        assert!(!scale.clips_low && !scale.clips_high);
        assert_ne!(scale.colour(3.0), scale.colour(9.0));
    }

    #[test]
    fn missing_values_have_no_colour_and_no_influence() {
        let scale = of(&[f64::NAN, 2.0, 4.0, f64::INFINITY]);
        assert_eq!((scale.low, scale.high), (2.0, 4.0));
        assert_eq!(scale.colour(f64::NAN), None);
        assert_eq!((scale.colour(f64::INFINITY), scale.colour(f64::NEG_INFINITY)), (None, None));
        assert!(!scale.clips_low && !scale.clips_high);
        assert!(of(&[f64::NAN]).high > of(&[f64::NAN]).low);
        assert!(of(&[5.0, 5.0]).low < 5.0);
    }

    #[test]
    fn logarithmic_ranges_ignore_what_is_not_positive() {
        let options = ScaleOptions { log: true, ..ScaleOptions::default() };
        let scale = ColourScale::of(&[-5.0, 0.0, 1.0, 10.0, 100.0], &options);
        assert_eq!((scale.low, scale.high), (1.0, 100.0));
        assert_eq!(scale.position(10.0).map(|at| (at * 1e6).round()), Some(5e5));
        assert_eq!(scale.position(-5.0), None);
    }

    #[test]
    fn the_widest_range_has_positions() {
        let scale = of(&[-1e308, 1e308]);
        assert_eq!(scale.position(0.0), Some(0.5));
        let options = ScaleOptions { log: true, ..ScaleOptions::default() };
        let scale = ColourScale::of(&[1e-310, 2.0], &options);
        assert_eq!((scale.position(1e-310), scale.position(2.0)), (Some(0.0), Some(1.0)));
        let middle = scale.position(1e-155).unwrap();
        assert!((middle - 0.5).abs() < 0.01, "{middle}");
    }
}

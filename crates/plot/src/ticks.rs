//! Round numbers along an axis, and their labels.
mod dates;

pub(crate) use dates::times;

/// A number of an axis with its label.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tick {
    pub(crate) value: f64,
    pub(crate) label: String,
}

/// No axis has more ticks than this.
const MAX: usize = 64;

/// Multiples of 1, 2 or 5 times a power of ten.
pub(crate) fn linear(low: f64, high: f64, count: usize) -> Vec<Tick> {
    let step = round_step((high - low) / count.max(1) as f64);
    with_step(low, high, step, |value| decimal(value, step))
}

/// The powers of ten, with two and five times these if there are few; multiples of a number in ranges that contain fewer than
/// two of all these.
pub(crate) fn logarithmic(low: f64, high: f64, count: usize) -> Vec<Tick> {
    const ALL: &[f64] = &[1.0, 2.0, 5.0];
    let decades = high.log10() - low.log10();
    if !decades.is_finite() || low <= 0.0 {
        return Vec::new();
    }
    let factors: &[f64] = if decades * 2.0 <= count as f64 { ALL } else { &[1.0] };
    let mut step = (decades / count.max(1) as f64 - 1e-9).ceil().max(1.0);
    loop {
        let ticks = powers(low, high, step, factors);
        if ticks.len() >= 2 {
            return ticks;
        }
        if step <= 1.0 {
            break;
        }
        step = (step / 2.0).ceil();
    }
    let ticks = powers(low, high, 1.0, ALL);
    if ticks.len() >= 2 { ticks } else { linear(low, high, count) }
}

/// Each `step`-th power of ten times each of the factors.
fn powers(low: f64, high: f64, step: f64, factors: &[f64]) -> Vec<Tick> {
    let mut ticks = Vec::new();
    let (mut exponent, last) = (low.log10().floor(), high.log10().ceil());
    while exponent <= last && ticks.len() < MAX {
        for factor in factors {
            let value = factor * 10f64.powf(exponent);
            if value.is_finite() && value >= low * (1.0 - 1e-9) && value <= high * (1.0 + 1e-9) {
                ticks.push(Tick { value, label: short(value) });
            }
        }
        exponent += step;
    }
    ticks
}

/// Degrees: multiples of 90, 60, 45, 30, .. and below 1 of decimal fractions.
pub(crate) fn degrees(
    low: f64,
    high: f64,
    count: usize,
    label: impl Fn(f64, &dyn Fn(f64) -> String) -> String,
) -> Vec<Tick> {
    const STEPS: [f64; 9] = [1.0, 2.0, 5.0, 10.0, 15.0, 20.0, 30.0, 60.0, 90.0];
    let wanted = (high - low) / count.max(1) as f64;
    let step = if wanted <= 0.5 {
        round_step(wanted)
    } else {
        STEPS.into_iter().find(|step| *step >= wanted).unwrap_or(90.0)
    };
    with_step(low, high, step, |value| label(value, &|value| decimal(value, step)))
}

/// `30°E`, from -180 to 180.
pub(crate) fn longitude(value: f64, number: &dyn Fn(f64) -> String) -> String {
    let turned = (value + 180.0).rem_euclid(360.0) - 180.0;
    let side = if turned == 0.0 || turned == -180.0 {
        ""
    } else if turned > 0.0 {
        "E"
    } else {
        "W"
    };
    format!("{}°{side}", number(turned.abs()))
}

/// `30°N`.
pub(crate) fn latitude(value: f64, number: &dyn Fn(f64) -> String) -> String {
    let side = if value == 0.0 {
        ""
    } else if value > 0.0 {
        "N"
    } else {
        "S"
    };
    format!("{}°{side}", number(value.abs()))
}

/// The next of 1, 2, 5 times a power of ten.
fn round_step(wanted: f64) -> f64 {
    if !(wanted.is_finite() && wanted > 0.0) {
        return 1.0;
    }
    let power = 10f64.powf(wanted.log10().floor());
    let factor = [1.0, 2.0, 5.0].into_iter().find(|factor| factor * power >= wanted * (1.0 - 1e-9));
    factor.unwrap_or(10.0) * power
}

fn with_step(low: f64, high: f64, step: f64, label: impl Fn(f64) -> String) -> Vec<Tick> {
    let first = (low / step - 1e-6).ceil();
    let values = (0..MAX).map(|number| (first + number as f64) * step);
    let values = values.take_while(|value| *value <= high + step * 1e-6);
    // Adding 0 makes a negative zero positive.
    values.map(|value| Tick { value: value + 0.0, label: label(value + 0.0) }).collect()
}

/// A multiple of `step` with as many decimals as these need.
fn decimal(value: f64, step: f64) -> String {
    let value = if value.abs() < step * 1e-6 { 0.0 } else { value };
    let reach = value.abs();
    if step < 1e-4 || reach >= 1e6 {
        return short(value);
    }
    let decimals = crate::number::index((-step.log10() - 1e-9).ceil().max(0.0));
    format!("{value:.decimals$}")
}

/// A number in few characters.
pub(crate) fn short(value: f64) -> String {
    let reach = value.abs();
    if value == 0.0 {
        "0".to_owned()
    } else if (1e-4..1e6).contains(&reach) {
        let text = format!("{value:.*}", crate::number::index((5.0 - reach.log10().floor()).clamp(0.0, 9.0)));
        trimmed(&text).to_owned()
    } else {
        let text = format!("{value:.4e}");
        match text.split_once('e') {
            Some((digits, exponent)) => format!("{}e{exponent}", trimmed(digits)),
            None => text,
        }
    }
}

fn trimmed(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(ticks: &[Tick]) -> Vec<&str> {
        ticks.iter().map(|tick| tick.label.as_str()).collect()
    }

    #[test]
    fn ticks_are_round_numbers() {
        assert_eq!(labels(&linear(0.0, 10.0, 5)), ["0", "2", "4", "6", "8", "10"]);
        assert_eq!(labels(&linear(-0.31, 0.32, 6)), ["-0.2", "0.0", "0.2"]);
        assert_eq!(labels(&linear(271.2, 303.9, 4)), ["280", "290", "300"]);
        assert_eq!(labels(&linear(0.0, 3e-7, 3)), ["0", "1e-7", "2e-7", "3e-7"]);
        assert_eq!(labels(&linear(0.0, 4e6, 2)), ["0", "2e6", "4e6"]);
    }

    #[test]
    fn degrees_have_their_hemisphere() {
        let lon = degrees(0.0, 360.0, 6, longitude);
        assert_eq!(labels(&lon), ["0°", "60°E", "120°E", "180°", "120°W", "60°W", "0°"]);
        let lat = degrees(-90.0, 90.0, 6, latitude);
        assert_eq!(labels(&lat), ["90°S", "60°S", "30°S", "0°", "30°N", "60°N", "90°N"]);
        assert_eq!(labels(&degrees(7.9, 8.6, 3, longitude)), ["8.0°E", "8.5°E"]);
    }

    #[test]
    fn logarithmic_ticks_are_powers_of_ten() {
        assert_eq!(labels(&logarithmic(0.9, 1100.0, 4)), ["1", "10", "100", "1000"]);
        assert_eq!(labels(&logarithmic(1.0, 10.0, 6)), ["1", "2", "5", "10"]);
        assert_eq!(labels(&logarithmic(1e-12, 1.0, 4)), ["1e-12", "1e-9", "1e-6", "0.001", "1"]);
    }

    #[test]
    fn narrow_and_wide_logarithmic_axes_have_labels() {
        assert_eq!(labels(&logarithmic(250.0, 300.0, 5)), ["250", "260", "270", "280", "290", "300"]);
        assert_eq!(labels(&logarithmic(3.0, 90.0, 2)), ["5", "10", "20", "50"]);
        assert_eq!(labels(&logarithmic(2e-12, 0.5, 2)), ["1e-9", "1e-6", "0.001"]);
        let wide = logarithmic(1e-310, 2.0, 5);
        assert!(wide.len() >= 4 && wide.iter().all(|tick| tick.value > 0.0 && tick.value <= 2.0), "{wide:?}");
        assert!(logarithmic(1e307, f64::MAX, 5).iter().all(|tick| tick.value.is_finite()));
    }

    #[test]
    fn short_numbers() {
        for (value, text) in
            [(0.1, "0.1"), (850.0, "850"), (1.5e-9, "1.5e-9"), (-2.5e12, "-2.5e12"), (123_456.0, "123456")]
        {
            assert_eq!(short(value), text);
        }
    }

    #[test]
    fn ranges_that_are_none_have_few_ticks() {
        for (low, high) in [(1.0, 1.0), (f64::NAN, 1.0), (0.0, f64::INFINITY), (1e300, 1.0000001e300)] {
            assert!(linear(low, high, 5).len() <= MAX);
            assert!(degrees(low, high, 5, longitude).len() <= MAX);
            assert!(logarithmic(low, high, 5).len() <= MAX);
        }
    }
}

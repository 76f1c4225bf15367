//! Colour maps.
use colorous::Gradient;

/// A colour: red, green, blue.
pub(crate) type Rgb = [u8; 3];

/// A colour map, by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColourMap {
    /// Dark blue to yellow, of uniform lightness steps.
    Viridis,
    /// Dark blue over red to yellow.
    Plasma,
    /// Black over red to light yellow.
    Inferno,
    /// Black over purple to light yellow.
    Magma,
    /// Dark blue to yellow, also for readers who do not see red and green.
    Cividis,
    /// A rainbow with smooth lightness.
    Turbo,
    /// White to black.
    Grey,
    /// White to dark blue.
    Blues,
    /// Blue over white to red: negative and positive numbers.
    Diverging,
    /// Brown over white to green: dry and wet.
    BrownGreen,
}

impl ColourMap {
    /// All colour maps with their names.
    pub const NAMES: [(&'static str, Self); 10] = [
        ("viridis", Self::Viridis),
        ("plasma", Self::Plasma),
        ("inferno", Self::Inferno),
        ("magma", Self::Magma),
        ("cividis", Self::Cividis),
        ("turbo", Self::Turbo),
        ("grey", Self::Grey),
        ("blues", Self::Blues),
        ("diverging", Self::Diverging),
        ("brown-green", Self::BrownGreen),
    ];

    /// The colour map of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(known, _)| *known == name).map(|(_, map)| *map)
    }

    /// Whether the map has a centre, which is then the colour of zero.
    pub fn is_diverging(self) -> bool {
        matches!(self, Self::Diverging | Self::BrownGreen)
    }

    /// The colour at a position from 0 to 1.
    pub(crate) fn colour(self, position: f64) -> Rgb {
        let at = position.clamp(0.0, 1.0);
        let (gradient, at): (Gradient, f64) = match self {
            Self::Viridis => (colorous::VIRIDIS, at),
            Self::Plasma => (colorous::PLASMA, at),
            Self::Inferno => (colorous::INFERNO, at),
            Self::Magma => (colorous::MAGMA, at),
            Self::Cividis => (colorous::CIVIDIS, at),
            Self::Turbo => (colorous::TURBO, at),
            Self::Grey => (colorous::GREYS, at),
            Self::Blues => (colorous::BLUES, at),
            Self::Diverging => (colorous::RED_BLUE, 1.0 - at),
            Self::BrownGreen => (colorous::BROWN_GREEN, at),
        };
        let colour = gradient.eval_continuous(at);
        [colour.r, colour.g, colour.b]
    }
}

/// Colours of lines that readers with any colour vision can distinguish (Okabe and Ito, 2008).
pub(crate) const LINES: [Rgb; 7] =
    [[0, 114, 178], [213, 94, 0], [0, 158, 115], [204, 121, 167], [230, 159, 0], [86, 180, 233], [0, 0, 0]];

/// The colour of the line of that number.
pub(crate) fn of_line(number: usize) -> Rgb {
    LINES[number % LINES.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_diverging_map_is_blue_below_zero_and_red_above() {
        let [low, middle, high] = [0.0, 0.5, 1.0].map(|at| ColourMap::Diverging.colour(at));
        assert!(low[2] > low[0], "{low:?}");
        assert!(high[0] > high[2], "{high:?}");
        assert!(middle.iter().all(|part| *part > 230), "{middle:?}");
    }

    #[test]
    fn each_map_is_found_by_its_name_and_has_two_ends() {
        for (name, map) in ColourMap::NAMES {
            assert_eq!(ColourMap::named(name), Some(map));
            assert_ne!(map.colour(0.0), map.colour(1.0));
            assert_eq!(map.colour(-3.0), map.colour(0.0));
        }
        assert_eq!(ColourMap::named("rainbow"), None);
    }
}

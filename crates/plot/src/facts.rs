//! What the attributes of a coordinate variable say of it (CF conventions, chapters 4 and 5).
use ncirrus::cf::TimeUnits;
use ncirrus::{Result, Variable};

/// Attributes of a coordinate, and its name.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct CoordinateFacts {
    pub(crate) name: String,
    pub(crate) units: Option<String>,
    pub(crate) standard_name: Option<String>,
    pub(crate) long_name: Option<String>,
    pub(crate) axis: Option<String>,
    pub(crate) positive: Option<String>,
    pub(crate) calendar: Option<String>,
}

/// What a coordinate measures.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum CoordinateRole {
    Longitude,
    Latitude,
    Time(TimeUnits),
    /// Heights, depths and pressures; whether larger numbers are further down.
    Vertical {
        down: bool,
    },
    Other,
}

/// Units of longitude and latitude (CF 4.1, 4.2).
const EAST: [&str; 6] = ["degrees_east", "degree_east", "degree_E", "degrees_E", "degreeE", "degreesE"];
const NORTH: [&str; 6] = ["degrees_north", "degree_north", "degree_N", "degrees_N", "degreeN", "degreesN"];
/// Units of pressure, which alone make a coordinate vertical (CF 4.3).
const PRESSURES: [&str; 12] = [
    "Pa",
    "hPa",
    "kPa",
    "bar",
    "mbar",
    "millibar",
    "millibars",
    "decibar",
    "dbar",
    "atm",
    "pascal",
    "hectopascal",
];
const VERTICAL_NAMES: [&str; 6] =
    ["air_pressure", "altitude", "height", "depth", "model_level_number", "geopotential_height"];

impl CoordinateFacts {
    /// The facts of a variable.
    pub(crate) fn of(variable: &Variable) -> Result<Self> {
        let attributes = variable.attributes()?;
        let text = |name: &str| {
            let text = attributes.find(name).and_then(ncirrus::Attribute::as_text)?;
            let text = text.trim_matches(['\0', ' ', '\n']).to_owned();
            (!text.is_empty()).then_some(text)
        };
        Ok(Self {
            name: variable.name(),
            units: text("units"),
            standard_name: text("standard_name"),
            long_name: text("long_name"),
            axis: text("axis"),
            positive: text("positive"),
            calendar: text("calendar"),
        })
    }

    /// What the coordinate measures.
    pub(crate) fn role(&self) -> CoordinateRole {
        let units = self.units.as_deref().unwrap_or_default();
        let standard = self.standard_name.as_deref();
        let is_plain = ["", "degrees", "degree", "deg"].contains(&units);
        let named =
            |names: [&str; 2]| standard.is_none() && is_plain && names.contains(&&*self.name.to_lowercase());
        if standard == Some("longitude") || EAST.contains(&units) || named(["longitude", "lon"]) {
            return CoordinateRole::Longitude;
        }
        if standard == Some("latitude") || NORTH.contains(&units) || named(["latitude", "lat"]) {
            return CoordinateRole::Latitude;
        }
        if let Ok(Some(time)) = TimeUnits::parse(units, self.calendar.as_deref()) {
            return CoordinateRole::Time(time);
        }
        let is_pressure = PRESSURES.contains(&units);
        let is_vertical = is_pressure
            || self.positive.is_some()
            || matches!(self.axis.as_deref(), Some("Z" | "z"))
            || standard.is_some_and(|name| VERTICAL_NAMES.contains(&name) || name.contains("_sigma_"));
        if !is_vertical {
            return CoordinateRole::Other;
        }
        let down = match self.positive.as_deref().map(str::to_lowercase).as_deref() {
            Some("down") => true,
            Some("up") => false,
            _ => is_pressure || standard.is_some_and(|name| name == "depth" || name == "air_pressure"),
        };
        CoordinateRole::Vertical { down }
    }

    /// The name and the units, as axes show them.
    pub(crate) fn label(&self) -> String {
        let name = self.long_name.as_ref().or(self.standard_name.as_ref()).unwrap_or(&self.name);
        let name = name.replace('_', " ");
        match &self.units {
            Some(units) if units != "1" && !matches!(self.role(), CoordinateRole::Time(_)) => {
                format!("{name} [{units}]")
            }
            _ => name,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(name: &str, units: &str, standard: &str) -> CoordinateFacts {
        let given = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        CoordinateFacts {
            name: name.to_owned(),
            units: given(units),
            standard_name: given(standard),
            ..CoordinateFacts::default()
        }
    }

    #[test]
    fn longitudes_and_latitudes_are_known_by_units_or_standard_name() {
        assert_eq!(facts("x", "degrees_east", "").role(), CoordinateRole::Longitude);
        assert_eq!(facts("x", "degrees", "longitude").role(), CoordinateRole::Longitude);
        assert_eq!(facts("lon", "degrees", "").role(), CoordinateRole::Longitude);
        assert_eq!(facts("y", "degree_N", "").role(), CoordinateRole::Latitude);
        assert_eq!(facts("latitude", "", "").role(), CoordinateRole::Latitude);
        // Coordinates of a rotated pole are not geographic.
        assert_eq!(facts("rlon", "degrees", "grid_longitude").role(), CoordinateRole::Other);
        assert_eq!(facts("lon", "degrees", "grid_longitude").role(), CoordinateRole::Other);
        assert_eq!(facts("lon", "m", "").role(), CoordinateRole::Other);
    }

    #[test]
    fn pressures_and_depths_point_down() {
        assert_eq!(facts("plev", "hPa", "").role(), CoordinateRole::Vertical { down: true });
        assert_eq!(facts("deptht", "m", "depth").role(), CoordinateRole::Vertical { down: true });
        let up = CoordinateFacts { positive: Some("up".to_owned()), ..facts("z", "m", "") };
        assert_eq!(up.role(), CoordinateRole::Vertical { down: false });
    }

    #[test]
    fn times_have_units_since_a_date() {
        let time = facts("t", "hours since 1900-01-01", "");
        assert!(matches!(time.role(), CoordinateRole::Time(_)));
        assert_eq!(time.label(), "t");
        let wrong = CoordinateFacts { calendar: Some("lunar".to_owned()), ..time };
        assert_eq!(wrong.role(), CoordinateRole::Other);
        assert_eq!(facts("lat", "degrees_north", "").label(), "lat [degrees_north]");
    }
}

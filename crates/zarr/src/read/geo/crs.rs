//! Coordinate reference systems: as `proj:` has them, and as the attributes of a grid mapping variable.
use super::texts;
use crate::json::JsonValue;
use ncirrus_model::{Attribute, Attributes, Values};
use std::sync::Arc;

/// The longest description of a system that is shown, in bytes: each group that uses it has copies in its attributes.
const LONGEST_TEXT: usize = 1 << 16;

/// A coordinate reference system. Levels and arrays share its texts.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ReferenceSystem {
    /// Authority and number, such as `EPSG:32633`.
    code: Option<Arc<str>>,
    wkt: Option<Arc<str>>,
}

/// The kind of a system's coordinates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SystemKind {
    Geographic,
    /// With the unit of the coordinates, if it is known.
    Projected(Option<&'static str>),
    Unknown,
}

impl ReferenceSystem {
    /// The system that the attributes of `proj:` name; `None` if they name none. It is not known if its description is too long:
    /// then it is not that of the group either.
    pub(super) fn of<'a>(find: &dyn Fn(&str) -> Option<&'a JsonValue>) -> Option<Self> {
        let text = |name: &str| find(name).and_then(JsonValue::as_str);
        let of_json = || {
            let id = find("proj:projjson")?.member("id")?;
            let number = id.member("code")?;
            let number = number.as_str().map(str::to_owned).or_else(|| Some(number.as_u64()?.to_string()))?;
            Some(format!("{}:{number}", id.member("authority")?.as_str()?))
        };
        let code = text("proj:code").filter(|code| is_code(code)).map(str::to_owned).or_else(of_json);
        let wkt = text("proj:wkt2");
        if code.is_none() && wkt.is_none() {
            return None;
        }
        let code = code.filter(|code| code.len() <= LONGEST_TEXT).map(Arc::from);
        Some(Self { code, wkt: wkt.filter(|wkt| wkt.len() <= LONGEST_TEXT).map(Arc::from) })
    }

    /// Whether there is something to show.
    pub(super) fn is_known(&self) -> bool {
        self.code.is_some() || self.wkt.is_some()
    }

    /// The attributes of a grid mapping variable.
    pub(super) fn attributes(&self) -> Attributes {
        let mut list = Attributes::new();
        match (self.code.as_deref(), self.utm()) {
            (Some("EPSG:4326"), _) => list = texts(&[("grid_mapping_name", "latitude_longitude")]),
            (_, Some((meridian, northing))) => {
                list = texts(&[("grid_mapping_name", "transverse_mercator")]);
                for (name, number) in [
                    ("latitude_of_projection_origin", 0.0),
                    ("longitude_of_central_meridian", meridian),
                    ("scale_factor_at_central_meridian", 0.9996),
                    ("false_easting", 500_000.0),
                    ("false_northing", northing),
                ] {
                    list.put(double(name, number));
                }
            }
            _ => {}
        }
        if !list.is_empty() {
            list.put(double("semi_major_axis", 6_378_137.0));
            list.put(double("inverse_flattening", 298.257_223_563));
        }
        if let Some(wkt) = &self.wkt {
            list.put(Attribute::text("crs_wkt", wkt));
        }
        // pyproj, rioxarray and GDAL accept a code as well as WKT.
        if let Some(text) = self.wkt.as_ref().or(self.code.as_ref()) {
            list.put(Attribute::text("spatial_ref", text));
        }
        list
    }

    /// The attributes of a coordinate variable along x or y.
    pub(super) fn coordinate(&self, is_x: bool) -> Attributes {
        let mut list = axis(is_x);
        let pick = |x: &'static str, y: &'static str| if is_x { x } else { y };
        match self.kind() {
            SystemKind::Geographic => {
                list.put(Attribute::text("standard_name", pick("longitude", "latitude")));
                list.put(Attribute::text("units", pick("degrees_east", "degrees_north")));
            }
            SystemKind::Projected(unit) => {
                let name = pick("projection_x_coordinate", "projection_y_coordinate");
                list.put(Attribute::text("standard_name", name));
                if let Some(unit) = unit {
                    list.put(Attribute::text("units", unit));
                }
            }
            SystemKind::Unknown => {}
        }
        list
    }

    fn kind(&self) -> SystemKind {
        match self.code.as_deref() {
            Some("EPSG:4326" | "OGC:CRS84") => return SystemKind::Geographic,
            Some("EPSG:3857") => return SystemKind::Projected(Some("m")),
            _ if self.utm().is_some() => return SystemKind::Projected(Some("m")),
            _ => {}
        }
        let wkt = self.wkt.as_deref().unwrap_or_default().trim_start();
        let keyword = wkt.split(['[', '(']).next().unwrap_or_default().trim().to_ascii_uppercase();
        match keyword.as_str() {
            "GEOGCRS" | "GEOGRAPHICCRS" => SystemKind::Geographic,
            "PROJCRS" | "PROJECTEDCRS" => SystemKind::Projected(None),
            _ => SystemKind::Unknown,
        }
    }

    /// Central meridian and false northing of a zone of UTM upon WGS 84 (EPSG:32601 to 32660, 32701 to 32760).
    fn utm(&self) -> Option<(f64, f64)> {
        let number = self.code.as_deref()?.strip_prefix("EPSG:")?.parse::<u32>().ok()?;
        let (zone, northing) = match number {
            32_601..=32_660 => (number - 32_600, 0.0),
            32_701..=32_760 => (number - 32_700, 10_000_000.0),
            _ => return None,
        };
        Some((f64::from(zone) * 6.0 - 183.0, northing))
    }
}

/// Whether `proj:wkt2` is too long to be shown.
pub(super) fn has_long_wkt<'a>(find: &dyn Fn(&str) -> Option<&'a JsonValue>) -> bool {
    find("proj:wkt2").and_then(JsonValue::as_str).is_some_and(|wkt| wkt.len() > LONGEST_TEXT)
}

/// Authority and number, with a colon between them.
fn is_code(code: &str) -> bool {
    code.split_once(':').is_some_and(|(authority, number)| !authority.is_empty() && !number.is_empty())
}

/// The attribute that says along which axis coordinates are.
pub(super) fn axis(is_x: bool) -> Attributes {
    texts(&[("axis", if is_x { "X" } else { "Y" })])
}

fn double(name: &str, number: f64) -> Attribute {
    Attribute::atomic(name, Values::Double(vec![number]))
}

//! The coordinates of dimensions by the CF conventions (chapters 4 and 5).
use ncirrus::cf::TimeUnits;
use ncirrus::{Attributes, Dataset, Model, Result, Variable, model::DimId, model::GroupId};

/// What a coordinate measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Longitude,
    Latitude,
    Time,
    Vertical,
    X,
    Y,
}

impl Role {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Longitude => "longitude",
            Self::Latitude => "latitude",
            Self::Time => "time",
            Self::Vertical => "vertical",
            Self::X => "x",
            Self::Y => "y",
        }
    }
}

/// The coordinate variable of a dimension: the one of its name with that dimension alone (CF 5, "Coordinate Systems"), in
/// the group of the dimension or a group between that and `group`.
pub(super) fn coordinate(dataset: &Dataset, model: &Model, group: GroupId, dim: DimId) -> Option<Variable> {
    let name = &model.dimension(dim)?.name;
    let home = model.dimension_group(dim)?;
    let mut at = Some(group);
    while let Some(group) = at {
        let found = model.variable_in(group, name).filter(|id| {
            model.variable(*id).is_some_and(|variable| variable.dims == [dim] && variable.fault.is_none())
        });
        if let Some(id) = found {
            return Some(dataset.variable_by_id(id));
        }
        at = model.group(group).filter(|_| group != home).and_then(|group| group.parent);
    }
    None
}

/// A text attribute, trimmed; `None` if it is empty.
pub(super) fn text(attributes: &Attributes, name: &str) -> Option<String> {
    let text = attributes.find(name).and_then(ncirrus::Attribute::as_text)?;
    let text = text.trim_matches(['\0', ' ', '\n']).to_owned();
    (!text.is_empty()).then_some(text)
}

/// Units of longitude and latitude (CF 4.1, 4.2).
const EAST: [&str; 6] = ["degrees_east", "degree_east", "degree_E", "degrees_E", "degreeE", "degreesE"];
const NORTH: [&str; 6] = ["degrees_north", "degree_north", "degree_N", "degrees_N", "degreeN", "degreesN"];
/// Units of pressure, which alone make a coordinate vertical (CF 4.3).
const PRESSURES: [&str; 9] = ["Pa", "hPa", "kPa", "mbar", "millibar", "millibars", "dbar", "decibar", "bar"];

/// What a coordinate variable measures.
pub(super) fn role(variable: &Variable) -> Result<Option<Role>> {
    Ok(role_of(&variable.name(), &variable.attributes()?))
}

fn role_of(name: &str, attributes: &Attributes) -> Option<Role> {
    let get = |name| text(attributes, name);
    let (units, standard, axis) = (get("units").unwrap_or_default(), get("standard_name"), get("axis"));
    let standard = standard.as_deref();
    let is_plain = ["", "degrees", "degree", "deg"].contains(&&*units);
    let named = |names: [&str; 2]| standard.is_none() && is_plain && names.contains(&&*name.to_lowercase());
    if standard == Some("longitude") || EAST.contains(&&*units) || named(["longitude", "lon"]) {
        return Some(Role::Longitude);
    }
    if standard == Some("latitude") || NORTH.contains(&&*units) || named(["latitude", "lat"]) {
        return Some(Role::Latitude);
    }
    if matches!(TimeUnits::parse(&units, get("calendar").as_deref()), Ok(Some(_))) {
        return Some(Role::Time);
    }
    match axis.as_deref() {
        Some("X" | "x") => return Some(Role::X),
        Some("Y" | "y") => return Some(Role::Y),
        Some("Z" | "z") => return Some(Role::Vertical),
        _ => {}
    }
    match standard {
        Some("projection_x_coordinate" | "grid_longitude") => Some(Role::X),
        Some("projection_y_coordinate" | "grid_latitude") => Some(Role::Y),
        Some("height" | "depth" | "altitude" | "air_pressure") => Some(Role::Vertical),
        _ if PRESSURES.contains(&&*units) || get("positive").is_some() => Some(Role::Vertical),
        _ => None,
    }
}

/// Which way a vertical coordinate goes: larger pressures and depths are further down.
pub(super) fn positive(attributes: &Attributes) -> &'static str {
    let units = text(attributes, "units").unwrap_or_default();
    let standard = text(attributes, "standard_name");
    match text(attributes, "positive").map(|text| text.to_lowercase()).as_deref() {
        Some("down") => "down",
        Some("up") => "up",
        _ if PRESSURES.contains(&&*units)
            || matches!(standard.as_deref(), Some("depth" | "air_pressure")) =>
        {
            "down"
        }
        _ => "up",
    }
}

/// The dimensions that are drawn across and down: longitude and latitude, or X and Y, or the last two that are longer
/// than 1, of which time is neither if there are others.
pub(super) fn plane(shape: &[u64], roles: &[Option<Role>]) -> Option<(usize, usize)> {
    let at = |role: Role| roles.iter().position(|found| *found == Some(role));
    let is_long = |axis: &usize| shape.get(*axis).is_some_and(|len| *len > 1);
    for (x, y) in [(Role::Longitude, Role::Latitude), (Role::X, Role::Y)] {
        if let (Some(x), Some(y)) = (at(x).filter(is_long), at(y).filter(is_long)) {
            return Some((x, y));
        }
    }
    let mut long: Vec<usize> = (0..shape.len()).filter(is_long).collect();
    if long.len() > 2 {
        long.retain(|axis| roles.get(*axis) != Some(&Some(Role::Time)));
    }
    let x = long.pop()?;
    let y = long.pop()?;
    // Profiles in time: time is across.
    let is_time = |axis: usize| roles.get(axis) == Some(&Some(Role::Time));
    Some(if is_time(y) { (y, x) } else { (x, y) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ncirrus::Attribute;

    fn attributes(pairs: &[(&str, &str)]) -> Attributes {
        let mut made = Attributes::default();
        for (name, value) in pairs {
            made.set(Attribute::text(*name, value)).unwrap();
        }
        made
    }

    #[test]
    fn roles_follow_units_standard_names_and_axes() {
        let of = |name: &str, pairs: &[(&str, &str)]| role_of(name, &attributes(pairs));
        assert_eq!(of("x", &[("units", "degrees_east")]), Some(Role::Longitude));
        assert_eq!(of("lat", &[]), Some(Role::Latitude));
        assert_eq!(of("rlon", &[("units", "degrees"), ("standard_name", "grid_longitude")]), Some(Role::X));
        assert_eq!(of("t", &[("units", "days since 2000-01-01")]), Some(Role::Time));
        assert_eq!(of("plev", &[("units", "hPa")]), Some(Role::Vertical));
        assert_eq!(of("yc", &[("axis", "Y")]), Some(Role::Y));
        assert_eq!(of("station", &[]), None);
    }

    #[test]
    fn larger_pressures_are_further_down() {
        assert_eq!(positive(&attributes(&[("units", "hPa")])), "down");
        assert_eq!(positive(&attributes(&[("units", "m"), ("positive", "up")])), "up");
        assert_eq!(positive(&attributes(&[("standard_name", "depth")])), "down");
    }

    #[test]
    fn maps_are_of_longitude_and_latitude_wherever_they_are() {
        let (lon, lat, time) = (Some(Role::Longitude), Some(Role::Latitude), Some(Role::Time));
        assert_eq!(plane(&[4, 9, 8], &[time, lat, lon]), Some((2, 1)));
        assert_eq!(plane(&[8, 9, 4], &[lon, lat, time]), Some((0, 1)));
        assert_eq!(plane(&[4, 9, 8], &[None, None, time]), Some((1, 0)));
        assert_eq!(plane(&[4, 1, 9], &[time, lat, Some(Role::Vertical)]), Some((0, 2)));
        assert_eq!(plane(&[4, 1, 9], &[None, None, None]), Some((2, 0)));
        assert_eq!(plane(&[4, 1], &[None, None]), None);
    }
}

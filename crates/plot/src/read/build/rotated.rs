//! Longitudes and latitudes of a rotated pole (CF appendix F, "Rotated pole"), from its grid mapping.
use crate::facts::CoordinateFacts;
use crate::read::coordinates::Coordinate;
use crate::read::part::Part;
use ncirrus::Result;

/// Longitudes and latitudes of points.
type Points = (Vec<f64>, Vec<f64>);

/// The points of a grid whose axes are `grid_longitude` and `grid_latitude`; `None` for other grids.
pub(super) fn points(part: &Part, rows: usize, columns: usize) -> Result<Option<Points>> {
    let Some(pole) = pole(part)? else { return Ok(None) };
    let (Some(lat), Some(lon)) = (part.along(rows), part.along(columns)) else { return Ok(None) };
    let is = |facts: &CoordinateFacts, name: &str| facts.standard_name.as_deref() == Some(name);
    if !is(&lat.facts, "grid_latitude") || !is(&lon.facts, "grid_longitude") {
        return Ok(None);
    }
    let read = |coordinate: &Coordinate, axis: usize| -> Result<Vec<f64>> {
        Ok(coordinate.variable.read_decoded(&part.selection_along(axis))?.numbers())
    };
    let (lat, lon) = (read(lat, rows)?, read(lon, columns)?);
    let all = lat.iter().flat_map(|lat| lon.iter().map(move |lon| (*lon, *lat)));
    Ok(Some(all.map(|point| pole.geographic(point)).unzip()))
}

/// The north pole of a rotated grid.
#[derive(Debug, Clone, Copy)]
struct RotatedPole {
    latitude: f64,
    longitude: f64,
    /// The longitude of the true pole in the grid.
    grid_longitude: f64,
}

fn pole(part: &Part) -> Result<Option<RotatedPole>> {
    let named = part.variable.attribute("grid_mapping")?.and_then(|attribute| attribute.as_text());
    // The extended form is `name: coordinate coordinate`.
    let name = named.as_deref().and_then(|text| text.split([':', ' ']).next()).unwrap_or_default();
    let path = part.variable.path();
    let group = path.rsplit_once('/').map_or("", |(group, _)| group);
    let dataset = part.variable.dataset();
    let places = [format!("{group}/{name}"), format!("/{name}")];
    let Some(mapping) =
        places.iter().find_map(|path| dataset.variable(path).ok()).filter(|_| !name.is_empty())
    else {
        return Ok(None);
    };
    let attributes = mapping.attributes()?;
    let kind = attributes.find("grid_mapping_name").and_then(|attribute| attribute.as_text());
    let number = |name: &str| attributes.find(name).and_then(|attribute| attribute.values.number(0));
    if kind.as_deref() != Some("rotated_latitude_longitude") {
        return Ok(None);
    }
    let (latitude, longitude) = (number("grid_north_pole_latitude"), number("grid_north_pole_longitude"));
    let (Some(latitude), Some(longitude)) = (latitude, longitude) else { return Ok(None) };
    let grid_longitude = number("north_pole_grid_longitude").unwrap_or(0.0);
    Ok(Some(RotatedPole { latitude, longitude, grid_longitude }))
}

impl RotatedPole {
    /// Longitude and latitude of a point of the grid.
    fn geographic(self, (lon, lat): (f64, f64)) -> (f64, f64) {
        let (lon, lat) = ((lon - self.grid_longitude).to_radians(), lat.to_radians());
        let pole = self.latitude.to_radians();
        let up = pole.sin() * lat.sin() + pole.cos() * lat.cos() * lon.cos();
        let east = lat.cos() * lon.sin();
        let north = pole.cos() * lat.sin() - pole.sin() * lat.cos() * lon.cos();
        let turned = (-east).atan2(north).to_degrees() + self.longitude;
        ((turned + 180.0).rem_euclid(360.0) - 180.0, up.clamp(-1.0, 1.0).asin().to_degrees())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: (f64, f64), wanted: (f64, f64)) -> bool {
        (found.0 - wanted.0).abs() < 1e-6 && (found.1 - wanted.1).abs() < 1e-6
    }

    #[test]
    fn the_origin_of_the_european_grid_is_in_germany() {
        // EURO-CORDEX: the pole at 39.25 N, 162 W, so that the grid's origin is at 50.75 N, 18 E.
        let pole = RotatedPole { latitude: 39.25, longitude: -162.0, grid_longitude: 0.0 };
        assert!(near(pole.geographic((0.0, 0.0)), (18.0, 50.75)), "{:?}", pole.geographic((0.0, 0.0)));
        assert!(
            near(pole.geographic((0.0, 39.25)), (18.0, 90.0)) || pole.geographic((0.0, 39.25)).1 > 89.999_99
        );
        let pole = RotatedPole { latitude: 90.0, longitude: 180.0, grid_longitude: 0.0 };
        assert!(near(pole.geographic((30.0, 45.0)), (30.0, 45.0)), "{:?}", pole.geographic((30.0, 45.0)));
    }
}

//! The coordinates of a variable: those named like its dimensions, and those of its attribute `coordinates` (CF 5).
use crate::axis::AxisKind;
use crate::facts::{CoordinateFacts, CoordinateRole};
use ncirrus::{Dataset, DimId, Result, Variable};

/// A coordinate variable.
pub(super) struct Coordinate {
    pub(super) variable: Variable,
    pub(super) dims: Vec<DimId>,
    pub(super) facts: CoordinateFacts,
    pub(super) role: CoordinateRole,
}

impl Coordinate {
    /// What its numbers are.
    pub(super) fn axis_kind(&self) -> AxisKind {
        match &self.role {
            CoordinateRole::Longitude => AxisKind::Longitude,
            CoordinateRole::Latitude => AxisKind::Latitude,
            CoordinateRole::Time(units) => AxisKind::Time(units.clone()),
            CoordinateRole::Vertical { .. } | CoordinateRole::Other => AxisKind::Number,
        }
    }
}

/// The coordinates of a variable.
pub(super) struct Coordinates {
    all: Vec<Coordinate>,
}

/// Variables name at most this many coordinates; others are ignored.
const MAX: usize = 64;

impl Coordinates {
    pub(super) fn of(variable: &Variable) -> Result<Self> {
        let dataset = variable.dataset();
        let mut names: Vec<String> = variable.dimensions().into_iter().map(|dim| dim.name).collect();
        for name in ["coordinates", "associate"] {
            if let Some(listed) = variable.attribute(name)?.and_then(|attribute| attribute.as_text()) {
                names.extend(listed.split_whitespace().take(MAX).map(ToOwned::to_owned));
            }
        }
        let mut all: Vec<Coordinate> = Vec::new();
        for name in names {
            let Some(found) = in_scope(variable, &name) else { continue };
            if found.id() == variable.id() && found.dimensions().len() != 1
                || all.iter().any(|known| known.variable.id() == found.id())
                || found.fault().is_some()
                || found.decoding().is_err()
            {
                continue;
            }
            let facts = CoordinateFacts::of(&found)?;
            let role = facts.role();
            all.push(Coordinate { dims: dims(dataset, &found)?, variable: found, facts, role });
        }
        Ok(Self { all })
    }

    /// The coordinate along one dimension.
    pub(super) fn along(&self, dim: DimId) -> Option<&Coordinate> {
        self.all.iter().find(|coordinate| coordinate.dims == [dim])
    }

    /// Longitude and latitude over two dimensions.
    pub(super) fn over(&self, dims: [DimId; 2]) -> Option<(&Coordinate, &Coordinate)> {
        let of = |is_wanted: fn(&CoordinateRole) -> bool| {
            self.all.iter().find(|coordinate| {
                is_wanted(&coordinate.role)
                    && coordinate.dims.len() == 2
                    && dims.iter().all(|dim| coordinate.dims.contains(dim))
            })
        };
        let lon = of(|role| matches!(role, CoordinateRole::Longitude))?;
        let lat = of(|role| matches!(role, CoordinateRole::Latitude))?;
        (lon.dims == lat.dims).then_some((lon, lat))
    }

    /// All that have two dimensions, for choosing these.
    pub(super) fn pairs(&self) -> impl Iterator<Item = [DimId; 2]> + '_ {
        self.all.iter().filter_map(|coordinate| <[DimId; 2]>::try_from(coordinate.dims.as_slice()).ok())
    }

    /// Coordinates without a dimension: a single height, time or place.
    pub(super) fn scalars(&self) -> impl Iterator<Item = &Coordinate> {
        self.all.iter().filter(|coordinate| coordinate.dims.is_empty())
    }
}

/// The dimensions of a variable.
pub(super) fn dims(dataset: &Dataset, variable: &Variable) -> Result<Vec<DimId>> {
    let model = dataset.model()?;
    Ok(model.variable(variable.id()).map(|variable| variable.dims.clone()).unwrap_or_default())
}

/// The variable of that name in the group of another one, or in the nearest group above, or else in any group if it has only
/// dimensions of the variable (CF 2.7, "lateral search").
fn in_scope(variable: &Variable, name: &str) -> Option<Variable> {
    let dataset = variable.dataset();
    if name.contains('/') {
        return dataset.variable(name).ok();
    }
    let path = variable.path();
    let mut group = path.rsplit_once('/').map_or("", |(group, _)| group);
    loop {
        if let Ok(found) = dataset.variable(&format!("{group}/{name}")) {
            return Some(found);
        }
        match group.rsplit_once('/') {
            Some((above, _)) => group = above,
            None => break,
        }
    }
    let own = dims(dataset, variable).ok()?;
    let fits = |found: &Variable| {
        found.name() == name
            && dims(dataset, found)
                .is_ok_and(|dims| !dims.is_empty() && dims.iter().all(|dim| own.contains(dim)))
    };
    dataset.variables().into_iter().find(fits)
}

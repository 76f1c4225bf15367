//! What kind of axis a dimension is, by the rules of S3netCDF4 (docs/spec/cfa.md 7.2).
use super::super::shape::known;
use ncirrus_model::{Attribute, DimId, Model, NodeId};

/// Kinds of axes: of series (`T`, `Z`), of maps (`Y`, `X`), and others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AxisKind {
    /// Time.
    T,
    /// Vertical.
    Z,
    /// From south to north.
    Y,
    /// From west to east.
    X,
    /// Any other.
    N,
}

impl AxisKind {
    /// By its letter; `None` for others than the five.
    pub fn from_letter(letter: &str) -> Option<Self> {
        match letter {
            "T" => Some(Self::T),
            "Z" => Some(Self::Z),
            "Y" => Some(Self::Y),
            "X" => Some(Self::X),
            "N" => Some(Self::N),
            _ => None,
        }
    }

    /// By the coordinate variable's attribute `axis`, else by the dimension's name.
    pub fn of(model: &Model, dim: DimId) -> Self {
        let axis = model
            .coordinate_of(dim)
            .and_then(|var| known(model, NodeId::Variable(var)).find("axis").and_then(Attribute::as_text));
        let by_attribute = axis.as_deref().and_then(Self::from_letter);
        let name = model.dimension(dim).map(|dim| dim.name.as_str()).unwrap_or_default();
        by_attribute.unwrap_or_else(|| Self::named(name))
    }

    fn named(name: &str) -> Self {
        let is_short = |letter: char| name.len() < 3 && name.starts_with(letter);
        if is_short('t') || name.contains("time") {
            Self::T
        } else if is_short('z') || name.contains("level") {
            Self::Z
        } else if is_short('y') || name.starts_with("lat") {
            Self::Y
        } else if is_short('x') || name.starts_with("lon") {
            Self::X
        } else {
            Self::N
        }
    }

    /// Whether maps lie along it.
    pub(super) fn is_horizontal(self) -> bool {
        matches!(self, Self::X | Self::Y)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_determine_the_kind_as_with_s3netcdf4() {
        for (name, kind) in [
            ("t", AxisKind::T),
            ("t1", AxisKind::T),
            ("lifetime", AxisKind::T),
            ("z", AxisKind::Z),
            ("model_level", AxisKind::Z),
            ("y", AxisKind::Y),
            ("latitude", AxisKind::Y),
            ("lon", AxisKind::X),
            ("rlat", AxisKind::N),
            ("plev", AxisKind::N),
            ("bnds", AxisKind::N),
            ("tau", AxisKind::N),
        ] {
            assert_eq!(AxisKind::named(name), kind, "{name}");
        }
    }
}

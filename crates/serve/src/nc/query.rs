//! What a query asks for.
use super::coordinate;
use crate::HttpError;
use ncirrus::{AxisSelection, Dataset, DimId, Model, Selection, VarId, VariableSelect};
use percent_encoding::percent_decode_str;
use std::collections::BTreeMap;

/// Fields of one query, at most.
const FIELDS: usize = 1 << 10;

/// The format of a subset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SubsetFormat {
    Nc3,
    Nc4,
}

impl SubsetFormat {
    pub(super) fn content_type(self) -> &'static str {
        match self {
            Self::Nc3 => "application/x-netcdf",
            Self::Nc4 => "application/x-netcdf4",
        }
    }
}

/// A query: variables, a format, and parts of dimensions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SubsetQuery {
    variables: Vec<String>,
    pub(super) format: SubsetFormat,
    /// By the name of a dimension or of its coordinate variable.
    parts: Vec<(String, String)>,
}

/// What is copied.
pub(crate) struct SubsetBoxes {
    /// Variables that are copied whole.
    pub(super) variables: Vec<String>,
    pub(crate) selections: Vec<VariableSelect>,
    /// Bytes of the values.
    pub(super) bytes: u64,
}

impl SubsetQuery {
    pub(crate) fn parse(query: &str) -> Result<Self, HttpError> {
        let mut parsed = Self { variables: Vec::new(), format: SubsetFormat::Nc4, parts: Vec::new() };
        for field in query.split('&').filter(|field| !field.is_empty()) {
            let decoded = |text: &str| {
                let plain = text.replace('+', "%20");
                let decoded = percent_decode_str(&plain).decode_utf8().map(std::borrow::Cow::into_owned);
                decoded.map_err(|_| HttpError::invalid("the query is not UTF-8"))
            };
            let (name, value) = field.split_once('=').unwrap_or((field, ""));
            let (name, value) = (decoded(name)?, decoded(value)?);
            match name.as_str() {
                "var" => {
                    let names =
                        value.split(',').map(str::trim).filter(|name| !name.is_empty() && *name != "all");
                    parsed.variables.extend(names.map(str::to_owned));
                }
                "format" => {
                    parsed.format = match value.to_ascii_lowercase().as_str() {
                        "nc3" | "netcdf3" | "netcdf" => SubsetFormat::Nc3,
                        "nc4" | "netcdf4" => SubsetFormat::Nc4,
                        _ => {
                            return Err(HttpError::invalid(format!(
                                "format {value:?} is unknown: nc3 or nc4"
                            )));
                        }
                    };
                }
                _ => parsed.parts.push((name, value)),
            }
            if parsed.variables.len() + parsed.parts.len() > FIELDS {
                return Err(HttpError::invalid(format!("the query has more than {FIELDS} fields")));
            }
        }
        Ok(parsed)
    }

    pub(super) fn has_variables(&self) -> bool {
        !self.variables.is_empty()
    }

    /// The boxes of the dataset that the query means.
    pub(crate) fn boxes(&self, dataset: &Dataset) -> Result<SubsetBoxes, HttpError> {
        let model = dataset.model()?;
        let mut parts: BTreeMap<DimId, AxisSelection> = BTreeMap::new();
        for (name, text) in &self.parts {
            let dim = dimension(&model, name)?;
            parts.insert(dim, coordinate::part(dataset, &model, dim, name, text)?);
        }
        let wanted = self.wanted(&model)?;
        let mut boxes = SubsetBoxes { variables: Vec::new(), selections: Vec::new(), bytes: 0 };
        for id in wanted {
            let path = model.variable_path(id);
            let selection = selection_of(&model, id, &parts);
            let one = model.variable(id).and_then(|variable| model.packed_len(variable.ty)).unwrap_or(16);
            let bytes = selection.element_count().unwrap_or(u64::MAX).saturating_mul(one);
            boxes.bytes = boxes.bytes.saturating_add(bytes);
            let dims = model.variable(id).map(|variable| variable.dims.as_slice()).unwrap_or_default();
            if dims.iter().any(|dim| parts.contains_key(dim)) {
                boxes.selections.push(select(&path, &selection)?);
            } else {
                boxes.variables.push(path);
            }
        }
        if boxes.selections.is_empty() && self.variables.is_empty() {
            // All variables and all of them.
            boxes.variables.clear();
        }
        Ok(boxes)
    }

    /// The variables that are asked for, by their paths or names.
    fn wanted(&self, model: &Model) -> Result<Vec<VarId>, HttpError> {
        if self.variables.is_empty() {
            return Ok(model.variables());
        }
        let find = |name: &String| {
            let named = |id: &VarId| model.variable(*id).is_some_and(|variable| variable.name == *name);
            let found = model.variable_at(name).or_else(|| model.variables().into_iter().find(named));
            found.ok_or_else(|| HttpError::not_found(format!("there is no variable {name:?}")))
        };
        self.variables.iter().map(find).collect()
    }
}

/// The dimension of that name, or along which the variable of that name extends.
fn dimension(model: &Model, name: &str) -> Result<DimId, HttpError> {
    if let Some(dim) = model.dimension_at(name) {
        return Ok(dim);
    }
    let coordinate = model.variable_at(name).and_then(|id| model.variable(id));
    if let Some([dim]) = coordinate.map(|variable| variable.dims.as_slice()) {
        return Ok(*dim);
    }
    let in_groups = model.walk().into_iter().find_map(|group| model.dimension_in(group, name));
    in_groups.ok_or_else(|| HttpError::not_found(format!("there is no dimension {name:?}")))
}

fn selection_of(model: &Model, id: VarId, parts: &BTreeMap<DimId, AxisSelection>) -> Selection {
    let dims = model.variable(id).map(|variable| variable.dims.as_slice()).unwrap_or_default();
    let axis = |(dim, len): (&DimId, u64)| {
        parts.get(dim).cloned().unwrap_or(AxisSelection::Slice { start: 0, count: len, stride: 1 })
    };
    Selection::new(dims.iter().zip(model.shape(id)).map(axis).collect())
}

/// The selection in the words of a command line.
fn select(path: &str, selection: &Selection) -> Result<VariableSelect, HttpError> {
    if let Some(region) = selection.as_region() {
        return Ok(VariableSelect::of_region(path, &region));
    }
    let axis = |axis: &AxisSelection| match axis {
        AxisSelection::Slice { start, count, stride } => {
            let last = || start.saturating_add((count - 1).saturating_mul(*stride));
            let end = if *count == 0 { *start } else { last().saturating_add(1) };
            format!("{start}:{end}:{stride}")
        }
        AxisSelection::Indices(list) => {
            format!("{{{}}}", list.iter().map(u64::to_string).collect::<Vec<_>>().join(","))
        }
    };
    let axes: Vec<String> = selection.axes().iter().map(axis).collect();
    // The path may have brackets of its own: the box is parsed with another one.
    let mut parsed = VariableSelect::parse(&format!("v[{}]", axes.join(",")))?;
    path.clone_into(&mut parsed.path);
    Ok(parsed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_variables_a_format_and_parts() {
        let query =
            SubsetQuery::parse("var=a,b&format=nc3&time=2020-01..2020-02&lat=%5B0:3%5D&var=c").unwrap();
        assert_eq!(query.variables, ["a", "b", "c"]);
        assert_eq!(query.format, SubsetFormat::Nc3);
        let parts =
            [("time", "2020-01..2020-02"), ("lat", "[0:3]")].map(|(a, b)| (a.to_owned(), b.to_owned()));
        assert_eq!(query.parts, parts);
        assert!(SubsetQuery::parse("format=grib").is_err());
        assert!(SubsetQuery::parse("%ff=1").is_err());
    }

    #[test]
    fn boxes_with_strides_and_lists_are_written_out() {
        let axes =
            vec![AxisSelection::Slice { start: 1, count: 3, stride: 2 }, AxisSelection::Indices(vec![4, 2])];
        let picked = select("/g/v[x]", &Selection::new(axes.clone())).unwrap();
        assert_eq!(picked.path, "/g/v[x]");
        assert_eq!(picked.resolve(&[9, 9]).unwrap(), Selection::new(axes));
        let empty = AxisSelection::Slice { start: 0, count: 0, stride: 1 };
        let none = Selection::new(vec![empty, AxisSelection::Indices(vec![4, 2])]);
        assert_eq!(select("v", &none).unwrap().resolve(&[9, 9]).unwrap().shape(), [0, 2]);
    }
}

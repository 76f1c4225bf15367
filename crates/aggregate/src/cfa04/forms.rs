//! Properties shared by partitions: the names of their sub-arrays, and how these fill their places.
use super::json::FormText;
use super::part::parts;
use crate::names::check_format;
use crate::subject::AggregationSubject;
use ncirrus_layout::{Error, FragmentAxis, FragmentPart, FragmentUnits, FragmentVariable, Result};
use std::sync::Arc;

/// Properties shared by partitions.
#[derive(Debug)]
pub(super) struct PartitionForm {
    /// Possible names of the sub-array in a dataset of its own.
    pub(super) outside: Vec<FragmentVariable>,
    /// Its possible names in the master.
    pub(super) inside: Vec<FragmentVariable>,
    pub(super) shape: Option<Vec<u64>>,
    pub(super) axes: Option<Vec<FragmentAxis>>,
    pub(super) units: Option<FragmentUnits>,
}

impl PartitionForm {
    /// Parses a partition's text.
    ///
    /// # Errors
    /// `Unsupported` for formats other than netCDF, `Malformed` if it contradicts itself.
    pub(super) fn new(text: &FormText, subject: &AggregationSubject) -> Result<Self> {
        check_format(text.format.as_deref())?;
        if text.has_offset {
            return Err(Error::unsupported("a sub-array at an offset in its file"));
        }
        let axes = axes(text, subject)?;
        if let (Some(axes), Some(shape)) = (&axes, &text.shape)
            && axes.len() != shape.len()
        {
            let message = format!("a sub-array of shape {shape:?} with {} dimensions", axes.len());
            return Err(Error::malformed(message));
        }
        let units = (text.units.is_some() || text.calendar.is_some()).then(|| FragmentUnits {
            units: text.units.as_deref().map(Arc::from),
            calendar: text.calendar.as_deref().map(Arc::from),
        });
        let (outside, inside) = variables(text, subject)?;
        Ok(Self { outside, inside, shape: text.shape.clone(), axes, units })
    }
}

/// Possible names of the sub-array: S3netCDF4 repeats the group of the variable in the dataset (docs/spec/cfa.md
/// 3.3).
fn variables(
    text: &FormText,
    subject: &AggregationSubject,
) -> Result<(Vec<FragmentVariable>, Vec<FragmentVariable>)> {
    let Some(name) = text.ncvar.as_ref().filter(|name| !name.is_empty()) else {
        let number =
            text.varid.ok_or_else(|| Error::malformed("a sub-array with neither ncvar nor varid"))?;
        let variables = vec![FragmentVariable::Number(number)];
        return Ok((variables.clone(), variables));
    };
    let name = name.trim_start_matches('/');
    let group = &subject.group_path;
    let mut outside = vec![FragmentVariable::Path(Arc::from(format!("/{name}")))];
    if group.as_ref() != "/" {
        outside.push(FragmentVariable::Path(Arc::from(format!("{group}/{name}"))));
    }
    let mut inside = outside.clone();
    inside.reverse();
    outside.push(FragmentVariable::Search { group: Arc::clone(group), name: Arc::from(name) });
    Ok((outside, inside))
}

/// How the axes of the sub-array correspond to its place; `None` if not stated.
fn axes(text: &FormText, subject: &AggregationSubject) -> Result<Option<Vec<FragmentAxis>>> {
    let mut parts = text.part.as_deref().map(parts).transpose()?.flatten();
    if text.pdimensions.is_none() && parts.is_none() && text.reverse.is_empty() {
        return Ok(None);
    }
    let names = text.pdimensions.as_ref().unwrap_or(&subject.dimensions);
    if let Some(name) = text.reverse.iter().find(|name| !names.contains(name)) {
        return Err(Error::malformed(format!(
            "reverse has {name}, which is not a dimension of the sub-array"
        )));
    }
    if let Some(parts) = &parts
        && parts.len() != names.len()
    {
        let message = format!("a part with {} selections for {} dimensions", parts.len(), names.len());
        return Err(Error::malformed(message));
    }
    let mut axes: Vec<FragmentAxis> = Vec::with_capacity(names.len());
    for (at, name) in names.iter().enumerate() {
        let axis = subject.dimensions.iter().position(|other| other == name);
        if names.iter().skip(at + 1).any(|other| other == name) {
            return Err(Error::malformed(format!("pdimensions has {name} twice")));
        }
        let part = parts.as_mut().and_then(|parts| parts.get_mut(at));
        let part = part.map_or(FragmentPart::All, |part| std::mem::replace(part, FragmentPart::All));
        axes.push(FragmentAxis { axis, part, reversed: text.reverse.contains(name) });
    }
    Ok(Some(axes))
}

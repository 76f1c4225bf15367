//! What a master records: names as written, formats, and the convention.
use super::super::master::MasterOptions;
use super::super::names::{Naming, join, relative, resolve};
use super::super::relocate::{single_file_kind, terms, texts};
use ncirrus::{Dataset, Error, Kind, OpenOptions, Result, Session};
use ncirrus_aggregate::write::Convention;
use ncirrus_model::{Format, GroupId, Model, VarId};
use ncirrus_netcdf_view::formats;
use ncirrus_store::Url;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::Arc;

/// What the master records about the fragments of a variable, besides their location.
#[derive(Default)]
pub(super) struct FragmentMarks {
    /// Names as written, in row-major order; none in CFA-0.4.
    names: Vec<Arc<str>>,
    /// Formats in row-major order (CFA-0.5).
    formats: Vec<String>,
    /// Formats by names (CFA-0.4).
    formats_by_name: HashMap<String, String>,
    pub(super) substitutions: Vec<(String, String)>,
    /// Shape of the array of fragments, along all dimensions of the variable.
    pub(super) shape: Option<Vec<u64>>,
}

impl FragmentMarks {
    pub(super) fn of(raw: &Dataset, model: &Model, var: VarId) -> Result<Self> {
        let mut marks = Self::default();
        if let Some(json) = terms::text(model, var, "cfa_array") {
            marks.formats_by_name = formats_by_name(&json)?;
            marks.shape = shape_in(&json, &terms::text(model, var, "cfa_dimensions").unwrap_or_default());
        } else if let Some(held) = terms::names_of(model, var) {
            marks.shape = terms::text(model, var, "cfa_group").map(|_| model.shape(held));
            marks.names = texts(raw, model, held)?.into_iter().map(Arc::from).collect();
            marks.substitutions = terms::substitutions(model, held);
            let beside = |home: GroupId| model.variable_in(home, "format");
            if terms::text(model, var, "cfa_group").is_some()
                && let Some(formats) = model.variable_group(held).and_then(beside)
            {
                marks.formats = texts(raw, model, formats)?;
            }
        }
        Ok(marks)
    }

    /// The name as written.
    pub(super) fn name(&self, number: usize, count: usize) -> Option<Arc<str>> {
        self.names.get(number).filter(|_| self.names.len() == count).map(Arc::clone)
    }

    /// The format as S3netCDF4 names it.
    pub(super) fn format(&self, number: usize, count: usize, name: &str) -> &'static str {
        let listed = self.formats.get(number).filter(|_| self.formats.len() == count);
        let said = listed.or_else(|| self.formats_by_name.get(name));
        match said.map(|said| (&**said, formats::named(said))) {
            Some((_, Some(format))) => formats::name(format),
            Some(("netCDF", None)) => "netCDF",
            _ => formats::name(Format::NetCdf4),
        }
    }
}

/// The shape of the array of fragments in CFA-0.4, where it has all dimensions in their order.
fn shape_in(json: &str, dimensions: &str) -> Option<Vec<u64>> {
    let array: Value = serde_json::from_str(json).ok()?;
    let names =
        array.get("pmdimensions")?.as_array()?.iter().map(Value::as_str).collect::<Option<Vec<_>>>()?;
    if names != dimensions.split_whitespace().collect::<Vec<_>>() {
        return None;
    }
    array.get("pmshape")?.as_array()?.iter().map(Value::as_u64).collect()
}

/// The formats of partitions by the names of their files (docs/spec/cfa.md 2.2, 2.3).
fn formats_by_name(json: &str) -> Result<HashMap<String, String>> {
    let array: Value =
        serde_json::from_str(json).map_err(|error| Error::malformed(format!("cfa_array: {error}")))?;
    let base = array.get("base").and_then(Value::as_str);
    let partitions = array.get("Partitions").and_then(Value::as_array);
    let format = |partition: &Value| {
        let subarray = partition.get("subarray").or_else(|| partition.get("data"))?;
        let format = subarray.get("format").or_else(|| partition.get("format"))?.as_str()?;
        let file = subarray.get("file")?.as_str()?;
        let name = base.map_or_else(|| file.to_owned(), |base| join(base, file));
        Some((name, format.to_owned()))
    };
    Ok(partitions.into_iter().flatten().filter_map(format).collect())
}

/// Options with which an existing master would be written as it is.
///
/// # Errors
/// `NotFound`; `Invalid` if it has no aggregated variables.
pub fn master_options(url: &str, session: &Session) -> Result<MasterOptions> {
    let raw = Dataset::open_with(url, &OpenOptions::new().raw(true), session)?;
    let model = raw.model()?;
    let var = model.variables().into_iter().find(|var| terms::is_aggregated(&model, *var));
    let var = var.ok_or_else(|| Error::invalid("it contains no aggregated variable").at_object(url))?;
    Ok(MasterOptions {
        convention: convention(&model, var),
        kind: Some(single_file_kind(&raw).unwrap_or(Kind::NcZarr)),
        naming: naming(url, &raw, &model, var)?,
        ..MasterOptions::default()
    })
}

/// The convention that describes a variable; drafts of CF-1.13 become CF-1.13.
fn convention(model: &Model, var: VarId) -> Convention {
    let has = |name: &str| terms::text(model, var, name);
    if has("cfa_array").is_some() {
        return Convention::Cfa04;
    }
    if has("cfa_group").is_some() {
        return Convention::Cfa05;
    }
    let data = has("aggregated_data").unwrap_or_default().to_ascii_lowercase();
    if data.split_whitespace().any(|word| word == "file:") { Convention::Cfa06 } else { Convention::Cf113 }
}

/// How names are written: as absolute names if they are not relative.
fn naming(url: &str, raw: &Dataset, model: &Model, var: VarId) -> Result<Naming> {
    let held = terms::names_of(model, var);
    if let Some((key, value)) = held.and_then(|held| terms::substitutions(model, held).into_iter().next()) {
        let base = key.trim_start_matches("${").trim_end_matches('}').to_owned();
        return Ok(Naming::Substitute { base, url: value });
    }
    let names = match (held, terms::text(model, var, "cfa_array")) {
        (Some(held), _) => texts(raw, model, held)?,
        (None, Some(json)) => formats_by_name(&json)?.into_keys().collect(),
        (None, None) => Vec::new(),
    };
    let master = Url::parse(url)?;
    for name in names.iter().filter(|name| name.contains("://")) {
        if relative(&master, &resolve(url, name)?)?.is_some() {
            return Ok(Naming::Absolute);
        }
    }
    Ok(Naming::Relative)
}

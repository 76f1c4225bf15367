//! What kind of dataset a text becomes, and how its variables are stored.
use super::GenerateOptions;
use crate::FilterRule;
use crate::copy::{check_regular, storage_by_rules};
use ncirrus::{CreateOptions, Format, Kind, Result};
use ncirrus_cdl::parse::{CdlText, Definitions, FilterWords, ParseFailure};
use ncirrus_model::Model;
use ncirrus_store::Url;

/// The form in which the target's filters are described.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FilterTarget {
    /// Zarr's codecs.
    Zarr,
    /// HDF5's filters, or none.
    Other,
}

impl FilterTarget {
    pub(super) fn of(create: &CreateOptions) -> Self {
        match create.kind {
            Some(Kind::NcZarr | Kind::Zarr2 | Kind::Zarr3) => Self::Zarr,
            _ => Self::Other,
        }
    }
}

/// Puts the filters that the text names into the model. `_Codecs` lists the whole chain in Zarr's form: beside filters
/// in HDF5's form, as `ncdump -s` prints both, it counts for `Zarr` alone.
///
/// # Errors
/// The faults of all texts that name none.
pub(super) fn put_filters(
    text: &dyn CdlText,
    definitions: &Definitions,
    model: &mut Model,
    target: FilterTarget,
) -> std::result::Result<(), ParseFailure> {
    let mut faults = Vec::new();
    let (filters, codecs): (Vec<_>, Vec<_>) = definitions
        .filters
        .iter()
        .filter(|named| !named.text.is_empty())
        .partition(|named| named.words == FilterWords::Filter);
    for named in filters.into_iter().chain(codecs) {
        match FilterRule::parse(&format!("*,{}", named.text)) {
            Ok(rule) => {
                let Some(variable) = model.variable_mut(named.variable) else { continue };
                match named.words {
                    FilterWords::Filter => variable.filters.extend_from_slice(rule.filters()),
                    FilterWords::Codecs if target == FilterTarget::Zarr || variable.filters.is_empty() => {
                        variable.filters = rule.filters().to_vec();
                    }
                    FilterWords::Codecs => {}
                }
            }
            Err(error) => faults.push(named.fault(text, error.message())),
        }
    }
    if faults.is_empty() { Ok(()) } else { Err(ParseFailure::Faults(faults)) }
}

/// Chunks and filters that the options choose.
///
/// # Errors
/// When a rule for chunks does not fit its variable.
pub(super) fn apply_rules(model: &mut Model, options: &GenerateOptions<'_>) -> Result<()> {
    for id in model.variables() {
        check_regular(&options.chunks)?;
        let storage = storage_by_rules(&options.chunks, model, id)?;
        let filters = FilterRule::choose(&options.filter_rules, model, id).map(<[_]>::to_vec);
        if let Some(variable) = model.variable_mut(id) {
            if let Some(storage) = storage {
                variable.storage = storage;
            }
            if let Some(filters) = filters {
                variable.filters = filters;
            }
        }
    }
    Ok(())
}

/// The kind: as chosen, as the target's mode or name says, and where that is only netCDF, as the text says.
///
/// # Errors
/// If the text and the target do not determine it.
pub(super) fn decide(
    definitions: &Definitions,
    model: &Model,
    target: &str,
    options: &GenerateOptions<'_>,
) -> Result<CreateOptions> {
    let mut create = options.create.clone();
    if let Some(kind) = CreateOptions::netcdf_c_kind(target).filter(|_| options.kind_by_text) {
        return create.kind(kind).for_model(target, model, false);
    }
    let has_mode = Url::parse(target)?.fragment().modes().iter().next().is_some();
    let (by_text, named) = (options.kind_by_text && !has_mode, create.kind);
    if options.kind_by_text && has_mode {
        create.kind = None;
    }
    if create.kind.is_none() && (by_text || says_only_netcdf(target)?) {
        create.kind = match definitions.format {
            Some(format) => Some(kind_of_format(format)),
            None if definitions.chosen_storage => Some(Kind::Nc4),
            None => None,
        };
    }
    // A name that says netCDF and nothing else.
    let decided = create.clone().for_model(if by_text { "x.nc" } else { target }, model, false);
    // A mode may say where a dataset is, but not what it is.
    if let (Err(_), Some(_)) = (&decided, named) {
        create.kind = named;
        return create.for_model(target, model, false);
    }
    decided
}

/// The kind that a format's name means.
pub fn kind_of_format(format: Format) -> Kind {
    match format {
        Format::Classic => Kind::Nc3,
        Format::Offset64 => Kind::Nc6,
        Format::Data64 => Kind::Nc5,
        Format::NetCdf4 => Kind::Nc4,
        Format::NetCdf4Classic => Kind::Nc4Classic,
    }
}

/// Whether a target is a netCDF file of any kind by its name.
fn says_only_netcdf(target: &str) -> Result<bool> {
    let url = Url::parse(target)?;
    let name = url.path().to_ascii_lowercase();
    let is_netcdf = [".nc", ".cdf", ".netcdf"].iter().any(|ending| name.ends_with(ending));
    Ok(is_netcdf && url.fragment().modes().iter().next().is_none())
}

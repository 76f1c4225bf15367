//! Packed variables in copies to Zarr v3: by codecs instead of attributes.
use super::CopyOptions;
use ncirrus::{CreateOptions, Error, Kind, Result};
use ncirrus_model::{Model, VarId};

/// How packed variables (`scale_factor`, `add_offset`) are stored in Zarr v3.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PackingForm {
    /// As integers with these attributes.
    #[default]
    Attributes,
    /// As floats with the codecs `scale_offset` and `cast_value`, which store the same integers: readers without CF see floats.
    Codecs,
}

/// Gives a packed variable of the copy codecs in place of its attributes, if that is requested.
///
/// # Errors
/// `Unsupported` with the reason if codecs do not give the same numbers; `Invalid` if the copy is not Zarr v3.
pub(super) fn apply(
    options: &CopyOptions<'_>,
    copy: &mut Model,
    var: VarId,
    create: &CreateOptions,
) -> Result<()> {
    if options.packing != PackingForm::Codecs {
        return Ok(());
    }
    if create.kind != Some(Kind::Zarr3) {
        return Err(Error::invalid("numbers are only packed by codecs in Zarr v3 (zarr3)"));
    }
    let path = copy.variable_path(var);
    let Some(variable) = copy.variable_mut(var) else { return Ok(()) };
    let is_packed = matches!(variable.extended, Some(ncirrus_model::ExtendedType::Packed { .. }));
    if is_packed {
        return Ok(());
    }
    match ncirrus_zarr::by_codecs(variable) {
        Ok(None) => Ok(()),
        Ok(packed) => {
            variable.extended = packed;
            Ok(())
        }
        Err(reason) => {
            Err(Error::unsupported(format!("packing by codecs of Zarr v3: {reason}")).at_path(path))
        }
    }
}

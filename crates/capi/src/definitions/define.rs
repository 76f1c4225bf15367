//! Definitions: dimensions, groups, variables and their names; define mode and data mode.
use crate::c_types::codes::{
    Code, NC_EBADDIM, NC_EBADGRPID, NC_EBADNAME, NC_EBADTYPE, NC_EDIMSIZE, NC_EGLOBAL, NC_EINDEFINE,
    NC_EINVAL, NC_EMAXDIMS, NC_EMAXNAME, NC_ENAMEINUSE, NC_ENOTINDEFINE, NC_ENOTVAR, NC_EPERM, NC_ESTRICTNC3,
    NC_EUNLIMIT, NC_EUNLIMPOS, NC_EVARSIZE, Outcome,
};
use crate::c_types::memory::{CText, In, Out};
use crate::definitions::layouts;
use crate::definitions::room::room_of;
use crate::files::file_edit::FileEdit;
use crate::files::members::atomic_of;
use crate::files::{GLOBAL, edit, number};
use ncirrus::model::{Dimension, NAME_MAX_BYTES, Stored, Variable, check_name, normalize_name};
use ncirrus::netcdf::{fits_variables, formats};
use ncirrus::{Atomic, DefaultChunks, DimId, DimensionLen, Fill, GroupId, Model, Storage, TypeRef, VarId};
use std::ffi::c_int;

/// Dimensions of a variable of netCDF-4.
const MAX_DIMS: c_int = 32;
/// `NC_MAX_VAR_DIMS`.
const MAX_CLASSIC_DIMS: usize = 1024;
/// `NC_NOFILL`.
const NOFILL: c_int = 0x100;

/// A name for something new, normalized.
///
/// # Errors
/// `NC_EINVAL` for a null pointer, `NC_EMAXNAME`, `NC_EBADNAME`.
pub(crate) fn new_name(name: &CText) -> Outcome<String> {
    let bytes = name.bytes()?;
    if bytes.len() > NAME_MAX_BYTES {
        return Err(Code(NC_EMAXNAME));
    }
    let text = std::str::from_utf8(bytes).map_err(|_| Code(NC_EBADNAME))?;
    check_name(text).map_err(|_| Code(NC_EBADNAME))
}

/// A name that is looked up, normalized.
///
/// # Errors
/// `NC_EINVAL` for a null pointer, `NC_EBADNAME` for a name that is not UTF-8.
pub(crate) fn known_name(name: &CText) -> Outcome<String> {
    let text = std::str::from_utf8(name.bytes()?).map_err(|_| Code(NC_EBADNAME))?;
    Ok(normalize_name(text))
}

/// Whether a name that is looked up may be one; a null pointer is refused elsewhere.
///
/// # Errors
/// `NC_EMAXNAME` in netCDF-4, where classic files have no such name.
pub(crate) fn check_sought(is_classic: bool, name: &CText) -> Outcome<()> {
    let is_too_long = !is_classic && name.bytes().is_ok_and(|bytes| bytes.len() > NAME_MAX_BYTES);
    if is_too_long { Err(Code(NC_EMAXNAME)) } else { Ok(()) }
}

/// `nc_redef`.
pub(crate) fn redef(ncid: c_int) -> Outcome<()> {
    edit(ncid, |edit| {
        let is_strict = edit.file.core.format.is_strict();
        if edit.is_classic() {
            edit.check_writable()?;
        }
        if edit.state.is_defining {
            return if is_strict { Err(Code(NC_EINDEFINE)) } else { Ok(()) };
        }
        edit.check_writable()?;
        // What was changed in data mode stays, whatever becomes of the definitions to come.
        edit.state.pass_on()?;
        edit.state.is_defining = true;
        Ok(())
    })
}

/// `nc_enddef`, `nc__enddef`: how much is left free after the header and after the variables of a classic file, and of what the places of
/// the variables and of the records are multiples.
pub(crate) fn enddef_padded(
    ncid: c_int,
    header_free: usize,
    align: usize,
    free: usize,
    record_align: usize,
) -> Outcome<()> {
    edit(ncid, |edit| {
        if !edit.state.is_defining {
            // Datasets on servers are never defined: DAP2 reports that, DAP4 has nothing to end.
            return match edit.file.core.format.kind.stored {
                Stored::Dap2 => Err(Code(NC_EPERM)),
                Stored::Dap4 => Ok(()),
                Stored::Classic | Stored::Hdf5 | Stored::Zarr(_) => Err(Code(NC_ENOTINDEFINE)),
            };
        }
        if !edit.is_classic() {
            return edit.state.end_definitions();
        }
        if !fits_variables(edit.model(), edit.file.core.format.netcdf()) {
            return Err(Code(NC_EVARSIZE));
        }
        check_fill_values(edit)?;
        edit.state.end_definitions_in(room_of(header_free, align, free, record_align)?)
    })
}

/// `nc_def_dim`.
pub(crate) fn def_dim(ncid: c_int, name: CText, len: usize, id: Out<c_int>) -> Outcome<()> {
    edit(ncid, |edit| {
        // Only a new unlimited dimension is compared with all others.
        let is_second_unlimited = len == 0 && has_unlimited(edit);
        if !edit.is_classic() {
            edit.check_writable()?;
        }
        if edit.is_classic_model() && is_second_unlimited {
            return Err(Code(NC_EUNLIMIT));
        }
        if edit.is_classic_model() || edit.is_classic() {
            edit.enter_define_mode()?;
        }
        let name = new_name(&name)?;
        check_dim_len(edit, len)?;
        if edit.is_classic() && is_second_unlimited {
            return Err(Code(NC_EUNLIMIT));
        }
        edit.enter_define_mode()?;
        if edit.model().dimension_in(edit.group, &name).is_some() {
            return Err(Code(NC_ENAMEINUSE));
        }
        let len = if len == 0 { DimensionLen::Unlimited(0) } else { DimensionLen::Fixed(len as u64) };
        let group = edit.group;
        let members = edit.members_mut();
        let dim = members.model_mut().insert_dimension(group, Dimension { name, len });
        let new = members.add_dim(dim.map_err(|_| Code(NC_EBADGRPID))?);
        id.store(new)
    })
}

fn has_unlimited(edit: &FileEdit<'_>) -> bool {
    let dims = edit.model().group(edit.group).map(|group| group.dims.as_slice()).unwrap_or_default();
    dims.iter().any(|dim| edit.model().dimension(*dim).is_some_and(|dim| dim.len.is_unlimited()))
}

/// Lengths that the format can hold.
fn check_dim_len(edit: &FileEdit<'_>, len: usize) -> Outcome<()> {
    let limit = formats::max_dimension_len(edit.file.core.format.netcdf());
    if len as u64 > limit { Err(Code(NC_EDIMSIZE)) } else { Ok(()) }
}

/// Whether a name is free for a variable, type or group.
///
/// # Errors
/// `NC_ENAMEINUSE`.
pub(crate) fn check_free(model: &Model, group: GroupId, name: &str) -> Outcome<()> {
    let taken = model.variable_in(group, name).is_some()
        || model.type_in(group, name).is_some()
        || model.subgroup(group, name).is_some();
    if taken { Err(Code(NC_ENAMEINUSE)) } else { Ok(()) }
}

/// `nc_def_var`.
pub(crate) fn def_var(
    ncid: c_int,
    name: CText,
    ty: c_int,
    rank: c_int,
    dims: In<c_int>,
    varid: Out<c_int>,
) -> Outcome<()> {
    edit(ncid, |edit| {
        let is_classic = edit.is_classic();
        if !is_classic && rank > MAX_DIMS {
            return Err(Code(NC_EMAXDIMS));
        }
        edit.enter_define_mode()?;
        let name = new_name(&name)?;
        let ty = if is_classic { classic_type(edit, ty)? } else { ty };
        if ty == 0 {
            return Err(Code(NC_EBADTYPE));
        }
        if edit.is_classic_model() && ty > c_int::from(Atomic::Double.number()) {
            return Err(Code(NC_ESTRICTNC3));
        }
        let rank = usize::try_from(rank).map_err(|_| Code(NC_EINVAL))?;
        if rank > MAX_CLASSIC_DIMS {
            return Err(Code(NC_EMAXDIMS));
        }
        check_free(edit.model(), edit.group, &name)?;
        if rank > 0 && dims.is_null() {
            return Err(Code(NC_EINVAL));
        }
        let numbers = dims.read(rank)?.iter().enumerate();
        let dims = numbers.map(|(axis, dim)| dim_of_axis(edit, axis, *dim)).collect::<Outcome<Vec<_>>>()?;
        if ty < 0 {
            return Err(Code(NC_EINVAL));
        }
        let ty = edit.members().ty(ty)?;
        let mut variable = Variable::new(name, ty, dims);
        variable.storage = default_storage(edit, &variable);
        let is_number = matches!(ty, TypeRef::Atomic(atomic) if atomic != Atomic::String);
        if !edit.state.fills && is_number {
            variable.fill = Fill::None;
        }
        let group = edit.group;
        let id = edit.model_mut().insert_variable(group, variable).map_err(|_| Code(NC_EBADGRPID))?;
        edit.state.defined.push(id);
        let count = edit.model().group(group).map_or(0, |group| group.vars.len());
        varid.store(number(count.saturating_sub(1)))
    })
}

/// The elements of new variables of a classic file are filled with what is called their fill value: it is one value of their type.
fn check_fill_values(edit: &FileEdit<'_>) -> Outcome<()> {
    let is_wrong = |var: &VarId| {
        let Some(variable) = edit.model().variable(*var) else { return false };
        let is_named = variable.attributes.known().is_some_and(|list| list.find("_FillValue").is_some());
        let has_elements = edit.model().growing(*var).first() != Some(&true)
            || edit.model().shape(*var).first().is_some_and(|records| *records > 0);
        let is_new = !edit.state.stored.contains(var) && variable.is_filled();
        is_new && has_elements && is_named && variable.fill_attribute().is_none()
    };
    if edit.model().variables().iter().any(is_wrong) { Err(Code(NC_EBADTYPE)) } else { Ok(()) }
}

/// A type that a classic format has.
fn classic_type(edit: &FileEdit<'_>, ty: c_int) -> Outcome<c_int> {
    let known = atomic_of(ty).filter(|atomic| edit.file.core.format.netcdf().holds(*atomic));
    known.map(|_| ty).ok_or(Code(NC_EBADTYPE))
}

/// The dimension of an axis: in classic files only the first one grows.
fn dim_of_axis(edit: &FileEdit<'_>, axis: usize, number: c_int) -> Outcome<DimId> {
    let dim = visible_dim(edit, number)?;
    let grows = edit.model().dimension(dim).is_some_and(|dim| dim.len.is_unlimited());
    if axis > 0 && grows && edit.is_classic() { Err(Code(NC_EUNLIMPOS)) } else { Ok(dim) }
}

/// A dimension of the group or of those around it.
fn visible_dim(edit: &FileEdit<'_>, number: c_int) -> Outcome<DimId> {
    let dim = edit.members().dim(number)?;
    let home = edit.model().dimension_group(dim).ok_or(Code(NC_EBADDIM))?;
    if edit.model().scope(edit.group).contains(&home) { Ok(dim) } else { Err(Code(NC_EBADDIM)) }
}

/// How a new variable is stored: in chunks where it grows, and always in Zarr unless it is a scalar.
fn default_storage(edit: &FileEdit<'_>, variable: &Variable) -> Storage {
    let axes = axes_of(edit.model(), variable);
    let is_chunked = edit.file.is_zarr() && !axes.is_empty() || axes.iter().any(|axis| axis.is_unlimited());
    if edit.is_classic() || !is_chunked {
        return Storage::Default;
    }
    Storage::Chunked(default_chunks(edit, variable))
}

fn axes_of(model: &Model, variable: &Variable) -> Vec<DimensionLen> {
    variable.dims.iter().filter_map(|dim| model.dimension(*dim)).map(|dim| dim.len).collect()
}

/// The chunks of a variable for which none were chosen.
pub(crate) fn default_chunks(edit: &FileEdit<'_>, variable: &Variable) -> Vec<u64> {
    let element = layouts::size_of_type(edit.members(), variable.ty).map_or(1, |size| size.len);
    DefaultChunks::NetcdfC.shape(&axes_of(edit.model(), variable), element as u64)
}

/// `nc_def_grp`.
pub(crate) fn def_grp(ncid: c_int, name: CText, id: Out<c_int>) -> Outcome<()> {
    edit(ncid, |edit| {
        edit.file.check_netcdf4()?;
        let name = new_name(&name)?;
        check_free(edit.model(), edit.group, &name)?;
        if edit.is_classic_model() {
            return Err(Code(NC_ESTRICTNC3));
        }
        edit.enter_define_mode()?;
        let parent = edit.group;
        let members = edit.members_mut();
        let group = members.model_mut().insert_group(parent, name).map_err(|_| Code(NC_EBADGRPID))?;
        let number = members.add_group(group);
        id.store(edit.first_id | number)
    })
}

/// `nc_rename_dim`.
pub(crate) fn rename_dim(ncid: c_int, dim: c_int, name: CText) -> Outcome<()> {
    edit(ncid, |edit| {
        edit.check_writable()?;
        let name = new_name(&name)?;
        // In netCDF-4 it may be one of another group.
        let found = edit.members().dim(dim);
        let of = |id: DimId| edit.model().dimension_group(id).ok_or(Code(NC_EBADDIM));
        let group = if edit.is_classic() { edit.group } else { found.and_then(of)? };
        if [group, edit.group].into_iter().any(|group| edit.model().dimension_in(group, &name).is_some()) {
            return Err(Code(NC_ENAMEINUSE));
        }
        let id = found?;
        let old = edit.model().dimension(id).map(|dim| dim.name.clone()).unwrap_or_default();
        if edit.is_classic() {
            check_longer(edit, &old, &name)?;
        }
        edit.model_mut().rename_dimension(id, &name).map_err(|_| Code(NC_EBADNAME))
    })
}

/// In data mode a name of a classic file can only be replaced by one that is not longer.
///
/// # Errors
/// `NC_ENOTINDEFINE`.
pub(crate) fn check_longer(edit: &FileEdit<'_>, old: &str, new: &str) -> Outcome<()> {
    if edit.state.is_defining || !edit.file.core.format.is_strict() || new.len() <= old.len() {
        return Ok(());
    }
    Err(Code(NC_ENOTINDEFINE))
}

/// `nc_rename_var`.
pub(crate) fn rename_var(ncid: c_int, varid: c_int, name: CText) -> Outcome<()> {
    edit(ncid, |edit| {
        edit.check_writable()?;
        let name = new_name(&name)?;
        if !edit.is_classic() {
            variable_id(edit, varid)?;
        }
        check_free(edit.model(), edit.group, &name)?;
        if edit.is_classic() && varid == GLOBAL {
            return Err(Code(NC_EGLOBAL));
        }
        let id = variable_id(edit, varid)?;
        let old = edit.model().variable(id).map(|variable| variable.name.clone()).unwrap_or_default();
        check_longer(edit, &old, &name)?;
        edit.model_mut().rename_variable(id, &name).map_err(|_| Code(NC_EBADNAME))
    })
}

/// `nc_rename_grp`.
pub(crate) fn rename_grp(ncid: c_int, name: CText) -> Outcome<()> {
    edit(ncid, |edit| {
        edit.file.check_netcdf4()?;
        edit.check_writable()?;
        let parent = edit.model().group(edit.group).and_then(|group| group.parent);
        let parent = parent.ok_or(Code(NC_EBADGRPID))?;
        let name = new_name(&name)?;
        check_free(edit.model(), parent, &name)?;
        edit.enter_define_mode()?;
        let group = edit.group;
        edit.model_mut().rename_group(group, &name).map_err(|_| Code(NC_EBADNAME))
    })
}

/// The variable with a number in the group of the call.
///
/// # Errors
/// `NC_ENOTVAR`.
pub(crate) fn variable_id(edit: &FileEdit<'_>, varid: c_int) -> Outcome<VarId> {
    let group = edit.model().group(edit.group).ok_or(Code(NC_EBADGRPID))?;
    crate::files::member(&group.vars, varid).ok_or(Code(NC_ENOTVAR))
}

/// `nc_set_fill`: whether new variables have fill values.
pub(crate) fn set_fill(ncid: c_int, mode: c_int, old: Out<c_int>) -> Outcome<()> {
    edit(ncid, |edit| {
        edit.check_writable()?;
        if mode != 0 && mode != NOFILL {
            return Err(Code(NC_EINVAL));
        }
        old.set(if edit.state.fills { 0 } else { NOFILL });
        edit.state.fills = mode == 0;
        if edit.is_classic() {
            for var in edit.model().variables() {
                if edit.state.stored.contains(&var) {
                    // The stored variable does not change, but the new mode is reported for it.
                    edit.state.told_no_fill.insert(var, mode != 0);
                } else {
                    set_no_fill(edit, var, mode != 0);
                }
            }
        }
        Ok(())
    })
}

/// Whether the elements of a variable that are never written have a value.
pub(crate) fn set_no_fill(edit: &mut FileEdit<'_>, var: VarId, no_fill: bool) {
    if let Some(variable) = edit.model_mut().variable_mut(var) {
        variable.fill = if no_fill { Fill::None } else { Fill::Attribute };
    }
}

/// The type of a variable.
///
/// # Errors
/// `NC_ENOTVAR`.
pub(crate) fn type_of(edit: &FileEdit<'_>, var: VarId) -> Outcome<TypeRef> {
    Ok(edit.model().variable(var).ok_or(Code(NC_ENOTVAR))?.ty)
}

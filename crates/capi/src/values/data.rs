//! Reading values.
use crate::c_types::codes::{Code, NC_EBADTYPE, NC_EHDFERR, NC_EINVAL, NC_ENOMEM, Outcome};
use crate::c_types::memory::{BytesOut, In};
use crate::definitions::layouts;
use crate::files::members::FileMembers;
use crate::files::{self, FileGroup, OpenFile};
use crate::opening::open;
use crate::programs::user_calls;
use crate::programs::user_formats::table_of;
use crate::rules::convert;
use crate::rules::slab_checks;
pub(crate) use crate::rules::slabs::CSlab;
use crate::rules::slabs::{Slab, SlabAccess, SlabCall, SlabMemory};
use crate::values::small_reads;
use ncirrus::netcdf::casts;
use ncirrus::netcdf::slabs::MappedPlaces;
use ncirrus::{Atomic, TypeRef, Values, VarId};
use std::ffi::c_int;

/// Reads values as they are: of the variable's own type, in C's layout.
fn read_native(
    at: &FileGroup,
    variable: &ncirrus::Variable,
    ty: TypeRef,
    slab: &Slab,
    mut out: BytesOut,
) -> Outcome<()> {
    let count = slab.element_count()?;
    let element = layouts::size_of_type(&at.members, ty)?.len;
    let is_plain = match ty {
        TypeRef::Atomic(atomic) => atomic != Atomic::String,
        TypeRef::User(_) => at.model().base_atomic(ty).is_some(),
    };
    if is_plain {
        if count > 0 && out.is_null() && at.file.is_hdf5() {
            return Err(Code(NC_EHDFERR));
        }
        let len = count.checked_mul(element).ok_or(Code(NC_ENOMEM))?;
        let read = variable.read_bytes_into(&slab.selection, out.slice(len)?);
        return read.map_err(|error| at.file.core.format.code_of_reading(error));
    }
    if count > 0 && out.is_null() {
        return Err(Code(NC_EINVAL));
    }
    let values = values_of(at, variable, slab)?;
    out.write(&layouts::image(&at.members, ty, &values)?)
}

/// Values that become those of another type: of DAP2 in the type that the server sent, which netCDF-3 may not have.
fn values_to_convert(at: &FileGroup, variable: &ncirrus::Variable, slab: &Slab) -> Outcome<Values> {
    let values = values_of(at, variable, slab)?;
    Ok(if is_sent_unsigned(at, variable.id())? { casts::without_sign(values) } else { values })
}

fn is_sent_unsigned(at: &FileGroup, id: VarId) -> Outcome<bool> {
    Ok(at.file.core.format.is_dap2() && at.settled()?.variable_by_id(id).is_unsigned_at_source())
}

fn values_of(at: &FileGroup, variable: &ncirrus::Variable, slab: &Slab) -> Outcome<Values> {
    variable.values(&slab.selection).map_err(|error| at.file.core.format.code_of_reading(error))
}

/// Reads values as another type.
fn read_as(
    at: &FileGroup,
    variable: &ncirrus::Variable,
    slab: &Slab,
    (ty, to): (TypeRef, Atomic),
    out: BytesOut,
) -> Outcome<()> {
    let base = at.model().base_atomic(ty).ok_or(Code(NC_EBADTYPE))?;
    if base == to {
        return read_native(at, variable, ty, slab, out);
    }
    // Text and numbers are told apart before anything is read.
    convert::check(base, to)?;
    let values = values_to_convert(at, variable, slab)?;
    write_converted(&at.file, &at.members, &values, to, out)
}

/// Writes values to the program's memory as another type; what does not fit is an error after all were converted.
///
/// # Errors
/// Those of converting.
pub(crate) fn write_converted(
    file: &OpenFile,
    members: &FileMembers,
    values: &Values,
    to: Atomic,
    out: BytesOut,
) -> Outcome<()> {
    let stored = convert::stored(file, values, to);
    let (values, ended) = convert::to_memory(file, values, to)?;
    let image = layouts::image(members, to.into(), &values)?;
    let Some(stored) = stored.filter(|_| ended.is_err()) else {
        out.write(&image)?;
        return ended;
    };
    let element = to.byte_len().unwrap_or(1);
    for (index, (bytes, is_stored)) in image.chunks_exact(element).zip(stored).enumerate() {
        if is_stored {
            out.write_at(index.saturating_mul(element), bytes)?;
        }
    }
    ended
}

/// Reads a slab, or the whole variable; as another type, if one is given.
pub(crate) fn get(
    ncid: c_int,
    varid: c_int,
    slab: Option<CSlab>,
    memory: Option<Atomic>,
    out: BytesOut,
) -> Outcome<()> {
    if let Some(table) = table_of(ncid) {
        return user_calls::transfer(&table, (ncid, varid), slab, None, memory, SlabMemory::Read(out));
    }
    if slab.is_some_and(|slab| small_reads::copied(ncid, varid, &slab, memory, out)) {
        return Ok(());
    }
    let call = SlabCall { slab, map: None, memory, writes: false };
    let handle = files::handle_of(ncid)?;
    open::follow_others(ncid, &handle.file)?;
    let _in_use = handle.file.core.in_use();
    let stamp = files::stamp(ncid);
    let access = slab_checks::access(handle.group()?, varid, &call)?;
    read(&access, memory, out)?;
    // What is remembered is converted from the variable's own type.
    if !is_sent_unsigned(&access.at, access.id)? {
        small_reads::remember(ncid, varid, &access, memory, stamp);
    }
    Ok(())
}

fn read(access: &SlabAccess, memory: Option<Atomic>, out: BytesOut) -> Outcome<()> {
    if access.is_nothing {
        return Ok(());
    }
    let variable = access.at.settled()?.variable_by_id(access.id);
    match memory {
        Some(to) => read_as(&access.at, &variable, &access.slab, (access.ty, to), out),
        None => read_native(&access.at, &variable, access.ty, &access.slab, out),
    }
}

/// Reads a slab into memory with a distance per axis, counted in elements.
pub(crate) fn get_mapped(
    ncid: c_int,
    varid: c_int,
    slab: CSlab,
    map: In<isize>,
    memory: Option<Atomic>,
    out: BytesOut,
) -> Outcome<()> {
    if let Some(table) = table_of(ncid) {
        let (slab, map, memory_of_call) = (Some(slab), Some(map), SlabMemory::Read(out));
        return user_calls::transfer(&table, (ncid, varid), slab, map, memory, memory_of_call);
    }
    let call = SlabCall { slab: Some(slab), map: Some(map), memory, writes: false };
    let handle = files::handle_of(ncid)?;
    open::follow_others(ncid, &handle.file)?;
    let _in_use = handle.file.core.in_use();
    let access = slab_checks::access(handle.group()?, varid, &call)?;
    if map.is_null() || access.slab.counts.is_empty() || access.is_nothing {
        return read(&access, memory, out);
    }
    let SlabAccess { at, ty, slab, .. } = &access;
    let base = at.model().base_atomic(*ty).ok_or(Code(crate::c_types::codes::NC_EMAPTYPE))?;
    let to = memory.unwrap_or(base);
    if out.is_null() && to == base && at.file.is_hdf5() && slab.element_count()? > 0 {
        return Err(Code(NC_EHDFERR));
    }
    let distances = map.read(slab.counts.len())?;
    let variable = at.settled()?.variable_by_id(access.id);
    let values =
        if to == base { values_of(at, &variable, slab)? } else { values_to_convert(at, &variable, slab)? };
    let (values, ended) = convert::to_memory(&at.file, &values, to)?;
    let element = layouts::size_of_type(&at.members, to.into())?.len;
    let image = layouts::image(&at.members, to.into(), &values)?;
    let mut places = MappedPlaces::new(&slab.counts, distances, element);
    for bytes in image.chunks_exact(element.max(1)) {
        out.at(places.step().ok_or(Code(NC_EINVAL))?).write(bytes)?;
    }
    ended
}

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
use crate::rules::slabs::{Slab, SlabAccess, SlabCall};
use crate::values::memory_type::ReadMemory;
use crate::values::small_reads;
use ncirrus::netcdf::casts;
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
        return user_calls::get(&table, (ncid, varid), slab, memory, out);
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

/// Reads a slab whose elements stand in memory at distances of their own, counted in elements.
pub(crate) fn get_mapped(
    ncid: c_int,
    varid: c_int,
    slab: CSlab,
    map: In<isize>,
    memory: Option<Atomic>,
    out: BytesOut,
) -> Outcome<()> {
    if let Some(table) = table_of(ncid) {
        let (count, stride) = (slab.count.unwrap_or(In::none()), slab.stride.unwrap_or(In::none()));
        let ty = memory.map_or(0, user_calls::number_of);
        return table.get_varm(ncid, varid, slab.start, count, stride, map, out, ty);
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
    let mut places = MappedPlaces::new(&slab.counts, distances, element)?;
    for bytes in image.chunks_exact(element.max(1)) {
        out.at(places.step()?).write(bytes)?;
    }
    ended
}

/// Where the elements of a slab stand in the program's memory: some bytes after its pointer, or before it, as a program that turns
/// an axis around passes the address of its last element.
#[derive(Debug)]
pub(crate) struct MappedPlaces<'a> {
    counts: &'a [usize],
    /// In elements, by axis.
    distances: &'a [isize],
    element_len: isize,
    /// Those of the next element.
    indices: Vec<usize>,
}

impl<'a> MappedPlaces<'a> {
    /// The places of elements of some bytes, at these distances.
    ///
    /// # Errors
    /// `NC_EINVAL` for elements that no memory has.
    pub(crate) fn new(counts: &'a [usize], distances: &'a [isize], element_len: usize) -> Outcome<Self> {
        let element_len = isize::try_from(element_len).map_err(|_| Code(NC_EINVAL))?;
        Ok(Self { counts, distances, element_len, indices: vec![0; counts.len()] })
    }

    /// The place of the next element in bytes; after the last one, that of the first one again.
    ///
    /// # Errors
    /// `NC_EINVAL` for a place that no number counts.
    pub(crate) fn step(&mut self) -> Outcome<isize> {
        let place = self.place().ok_or(Code(NC_EINVAL))?;
        for (index, count) in self.indices.iter_mut().zip(self.counts).rev() {
            *index += 1;
            if *index < *count {
                break;
            }
            *index = 0;
        }
        Ok(place)
    }

    fn place(&self) -> Option<isize> {
        let mut axes = self.indices.iter().zip(self.distances);
        let elements = axes.try_fold(0isize, |sum, (index, distance)| {
            sum.checked_add(isize::try_from(*index).ok()?.checked_mul(*distance)?)
        })?;
        elements.checked_mul(self.element_len)
    }
}

/// `nc_get_var` and its kin: all values.
pub(crate) fn get_var<M: ReadMemory>(ncid: c_int, varid: c_int, out: M) -> Outcome<()> {
    get(ncid, varid, None, M::TYPE, out.bytes())
}

/// `nc_get_var1` and its kin: one value.
pub(crate) fn get_var1<M: ReadMemory>(ncid: c_int, varid: c_int, start: In<usize>, out: M) -> Outcome<()> {
    get(ncid, varid, Some(CSlab::one(start)), M::TYPE, out.bytes())
}

/// `nc_get_vara` and its kin: a box of values.
pub(crate) fn get_vara<M: ReadMemory>(
    ncid: c_int,
    varid: c_int,
    start: In<usize>,
    count: In<usize>,
    out: M,
) -> Outcome<()> {
    get(ncid, varid, Some(CSlab::of(start, count)), M::TYPE, out.bytes())
}

/// `nc_get_vars` and its kin: a box with strides.
pub(crate) fn get_vars<M: ReadMemory>(
    ncid: c_int,
    varid: c_int,
    start: In<usize>,
    count: In<usize>,
    stride: In<isize>,
    out: M,
) -> Outcome<()> {
    get(ncid, varid, Some(CSlab::strided(start, count, stride)), M::TYPE, out.bytes())
}

/// `nc_get_varm` and its kin: a box with strides, mapped to memory.
pub(crate) fn get_varm<M: ReadMemory>(
    ncid: c_int,
    varid: c_int,
    start: In<usize>,
    count: In<usize>,
    stride: In<isize>,
    map: In<isize>,
    out: M,
) -> Outcome<()> {
    get_mapped(ncid, varid, CSlab::strided(start, count, stride), map, M::TYPE, out.bytes())
}

//! What tables of user-defined formats have in the places for steps and maps (`NCDEFAULT_get_vars` and its kin): they call the
//! table's own `get_vara` and `put_vara` for each contiguous part of the slab.
use crate::c_types::codes::{Code, NC_EBADTYPE, NC_ECHAR, NC_EINVAL, NC_EINVALCOORDS, Outcome};
use crate::c_types::memory::{In, UserTable};
use crate::files::size;
use crate::programs::user_formats::table_of;
use crate::rules::slab_checks::coded;
use crate::rules::slabs::{CSlab, SlabMemory};
use crate::{files::members, programs::user_calls, values::data, values::put_data};
use ncirrus::Atomic;
use ncirrus::netcdf::slabs::{self, MappedPlaces, RequestedAxis};
use std::ffi::c_int;

/// A call for a variable of a user-defined format.
#[derive(Debug, Clone, Copy)]
struct DefaultCall<'a> {
    table: &'a UserTable,
    at: (c_int, c_int),
    memory: SlabMemory,
    /// The type in memory.
    ty: c_int,
    /// Bytes of an element in memory.
    element: usize,
}

/// Reads or writes a slab: by the program's table, or as the functions of netCDF do.
pub(crate) fn call(
    (ncid, varid): (c_int, c_int),
    slab: CSlab,
    map: Option<In<isize>>,
    memory: SlabMemory,
    ty: c_int,
) -> Outcome<()> {
    if let Some(table) = table_of(ncid) {
        return DefaultCall::new(&table, (ncid, varid), memory, ty)?.run(slab, map);
    }
    let ty = memory_type(ty)?;
    match (memory, map) {
        (SlabMemory::Read(out), None) => data::get(ncid, varid, Some(slab), ty, out),
        (SlabMemory::Read(out), Some(map)) => data::get_mapped(ncid, varid, slab, map, ty, out),
        (SlabMemory::Written(data), None) => put_data::put(ncid, varid, Some(slab), ty, data),
        (SlabMemory::Written(data), Some(map)) => put_data::put_mapped(ncid, varid, slab, map, ty, data),
    }
}

/// The atomic type that a number says; none for the variable's own.
fn memory_type(ty: c_int) -> Outcome<Option<Atomic>> {
    if ty == 0 {
        return Ok(None);
    }
    members::atomic_of(ty).map(Some).ok_or(Code(NC_EBADTYPE))
}

impl<'a> DefaultCall<'a> {
    /// # Errors
    /// `NC_ECHAR` for text and numbers, `NC_EBADTYPE`, and those of the table.
    fn new(table: &'a UserTable, at: (c_int, c_int), memory: SlabMemory, ty: c_int) -> Outcome<Self> {
        let own = user_calls::type_of(table, at.0, at.1)?;
        let ty = if ty == 0 { own } else { ty };
        let is_text = |ty: c_int| members::atomic_of(ty) == Some(Atomic::Char);
        if is_text(own) != is_text(ty) {
            return Err(Code(NC_ECHAR));
        }
        let element = match members::atomic_of(ty) {
            Some(atomic) => atomic.byte_len().unwrap_or(size_of::<usize>()),
            None if ty == own => user_calls::element_len(table, at.0, ty)?,
            None => return Err(Code(NC_EBADTYPE)),
        };
        Ok(Self { table, at, memory, ty, element })
    }

    fn run(&self, slab: CSlab, map: Option<In<isize>>) -> Outcome<()> {
        let dims = user_calls::dims(self.table, self.at.0, self.at.1)?;
        if dims.is_empty() {
            return self.transfer(slab.start, In::of(&[1]), 0);
        }
        let (axes, map) = (self.axes(&dims, slab)?, map.filter(|map| !map.is_null()));
        let map = map.as_ref().map(|map| map.read(axes.len())).transpose()?;
        let writes = matches!(self.memory, SlabMemory::Written(_));
        if map.is_some() {
            slabs::check_strides(&axes).map_err(coded)?;
        }
        slabs::check_strided(&axes, writes).map_err(coded)?;
        if slabs::has_none(&axes) { Ok(()) } else { self.transfer_parts(&axes, map) }
    }

    /// What is asked along each axis.
    ///
    /// # Errors
    /// `NC_EINVALCOORDS` without a start.
    fn axes(&self, dims: &[c_int], slab: CSlab) -> Outcome<Vec<RequestedAxis>> {
        if slab.start.is_null() {
            return Err(Code(NC_EINVALCOORDS));
        }
        let start = slab.start.read(dims.len())?;
        let count = slab.count.filter(|count| !count.is_null());
        let count = count.as_ref().map(|count| count.read(dims.len())).transpose()?;
        let stride = slab.stride.filter(|stride| !stride.is_null());
        let stride = stride.as_ref().map(|stride| stride.read(dims.len())).transpose()?;
        let unlimited = match self.memory {
            SlabMemory::Written(_) => user_calls::unlimited(self.table, self.at.0)?,
            SlabMemory::Read(_) => Vec::new(),
        };
        let axis = |(axis, dim): (usize, &c_int)| {
            let len = user_calls::len_of(self.table, self.at.0, *dim)?;
            let count = count.map_or(len.saturating_sub(start[axis]), |count| count[axis]);
            let (len, start, count) = (len as u64, start[axis] as u64, count as u64);
            let stride = stride.map_or(1, |stride| stride[axis]);
            Ok(RequestedAxis { len, grows: unlimited.contains(dim), start, count, stride })
        };
        dims.iter().enumerate().map(axis).collect()
    }

    /// Calls the table for each part that is contiguous both in the variable and in memory.
    fn transfer_parts(&self, axes: &[RequestedAxis], map: Option<&[isize]>) -> Outcome<()> {
        let too_far = Code(NC_EINVAL);
        let starts = axes.iter().map(|axis| size(axis.start)).collect::<Outcome<Vec<_>>>()?;
        let mut counts = axes.iter().map(|axis| size(axis.count)).collect::<Outcome<Vec<_>>>()?;
        if map.is_none() && axes.iter().all(|axis| axis.stride == 1) {
            return self.transfer(In::of(&starts), In::of(&counts), 0);
        }
        let packed = packed_distances(&counts).ok_or(too_far)?;
        let mut part = vec![1; axes.len()];
        if let ([.., last], Some([.., 1])) = (axes, map)
            && last.stride == 1
            && let (Some(count), Some(part)) = (counts.last_mut(), part.last_mut())
        {
            // Rows.
            *part = std::mem::replace(count, 1);
        }
        let mut places = MappedPlaces::new(&counts, map.unwrap_or(&packed), self.element);
        for _ in 0..counts.iter().try_fold(1usize, |all, count| all.checked_mul(*count)).ok_or(too_far)? {
            let from = places.indices().iter().zip(axes).zip(&starts).map(|((index, axis), start)| {
                index.checked_mul(axis.stride.unsigned_abs())?.checked_add(*start)
            });
            let from = from.collect::<Option<Vec<_>>>().ok_or(too_far)?;
            self.transfer(In::of(&from), In::of(&part), places.step().ok_or(too_far)?)?;
        }
        Ok(())
    }

    /// Reads or writes contiguous elements, from a number of bytes after the start of the memory on.
    fn transfer(&self, start: In<usize>, count: In<usize>, bytes: isize) -> Outcome<()> {
        user_calls::transfer_box(self.table, self.at, [start, count], self.memory.moved(bytes), self.ty)
    }
}

/// Distances of elements that follow each other.
fn packed_distances(counts: &[usize]) -> Option<Vec<isize>> {
    let mut distances = vec![1isize; counts.len()];
    for axis in (1..counts.len()).rev() {
        distances[axis - 1] = distances[axis].checked_mul(isize::try_from(counts[axis]).ok()?)?;
    }
    Some(distances)
}

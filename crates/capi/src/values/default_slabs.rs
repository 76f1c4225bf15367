//! What tables of user-defined formats have in the places for steps and maps (`NCDEFAULT_get_vars` and its kin): they call the
//! table's own `get_vara` and `put_vara` for each part of the slab that stands together.
use crate::c_types::codes::{
    Code, NC_EBADTYPE, NC_ECHAR, NC_EEDGE, NC_EINVAL, NC_EINVALCOORDS, NC_ESTRIDE, Outcome,
};
use crate::c_types::memory::{Bytes, BytesOut, In, NameOut, Out, UserTable};
use crate::programs::user_formats::table_of;
use crate::rules::slabs::CSlab;
use crate::{files::members, programs::user_calls, programs::user_types, values::data, values::put_data};
use ncirrus::Atomic;
use std::ffi::c_int;

/// The program's memory.
#[derive(Debug, Clone, Copy)]
enum SlabMemory {
    Read(BytesOut),
    Written(Bytes),
}

/// A call for a variable of a user-defined format.
#[derive(Debug, Clone, Copy)]
struct DefaultCall<'a> {
    table: &'a UserTable,
    ncid: c_int,
    varid: c_int,
    memory: SlabMemory,
    /// The type in memory.
    ty: c_int,
    /// Bytes of an element in memory.
    element: usize,
}

/// An axis of a variable: its length, and whether writing may add to it.
#[derive(Debug, Clone, Copy)]
struct SlabAxis {
    len: usize,
    grows: bool,
}

/// What is read or written, axis by axis.
#[derive(Debug)]
struct DefaultSlab {
    start: Vec<usize>,
    count: Vec<usize>,
    stride: Vec<isize>,
    /// Distances in memory, in elements; none if the elements follow each other.
    map: Option<Vec<isize>>,
}

/// `NCDEFAULT_get_vars`.
pub(crate) fn get_steps(
    ncid: c_int,
    varid: c_int,
    start: In<usize>,
    count: In<usize>,
    stride: In<isize>,
    out: BytesOut,
    ty: c_int,
) -> Outcome<()> {
    call((ncid, varid), CSlab::strided(start, count, stride), None, SlabMemory::Read(out), ty)
}

/// `NCDEFAULT_put_vars`.
pub(crate) fn put_steps(
    ncid: c_int,
    varid: c_int,
    start: In<usize>,
    count: In<usize>,
    stride: In<isize>,
    data: Bytes,
    ty: c_int,
) -> Outcome<()> {
    call((ncid, varid), CSlab::strided(start, count, stride), None, SlabMemory::Written(data), ty)
}

/// `NCDEFAULT_get_varm`.
#[expect(clippy::too_many_arguments, reason = "as C has them")]
pub(crate) fn get_mapped(
    ncid: c_int,
    varid: c_int,
    start: In<usize>,
    count: In<usize>,
    stride: In<isize>,
    map: In<isize>,
    out: BytesOut,
    ty: c_int,
) -> Outcome<()> {
    call((ncid, varid), CSlab::strided(start, count, stride), Some(map), SlabMemory::Read(out), ty)
}

/// `NCDEFAULT_put_varm`.
#[expect(clippy::too_many_arguments, reason = "as C has them")]
pub(crate) fn put_mapped(
    ncid: c_int,
    varid: c_int,
    start: In<usize>,
    count: In<usize>,
    stride: In<isize>,
    map: In<isize>,
    data: Bytes,
    ty: c_int,
) -> Outcome<()> {
    call((ncid, varid), CSlab::strided(start, count, stride), Some(map), SlabMemory::Written(data), ty)
}

/// Reads or writes a slab: by the program's table, or as the functions of netCDF do.
fn call(
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
    fn new(
        table: &'a UserTable,
        (ncid, varid): (c_int, c_int),
        memory: SlabMemory,
        ty: c_int,
    ) -> Outcome<Self> {
        let own = user_calls::type_of(table, ncid, varid)?;
        let ty = if ty == 0 { own } else { ty };
        let is_text = |ty: c_int| members::atomic_of(ty) == Some(Atomic::Char);
        if is_text(own) != is_text(ty) {
            return Err(Code(NC_ECHAR));
        }
        let mut element = 0;
        match members::atomic_of(ty) {
            Some(atomic) => element = atomic.byte_len().unwrap_or(size_of::<usize>()),
            None if ty == own => {
                user_types::inq_type(table, ncid, ty, NameOut::none(), Out::of(&mut element))?;
            }
            None => return Err(Code(NC_EBADTYPE)),
        }
        Ok(Self { table, ncid, varid, memory, ty, element })
    }

    fn run(&self, slab: CSlab, map: Option<In<isize>>) -> Outcome<()> {
        let axes = self.axes()?;
        if axes.is_empty() {
            return self.transfer(slab.start, In::of(&[1]), 0);
        }
        let is_mapped = map.is_some_and(|map| !map.is_null());
        let slab = DefaultSlab::new(slab, map, &axes)?;
        slab.check(&axes, is_mapped)?;
        if slab.count.contains(&0) {
            return Ok(());
        }
        slab.each_part(|start, count, at| {
            let bytes = isize::try_from(self.element).ok().and_then(|element| at.checked_mul(element));
            self.transfer(In::of(start), In::of(count), bytes.ok_or(Code(NC_EINVAL))?)
        })
    }

    /// Reads or writes elements that stand together, from a number of bytes after the start of the memory on.
    fn transfer(&self, start: In<usize>, count: In<usize>, at: isize) -> Outcome<()> {
        let (table, ncid, varid, ty) = (self.table, self.ncid, self.varid, self.ty);
        match self.memory {
            SlabMemory::Read(out) => table.get_vara(ncid, varid, start, count, out.moved(at), ty),
            SlabMemory::Written(data) => table.put_vara(ncid, varid, start, count, data.moved(at), ty),
        }
    }

    fn axes(&self) -> Outcome<Vec<SlabAxis>> {
        let dims = user_calls::dims(self.table, self.ncid, self.varid)?;
        let unlimited = match self.memory {
            SlabMemory::Written(_) if !dims.is_empty() => user_calls::unlimited(self.table, self.ncid)?,
            _ => Vec::new(),
        };
        let axis = |dim: &c_int| {
            let mut len = 0;
            self.table.inq_dim(self.ncid, *dim, NameOut::none(), Out::of(&mut len))?;
            Ok(SlabAxis { len, grows: unlimited.contains(dim) })
        };
        dims.iter().map(axis).collect()
    }
}

impl DefaultSlab {
    /// # Errors
    /// `NC_EINVALCOORDS` without a start.
    fn new(slab: CSlab, map: Option<In<isize>>, axes: &[SlabAxis]) -> Outcome<Self> {
        let rank = axes.len();
        if slab.start.is_null() {
            return Err(Code(NC_EINVALCOORDS));
        }
        let start = slab.start.read(rank)?.to_vec();
        let rest = || axes.iter().zip(&start).map(|(axis, start)| axis.len.saturating_sub(*start)).collect();
        let count = match slab.count.filter(|count| !count.is_null()) {
            Some(count) => count.read(rank)?.to_vec(),
            None => rest(),
        };
        let stride = match slab.stride.filter(|stride| !stride.is_null()) {
            Some(stride) => stride.read(rank)?.to_vec(),
            None => vec![1; rank],
        };
        let map = match map.filter(|map| !map.is_null()) {
            Some(map) => Some(map.read(rank)?.to_vec()),
            None => None,
        };
        Ok(Self { start, count, stride, map })
    }

    /// # Errors
    /// `NC_EINVALCOORDS`, `NC_EEDGE`, `NC_ESTRIDE`: axis by axis, strides first where there is a map.
    fn check(&self, axes: &[SlabAxis], strides_first: bool) -> Outcome<()> {
        for (at, axis) in axes.iter().enumerate() {
            let has_stride = if self.stride[at] > 0 { Ok(()) } else { Err(Code(NC_ESTRIDE)) };
            if strides_first {
                has_stride?;
            }
            let (start, count) = (self.start[at], self.count[at]);
            if !axis.grows {
                if start > axis.len || start == axis.len && count > 0 {
                    return Err(Code(NC_EINVALCOORDS));
                }
                if count > axis.len - start {
                    return Err(Code(NC_EEDGE));
                }
            }
            has_stride?;
        }
        Ok(())
    }

    /// Calls for each part that stands together in the variable and in memory: start, counts, and the place in memory in elements.
    fn each_part(&self, mut call: impl FnMut(&[usize], &[usize], isize) -> Outcome<()>) -> Outcome<()> {
        let too_far = Code(NC_EINVAL);
        if self.map.is_none() && self.stride.iter().all(|stride| *stride == 1) {
            return call(&self.start, &self.count, 0);
        }
        let rank = self.start.len();
        let mut part = vec![1; rank];
        let is_row = self.map.as_ref().is_some_and(|map| map.last() == Some(&1));
        if is_row && self.stride.last() == Some(&1) {
            part[rank - 1] = self.count[rank - 1];
        }
        let map = match &self.map {
            Some(map) => map.clone(),
            None => distances(&self.count).ok_or(too_far)?,
        };
        let mut indices = vec![0usize; rank];
        loop {
            let mut at = 0isize;
            let mut start = self.start.clone();
            for axis in 0..rank {
                let index = isize::try_from(indices[axis]).map_err(|_| too_far)?;
                let before = index.checked_mul(map[axis]).and_then(|distance| at.checked_add(distance));
                at = before.ok_or(too_far)?;
                let steps =
                    index.checked_mul(self.stride[axis]).and_then(|steps| usize::try_from(steps).ok());
                start[axis] = steps.and_then(|steps| start[axis].checked_add(steps)).ok_or(too_far)?;
            }
            call(&start, &part, at)?;
            if !self.advance(&mut indices, &part) {
                return Ok(());
            }
        }
    }

    /// The next part, the last axis first; `false` after the last one.
    fn advance(&self, indices: &mut [usize], part: &[usize]) -> bool {
        for axis in (0..indices.len()).rev() {
            indices[axis] += part[axis];
            if indices[axis] < self.count[axis] {
                return true;
            }
            indices[axis] = 0;
        }
        false
    }
}

/// Distances of elements that follow each other.
fn distances(count: &[usize]) -> Option<Vec<isize>> {
    let mut distances = vec![1isize; count.len()];
    for axis in (1..count.len()).rev() {
        distances[axis - 1] = distances[axis].checked_mul(isize::try_from(count[axis]).ok()?)?;
    }
    Some(distances)
}

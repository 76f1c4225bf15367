//! Reading values.
use crate::codes::{Code, NC_EBADTYPE, NC_EEDGE, NC_EINVAL, NC_EINVALCOORDS, NC_ENOMEM, NC_ESTRIDE, Outcome};
use crate::convert;
use crate::files::{FileGroup, group_of, size};
use crate::layouts;
use crate::memory::{BytesOut, In};
use ncirrus::{Atomic, AxisSelection, Selection, TypeRef};
use std::ffi::c_int;

/// The elements that a call is about, as it says them: null for counts and strides stands for all, and for 1.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CSlab {
    pub(crate) start: In<usize>,
    pub(crate) count: Option<In<usize>>,
    pub(crate) stride: Option<In<isize>>,
}

/// A selection of a variable, and how many elements each axis has in the caller's memory.
struct Slab {
    selection: Selection,
    counts: Vec<usize>,
}

impl Slab {
    /// All elements.
    fn whole(shape: &[u64]) -> Outcome<Self> {
        let counts = shape.iter().map(|len| size(*len)).collect::<Outcome<_>>()?;
        Ok(Self { selection: Selection::all(shape), counts })
    }

    /// The elements of a call, checked in the order of the reference: all starts, then strides, then edges.
    fn of(slab: &CSlab, shape: &[u64]) -> Outcome<Self> {
        let rank = shape.len();
        if rank > 0 && slab.start.is_null() {
            return Err(Code(NC_EINVALCOORDS));
        }
        let starts = slab.start.read(rank)?;
        let strides = match slab.stride.filter(|stride| !stride.is_null()) {
            Some(stride) => stride.read(rank)?.to_vec(),
            None => vec![1; rank],
        };
        if strides.iter().any(|stride| *stride <= 0) {
            return Err(Code(NC_ESTRIDE));
        }
        let counts = match slab.count {
            None => vec![1; rank],
            Some(count) if count.is_null() => {
                let rest = |(len, start): (&u64, &usize)| size(len.saturating_sub(*start as u64));
                shape.iter().zip(starts).map(rest).collect::<Outcome<Vec<_>>>()?
            }
            Some(count) => count.read(rank)?.to_vec(),
        };
        for ((start, count), len) in starts.iter().zip(&counts).zip(shape) {
            let start = *start as u64;
            if start > *len || (start == *len && *count > 0) {
                return Err(Code(NC_EINVALCOORDS));
            }
        }
        let mut axes = Vec::with_capacity(rank);
        for (((start, count), stride), len) in starts.iter().zip(&counts).zip(&strides).zip(shape) {
            let (start, count, stride) = (*start as u64, *count as u64, stride.unsigned_abs() as u64);
            let axis = AxisSelection::Slice { start: if count == 0 { 0 } else { start }, count, stride };
            if axis.end().is_none_or(|end| end > *len) {
                return Err(Code(NC_EEDGE));
            }
            axes.push(axis);
        }
        Ok(Self { selection: Selection::new(axes), counts })
    }

    fn element_count(&self) -> Outcome<usize> {
        let product = self.counts.iter().try_fold(1usize, |product, count| product.checked_mul(*count));
        product.ok_or(Code(NC_ENOMEM))
    }
}

/// A variable that is read, and its shape.
fn variable(ncid: c_int, varid: c_int) -> Outcome<(FileGroup, ncirrus::Variable, TypeRef, Vec<u64>)> {
    let at = group_of(ncid)?;
    let id = at.variable_id(varid)?;
    let ty = at.variable(varid)?.ty;
    let variable = at.file.dataset.variable_by_id(id);
    let shape = variable.shape();
    Ok((at, variable, ty, shape))
}

/// Reads values as they are: of the variable's own type, in C's layout.
fn read_native(
    at: &FileGroup,
    variable: &ncirrus::Variable,
    ty: TypeRef,
    slab: &Slab,
    mut out: BytesOut,
) -> Outcome<()> {
    let count = slab.element_count()?;
    let element = layouts::size_of_type(at.model(), ty)?.len;
    let is_plain = match ty {
        TypeRef::Atomic(atomic) => atomic != Atomic::String,
        TypeRef::User(_) => at.model().base_atomic(ty).is_some(),
    };
    if is_plain {
        let len = count.checked_mul(element).ok_or(Code(NC_ENOMEM))?;
        return Ok(variable.read_bytes_into(&slab.selection, out.slice(len)?)?);
    }
    if count > 0 && out.is_null() {
        return Err(Code(NC_EINVAL));
    }
    let values = variable.values(&slab.selection)?;
    out.write(&layouts::image(at.model(), ty, &values)?)
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
    let values = variable.values(&slab.selection)?;
    let (values, ended) = convert::to_memory(&at.file, &values, to)?;
    out.write(&layouts::image(at.model(), to.into(), &values)?)?;
    ended
}

/// Reads a slab, or the whole variable; as another type, if one is given.
pub(crate) fn get(
    ncid: c_int,
    varid: c_int,
    slab: Option<CSlab>,
    to: Option<Atomic>,
    out: BytesOut,
) -> Outcome<()> {
    let (at, variable, ty, shape) = variable(ncid, varid)?;
    if let (Some(to), Some(base)) = (to, at.model().base_atomic(ty)) {
        convert::check(base, to)?;
    }
    let slab = match slab {
        Some(slab) => Slab::of(&slab, &shape)?,
        None => Slab::whole(&shape)?,
    };
    match to {
        Some(to) => read_as(&at, &variable, &slab, (ty, to), out),
        None => read_native(&at, &variable, ty, &slab, out),
    }
}

/// Reads a slab whose elements stand in memory at distances of their own, counted in elements.
pub(crate) fn get_mapped(
    ncid: c_int,
    varid: c_int,
    slab: CSlab,
    map: In<isize>,
    to: Option<Atomic>,
    out: BytesOut,
) -> Outcome<()> {
    let (at, variable, ty, shape) = variable(ncid, varid)?;
    if map.is_null() || shape.is_empty() {
        return get(ncid, varid, Some(slab), to, out);
    }
    let base = at.model().base_atomic(ty).ok_or(Code(crate::codes::NC_EMAPTYPE))?;
    let to = to.unwrap_or(base);
    convert::check(base, to)?;
    let slab = Slab::of(&slab, &shape)?;
    let distances = map.read(shape.len())?;
    let values = variable.values(&slab.selection)?;
    let (values, ended) = convert::to_memory(&at.file, &values, to)?;
    let element = layouts::size_of_type(at.model(), to.into())?.len;
    let image = layouts::image(at.model(), to.into(), &values)?;
    let mut indices = vec![0usize; slab.counts.len()];
    for bytes in image.chunks_exact(element.max(1)) {
        let place = indices.iter().zip(distances).try_fold(0isize, |sum, (index, distance)| {
            sum.checked_add(isize::try_from(*index).ok()?.checked_mul(*distance)?)
        });
        let place = place.and_then(|place| usize::try_from(place).ok());
        let place = place.and_then(|place| place.checked_mul(element)).ok_or(Code(NC_EINVAL))?;
        out.write_at(place, bytes)?;
        for (index, count) in indices.iter_mut().zip(&slab.counts).rev() {
            *index += 1;
            if *index < *count {
                break;
            }
            *index = 0;
        }
    }
    ended
}

/// `nc_get_var`: all values.
pub(crate) fn get_var(ncid: c_int, varid: c_int, out: BytesOut) -> Outcome<()> {
    get(ncid, varid, None, None, out)
}

/// `nc_get_var1`: one value.
pub(crate) fn get_var1(ncid: c_int, varid: c_int, start: In<usize>, out: BytesOut) -> Outcome<()> {
    get(ncid, varid, Some(CSlab { start, count: None, stride: None }), None, out)
}

/// `nc_get_vara`: a box of values.
pub(crate) fn get_vara(
    ncid: c_int,
    varid: c_int,
    start: In<usize>,
    count: In<usize>,
    out: BytesOut,
) -> Outcome<()> {
    get(ncid, varid, Some(CSlab { start, count: Some(count), stride: None }), None, out)
}

/// `nc_get_vars`: a box with strides.
pub(crate) fn get_vars(
    ncid: c_int,
    varid: c_int,
    start: In<usize>,
    count: In<usize>,
    stride: In<isize>,
    out: BytesOut,
) -> Outcome<()> {
    get(ncid, varid, Some(CSlab { start, count: Some(count), stride: Some(stride) }), None, out)
}

/// `nc_get_varm`: a box with strides, mapped to memory.
pub(crate) fn get_varm(
    ncid: c_int,
    varid: c_int,
    start: In<usize>,
    count: In<usize>,
    stride: In<isize>,
    map: In<isize>,
    out: BytesOut,
) -> Outcome<()> {
    get_mapped(ncid, varid, CSlab { start, count: Some(count), stride: Some(stride) }, map, None, out)
}

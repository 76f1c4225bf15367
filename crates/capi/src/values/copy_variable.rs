//! `nc_copy_var`: a variable with its attributes and values.
use crate::c_types::codes::{
    Code, NC_EBADDIM, NC_EBADTYPE, NC_EINDEFINE, NC_EINVALCOORDS, NC_ENOTNC4, NC_ENOTVAR, Outcome,
};
use crate::c_types::memory::{Bytes, CText, In, Out};
use crate::files::{GLOBAL, group_of, number, size};
use crate::{
    definitions::define, definitions::layouts, rules::equality, values::attributes, values::data,
    values::put_attributes, values::put_data,
};
use ncirrus::{Atomic, Format, Selection, TypeRef};
use std::ffi::{CString, c_int};

/// Copies a variable to a group with dimensions of the same names, whose file is in data mode then. Values that do not fit there
/// are reported after the others are copied.
pub(crate) fn copy(from: c_int, varid: c_int, to: c_int) -> Outcome<()> {
    let at = group_of(from)?;
    if varid == GLOBAL {
        return Err(Code(if at.file.is_classic() { NC_ENOTVAR } else { NC_EBADTYPE }));
    }
    let (id, variable) = (at.variable_id(varid)?, at.variable(varid)?.clone());
    let target = group_of(to)?;
    let mut dims = Vec::new();
    for dim in &variable.dims {
        let known = at.model().dimension(*dim).ok_or(Code(NC_EBADDIM))?;
        let there = target.model().visible_dimension(target.id, &known.name).ok_or(Code(NC_EBADDIM))?;
        dims.push(target.members.number_of_dim(there));
    }
    let is_new = !matches!(variable.ty, TypeRef::Atomic(ty) if ty.number() <= Atomic::Double.number());
    if is_new && target.file.is_classic() && at.file.core.format.netcdf() == Format::NetCdf4 {
        return Err(Code(NC_ENOTNC4));
    }
    let ty = match variable.ty {
        TypeRef::Atomic(atomic) => c_int::from(atomic.number()),
        TypeRef::User(_) => equality::same_type(&at, variable.ty, to)?,
    };
    match define::redef(to) {
        Err(Code(NC_EINDEFINE)) => {}
        other => other?,
    }
    let name = CString::new(variable.name.as_bytes()).map_err(|_| Code(NC_EBADTYPE))?;
    let (rank, dims) = (number(dims.len()), In::of(&dims));
    let new = Out::found(|new| define::def_var(to, CText::of(&name), ty, rank, dims, new))?;
    for attribute in attributes::all(&at, varid)? {
        let name = CString::new(attribute.as_bytes()).map_err(|_| Code(NC_EBADTYPE))?;
        put_attributes::copy(from, varid, CText::of(&name), to, new)?;
    }
    // If this fails, the put reports it.
    _ = define::enddef_padded(to, 0, 1, 0, 1);
    let mut shape = at.model().shape(id);
    if shape.first() == Some(&0) {
        return Ok(());
    }
    // A first dimension that is shorter takes what it has a place for.
    let there = group_of(to)?;
    let room = match there.model().growing(there.variable_id(new)?).first() {
        Some(false) => there.model().shape(there.variable_id(new)?).first().copied(),
        _ => None,
    };
    let is_cut = room.zip(shape.first().copied()).is_some_and(|(room, len)| room < len);
    if let Some(first) = shape.first_mut().filter(|_| is_cut) {
        *first = room.unwrap_or(0);
    }
    copy_values((from, varid), (to, new), &shape)?;
    if is_cut { Err(Code(NC_EINVALCOORDS)) } else { Ok(()) }
}

fn copy_values((from, varid): (c_int, c_int), (to, new): (c_int, c_int), shape: &[u64]) -> Outcome<()> {
    let at = group_of(from)?;
    let ty = at.variable(varid)?.ty;
    let values = {
        let _in_use = at.file.core.in_use();
        at.file.core.enter_data_mode()?;
        at.settled()?.variable_by_id(at.variable_id(varid)?).values(&Selection::all(shape))?
    };
    let image = layouts::image(&at.members, ty, &values)?;
    let start = vec![0usize; shape.len()];
    let count = shape.iter().map(|len| size(*len)).collect::<Outcome<Vec<usize>>>()?;
    let slab = data::CSlab::of(In::of(&start), In::of(&count));
    let put = put_data::put(to, new, Some(slab), None, Bytes::of(&image));
    layouts::reclaim(&at.members, ty, &image)?;
    put
}

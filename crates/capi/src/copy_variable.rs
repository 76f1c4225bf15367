//! `nc_copy_var`: a variable with its attributes and values.
use crate::codes::{Code, NC_EBADTYPE, NC_ENAMEINUSE, NC_ENOTVAR, Outcome};
use crate::files::{GLOBAL, edit, group_of};
use crate::memory::{Bytes, CText, In, Out};
use crate::{attributes, data, define, equality, layouts, put_attributes, put_data};
use ncirrus::{Selection, TypeRef};
use std::ffi::{CString, c_int};

pub(crate) fn copy(from: c_int, varid: c_int, to: c_int) -> Outcome<()> {
    let at = group_of(from)?;
    let target = group_of(to)?;
    if varid == GLOBAL {
        return Err(Code(if at.file.is_classic() { NC_ENOTVAR } else { NC_EBADTYPE }));
    }
    let variable = at.variable(varid)?.clone();
    let ty = match variable.ty {
        TypeRef::Atomic(atomic) => c_int::from(atomic.number()),
        TypeRef::User(_) => equality::same_type(&at, variable.ty, to)?,
    };
    // Dimensions are found by name and must be as long.
    let mut dims = Vec::new();
    for dim in &variable.dims {
        let known = at.model().dimension(*dim).ok_or(Code(crate::codes::NC_EBADDIM))?;
        let there = target.model().visible_dimension(target.id, &known.name);
        let there = there.ok_or(Code(crate::codes::NC_EBADDIM))?;
        let len = target.model().dimension(there).map(|dim| dim.len);
        if len.is_none_or(|len| !len.is_unlimited() && len.current() != known.len.current()) {
            return Err(Code(crate::codes::NC_EDIMSIZE));
        }
        dims.push(target.members.number_of_dim(there));
    }
    if target.model().variable_in(target.id, &variable.name).is_some() {
        return Err(Code(NC_ENAMEINUSE));
    }
    let name = CString::new(variable.name.as_bytes()).map_err(|_| Code(NC_EBADTYPE))?;
    let was_defining = edit(to, |edit| {
        let was = edit.state.is_defining;
        edit.state.is_defining = true;
        Ok(was)
    })?;
    let mut new = 0;
    let rank = crate::files::number(dims.len());
    define::def_var(to, CText::of(&name), ty, rank, In::of(&dims), Out::of(&mut new))?;
    for attribute in attributes::all(&at, varid)? {
        let name = CString::new(attribute.as_bytes()).map_err(|_| Code(NC_EBADTYPE))?;
        put_attributes::copy(from, varid, CText::of(&name), to, new)?;
    }
    edit(to, |edit| edit.state.end_definitions())?;
    let shape = at.model().shape(at.variable_id(varid)?);
    let values = {
        let _in_use = at.file.core.in_use();
        at.settled()?.variable_by_id(at.variable_id(varid)?).values(&Selection::all(&shape))?
    };
    let image = layouts::image(&at.members, variable.ty, &values)?;
    let start = vec![0usize; shape.len()];
    let count = shape.iter().map(|len| crate::files::size(*len)).collect::<Outcome<Vec<usize>>>()?;
    let slab = data::CSlab { start: In::of(&start), count: Some(In::of(&count)), stride: None };
    let put = put_data::put(to, new, Some(slab), None, Bytes::of(&image));
    layouts::reclaim(&at.members, variable.ty, &image)?;
    if was_defining {
        edit(to, |edit| {
            edit.state.is_defining = true;
            Ok(())
        })?;
    }
    debug_assert_ne!(new, GLOBAL);
    put
}

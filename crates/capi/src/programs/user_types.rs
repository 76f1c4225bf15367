//! Calls about types, on files of formats that programs define.
use crate::c_types::codes::{Code, NC_EBADTYPE, Outcome};
use crate::c_types::memory::{NameOut, Out, UserTable};
use crate::definitions::auxiliary::{COMPOUND, ENUM, OPAQUE, VLEN};
use std::ffi::c_int;

/// What `inq_user_type` is asked.
#[derive(Debug, Clone, Copy)]
struct TypeQuestion {
    name: NameOut,
    size: Out<usize>,
    base: Out<c_int>,
    count: Out<usize>,
}

impl TypeQuestion {
    fn new() -> Self {
        Self { name: NameOut::none(), size: Out::none(), base: Out::none(), count: Out::none() }
    }

    /// Asks, and checks the class.
    fn ask(self, table: &UserTable, ncid: c_int, ty: c_int, class: c_int) -> Outcome<()> {
        let mut found = 0;
        table.inq_user_type(ncid, ty, self.name, self.size, self.base, self.count, Out::of(&mut found))?;
        if found == class { Ok(()) } else { Err(Code(NC_EBADTYPE)) }
    }
}

pub(crate) fn inq_type(
    table: &UserTable,
    ncid: c_int,
    ty: c_int,
    name: NameOut,
    size: Out<usize>,
) -> Outcome<()> {
    if ty < crate::files::members::FIRST_USER_TYPE {
        return crate::definitions::types::inq(ncid, ty, name, size);
    }
    table.inq_type(ncid, ty, name, size)
}

pub(crate) fn compound(
    table: &UserTable,
    ncid: c_int,
    ty: c_int,
    name: NameOut,
    size: Out<usize>,
    count: Out<usize>,
) -> Outcome<()> {
    TypeQuestion { name, size, count, ..TypeQuestion::new() }.ask(table, ncid, ty, COMPOUND)
}

pub(crate) fn compound_name(table: &UserTable, ncid: c_int, ty: c_int, name: NameOut) -> Outcome<()> {
    TypeQuestion { name, ..TypeQuestion::new() }.ask(table, ncid, ty, COMPOUND)
}

pub(crate) fn compound_size(table: &UserTable, ncid: c_int, ty: c_int, size: Out<usize>) -> Outcome<()> {
    TypeQuestion { size, ..TypeQuestion::new() }.ask(table, ncid, ty, COMPOUND)
}

pub(crate) fn field_count(table: &UserTable, ncid: c_int, ty: c_int, count: Out<usize>) -> Outcome<()> {
    TypeQuestion { count, ..TypeQuestion::new() }.ask(table, ncid, ty, COMPOUND)
}

pub(crate) fn vlen(
    table: &UserTable,
    ncid: c_int,
    ty: c_int,
    name: NameOut,
    size: Out<usize>,
    base: Out<c_int>,
) -> Outcome<()> {
    TypeQuestion { name, size, base, ..TypeQuestion::new() }.ask(table, ncid, ty, VLEN)
}

pub(crate) fn opaque(
    table: &UserTable,
    ncid: c_int,
    ty: c_int,
    name: NameOut,
    size: Out<usize>,
) -> Outcome<()> {
    TypeQuestion { name, size, ..TypeQuestion::new() }.ask(table, ncid, ty, OPAQUE)
}

pub(crate) fn enumeration(
    table: &UserTable,
    ncid: c_int,
    ty: c_int,
    name: NameOut,
    base: Out<c_int>,
    size: Out<usize>,
    count: Out<usize>,
) -> Outcome<()> {
    TypeQuestion { name, size, base, count }.ask(table, ncid, ty, ENUM)
}

pub(crate) fn field_name(
    table: &UserTable,
    ncid: c_int,
    ty: c_int,
    index: c_int,
    name: NameOut,
) -> Outcome<()> {
    table.inq_compound_field(ncid, ty, index, name, Out::none(), Out::none(), Out::none(), Out::none())
}

pub(crate) fn field_offset(
    table: &UserTable,
    ncid: c_int,
    ty: c_int,
    index: c_int,
    to: Out<usize>,
) -> Outcome<()> {
    table.inq_compound_field(ncid, ty, index, NameOut::none(), to, Out::none(), Out::none(), Out::none())
}

pub(crate) fn field_type(
    table: &UserTable,
    ncid: c_int,
    ty: c_int,
    index: c_int,
    to: Out<c_int>,
) -> Outcome<()> {
    table.inq_compound_field(ncid, ty, index, NameOut::none(), Out::none(), to, Out::none(), Out::none())
}

pub(crate) fn field_rank(
    table: &UserTable,
    ncid: c_int,
    ty: c_int,
    index: c_int,
    to: Out<c_int>,
) -> Outcome<()> {
    table.inq_compound_field(ncid, ty, index, NameOut::none(), Out::none(), Out::none(), to, Out::none())
}

pub(crate) fn field_lens(
    table: &UserTable,
    ncid: c_int,
    ty: c_int,
    index: c_int,
    to: Out<c_int>,
) -> Outcome<()> {
    table.inq_compound_field(ncid, ty, index, NameOut::none(), Out::none(), Out::none(), Out::none(), to)
}

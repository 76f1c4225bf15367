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
        Self { name: NameOut::default(), size: Out::default(), base: Out::default(), count: Out::default() }
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

/// Functions that ask things of a type of one class.
macro_rules! type_questions {
    ($($name:ident($($part:ident: $role:ty),+) $class:ident;)*) => {$(
        pub(crate) fn $name(table: &UserTable, ncid: c_int, ty: c_int, $($part: $role),+) -> Outcome<()> {
            TypeQuestion { $($part,)+ ..TypeQuestion::new() }.ask(table, ncid, ty, $class)
        }
    )*};
}

type_questions! {
    compound(name: NameOut, size: Out<usize>, count: Out<usize>) COMPOUND;
    compound_name(name: NameOut) COMPOUND;
    compound_size(size: Out<usize>) COMPOUND;
    field_count(count: Out<usize>) COMPOUND;
    vlen(name: NameOut, size: Out<usize>, base: Out<c_int>) VLEN;
    opaque(name: NameOut, size: Out<usize>) OPAQUE;
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

/// What `inq_compound_field` is asked.
#[derive(Debug, Clone, Copy)]
struct FieldQuestion {
    name: NameOut,
    offset: Out<usize>,
    ty: Out<c_int>,
    rank: Out<c_int>,
    lens: Out<c_int>,
}

impl FieldQuestion {
    fn new() -> Self {
        let (offset, name) = (Out::default(), NameOut::default());
        Self { name, offset, ty: Out::default(), rank: Out::default(), lens: Out::default() }
    }
}

/// Functions that ask one thing of a field.
macro_rules! field_questions {
    ($($name:ident($part:ident: $role:ty);)*) => {$(
        pub(crate) fn $name(table: &UserTable, ncid: c_int, of: c_int, index: c_int, $part: $role) -> Outcome<()> {
            let FieldQuestion { name, offset, ty, rank, lens } = FieldQuestion { $part, ..FieldQuestion::new() };
            table.inq_compound_field(ncid, of, index, name, offset, ty, rank, lens)
        }
    )*};
}

field_questions! {
    field_name(name: NameOut);
    field_offset(offset: Out<usize>);
    field_type(ty: Out<c_int>);
    field_rank(rank: Out<c_int>);
    field_lens(lens: Out<c_int>);
}

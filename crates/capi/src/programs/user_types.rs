//! Calls about user-defined types, of files of the library's own formats and of those that programs define.
use crate::c_types::codes::{Code, NC_EBADTYPE, Outcome};
use crate::c_types::memory::{NameOut, Out, UserTable};
use crate::definitions::types::{self, COMPOUND, ENUM, OPAQUE, TypeQuestion, VLEN};
use crate::files::members::FIRST_USER_TYPE;
use crate::programs::user_formats::table_of;
use std::ffi::c_int;

/// Asks about a type of a class.
fn ask(question: TypeQuestion, ncid: c_int, ty: c_int, class: c_int) -> Outcome<()> {
    let Some(table) = table_of(ncid) else { return question.ask_file(ncid, ty, Some(class)).map(|_| ()) };
    let TypeQuestion { name, size, base, count } = question;
    let found = Out::found(|class| table.inq_user_type(ncid, ty, name, size, base, count, class))?;
    if found == class { Ok(()) } else { Err(Code(NC_EBADTYPE)) }
}

pub(crate) fn inq_type(
    table: &UserTable,
    ncid: c_int,
    ty: c_int,
    name: NameOut,
    size: Out<usize>,
) -> Outcome<()> {
    if ty < FIRST_USER_TYPE {
        return types::inq(ncid, ty, name, size);
    }
    table.inq_type(ncid, ty, name, size)
}

/// Functions that ask things of a type of one class.
macro_rules! type_questions {
    ($($name:ident($($part:ident: $role:ty),+) $class:ident;)*) => {$(
        pub(crate) fn $name(ncid: c_int, ty: c_int, $($part: $role),+) -> Outcome<()> {
            ask(TypeQuestion { $($part,)+ ..TypeQuestion::default() }, ncid, ty, $class)
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

/// `nc_inq_enum`.
pub(crate) fn enumeration(
    ncid: c_int,
    ty: c_int,
    name: NameOut,
    base: Out<c_int>,
    size: Out<usize>,
    count: Out<usize>,
) -> Outcome<()> {
    ask(TypeQuestion { name, size, base, count }, ncid, ty, ENUM)
}

/// What is asked of a field of a compound; null for what is not asked.
#[derive(Debug, Clone, Copy, Default)]
struct FieldQuestion {
    name: NameOut,
    offset: Out<usize>,
    ty: Out<c_int>,
    rank: Out<c_int>,
    lens: Out<c_int>,
}

/// Functions that ask one thing of a field.
macro_rules! field_questions {
    ($($name:ident($part:ident: $role:ty);)*) => {$(
        pub(crate) fn $name(ncid: c_int, of: c_int, index: c_int, $part: $role) -> Outcome<()> {
            let FieldQuestion { name, offset, ty, rank, lens } = FieldQuestion { $part, ..FieldQuestion::default() };
            match table_of(ncid) {
                None => types::inq_field(ncid, of, index, name, offset, ty, rank, lens),
                Some(table) => table.inq_compound_field(ncid, of, index, name, offset, ty, rank, lens),
            }
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

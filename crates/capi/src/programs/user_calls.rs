//! Calls on files of formats that programs define, where one call of the library is not one of the table.
use crate::c_types::codes::{Code, NC_EFILTER, NC_ENOFILTER, Outcome};
use crate::c_types::memory::{Bytes, BytesOut, CText, In, NameOut, Out, UserTable};
use crate::files::{GLOBAL, size};
use crate::rules::slabs::CSlab;
use ncirrus::Atomic;
use ncirrus::netcdf::filters::{DEFLATE, SZIP};
use std::ffi::c_int;

/// What is asked of a variable: `inq_var_all` has an argument for each, null where nobody asks.
#[derive(Debug, Clone, Copy)]
struct VariableQuestion {
    name: NameOut,
    ty: Out<c_int>,
    rank: Out<c_int>,
    dims: Out<c_int>,
    attributes: Out<c_int>,
    shuffle: Out<c_int>,
    fletcher32: Out<c_int>,
    contiguous: Out<c_int>,
    chunks: Out<usize>,
    no_fill: Out<c_int>,
    fill: BytesOut,
    endian: Out<c_int>,
}

/// A question that asks nothing.
fn nothing() -> VariableQuestion {
    VariableQuestion {
        name: NameOut::none(),
        ty: Out::none(),
        rank: Out::none(),
        dims: Out::none(),
        attributes: Out::none(),
        shuffle: Out::none(),
        fletcher32: Out::none(),
        contiguous: Out::none(),
        chunks: Out::none(),
        no_fill: Out::none(),
        fill: BytesOut::none(),
        endian: Out::none(),
    }
}

impl VariableQuestion {
    fn ask(self, table: &UserTable, ncid: c_int, varid: c_int) -> Outcome<()> {
        let none = Out::none();
        table.inq_var_all(
            ncid,
            varid,
            self.name,
            self.ty,
            self.rank,
            self.dims,
            self.attributes,
            self.shuffle,
            none,
            none,
            self.fletcher32,
            self.contiguous,
            self.chunks,
            self.no_fill,
            self.fill,
            self.endian,
            Out::none(),
            Out::none(),
            Out::none(),
        )
    }
}

pub(crate) fn dim_count(table: &UserTable, ncid: c_int, count: Out<c_int>) -> Outcome<()> {
    table.inq(ncid, count, Out::none(), Out::none(), Out::none())
}

pub(crate) fn variable_count(table: &UserTable, ncid: c_int, count: Out<c_int>) -> Outcome<()> {
    table.inq(ncid, Out::none(), count, Out::none(), Out::none())
}

pub(crate) fn attribute_count(table: &UserTable, ncid: c_int, count: Out<c_int>) -> Outcome<()> {
    table.inq(ncid, Out::none(), Out::none(), count, Out::none())
}

pub(crate) fn dim_name(table: &UserTable, ncid: c_int, dim: c_int, name: NameOut) -> Outcome<()> {
    table.inq_dim(ncid, dim, name, Out::none())
}

pub(crate) fn dim_len(table: &UserTable, ncid: c_int, dim: c_int, len: Out<usize>) -> Outcome<()> {
    table.inq_dim(ncid, dim, NameOut::none(), len)
}

pub(crate) fn group_name_len(table: &UserTable, ncid: c_int, len: Out<usize>) -> Outcome<()> {
    table.inq_grpname_full(ncid, len, NameOut::none())
}

/// `nc_enddef`: no room is asked for.
pub(crate) fn enddef(table: &UserTable, ncid: c_int) -> Outcome<()> {
    table._enddef(ncid, 0, 1, 0, 1)
}

pub(crate) fn att_type(
    table: &UserTable,
    ncid: c_int,
    varid: c_int,
    name: CText,
    ty: Out<c_int>,
) -> Outcome<()> {
    table.inq_att(ncid, varid, name, ty, Out::none())
}

pub(crate) fn att_len(
    table: &UserTable,
    ncid: c_int,
    varid: c_int,
    name: CText,
    len: Out<usize>,
) -> Outcome<()> {
    table.inq_att(ncid, varid, name, Out::none(), len)
}

/// Values of an attribute, as another type if one is given.
pub(crate) fn get_att(
    table: &UserTable,
    ncid: c_int,
    varid: c_int,
    name: CText,
    memory: Option<Atomic>,
    out: BytesOut,
) -> Outcome<()> {
    let mut ty = memory.map_or(0, number_of);
    if memory.is_none() {
        table.inq_att(ncid, varid, name, Out::of(&mut ty), Out::none())?;
    }
    table.get_att(ncid, varid, name, out, ty)
}

/// `nc_get_att`.
pub(crate) fn get_own_att(
    table: &UserTable,
    ncid: c_int,
    varid: c_int,
    name: CText,
    out: BytesOut,
) -> Outcome<()> {
    get_att(table, ncid, varid, name, None, out)
}

/// `nc_put_att`: values of the attribute's own type.
pub(crate) fn put_own_att(
    table: &UserTable,
    ncid: c_int,
    varid: c_int,
    name: CText,
    ty: c_int,
    len: usize,
    data: Bytes,
) -> Outcome<()> {
    table.put_att(ncid, varid, name, ty, len, data, ty)
}

/// The number of a type of memory.
pub(crate) fn number_of(memory: Atomic) -> c_int {
    c_int::from(memory.number())
}

#[expect(clippy::too_many_arguments, reason = "as C has them")]
pub(crate) fn var(
    table: &UserTable,
    ncid: c_int,
    varid: c_int,
    name: NameOut,
    ty: Out<c_int>,
    rank: Out<c_int>,
    dims: Out<c_int>,
    attributes: Out<c_int>,
) -> Outcome<()> {
    VariableQuestion { name, ty, rank, dims, attributes, ..nothing() }.ask(table, ncid, varid)
}

/// Functions that ask one or two things of a variable.
macro_rules! questions {
    ($($name:ident($($part:ident: $role:ty),+);)*) => {$(
        pub(crate) fn $name(table: &UserTable, ncid: c_int, varid: c_int, $($part: $role),+) -> Outcome<()> {
            VariableQuestion { $($part,)+ ..nothing() }.ask(table, ncid, varid)
        }
    )*};
}

questions! {
    var_name(name: NameOut);
    var_type(ty: Out<c_int>);
    var_rank(rank: Out<c_int>);
    var_dims(dims: Out<c_int>);
    chunking(contiguous: Out<c_int>, chunks: Out<usize>);
    fletcher32(fletcher32: Out<c_int>);
    fill(no_fill: Out<c_int>, fill: BytesOut);
    endian(endian: Out<c_int>);
}

pub(crate) fn var_attribute_count(
    table: &UserTable,
    ncid: c_int,
    varid: c_int,
    attributes: Out<c_int>,
) -> Outcome<()> {
    if varid == GLOBAL {
        return attribute_count(table, ncid, attributes);
    }
    VariableQuestion { attributes, ..nothing() }.ask(table, ncid, varid)
}

/// The parameters of a filter; `None` if the variable does not have it.
fn filter_parameters(table: &UserTable, ncid: c_int, varid: c_int, id: u32) -> Outcome<Option<Vec<u32>>> {
    let (mut count, mut words) = (0, [0; 64]);
    match table.inq_var_filter_info(ncid, varid, id, Out::of(&mut count), Out::of_all(&mut words)) {
        Ok(()) => Ok(words.get(..count).map(<[u32]>::to_vec)),
        Err(Code(NC_ENOFILTER)) => Ok(None),
        Err(code) => Err(code),
    }
}

pub(crate) fn deflate(
    table: &UserTable,
    ncid: c_int,
    varid: c_int,
    shuffle: Out<c_int>,
    deflate: Out<c_int>,
    level: Out<c_int>,
) -> Outcome<()> {
    let found = filter_parameters(table, ncid, varid, DEFLATE)?;
    deflate.set(c_int::from(found.is_some()));
    level.set(found.and_then(|words| words.first().map(|word| word.cast_signed())).unwrap_or(0));
    VariableQuestion { shuffle, ..nothing() }.ask(table, ncid, varid)
}

pub(crate) fn szip(
    table: &UserTable,
    ncid: c_int,
    varid: c_int,
    options: Out<c_int>,
    pixels: Out<c_int>,
) -> Outcome<()> {
    let found = match filter_parameters(table, ncid, varid, SZIP)?.as_deref() {
        None => [0, 0],
        Some([options, pixels] | [options, pixels, _, _]) => [options.cast_signed(), pixels.cast_signed()],
        Some(_) => return Err(Code(NC_EFILTER)),
    };
    options.set(found[0]);
    pixels.set(found[1]);
    Ok(())
}

/// `nc_inq_var_filter`: the first filter.
pub(crate) fn filter(
    table: &UserTable,
    ncid: c_int,
    varid: c_int,
    id: Out<u32>,
    count: Out<usize>,
    words: Out<u32>,
) -> Outcome<()> {
    let mut filters = 0;
    table.inq_var_filter_ids(ncid, varid, Out::of(&mut filters), Out::none())?;
    if filters == 0 {
        return Err(Code(NC_ENOFILTER));
    }
    let mut ids = vec![0; filters.min(MAX_FILTERS)];
    table.inq_var_filter_ids(ncid, varid, Out::of(&mut filters), Out::of_all(&mut ids))?;
    let first = ids.first().copied().unwrap_or(0);
    id.set(first);
    table.inq_var_filter_info(ncid, varid, first, count, words)
}

/// More filters than a variable has.
const MAX_FILTERS: usize = 1 << 16;

/// `nc_def_var_filter`: the variable is asked for first.
pub(crate) fn def_filter(
    table: &UserTable,
    ncid: c_int,
    varid: c_int,
    id: u32,
    count: usize,
    words: In<u32>,
) -> Outcome<()> {
    type_of(table, ncid, varid)?;
    table.def_var_filter(ncid, varid, id, count, words)
}

pub(crate) fn def_szip(
    table: &UserTable,
    ncid: c_int,
    varid: c_int,
    options: c_int,
    pixels: c_int,
) -> Outcome<()> {
    let words = [options.cast_unsigned(), pixels.cast_unsigned()];
    def_filter(table, ncid, varid, SZIP, words.len(), In::of(&words))
}

/// The type of a variable.
pub(crate) fn type_of(table: &UserTable, ncid: c_int, varid: c_int) -> Outcome<c_int> {
    let mut ty = 0;
    VariableQuestion { ty: Out::of(&mut ty), ..nothing() }.ask(table, ncid, varid)?;
    Ok(ty)
}

/// The dimensions of a variable.
pub(crate) fn dims(table: &UserTable, ncid: c_int, varid: c_int) -> Outcome<Vec<c_int>> {
    let mut dims = vec![0; rank(table, ncid, varid)?];
    if !dims.is_empty() {
        VariableQuestion { dims: Out::of_all(&mut dims), ..nothing() }.ask(table, ncid, varid)?;
    }
    Ok(dims)
}

/// The unlimited dimensions of a group.
pub(crate) fn unlimited(table: &UserTable, ncid: c_int) -> Outcome<Vec<c_int>> {
    let mut count = 0;
    table.inq_unlimdims(ncid, Out::of(&mut count), Out::none())?;
    let mut dims = vec![0; size(u64::try_from(count).unwrap_or(0))?.min(MAX_DIMS)];
    if !dims.is_empty() {
        table.inq_unlimdims(ncid, Out::of(&mut count), Out::of_all(&mut dims))?;
    }
    Ok(dims)
}

/// How many elements each axis of a variable has.
fn shape(table: &UserTable, ncid: c_int, varid: c_int) -> Outcome<Vec<usize>> {
    let len = |dim: c_int| {
        let mut len = 0;
        table.inq_dim(ncid, dim, NameOut::none(), Out::of(&mut len)).map(|()| len)
    };
    dims(table, ncid, varid)?.into_iter().map(len).collect()
}

fn rank(table: &UserTable, ncid: c_int, varid: c_int) -> Outcome<usize> {
    let mut rank = 0;
    VariableQuestion { rank: Out::of(&mut rank), ..nothing() }.ask(table, ncid, varid)?;
    size(u64::try_from(rank).unwrap_or(0)).map(|rank| rank.min(MAX_DIMS))
}

/// The rank of a variable, and the bytes of an element in memory.
pub(crate) fn rank_and_element(table: &UserTable, ncid: c_int, varid: c_int) -> Outcome<(usize, usize)> {
    let mut len = 0;
    let ty = type_of(table, ncid, varid)?;
    crate::programs::user_types::inq_type(table, ncid, ty, NameOut::none(), Out::of(&mut len))?;
    Ok((rank(table, ncid, varid)?, len))
}

/// `NC_MAX_VAR_DIMS`.
const MAX_DIMS: usize = 1024;
/// Counts of one value.
const ONES: &[usize] = &[1; MAX_DIMS];
/// Strides of a box.
const STEPS: &[isize] = &[1; MAX_DIMS];

/// A box of a variable as a table is asked for it.
#[derive(Debug)]
struct UserBox {
    start: Vec<usize>,
    count: Vec<usize>,
}

/// What a call is about, as the table gets it.
enum UserSlab {
    /// From the caller's start on: counts of the caller or of ours.
    Box(In<usize>, In<usize>),
    /// All, or the whole shape from the caller's start on.
    Whole(UserBox, Option<In<usize>>),
    Steps(CSlab, In<isize>),
}

impl UserSlab {
    fn of(table: &UserTable, ncid: c_int, varid: c_int, slab: Option<CSlab>) -> Outcome<Self> {
        let whole = || {
            let count = shape(table, ncid, varid)?;
            Ok::<_, Code>(UserBox { start: vec![0; count.len()], count })
        };
        let Some(slab) = slab else { return Ok(Self::Whole(whole()?, None)) };
        match (slab.count, slab.stride) {
            (None, _) => Ok(Self::Box(slab.start, In::of(ONES))),
            (Some(_), Some(stride)) if stride.is_null() => {
                rank(table, ncid, varid)?;
                Ok(Self::Steps(slab, In::of(STEPS)))
            }
            (Some(_), Some(stride)) => Ok(Self::Steps(slab, stride)),
            (Some(count), None) if count.is_null() => Ok(Self::Whole(whole()?, Some(slab.start))),
            (Some(count), None) => Ok(Self::Box(slab.start, count)),
        }
    }
}

/// The type of memory that the table is told: for boxes without one, the variable's own.
fn memory_type(
    table: &UserTable,
    (ncid, varid): (c_int, c_int),
    slab: Option<CSlab>,
    memory: Option<Atomic>,
) -> Outcome<c_int> {
    if let Some(memory) = memory {
        return Ok(number_of(memory));
    }
    let is_box = slab.is_some_and(|slab| slab.count.is_some() && slab.stride.is_none());
    if is_box { type_of(table, ncid, varid) } else { Ok(0) }
}

/// Reads a slab, or the whole variable; as another type, if one is given.
pub(crate) fn get(
    table: &UserTable,
    (ncid, varid): (c_int, c_int),
    slab: Option<CSlab>,
    memory: Option<Atomic>,
    out: BytesOut,
) -> Outcome<()> {
    let ty = memory_type(table, (ncid, varid), slab, memory)?;
    match UserSlab::of(table, ncid, varid, slab)? {
        UserSlab::Box(start, count) => table.get_vara(ncid, varid, start, count, out, ty),
        UserSlab::Whole(whole, start) => {
            let start = start.unwrap_or(In::of(&whole.start));
            table.get_vara(ncid, varid, start, In::of(&whole.count), out, ty)
        }
        UserSlab::Steps(slab, stride) => {
            table.get_vars(ncid, varid, slab.start, slab.count.unwrap_or(In::none()), stride, out, ty)
        }
    }
}

/// Writes a slab, or the whole variable; from another type, if one is given.
pub(crate) fn put(
    table: &UserTable,
    (ncid, varid): (c_int, c_int),
    slab: Option<CSlab>,
    memory: Option<Atomic>,
    data: Bytes,
) -> Outcome<()> {
    let ty = memory_type(table, (ncid, varid), slab, memory)?;
    match UserSlab::of(table, ncid, varid, slab)? {
        UserSlab::Box(start, count) => table.put_vara(ncid, varid, start, count, data, ty),
        UserSlab::Whole(whole, start) => {
            let start = start.unwrap_or(In::of(&whole.start));
            table.put_vara(ncid, varid, start, In::of(&whole.count), data, ty)
        }
        UserSlab::Steps(slab, stride) => {
            table.put_vars(ncid, varid, slab.start, slab.count.unwrap_or(In::none()), stride, data, ty)
        }
    }
}

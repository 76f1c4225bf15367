//! Calls on files of formats that programs define, where one call of the library is not one of the table.
use crate::c_types::codes::{Code, NC_EFILTER, NC_ENOFILTER, Outcome};
use crate::c_types::memory::{Bytes, BytesOut, CText, In, NameOut, Out, UserTable};
use crate::files::{GLOBAL, size};
use crate::programs::user_types;
use crate::rules::slabs::{CSlab, SlabMemory};
use ncirrus::Atomic;
use ncirrus::netcdf::filters::{DEFLATE, SZIP};
use std::ffi::c_int;

/// What is asked of a variable: `inq_var_all` has an argument for each, null for what is not asked.
#[derive(Debug, Clone, Copy, Default)]
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

impl VariableQuestion {
    fn ask(self, table: &UserTable, ncid: c_int, varid: c_int) -> Outcome<()> {
        let Self { name, ty, rank, dims, attributes, .. } = self;
        let Self { shuffle, fletcher32, contiguous, chunks, no_fill, fill, endian, .. } = self;
        let (deflate, level) = (Out::default(), Out::default());
        let (filter, count, words) = (Out::default(), Out::default(), Out::default());
        table.inq_var_all(
            ncid, varid, name, ty, rank, dims, attributes, shuffle, deflate, level, fletcher32, contiguous,
            chunks, no_fill, fill, endian, filter, count, words,
        )
    }
}

/// Functions that are one call of the table with fewer arguments.
macro_rules! table_calls {
    ($($name:ident($($argument:ident: $role:ty),*) = $call:ident($($passed:expr),*);)*) => {$(
        pub(crate) fn $name(table: &UserTable, ncid: c_int, $($argument: $role),*) -> Outcome<()> {
            table.$call(ncid, $($passed),*)
        }
    )*};
}

table_calls! {
    attribute_count(count: Out<c_int>) = inq(Out::default(), Out::default(), count, Out::default());
    dim_len(dim: c_int, len: Out<usize>) = inq_dim(dim, NameOut::default(), len);
    att_type(varid: c_int, name: CText, ty: Out<c_int>) = inq_att(varid, name, ty, Out::default());
    put_own_att(varid: c_int, name: CText, ty: c_int, len: usize, data: Bytes) = put_att(varid, name, ty, len, data, ty);
}

/// Values of an attribute, as another type if one is given.
pub(crate) fn get_att(
    table: &UserTable,
    (ncid, varid): (c_int, c_int),
    name: CText,
    memory: Option<Atomic>,
    out: BytesOut,
) -> Outcome<()> {
    let ty = match memory {
        Some(memory) => number_of(memory),
        None => Out::found(|ty| att_type(table, ncid, varid, name, ty))?,
    };
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
    get_att(table, (ncid, varid), name, None, out)
}

/// The number of a type of memory.
pub(crate) fn number_of(memory: Atomic) -> c_int {
    c_int::from(memory.number())
}

/// Functions that ask something of a variable.
macro_rules! questions {
    ($($(#[$lint:meta])* $name:ident($($part:ident: $role:ty),+);)*) => {$(
        $(#[$lint])*
        pub(crate) fn $name(table: &UserTable, ncid: c_int, varid: c_int, $($part: $role),+) -> Outcome<()> {
            VariableQuestion { $($part,)+ ..VariableQuestion::default() }.ask(table, ncid, varid)
        }
    )*};
}

questions! {
    #[expect(clippy::too_many_arguments, reason = "as C has them")]
    var(name: NameOut, ty: Out<c_int>, rank: Out<c_int>, dims: Out<c_int>, attributes: Out<c_int>);
    attributes(attributes: Out<c_int>);
    shuffle(shuffle: Out<c_int>);
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
    to: Out<c_int>,
) -> Outcome<()> {
    if varid == GLOBAL { attribute_count(table, ncid, to) } else { attributes(table, ncid, varid, to) }
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
    to: Out<c_int>,
    deflate: Out<c_int>,
    level: Out<c_int>,
) -> Outcome<()> {
    let found = filter_parameters(table, ncid, varid, DEFLATE)?;
    deflate.set(c_int::from(found.is_some()));
    level.set(found.and_then(|words| words.first().map(|word| word.cast_signed())).unwrap_or(0));
    shuffle(table, ncid, varid, to)
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
    pixels.store(found[1])
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
    table.inq_var_filter_ids(ncid, varid, Out::of(&mut filters), Out::default())?;
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
    mask: c_int,
    pixels: c_int,
) -> Outcome<()> {
    let words = [mask.cast_unsigned(), pixels.cast_unsigned()];
    def_filter(table, ncid, varid, SZIP, words.len(), In::of(&words))
}

/// The type of a variable.
pub(crate) fn type_of(table: &UserTable, ncid: c_int, varid: c_int) -> Outcome<c_int> {
    Out::found(|ty| var_type(table, ncid, varid, ty))
}

/// The dimensions of a variable.
pub(crate) fn dims(table: &UserTable, ncid: c_int, varid: c_int) -> Outcome<Vec<c_int>> {
    let mut dims = vec![0; rank(table, ncid, varid)?];
    if !dims.is_empty() {
        var_dims(table, ncid, varid, Out::of_all(&mut dims))?;
    }
    Ok(dims)
}

/// The unlimited dimensions of a group.
pub(crate) fn unlimited(table: &UserTable, ncid: c_int) -> Outcome<Vec<c_int>> {
    let mut count = 0;
    table.inq_unlimdims(ncid, Out::of(&mut count), Out::default())?;
    let mut dims = vec![0; size(u64::try_from(count).unwrap_or(0))?.min(MAX_DIMS)];
    if !dims.is_empty() {
        table.inq_unlimdims(ncid, Out::of(&mut count), Out::of_all(&mut dims))?;
    }
    Ok(dims)
}

/// How many elements each axis of a variable has.
fn shape(table: &UserTable, ncid: c_int, varid: c_int) -> Outcome<Vec<usize>> {
    dims(table, ncid, varid)?.into_iter().map(|dim| len_of(table, ncid, dim)).collect()
}

/// The length of a dimension.
pub(crate) fn len_of(table: &UserTable, ncid: c_int, dim: c_int) -> Outcome<usize> {
    Out::found(|len| dim_len(table, ncid, dim, len))
}

fn rank(table: &UserTable, ncid: c_int, varid: c_int) -> Outcome<usize> {
    let rank = Out::found(|rank| var_rank(table, ncid, varid, rank))?;
    size(u64::try_from(rank).unwrap_or(0)).map(|rank| rank.min(MAX_DIMS))
}

/// The rank of a variable, and the bytes of an element in memory.
pub(crate) fn rank_and_element(table: &UserTable, ncid: c_int, varid: c_int) -> Outcome<(usize, usize)> {
    let len = element_len(table, ncid, type_of(table, ncid, varid)?)?;
    Ok((rank(table, ncid, varid)?, len))
}

/// The bytes of an element of a type in memory.
pub(crate) fn element_len(table: &UserTable, ncid: c_int, ty: c_int) -> Outcome<usize> {
    Out::found(|len| user_types::inq_type(table, ncid, ty, NameOut::default(), len))
}

/// `NC_MAX_VAR_DIMS`.
const MAX_DIMS: usize = 1024;
/// Counts of one value.
const ONES: &[usize] = &[1; MAX_DIMS];
/// Strides of a box.
const STEPS: &[isize] = &[1; MAX_DIMS];

/// Reads or writes a box.
pub(crate) fn transfer_box(
    table: &UserTable,
    (ncid, varid): (c_int, c_int),
    [start, count]: [In<usize>; 2],
    memory: SlabMemory,
    ty: c_int,
) -> Outcome<()> {
    match memory {
        SlabMemory::Read(out) => table.get_vara(ncid, varid, start, count, out, ty),
        SlabMemory::Written(data) => table.put_vara(ncid, varid, start, count, data, ty),
    }
}

/// Reads or writes a slab, or the whole variable, with distances in memory if there is a map; as another type, if one is given.
pub(crate) fn transfer(
    table: &UserTable,
    at: (c_int, c_int),
    slab: Option<CSlab>,
    map: Option<In<isize>>,
    of: Option<Atomic>,
    memory: SlabMemory,
) -> Outcome<()> {
    let (ncid, varid) = at;
    if let Some((slab, map)) = slab.zip(map) {
        let (start, count) = (slab.start, slab.count.unwrap_or_default());
        let (stride, ty) = (slab.stride.unwrap_or_default(), of.map_or(0, number_of));
        return match memory {
            SlabMemory::Read(out) => table.get_varm(ncid, varid, start, count, stride, map, out, ty),
            SlabMemory::Written(data) => table.put_varm(ncid, varid, start, count, stride, map, data, ty),
        };
    }
    let ty = of.map_or(0, number_of);
    let Some(slab) = slab else {
        let count = shape(table, ncid, varid)?;
        let start = vec![0; count.len()];
        return transfer_box(table, at, [In::of(&start), In::of(&count)], memory, ty);
    };
    let start = slab.start;
    match (slab.count, slab.stride) {
        (None, _) => transfer_box(table, at, [start, In::of(ONES)], memory, ty),
        (Some(count), None) => {
            // For boxes the table is passed the variable's own type.
            let ty = if of.is_none() { type_of(table, ncid, varid)? } else { ty };
            if !count.is_null() {
                return transfer_box(table, at, [start, count], memory, ty);
            }
            let count = shape(table, ncid, varid)?;
            transfer_box(table, at, [start, In::of(&count)], memory, ty)
        }
        (Some(count), Some(mut stride)) => {
            if stride.is_null() {
                rank(table, ncid, varid)?;
                stride = In::of(STEPS);
            }
            match memory {
                SlabMemory::Read(out) => table.get_vars(ncid, varid, start, count, stride, out, ty),
                SlabMemory::Written(data) => table.put_vars(ncid, varid, start, count, stride, data, ty),
            }
        }
    }
}

//! How variables are stored: chunks, filters, byte order, fill value.
use crate::codes::{
    Code, NC_EBADTYPE, NC_EGLOBAL, NC_EINVAL, NC_ENOFILTER, NC_ENOTNC4, NC_ENOTVAR, NC_ERANGE, Outcome,
};
use crate::files::{FileGroup, GLOBAL, group_of, session, size};
use crate::layouts;
use crate::memory::{BytesOut, Out};
use ncirrus::codec::{ChunkInfo, DecodedElement};
use ncirrus::model::{self, CodecSpace, default_fill};
use ncirrus::{CodecSpec, Endianness, FillValue, Storage, TypeRef};
use std::collections::BTreeMap;
use std::ffi::c_int;
use std::sync::{Mutex, PoisonError};

const CHUNKED: c_int = 0;
const CONTIGUOUS: c_int = 1;
const COMPACT: c_int = 2;
const VIRTUAL: c_int = 4;

/// A variable; the group itself is none.
fn stored(at: &FileGroup, varid: c_int) -> Outcome<&model::Variable> {
    at.variable(varid).map_err(|_| Code(NC_ENOTVAR))
}

/// The kind of storage, and the lengths of chunks.
pub(crate) fn chunking(ncid: c_int, varid: c_int, storage: Out<c_int>, lens: Out<usize>) -> Outcome<()> {
    let at = group_of(ncid)?;
    let variable = stored(&at, varid)?;
    if at.file.is_classic() {
        storage.set(CONTIGUOUS);
        return Ok(());
    }
    storage.set(match &variable.storage {
        Storage::Chunked(chunks) => {
            let chunks: Vec<usize> = chunks.iter().map(|len| size(*len)).collect::<Outcome<_>>()?;
            lens.set_all(chunks.get(..variable.rank()).unwrap_or(&chunks));
            CHUNKED
        }
        Storage::Contiguous | Storage::Default => CONTIGUOUS,
        Storage::Compact => COMPACT,
        Storage::Virtual => VIRTUAL,
    });
    Ok(())
}

/// The filters as HDF5 numbers them, with their parameters.
fn filters(variable: &model::Variable) -> Outcome<Vec<(u32, Vec<u32>)>> {
    let byte_len = match variable.ty {
        TypeRef::Atomic(atomic) => atomic.byte_len(),
        TypeRef::User(_) => None,
    };
    let shape = match &variable.storage {
        Storage::Chunked(chunks) => chunks.clone(),
        _ => Vec::new(),
    };
    let chunk = ChunkInfo { shape, element: DecodedElement::sized(byte_len) };
    let session = session()?;
    let translated = variable.filters.iter().filter_map(|spec| {
        match session.registry().translate(spec, CodecSpace::Hdf5, &chunk) {
            Ok(CodecSpec::Hdf5 { id, parameters, .. }) => Some((id, parameters)),
            _ => None,
        }
    });
    Ok(translated.collect())
}

pub(crate) const DEFLATE: u32 = 1;
pub(crate) const SHUFFLE: u32 = 2;
pub(crate) const FLETCHER32: u32 = 3;
pub(crate) const SZIP: u32 = 4;

pub(crate) fn deflate(
    ncid: c_int,
    varid: c_int,
    shuffle: Out<c_int>,
    deflate: Out<c_int>,
    level: Out<c_int>,
) -> Outcome<()> {
    let at = group_of(ncid)?;
    if at.file.is_classic() {
        deflate.set(0);
        level.set(0);
    }
    let filters = filters(stored(&at, varid)?)?;
    let found = filters.iter().find(|(id, _)| *id == DEFLATE);
    shuffle.set(c_int::from(filters.iter().any(|(id, _)| *id == SHUFFLE)));
    deflate.set(c_int::from(found.is_some()));
    let parameter = found.and_then(|(_, parameters)| parameters.first().copied());
    level.set(parameter.map_or(0, |level| c_int::try_from(level).unwrap_or(0)));
    Ok(())
}

pub(crate) fn fletcher32(ncid: c_int, varid: c_int, is_set: Out<c_int>) -> Outcome<()> {
    let at = group_of(ncid)?;
    let has = filters(stored(&at, varid)?)?.iter().any(|(id, _)| *id == FLETCHER32);
    is_set.set(c_int::from(has));
    Ok(())
}

/// The filters, in their order.
fn listed(at: &FileGroup, varid: c_int) -> Outcome<Vec<(u32, Vec<u32>)>> {
    if at.file.is_classic() {
        return Ok(Vec::new());
    }
    let mut list = filters(stored(at, varid)?)?;
    if at.file.is_hdf5() {
        list.iter_mut().filter(|(id, _)| *id == SZIP).for_each(|(_, list)| keep_chosen(list));
    }
    Ok(list)
}

/// Of szip's parameters, those that the program chose: HDF5 adds flags and two more about the chunk.
fn keep_chosen(parameters: &mut Vec<u32>) {
    const ENTROPY: u32 = 4;
    const NEAREST: u32 = 32;
    parameters.truncate(2);
    if let Some(mask) = parameters.first_mut() {
        *mask &= ENTROPY | NEAREST;
    }
}

pub(crate) fn szip(ncid: c_int, varid: c_int, mask: Out<c_int>, pixels: Out<c_int>) -> Outcome<()> {
    let at = group_of(ncid)?;
    if at.file.is_classic() {
        // Of files that have no filters, variables that do not exist have none either.
        mask.set(0);
        pixels.set(0);
        return Ok(());
    }
    let list = listed(&at, varid)?;
    let found = list.iter().find(|(id, _)| *id == SZIP);
    let parameter = |index: usize| found.and_then(|(_, list)| list.get(index)).map_or(0, |one| *one);
    mask.set(c_int::try_from(parameter(0)).unwrap_or(0));
    pixels.set(c_int::try_from(parameter(1)).unwrap_or(0));
    Ok(())
}

pub(crate) fn filter_ids(ncid: c_int, varid: c_int, count: Out<usize>, ids: Out<u32>) -> Outcome<()> {
    let at = group_of(ncid)?;
    let list: Vec<u32> = listed(&at, varid)?.into_iter().map(|(id, _)| id).collect();
    count.set(list.len());
    ids.set_all(&list);
    Ok(())
}

/// The parameters of a filter by its number.
pub(crate) fn filter_info(
    ncid: c_int,
    varid: c_int,
    id: u32,
    count: Out<usize>,
    parameters: Out<u32>,
) -> Outcome<()> {
    let at = group_of(ncid)?;
    let list = listed(&at, varid)?;
    let (_, found) = list.iter().find(|(other, _)| *other == id).ok_or(Code(NC_ENOFILTER))?;
    count.set(found.len());
    parameters.set_all(found);
    Ok(())
}

/// The first filter; number 0 if there is none.
pub(crate) fn filter(
    ncid: c_int,
    varid: c_int,
    id: Out<u32>,
    count: Out<usize>,
    parameters: Out<u32>,
) -> Outcome<()> {
    let at = group_of(ncid)?;
    let list = listed(&at, varid)?;
    let (first, found) = list.first().cloned().unwrap_or_default();
    id.set(first);
    count.set(found.len());
    parameters.set_all(&found);
    Ok(())
}

/// The byte order of stored numbers.
pub(crate) fn endian(ncid: c_int, varid: c_int, endian: Out<c_int>) -> Outcome<()> {
    let at = group_of(ncid)?;
    let variable = stored(&at, varid)?;
    if at.file.is_classic() {
        return if endian.is_null() { Ok(()) } else { Err(Code(NC_ENOTNC4)) };
    }
    endian.set(match (variable.ty, variable.endianness) {
        (TypeRef::User(_), _) | (_, Endianness::Native) => 0,
        (_, Endianness::Little) => 1,
        (_, Endianness::Big) => 2,
    });
    Ok(())
}

/// Whether elements are filled, and with what.
pub(crate) fn fill(ncid: c_int, varid: c_int, no_fill: Out<c_int>, value: BytesOut) -> Outcome<()> {
    let at = group_of(ncid)?;
    let variable = stored(&at, varid)?;
    no_fill.set(c_int::from(variable.fill == FillValue::None));
    if value.is_null() {
        return Ok(());
    }
    let own = match (&variable.fill, variable.ty) {
        (FillValue::Own(own), _) => own.clone(),
        (_, TypeRef::Atomic(atomic)) => default_fill(atomic),
        (_, ty) => at.model().zeros(ty, 1, 32).ok_or(Code(NC_EBADTYPE))?,
    };
    value.write(&layouts::image(&at.members, variable.ty, &own)?)
}

/// How values are rounded when they are written.
pub(crate) fn quantize(ncid: c_int, varid: c_int, mode: Out<c_int>, digits: Out<c_int>) -> Outcome<()> {
    let at = group_of(ncid)?;
    if varid == GLOBAL {
        return Err(Code(NC_EGLOBAL));
    }
    if at.file.is_classic() {
        return Err(Code(NC_ENOTNC4));
    }
    stored(&at, varid)?;
    let attributes = at.attributes(varid)?;
    let names = [
        "_QuantizeBitGroomNumberOfSignificantDigits",
        "_QuantizeGranularBitRoundNumberOfSignificantDigits",
        "_QuantizeBitRoundNumberOfSignificantBits",
    ];
    let found = (1..).zip(names).find_map(|(mode, name)| {
        let kept = attributes.find(name)?.values.integer(0)?;
        Some((mode, c_int::try_from(kept).ok()?))
    });
    let (of, kept) = found.unwrap_or((0, 0));
    mode.set(of);
    digits.set(kept);
    Ok(())
}

/// Whether a filter of a number can be used.
pub(crate) fn filter_avail(ncid: c_int, id: u32) -> Outcome<()> {
    let at = group_of(ncid)?;
    if at.file.is_classic() {
        return Err(Code(NC_ENOFILTER));
    }
    let entry = session()?.registry().entry(&CodecSpec::hdf5(id, &[]));
    entry.map(|_| ()).ok_or(Code(NC_ENOFILTER))
}

/// The parameters of a filter, if the variable has it.
fn parameters(ncid: c_int, varid: c_int, id: u32) -> Outcome<Option<Vec<u32>>> {
    let list = listed(&group_of(ncid)?, varid)?;
    Ok(list.into_iter().find(|(other, _)| *other == id).map(|(_, parameters)| parameters))
}

/// Bytes of decoded chunks, slots, and preference, that a program chose for a variable or for new files; they are answered
/// again.
#[derive(Debug, Clone, Copy)]
struct CacheChoice {
    bytes: usize,
    slots: usize,
    preemption: f32,
}

/// What netCDF-C holds per variable if nothing was chosen.
const DEFAULT_CACHE: CacheChoice = CacheChoice { bytes: 16 << 20, slots: 4133, preemption: 0.75 };
static CACHE: Mutex<CacheChoice> = Mutex::new(DEFAULT_CACHE);
static VARIABLE_CACHES: Mutex<BTreeMap<(c_int, c_int), CacheChoice>> = Mutex::new(BTreeMap::new());

impl CacheChoice {
    fn checked(bytes: usize, slots: usize, preemption: f32) -> Outcome<Self> {
        if !(0.0..=1.0).contains(&preemption) {
            return Err(Code(NC_EINVAL));
        }
        Ok(Self { bytes, slots, preemption })
    }

    fn tell(self, bytes: Out<usize>, slots: Out<usize>, preemption: Out<f32>) {
        bytes.set(self.bytes);
        slots.set(self.slots);
        preemption.set(self.preemption);
    }
}

/// `nc_set_chunk_cache`.
pub(crate) fn set_cache(bytes: usize, slots: usize, preemption: f32) -> Outcome<()> {
    let choice = CacheChoice::checked(bytes, slots, preemption)?;
    *CACHE.lock().unwrap_or_else(PoisonError::into_inner) = choice;
    Ok(())
}

/// `nc_get_chunk_cache`.
pub(crate) fn cache(bytes: Out<usize>, slots: Out<usize>, preemption: Out<f32>) -> Outcome<()> {
    CACHE.lock().unwrap_or_else(PoisonError::into_inner).tell(bytes, slots, preemption);
    Ok(())
}

/// `nc_set_var_chunk_cache`.
pub(crate) fn set_variable_cache(
    ncid: c_int,
    varid: c_int,
    bytes: usize,
    slots: usize,
    preemption: f32,
) -> Outcome<()> {
    let at = group_of(ncid)?;
    if at.file.is_classic() {
        return Err(Code(NC_ENOTNC4));
    }
    let choice = CacheChoice::checked(bytes, slots, preemption)?;
    stored(&at, varid)?;
    VARIABLE_CACHES.lock().unwrap_or_else(PoisonError::into_inner).insert((ncid, varid), choice);
    Ok(())
}

/// `nc_get_var_chunk_cache`.
pub(crate) fn variable_cache(
    ncid: c_int,
    varid: c_int,
    bytes: Out<usize>,
    slots: Out<usize>,
    preemption: Out<f32>,
) -> Outcome<()> {
    let at = group_of(ncid)?;
    if at.file.is_classic() {
        return Err(Code(NC_ENOTNC4));
    }
    stored(&at, varid)?;
    let own = VARIABLE_CACHES.lock().unwrap_or_else(PoisonError::into_inner).get(&(ncid, varid)).copied();
    let choice = own.unwrap_or_else(|| *CACHE.lock().unwrap_or_else(PoisonError::into_inner));
    choice.tell(bytes, slots, preemption);
    Ok(())
}

/// Forgets what was chosen for the variables of a file that is closed.
pub(crate) fn forget_caches(ncid: c_int) {
    let file = ncid >> 16;
    VARIABLE_CACHES.lock().unwrap_or_else(PoisonError::into_inner).retain(|(id, _), _| id >> 16 != file);
}

/// The only parameter of zstd or bzip2, and whether the variable has the filter.
fn level(ncid: c_int, varid: c_int, id: u32, has: Out<c_int>, level: Out<c_int>) -> Outcome<()> {
    let found = known_filter(ncid, varid, id)?;
    has.set(c_int::from(found.is_some()));
    if let Some(first) = found.and_then(|list| list.first().copied()) {
        level.set(first.cast_signed());
    }
    Ok(())
}

/// `nc_inq_var_bzip2`.
pub(crate) fn bzip2(ncid: c_int, varid: c_int, has: Out<c_int>, of: Out<c_int>) -> Outcome<()> {
    level(ncid, varid, 307, has, of)
}

/// `nc_inq_var_zstandard`.
pub(crate) fn zstandard(ncid: c_int, varid: c_int, has: Out<c_int>, of: Out<c_int>) -> Outcome<()> {
    level(ncid, varid, 32015, has, of)
}

/// `nc_inq_var_blosc`.
pub(crate) fn blosc(
    ncid: c_int,
    varid: c_int,
    has: Out<c_int>,
    codec: Out<u32>,
    level: Out<u32>,
    block: Out<u32>,
    shuffle: Out<u32>,
) -> Outcome<()> {
    let found = known_filter(ncid, varid, 32001)?;
    has.set(c_int::from(found.is_some()));
    if let Some([_, _, _, size, of, mode, kind, ..]) = found.as_deref() {
        codec.set(*kind);
        level.set(*of);
        block.set(*size);
        shuffle.set(*mode);
    }
    Ok(())
}

/// The parameters of a filter that can be used, if the variable has it.
fn known_filter(ncid: c_int, varid: c_int, id: u32) -> Outcome<Option<Vec<u32>>> {
    filter_avail(ncid, id)?;
    parameters(ncid, varid, id)
}

/// Bytes of a cache as the functions of Fortran count them.
const MEGABYTE: usize = 1 << 20;

/// `nc_set_chunk_cache_ints`: the preference in percent.
pub(crate) fn set_cache_ints(bytes: c_int, slots: c_int, percent: c_int) -> Outcome<()> {
    let (Ok(bytes), Ok(slots)) = (usize::try_from(bytes), usize::try_from(slots)) else {
        return Err(Code(NC_EINVAL));
    };
    if bytes == 0 || slots == 0 || !(0..=100).contains(&percent) {
        return Err(Code(NC_EINVAL));
    }
    set_cache(bytes, slots, part_of(percent))
}

fn part_of(percent: c_int) -> f32 {
    f32::from(i16::try_from(percent).unwrap_or(0)) / 100.0
}

#[expect(clippy::cast_possible_truncation, reason = "between 0 and 100")]
fn percent_of(part: f32) -> c_int {
    (part * 100.0) as c_int
}

/// `nc_get_chunk_cache_ints`.
pub(crate) fn cache_ints(bytes: Out<c_int>, slots: Out<c_int>, percent: Out<c_int>) -> Outcome<()> {
    let choice = *CACHE.lock().unwrap_or_else(PoisonError::into_inner);
    bytes.set(crate::files::number(choice.bytes));
    slots.set(crate::files::number(choice.slots));
    percent.set(percent_of(choice.preemption));
    Ok(())
}

/// `nc_set_var_chunk_cache_ints`: the size in MiB; what is negative stays as it was.
pub(crate) fn set_variable_cache_ints(
    ncid: c_int,
    varid: c_int,
    size: c_int,
    slots: c_int,
    percent: c_int,
) -> Outcome<()> {
    // What is below zero stands for what new variables have.
    let (mut usual, mut usual_slots, mut part) = (0, 0, 0.0);
    cache(Out::of(&mut usual), Out::of(&mut usual_slots), Out::of(&mut part))?;
    let bytes = usize::try_from(size).map_or(usual, |size| size.saturating_mul(MEGABYTE));
    let slots = usize::try_from(slots).unwrap_or(usual_slots);
    set_variable_cache(ncid, varid, bytes, slots, if percent < 0 { part } else { part_of(percent) })
}

/// `nc_get_var_chunk_cache_ints`.
pub(crate) fn variable_cache_ints(
    ncid: c_int,
    varid: c_int,
    size: Out<c_int>,
    slots: Out<c_int>,
    percent: Out<c_int>,
) -> Outcome<()> {
    let (mut bytes, mut count, mut part) = (0, 0, 0.0);
    variable_cache(ncid, varid, Out::of(&mut bytes), Out::of(&mut count), Out::of(&mut part))?;
    size.set(crate::files::number(bytes / MEGABYTE));
    slots.set(crate::files::number(count));
    percent.set(percent_of(part));
    Ok(())
}

/// `nc_inq_var_chunking_ints`.
pub(crate) fn chunking_ints(ncid: c_int, varid: c_int, kind: Out<c_int>, lens: Out<c_int>) -> Outcome<()> {
    let rank = stored(&group_of(ncid)?, varid)?.rank();
    let mut sizes = vec![0usize; rank];
    let sizes_out = Out::of_all(&mut sizes);
    let mut of = 0;
    chunking(ncid, varid, Out::of(&mut of), sizes_out)?;
    kind.set(of);
    if of != CHUNKED {
        return Ok(());
    }
    // What does not fit is cut off, as by the reference.
    let cut = |len: &usize| u32::try_from(*len & 0xffff_ffff).unwrap_or(0).cast_signed();
    lens.set_all(&sizes.iter().map(cut).collect::<Vec<_>>());
    let fits = sizes.iter().all(|len| c_int::try_from(*len).is_ok());
    if fits || lens.is_null() { Ok(()) } else { Err(Code(NC_ERANGE)) }
}

/// What the whole process has of it, which no other thread changes meanwhile.
pub(crate) fn held() -> Box<dyn std::any::Any> {
    Box::new((
        CACHE.lock().unwrap_or_else(PoisonError::into_inner),
        VARIABLE_CACHES.lock().unwrap_or_else(PoisonError::into_inner),
    ))
}

//! How variables are stored: chunks, filters, byte order, fill value.
use crate::c_types::codes::{Code, NC_EBADTYPE, NC_ENOFILTER, NC_ENOTNC4, NC_ERANGE, Outcome};
use crate::c_types::memory::{BytesOut, Out};
use crate::definitions::inquiry::variable;
use crate::definitions::layouts;
use crate::files::{FileGroup, check_not_global, group_of, session, size};
use ncirrus::codec::{ChunkInfo, DecodedElement};
use ncirrus::convert::Quantize;
use ncirrus::model::{self, CodecSpace, VarId, default_fill};
use ncirrus::netcdf::filters::{self, BLOSC, DEFLATE, FLETCHER32, SHUFFLE, SZIP};
use ncirrus::{Atomic, CodecSpec, Endianness, Storage, TypeRef, Values};
use std::ffi::c_int;

pub(crate) const CHUNKED: c_int = 0;
pub(crate) const CONTIGUOUS: c_int = 1;
pub(crate) const COMPACT: c_int = 2;
const VIRTUAL: c_int = 4;

/// The kind of storage, and the lengths of chunks.
pub(crate) fn chunking(ncid: c_int, varid: c_int, storage: Out<c_int>, lens: Out<usize>) -> Outcome<()> {
    let at = group_of(ncid)?;
    let variable = variable(&at, varid)?;
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
        // A scalar of Zarr has one chunk, which has no lengths.
        Storage::Default if at.file.is_zarr() => CHUNKED,
        Storage::Contiguous | Storage::Default => CONTIGUOUS,
        Storage::Compact => COMPACT,
        Storage::Virtual => VIRTUAL,
    });
    Ok(())
}

/// `nci_inq_var_shards`.
pub(crate) fn shards(ncid: c_int, varid: c_int, sharded: Out<c_int>, lens: Out<usize>) -> Outcome<()> {
    let at = group_of(ncid)?;
    let variable = variable(&at, varid)?;
    let shards = variable.shards.as_ref();
    sharded.set(c_int::from(shards.is_some()));
    if let Some(shards) = shards {
        let shape: Vec<usize> = shards.shape.iter().map(|len| size(*len)).collect::<Outcome<_>>()?;
        lens.set_all(shape.get(..variable.rank()).unwrap_or(&shape));
    }
    Ok(())
}

/// The filters as HDF5 numbers them, with their parameters.
fn numbered(variable: &model::Variable) -> Outcome<Vec<(u32, Vec<u32>)>> {
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
    let filters = numbered(variable(&at, varid)?)?;
    let found = filters.iter().find(|(id, _)| *id == DEFLATE);
    shuffle.set(c_int::from(filters.iter().any(|(id, _)| *id == SHUFFLE)));
    deflate.set(c_int::from(found.is_some()));
    let parameter = found.and_then(|(_, parameters)| parameters.first().copied());
    level.store(parameter.map_or(0, |level| c_int::try_from(level).unwrap_or(0)))
}

pub(crate) fn fletcher32(ncid: c_int, varid: c_int, is_set: Out<c_int>) -> Outcome<()> {
    let at = group_of(ncid)?;
    let has = numbered(variable(&at, varid)?)?.iter().any(|(id, _)| *id == FLETCHER32);
    is_set.store(c_int::from(has))
}

/// The filters, in their order.
fn listed(at: &FileGroup, varid: c_int) -> Outcome<Vec<(u32, Vec<u32>)>> {
    if at.file.is_classic() {
        return Ok(Vec::new());
    }
    let mut list = numbered(variable(at, varid)?)?;
    if at.file.is_hdf5() {
        list.iter_mut().filter(|(id, _)| *id == SZIP).for_each(|(_, list)| filters::chosen_of_szip(list));
    }
    Ok(list)
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
    pixels.store(c_int::try_from(parameter(1)).unwrap_or(0))
}

pub(crate) fn filter_ids(ncid: c_int, varid: c_int, count: Out<usize>, ids: Out<u32>) -> Outcome<()> {
    let at = group_of(ncid)?;
    let list: Vec<u32> = listed(&at, varid)?.into_iter().map(|(id, _)| id).collect();
    count.set(list.len());
    ids.store_all(&list)
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
    let variable = variable(&at, varid)?;
    if at.file.is_classic() {
        return if endian.is_null() { Ok(()) } else { Err(Code(NC_ENOTNC4)) };
    }
    let is_byte = matches!(variable.ty, TypeRef::Atomic(Atomic::Byte | Atomic::UByte));
    let id = at.variable_id(varid)?;
    let was_there = || at.file.core.was_opened_with(id);
    if at.file.core.look(|state| state.native.contains(&id)) {
        endian.set(0);
        return Ok(());
    }
    endian.set(match (variable.ty, variable.endianness) {
        // HDF5 has an order for bytes, too.
        (_, Endianness::Native) if is_byte && at.file.is_hdf5() && was_there() => 1,
        (TypeRef::User(_), _) | (_, Endianness::Native) => 0,
        (_, Endianness::Little) => 1,
        (_, Endianness::Big) => 2,
    });
    Ok(())
}

/// Whether elements are filled, and with what.
pub(crate) fn fill(ncid: c_int, varid: c_int, no_fill: Out<c_int>, value: BytesOut) -> Outcome<()> {
    let at = group_of(ncid)?;
    let variable = variable(&at, varid)?;
    let id = at.variable_id(varid)?;
    let told = at.file.core.look(|state| state.told_no_fill.get(&id).copied());
    let is_unfilled = told.unwrap_or(!variable.is_filled());
    no_fill.set(c_int::from(is_unfilled));
    if value.is_null() || (is_unfilled && !at.file.is_classic()) {
        return Ok(());
    }
    // In netCDF-3 the attribute counts, even if elements are not filled.
    let own = if at.file.is_classic() { variable.fill_attribute() } else { variable.own_fill() };
    let own = match (unwritten_value(&at, id), own) {
        (Some(unwritten), _) => unwritten,
        (None, Some(own)) => own.clone(),
        (None, None) => match at.model().base_atomic(variable.ty) {
            Some(atomic) => default_fill(atomic),
            None => at.model().zeros(variable.ty, 1, 32).ok_or(Code(NC_EBADTYPE))?,
        },
    };
    value.write(&layouts::image(&at.members, variable.ty, &own)?)
}

/// What HDF5 itself says of elements that were never written, of a variable that a file was opened with: it need not have an attribute.
fn unwritten_value(at: &FileGroup, id: VarId) -> Option<Values> {
    let asks = at.file.is_hdf5() && at.file.core.was_opened_with(id);
    let dataset = asks.then(|| at.file.core.look(|state| state.dataset.clone()))?;
    dataset.variable_by_id(id).unwritten_value().ok()
}

/// How values are rounded when they are written.
pub(crate) fn quantize(ncid: c_int, varid: c_int, mode: Out<c_int>, digits: Out<c_int>) -> Outcome<()> {
    check_not_global(ncid, varid)?;
    let at = group_of(ncid)?;
    at.file.check_netcdf4()?;
    variable(&at, varid)?;
    let attributes = at.attributes(varid)?;
    let kinds = [Quantize::BitGroom(0), Quantize::GranularBitRound(0), Quantize::BitRound(0)];
    let found = (1..).zip(kinds).find_map(|(mode, kind)| {
        let kept = attributes.find(kind.attribute_name())?.values.integer(0)?;
        Some((mode, c_int::try_from(kept).ok()?))
    });
    let (of, kept) = found.unwrap_or((0, 0));
    mode.set(of);
    digits.store(kept)
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

/// The only parameter of zstd or bzip2, and whether the variable has the filter.
pub(crate) fn level(ncid: c_int, varid: c_int, id: u32, has: Out<c_int>, level: Out<c_int>) -> Outcome<()> {
    let found = known_filter(ncid, varid, id)?;
    has.set(c_int::from(found.is_some()));
    if let Some(first) = found.and_then(|list| list.first().copied()) {
        level.set(first.cast_signed());
    }
    Ok(())
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
    let found = known_filter(ncid, varid, BLOSC)?;
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
    let list = listed(&group_of(ncid)?, varid)?;
    Ok(list.into_iter().find(|(other, _)| *other == id).map(|(_, parameters)| parameters))
}

/// `nc_inq_var_chunking_ints`.
pub(crate) fn chunking_ints(ncid: c_int, varid: c_int, kind: Out<c_int>, lens: Out<c_int>) -> Outcome<()> {
    let rank = variable(&group_of(ncid)?, varid)?.rank();
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

//! How variables are to be stored: chunks, filters, byte order, fill value, rounding.
use crate::c_types::codes::{
    Code, NC_EBADCHUNK, NC_EFILTER, NC_EHDFERR, NC_EINDEFINE, NC_EINVAL, NC_ELATEDEF, NC_ENOFILTER,
    NC_ENOTINDEFINE, Outcome,
};
use crate::c_types::memory::{Bytes, CText, In};
use crate::definitions::define::{default_chunks, set_no_fill, type_of, variable_id};
use crate::definitions::layouts;
use crate::definitions::storage::{CHUNKED, COMPACT, CONTIGUOUS, filter_avail};
use crate::files::file_edit::FileEdit;
use crate::files::{check_not_global, edit, group_of, session};
use ncirrus::codec::{ChunkInfo, DecodedElement};
use ncirrus::convert::Quantize;
use ncirrus::model::{CodecSpace, Stored, Variable, ZarrForm};
use ncirrus::netcdf::chunks::chosen_chunks;
use ncirrus::netcdf::filters::{self, BLOSC, DEFLATE, FLETCHER32, FilterRefusal, SHUFFLE, SZIP};
use ncirrus::{
    Atomic, Attribute, CodecSpec, Endianness, Error, Json, JsonMap, Shards, Storage, TypeRef, VarId,
};
use std::ffi::c_int;
use std::ops::RangeInclusive;

/// Bytes of values in a header.
const COMPACT_BYTES: u64 = 65536;

/// A variable whose storage is chosen: before it is there, and in define mode.
fn open_for_storage(edit: &mut FileEdit<'_>, varid: c_int) -> Outcome<VarId> {
    edit.file.check_netcdf4()?;
    edit.check_writable()?;
    let var = variable_id(edit, varid)?;
    if edit.state.stored.contains(&var) {
        return Err(Code(NC_ELATEDEF));
    }
    if !edit.state.is_defining {
        edit.enter_define_mode().map_err(|_| Code(NC_ENOTINDEFINE))?;
    }
    Ok(var)
}

/// A variable that gets a filter: its elements have a length, and it has dimensions.
fn open_for_filters(edit: &FileEdit<'_>, varid: c_int) -> Outcome<VarId> {
    let var = variable_id(edit, varid)?;
    if edit.model().packed_len(type_of(edit, var)?).is_none() {
        return Err(Code(NC_EFILTER));
    }
    edit.file.check_netcdf4()?;
    if !edit.state.is_defining {
        return Err(Code(NC_EINDEFINE));
    }
    if variable(edit, var)?.rank() == 0 {
        return Err(Code(NC_EINVAL));
    }
    if edit.state.stored.contains(&var) { Err(Code(NC_ELATEDEF)) } else { Ok(var) }
}

fn variable<'a>(edit: &'a FileEdit<'_>, var: VarId) -> Outcome<&'a Variable> {
    edit.model().variable(var).ok_or(Code(crate::c_types::codes::NC_ENOTVAR))
}

fn change(edit: &mut FileEdit<'_>, var: VarId, change: impl FnOnce(&mut Variable)) {
    if let Some(variable) = edit.model_mut().variable_mut(var) {
        change(variable);
    }
}

/// `nc_def_var_chunking`.
pub(crate) fn chunking(ncid: c_int, varid: c_int, storage: c_int, lens: In<usize>) -> Outcome<()> {
    edit(ncid, |edit| {
        let var = open_for_storage(edit, varid)?;
        let known = variable(edit, var)?;
        let rank = known.rank();
        let is_zarr = edit.file.is_zarr();
        let is_filtered = !known.filters.is_empty() && !is_zarr;
        let is_bound = is_filtered || edit.model().growing(var).contains(&true);
        let chosen = match storage {
            CONTIGUOUS | COMPACT if is_bound || is_zarr && rank == 0 => return Err(Code(NC_EINVAL)),
            // Zarr has chunks only: those of the definition stay.
            CONTIGUOUS | COMPACT if is_zarr => return Ok(()),
            COMPACT => {
                if byte_len(edit, var)? > COMPACT_BYTES {
                    return Err(Code(crate::c_types::codes::NC_EVARSIZE));
                }
                Storage::Compact
            }
            CONTIGUOUS => Storage::Contiguous,
            // Without dimensions there is nothing to cut.
            CHUNKED if rank == 0 => return Err(Code(NC_EINVAL)),
            CHUNKED if lens.is_null() => Storage::Chunked(default_chunks(edit, known)),
            CHUNKED => Storage::Chunked(checked_chunks(edit, var, lens.read(rank)?)?),
            _ => return Err(Code(NC_EINVAL)),
        };
        change(edit, var, |variable| variable.storage = chosen);
        Ok(())
    })
}

/// `nci_def_var_shards`.
pub(crate) fn shards(ncid: c_int, varid: c_int, lens: In<usize>) -> Outcome<()> {
    edit(ncid, |edit| {
        let var = open_for_storage(edit, varid)?;
        let known = variable(edit, var)?;
        if lens.is_null() {
            change(edit, var, |variable| variable.shards = None);
            return Ok(());
        }
        let stored = edit.file.core.format.kind.stored;
        if !matches!(stored, Stored::Zarr(ZarrForm::Zarr3 | ZarrForm::NcZarr3)) {
            return Err(Error::unsupported("shards are a feature of Zarr v3").into());
        }
        let Storage::Chunked(chunks) = known.storage.clone() else { return Err(Code(NC_EINVAL)) };
        let shape: Vec<u64> = lens.read(known.rank())?.iter().map(|len| *len as u64).collect();
        let is_multiple = |(len, chunk): (&u64, &u64)| *len > 0 && len.checked_rem(*chunk) == Some(0);
        if shape.len() != chunks.len() || !shape.iter().zip(&chunks).all(is_multiple) {
            return Err(Code(NC_EBADCHUNK));
        }
        change(edit, var, |variable| variable.shards = Some(Shards::new(shape)));
        Ok(())
    })
}

fn byte_len(edit: &FileEdit<'_>, var: VarId) -> Outcome<u64> {
    let element = layouts::size_of_type(edit.members(), type_of(edit, var)?)?.len as u64;
    Ok(edit.model().shape(var).iter().fold(element, |len, axis| len.saturating_mul(*axis)))
}

/// Chunks that fit the dimensions, and memory.
fn checked_chunks(edit: &FileEdit<'_>, var: VarId, lens: &[usize]) -> Outcome<Vec<u64>> {
    let element = layouts::size_of_type(edit.members(), type_of(edit, var)?)?.len as u64;
    let (shape, growing) = (edit.model().shape(var), edit.model().growing(var));
    let defaults = default_chunks(edit, variable(edit, var)?);
    chosen_chunks(lens, defaults, (&shape, &growing), element).ok_or(Code(NC_EBADCHUNK))
}

/// Puts variables with filters into chunks.
fn ensure_chunks(edit: &mut FileEdit<'_>, var: VarId) -> Outcome<()> {
    let known = variable(edit, var)?;
    if known.rank() > 0 && !matches!(known.storage, Storage::Chunked(_)) {
        let chunks = default_chunks(edit, known);
        change(edit, var, |variable| variable.storage = Storage::Chunked(chunks));
    }
    Ok(())
}

/// `nc_def_var_deflate`. What an earlier call chose stays: as by the reference, nothing is taken back, and level 0 stands for no
/// compression.
pub(crate) fn deflate(
    ncid: c_int,
    varid: c_int,
    shuffle: c_int,
    deflate: c_int,
    level: c_int,
) -> Outcome<()> {
    edit(ncid, |edit| {
        let var = open_for_storage(edit, varid)?;
        if shuffle != 0 {
            // For scalars this error comes before all other errors of filters.
            if variable(edit, var)?.rank() == 0 {
                return Err(Code(NC_EINVAL));
            }
            open_for_filters(edit, varid)?;
            add(edit, var, SHUFFLE, &[])?;
        }
        if deflate == 0 || level == 0 {
            return Ok(());
        }
        // What was chosen before the level was looked at stays.
        open_for_filters(edit, varid)?;
        add(edit, var, DEFLATE, &[level.cast_unsigned()])
    })
}

/// `nc_def_var_fletcher32`: a checksum that was chosen stays.
pub(crate) fn fletcher32(ncid: c_int, varid: c_int, is_set: c_int) -> Outcome<()> {
    edit(ncid, |edit| {
        let var = open_for_storage(edit, varid)?;
        if is_set != 0 && variable(edit, var)?.rank() == 0 {
            return Err(Code(NC_EINVAL));
        }
        open_for_filters(edit, varid)?;
        if is_set == 0 { Ok(()) } else { add(edit, var, FLETCHER32, &[]) }
    })
}

/// `nc_def_var_filter`.
pub(crate) fn filter(ncid: c_int, varid: c_int, id: u32, count: usize, parameters: In<u32>) -> Outcome<()> {
    edit(ncid, |edit| {
        let var = open_for_filters(edit, varid)?;
        add(edit, var, id, if count == 0 { &[] } else { parameters.read(count)? })
    })
}

/// `nc_def_var_filter_json`: filters in Zarr's words, one (`{"id": "zstd", "level": 5}`) or a list. A file of HDF5 has them
/// by their numbers.
pub(crate) fn filter_json(ncid: c_int, varid: c_int, json: CText) -> Outcome<()> {
    let json: Json = json.text()?.parse().map_err(|_| Code(NC_EINVAL))?;
    let listed = if let Json::Array(list) = json { list } else { vec![json] };
    let specs = listed.into_iter().map(|json| codec_of(json).ok_or(Code(NC_EINVAL)));
    let specs: Vec<CodecSpec> = specs.collect::<Outcome<_>>()?;
    edit(ncid, |edit| {
        let var = open_for_filters(edit, varid)?;
        let before = variable(edit, var)?.clone();
        let added = specs.into_iter().try_for_each(|spec| add_named(edit, var, spec));
        // All of them, or none.
        added.inspect_err(|_| change(edit, var, |variable| *variable = before))
    })
}

/// A codec of Zarr v2 (`id`), or of Zarr v3 (`name`, `configuration`).
fn codec_of(json: Json) -> Option<CodecSpec> {
    let Json::Object(mut map) = json else { return None };
    if map.get("id").is_some_and(Json::is_string) {
        return Some(CodecSpec::V2(map));
    }
    let name = map.get("name")?.as_str()?.to_owned();
    let configuration = match map.remove("configuration") {
        None => JsonMap::new(),
        Some(configuration) => configuration.as_object()?.clone(),
    };
    Some(CodecSpec::V3 { name, configuration })
}

fn add_named(edit: &mut FileEdit<'_>, var: VarId, spec: CodecSpec) -> Outcome<()> {
    ensure_chunks(edit, var)?;
    let known = variable(edit, var)?;
    let shape = if let Storage::Chunked(chunks) = &known.storage { chunks.clone() } else { Vec::new() };
    let element = match known.ty {
        TypeRef::Atomic(atomic) => atomic.byte_len(),
        TypeRef::User(_) => None,
    };
    let (session, chunk) = (session()?, ChunkInfo { shape, element: DecodedElement::sized(element) });
    let registry = session.registry();
    if registry.entry(&spec).is_none() {
        return Err(Code(NC_ENOFILTER));
    }
    registry.check_encodes(&spec, &chunk).map_err(|_| Code(NC_EFILTER))?;
    if edit.file.is_zarr() {
        change(edit, var, |variable| variable.filters.push(spec));
        return Ok(());
    }
    match registry.translate(&spec, CodecSpace::Hdf5, &chunk) {
        Ok(CodecSpec::Hdf5 { id, parameters, .. }) => add(edit, var, id, &parameters),
        _ => Err(Code(NC_ENOFILTER)),
    }
}

/// Adds a filter to a variable that may get one ([`open_for_filters`]).
fn add(edit: &mut FileEdit<'_>, var: VarId, id: u32, parameters: &[u32]) -> Outcome<()> {
    if !filters::is_number(id) {
        return Err(Code(NC_EHDFERR));
    }
    if session()?.registry().entry(&CodecSpec::hdf5(id, &[])).is_none() {
        return Err(Code(NC_ENOFILTER));
    }
    let known = variable(edit, var)?;
    let chunk = match &known.storage {
        Storage::Chunked(chunks) => chunks.clone(),
        _ => edit.model().shape(var),
    };
    let elements = chunk.iter().fold(1u64, |product, len| product.saturating_mul(*len));
    let elements = Some(elements).filter(|_| !chunk.is_empty());
    filters::check(id, parameters, &known.filters, elements).map_err(|refusal| match refusal {
        FilterRefusal::Parameters => Code(NC_EFILTER),
        FilterRefusal::Value => Code(NC_EINVAL),
    })?;
    ensure_chunks(edit, var)?;
    change(edit, var, |variable| filters::put(&mut variable.filters, id, parameters));
    Ok(())
}

/// `nc_def_var_szip`.
pub(crate) fn szip(ncid: c_int, varid: c_int, mask: c_int, pixels: c_int) -> Outcome<()> {
    let parameters = [mask.cast_unsigned(), pixels.cast_unsigned()];
    filter(ncid, varid, SZIP, 2, In::of(&parameters))
}

/// `nc_def_var_bzip2`, `nc_def_var_zstandard`: a filter whose only parameter is a level.
pub(crate) fn level(
    ncid: c_int,
    varid: c_int,
    id: u32,
    allowed: RangeInclusive<c_int>,
    level: c_int,
) -> Outcome<()> {
    filter_avail(ncid, id)?;
    if !allowed.contains(&level) {
        return Err(Code(NC_EINVAL));
    }
    filter(ncid, varid, id, 1, In::of(&[level.cast_unsigned()]))
}

/// `nc_def_var_blosc`: the codec in it, the level, bytes of a block, and whether bytes or bits are shuffled.
pub(crate) fn blosc(
    ncid: c_int,
    varid: c_int,
    codec: u32,
    level: u32,
    block: u32,
    shuffle: u32,
) -> Outcome<()> {
    filter_avail(ncid, BLOSC)?;
    if codec > 5 || level > 9 || shuffle > 2 {
        return Err(Code(NC_EINVAL));
    }
    filter(ncid, varid, BLOSC, 7, In::of(&[0, 0, 0, block, level, shuffle, codec]))
}

/// `nc_def_var_endian`.
pub(crate) fn endian(ncid: c_int, varid: c_int, order: c_int) -> Outcome<()> {
    edit(ncid, |edit| {
        let var = open_for_storage(edit, varid)?;
        let order = match order {
            0 => Endianness::Native,
            2 => Endianness::Big,
            // The reference takes any other number for this one.
            _ => Endianness::Little,
        };
        // Only numbers have an order of bytes.
        match variable(edit, var)?.ty {
            TypeRef::Atomic(atomic) if atomic.is_numeric() => {}
            _ => return Err(Code(NC_EINVAL)),
        }
        change(edit, var, |variable| variable.endianness = order);
        Ok(())
    })
}

/// `nc_def_var_quantize`.
pub(crate) fn quantize(ncid: c_int, varid: c_int, mode: c_int, kept: c_int) -> Outcome<()> {
    check_not_global(ncid, varid)?;
    edit(ncid, |edit| {
        let var = open_for_storage(edit, varid)?;
        let ty = type_of(edit, var)?;
        let kept = u32::try_from(kept).unwrap_or(0);
        let how = match mode {
            0 => None,
            1 => Some(Quantize::BitGroom(kept)),
            2 => Some(Quantize::GranularBitRound(kept)),
            3 => Some(Quantize::BitRound(kept)),
            _ => return Err(Code(NC_EINVAL)),
        };
        let is_fraction =
            matches!(ty, TypeRef::Atomic(atomic) if atomic.is_numeric() && !atomic.is_integer());
        if how.is_some() && !is_fraction {
            return Err(Code(NC_EINVAL));
        }
        if let Some(how) = how {
            how.check(ty).map_err(|_| Code(NC_EINVAL))?;
        }
        change(edit, var, |variable| {
            let list = variable.attributes.known_mut();
            if let Some(old) = Quantize::recorded(list) {
                list.remove(old.attribute_name());
            }
            if let Some(how) = how {
                list.put(how.attribute());
            }
        });
        Ok(())
    })
}

/// `nc_def_var_fill`.
pub(crate) fn fill(ncid: c_int, varid: c_int, no_fill: c_int, value: Bytes) -> Outcome<()> {
    check_not_global(ncid, varid)?;
    edit(ncid, |edit| {
        edit.check_writable()?;
        if edit.is_classic() && !edit.state.is_defining {
            return Err(Code(NC_ENOTINDEFINE));
        }
        let var = variable_id(edit, varid)?;
        let is_late = edit.state.stored.contains(&var);
        if is_late && !edit.is_classic() {
            return Err(Code(NC_ELATEDEF));
        }
        if !edit.is_classic() {
            edit.enter_define_mode()?;
        }
        if is_late {
            edit.state.told_no_fill.insert(var, no_fill != 0);
        }
        if no_fill != 0 {
            if type_of(edit, var)? == TypeRef::Atomic(Atomic::String) {
                return Err(Code(NC_EINVAL));
            }
            if !is_late {
                if !edit.is_classic() {
                    change(edit, var, |variable| _ = variable.attributes.known_mut().remove("_FillValue"));
                }
                set_no_fill(edit, var, true);
            }
            return Ok(());
        }
        if !is_late {
            set_no_fill(edit, var, false);
        }
        if value.is_null() {
            return Ok(());
        }
        let ty = type_of(edit, var)?;
        let len = layouts::size_of_type(edit.members(), ty)?.len;
        let values = layouts::values(edit.members(), ty, value.read(len)?)?;
        edit.state.keep_fill(var)?;
        change(edit, var, |variable| {
            let attribute = Attribute { name: "_FillValue".to_owned(), ty, values, is_json: false };
            // It becomes the last one.
            let list = variable.attributes.known_mut();
            list.remove("_FillValue");
            list.put(attribute);
        });
        Ok(())
    })
}

/// `nc_def_var_chunking_ints`.
pub(crate) fn chunking_ints(ncid: c_int, varid: c_int, kind: c_int, lens: In<c_int>) -> Outcome<()> {
    let at = group_of(ncid)?;
    let rank = at.variable(varid).map_err(|_| Code(crate::c_types::codes::NC_ENOTVAR))?.rank();
    if kind != CHUNKED || lens.is_null() {
        return chunking(ncid, varid, kind, In::default());
    }
    let lens = lens.read(rank)?.iter().map(|len| usize::try_from(*len).map_err(|_| Code(NC_EBADCHUNK)));
    chunking(ncid, varid, kind, In::of(&lens.collect::<Outcome<Vec<_>>>()?))
}

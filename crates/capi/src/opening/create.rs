//! Creating datasets: the kind by the flags, and what is remembered for the whole process.
use crate::c_types::codes::{
    self, Code, EACCES, ENAMETOOLONG, NC_EDISKLESS, NC_EEXIST, NC_EINMEMORY, NC_EINVAL, Outcome,
};
use crate::c_types::memory::{CText, Out};
use crate::c_types::modes::{DATA_64BIT, DISKLESS, INMEMORY, MMAP, NETCDF4, OFFSET_64BIT, PERSIST, WRITE};
use crate::files::file_state::{FileCore, FileFormat, FileOrigin};
use crate::files::{self, OpenFile};
use crate::opening::place_checks::{check_address, check_is_file_name, check_new};
use crate::opening::place_turns::PlaceTurn;
use crate::process::faults::{self, FaultPlace};
use crate::process::last_error;
use crate::process::local_place::{LocalPlace, address_of, anchored, trimmed};
use crate::programs::user_formats;
use ncirrus::{CreateOptions, Dataset, DefaultChunks, Detail, ErrorKind, Format, Kind};
use std::ffi::c_int;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicU64, AtomicUsize, Ordering};

const NOCLOBBER: c_int = 0x0004;
const CLASSIC_MODEL: c_int = 0x0100;
/// Flags that choose a format.
const FORMATS: c_int = NETCDF4 | OFFSET_64BIT | DATA_64BIT;

/// `NC_FORMAT_*` of files for which no flag says it.
static DEFAULT_FORMAT: AtomicI32 = AtomicI32::new(1);
/// The size of blocks of metadata that was chosen; 0 if none was.
static META_BLOCK: AtomicUsize = AtomicUsize::new(0);
/// Alignment of objects in new netCDF-4 files: the threshold above, the number below 32 bits.
static ALIGNMENT: AtomicU64 = AtomicU64::new((1 << 32) | 1);

/// `nc_create`.
pub(crate) fn create(path: CText, mode: c_int, ncid: Out<c_int>) -> Outcome<()> {
    create_on_processor(path, mode, 0, 0, Out::default(), ncid)
}

fn create_own(path: &CText, mode: c_int, ncid: Out<c_int>) -> Outcome<()> {
    let name = trimmed(path.bytes()?);
    let mode = mode & !WRITE;
    check_mode(mode)?;
    // The turn ends when the file has its id.
    let (core, _turn) = created(name, mode).inspect_err(|_| last_error::about(name))?;
    replace_others(&core);
    // The mode includes the default format.
    let mode = if core.format.netcdf() == Format::NetCdf4Classic { mode | CLASSIC_MODEL } else { mode };
    let id = files::insert(OpenFile::new(Arc::new(core), mode, name.to_vec(), true))?;
    ncid.store(id)
}

/// New files that were begun in the place of another new one, and are not there yet, do not come there any more.
fn replace_others(new: &FileCore) {
    for file in new.place.iter().flat_map(begun_at) {
        file.core.state().origin = FileOrigin::Replaced;
    }
}

/// New files of this process that are to come to a place.
fn begun_at(place: &LocalPlace) -> impl Iterator<Item = Arc<OpenFile>> {
    let is_new = |file: &OpenFile| file.core.look(|state| matches!(state.origin, FileOrigin::Created { .. }));
    files::open_files().into_iter().filter(move |file| file.core.is_at(place) && is_new(file))
}

/// `nc__create_mp`: there is one processor, and the sizes are hints that are not needed.
pub(crate) fn create_on_processor(
    path: CText,
    mode: c_int,
    initial: usize,
    processor: c_int,
    hint: Out<usize>,
    ncid: Out<c_int>,
) -> Outcome<()> {
    if (mode & FORMATS).count_ones() > 1 {
        return Err(Code(NC_EINVAL));
    }
    match user_formats::create(path, mode, (initial, processor), hint, ncid)? {
        Some(()) => Ok(()),
        None if processor != 0 => Err(Code(NC_EINVAL)),
        None => create_own(&path, mode, ncid),
    }
}

/// `nc_create_mem`: the bytes are returned by `nc_close_memio`.
pub(crate) fn create_in_memory(path: CText, mode: c_int, _initial: usize, ncid: Out<c_int>) -> Outcome<()> {
    if mode & MMAP != 0 {
        return Err(Code(NC_EINVAL));
    }
    create(path, mode | INMEMORY, ncid)
}

/// Flags that exclude each other.
fn check_mode(mode: c_int) -> Outcome<()> {
    if (mode & FORMATS).count_ones() > 1 {
        return Err(Code(NC_EINVAL));
    }
    let has = |flags: c_int| mode & flags == flags;
    if has(DISKLESS | INMEMORY) || has(DISKLESS | MMAP) {
        return Err(Code(NC_EDISKLESS));
    }
    if has(INMEMORY | MMAP) {
        return Err(Code(NC_EINMEMORY));
    }
    if has(MMAP | NETCDF4) { Err(Code(NC_EINVAL)) } else { Ok(()) }
}

/// The kind that the flags choose.
fn kind_of(mode: c_int) -> Kind {
    let is_classic_model = mode & CLASSIC_MODEL != 0;
    match mode & FORMATS {
        NETCDF4 if is_classic_model => Kind::Nc4Classic,
        NETCDF4 => Kind::Nc4,
        OFFSET_64BIT => Kind::Nc6,
        DATA_64BIT => Kind::Nc5,
        // The classic model is a choice of its own: the usual format does not count then.
        _ if is_classic_model => Kind::Nc3,
        _ => match DEFAULT_FORMAT.load(Ordering::Relaxed) {
            2 => Kind::Nc6,
            3 => Kind::Nc4,
            4 => Kind::Nc4Classic,
            5 => Kind::Nc5,
            _ => Kind::Nc3,
        },
    }
}

/// A new file, and the turn of this call with its place.
fn created(name: &[u8], mode: c_int) -> Outcome<(FileCore, Option<PlaceTurn>)> {
    let url = address_of(name);
    if mode & INMEMORY == 0 {
        check_address(&url)?;
    }
    let is_address = url.contains("://") && url.contains("mode=");
    // A file that exists only in memory; with NC_PERSIST it is like any other.
    let is_in_memory =
        mode & INMEMORY != 0 || mode & (DISKLESS | PERSIST) == DISKLESS || mode & (MMAP | PERSIST) == MMAP;
    let of_bucket = CreateOptions::netcdf_c_kind(&url).filter(|_| !is_in_memory);
    let kind = (!is_address && of_bucket.is_none()).then(|| kind_of(mode));
    let is_hdf5 = kind.is_some_and(Kind::is_hdf5);
    let align = u64::from(u32::try_from(ALIGNMENT.load(Ordering::Relaxed) & 0xffff_ffff).unwrap_or(1));
    // A new file replaces another one at once, as with netCDF-C: who wants it on disk calls `nc_sync`.
    let options = CreateOptions::new()
        .kind(kind.or(of_bucket))
        .overwrite(mode & NOCLOBBER == 0)
        .header_pad(0)
        .durable(kind.is_none())
        .exact_path(true)
        .default_chunks(DefaultChunks::NetcdfC)
        .align((is_hdf5 && align > 8 && align.is_power_of_two()).then_some(align));
    crate::opening::fork::watch();
    let session = files::session()?;
    let place = LocalPlace::of(&url).filter(|_| !is_in_memory);
    // Whoever closes a file there writes it before this one comes in its place.
    let turn = place.as_ref().map(PlaceTurn::to_open);
    // A link that leads nowhere is there, too.
    let is_there =
        |place: &LocalPlace| place.path().symlink_metadata().is_ok() || begun_at(place).next().is_some();
    // A file that is being closed has neither a handle any more nor, perhaps, its name.
    let comes =
        |place| is_there(place) || turn.as_ref().is_some_and(PlaceTurn::wait_for_closing) && is_there(place);
    if mode & NOCLOBBER != 0 && place.as_ref().is_some_and(comes) {
        let leads_nowhere =
            place.is_some_and(|place| !place.path().exists() && begun_at(&place).next().is_none());
        return Err(Code(if is_hdf5 && leads_nowhere { EACCES } else { NC_EEXIST }));
    }
    if let Some(place) = place.as_ref().filter(|_| kind.is_some()) {
        check_new(place, is_hdf5)?;
        check_is_file_name(&url, is_hdf5)?;
    }
    let (dataset, origin) = if is_in_memory {
        (Dataset::create_bytes(&options, &session).map_err(codes::of_opening)?, FileOrigin::Memory)
    } else {
        files::close_at_exit();
        let dataset =
            Dataset::create_with(&url, &options, &session).map_err(|error| of_creating(error, is_hdf5))?;
        (dataset, FileOrigin::Created { url: anchored(&url, place.as_ref()) })
    };
    faults::reached(FaultPlace::Opened);
    let format = FileFormat::of(&dataset);
    let core = FileCore::new(dataset, origin, format, place, true).map_err(codes::of_opening)?;
    Ok((core, turn))
}

/// The code of an error of creating: of a place where nothing can be, netCDF-4 says that it is denied.
fn of_creating(error: ncirrus::Error, is_hdf5: bool) -> Code {
    match (error.kind(), error.detail()) {
        (_, Some(Detail::Exists)) => Code(NC_EEXIST),
        (ErrorKind::NotFound | ErrorKind::Io { .. } | ErrorKind::Denied, _) if is_hdf5 => Code(EACCES),
        _ => match codes::of_opening(error) {
            Code(ENAMETOOLONG) if is_hdf5 => Code(EACCES),
            code => code,
        },
    }
}

/// `nc_set_default_format`.
pub(crate) fn set_default_format(format: c_int, old: Out<c_int>) -> Outcome<()> {
    old.set(DEFAULT_FORMAT.load(Ordering::Relaxed));
    if !(1..=5).contains(&format) {
        return Err(Code(NC_EINVAL));
    }
    DEFAULT_FORMAT.store(format, Ordering::Relaxed);
    Ok(())
}

/// `nc_set_alignment`.
pub(crate) fn set_alignment(threshold: c_int, alignment: c_int) -> Outcome<()> {
    let part = |number: c_int| u64::from(number.cast_unsigned());
    ALIGNMENT.store(part(threshold) << 32 | part(alignment), Ordering::Relaxed);
    Ok(())
}

/// `nc_get_alignment`.
pub(crate) fn alignment(threshold: Out<c_int>, alignment: Out<c_int>) -> Outcome<()> {
    let both = ALIGNMENT.load(Ordering::Relaxed);
    let part = |number: u64| u32::try_from(number & 0xffff_ffff).unwrap_or(0).cast_signed();
    threshold.set(part(both >> 32));
    alignment.store(part(both))
}

/// `nc_set_meta_block_size`: the value is kept and returned. Metadata of a new file are stored together when it is closed.
pub(crate) fn set_meta_block(size: usize) -> Outcome<()> {
    META_BLOCK.store(size, Ordering::Relaxed);
    Ok(())
}

/// `nc_get_meta_block_size`.
///
/// # Errors
/// `NC_EINVAL` without a place for the answer.
pub(crate) fn meta_block(size: Out<usize>) -> Outcome<()> {
    if size.is_null() {
        return Err(Code(NC_EINVAL));
    }
    size.store(META_BLOCK.load(Ordering::Relaxed))
}

/// `nc_delete`: a file of any kind.
pub(crate) fn delete(path: CText) -> Outcome<()> {
    let id = Out::found(|id| crate::opening::open::open(path, 0, id))?;
    let place = files::group_of(id)?.file.core.place.clone();
    crate::opening::open::close(id)?;
    let place = place.ok_or(Code(codes::NC_ECANTREMOVE))?;
    let path = place.path();
    let removed = if path.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) };
    removed.map_err(|error| {
        last_error::set(&format!("{}: {error}", path.display()));
        Code(codes::NC_EIO)
    })
}

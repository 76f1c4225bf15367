//! Opening and closing, and what a file says of itself.
use crate::c_types::codes::{
    self, Code, DapProtocol, NC_EDISKLESS, NC_EINDEFINE, NC_EINVAL, NC_ENOTATT, NC_ENOTNC, Outcome,
};
use crate::c_types::memory::{CText, MemoryFile, Out, returned_as};
use crate::c_types::modes::{DISKLESS, INMEMORY, MMAP, PERSIST, SHARE, WRITE};
use crate::files::broken::PanicMark;
use crate::files::file_state::{self, FileCore, FileFormat, FileOrigin, FileState};
use crate::files::{self, OpenFile, group_of};
use crate::opening::place_checks;
use crate::opening::place_turns::PlaceTurn;
use crate::process::faults::{self, FaultPlace};
use crate::process::last_error;
use crate::process::local_place::{LocalPlace, address_of, anchored, trimmed};
use crate::process::{self, open_options};
use crate::programs::user_formats;
use ncirrus::netcdf::{RootFacts, formats};
use ncirrus::store::Url;
use ncirrus::{Dataset, ErrorKind};
use std::ffi::c_int;
use std::fs::File;
use std::sync::Arc;

/// Opens a dataset, for changes if the mode says so.
pub(crate) fn open(path: CText, mode: c_int, ncid: Out<c_int>) -> Outcome<()> {
    let name = trimmed(path.bytes()?);
    check_mode(mode)?;
    if ncid.is_null() || mode & INMEMORY != 0 || mode & (DISKLESS | MMAP) == DISKLESS | MMAP {
        return Err(Code(NC_EINVAL));
    }
    if user_formats::open(path, mode, 0, Out::default(), ncid)?.is_some() {
        return Ok(());
    }
    // The turn ends when the file has its id.
    let (core, _turn) = found(name, mode).inspect_err(|_| last_error::about(name))?;
    faults::reached(FaultPlace::Opened);
    let writes = mode & WRITE != 0 && core.is_written();
    ncid.store(files::insert(OpenFile::new(core, mode, name.to_vec(), writes))?)
}

/// The file at an address, which this process may have open already, and the turn of this call with it.
fn found(name: &[u8], mode: c_int) -> Outcome<(Arc<FileCore>, Option<PlaceTurn>)> {
    let url = address_of(name);
    place_checks::check_address(&url)?;
    let place = LocalPlace::of(&url);
    place_checks::check_folder_name(&url, place.as_ref())?;
    if mode & WRITE != 0 {
        place_checks::check_whole_name(&url, place.as_ref())?;
    }
    if mode & (WRITE | DISKLESS) != 0 {
        place_checks::check_kind(place.as_ref())?;
    }
    let address = anchored(&url, place.as_ref());
    let turn = place.as_ref().map(PlaceTurn::to_open);
    if let Some(core) = shared(place.as_ref().zip(turn.as_ref()), &address, mode)? {
        return Ok((core, turn));
    }
    let opened = opened(&address, mode, place.clone()).map_err(|error| {
        let answered = protocol_of(&url).and_then(|protocol| codes::of_server(&error, protocol));
        let code = codes::of_opening(error);
        let of_place = || place_checks::of_opening(code, &url, place.as_ref(), mode & WRITE != 0);
        answered.or(place_checks::check_kind(place.as_ref()).err()).unwrap_or_else(of_place)
    })?;
    Ok((Arc::new(opened), turn))
}

/// Flags that exclude each other.
fn check_mode(mode: c_int) -> Outcome<()> {
    if mode & (DISKLESS | INMEMORY) == DISKLESS | INMEMORY { Err(Code(NC_EDISKLESS)) } else { Ok(()) }
}

fn opened(url: &str, mode: c_int, place: Option<LocalPlace>) -> ncirrus::Result<FileCore> {
    crate::opening::fork::watch();
    let session = files::session()?;
    let options = open_options();
    if mode & WRITE == 0 {
        let dataset = Dataset::open_with(url, &options, &session)?;
        let format = FileFormat::of_whole(&dataset)?;
        crate::opening::chunk_caches::apply(&dataset)?;
        return FileCore::new(dataset, FileOrigin::Reading, format, place, false);
    }
    files::close_at_exit();
    let (dataset, origin) = match (mode & (DISKLESS | PERSIST), &place) {
        // What is written without NC_PERSIST stays in memory.
        (DISKLESS, Some(place)) => {
            let bytes =
                std::fs::read(place.path()).map_err(|error| ncirrus::Error::not_found(error.to_string()))?;
            (Dataset::update_bytes(bytes, &options, &session)?, FileOrigin::Memory)
        }
        (_, None) if is_of_http(url) => return opened_at_server(url),
        _ => (process::updated(url, place.as_ref())?, FileOrigin::Updating),
    };
    let format = FileFormat::of(&dataset);
    FileCore::new(dataset, origin, format, place, false)
}

/// Whether an address is one of the web, where OPeNDAP's servers are.
fn is_of_http(url: &str) -> bool {
    Url::parse(url).is_ok_and(|url| url.is_http())
}

/// The protocol by which netCDF-C asks the server at an address: DAP2, if the address does not say what is there.
fn protocol_of(url: &str) -> Option<DapProtocol> {
    let url = Url::parse(url).ok().filter(Url::is_http)?;
    let modes = url.fragment().modes();
    if modes.contains("dap4") {
        return Some(DapProtocol::Dap4);
    }
    (modes.contains("dap2") || modes.iter().next().is_none()).then_some(DapProtocol::Dap2)
}

/// A dataset at an address of the web, opened for changes: that of a server of OPeNDAP is read, and its handle refuses each change.
///
/// # Errors
/// Those of opening; that nothing can be written there.
fn opened_at_server(url: &str) -> ncirrus::Result<FileCore> {
    let read = FileCore::reopened(url.as_bytes(), None)?;
    if read.format.kind.stored.is_computed() {
        return Ok(read);
    }
    let updated = process::updated(url, None)?;
    let format = FileFormat::of(&updated);
    FileCore::new(updated, FileOrigin::Updating, format, None, false)
}

/// A file that this process has open already: its handles share its state, unless another file has come to its place since then.
fn shared(
    local: Option<(&LocalPlace, &PlaceTurn)>,
    url: &str,
    mode: c_int,
) -> Outcome<Option<Arc<FileCore>>> {
    let Some((place, turn)) = local else { return Ok(None) };
    loop {
        let found = open_at(place, url, mode)?;
        // What had a handle a moment ago may be closed by now, and is opened anew then.
        if found.is_some() || !turn.wait_for_closing() {
            return Ok(found);
        }
    }
}

/// As [`shared`], of what is not being closed.
fn open_at(place: &LocalPlace, url: &str, mode: c_int) -> Outcome<Option<Arc<FileCore>>> {
    let writes = mode & WRITE != 0;
    for file in files::open_files().into_iter().filter(|file| file.core.is_at(place)) {
        // Calls that read it are not waited for.
        match file.core.look(|state| (state.origin.clone(), state.dataset.is_unchanged())) {
            (FileOrigin::Memory | FileOrigin::Replaced, _) => continue,
            (FileOrigin::Reading, is_unchanged) if !writes => {
                let core = if is_unchanged { file.core.share() } else { None };
                if core.is_some() {
                    return Ok(core);
                }
                continue;
            }
            _ => {}
        }
        let mut state = file.core.alone();
        if state.dataset.is_closed() {
            continue;
        }
        match (&state.origin, writes) {
            (FileOrigin::Memory | FileOrigin::Replaced, _) | (FileOrigin::Reading, false) => continue,
            (FileOrigin::Reading, true) => {
                state.replace(process::updated(url, Some(place)).map_err(codes::of_opening)?)?;
                state.origin = FileOrigin::Updating;
                files::close_at_exit();
            }
            (FileOrigin::Created { .. }, _) if !state.was_defined && file.core.format.is_strict() => {
                return Err(Code(NC_ENOTNC));
            }
            (FileOrigin::Created { .. } | FileOrigin::Updating, _) => state.publish()?,
        }
        drop(state);
        if let Some(core) = file.core.share() {
            return Ok(Some(core));
        }
    }
    Ok(None)
}

/// Closes a dataset; what was written to it becomes permanent.
pub(crate) fn close(ncid: c_int) -> Outcome<()> {
    if let Ok(handle) = files::handle_of(ncid) {
        // The program can still complete what it defined.
        handle.file.core.look(FileState::check_types)?;
    }
    ended(ncid, |file| end(file).and_then(|()| crate::opening::in_memory::put_back(ncid, file)))
}

/// Ends the handle of an id, which refers to no file then.
fn ended(ncid: c_int, end: impl FnOnce(&OpenFile) -> Outcome<()>) -> Outcome<()> {
    // Who opens the file no longer finds it by a handle, and waits.
    let _turn = PlaceTurn::to_close(ncid);
    crate::opening::chunk_caches::forget(ncid);
    let file = files::remove(ncid)?;
    let ended = end(&file);
    crate::opening::in_memory::forget(ncid, file);
    ended
}

/// `nc_close_memio`: without a place for the bytes, as `nc_close`.
pub(crate) fn close_for_bytes(ncid: c_int, out: MemoryFile) -> Outcome<()> {
    // What was given up has no bytes for anybody.
    let is_given_up = matches!(group_of(ncid), Err(Code(codes::NC_EINTERNAL)));
    if is_given_up || out.read().is_none() {
        close(ncid)
    } else {
        crate::opening::in_memory::close(ncid, out)
    }
}

/// Closes a handle, and with the last one the file. Writers get the error of changes that were given up.
pub(crate) fn end(file: &OpenFile) -> Outcome<()> {
    let _mark = PanicMark::new(&file.core.health);
    let is_last = file.core.release();
    faults::reached(FaultPlace::Released);
    if file.is_inherited() {
        // What was written is the parent's.
        return Ok(());
    }
    let mut state = file.core.alone();
    let collected = file.core.check_collected();
    let ended = match (is_last, file.writes) {
        (true, true) => state.finish(),
        (true, false) if file.core.health.is_broken() => state.abandon(),
        (true, false) => state.close(),
        // Whoever had the last handle was faster: what was written is permanent.
        (false, true) if state.dataset.is_closed() => file.core.health.check(),
        (false, true) => file.core.health.check().and_then(|()| state.publish()),
        (false, false) => Ok(()),
    };
    collected.and(ended).inspect_err(|_| last_error::about(&file.path))
}

/// Closes a dataset without what was defined since `nc_redef`; a new one that was never in data mode does not appear.
pub(crate) fn abort(ncid: c_int) -> Outcome<()> {
    ended(ncid, end_without_definitions)
}

fn end_without_definitions(file: &OpenFile) -> Outcome<()> {
    if file.is_inherited() {
        return end(file);
    }
    let mut state = file.core.alone();
    if file.core.health.is_broken() {
        return if file.core.release() { state.abandon() } else { Ok(()) };
    }
    if file.writes && (state.is_defining || !file.is_classic()) {
        if state.is_defining && !state.was_defined {
            // With other handles it goes on.
            return if file.core.release() { Ok(state.dataset.clone().abort()?) } else { Ok(()) };
        }
        state.forget_pending()?;
    }
    drop(state);
    end(file)
}

/// Makes permanent what was written so far. Of a file that is read, shows what others have written since it was opened.
pub(crate) fn sync(ncid: c_int) -> Outcome<()> {
    let file = group_of(ncid)?.file;
    if file.core.format.is_dap2() {
        return Err(Code(NC_EINVAL));
    }
    synced(ncid, &file).inspect_err(|_| last_error::about(&file.path))
}

fn synced(ncid: c_int, file: &OpenFile) -> Outcome<()> {
    let mut state = file.core.alone();
    if matches!(state.origin, FileOrigin::Reading) {
        return refreshed(ncid, file, &mut state);
    }
    file.core.check_collected()?;
    if state.is_defining {
        if file.core.format.is_strict() {
            return Err(Code(NC_EINDEFINE));
        }
        state.end_definitions()?;
    }
    if !file.writes {
        return Ok(());
    }
    state.publish()?;
    // Neither a new file nor netCDF-3 that is changed is waited for by a commit.
    match file.core.place.as_ref().map(LocalPlace::path).filter(|path| path.is_file()) {
        Some(path) => File::open(path).and_then(|file| file.sync_all()).map_err(codes::of_system),
        None => Ok(()),
    }
}

/// Reads the definitions again of a file that others have changed.
fn refreshed(ncid: c_int, file: &OpenFile, state: &mut FileState) -> Outcome<()> {
    if file.core.place.is_none() || state.dataset.is_unchanged() {
        return Ok(());
    }
    let again = match file_state::opened_again(&file.path, file.core.place.as_ref()) {
        // It was removed or moved: what is open stays as it is.
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        again => again.map_err(codes::of_opening)?,
    };
    state.replace(again)?;
    crate::opening::chunk_caches::apply(&state.dataset)?;
    crate::opening::chunk_caches::apply_own(ncid, &state.members, &state.dataset)?;
    file.core.note_change();
    Ok(())
}

/// Before values are read: of a netCDF-3 file that was opened with `NC_SHARE`, those that other programs have put by now are
/// read, and their records are there.
///
/// # Errors
/// Those of opening the file again.
pub(crate) fn follow_others(ncid: c_int, file: &OpenFile) -> Outcome<()> {
    let is_shared = file.mode & SHARE != 0 && file.core.format.is_classic();
    let is_read = |state: &FileState| matches!(state.origin, FileOrigin::Reading);
    if !is_shared || file.core.look(|state| !is_read(state) || state.dataset.is_unchanged()) {
        return Ok(());
    }
    let mut state = file.core.alone();
    if is_read(&state) { refreshed(ncid, file, &mut state) } else { Ok(()) }
}

/// `nc__open_mp`: there is one processor, and the size is a hint that is not needed.
pub(crate) fn open_on_processor(
    path: CText,
    mode: c_int,
    processor: c_int,
    hint: Out<usize>,
    ncid: Out<c_int>,
) -> Outcome<()> {
    check_mode(mode)?;
    if user_formats::open(path, mode, processor, hint, ncid)?.is_some() {
        return Ok(());
    }
    let mut id = 0;
    open(path, mode, if ncid.is_null() { ncid } else { Out::of(&mut id) })?;
    if processor != 0 && group_of(id)?.file.is_classic() {
        close(id)?;
        return Err(Code(NC_EINVAL));
    }
    ncid.store(id)
}

/// `NC_FORMAT_*`.
pub(crate) fn format(ncid: c_int, format: Out<c_int>) -> Outcome<()> {
    format.store(formats::number(group_of(ncid)?.file.core.format.netcdf()))
}

/// `NC_FORMATX_*` and the mode with the bits of the format.
pub(crate) fn format_extended(ncid: c_int, format: Out<c_int>, mode: Out<c_int>) -> Outcome<()> {
    let file = group_of(ncid)?.file;
    let kind = file.core.format.kind;
    format.set(formats::extended_number(kind.stored));
    mode.store(file.mode | formats::mode_bits(kind.format))
}

/// The path as it was passed.
pub(crate) fn path(ncid: c_int, len: Out<usize>, path: crate::c_types::memory::NameOut) -> Outcome<()> {
    let file = group_of(ncid)?.file;
    len.set(file.path.len());
    path.set_whole(&file.path);
    Ok(())
}

/// An attribute that no file stores, of the root group.
///
/// # Errors
/// `NC_ENOTATT` if the file has none of this name.
pub(crate) fn virtual_attribute(file: &OpenFile, name: &str) -> Outcome<ncirrus::Attribute> {
    if file.is_classic() {
        return Err(Code(NC_ENOTATT));
    }
    let facts = file.core.look(|state| state.dataset.facts());
    RootFacts::of(&facts).attribute(name).ok_or(Code(NC_ENOTATT))
}

/// The text of a code: of the system's for positive numbers.
#[derive(Debug)]
pub(crate) struct SystemText(pub(crate) c_int);

returned_as! {
    SystemText: *const std::ffi::c_char, "const char *", |text| text.address(), Self(codes::NC_EINTERNAL);
}

impl SystemText {
    fn address(&self) -> *const std::ffi::c_char {
        if self.0 > 0 { crate::c_types::memory::system_text(self.0) } else { codes::text_of(self.0).as_ptr() }
    }
}

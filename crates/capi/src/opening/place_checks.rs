//! The system's error for a place before a dataset is opened or created there, as the reference reports it.
use crate::c_types::codes::{Code, EACCES, NC_EHDFERR, NC_ENOOBJECT, NC_ENOTNC, NC_EURL, Outcome};
use crate::files;
use crate::files::file_state::FileOrigin;
use crate::process::last_error;
use crate::process::local_place::{LocalPlace, begins_with};
use std::ffi::c_int;
use std::fs::{self, OpenOptions};
use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};

const EISDIR: c_int = 21;
const ENOTDIR: c_int = 20;
const ENOENT: c_int = 2;

/// The first bytes of netCDF-4 files.
const HDF5: [u8; 8] = *b"\x89HDF\r\n\x1a\n";

/// Whether an address names anything.
///
/// # Errors
/// `NC_EURL`.
pub(crate) fn check_address(url: &str) -> Outcome<()> {
    if url.is_empty() { Err(Code(NC_EURL)) } else { Ok(()) }
}

/// Whether there may be a dataset: devices have none, whatever they answer to reads.
///
/// # Errors
/// `NC_ENOTNC`.
pub(crate) fn check_kind(place: Option<&LocalPlace>) -> Outcome<()> {
    let found = place.and_then(|place| fs::metadata(place.path()).ok());
    let is_other = found.is_some_and(|found| !found.is_file() && !found.is_dir());
    match place.filter(|_| is_other) {
        Some(place) => {
            last_error::set(&format!("{}: a device, which has no dataset", place.path().display()));
            Err(Code(NC_ENOTNC))
        }
        None => Ok(()),
    }
}

/// The code for a dataset that could not be opened: HDF5 has one error for all that it refuses, and NCZarr at an address has no first
/// object.
pub(crate) fn of_opening(code: Code, url: &str, place: Option<&LocalPlace>, writes: bool) -> Code {
    let is_zarr = url.contains("://") && url.contains("mode=") && url.contains("zarr");
    match (code, place.map(LocalPlace::path)) {
        (Code(EACCES), Some(place)) if writes && is_hdf5(place) => Code(NC_EHDFERR),
        (Code(_), Some(place)) if is_zarr && !place.exists() => Code(NC_ENOOBJECT),
        // An object that is absent has the same code in every store.
        (Code(ENOENT), None) if is_zarr => Code(NC_ENOOBJECT),
        (Code(ENOENT), Some(place)) if is_below_file(place) => Code(ENOTDIR),
        (code, _) => code,
    }
}

/// Whether the path of a place leads through a file.
fn is_below_file(place: &Path) -> bool {
    fs::metadata(place).is_err_and(|error| error.raw_os_error() == Some(ENOTDIR))
}

fn is_hdf5(place: &Path) -> bool {
    begins_with(place, HDF5)
}

/// Whether a file may be created at a place: what is read-only is not replaced, and netCDF-4 that this process has open neither.
///
/// # Errors
/// `EISDIR`, `ENOTDIR`, and what the system says of a file there; for netCDF-4 always `EACCES`.
pub(crate) fn check_new(place: &LocalPlace, is_hdf5: bool) -> Outcome<()> {
    let path = place.path();
    let refused = |number| refused(&path.display().to_string(), number, is_hdf5);
    let parent = path.parent().and_then(|parent| fs::metadata(parent).ok());
    if parent.is_some_and(|parent| !parent.is_dir()) {
        return refused(ENOTDIR);
    }
    let is_open = is_hdf5
        && files::open_files().iter().any(|file| {
            let is_memory = file.core.look(|state| matches!(state.origin, FileOrigin::Memory));
            file.is_hdf5() && file.core.is_at(place) && !is_memory
        });
    if is_open {
        last_error::set(&format!("{}: the file is open in this process", path.display()));
        return Err(Code(EACCES));
    }
    let Ok(found) = fs::metadata(path) else { return Ok(()) };
    if found.is_dir() {
        return refused(EISDIR);
    }
    if found.is_file()
        && let Err(error) = OpenOptions::new().write(true).open(path)
        && error.kind() != ErrorKind::NotFound
    {
        return refused(error.raw_os_error().unwrap_or(EACCES));
    }
    Ok(())
}

/// Refuses to open a file under the name of a folder, with a slash at its end.
///
/// # Errors
/// `ENOTDIR`.
pub(crate) fn check_folder_name(path: &str, place: Option<&LocalPlace>) -> Outcome<()> {
    // Without its slash.
    let is_file = |place: &LocalPlace| place.path().components().collect::<PathBuf>().is_file();
    if path.ends_with('/') && place.is_some_and(is_file) { refused(path, ENOTDIR, false) } else { Ok(()) }
}

/// Refuses to change the file that is meant by the part of a path before a `#`: as for new files, the sign belongs to the name.
///
/// # Errors
/// `ENOENT`.
pub(crate) fn check_whole_name(path: &str, place: Option<&LocalPlace>) -> Outcome<()> {
    let is_path = path.contains('#') && !path.contains("://") && !path.starts_with("file:");
    let is_absent = place.is_some_and(|place| is_path && !place.path().exists());
    if is_absent { refused(path, ENOENT, false) } else { Ok(()) }
}

/// Refuses to create a file under the name of a folder, with a slash at its end.
///
/// # Errors
/// `EISDIR`, or `EACCES` for netCDF-4.
pub(crate) fn check_is_file_name(path: &str, is_hdf5: bool) -> Outcome<()> {
    if path.ends_with('/') { refused(path, EISDIR, is_hdf5) } else { Ok(()) }
}

fn refused(path: &str, number: c_int, is_hdf5: bool) -> Outcome<()> {
    last_error::set(&format!("{path}: {}", Error::from_raw_os_error(number)));
    Err(Code(if is_hdf5 { EACCES } else { number }))
}

//! Opening and closing, and what a file says of itself.
use crate::codes::{self, Code, NC_EINVAL, NC_ENOTATT, Outcome};
use crate::files::{self, OpenFile, group_of};
use crate::memory::{CText, ConstText, Out};
use ncirrus::{Dataset, OpenOptions};
use std::ffi::c_int;

const WRITE: c_int = 0x0001;
const DISKLESS: c_int = 0x0008;
const MMAP: c_int = 0x0010;
const DATA_64BIT: c_int = 0x0020;
const OFFSET_64BIT: c_int = 0x0200;
const NETCDF4: c_int = 0x1000;
const INMEMORY: c_int = 0x8000;

/// Opens a dataset, for changes if the mode says so.
pub(crate) fn open(path: CText, mode: c_int, ncid: Out<c_int>) -> Outcome<()> {
    let path = path.text()?;
    if ncid.is_null() || mode & INMEMORY != 0 || mode & (DISKLESS | MMAP) == DISKLESS | MMAP {
        return Err(Code(NC_EINVAL));
    }
    let path = path.trim_start();
    let opened = files::session().and_then(|session| match mode & WRITE {
        0 => Dataset::open_with(path, &OpenOptions::default(), &session),
        _ => Dataset::update_with(path, &OpenOptions::default(), &session),
    });
    let file = opened.and_then(|dataset| OpenFile::new(dataset, mode)).map_err(codes::of_opening)?;
    ncid.set(files::insert(file)?);
    Ok(())
}

/// Closes a dataset; what was written to it becomes permanent.
pub(crate) fn close(ncid: c_int) -> Outcome<()> {
    let file = files::remove(ncid)?;
    if file.mode & WRITE != 0 {
        file.dataset.clone().close()?;
    }
    Ok(())
}

/// Ends the session.
pub(crate) fn finalize() -> Outcome<()> {
    files::end_session();
    Ok(())
}

/// `NC_FORMAT_*`.
pub(crate) fn format(ncid: c_int, format: Out<c_int>) -> Outcome<()> {
    format.set(format_of(&group_of(ncid)?.file));
    Ok(())
}

fn format_of(file: &OpenFile) -> c_int {
    match file.dataset.kind() {
        "classic" => 1,
        "64-bit offset" => 2,
        "cdf5" => 5,
        "netCDF-4 classic model" => 4,
        _ => 3,
    }
}

/// `NC_FORMATX_*` and the mode with the bits of the format.
pub(crate) fn format_extended(ncid: c_int, format: Out<c_int>, mode: Out<c_int>) -> Outcome<()> {
    let file = group_of(ncid)?.file;
    let (extended, bits) = match format_of(&file) {
        1 => (1, 0),
        2 => (1, OFFSET_64BIT),
        5 => (1, DATA_64BIT),
        _ => (if file.is_hdf5() { 2 } else { 10 }, NETCDF4),
    };
    format.set(extended);
    mode.set(file.mode | bits);
    Ok(())
}

/// The path as it was passed.
pub(crate) fn path(ncid: c_int, len: Out<usize>, path: crate::memory::NameOut) -> Outcome<()> {
    let file = group_of(ncid)?.file;
    let url = file.dataset.url();
    len.set(url.len());
    path.set_whole(url.as_bytes());
    Ok(())
}

/// The values of the attributes that no file stores, for the root group.
///
/// # Errors
/// `NC_ENOTATT` if the file has none of this name.
pub(crate) fn virtual_attribute(file: &OpenFile, name: &str) -> Outcome<ncirrus::Values> {
    use ncirrus::Values;
    let none = Code(NC_ENOTATT);
    if file.is_classic() {
        return Err(none);
    }
    let provenance = file.fact("_NCProperties");
    match name {
        "_NCProperties" => Ok(Values::Char(provenance.ok_or(none)?.into_bytes())),
        "_IsNetcdf4" => {
            let stored = file.fact("_IsNetcdf4").and_then(|text| text.parse().ok());
            Ok(Values::Int(vec![stored.unwrap_or(1)]))
        }
        "_SuperblockVersion" => {
            let stored = file.fact("_SuperblockVersion").and_then(|text| text.parse().ok()).unwrap_or(2);
            // Zarr has no superblock: 2 stands for what netCDF wrote.
            let is_foreign = file.is_hdf5() || (stored == 0 && provenance.is_none());
            Ok(Values::Int(vec![if is_foreign { stored } else { stored.max(2) }]))
        }
        _ => Err(none),
    }
}

/// The version in the form that programs parse.
pub(crate) fn library_version() -> ConstText {
    ConstText(c"4.9.0 of Nov 23 2026 00:00:00 $")
}

/// The text of a code.
pub(crate) fn strerror(code: c_int) -> SystemText {
    SystemText(code)
}

/// The text of a code: of the system's for positive numbers.
#[derive(Debug)]
pub(crate) struct SystemText(c_int);

impl crate::memory::CReturn for SystemText {
    type Raw = *const std::ffi::c_char;
    fn c_type() -> String {
        "const char *".to_owned()
    }
    fn into_raw(self) -> Self::Raw {
        if self.0 > 0 { crate::memory::system_text(self.0) } else { codes::text_of(self.0).as_ptr() }
    }
    fn panicked() -> Self {
        Self(codes::NC_EINTERNAL)
    }
}

//! Formats that programs define: a table of functions is called for their files (`nc_def_user_format`).
use crate::c_types::codes::{Code, NC_EINVAL, NC_ENOTBUILT, Outcome};
use crate::c_types::memory::{CText, CTextMut, KeptPointer, NameOut, Out, PassedTable, TableOut, UserTable};
use crate::c_types::modes::NETCDF4;
use crate::files;
use crate::files::user_file::UserFile;
use crate::process::local_place::{LocalPlace, address_of};
use std::ffi::c_int;
use std::io::Read;
use std::sync::{PoisonError, RwLock};

/// `NC_UDF0` and `NC_UDF1`, by the number of the format.
const FLAGS: [c_int; 2] = [0x0040, 0x0080];
/// `NC_DISPATCH_VERSION`.
const VERSION: c_int = 5;
/// `NC_MAX_MAGIC_NUMBER_LEN`.
const LONGEST_MAGIC: usize = 8;

/// A format of the program.
#[derive(Debug)]
struct UserFormat {
    table: UserTable,
    /// The first bytes of its files; none if they are not recognised by them.
    magic: Vec<u8>,
}

static FORMATS: RwLock<[UserFormat; 2]> =
    RwLock::new([const { UserFormat { table: UserTable::NONE, magic: Vec::new() } }; 2]);

/// The number of the format that a flag, and no other one, chooses.
///
/// # Errors
/// `NC_EINVAL`.
fn number_of(mode: c_int) -> Outcome<usize> {
    FLAGS.iter().position(|flag| *flag == mode).ok_or(Code(NC_EINVAL))
}

/// `nc_def_user_format`: without a magic number the one that was there stays.
pub(crate) fn define(mode: c_int, table: UserTable, magic: CTextMut) -> Outcome<()> {
    let number = number_of(mode)?;
    let magic = magic.bytes().ok();
    let is_too_long = magic.is_some_and(|magic| magic.len() > LONGEST_MAGIC);
    if table.version() != Some(VERSION) || is_too_long {
        return Err(Code(NC_EINVAL));
    }
    let mut formats = FORMATS.write().unwrap_or_else(PoisonError::into_inner);
    if let Some(format) = formats.get_mut(number) {
        format.table = table;
        if let Some(magic) = magic {
            format.magic = magic.to_vec();
        }
    }
    Ok(())
}

/// `nc_inq_user_format`: null for a format that is not defined.
pub(crate) fn inq(mode: c_int, table: TableOut, magic: NameOut) -> Outcome<()> {
    let number = number_of(mode)?;
    let formats = FORMATS.read().unwrap_or_else(PoisonError::into_inner);
    if let Some(format) = formats.get(number) {
        table.set(format.table);
        magic.set_whole(&format.magic);
    }
    Ok(())
}

/// The table that answers for an id; `None` if the file is not of a format of the program.
pub(crate) fn table_of(ncid: c_int) -> Option<UserTable> {
    files::user_file(ncid).map(|file| file.table)
}

/// The table that a mode asks for.
///
/// # Errors
/// `NC_ENOTBUILT` if that format is not defined.
fn chosen(mode: c_int) -> Outcome<Option<UserTable>> {
    let Some(number) = FLAGS.iter().position(|flag| mode & flag != 0) else { return Ok(None) };
    let formats = FORMATS.read().unwrap_or_else(PoisonError::into_inner);
    let table = formats.get(number).map_or(UserTable::NONE, |format| format.table);
    if table == UserTable::NONE { Err(Code(NC_ENOTBUILT)) } else { Ok(Some(table)) }
}

/// The table of the format whose magic number a file begins with.
fn recognised(path: &[u8]) -> Option<UserTable> {
    let formats = FORMATS.read().unwrap_or_else(PoisonError::into_inner);
    if formats.iter().all(|format| format.magic.is_empty()) {
        return None;
    }
    let place = LocalPlace::of(&address_of(path))?;
    let mut start = Vec::new();
    std::fs::File::open(place.path()).ok()?.take(LONGEST_MAGIC as u64).read_to_end(&mut start).ok()?;
    let fits = |format: &&UserFormat| {
        format.table != UserTable::NONE && !format.magic.is_empty() && start.starts_with(&format.magic)
    };
    formats.iter().find(fits).map(|format| format.table)
}

/// Opens a file with the table that its mode or its first bytes choose; `None` if the file has none of the program's formats.
///
/// # Errors
/// `NC_ENOTBUILT`, and those of the table.
pub(crate) fn open(
    path: CText,
    mode: c_int,
    processor: c_int,
    hint: Out<usize>,
    ncid: Out<c_int>,
) -> Outcome<Option<()>> {
    let bytes = path.bytes()?;
    let Some(table) = chosen(mode)?.or_else(|| recognised(bytes)) else { return Ok(None) };
    admitted(table, bytes, ncid, |id| {
        table.open(path, mode | NETCDF4, processor, hint, KeptPointer(0), PassedTable(table), id)
    })
    .map(Some)
}

/// Creates a file with the table that its mode chooses; `None` if the mode has none of the program's formats.
///
/// # Errors
/// `NC_ENOTBUILT`, and those of the table.
pub(crate) fn create(
    path: CText,
    mode: c_int,
    (initial, processor): (usize, c_int),
    hint: Out<usize>,
    ncid: Out<c_int>,
) -> Outcome<Option<()>> {
    let bytes = path.bytes()?;
    let Some(table) = chosen(mode)? else { return Ok(None) };
    admitted(table, bytes, ncid, |id| {
        table.create(path, mode | NETCDF4, initial, processor, hint, KeptPointer(0), PassedTable(table), id)
    })
    .map(Some)
}

/// Gives a file an id, under which the table is called; it is taken back if that fails.
fn admitted(
    table: UserTable,
    path: &[u8],
    ncid: Out<c_int>,
    call: impl FnOnce(c_int) -> Outcome<()>,
) -> Outcome<()> {
    let id = files::insert_user(UserFile { table, path: path.to_vec() })?;
    let outcome = call(id);
    match outcome {
        Ok(()) => ncid.set(id),
        Err(_) => files::remove_user(id),
    }
    outcome
}

/// `nc_close`: the id ends whatever the table says, but for an error.
pub(crate) fn close(table: &UserTable, ncid: c_int) -> Outcome<()> {
    table.close(ncid, KeptPointer(0))?;
    files::remove_user(ncid);
    Ok(())
}

/// `nc_abort`.
pub(crate) fn abort(table: &UserTable, ncid: c_int) -> Outcome<()> {
    table.abort(ncid)?;
    files::remove_user(ncid);
    Ok(())
}

/// `nc_inq_path`: the path as it was passed.
pub(crate) fn path(_: &UserTable, ncid: c_int, len: Out<usize>, path: NameOut) -> Outcome<()> {
    let file = files::user_file(ncid).ok_or(Code(crate::c_types::codes::NC_EBADID))?;
    len.set(file.path.len());
    path.set_whole(&file.path);
    Ok(())
}

/// Whether an id refers to a file, of any format.
///
/// # Errors
/// `NC_EBADID`.
pub(crate) fn check_id(ncid: c_int) -> Outcome<()> {
    if table_of(ncid).is_none() {
        files::group_of(ncid)?;
    }
    Ok(())
}

/// What the whole process has of it, which no other thread changes meanwhile.
pub(crate) fn held() -> Box<dyn std::any::Any> {
    Box::new(FORMATS.write().unwrap_or_else(PoisonError::into_inner))
}

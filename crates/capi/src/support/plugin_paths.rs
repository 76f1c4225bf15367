//! Where filter plugins are searched for, as newer versions of netCDF-C have it: `nc_plugin_path_*` and `ncaux_plugin_path_*`.
use crate::c_types::codes::{Code, NC_EINVAL, Outcome};
use crate::c_types::memory::{CText, Char, NameOut, TextList, TextListIn, TextOut, free_address};
use crate::files::number;
use crate::process;
use std::ffi::c_int;

/// Between folders in one text for Fortran.
const SEMICOLON: u8 = b';';

/// The separator between folders: the caller's choice, or the system's separator of paths.
fn separator(chosen: Char) -> u8 {
    match chosen.0 {
        0 if cfg!(windows) => b';',
        0 => b':',
        other => other,
    }
}

fn split(text: &[u8], separator: u8) -> Vec<Vec<u8>> {
    if text.is_empty() {
        return Vec::new();
    }
    text.split(|byte| *byte == separator).map(<[u8]>::to_vec).collect()
}

/// `ncaux_plugin_path_parse`.
pub(crate) fn parse(text: CText, between: Char, list: TextList) -> Outcome<()> {
    list.set(&split(text.bytes().unwrap_or_default(), separator(between)))
}

/// `ncaux_plugin_path_parsen`: of text that needs no NUL.
pub(crate) fn parse_part(len: usize, text: CText, between: Char, list: TextList) -> Outcome<()> {
    let text = if text.is_null() { Vec::new() } else { text.first(len)? };
    list.set(&split(&text, separator(between)))
}

/// `ncaux_plugin_path_tostring`: a text that the program frees.
pub(crate) fn joined(list: TextListIn, between: Char, text: TextOut) -> Outcome<()> {
    text.set(Some(&list.texts()?.join(&separator(between))))
}

/// `ncaux_plugin_path_clear`: frees what is in the list.
pub(crate) fn clear(list: TextList) -> Outcome<()> {
    if list.is_null() { Ok(()) } else { list.clear() }
}

/// `ncaux_plugin_path_reclaim`: frees the list, too.
pub(crate) fn reclaim(list: TextList) -> Outcome<()> {
    clear(list)?;
    free_address(list.address());
    Ok(())
}

/// `ncaux_plugin_path_append`, `ncaux_plugin_path_prepend`.
pub(crate) fn insert(list: TextList, folder: &CText, is_first: bool) -> Outcome<()> {
    let folder = folder.bytes()?.to_vec();
    let mut folders = list.texts()?;
    folders.insert(if is_first { 0 } else { folders.len() }, folder);
    list.clear()?;
    list.set(&folders)
}

fn text_of_folders() -> Vec<u8> {
    process::plugin_folders().join(&SEMICOLON)
}

/// `ncaux_plugin_path_stringlen`: bytes of the folders as one text, without its NUL.
pub(crate) fn text_len() -> c_int {
    number(text_of_folders().len())
}

/// `ncaux_plugin_path_stringget`: the folders as one text, and a NUL where there is room for it.
pub(crate) fn text(len: c_int, out: NameOut) -> Outcome<()> {
    let room = usize::try_from(len).ok().filter(|room| *room > 0 && !out.is_null()).ok_or(Code(NC_EINVAL))?;
    let mut text = text_of_folders();
    text.push(0);
    text.truncate(room);
    out.as_bytes().write(&text)
}

/// `ncaux_plugin_path_stringset`: the folders from one text.
pub(crate) fn set_text(len: c_int, text: CText) -> Outcome<()> {
    let len = usize::try_from(len).ok().filter(|_| !text.is_null()).ok_or(Code(NC_EINVAL))?;
    process::set_plugin_folders(split(&text.first(len)?, SEMICOLON));
    Ok(())
}

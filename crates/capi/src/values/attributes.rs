//! Attributes: what there is, and their values.
use crate::c_types::codes::{Code, NC_EATTMETA, NC_EBADNAME, NC_EBADTYPE, NC_ECHAR, NC_ENOTATT, Outcome};
use crate::c_types::memory::{BytesOut, CText, NameOut, Out};
use crate::definitions::define::{check_sought, known_name};
use crate::definitions::layouts;
use crate::files::{FileGroup, GLOBAL, group_of, number};
use crate::opening::open::virtual_attribute;
use crate::values::data::write_converted;
use ncirrus::model::normalize_name;
use ncirrus::netcdf::names::{CODECS, is_found_unlisted};
use ncirrus::{Atomic, Attribute, TypeRef};
use std::ffi::c_int;

/// An attribute by name, of those that are in the file.
///
/// # Errors
/// `NC_ENOTVAR`, `NC_ENOTATT`.
pub(crate) fn stored(at: &FileGroup, varid: c_int, name: &CText) -> Outcome<Attribute> {
    let attributes = at.attributes(varid)?;
    check_sought(at.file.is_classic(), name)?;
    let name = normalize_name(&text_of(name)?);
    attributes.find(&name).cloned().ok_or(Code(NC_ENOTATT))
}

/// The name that the program asks for.
///
/// # Errors
/// `NC_EBADNAME` for a null pointer.
fn text_of(name: &CText) -> Outcome<String> {
    name.text().map_err(|_| Code(NC_EBADNAME))
}

/// The name to look up. In classic files a name that is not UTF-8 matches nothing.
fn sought_name(at: &FileGroup, name: &CText) -> Outcome<String> {
    if !at.file.is_classic() && !name.is_null() {
        return known_name(name);
    }
    Ok(normalize_name(&text_of(name)?))
}

/// The names of all attributes.
///
/// # Errors
/// `NC_ENOTVAR`.
pub(crate) fn all(at: &FileGroup, varid: c_int) -> Outcome<Vec<String>> {
    Ok(at.attributes(varid)?.iter().map(|attribute| attribute.name.clone()).collect())
}

/// An attribute by name, or one of those that no file stores.
fn attribute(at: &FileGroup, varid: c_int, name: CText) -> Outcome<Attribute> {
    let attributes = at.attributes(varid)?;
    check_sought(at.file.is_classic(), &name)?;
    let name = sought_name(at, &name)?;
    match attributes.find(&name) {
        Some(attribute) => Ok(attribute.clone()),
        None if varid == GLOBAL => virtual_attribute(&at.file, &name),
        None if name == CODECS => codecs(at, varid),
        None => Err(Code(NC_ENOTATT)),
    }
}

/// The codecs of a variable of Zarr, as `ncdump` prints them; a variable without codecs has no such attribute. The text ends with a NUL, and
/// its length is that with the NUL: `ncdump` relies on one. The reference writes it beyond the length that it answers.
fn codecs(at: &FileGroup, varid: c_int) -> Outcome<Attribute> {
    let codecs: Vec<String> = match varid {
        GLOBAL => Vec::new(),
        _ => at.variable(varid)?.filters.iter().filter_map(ncirrus::CodecSpec::text).collect(),
    };
    match codecs.as_slice() {
        [] => Err(Code(NC_ENOTATT)),
        codecs => Ok(Attribute::text(CODECS, &format!("[{}]\0", codecs.join(",")))),
    }
}

/// Whether an attribute that no file stores may have the name here: it has no number.
fn is_virtual(at: &FileGroup, varid: c_int, name: &str) -> bool {
    !at.file.is_classic() && (varid == GLOBAL || !at.file.is_hdf5()) && is_found_unlisted(name)
}

pub(crate) fn inq(ncid: c_int, varid: c_int, name: CText, ty: Out<c_int>, len: Out<usize>) -> Outcome<()> {
    let at = group_of(ncid)?;
    let attribute = attribute(&at, varid, name)?;
    ty.set(at.members.number_of_type(attribute.ty));
    len.store(attribute.values.len())
}

pub(crate) fn inq_id(ncid: c_int, varid: c_int, asked: CText, id: Out<c_int>) -> Outcome<()> {
    let at = group_of(ncid)?;
    let no_name = if at.file.is_classic() { NC_ENOTATT } else { NC_EBADNAME };
    if asked.is_null() {
        return Err(Code(no_name));
    }
    let attributes = at.attributes(varid)?;
    check_sought(at.file.is_classic(), &asked)?;
    let name = sought_name(&at, &asked)?;
    let found = attributes.position(&name);
    let none = if is_virtual(&at, varid, &name) { NC_EATTMETA } else { NC_ENOTATT };
    id.store(number(found.ok_or(Code(none))?))
}

pub(crate) fn inq_name(ncid: c_int, varid: c_int, index: c_int, name: NameOut) -> Outcome<()> {
    let at = group_of(ncid)?;
    let attributes = at.attributes(varid)?;
    let index = usize::try_from(index).map_err(|_| Code(NC_ENOTATT))?;
    name.store(&attributes.iter().nth(index).ok_or(Code(NC_ENOTATT))?.name)
}

/// The values in the attribute's own type.
pub(crate) fn get(ncid: c_int, varid: c_int, name: CText, out: BytesOut) -> Outcome<()> {
    let at = group_of(ncid)?;
    let attribute = attribute(&at, varid, name)?;
    if out.is_null() && !at.file.is_classic() {
        // The values are not wanted.
        return Ok(());
    }
    out.write(&layouts::image(&at.members, attribute.ty, &attribute.values)?)
}

/// The values as another type; what does not fit is an error after all were converted.
pub(crate) fn get_as(ncid: c_int, varid: c_int, name: CText, to: Atomic, out: BytesOut) -> Outcome<()> {
    if let Some(table) = crate::programs::user_formats::table_of(ncid) {
        return crate::programs::user_calls::get_att(&table, (ncid, varid), name, Some(to), out);
    }
    let at = group_of(ncid)?;
    let attribute = attribute(&at, varid, name)?;
    if matches!(attribute.ty, TypeRef::User(_)) {
        return Err(Code(if to == Atomic::Char { NC_ECHAR } else { NC_EBADTYPE }));
    }
    let is_empty = attribute.values.is_empty() && attribute.values.atomic().is_some();
    if is_empty || out.is_null() && !at.file.is_classic() {
        // Text and numbers are not told apart where there are none.
        return Ok(());
    }
    write_converted(&at.file, &at.members, &attribute.values, to, out)
}

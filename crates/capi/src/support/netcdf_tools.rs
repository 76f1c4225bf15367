//! What netCDF's own programs import besides the library's calls: lists, addresses in parts, paths, times.
use crate::c_types::codes::{Code, NC_EBADNAME, NC_EINVAL, NC_EURL, Outcome};
use crate::c_types::memory::{
    BytesOut, CText, KeptPointer, ListHandle, NameOut, NoAnswer, Out, OwnedText, ShortsOut, TextOut,
    UriHandle, UriOut, allocated, other_hdf5_version,
};
use ncirrus::cf::ncdump::{CdlCalendar, moment_at, parse_units};
use ncirrus::model::normalize_name;
use ncirrus::netcdf::{OldDate, UriParts};
use std::ffi::{CStr, c_int};

/// Parses an address; what is a path is an error.
pub(crate) fn uri_parse(text: CText, out: UriOut) -> Outcome<()> {
    let parts = UriParts::parse(&text.text()?);
    let is_address = parts.is_some();
    out.set(parts);
    if is_address { Ok(()) } else { Err(Code(NC_EURL)) }
}

/// The address as text; the parts that flags name are always all.
pub(crate) fn uri_build(mut uri: UriHandle, prefix: CText, suffix: CText, _flags: c_int) -> OwnedText {
    let around = |text: CText| text.text().unwrap_or_default();
    let text = uri.parts().map(|parts| format!("{}{}{}", around(prefix), parts.build(), around(suffix)));
    OwnedText(text.ok().map(String::into_bytes))
}

/// Adds a key to the part after `#`; a value is joined to the one that the key has.
pub(crate) fn uri_append_key(mut uri: UriHandle, key: CText, value: CText) -> Outcome<()> {
    let (key, value) = (key.text()?, value.text().ok());
    uri.parts()?.append_key(key, value);
    Ok(())
}

/// Whether a path is an address, and the last part of its name without the extension.
pub(crate) fn test_url(path: CText, name: TextOut) -> c_int {
    let Some(parts) = path.text().ok().and_then(|text| UriParts::parse(&text)) else { return 0 };
    c_int::from(name.set(Some(parts.stem().as_bytes())).is_ok())
}

/// Appends text to that in a buffer of a given length; answers the length that was wanted.
pub(crate) fn append_text(mut buffer: BytesOut, text: CText, len: usize) -> usize {
    let Ok(added) = text.bytes() else { return 0 };
    let Ok(buffer) = buffer.slice(len) else { return added.len() };
    let Ok(before) = CStr::from_bytes_until_nul(buffer) else {
        return len.saturating_add(added.len());
    };
    let start = before.count_bytes();
    let room = len - start - 1;
    let part = added.get(..room.min(added.len())).unwrap_or_default();
    buffer[start..start + part.len()].copy_from_slice(part);
    buffer[start + part.len()] = 0;
    start + added.len()
}

pub(crate) fn list_free(list: ListHandle) -> c_int {
    if list.items().is_some() {
        list.free();
    }
    1
}

pub(crate) fn list_push(list: ListHandle, item: KeptPointer) -> c_int {
    let Some(mut items) = list.items() else { return 0 };
    items.push(item.0);
    c_int::from(list.replace(&items))
}

/// Removes and answers an item; null if there is none.
pub(crate) fn list_remove(list: ListHandle, index: usize) -> KeptPointer {
    let mut items = list.items().unwrap_or_default();
    if index >= items.len() {
        return KeptPointer(0);
    }
    let item = items.remove(index);
    list.replace(&items);
    KeptPointer(item)
}

/// The unit of "X since Y", and the date Y: year, month, day, hours. Returns 1 for other texts.
pub(crate) fn parse_time_units(calendar: c_int, units: NameIn, unit: Out<c_int>, base: BytesOut) -> c_int {
    let parsed = units.text().ok().and_then(|units| parse_units(&units, CdlCalendar::from_number(calendar)));
    let Some((of, date)) = parsed else { return 1 };
    unit.set(of.number());
    let short = |number: i64| i16::try_from(number).unwrap_or(1);
    let image = date_image(date.year, [short(date.month), short(date.day)], date.hour);
    c_int::from(base.write(&image).is_err())
}

/// The date of a number of units, with a separator before the time.
pub(crate) fn time_text(
    calendar: c_int,
    units: NameIn,
    separator: c_int,
    number: f64,
    out: NameOut,
) -> NoAnswer {
    let calendar = CdlCalendar::from_number(calendar);
    let parsed = units.text().ok().and_then(|units| parse_units(&units, calendar));
    let moment = parsed.and_then(|(unit, base)| moment_at(unit, &base, calendar, number));
    let mut text = Vec::new();
    if let Some(moment) = moment {
        let separator = u8::try_from(separator).map_or(' ', char::from);
        moment.write(&mut text, calendar, separator);
    }
    text.truncate(TIME_TEXT);
    out.set_whole(&text);
    NoAnswer
}

/// Text that is passed as `char *` but not changed.
pub(crate) type NameIn = crate::c_types::memory::CTextMut;

/// Bytes of a date without its NUL that programs have room for.
const TIME_TEXT: usize = 47;

/// `nc_utf8_to_utf16`: a block that the program frees.
pub(crate) fn utf8_to_utf16(text: CText, out: ShortsOut, len: Out<usize>) -> Outcome<()> {
    let text = std::str::from_utf8(text.bytes()?).map_err(|_| Code(NC_EINVAL))?;
    let mut words: Vec<u16> = text.encode_utf16().collect();
    len.set(words.len());
    words.push(0);
    out.untyped().set(allocated(&words.iter().flat_map(|word| word.to_ne_bytes()).collect::<Vec<u8>>())?);
    Ok(())
}

/// `nc_utf8_validate`.
///
/// # Errors
/// `NC_EBADNAME` for what is not UTF-8.
pub(crate) fn validate_utf8(text: CText) -> Outcome<()> {
    std::str::from_utf8(text.bytes()?).map(|_| ()).map_err(|_| Code(NC_EBADNAME))
}

/// `nc_utf8_normalize`: a text that the program frees.
///
/// # Errors
/// `NC_EBADNAME` for what is not UTF-8.
pub(crate) fn normalize_utf8(text: CText, normal: TextOut) -> Outcome<()> {
    let text = std::str::from_utf8(text.bytes()?).map_err(|_| Code(NC_EBADNAME))?;
    normal.set(Some(normalize_name(text).as_bytes()))
}

/// `cdChar2Comp`: `YEAR-MONTH-DAY HOUR:MINUTE:SECOND`.
pub(crate) fn parse_date(calendar: c_int, text: NameIn, out: BytesOut) -> NoAnswer {
    let date = OldDate::parse(calendar, &text.text().unwrap_or_default());
    // A program without room for the date asked for nothing.
    let _ = out.write(&date_image(date.year, [date.month, date.day], date.hour));
    NoAnswer
}

/// A `long`, two `short`s, and a `double` at its alignment.
fn date_image(year: i64, month_and_day: [i16; 2], hour: f64) -> Vec<u8> {
    let mut image = year.to_ne_bytes().to_vec();
    image.extend(month_and_day.iter().flat_map(|part| part.to_ne_bytes()));
    image.extend([0; 4]);
    image.extend(hour.to_ne_bytes());
    image
}

/// `Cdh2e`: hours of a date since the beginning of its base year, by its calendar: year, month, day, hour, base year and
/// calendar one after the other.
pub(crate) fn hours_of(date: BytesOut, hours: Out<f64>) -> NoAnswer {
    let bytes = date.as_bytes();
    let Ok(image) = bytes.read(36) else { return NoAnswer };
    let long =
        |at: usize| image.get(at..at + 8).and_then(|part| part.try_into().ok()).map_or(0, i64::from_ne_bytes);
    let short =
        |at: usize| image.get(at..at + 2).and_then(|part| part.try_into().ok()).map_or(1, i16::from_ne_bytes);
    let hour = image.get(16..24).and_then(|part| part.try_into().ok()).map_or(0.0, f64::from_ne_bytes);
    let calendar = image.get(32..36).and_then(|part| part.try_into().ok()).map_or(0, c_int::from_ne_bytes);
    let date = OldDate { year: long(0), month: short(8), day: short(10), hour };
    hours.set(date.hours_since(long(24), calendar));
    NoAnswer
}

/// The HDF5 with which Debian built netCDF-C 4.9.0.
const HDF5_VERSION: [u32; 3] = [1, 10, 8];

/// `H5get_libversion`, which Debian's module for Python takes from the library that its netCDF-C brings along: a library of HDF5 that
/// the process has itself is asked.
pub(crate) fn hdf5_version(major: Out<u32>, minor: Out<u32>, release: Out<u32>) -> Outcome<()> {
    let version = other_hdf5_version().unwrap_or(HDF5_VERSION);
    [major, minor, release].into_iter().zip(version).for_each(|(place, number)| place.set(number));
    Ok(())
}

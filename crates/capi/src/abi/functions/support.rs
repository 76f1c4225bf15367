//! Functions without a public header, which netCDF's own programs import.
use crate::abi::table::c_functions;
use crate::c_types::codes::Outcome;
use crate::c_types::memory::{
    BytesOut, CText, CTextMut, KeptPointer, ListHandle, NameOut, NoAnswer, Out, OwnedText, TextOut,
    UriHandle, UriOut,
};
use crate::support::netcdf_tools;
use ncirrus::netcdf::escapes;
use std::ffi::c_int;

c_functions! {
    ROWS, "";
    /// Removes the backslashes of shell escapes from a text.
    fn NC_shellUnescape(esc: CText) -> OwnedText =>
        OwnedText(esc.bytes().ok().map(escapes::without_those_of_shells));
    /// Returns a path in the notation of the system.
    fn NCpathcanonical(srcpath: CText, canonp: TextOut) -> Outcome<()> =>
        canonp.set(srcpath.bytes().ok());
    /// Reports whether a path is an address, and returns the last part of its name without the extension.
    fn nc__testurl(path: CText, basenamep: TextOut) -> c_int = netcdf_tools::test_url;
    /// Appends text to a buffer of limited length.
    fn strlcat(dst: BytesOut, src: CText, dsize: usize) -> usize = netcdf_tools::append_text;
    /// Turns logging by `nclog` on or off, and returns the previous setting.
    fn ncsetlogging(tf: c_int) -> c_int = crate::support::log::set_logging;
    /// Creates a list.
    fn nclistnew() -> ListHandle =>
        ListHandle::empty();
    /// Frees a list.
    fn nclistfree(list: ListHandle) -> c_int = netcdf_tools::list_free;
    /// Appends an item to a list.
    fn nclistpush(list: ListHandle, elem: KeptPointer) -> c_int = netcdf_tools::list_push;
    /// Removes an item from a list and returns it.
    fn nclistremove(list: ListHandle, i: usize) -> KeptPointer = netcdf_tools::list_remove;
    /// Parses the text of an address.
    fn ncuriparse(s: CText, ncuri: UriOut) -> Outcome<()> = netcdf_tools::uri_parse;
    /// Returns an address as text.
    fn ncuribuild(ncuri: UriHandle, prefix: CText, suffix: CText, flags: c_int) -> OwnedText = netcdf_tools::uri_build;
    /// Frees a parsed address.
    fn ncurifree(ncuri: UriHandle) -> NoAnswer =>
        ncuri.free();
    /// Adds a key to the fragment of an address.
    fn ncuriappendfragmentkey(ncuri: UriHandle, key: CText, value: CText) -> Outcome<()> = netcdf_tools::uri_append_key;
    /// Parses time units such as `hours since 2000-01-01`.
    fn cdParseRelunits(timetype: c_int, relunits: CTextMut, unit: Out<c_int>, base_comptime: BytesOut) -> c_int = netcdf_tools::parse_time_units;
    /// Converts a time in units since a date to the text of a date.
    fn cdRel2Iso(timetype: c_int, relunits: CTextMut, separator: c_int, reltime: f64, chartime: NameOut) -> NoAnswer = netcdf_tools::time_text;
    // They never are, whatever is asked for.
    /// Sets how errors in times are reported; it has no effect, since they are never reported.
    fn cdSetErrOpts(opts: c_int) -> c_int =>
        0;
}

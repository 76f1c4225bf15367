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
    /// Text without the backslashes of a shell.
    fn NC_shellUnescape(esc: CText) -> OwnedText =>
        OwnedText(esc.bytes().ok().map(escapes::without_those_of_shells));
    /// A path as the system writes it.
    fn NCpathcanonical(srcpath: CText, canonp: TextOut) -> Outcome<()> =>
        canonp.set(srcpath.bytes().ok());
    /// Whether a path is an address, and its name.
    fn nc__testurl(path: CText, basenamep: TextOut) -> c_int = netcdf_tools::test_url;
    /// Appends text within the length of a buffer.
    fn strlcat(dst: BytesOut, src: CText, dsize: usize) -> usize = netcdf_tools::append_text;
    /// Whether `nclog` writes; answers what was set before.
    fn ncsetlogging(tf: c_int) -> c_int = crate::support::log::set_logging;
    /// A new list.
    fn nclistnew() -> ListHandle =>
        ListHandle::empty();
    /// Frees a list.
    fn nclistfree(list: ListHandle) -> c_int = netcdf_tools::list_free;
    /// Appends to a list.
    fn nclistpush(list: ListHandle, elem: KeptPointer) -> c_int = netcdf_tools::list_push;
    /// Takes an item out of a list.
    fn nclistremove(list: ListHandle, i: usize) -> KeptPointer = netcdf_tools::list_remove;
    /// Parses an address.
    fn ncuriparse(s: CText, ncuri: UriOut) -> Outcome<()> = netcdf_tools::uri_parse;
    /// An address as text.
    fn ncuribuild(ncuri: UriHandle, prefix: CText, suffix: CText, flags: c_int) -> OwnedText = netcdf_tools::uri_build;
    /// Frees a parsed address.
    fn ncurifree(ncuri: UriHandle) -> NoAnswer =>
        ncuri.free();
    /// Adds a key to the fragment of an address.
    fn ncuriappendfragmentkey(ncuri: UriHandle, key: CText, value: CText) -> Outcome<()> = netcdf_tools::uri_append_key;
    /// Parses the units of a time.
    fn cdParseRelunits(timetype: c_int, relunits: CTextMut, unit: Out<c_int>, base_comptime: BytesOut) -> c_int = netcdf_tools::parse_time_units;
    /// A time as a date.
    fn cdRel2Iso(timetype: c_int, relunits: CTextMut, separator: c_int, reltime: f64, chartime: NameOut) -> NoAnswer = netcdf_tools::time_text;
    // They never are, whatever is asked for.
    /// How errors of times are reported.
    fn cdSetErrOpts(opts: c_int) -> c_int =>
        0;
}

//! Functions without a public header, which netCDF's own programs import.
use crate::codes::Outcome;
use crate::memory::{
    BytesOut, CText, CTextMut, KeptPointer, ListHandle, NameOut, NoAnswer, Out, OwnedText, TextOut,
    UriHandle, UriOut,
};
use crate::support;
use crate::table::c_functions;
use std::ffi::c_int;

c_functions! {
    ROWS, "";
    /// Text without the backslashes of a shell.
    fn NC_shellUnescape(esc: CText) -> OwnedText = support::shell_unescape;
    /// A path as the system writes it.
    fn NCpathcanonical(srcpath: CText, canonp: TextOut) -> Outcome<()> = support::canonical_path;
    /// Whether a path is an address, and its name.
    fn nc__testurl(path: CText, basenamep: TextOut) -> c_int = support::test_url;
    /// Appends text within the length of a buffer.
    fn strlcat(dst: BytesOut, src: CText, dsize: usize) -> usize = support::append_text;
    /// Whether `nclog` writes; answers what was set before.
    fn ncsetlogging(tf: c_int) -> c_int = crate::log::set_logging;
    /// A new list.
    fn nclistnew() -> ListHandle = support::list_new;
    /// Frees a list.
    fn nclistfree(list: ListHandle) -> c_int = support::list_free;
    /// Appends to a list.
    fn nclistpush(list: ListHandle, elem: KeptPointer) -> c_int = support::list_push;
    /// Takes an item out of a list.
    fn nclistremove(list: ListHandle, i: usize) -> KeptPointer = support::list_remove;
    /// Parses an address.
    fn ncuriparse(s: CText, ncuri: UriOut) -> Outcome<()> = support::uri_parse;
    /// An address as text.
    fn ncuribuild(ncuri: UriHandle, prefix: CText, suffix: CText, flags: c_int) -> OwnedText = support::uri_build;
    /// Frees a parsed address.
    fn ncurifree(ncuri: UriHandle) -> NoAnswer = support::uri_free;
    /// Adds a key to the fragment of an address.
    fn ncuriappendfragmentkey(ncuri: UriHandle, key: CText, value: CText) -> Outcome<()> = support::uri_append_key;
    /// Parses the units of a time.
    fn cdParseRelunits(timetype: c_int, relunits: CTextMut, unit: Out<c_int>, base_comptime: BytesOut) -> c_int = support::parse_time_units;
    /// A time as a date.
    fn cdRel2Iso(timetype: c_int, relunits: CTextMut, separator: c_int, reltime: f64, chartime: NameOut) -> NoAnswer = support::time_text;
    /// How errors of times are reported.
    fn cdSetErrOpts(opts: c_int) -> c_int = support::set_time_errors;
}

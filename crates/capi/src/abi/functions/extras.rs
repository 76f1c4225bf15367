//! `netcdf_aux.h`, `netcdf_mem.h`, and the rest of `netcdf.h`.
use crate::abi::table::c_functions;
use crate::c_types::codes::Outcome;
use crate::c_types::memory::{
    AddressOut, Bytes, BytesOut, CText, CTextMut, CompoundHandle, FilterListOut, FilterSpecHandle, In,
    MemoryFile, NameOut, NoAnswer, Out, TableOut, TextOut, UserTable, WordsOut,
};
use crate::{
    definitions::auxiliary, definitions::types, opening::in_memory, programs::user_formats,
    rules::filter_text, support::netcdf_tools, values::data_text,
};
use std::ffi::c_int;

c_functions! {
    AUXILIARY, "netcdf_aux.h";
    /// Begins the definition of a compound type whose fields are placed as by a C compiler, or without padding.
    fn ncaux_begin_compound(ncid: c_int, name: CText, alignmode: c_int, tag: AddressOut) -> Outcome<()> = auxiliary::begin;
    /// Adds a field to a compound type that was begun.
    fn ncaux_add_field(tag: CompoundHandle, name: CText, field_type: c_int, ndims: c_int, dimsizes: In<c_int>) -> Outcome<()> = auxiliary::add;
    /// Defines the compound type that was begun.
    fn ncaux_end_compound(tag: CompoundHandle, xtypeid: Out<c_int>) -> Outcome<()> = auxiliary::end;
    /// Abandons the definition of the compound type.
    fn ncaux_abort_compound(tag: CompoundHandle) -> Outcome<()> = auxiliary::abort;
    /// Returns the alignment of a class of types.
    fn ncaux_class_alignment(ncclass: c_int, alignp: Out<usize>) -> Outcome<()> = auxiliary::class_alignment;
    /// Returns the alignment of a type.
    fn ncaux_type_alignment(xtype: c_int, ncid: c_int, alignp: Out<usize>) -> Outcome<()> = auxiliary::type_alignment;
    /// Frees the memory to which values refer.
    fn ncaux_reclaim_data(ncid: c_int, xtype: c_int, memory: BytesOut, count: usize) -> Outcome<()> = types::reclaim;
    /// Frees values and the memory to which they refer.
    fn ncaux_reclaim_data_all(ncid: c_int, xtype: c_int, memory: BytesOut, count: usize) -> Outcome<()> = types::reclaim_all;
    /// Parses the text of a filter.
    fn ncaux_h5filterspec_parse(txt: CText, idp: Out<u32>, nparamsp: Out<usize>, paramsp: WordsOut) -> Outcome<()> = filter_text::parse;
    /// Parses the text of a list of filters.
    fn ncaux_h5filterspec_parselist(txt0: CText, formatp: Out<c_int>, nspecsp: Out<usize>, vectorp: FilterListOut) -> Outcome<()> = filter_text::parse_list;
    /// Parses the text of a filter parameter.
    fn ncaux_h5filterspec_parse_parameter(txt: CText, nuiparamsp: Out<usize>, uiparams: Out<u32>) -> Outcome<()> = filter_text::parse_parameter;
    /// Frees a parsed filter.
    fn ncaux_h5filterspec_free(f: FilterSpecHandle) -> NoAnswer = filter_text::free;
    /// Converts eight bytes from the byte order of the machine to that of filter parameters, or back.
    fn ncaux_h5filterspec_fix8(mem: Out<u8>, decode: c_int) -> NoAnswer = filter_text::fix8;
    /// Returns values as text, for debugging.
    fn ncaux_dump_data(ncid: c_int, xtypeid: c_int, memory: BytesOut, count: usize, buf: TextOut) -> Outcome<()> = data_text::dump;
    /// Reads the bytes of a file into new memory.
    fn ncaux_readfile(filename: CText, sizep: Out<usize>, content: AddressOut) -> Outcome<()> = auxiliary::read_file;
    /// Writes bytes to a file.
    fn ncaux_writefile(filename: CText, size: usize, content: BytesOut) -> Outcome<()> = auxiliary::write_file;
}

c_functions! {
    MEMORY, "netcdf_mem.h";
    /// Opens a dataset from the bytes of a file in memory, for reading.
    fn nc_open_mem(path: CText, mode: c_int, size: usize, memory: BytesOut, ncidp: Out<c_int>) -> Outcome<()> = in_memory::open;
    /// Creates a dataset in memory.
    fn nc_create_mem(path: CText, mode: c_int, initialsize: usize, ncidp: Out<c_int>) -> Outcome<()> = crate::opening::create::create_in_memory;
    /// Opens a dataset from the bytes of a file in memory, which may be changed.
    fn nc_open_memio(path: CText, mode: c_int, info: MemoryFile, ncidp: Out<c_int>) -> Outcome<()> = in_memory::open_for_changes;
    /// Closes a dataset in memory and passes its bytes to the program.
    fn nc_close_memio(ncid: c_int, info: MemoryFile) -> Outcome<()> = crate::opening::open::close_for_bytes;
}

c_functions! {
    ROWS, "netcdf.h";
    /// Copies values, and what they refer to, to newly allocated memory.
    fn nc_copy_data_all(ncid: c_int, xtypeid: c_int, memory: Bytes, count: usize, copyp: AddressOut) -> Outcome<()> = auxiliary::copy_all;
    /// Returns values as text, for debugging.
    fn nc_dump_data(ncid: c_int, xtypeid: c_int, memory: BytesOut, count: usize, buf: TextOut) -> Outcome<()> = data_text::dump;
    /// Defines a format by a dispatch table, whose functions are called for its files.
    fn nc_def_user_format(mode_flag: c_int, dispatch_table: UserTable, magic_number: CTextMut) -> Outcome<()> = user_formats::define;
    /// Returns the dispatch table and the magic number of a format that the program defined.
    fn nc_inq_user_format(mode_flag: c_int, dispatch_table: TableOut, magic_number: NameOut) -> Outcome<()> = user_formats::inq;
    /// Returns the size of an atomic type in memory, in bytes.
    fn nctypelen(datatype: c_int) -> c_int = auxiliary::type_len;
    /// Sets the log level; it has no effect.
    fn nc_set_log_level(new_level: c_int) -> Outcome<()> =>
        Ok(());
    /// Copies a variable with its attributes and values to a dataset that has dimensions of the same names.
    fn nc_copy_var(ncid_in: c_int, varid: c_int, ncid_out: c_int) -> Outcome<()> = crate::values::copy_variable::copy;
}

c_functions! {
    PROGRAMS, "";
    /// Writes a line to standard error if logging is on or the line is an error. Conversions such as `%s` are not expanded.
    fn nclog(tag: c_int, fmt: CText) -> c_int = crate::support::log::log;
    /// Converts UTF-8 to UTF-16.
    fn nc_utf8_to_utf16(utf8: CText, utf16p: crate::c_types::memory::ShortsOut, lenp: Out<usize>) -> Outcome<()> = netcdf_tools::utf8_to_utf16;
    /// Parses a date into its parts.
    fn cdChar2Comp(timetype: c_int, chartime: CTextMut, comptime: BytesOut) -> NoAnswer = netcdf_tools::parse_date;
    /// Returns the hours from the start of the base year to a date in parts.
    fn Cdh2e(htime: BytesOut, etime: Out<f64>) -> NoAnswer = netcdf_tools::hours_of;
}

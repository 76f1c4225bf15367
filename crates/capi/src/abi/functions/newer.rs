//! What versions of netCDF-C after 4.9.0 added, and buffers of bytes and names that its own programs import.
use crate::abi::table::c_functions;
use crate::c_types::codes::Outcome;
use crate::c_types::memory::{
    AddressOut, ByteBuffer, Bytes, BytesOut, CText, Char, KeptPointer, NameOut, NoAnswer, Out, TextList,
    TextListIn, TextOut, TextsOut,
};
use crate::process::{plugin_folders, set_plugin_folders};
use crate::{
    definitions::auxiliary, definitions::types, opening::create, support::netcdf_tools, support::plugin_paths,
};
use std::ffi::c_int;

c_functions! {
    ROWS, "netcdf.h";
    /// Sets the block size for metadata of new netCDF-4 files. It has no effect: metadata are stored together anyway.
    fn nc_set_meta_block_size(size: usize) -> Outcome<()> = create::set_meta_block;
    /// Returns the block size for metadata that was set.
    fn nc_get_meta_block_size(sizep: Out<usize>) -> Outcome<()> = create::meta_block;
    /// Returns the number of folders that are searched for plugins.
    fn nc_plugin_path_ndirs(ndirsp: Out<usize>) -> Outcome<()> =>
        ndirsp.store(plugin_folders().len());
    /// Returns the folders that are searched for plugins.
    fn nc_plugin_path_get(dirs: TextList) -> Outcome<()> =>
        dirs.set(&plugin_folders());
    /// Sets the folders that are searched for plugins, for datasets that are opened from now on.
    fn nc_plugin_path_set(dirs: TextListIn) -> Outcome<()> =>
        dirs.texts().map(set_plugin_folders);
}

c_functions! {
    AUXILIARY, "netcdf_aux.h";
    /// Copies values, and what they refer to, to memory of the program.
    fn ncaux_copy_data(ncid: c_int, xtype: c_int, memory: Bytes, count: usize, copy: BytesOut) -> Outcome<()> = types::copy;
    /// Copies values, and what they refer to, to newly allocated memory.
    fn ncaux_copy_data_all(ncid: c_int, xtype: c_int, memory: Bytes, count: usize, copyp: AddressOut) -> Outcome<()> = auxiliary::copy_all;
    /// Returns the definition of a type of any class, except its members.
    fn ncaux_inq_any_type(ncid: c_int, xtype: c_int, name: NameOut, sizep: Out<usize>, basetypep: Out<c_int>, nfieldsp: Out<usize>, classp: Out<c_int>) -> Outcome<()> = types::inq_any;
    /// Returns the keys and values of the attribute `_NCProperties`, followed by two null pointers.
    fn ncaux_parse_provenance(ncprop: CText, pairsp: TextsOut) -> Outcome<()> = auxiliary::parse_provenance;
    /// Splits a text into folders.
    fn ncaux_plugin_path_parse(pathlist: CText, sep: Char, dirs: TextList) -> Outcome<()> = plugin_paths::parse;
    /// Splits a text of a given length into folders.
    fn ncaux_plugin_path_parsen(pathlen: usize, pathlist: CText, sep: Char, dirs: TextList) -> Outcome<()> = plugin_paths::parse_part;
    /// Joins folders to one text.
    fn ncaux_plugin_path_tostring(dirs: TextListIn, sep: Char, catp: TextOut) -> Outcome<()> = plugin_paths::joined;
    /// Frees the contents of a list of folders.
    fn ncaux_plugin_path_clear(dirs: TextList) -> Outcome<()> = plugin_paths::clear;
    /// Frees a list of folders.
    fn ncaux_plugin_path_reclaim(dirs: TextList) -> Outcome<()> = plugin_paths::reclaim;
    /// Adds a folder at the end of a list.
    fn ncaux_plugin_path_append(dirs: TextList, dir: CText) -> Outcome<()> =>
        plugin_paths::insert(dirs, &dir, false);
    /// Adds a folder at the start of a list.
    fn ncaux_plugin_path_prepend(dirs: TextList, dir: CText) -> Outcome<()> =>
        plugin_paths::insert(dirs, &dir, true);
    /// Returns the length in bytes of the folders that are searched for plugins, as one text.
    fn ncaux_plugin_path_stringlen() -> c_int = plugin_paths::text_len;
    /// Returns the folders that are searched for plugins, as one text with semicolons.
    fn ncaux_plugin_path_stringget(pathlen: c_int, path: NameOut) -> Outcome<()> = plugin_paths::text;
    /// Sets the folders that are searched for plugins, from one text with semicolons.
    fn ncaux_plugin_path_stringset(pathlen: c_int, path: CText) -> Outcome<()> = plugin_paths::set_text;
}

c_functions! {
    PROGRAMS, "";
    /// Checks whether a text is UTF-8.
    fn nc_utf8_validate(name: CText) -> Outcome<()> = netcdf_tools::validate_utf8;
    /// Converts UTF-8 to normalization form C.
    fn nc_utf8_normalize(utf8: CText, normalp: TextOut) -> Outcome<()> = netcdf_tools::normalize_utf8;
    /// Creates a byte buffer.
    fn ncbytesnew() -> ByteBuffer =>
        ByteBuffer::empty();
    /// Takes the bytes out of a byte buffer.
    fn ncbytesextract(buffer: ByteBuffer) -> KeptPointer =>
        KeptPointer(buffer.take());
    /// Frees a byte buffer.
    fn ncbytesfree(buffer: ByteBuffer) -> NoAnswer =>
        buffer.free();
    /// Appends the bytes of a file to a byte buffer.
    fn NC_readfile(filename: CText, content: ByteBuffer) -> Outcome<()> = auxiliary::append_file;
    /// Returns the version of the HDF5 library that the process has loaded, otherwise of the one with which netCDF-C 4.9.0 was built.
    fn H5get_libversion(majnum: Out<u32>, minnum: Out<u32>, relnum: Out<u32>) -> Outcome<()> = netcdf_tools::hdf5_version;
    /// Sets the least important messages of `nclog` that are written (0: none), and returns the previous setting.
    fn ncsetloglevel(level: c_int) -> c_int = crate::support::log::set_level;
    /// Writes bytes to a file.
    fn NC_writefile(filename: CText, size: usize, content: BytesOut) -> Outcome<()> = auxiliary::write_file;
}

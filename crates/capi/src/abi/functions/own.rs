//! `ncirrus.h`, and the keys of `.ncrc` that newer versions of netCDF-C set.
use crate::abi::table::c_functions;
use crate::c_types::codes::Outcome;
use crate::c_types::memory::{
    AddressesIn, CText, ConstText, In, KeptPointer, LastErrorText, NoAnswer, Out, OwnedText, StartsIn,
    TextOut,
};
use crate::definitions::{define_storage, storage};
use crate::process::configure;
use crate::support::own_interface;
use std::ffi::c_int;

c_functions! {
    ROWS, "ncirrus.h";
    /// Returns the version of ncirrus.
    fn nci_version() -> ConstText = own_interface::version;
    /// Returns the error of the last call of this thread that failed: object, place and value.
    /// It stays valid until the next failure.
    fn nci_last_error() -> LastErrorText =>
        LastErrorText;
    /// Sets a key of ncirrus's configuration, for datasets that are opened from now on.
    fn nci_configure(key: CText, value: CText) -> Outcome<()> =>
        Ok(configure(&key.text()?, &value.text()?)?);
    /// Reads boxes of several variables of a group with shared requests, each in the variable's own type.
    fn nci_read_many(ncid: c_int, many: usize, varids: In<c_int>, startps: StartsIn, countps: StartsIn, values: AddressesIn) -> Outcome<()> = own_interface::read_many;
    /// Returns, as JSON, how a box would be read; without a start, how the whole variable would be read.
    fn nci_explain(ncid: c_int, varid: c_int, startp: In<usize>, countp: In<usize>, jsonp: TextOut) -> Outcome<()> = own_interface::explain;
    /// Adds a filter in Zarr's JSON notation (`{"id": "zstd", "level": 5}`), or a list of filters, to a new variable.
    fn nc_def_var_filter_json(ncid: c_int, varid: c_int, json: CText) -> Outcome<()> = define_storage::filter_json;
    /// Sets the shape of the shards of a new variable of Zarr v3: objects that contain several chunks each. Each length is a
    /// multiple of the chunk's. A null pointer means that the variable has no shards.
    fn nci_def_var_shards(ncid: c_int, varid: c_int, shardsizesp: In<usize>) -> Outcome<()> = define_storage::shards;
    /// Returns whether a variable has shards, and their shape.
    fn nci_inq_var_shards(ncid: c_int, varid: c_int, shardedp: Out<c_int>, shardsizesp: Out<usize>) -> Outcome<()> = storage::shards;
    /// Returns, as JSON, how much was fetched and decoded so far.
    fn nci_statistics(jsonp: TextOut) -> Outcome<()> = own_interface::statistics;
    /// Frees memory that these functions returned.
    fn nci_free(block: KeptPointer) -> NoAnswer = own_interface::free;
}

c_functions! {
    NEWER, "netcdf.h";
    /// Returns the value of a key that the program set, or that is in the user's `.ncrc`; otherwise null.
    fn nc_rc_get(key: CText) -> OwnedText = own_interface::rc;
    /// Sets a key of `.ncrc`, for datasets that are opened from now on.
    fn nc_rc_set(key: CText, value: CText) -> Outcome<()> = own_interface::set_rc;
}

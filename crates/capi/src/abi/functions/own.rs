//! `ncirrus.h`, and the keys of `.ncrc` that newer versions of netCDF-C set.
use crate::abi::table::c_functions;
use crate::c_types::codes::Outcome;
use crate::c_types::memory::{
    AddressesIn, CText, ConstText, In, KeptPointer, LastErrorText, NoAnswer, OwnedText, StartsIn, TextOut,
};
use crate::definitions::define_storage;
use crate::process::configure;
use crate::support::own_interface;
use std::ffi::c_int;

c_functions! {
    ROWS, "ncirrus.h";
    /// The version of ncirrus.
    fn nci_version() -> ConstText = own_interface::version;
    /// What went wrong in the last call of this thread that failed: object, place and value. It stands until the next one.
    fn nci_last_error() -> LastErrorText =>
        LastErrorText;
    /// Sets a key of ncirrus's configuration for what is opened from now on.
    fn nci_configure(key: CText, value: CText) -> Outcome<()> =>
        Ok(configure(&key.text()?, &value.text()?)?);
    /// Reads slabs of several variables of a group, each in its own type, fetched together.
    fn nci_read_many(ncid: c_int, many: usize, varids: In<c_int>, startps: StartsIn, countps: StartsIn, values: AddressesIn) -> Outcome<()> = own_interface::read_many;
    /// How a slab would be read, as JSON; of the whole variable without a start.
    fn nci_explain(ncid: c_int, varid: c_int, startp: In<usize>, countp: In<usize>, jsonp: TextOut) -> Outcome<()> = own_interface::explain;
    /// Adds a filter in Zarr's words (`{"id": "zstd", "level": 5}`), or a list of them, to a new variable.
    fn nc_def_var_filter_json(ncid: c_int, varid: c_int, json: CText) -> Outcome<()> = define_storage::filter_json;
    /// What was fetched and decoded so far, as JSON.
    fn nci_statistics(jsonp: TextOut) -> Outcome<()> = own_interface::statistics;
    /// Frees what these functions hand out.
    fn nci_free(block: KeptPointer) -> NoAnswer = own_interface::free;
}

c_functions! {
    NEWER, "netcdf.h";
    /// The value that the program set for a key of `.ncrc`, or null.
    fn nc_rc_get(key: CText) -> OwnedText = own_interface::rc;
    /// Sets a key of `.ncrc` for what is opened from now on.
    fn nc_rc_set(key: CText, value: CText) -> Outcome<()> = own_interface::set_rc;
}

//! The table: every function that the library exports.
mod attribute;
mod data;
mod dataset;
mod extras;
mod netcdf4;
mod newer;
mod own;
mod put;
mod refusals;
mod support;
mod types;
mod variable;
mod version2;
mod writing;

use crate::abi::table::FunctionRow;

/// All functions, by the files of the table.
pub fn functions() -> Vec<FunctionRow> {
    [
        dataset::ROWS,
        variable::ROWS,
        variable::FILTERS,
        attribute::ROWS,
        types::ROWS,
        data::ROWS,
        data::TYPED,
        support::ROWS,
        extras::AUXILIARY,
        extras::MEMORY,
        extras::ROWS,
        extras::PROGRAMS,
        writing::ROWS,
        writing::FILTERS,
        put::ROWS,
        put::TYPED,
        put::ATTRIBUTES,
        refusals::ROWS,
        refusals::FORTRAN,
        refusals::DISPATCH,
        refusals::ALIKE,
        version2::ROWS,
        own::ROWS,
        own::NEWER,
        newer::ROWS,
        newer::AUXILIARY,
        newer::PROGRAMS,
        netcdf4::ROWS,
        version2::RECORDS,
        version2::ADVICE,
    ]
    .concat()
}

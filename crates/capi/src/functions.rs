//! The table: every function that the library exports.
mod attribute;
mod data;
mod dataset;
mod support;
mod types;
mod variable;

use crate::table::FunctionRow;

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
    ]
    .concat()
}

//! Whether two datasets are the same: their definitions, their attributes and their values, whatever the kinds, places,
//! chunks and filters.
mod blocks;
mod definitions;
mod elements;
mod options;
mod report;
mod shared;
#[cfg(test)]
mod tests;
mod values;

pub(crate) use blocks::{Blocks, chunk_grain};
pub use options::{CompareOptions, CompareScope};
pub use report::{ComparisonReport, DefinitionDifference, DifferentElement, VariableComparison};

pub(crate) use elements::{element_text, type_text};

use definitions::DefinitionComparison;
use ncirrus::{Dataset, Result, Variable};

/// Compares two datasets. Values are read from both at once, in blocks of whole chunks, within the memory of the first
/// dataset's session.
///
/// Numbers of different types are compared as numbers. A value that is missing (the fill value of its variable) or NaN
/// on both sides is the same; one that is so on one side alone is counted apart from numbers that differ.
///
/// Of two states of one Icechunk repository only the chunks that differ are read: equal references mean equal values.
///
/// # Errors
/// `NotFound` for a variable or group that is asked for and that neither dataset has; when a dataset cannot be read.
pub fn compare(first: &Dataset, second: &Dataset, options: &CompareOptions) -> Result<ComparisonReport> {
    let mut report = ComparisonReport {
        left_out: [first.left_out()?, second.left_out()?].concat(),
        ..ComparisonReport::default()
    };
    let chosen = options.chosen(first, second)?;
    if options.scope != CompareScope::Data {
        report.definitions = DefinitionComparison::new(first, second, options)?.run(&chosen);
    }
    if options.scope == CompareScope::Definitions {
        return Ok(report);
    }
    for path in &chosen {
        match (first.variable(path), second.variable(path)) {
            (Ok(ours), Ok(theirs)) => report.variables.push(compare_variable(&ours, &theirs, options)?),
            // The definitions say so already.
            _ if options.scope == CompareScope::All => {}
            (Ok(_), Err(_)) => {
                report.variables.push(VariableComparison::skipped(path, "only in the first dataset"));
            }
            (Err(_), _) => {
                report.variables.push(VariableComparison::skipped(path, "only in the second dataset"));
            }
        }
    }
    Ok(report)
}

fn compare_variable(
    first: &Variable,
    second: &Variable,
    options: &CompareOptions,
) -> Result<VariableComparison> {
    let path = first.path();
    if let Some(reason) = values::obstacle(first, second)? {
        return Ok(VariableComparison::skipped(&path, &reason));
    }
    let selection = options.selection(&path, &first.shape())?;
    let sides = [values::Side::new(first, options)?, values::Side::new(second, options)?];
    values::ValueComparison::new(&sides, options).run(&selection)
}

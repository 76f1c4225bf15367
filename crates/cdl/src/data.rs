//! The data of one variable (docs/spec/nczarr.md 12.1 to 12.3).
//!
//! Values arrive in consecutive blocks in row-major order ([`blocks`]); [`rows`] lays them out in rows, braces and
//! lines independently of where a block ends.
mod annotate;
mod blocks;
mod fill;
mod rows;

use crate::CdlError;
use crate::name::escape_name;
use crate::printer::CdlPrinter;
use blocks::{ArrayBlocks, BlockLengths};
use ncirrus_model::{Selection, Storage, Values, VarId};
use rows::RowPrinter;

/// Prints the data of a variable; nothing if it has no elements.
pub(crate) fn print(printer: &mut CdlPrinter<'_, '_>, id: VarId, indent: usize) -> Result<(), CdlError> {
    let model = printer.model;
    let Some(variable) = model.variable(id) else { return Ok(()) };
    if let Some(fault) = &variable.fault {
        fault_line(printer, id, indent, &fault.to_string());
        return Ok(());
    }
    let shape = model.shape(id);
    if shape.contains(&0) {
        return Ok(());
    }
    // No reader would see the end, and indices of elements would overflow.
    if shape.iter().try_fold(1u64, |count, len| count.checked_mul(*len)).is_none() {
        fault_line(printer, id, indent, &format!("{shape:?} are too many elements to print"));
        return Ok(());
    }
    let chunks = match &variable.storage {
        Storage::Chunked(chunks) => Some(chunks.as_slice()),
        _ => None,
    };
    let lengths = BlockLengths { usual: printer.source.usual_block_len(), max: printer.source.block_len() };
    let mut blocks = ArrayBlocks::new(&shape, model.packed_len(variable.ty), chunks, lengths);
    // The first block is read before the name is printed, so that a variable that cannot be read is one line with the
    // reason.
    let Some(first) = blocks.next() else { return Ok(()) };
    let mut values = match read(printer, id, &first) {
        Ok(values) => values,
        Err(reason) => {
            fault_line(printer, id, indent, &reason);
            return Ok(());
        }
    };
    printer.out.push("\n");
    printer.out.blanks(indent + 1);
    printer.out.push(&escape_name(&variable.name));
    let time = printer.time_axis(id);
    let mut rows =
        RowPrinter::new(model, variable, &shape, &model.growing(id), time, indent, printer.options);
    rows.start(&mut printer.out);
    loop {
        rows.block(&mut printer.out, &values)?;
        let Some(selection) = blocks.next() else { break };
        values = match read(printer, id, &selection) {
            Ok(values) => values,
            Err(reason) => {
                rows.break_off(&mut printer.out);
                printer.fault(indent + 1, model.variable_path(id), &reason);
                return Ok(());
            }
        };
    }
    rows.end(&mut printer.out);
    Ok(())
}

/// Reads a block and checks its length.
fn read(printer: &mut CdlPrinter<'_, '_>, id: VarId, selection: &Selection) -> Result<Values, String> {
    let values = printer.source.read(id, selection).map_err(|error| error.to_string())?;
    let (have, want) = (values.len() as u64, selection.element_count());
    if Some(have) != want {
        return Err(format!("{have} values were read where {} were expected", want.unwrap_or(0)));
    }
    Ok(values)
}

fn fault_line(printer: &mut CdlPrinter<'_, '_>, id: VarId, indent: usize, reason: &str) {
    printer.out.push("\n");
    let path = printer.model.variable_path(id);
    printer.fault(indent + 1, path, reason);
}

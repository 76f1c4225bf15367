//! Calls that write values.
use super::c::{CText, call};
use super::c_value::{CInitializers, string};
use super::{parts, read};
use crate::{CdlError, DataSource};
use ncirrus_model::{TypeRef, Values, VarId, Variable};
use std::io::Write;

/// Writes the values of all variables that have some.
pub(super) fn write_data(
    out: &mut dyn Write,
    text: &CText<'_>,
    source: &mut dyn DataSource,
    initializers: &mut CInitializers<'_>,
) -> Result<(), CdlError> {
    let model = text.model;
    for id in model.variables().into_iter().filter(|id| text.options.filled.contains(id)) {
        let Some(variable) = model.variable(id) else { continue };
        if model.shape(id).contains(&0) {
            continue;
        }
        for part in parts(model, id) {
            let part = read(source, id, part)?;
            if variable.dims.is_empty() {
                write_scalar(out, text, id, variable, &part.values, initializers)?;
            } else {
                write_part(out, text, id, variable, &part, initializers)?;
            }
        }
    }
    Ok(())
}

/// One value.
fn write_scalar(
    out: &mut dyn Write,
    text: &CText<'_>,
    id: VarId,
    variable: &Variable,
    values: &Values,
    initializers: &mut CInitializers<'_>,
) -> Result<(), CdlError> {
    let (group, name) = place(text, id);
    let list = initializers.one(variable.ty, values);
    let ty = initializers.type_name(variable.ty);
    writeln!(out, "    {{")?;
    write_arrays(out, initializers)?;
    writeln!(out, "    size_t count = 0;\n    static {ty} {name}_data[1] = {list};")?;
    call(out, &format!("nc_put_var1({group}, {name}_id, &count, {name}_data)"))?;
    Ok(writeln!(out, "    }}\n\n")?)
}

/// One box.
fn write_part(
    out: &mut dyn Write,
    text: &CText<'_>,
    id: VarId,
    variable: &Variable,
    part: &super::WrittenPart,
    initializers: &mut CInitializers<'_>,
) -> Result<(), CdlError> {
    let (group, name) = place(text, id);
    let rank = variable.dims.len();
    writeln!(out, "    {{")?;
    match &part.values {
        Values::Char(chars) if matches!(variable.ty, TypeRef::Atomic(_)) => {
            writeln!(out, "    char* {name}_data = {} ;", string(chars))?;
        }
        values => {
            let list = initializers.all(variable.ty, values);
            let ty = initializers.type_name(variable.ty);
            write_arrays(out, initializers)?;
            writeln!(out, "    {ty} {name}_data[{}] = {list} ;", values.len())?;
        }
    }
    writeln!(out, "    size_t {name}_startset[{rank}] = {{{}}} ;", numbers(&part.start))?;
    writeln!(out, "    size_t {name}_countset[{rank}] = {{{}}};", numbers(&part.count))?;
    let arguments = format!("{group}, {name}_id, {name}_startset, {name}_countset, {name}_data");
    call(out, &format!("nc_put_vara({arguments})"))?;
    Ok(writeln!(out, "    }}\n\n")?)
}

/// The group and the identifier of a variable.
fn place<'t>(text: &'t CText<'_>, id: VarId) -> (String, &'t str) {
    let group = text.model.variable_group(id).unwrap_or(text.model.root());
    (text.group(group), text.names.vars.get(&id).map_or("", String::as_str))
}

/// The arrays that the next list points to.
pub(super) fn write_arrays(
    out: &mut dyn Write,
    initializers: &mut CInitializers<'_>,
) -> Result<(), CdlError> {
    for array in initializers.arrays.drain(..) {
        writeln!(out, "    {array}")?;
    }
    Ok(())
}

/// Numbers in a row.
pub(super) fn numbers(all: &[u64]) -> String {
    let texts: Vec<String> = all.iter().map(u64::to_string).collect();
    texts.join(", ")
}

//! The frame of a program in C.
use super::c_data::write_data;
use super::c_define::Definer;
use super::c_value::{CInitializers, string};
use super::identifier::Identifiers;
use super::{ProgramOptions, types_in_order};
use crate::{CdlError, DataSource};
use ncirrus_model::{Format, Model, TypeId};
use std::io::Write;

/// What every program begins with.
const HEAD: &str = "#include <stdio.h>
#include <stdlib.h>
#include <netcdf.h>


";

/// Numbers without a literal in C, for programs that have some.
const SPECIAL: &str = "#define nanf (0.0f/0.0f)
#define nan  (0.0/0.0)
#define inff (1.0f/0.0f)
#define inf  (1.0/0.0)
#define infinityf inff
#define infinity  inf


";

/// How every call is checked.
const CHECK: &str = "void
check_err(const int stat, int line, const char* file, const char* func) {
    if (stat != NC_NOERR) {
        (void)fprintf(stderr,\"line %d of %s.%s: %s\\n\", line, file, func, nc_strerror(stat));
        fflush(stderr);
        exit(1);
    }
}

#define CHECK_ERR(err) check_err(err, __LINE__, __FILE__, __func__)

";

/// A call of the library, and the check of what it returns.
pub(super) fn call(out: &mut dyn Write, call: &str) -> Result<(), CdlError> {
    Ok(write!(out, "    stat = {call};\n    CHECK_ERR(stat);\n")?)
}

/// What all parts of the text need to know.
pub(super) struct CText<'m> {
    pub(super) model: &'m Model,
    pub(super) names: &'m Identifiers,
    pub(super) options: &'m ProgramOptions,
    pub(super) types: Vec<TypeId>,
    /// Whether objects are in groups and have filters, chunks and types of their own.
    pub(super) is_enhanced: bool,
}

impl CText<'_> {
    /// What stands for a group in calls.
    pub(super) fn group(&self, group: ncirrus_model::GroupId) -> String {
        if !self.is_enhanced {
            return "ncid".to_owned();
        }
        self.names.groups.get(&group).map_or_else(|| "ncid".to_owned(), |name| format!("{name}_grp"))
    }
}

/// Writes the whole program.
pub(super) fn write(
    out: &mut dyn Write,
    model: &Model,
    source: &mut dyn DataSource,
    options: &ProgramOptions,
) -> Result<(), CdlError> {
    let is_enhanced = options.format() == Format::NetCdf4;
    let names = Identifiers::of(model, &options.name, is_enhanced);
    let types = types_in_order(model);
    let text = CText { model, names: &names, options, types, is_enhanced };
    let mut initializers = CInitializers::new(model, &names);
    // Whether there are special numbers is known at the end.
    let mut body = Vec::new();
    write_body(&mut body, &text, source, &mut initializers)?;
    out.write_all(HEAD.as_bytes())?;
    if initializers.has_special {
        out.write_all(SPECIAL.as_bytes())?;
    }
    out.write_all(&body)?;
    Ok(out.flush()?)
}

/// All but the first lines.
fn write_body(
    out: &mut dyn Write,
    text: &CText<'_>,
    source: &mut dyn DataSource,
    initializers: &mut CInitializers<'_>,
) -> Result<(), CdlError> {
    let (model, options, is_enhanced) = (text.model, text.options, text.is_enhanced);
    let definer = Definer { text };
    definer.types_in_c(out)?;
    definer.storage_arrays(out)?;
    if is_enhanced {
        writeln!(out)?;
    }
    out.write_all(CHECK.as_bytes())?;
    writeln!(out, "int\n{}() {{/* create {} */\n", options.main(), comment(&options.target))?;
    write!(out, "    int  stat;  /* return status */\n    int  ncid;  /* netCDF id */\n\n")?;
    definer.identifiers(out)?;
    writeln!(out, "    /* enter define mode */")?;
    let target = string(options.target.as_bytes());
    call(out, &format!("nc_create({target}, {}, &ncid)", create_mode(options.format())))?;
    if is_enhanced {
        definer.groups(out)?;
    }
    writeln!(out)?;
    definer.types(out)?;
    definer.dimensions(out)?;
    definer.variables(out)?;
    definer.attributes(out, initializers)?;
    let root = text.group(model.root());
    writeln!(out, "    /* leave define mode */")?;
    call(out, &format!("nc_enddef ({root})"))?;
    if !options.definitions_only && !model.variables().is_empty() {
        writeln!(out, "\n    /* assign variable data */\n")?;
        write_data(out, text, source, initializers)?;
    }
    call(out, &format!("nc_close({root})"))?;
    Ok(writeln!(out, "    return 0;\n}}")?)
}

/// A name inside a comment.
fn comment(name: &str) -> String {
    name.replace("*/", "*_/").replace(['\n', '\r'], " ")
}

fn create_mode(format: Format) -> &'static str {
    match format {
        Format::Classic => "NC_CLOBBER",
        Format::Offset64 => "NC_CLOBBER|NC_64BIT_OFFSET",
        // The reference leaves this out, and its programs fail.
        Format::Data64 => "NC_CLOBBER|NC_64BIT_DATA",
        Format::NetCdf4 => "NC_CLOBBER|NC_NETCDF4",
        Format::NetCdf4Classic => "NC_CLOBBER|NC_NETCDF4|NC_CLASSIC_MODEL",
    }
}

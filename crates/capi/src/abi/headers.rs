//! The C headers, made of the table.
use crate::abi::constants::CONSTANTS;
use crate::abi::functions::functions;
use crate::abi::table::FunctionRow;
use crate::c_types::codes::CODES;
use crate::c_types::memory::{DISPATCH_ENTRIES, DispatchEntry};
use std::fmt::Write;

/// The headers that are made, by name.
pub const HEADERS: &[&str] =
    &["netcdf.h", "netcdf_filter.h", "netcdf_mem.h", "netcdf_aux.h", "netcdf_dispatch.h", "ncirrus.h"];

/// The text of a header.
pub fn header(name: &str) -> String {
    let guard = format!("NCIRRUS_{}", name.to_ascii_uppercase().replace('.', "_"));
    let mut text = format!(
        "/* {name} of ncirrus: the functions of netCDF-C that libnetcdf.so.19 of ncirrus has. Made from the table in\n   \
         crates/capi/src/functions; do not edit. SPDX-License-Identifier: Apache-2.0 OR MIT */\n\
         #ifndef {guard}\n#define {guard}\n\n"
    );
    text.push_str(if name == "netcdf.h" {
        "#define _NETCDF_\n#include <errno.h>\n#include <stddef.h>\n"
    } else {
        "#include <netcdf.h>\n"
    });
    text.push('\n');
    if name == "netcdf.h" {
        add_definitions(&mut text);
    }
    text.push_str(match name {
        "netcdf_mem.h" => MEMORY_DEFINITIONS,
        "netcdf_aux.h" => FILTER_DEFINITIONS,
        "netcdf_filter.h" => FILTER_NUMBERS,
        _ => "",
    });
    if name == "netcdf_dispatch.h" {
        add_table(&mut text);
    }
    text.push_str("#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n");
    if name == "netcdf.h" {
        text.push_str(VARIABLES);
    }
    for row in functions().iter().filter(|row| row.header == name) {
        for line in row.about {
            let _ = writeln!(text, "/* {} */", line.trim());
        }
        let prototype = if name == "netcdf_dispatch.h" { entry_prototype(row) } else { row.prototype() };
        let _ = writeln!(text, "extern {prototype};");
    }
    let _ = write!(text, "\n#ifdef __cplusplus\n}}\n#endif\n\n#endif\n");
    text
}

/// The table of functions of a format: a pointer to each.
fn add_table(text: &mut String) {
    text.push_str(
        "/* The version of the table. */\n#ifndef NC_DISPATCH_VERSION\n#define NC_DISPATCH_VERSION 5\n#endif\n\n\
         /* A format that a program defines: a function for each call, in this order. */\n\
         struct NC_Dispatch {\n    int model;\n    int dispatch_version;\n",
    );
    for entry in DISPATCH_ENTRIES {
        let _ = writeln!(text, "    int (*{})({});", entry.name, arguments(entry));
    }
    text.push_str("};\n\n");
}

fn arguments(entry: &DispatchEntry) -> String {
    let list = entry.arguments.iter().map(|(name, ty)| crate::abi::table::joined(&ty(), name));
    list.collect::<Vec<_>>().join(", ")
}

/// A function for a place of the table, with the arguments of that place: `NC_RO_create` for `create`.
fn entry_prototype(row: &FunctionRow) -> String {
    let place = ["NC_RO_", "NC_NOTNC4_", "NC_NOTNC3_", "NC_NOOP_"]
        .iter()
        .find_map(|start| row.name.strip_prefix(start));
    match DISPATCH_ENTRIES.iter().find(|entry| Some(entry.name) == place) {
        Some(entry) => format!("int {}({})", row.name, arguments(entry)),
        None => row.prototype(),
    }
}

/// Types, constants and codes.
fn add_definitions(text: &mut String) {
    for (heading, constants) in CONSTANTS {
        let _ = writeln!(text, "/* {heading} */");
        for (name, value) in *constants {
            let _ = writeln!(text, "{}", format!("#define {name} {value}").trim_end());
        }
        text.push('\n');
    }
    text.push_str("/* Codes */\n#define NC_ISSYSERR(err) ((err) > 0)\n");
    for row in CODES {
        let _ = writeln!(text, "#define {} ({})", row.name, row.code);
    }
    text.push_str(
        "#define NC2_ERR (-1)\n#define NC4_FIRST_ERROR (-100)\n#define NC4_LAST_ERROR (-142)\n\n\
         /* Before the declarations of this library. */\n#ifndef EXTERNL\n#define EXTERNL extern\n#endif\n\n\
         /* The begin of `NAME` in HDF5, for a dimension without a variable. */\n\
         #define DIM_WITHOUT_VARIABLE \"This is a netCDF dimension but not a netCDF variable.\"\n\
         \n/* Where a field is in a structure. */\n#define NC_COMPOUND_OFFSET(structure, field) (offsetof(structure, field))\n\n\
         /* The number of a type. */\ntypedef int nc_type;\n\n/* What `NC_LONG` is in memory. */\ntypedef int nclong;\n\n\
         /* A value of a vlen: the number of its elements, and the elements. */\n\
         typedef struct {\n    size_t len;\n    void *p;\n} nc_vlen_t;\n\n\
         /* Folders, such as those that are searched for plugins. */\n\
         typedef struct NCPluginList {\n    size_t ndirs;\n    char **dirs;\n} NCPluginList;\n\n\
         /* The functions of a format that a program defines. */\ntypedef struct NC_Dispatch NC_Dispatch;\n\n",
    );
}

/// Variables of the interface of version 2, and another name of a function.
const VARIABLES: &str = "/* The code of the last error of the interface of version 2, and what is done about errors. */\nextern int ncerr;\nextern int ncopts;\n#define ncvarcpy(ncid_in, varid, ncid_out) ncvarcopy((ncid_in), (varid), (ncid_out))\n\n";
/// What files in memory need.
const MEMORY_DEFINITIONS: &str = "/* The bytes of a file in memory. */\ntypedef struct NC_memio {\n    size_t size;\n    void *memory;\n    int flags;\n} NC_memio;\n\n/* The bytes stay the program's. */\n#define NC_MEMIO_LOCKED 1\n\n";
/// Filters of HDF5 by their numbers, where its own headers are not included first.
const FILTER_NUMBERS: &str = "/* Filters by their numbers, and the options of szip. */\n#ifndef H5Z_FILTER_DEFLATE\n#define H5Z_FILTER_DEFLATE 1\n#define H5Z_FILTER_SHUFFLE 2\n#define H5Z_FILTER_FLETCHER32 3\n#endif\n#ifndef H5Z_FILTER_SZIP\n#define H5Z_FILTER_SZIP 4\n#define H5_SZIP_ALLOW_K13_OPTION_MASK 1\n#define H5_SZIP_CHIP_OPTION_MASK 2\n#define H5_SZIP_EC_OPTION_MASK 4\n#define H5_SZIP_LSB_OPTION_MASK 8\n#define H5_SZIP_MSB_OPTION_MASK 16\n#define H5_SZIP_NN_OPTION_MASK 32\n#define H5_SZIP_MAX_PIXELS_PER_BLOCK 32\n#define H5_SZIP_RAW_OPTION_MASK 128\n#endif\n#define H5_SZIP_ALL_MASKS (H5_SZIP_CHIP_OPTION_MASK | H5_SZIP_EC_OPTION_MASK | H5_SZIP_NN_OPTION_MASK)\n#ifndef H5Z_FILTER_ZSTD\n#define H5Z_FILTER_ZSTD 32015\n#endif\n#ifndef H5Z_FILTER_BZIP2\n#define H5Z_FILTER_BZIP2 307\n#endif\n#ifndef H5Z_FILTER_BLOSC\n#define H5Z_FILTER_BLOSC 32001\n#endif\n\n";
/// What lists of filters need.
const FILTER_DEFINITIONS: &str = "/* A filter and its parameters. */\ntypedef struct NC_H5_Filterspec {\n    unsigned int filterid;\n    size_t nparams;\n    unsigned int *params;\n} NC_H5_Filterspec;\n\n/* How fields of compounds are placed. */\n#define NCAUX_ALIGN_C 0\n#define NCAUX_ALIGN_UNIFORM 1\n\n";

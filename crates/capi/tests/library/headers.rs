//! The headers say what Debian's say.
use std::collections::BTreeSet;
use std::process::Command;

/// Compiles a C or C++ file that includes both headers: every function is declared twice, alike, and every constant has
/// one value.
#[test]
fn declarations_and_constants_are_those_of_debians_headers() {
    let folder = tempfile::tempdir().unwrap();
    let mut prototypes = String::new();
    let mut constants = String::new();
    for name in ncirrus_netcdf::HEADERS {
        let text = ncirrus_netcdf::header(name);
        std::fs::write(folder.path().join(format!("own_{name}")), &text).unwrap();
        let lines = text.lines().filter(|line| line.starts_with("extern ") && !line.contains('{'));
        lines.for_each(|line| prototypes.push_str(&format!("{line}\n")));
        let defined = text.lines().filter_map(|line| line.strip_prefix("#define ")?.split_once(' '));
        for (name, value) in defined.filter(|(name, value)| {
            !value.is_empty() && !name.contains('(') && !name.starts_with("NCIRRUS") && *name != "EXTERNL"
        }) {
            let is_text = value.contains('"');
            let test = if is_text { "sizeof(NAME) == sizeof(VALUE)" } else { "(NAME) == (VALUE)" };
            let test = test.replace("NAME", name).replace("VALUE", value);
            constants.push_str(&format!("    if (!({test})) return printf(\"{name}\\n\");\n"));
        }
    }
    assert!(prototypes.lines().count() > 100 && constants.lines().count() > 150);
    let text = format!(
        "#include <stdio.h>\n#include <netcdf.h>\n#include <netcdf_filter.h>\n#include <netcdf_mem.h>\n#include <netcdf_aux.h>\n#include <netcdf_dispatch.h>\ntypedef struct NCPluginList NCPluginList;\n#ifdef __cplusplus\nextern \"C\" {{\n#endif\n\
         {prototypes}\n#ifdef __cplusplus\n}}\n#endif\nint main(void) {{\n{constants}    return 0;\n}}\n"
    );
    for (compiler, file) in [("gcc", "both.c"), ("g++", "both.cpp")] {
        let path = folder.path().join(file);
        std::fs::write(&path, &text).unwrap();
        let output = Command::new(compiler)
            .args(["-Wall", "-Werror", "-o", "both"])
            .arg(&path)
            .current_dir(folder.path())
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let output = Command::new(folder.path().join("both")).output().unwrap();
        assert!(output.status.success(), "{compiler}: {}", String::from_utf8_lossy(&output.stdout));
    }
}

/// Names that a header defines, without those of the system, of the compiler, and guards.
fn defined(include: &[&str], header: &str, folder: &std::path::Path) -> BTreeSet<String> {
    let names = all_defined(include, &format!("#include <{header}>\n"), folder);
    let system = ["errno", "malloc", "stddef", "stdio", "stdlib", "string", "stdarg"];
    let system: String = system.iter().map(|name| format!("#include <{name}.h>\n")).collect();
    let others = all_defined(include, &system, folder);
    let is_of_interface = |name: &&String| {
        !name.starts_with("__") && !name.ends_with("_H") && !["MSC_EXTRA", "NDEBUG"].contains(&name.as_str())
    };
    names.difference(&others).filter(is_of_interface).cloned().collect()
}

fn all_defined(include: &[&str], text: &str, folder: &std::path::Path) -> BTreeSet<String> {
    std::fs::write(folder.join("one.c"), text).unwrap();
    let arguments = ["-E", "-dM", "one.c"];
    let output = Command::new("gcc").args(include).args(arguments).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().filter_map(|line| line.split([' ', '(']).nth(1)).map(str::to_owned).collect()
}

#[test]
fn what_debians_headers_define_is_defined() {
    let folder = tempfile::tempdir().unwrap();
    for name in ncirrus_netcdf::HEADERS {
        std::fs::write(folder.path().join(name), ncirrus_netcdf::header(name)).unwrap();
    }
    for name in ncirrus_netcdf::HEADERS.iter().filter(|name| **name != "ncirrus.h") {
        let (own, debians) = (defined(&["-I."], name, folder.path()), defined(&[], name, folder.path()));
        let missing: Vec<_> = debians.difference(&own).collect();
        assert!(missing.is_empty(), "{name}: {missing:?}");
    }
}

/// The headers stand on their own.
#[test]
fn headers_compile_alone_in_c_and_cpp() {
    let folder = tempfile::tempdir().unwrap();
    for name in ncirrus_netcdf::HEADERS {
        std::fs::write(folder.path().join(name), ncirrus_netcdf::header(name)).unwrap();
    }
    let text = "#include <netcdf.h>\n#include <netcdf_filter.h>\n#include <netcdf_dispatch.h>\nint main(void) { nc_vlen_t v; NC_Dispatch table = {0}; if (table.model) return 1; v.len = NC_GLOBAL + 1; return nc_inq_libvers() && v.len; }\n";
    for (compiler, file) in [("gcc", "a.c"), ("g++", "a.cpp")] {
        std::fs::write(folder.path().join(file), text).unwrap();
        let output = Command::new(compiler)
            .args(["-c", "-Wall", "-Werror", "-I.", "-o", "/dev/null", file])
            .current_dir(folder.path())
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn the_page_of_functions_is_the_one_that_the_table_makes() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/c-library-functions.md");
    let written = std::fs::read_to_string(path).unwrap();
    let made = super::page::page();
    let differs = written.lines().zip(made.lines()).find(|(written, made)| written != made);
    assert!(written == made, "make it again (its begin says how): {differs:?}");
}

//! The help of each command fits the screen and begins with examples.
use crate::program::command;

/// Columns of the terminal.
const WIDTH: usize = 100;

fn help(arguments: &[&str]) -> String {
    let output = command().args(arguments).env("COLUMNS", WIDTH.to_string()).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The commands that `ncirrus -h` lists, with those of `config`, and without netCDF's own programs and `help`.
fn commands() -> Vec<Vec<String>> {
    let brief = help(&["-h"]);
    let groups =
        brief.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let names =
        groups.filter_map(|line| line.trim().split_once("  ")).filter(|(group, _)| *group != "netCDF");
    let names = names.flat_map(|(_, names)| names.trim().split(", ")).filter(|name| *name != "help");
    let below = ["show", "init", "path"].map(|name| vec!["config".to_owned(), name.to_owned()]);
    names.map(|name| vec![name.to_owned()]).chain(below).collect()
}

/// What of a help is not as it should be: its length in lines and columns, and the line of its first example.
fn faults(command: &str, text: &str, max_lines: usize) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let mut faults = Vec::new();
    if lines.len() > max_lines {
        faults.push(format!("{command}: {} lines", lines.len()));
    }
    faults.extend(
        lines.iter().filter(|line| line.chars().count() > WIDTH).map(|line| format!("{command}: {line:?}")),
    );
    let is_example = |line: &&str| line.starts_with("  ") && line.contains("ncirrus ");
    if !lines.iter().take(6).any(is_example) {
        faults.push(format!("{command}: no example in the first 6 lines"));
    }
    faults
}

#[test]
fn help_fits_two_screens_and_begins_with_examples() {
    let mut all = vec![Vec::new()];
    all.extend(commands());
    assert!(all.len() > 20, "{all:?}");
    let mut found = Vec::new();
    for command in &all {
        let with = |option| -> Vec<&str> { command.iter().map(String::as_str).chain([option]).collect() };
        let name = command.join(" ");
        found.extend(faults(&format!("{name} --help"), &help(&with("--help")), 48));
        // `ncirrus dump -h` prints the header.
        if name != "dump" {
            found.extend(faults(&format!("{name} -h"), &help(&with("-h")), 24));
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn the_manual_of_a_command_explains_every_option() {
    let (brief, listing) = (help(&["copy", "-h"]), help(&["copy", "--help"]));
    let manual = help(&["help", "copy"]);
    for (option, in_brief, in_listing) in [
        ("\n  -c, --chunks", true, true),
        ("\n      --skip-damaged", false, true),
        ("\n      --lenient", false, false),
        ("\n      --memory", false, false),
    ] {
        assert_eq!((brief.contains(option), listing.contains(option)), (in_brief, in_listing), "{option}");
        assert!(manual.contains(option), "{option}");
    }
    assert!(
        listing.contains("`ncirrus help copy`: --shard-index, --packing, --raw, ")
            && listing.contains("--memory"),
        "{listing}"
    );
    assert!(manual.contains("the exit code is 1") && manual.contains("- v110: HDF5 1.10"), "{manual}");
}

#[test]
fn the_program_lists_its_commands_in_groups() {
    let listing = help(&["--help"]);
    assert!(listing.contains("\nWrite:\n  copy         Copy a dataset"), "{listing}");
    let manual = help(&["help"]);
    assert!(manual.contains("\n  10  internal error") && manual.contains("--index-cache-size"), "{manual}");
}

#[test]
fn manual_pages_have_the_examples() {
    let folder = tempfile::tempdir().unwrap();
    assert!(command().arg("manual").arg(folder.path()).status().unwrap().success());
    let page = std::fs::read_to_string(folder.path().join("ncirrus-split.1")).unwrap();
    assert!(
        page.contains("ncirrus split sst.nc sst.nca") && page.contains("master is written last"),
        "{page}"
    );
}

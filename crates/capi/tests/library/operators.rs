//! NCO and CDO do the same work on both libraries.
use super::{Library, printed, run};
use ncirrus_testkit::sample::{all_cases, in_turn};
use std::collections::BTreeMap;
use std::path::Path;

/// One operation of NCO or CDO a line.
const OPERATIONS: &str = include_str!("operators/operations.txt");

/// Variables of the classic model, with records, packed values, text and coordinates that CDO knows.
const FLAT: &str = include_str!("operators/flat.cdl");

/// The files that each operation works on: the name, netCDF's word for the kind, and the text.
const FILES: [(&str, &str, &str); 6] = [
    ("classic", "classic", FLAT),
    ("offset64", "64-bit offset", FLAT),
    ("cdf5", "cdf5", FLAT),
    ("deflated", "netCDF-4", FLAT),
    ("groups", "netCDF-4", include_str!("operators/groups.cdl")),
    ("types", "netCDF-4", include_str!("operators/types.cdl")),
];

#[test]
fn nco_does_the_same_on_both_libraries() {
    assert_same_work(|program| program != "cdo", 50, 240);
}

#[test]
fn cdo_does_the_same_on_both_libraries() {
    assert_same_work(|program| program == "cdo", 40, 215);
}

/// Does all operations of some programs on all files. What an operation prints, and the contents of what it writes, is
/// equal wherever it succeeds with Debian's library, which is the case for at least so many operations on one file or
/// more, and so many times in all. Each operation works on every third file, or on all if all cases are wanted.
fn assert_same_work(is_wanted: fn(&str) -> bool, operations: usize, times: usize) {
    let folder = tempfile::tempdir().unwrap();
    make_files(folder.path());
    let commands = OPERATIONS.lines().filter(|line| !line.starts_with('#'));
    let commands = commands.filter(|line| line.split(' ').next().is_some_and(is_wanted));
    let mut worked = BTreeMap::new();
    for (number, command) in commands.enumerate() {
        for (at, (file, _, _)) in FILES.into_iter().enumerate() {
            if !in_turn(number + at, 3) {
                continue;
            }
            let Some(expected) = results(Library::Debian, folder.path(), command, file) else { continue };
            let found = results(Library::Own, folder.path(), command, file);
            assert_eq!(found.as_ref(), Some(&expected), "{command} on {file}");
            *worked.entry(command).or_insert(0) += 1;
        }
    }
    let (operations, times) = if all_cases() { (operations, times) } else { (operations * 3 / 4, times / 4) };
    assert!(worked.len() >= operations, "{} operations: {worked:?}", worked.len());
    let all: usize = worked.values().sum();
    assert!(all >= times, "{all} times: {worked:?}");
}

/// Makes each file, and one with later times and other values.
fn make_files(folder: &Path) {
    for (name, kind, text) in FILES {
        let text = match name {
            "cdf5" => text.replace("int k", "uint k").replace("short p", "int64 p").replace("-99s", "-99LL"),
            "deflated" => text.replace("float v(time, lat, lon) ;", DEFLATED),
            _ => text.to_owned(),
        };
        let later =
            text.replace("time = 1, 2, 3 ;", "time = 4, 5, 6 ;").replace("time = 1, 2 ;", "time = 4, 5 ;");
        let later = later.replace("v = 1, 2, 3", "v = 9, 7, 5");
        for (text, target) in [(text, format!("{name}.nc")), (later, format!("{name}.later.nc"))] {
            std::fs::write(folder.join("text.cdl"), text).unwrap();
            printed(Library::Debian, folder, "ncgen", &["-k", kind, "-o", &target, "text.cdl"]);
        }
    }
}

/// How a variable is stored in netCDF-4.
const DEFLATED: &str = "float v(time, lat, lon) ;
		v:_ChunkSizes = 2, 2, 4 ;
		v:_DeflateLevel = 4 ;
		v:_Shuffle = \"true\" ;";

/// What a command prints, and the dumps of the files that it makes, by their names; nothing if it fails.
fn results(library: Library, folder: &Path, command: &str, file: &str) -> Option<BTreeMap<String, String>> {
    let place = folder.join(if library == Library::Own { "own" } else { "debian" });
    let _ = std::fs::remove_dir_all(&place);
    std::fs::create_dir(&place).unwrap();
    let named = |word: &str| match word {
        "FROM" => format!("../{file}.nc"),
        "LATER" => format!("../{file}.later.nc"),
        word => word.to_owned(),
    };
    let words: Vec<String> = command.split(' ').map(named).collect();
    let arguments: Vec<&str> = words[1..].iter().map(String::as_str).collect();
    let output = run(library, &place, &words[0], &arguments);
    if !output.status.success() {
        return None;
    }
    let mut results = BTreeMap::from([("printed".to_owned(), String::from_utf8(output.stdout).unwrap())]);
    for entry in std::fs::read_dir(&place).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if name.ends_with(".nc") {
            let dump = dumped(&place, &name);
            results.insert(name, dump);
        }
    }
    Some(results)
}

/// A file as Debian's `ncdump` prints it, without the lines that tell the time of day.
fn dumped(folder: &Path, file: &str) -> String {
    let text = printed(Library::Debian, folder, "ncdump", &["-n", "x", file]);
    let lines = text.lines().filter(|line| !line.contains(":history"));
    lines.map(|line| format!("{line}\n")).collect()
}

//! The commands in the code blocks of the README and of `docs` that need no network work, in a folder with the files
//! that they name; other programs read the files that they make.
use super::{example, none, run, str_of};
use crate::reading::{output_of, read_all, same_of};
use crate::support::{open, session, temp};
use ncirrus::TypeRef;
use ncirrus_testkit::corpus::{peers_python, program};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The file for a name in a command, and how it is made from the example.
const MADE: [(&str, &str); 38] = [
    ("examples/sst.nc", "mkdir -p examples target && cp \"$EXAMPLE\" examples/sst.nc"),
    ("sst.nc", "cp \"$EXAMPLE\" sst.nc"),
    ("maps.nc", "cp \"$EXAMPLE\" maps.nc"),
    ("big.nc", "cp \"$EXAMPLE\" big.nc"),
    ("a.nc", "cp \"$EXAMPLE\" a.nc"),
    ("data.nc", "ncirrus copy -q -k nc4 -d 4 \"$EXAMPLE\" data.nc"),
    ("a.zarr", "ncirrus copy -q \"$EXAMPLE\" a.zarr"),
    ("sst.zarr", "ncirrus copy -q \"$EXAMPLE\" sst.zarr"),
    ("target/sst.zarr", "mkdir -p target && ncirrus copy -q \"$EXAMPLE\" target/sst.zarr"),
    ("store.zarr.zip", "ncirrus copy -q \"$EXAMPLE\" store.zarr.zip"),
    ("monthly/*.nc", "mkdir monthly; for n in 0 4 8; do STEPS $n $((n + 4)) monthly/$n.nc; done"),
    ("sst_*.nc", "for n in 0 4; do STEPS $n $((n + 4)) sst_$n.nc; done"),
    ("data/", "mkdir data; for n in 8 0 4; do STEPS $n $((n + 4)) data/$n.nc; done"),
    ("tas.nc", "ncirrus copy -q -k nc4 \"$EXAMPLE\" tas.nc && ncirrus optimize --profile cmip7 tas.nc"),
    (
        "tas_*.nc",
        "for n in 0 4; do ncirrus copy -q -k nc4 --select \"sst[$n,:,:]\" \"$EXAMPLE\" tas_$n.nc; done",
    ),
    ("data/*.nc", "mkdir data; for n in 0 1; do ncirrus copy -q -k nc4 \"$EXAMPLE\" data/$n.nc; done"),
    ("own.toml", "echo 'min_chunk = \"2M\"' > own.toml"),
    ("sst_2027.nc", "STEPS 10 12 sst_2027.nc"),
    ("run?.nc", "for n in 1 2 3; do cp \"$EXAMPLE\" run$n.nc; done"),
    ("b.nc", "cp \"$EXAMPLE\" b.nc"),
    ("packed.nc", "cp \"$EXAMPLE\" packed.nc"),
    ("plain.nc", "cp \"$EXAMPLE\" plain.nc"),
    ("year.nc", "STEPS 0 4 year.nc"),
    ("jan.nc", "STEPS 4 6 jan.nc"),
    ("feb.nc", "STEPS 6 9 feb.nc"),
    ("series.zarr", "STEPS 0 4 series.zarr"),
    ("day.nc", "STEPS 4 5 day.nc"),
    ("2020.nc", "STEPS 0 4 2020.nc"),
    ("2021.nc", "STEPS 4 6 2021.nc"),
    ("20*.nc", "STEPS 0 4 2020.nc; STEPS 4 6 2021.nc"),
    ("2022.nc", "STEPS 6 9 2022.nc"),
    ("all.parq", "STEPS 0 4 y0.nc; STEPS 4 6 y1.nc; ncirrus reference --axis time y0.nc y1.nc all.parq"),
    ("all.json", "cp \"$EXAMPLE\" r.nc; ncirrus reference r.nc all.json"),
    ("sst.cdl", "ncirrus dump \"$EXAMPLE\" > sst.cdl"),
    ("a.cdl", "ncirrus dump \"$EXAMPLE\" > a.cdl"),
    ("lab.toml", "touch lab.toml"),
    ("tile_*.nc", "for n in 0 1 2 3; do TILE $((n / 2)) $((n % 2)) tile_$n.nc; done"),
    ("tile_*", "for n in 0 1 2 3; do TILE $((n / 2)) $((n % 2)) tile_$n.nc; done"),
];

/// Aggregations that commands read or change.
const MASTERS: [(&str, &str); 4] = [
    ("year.nca", "STEPS 0 5 y0.nc; STEPS 5 10 y1.nc; ncirrus aggregate year.nca y0.nc y1.nc"),
    ("sst.nca", "STEPS 0 5 y0.nc; STEPS 5 10 y1.nc; ncirrus aggregate sst.nca y0.nc y1.nc"),
    ("m.nca", "STEPS 0 5 y0.nc; STEPS 5 10 y1.nc; ncirrus aggregate m.nca y0.nc y1.nc"),
    ("sst", "cp \"$EXAMPLE\" y.nc; ncirrus split --shape time=4 y.nc sst.nca && rm sst.nca"),
];

/// Some steps of the example, and a quarter of its map.
const FUNCTIONS: &str = "set -e
STEPS() { ncirrus copy -q --select \"sst[$1:$2,:,:]\" \"$EXAMPLE\" $3; }
TILE() { ncirrus copy -q --select \"sst[:,$(($1 * 9)):$(($1 * 9 + 9)),$(($2 * 18)):$(($2 * 18 + 18))]\" \"$EXAMPLE\" $3; }
";

#[test]
fn the_commands_of_the_documents_work() {
    each_works(commands(), 24);
}

#[test]
fn the_examples_of_the_pages_of_commands_work() {
    each_works(examples(), 50);
}

#[expect(clippy::print_stdout, reason = "tells what is not run")]
fn each_works(commands: Vec<(String, String)>, min_count: usize) {
    let (_folder, temp) = temp();
    let (offline, others): (Vec<_>, Vec<_>) =
        commands.into_iter().partition(|(_, command)| is_offline(command));
    println!("not run: {others:#?}");
    assert!(offline.len() > min_count, "{} commands", offline.len());
    let (mut failures, mut made) = (Vec::new(), Vec::new());
    for (number, (document, command)) in offline.iter().enumerate() {
        let folder = temp.join(number.to_string());
        std::fs::create_dir(&folder).unwrap();
        match works(&folder, command) {
            Ok(file) => made.extend(file.map(|file| (file, !command.contains("zstd")))),
            Err(reason) => failures.push(format!("{document}: {command}: {reason}")),
        }
    }
    none(&failures);
    assert!(made.len() > 10, "{made:?}");
    // Debian's programs have no zstd.
    for is_for_all in [true, false] {
        let files = made.iter().filter(|(_, known)| *known == is_for_all).map(|(file, _)| file.clone());
        others_read(&files.collect::<Vec<_>>(), is_for_all);
    }
}

/// Commands and their documents.
fn commands() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folders = ["docs", "docs/guides", "docs/coming-from"].map(|folder| root.join(folder));
    let entries = folders.into_iter().flat_map(|folder| std::fs::read_dir(folder).unwrap());
    let documents = entries.map(|entry| entry.unwrap().path());
    let documents = documents.filter(|path| path.extension().is_some_and(|ending| ending == "md"));
    let mut documents: Vec<PathBuf> = documents.chain([root.join("README.md")]).collect();
    documents.sort();
    let of = |path: PathBuf| {
        let name = path.file_name().unwrap().display().to_string();
        let text = std::fs::read_to_string(path).unwrap();
        // Blocks marked in this way use files that are not made here.
        let blocks =
            text.split("```").skip(1).step_by(2).filter(|block| !block.starts_with("console no-run"));
        let commands = blocks.flat_map(commands_of);
        commands.map(|command| (name.clone(), command)).collect::<Vec<_>>()
    };
    documents.into_iter().flat_map(of).collect()
}

/// The examples at the end of the pages in `docs/commands`.
fn examples() -> Vec<(String, String)> {
    let pages = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/commands");
    let mut pages: Vec<PathBuf> =
        std::fs::read_dir(pages).unwrap().map(|entry| entry.unwrap().path()).collect();
    pages.sort();
    let of = |path: PathBuf| {
        let name = path.file_name().unwrap().display().to_string();
        let text = std::fs::read_to_string(path).unwrap();
        let examples =
            text.split_once("\nExamples:\n").map(|(_, examples)| examples.to_owned()).unwrap_or_default();
        let line = |line: &str| {
            let line = line.strip_prefix("  ")?;
            let is_ours = ["ncirrus ", "ncdump ", "ncgen ", "ncgen3 ", "nccopy "]
                .iter()
                .any(|start| line.starts_with(start));
            is_ours.then(|| line.split("  ").next().unwrap_or(line).to_owned())
        };
        let commands: Vec<String> = examples.lines().filter_map(line).collect();
        commands.into_iter().map(move |command| (name.clone(), command)).collect::<Vec<_>>()
    };
    pages.into_iter().flat_map(of).collect()
}

/// The lines that run the program, without trailing comments.
fn commands_of(block: &str) -> Vec<String> {
    let command = |line: &str| {
        let line = line.trim_start_matches("$ ");
        let is_ours = ["ncirrus ", "./target/release/ncirrus "].iter().any(|start| line.starts_with(start));
        let is_ours = is_ours && !line.starts_with("ncirrus =");
        is_ours.then(|| line.split("  ").next().unwrap_or(line).to_owned())
    };
    block.lines().filter_map(command).collect()
}

fn is_offline(command: &str) -> bool {
    // The last two run until they are interrupted, and have tests of their own.
    !["://", "...", "| jq", "ncirrus view", "ncirrus serve"].iter().any(|part| command.contains(part))
}

/// Runs a command in a folder with the files that it names; returns the file that it makes, as netCDF.
fn works(folder: &Path, command: &str) -> Result<Option<PathBuf>, String> {
    prepare(folder);
    let words: Vec<&str> = command.split_whitespace().map(|word| word.trim_matches('\'')).collect();
    let last = words.iter().rposition(|word| *word == "|").map_or(0, |at| at + 1);
    let target = target(&words[last..]);
    let mut script = FUNCTIONS.to_owned();
    for (name, how) in MADE.iter().chain(&MASTERS) {
        let is_added_to = *name == "sst.nca" && words.contains(&"sst_*.nc");
        let how = if is_added_to { "ncirrus aggregate sst.nca sst_0.nc" } else { how };
        if words.contains(name) && target != Some(name) {
            script += &format!("{{ {how}; }} > log 2>&1\n");
        }
    }
    script += command;
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(script).current_dir(folder).env_remove("NCIRRUS_INDEX_CACHE");
    let path = std::env::var("PATH").unwrap();
    shell.env("PATH", format!("{}:{path}", str_of(&folder.join("target/release"))));
    shell.env("HOME", folder).env("EXAMPLE", std::fs::canonicalize(example()).unwrap());
    let output = shell.output().unwrap();
    if !output.status.success() {
        let log = std::fs::read_to_string(folder.join("log")).unwrap_or_default();
        return Err(format!("{}: {}{log}", output.status, String::from_utf8_lossy(&output.stderr)));
    }
    let Some(made) = target.map(|target| folder.join(target)).filter(|_| !command.contains("--dry-run"))
    else {
        return Ok(None);
    };
    if !made.exists() {
        return Err(format!("{} is not there", made.display()));
    }
    let is_netcdf = made.extension().is_some_and(|ending| ending == "nc" || ending == "nc4");
    let file = if is_netcdf { made.clone() } else { folder.join("copy.nc4") };
    if !is_netcdf {
        super::done(&["copy", "-q", str_of(&made), str_of(&file)])?;
    }
    Ok(Some(file))
}

/// The output of a command: the argument that is neither an option nor the value of one.
fn target<'a>(words: &[&'a str]) -> Option<&'a str> {
    const WITH_VALUE: [&str; 15] = [
        "-F",
        "--quantize",
        "--codec",
        "--convention",
        "--format",
        "--substitute",
        "-k",
        "-c",
        "-d",
        "--select",
        "--axis",
        "--new-axis",
        "--shape",
        "--max-size",
        "--fragments",
    ];
    let mut arguments = Vec::new();
    let mut rest = words.iter().skip(2);
    while let Some(word) = rest.next() {
        if WITH_VALUE.contains(word) {
            rest.next();
        } else if !word.starts_with('-') {
            arguments.push(*word);
        }
    }
    let is = |option: &str| words.contains(&option);
    match words[1] {
        _ if words[0] == "nccopy" => words.last().copied(),
        _ if !words[0].ends_with("ncirrus") => None,
        "generate" if !is("--check") => arguments.last().copied(),
        "copy" | "split" => arguments.get(1).copied(),
        "reference" if !is("--add") => arguments.last().copied(),
        "aggregate" if is("--rebuild") => arguments.get(1).copied(),
        "aggregate" if !is("--add") => arguments.first().copied(),
        _ => None,
    }
}

/// The program at the path in the README, and its links.
fn prepare(folder: &Path) {
    let program = crate::program::command().get_program().to_owned();
    std::fs::create_dir_all(folder.join("target/release")).unwrap();
    let program = std::fs::canonicalize(program).unwrap();
    for name in ["ncirrus", "ncdump", "ncgen", "ncgen3", "nccopy"] {
        symlink(&program, folder.join("target/release").join(name)).unwrap();
    }
}

fn others_read(files: &[PathBuf], is_for_all: bool) {
    let (Some(ncdump), Some(h5dump), Some(python)) = (program("ncdump"), program("h5dump"), peers_python())
    else {
        return;
    };
    let (session, mut failures) = (session(), Vec::new());
    for is_hdf5 in [false, true] {
        let starts = |path: &&PathBuf| std::fs::read(path).unwrap().starts_with(b"\x89HDF") == is_hdf5;
        let files: Vec<PathBuf> = files.iter().filter(starts).cloned().collect();
        let programs = if is_hdf5 { "h5py,netcdf4" } else { "netcdf4" };
        let read = read_all(&python, programs, &files);
        for path in &files {
            if is_for_all {
                failures.extend(output_of(Command::new(&ncdump).arg(path)).err());
            }
            if is_hdf5 && is_for_all {
                failures.extend(output_of(Command::new(&h5dump).arg(path)).err());
            }
            let dataset = open(path, &session).unwrap();
            let same = |program| {
                let what = format!("{program} of {}", path.display());
                same_of(&dataset, &read[str_of(path)][program], &what, |ty| matches!(ty, TypeRef::Atomic(_)))
            };
            failures.extend(programs.split(',').filter_map(|program| same(program).err()));
        }
    }
    none(&failures);
}

#[test]
fn every_command_has_its_help() {
    let help = run(&["help"]).out;
    let commands = help.lines().skip_while(|line| !line.starts_with("Usage:")).skip(1);
    let commands = commands.take_while(|line| *line != "Options:");
    // Comments of a command continue on indented lines.
    let commands = commands.filter_map(|line| line.strip_prefix("  ").filter(|line| !line.starts_with(' ')));
    let names: Vec<&str> = commands.filter_map(|line| line.split_whitespace().next()).collect();
    assert!(names.len() > 12, "{names:?}");
    let failed = names.iter().filter(|name| **name != "help" && run(&["help", name]).code != Some(0));
    assert_eq!(failed.collect::<Vec<_>>(), Vec::<&&str>::new());
}

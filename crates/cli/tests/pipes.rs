//! Standard input and standard output as datasets.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test")]
use std::fs;
use std::path::Path;
use std::process::{Output, Stdio};

fn example() -> String {
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/sst.nc").to_owned()
}

/// Runs the command with a file behind a pipe as its standard input.
fn piped(arguments: &[&str], input: &Path, folder: &Path) -> Output {
    let mut cat = std::process::Command::new("cat").arg(input).stdout(Stdio::piped()).spawn().unwrap();
    let mut command = crate::program::command();
    command.args(arguments).current_dir(folder).stdin(cat.stdout.take().unwrap());
    command.env("TMPDIR", folder.join("tmp"));
    let output = command.output().unwrap();
    cat.wait().unwrap();
    output
}

fn messages(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn ncirrus(arguments: &[&str], folder: &Path) -> Output {
    crate::program::command().args(arguments).current_dir(folder).output().unwrap()
}

fn dump(name: &str, folder: &Path) -> String {
    let output = ncirrus(&["dump", "-n", "x", name], folder);
    assert!(output.status.success(), "{}", messages(&output));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn whole_files_come_through_pipes() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::create_dir(folder.join("tmp")).unwrap();
    let want = dump(&example(), folder);
    for name in ["a.nc", "a.nc4", "a.zip"] {
        assert!(ncirrus(&["copy", &example(), name], folder).status.success());
        for source in ["-", "/dev/stdin"] {
            let output = piped(&["dump", "-n", "x", source], &folder.join(name), folder);
            assert!(output.status.success(), "{name}: {}", messages(&output));
            let got = String::from_utf8(output.stdout).unwrap();
            assert_eq!(got, dump(name, folder), "{name}");
        }
        let output = piped(&["copy", "--overwrite", "-", "copy.nc"], &folder.join(name), folder);
        assert!(output.status.success(), "{}", messages(&output));
        assert_eq!(dump("copy.nc", folder), want);
        assert!(piped(&["info", "--json", "-"], &folder.join(name), folder).status.success());
    }
    assert_eq!(fs::read_dir(folder.join("tmp")).unwrap().count(), 0, "nothing is left");
    let empty = piped(&["dump", "-"], Path::new("/dev/null"), folder);
    assert_eq!(empty.status.code(), Some(5), "{}", messages(&empty));
}

#[test]
fn copies_and_references_go_through_pipes() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::create_dir(folder.join("tmp")).unwrap();
    let want = dump(&example(), folder);
    for kind in ["nc3", "nc5", "nc4"] {
        let output = piped(&["copy", "-q", "-k", kind, "-", "-"], Path::new(&example()), folder);
        assert!(output.status.success(), "{kind}: {}", messages(&output));
        fs::write(folder.join("out.nc"), output.stdout).unwrap();
        assert_eq!(dump("out.nc", folder), want, "{kind}");
    }
    assert_eq!(fs::read_dir(folder.join("tmp")).unwrap().count(), 0, "nothing is left");
    let refused = ncirrus(&["copy", &example(), "-"], folder);
    assert_eq!(refused.status.code(), Some(2), "{}", messages(&refused));
    assert!(messages(&refused).contains("-k nc3"), "{}", messages(&refused));
    let output = ncirrus(&["reference", &example(), "-"], folder);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(json["refs"].is_object() && output.status.success(), "{}", messages(&output));
}

#[test]
fn a_named_pipe_is_read_once() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::create_dir(folder.join("tmp")).unwrap();
    let fifo = folder.join("fifo");
    if !std::process::Command::new("mkfifo").arg(&fifo).status().is_ok_and(|status| status.success()) {
        return;
    }
    let writer = std::thread::spawn({
        let fifo = fifo.clone();
        move || fs::copy(example(), fifo)
    });
    let output = ncirrus(&["dump", "-n", "x", "fifo"], folder);
    assert!(output.status.success(), "{}", messages(&output));
    writer.join().unwrap().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), dump(&example(), folder));
}

#[test]
fn a_closed_standard_input_is_an_empty_one_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let program = fs::canonicalize(crate::program::command().get_program()).unwrap();
    let runs = [
        ("ncgen -o z.nc -", 1),
        ("ncgen -o z.nc", 1),
        ("generate - z.nc", 5),
        ("ncdump -", 1),
        ("dump -", 5),
        ("copy -k nc4 - z.nc", 5),
    ];
    for (arguments, code) in runs {
        let mut shell = std::process::Command::new("sh");
        shell.arg("-c").arg(format!("\"$0\" {arguments} <&-")).arg(&program).current_dir(folder.path());
        let output = shell.output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{arguments}: {}", messages(&output));
        assert!(output.stdout.is_empty(), "{arguments}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "{arguments}");
    }
}

#[test]
fn a_text_that_ends_early_is_reported_with_its_place_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(
        folder.path().join("half"),
        "netcdf x { dimensions: a = 4 ; variables: int v(a) ; data: v = 1, 2",
    )
    .unwrap();
    let output = piped(&["ncgen", "-o", "z.nc"], &folder.path().join("half"), folder.path());
    assert_eq!(output.status.code(), Some(1));
    assert!(
        messages(&output).starts_with("standard input:1:68: unexpected end of the text, expected \";\""),
        "{}",
        messages(&output)
    );
    assert!(!folder.path().join("z.nc").exists());
}

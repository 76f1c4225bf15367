//! The memory of programs that write chunks in pieces.
use super::calls::compiled;
use super::loaded_from;
use std::process::Command;

/// KiB, of a program that puts 300 MB: at most 32 MiB of complete chunks wait to be encoded, and a few are encoded.
const MOST: u64 = 104 << 10;

#[test]
fn chunks_that_are_put_in_pieces_do_not_pile_up_before_they_are_encoded() {
    let folder = tempfile::tempdir().unwrap();
    let program = compiled(folder.path(), "pieces");
    let mut command = Command::new(program);
    command.args(["pieces.nc", "75"]).current_dir(folder.path()).env("NCIRRUS_THREADS", "2");
    let output = command.env("LD_LIBRARY_PATH", loaded_from(folder.path())).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let peak: u64 = String::from_utf8(output.stdout).unwrap().trim().parse().unwrap();
    assert!(peak < MOST, "{peak} KiB");
}

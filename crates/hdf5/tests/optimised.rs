//! The form of the recursion in `src/write/types/encode.rs` is compiled rightly, whatever the optimisation: tests of
//! the crate itself may run without any.
use std::path::Path;
use std::process::Command;

#[test]
fn recursion_over_datatypes_is_right_at_every_level_of_optimisation() {
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/optimised/version.rs");
    let folder = tempfile::tempdir().unwrap();
    for level in ["0", "1", "2", "3", "s", "z"] {
        let program = folder.path().join(format!("version-{level}"));
        let mut compiler = Command::new(&rustc);
        compiler.args(["--edition", "2024", "-C", &format!("opt-level={level}"), "-o"]);
        output_of(compiler.arg(&program).arg(&source));
        let printed = output_of(&mut Command::new(&program));
        let (rows, mut wrong) = (printed.lines().collect::<Vec<_>>(), 0);
        assert_eq!(rows.len(), 12, "{printed}");
        for row in rows {
            let [name, right, ours, former] = row.split(' ').collect::<Vec<_>>()[..] else { panic!("{row}") };
            assert_eq!(ours, right, "the version of {name}, compiled with opt-level={level} by {rustc}");
            wrong += u32::from(former != right);
        }
        println!("opt-level={level}: the former form gives {wrong} wrong versions");
    }
}

/// What a program prints that must succeed.
fn output_of(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

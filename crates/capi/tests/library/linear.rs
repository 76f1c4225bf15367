//! Work on files of many members grows with their number, not with its square: the allocations of a program in C are counted,
//! those of the library among them.
use super::calls::compiled;
use super::{Library, printed};
use std::path::Path;

/// What is done, and how often at first: attributes of a file, variables with an attribute, dimensions; a value after each new
/// variable; an attribute in a define mode of its own and then a record. Four times as many come after.
const CASES: [(&str, u64); 5] =
    [("attributes", 500), ("variables", 500), ("dimensions", 500), ("values", 200), ("rounds", 200)];

fn allocations(folder: &Path, program: &str, case: &str, count: u64) -> [u64; 2] {
    let text = printed(Library::Own, folder, program, &["made.nc", case, &count.to_string()]);
    let mut numbers = text.split_whitespace().map(|number| number.parse().unwrap());
    [(); 2].map(|()| numbers.next().unwrap())
}

/// At most 2.2 times as many allocations for twice as many members. Bytes of lists that double jump.
#[test]
fn allocations_of_programs_in_c_grow_with_the_number_of_members() {
    let folder = tempfile::tempdir().unwrap();
    let program = compiled(folder.path(), "linear");
    let mut failures = Vec::new();
    for (case, count) in CASES {
        let [few, many] = [count, 4 * count].map(|count| allocations(folder.path(), &program, case, count));
        if 100 * many[0] > 484 * few[0] || many[1] > 8 * few[1] {
            failures.push(format!("{case}: allocations and bytes {few:?}, {many:?}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Thousands of records are collected and stored as if they were one chunk: not each has a lock, a task and memory of its own, nor is each
/// looked for when the file is closed.
#[test]
fn records_of_several_variables_take_few_allocations() {
    const RECORDS: u64 = 40_000;
    let folder = tempfile::tempdir().unwrap();
    let program = compiled(folder.path(), "linear");
    let [calls, bytes] = allocations(folder.path(), &program, "turns", RECORDS);
    assert!(calls < RECORDS / 5 && bytes < RECORDS * 4 * 25, "{calls} allocations of {bytes} bytes");
}

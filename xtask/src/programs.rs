//! Random programs of updates and copies: many more than the tests run.
use crate::peers;
use crate::run::{Outcome, command};

/// Arguments: `[HOW MANY [FIRST SEED]]`.
pub(crate) fn run(arguments: &[String]) -> Outcome {
    let count = arguments.first().map_or("100000", String::as_str);
    let first = arguments.get(1).map_or("0", String::as_str);
    let python = peers::python();
    let environment = [
        ("NCIRRUS_PROGRAMS", count),
        ("NCIRRUS_PROGRAMS_FROM", first),
        ("NCIRRUS_PEERS_PYTHON", &python.to_string_lossy()),
    ];
    let test = [
        "test",
        "--profile",
        "checked",
        "--package",
        "ncirrus-tools",
        "--test",
        "changes",
        "programs::",
        "--",
        "--nocapture",
    ];
    command("cargo", &test, &environment)
}

//! The command, run as a user runs it. One binary, so that its dependencies are linked once.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test")]

mod aggregating;
mod appending;
mod commands;
mod errors;
mod fragments;
mod generating;
mod help;
mod icechunk;
mod identity;
mod left_out;
mod nccopying;
mod netcdf_tools;
mod opendap;
mod opendap_aggregations;
mod opendap_bad_answers;
mod opendap_explain;
mod opendap_failing;
mod opendap_faults;
mod opendap_peers;
mod opendap_requests;
mod opendap_sequences;
mod opendap_server;
mod opendap_strings;
mod opendap_structures;
mod opendap_threads;
mod optimizing;
mod pipes;
#[cfg(feature = "plot")]
mod plotting;
mod program;
mod readers;
#[cfg(all(feature = "serve", target_os = "linux"))]
mod serving;
mod shipped;
mod small;
mod targets;
mod trace;
mod upkeep;
#[cfg(feature = "serve")]
mod viewing;

#[expect(dead_code, reason = "its other parts are for the library's tests")]
#[path = "../../tools/tests/nc4/fixtures.rs"]
mod fixtures;
#[path = "../../tools/tests/support/numbers.rs"]
mod numbers;
#[expect(dead_code, reason = "its other parts are for the library's tests")]
#[path = "../../tools/tests/nc4/reading.rs"]
mod reading;
#[path = "../../tools/tests/support/mod.rs"]
mod support;

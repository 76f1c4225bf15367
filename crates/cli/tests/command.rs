//! The command, run as a user runs it. One binary, so that what it needs is linked once.

mod aggregating;
mod commands;
mod errors;
mod fragments;
mod identity;
mod left_out;
mod program;
mod trace;
mod upkeep;

//! The ncirrus command.
fn main() {}

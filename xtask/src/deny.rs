//! Licences, sources and duplicates of dependencies, and known vulnerabilities: `cargo deny` with `deny.toml`.
use crate::run::{Outcome, command};

/// The checks that need no network.
const LOCAL: [&str; 3] = ["bans", "licenses", "sources"];

/// Runs the checks that are named (`bans`, `licenses`, `sources`, `advisories`); all of them by default. Advisories need a
/// database, which is fetched from GitHub: if it cannot be reached, this is printed, and is an error only if they were named.
pub(crate) fn run(arguments: &[String]) -> Outcome {
    if command("cargo", &["deny", "--version"], &[]).is_err() {
        println!("installing cargo-deny, which takes minutes");
        command("cargo", &["install", "--locked", "cargo-deny"], &[])?;
    }
    let named: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (local, with_advisories) = selected(&named);
    if !local.is_empty() {
        check(&local)?;
    }
    if !with_advisories {
        return Ok(());
    }
    if command("cargo", &["deny", "--locked", "fetch", "db"], &[]).is_ok() {
        return check(&["advisories"]);
    }
    println!("{UNREACHABLE}");
    if named.contains(&"advisories") { Err(UNREACHABLE.to_owned()) } else { Ok(()) }
}

const UNREACHABLE: &str =
    "advisories: not checked: the database of known vulnerabilities (RustSec, on GitHub) cannot be reached";

/// The checks without a network, and whether advisories are to be checked.
fn selected<'a>(named: &[&'a str]) -> (Vec<&'a str>, bool) {
    if named.is_empty() {
        return (LOCAL.to_vec(), true);
    }
    let local = named.iter().copied().filter(|name| *name != "advisories").collect();
    (local, named.contains(&"advisories"))
}

fn check(checks: &[&str]) -> Outcome {
    let deny = ["deny", "--locked", "--workspace", "check", "--hide-inclusion-graph"];
    command("cargo", &[&deny[..], checks].concat(), &[])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advisories_are_checked_apart() {
        assert_eq!(selected(&[]), (vec!["bans", "licenses", "sources"], true));
        assert_eq!(selected(&["bans"]), (vec!["bans"], false));
        assert_eq!(selected(&["licenses", "advisories"]), (vec!["licenses"], true));
        assert_eq!(selected(&["advisories"]), (vec![], true));
    }
}

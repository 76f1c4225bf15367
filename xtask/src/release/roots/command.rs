//! The command, from the tarball and from the Debian package.
use super::Checks;
use super::system::System;
use crate::release::{deb, tarball};
use crate::run::Outcome;

/// Installs it in both ways and runs the README's first command.
pub(super) fn check(suite: &str, checks: &mut Checks) -> Outcome {
    let system = System::fresh(suite, "command")?;
    checks.add("(none)", "has no compiler", system.run(NO_COMPILER, &[]));
    let name = tarball::name();
    let unpack = "mkdir /opt/ncirrus && tar -xzf \"/release/$1\" -C /opt/ncirrus --strip-components=1";
    if checks.add_installation(&name, || system.run(unpack, &[&name])) {
        let first = system.run(FIRST, &["/opt/ncirrus/bin/ncirrus"]).map(|_| String::new());
        checks.add(&name, "the README's first command", first);
    }
    let name = deb::file("ncirrus");
    let install = "apt-get -qq install --yes --no-install-recommends \"/release/$1\"";
    if checks.add_installation(&name, || system.run(install, &[&name])) {
        checks.add(
            &name,
            "the README's first command",
            system.run(FIRST, &["ncirrus"]).map(|_| String::new()),
        );
        checks.add(&name, "manual pages and completions", system.run(EXTRAS, &[]).map(|_| String::new()));
        let remove = "apt-get -qq purge --yes ncirrus && ! command -v ncirrus && ! ls /usr/share/doc/ncirrus";
        checks.add(&name, "removal leaves nothing", system.run(remove, &[]).map(|_| String::new()));
    }
    Ok(())
}

/// `command -v` looks for one program only.
const NO_COMPILER: &str = "for name in cc gcc clang rustc; do ! command -v $name || exit 1; done";

/// Copies the example into a Zarr dataset and prints it: the values are those of the file.
const FIRST: &str = include_str!("first.sh");

const EXTRAS: &str = "for page in ncirrus ncirrus-copy; do gzip -t \"/usr/share/man/man1/$page.1.gz\"; done
bash -n /usr/share/bash-completion/completions/ncirrus
test -s /usr/share/zsh/vendor-completions/_ncirrus
test -s /usr/share/fish/vendor_completions.d/ncirrus.fish
test -s /usr/share/doc/ncirrus/THIRD-PARTY.md";

//! A configuration file to begin with: every key as a comment.
use super::ConfigKey;
use std::fmt::Write;

/// The text of the file.
pub(super) fn text() -> String {
    let mut text = String::from(BEGIN);
    let mut table = "";
    // Keys without a table come first: in TOML they could not follow one.
    let mut keys: Vec<ConfigKey> = ConfigKey::all().collect();
    keys.sort_by_key(|key| key.name().rsplit_once('.').map(|(table, _)| table));
    for key in keys {
        let (own, name) = key.name().rsplit_once('.').unwrap_or(("", key.name()));
        if own != table {
            table = own;
            let _ = writeln!(text, "\n# [{table}]");
        }
        let _ = writeln!(text, "# {name} = {}  # {}", key.example(), key.meaning());
    }
    text + END
}

const BEGIN: &str =
    "# The configuration of ncirrus. `ncirrus config show` prints what is in effect and where it comes from.
# Remove the # in front of a line to set its key, and in front of the [table] that it is in.

";
const END: &str = "
# [hosts.lab]  # an S3-compatible server: s3://lab/bucket/key
# url = \"https://store.example.org:9000\"
# access_key = \"AKIAEXAMPLE\"
# secret_key = \"...\"
# profile = \"lab\"  # in place of the two before: a profile in Amazon's files
# anonymous = false

# [http.hosts.\"data.example.org\"]  # credentials for a web server: user and password, or bearer
# user = \"me\"
# password = \"...\"

# [substitutions]  # values of ${NAME} in names of fragments
# base = \"/archive/cmip\"
";

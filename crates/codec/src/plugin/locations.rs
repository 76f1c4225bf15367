//! Where plugins are searched for (docs/spec/nczarr.md 9.1, 11.10).
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Access to the environment; tests provide their own.
pub(super) trait PluginEnvironment {
    /// The value of a variable that is set and not empty.
    fn variable(&self, name: &str) -> Option<OsString>;
    /// The text of a file; `None` if it cannot be read.
    fn text(&self, path: &Path) -> Option<String>;
}

/// The environment of the process.
#[derive(Debug)]
pub(super) struct ProcessEnvironment;

impl PluginEnvironment for ProcessEnvironment {
    fn variable(&self, name: &str) -> Option<OsString> {
        std::env::var_os(name).filter(|value| !value.is_empty())
    }

    fn text(&self, path: &Path) -> Option<String> {
        std::fs::read_to_string(path).ok()
    }
}

/// The directories in search order: the `chosen` ones, otherwise those of `HDF5_PLUGIN_PATH`, otherwise those of the user's
/// configuration, otherwise the default ones.
pub(super) fn directories(surroundings: &dyn PluginEnvironment, chosen: Option<&[PathBuf]>) -> Vec<PathBuf> {
    if surroundings.variable("HDF5_PLUGIN_PRELOAD").is_some_and(|value| value == "::") {
        // With this value HDF5 loads no plugins.
        return Vec::new();
    }
    if let Some(chosen) = chosen {
        return chosen.to_vec();
    }
    let path = surroundings.variable("HDF5_PLUGIN_PATH");
    match path.or_else(|| configured(surroundings).map(OsString::from)) {
        Some(path) => split(&path.to_string_lossy()),
        None => usual(surroundings),
    }
}

/// Directories separated by colons or semicolons; only by semicolons if paths contain colons.
fn split(path: &str) -> Vec<PathBuf> {
    let separators: &[char] = if cfg!(windows) { &[';'] } else { &[':', ';'] };
    path.split(separators).map(str::trim).filter(|part| !part.is_empty()).map(PathBuf::from).collect()
}

/// The key of the configuration files.
const KEY: &str = "PLUGIN.PATH";
const FILES: [&str; 3] = [".ncrc", ".daprc", ".dodsrc"];

/// The setting in the user's own configuration files. Those of the current directory are not read: anyone who could
/// write there would have their code run.
fn configured(surroundings: &dyn PluginEnvironment) -> Option<String> {
    if surroundings.variable("NCRCENV_IGNORE").is_some() {
        return None;
    }
    let files = match surroundings.variable("NCRCENV_RC") {
        Some(file) => vec![PathBuf::from(file)],
        None => {
            let home = surroundings.variable("NCRCENV_HOME").or_else(|| surroundings.variable("HOME"))?;
            FILES.iter().map(|file| Path::new(&home).join(file)).collect()
        }
    };
    files.iter().filter_map(|file| setting(&surroundings.text(file)?)).next_back()
}

/// The last setting that applies to all URLs.
fn setting(text: &str) -> Option<String> {
    let values = text.lines().filter_map(|line| line.trim().split_once('='));
    let value = values.filter(|(key, _)| key.trim() == KEY).map(|(_, value)| value.trim()).next_back();
    value.filter(|value| !value.is_empty()).map(str::to_owned)
}

/// Where HDF5, its packages and netCDF install plugins.
fn usual(surroundings: &dyn PluginEnvironment) -> Vec<PathBuf> {
    let mut directories = Vec::new();
    let mut below = |variable: &str, rest: &str| {
        directories.extend(surroundings.variable(variable).map(|root| Path::new(&root).join(rest)));
    };
    if cfg!(windows) {
        below("ALLUSERSPROFILE", "hdf5/lib/plugin");
        below("CONDA_PREFIX", "Library/lib/hdf5/plugin");
        return directories;
    }
    below("CONDA_PREFIX", "lib/hdf5/plugin");
    directories.extend(USUAL.iter().map(PathBuf::from));
    let triplet = format!("/usr/lib/{}-linux-gnu/hdf5", std::env::consts::ARCH);
    directories.extend(["plugins", "serial/plugins"].map(|last| Path::new(&triplet).join(last)));
    directories
}

const USUAL: [&str; 5] = [
    "/usr/local/hdf5/lib/plugin",
    "/usr/local/hdf5/plugin",
    "/usr/local/lib/hdf5/plugin",
    "/usr/lib64/hdf5/plugin",
    "/usr/lib/hdf5/plugin",
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    #[derive(Default)]
    struct GivenEnvironment {
        variables: HashMap<&'static str, &'static str>,
        files: HashMap<&'static str, &'static str>,
    }

    impl PluginEnvironment for GivenEnvironment {
        fn variable(&self, name: &str) -> Option<OsString> {
            self.variables.get(name).map(OsString::from)
        }

        fn text(&self, path: &Path) -> Option<String> {
            self.files.get(path.to_str()?).map(|text| (*text).to_owned())
        }
    }

    fn found(
        variables: &[(&'static str, &'static str)],
        files: &[(&'static str, &'static str)],
    ) -> Vec<String> {
        let given = GivenEnvironment {
            variables: variables.iter().copied().collect(),
            files: files.iter().copied().collect(),
        };
        directories(&given, None).iter().map(|path| path.to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn the_variable_of_hdf5_replaces_everything() {
        let files = [("/home/me/.ncrc", "PLUGIN.PATH=/c")];
        let variables = [("HDF5_PLUGIN_PATH", "/a; /b"), ("HOME", "/home/me")];
        assert_eq!(found(&variables, &files), ["/a", "/b"]);
    }

    #[test]
    fn the_last_configuration_file_of_the_user_that_says_something_counts() {
        let files = [
            (
                "/home/me/.ncrc",
                "# PLUGIN.PATH=/x\nPLUGIN.PATH=/a\n PLUGIN.PATH = /b;/c \n[http://x]PLUGIN.PATH=/d",
            ),
            ("/home/me/.dodsrc", "PLUGIN.PATH=\nHTTP.TIMEOUT=3"),
        ];
        assert_eq!(found(&[("HOME", "/home/me")], &files), ["/b", "/c"]);
        assert_eq!(found(&[("NCRCENV_HOME", "/home/me"), ("HOME", "/root")], &files), ["/b", "/c"]);
        assert_eq!(found(&[("NCRCENV_RC", "/home/me/.ncrc")], &files), ["/b", "/c"]);
        let ignored = [("HOME", "/home/me"), ("NCRCENV_IGNORE", "1")];
        assert!(!found(&ignored, &files).contains(&"/b".to_owned()));
    }

    #[test]
    fn configuration_in_the_current_directory_loads_no_code() {
        assert!(!found(&[], &[(".ncrc", "PLUGIN.PATH=/evil")]).contains(&"/evil".to_owned()));
    }

    #[test]
    #[cfg(unix)]
    fn without_settings_the_usual_places_count() {
        let found = found(&[("CONDA_PREFIX", "/conda")], &[]);
        assert_eq!(found[0], "/conda/lib/hdf5/plugin");
        assert!(found.contains(&"/usr/local/hdf5/lib/plugin".to_owned()));
    }

    #[test]
    fn hdf5_can_be_set_to_load_nothing() {
        assert_eq!(found(&[("HDF5_PLUGIN_PRELOAD", "::"), ("HDF5_PLUGIN_PATH", "/a")], &[]), [""; 0]);
    }

    #[test]
    fn directories_that_are_chosen_count_unless_hdf5_is_to_load_nothing() {
        let chosen = [PathBuf::from("/chosen")];
        let given = |variables: &[(&'static str, &'static str)]| {
            let variables = variables.iter().copied().collect();
            directories(&GivenEnvironment { variables, ..GivenEnvironment::default() }, Some(&chosen))
        };
        assert_eq!(given(&[("HDF5_PLUGIN_PATH", "/a")]), chosen);
        assert!(given(&[("HDF5_PLUGIN_PRELOAD", "::")]).is_empty());
    }
}

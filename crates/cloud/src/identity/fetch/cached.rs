//! Files in which Amazon's tools cache tokens and credentials.
use ncirrus_config::ProcessEnvironment;
use serde_json::Value as Json;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// The file in a folder below the home folder whose name is the hash of a text.
pub(super) fn path(environment: &ProcessEnvironment, folder: &str, name: &str) -> Option<PathBuf> {
    Some(environment.home()?.join(folder).join(format!("{}.json", sha1(name))))
}

/// Replaces a file atomically. It is readable by its owner only, unless its permissions were different before.
pub(super) fn write(path: &Path, content: &Json) -> io::Result<()> {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    let temporary = path.with_extension(format!("{}-{now}.tmp", std::process::id()));
    let written = fill(&temporary, &path, content).and_then(|()| fs::rename(&temporary, &path));
    if written.is_err() {
        _ = fs::remove_file(&temporary);
    }
    written
}

fn fill(temporary: &Path, path: &Path, content: &Json) -> io::Result<()> {
    let mut file = create_private(temporary)?;
    if let Ok(before) = fs::metadata(path) {
        file.set_permissions(before.permissions())?;
    }
    file.write_all(content.to_string().as_bytes())?;
    file.sync_all()
}

/// Creates a file that only its owner can read.
#[cfg(unix)]
fn create_private(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    File::options().write(true).create_new(true).mode(0o600).open(path)
}

/// Creates a file. Home folders are private here.
#[cfg(not(unix))]
fn create_private(path: &Path) -> io::Result<File> {
    File::options().write(true).create_new(true).open(path)
}

/// The hash used as file name.
fn sha1(text: &str) -> String {
    let digest = ring::digest::digest(&ring::digest::SHA1_FOR_LEGACY_USE_ONLY, text.as_bytes());
    digest.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn files_are_named_as_amazon_names_them() {
        let environment = ProcessEnvironment::default().at_home("/home/me");
        let path = path(&environment, ".aws/sso/cache", "abc").unwrap();
        assert_eq!(path, Path::new("/home/me/.aws/sso/cache/a9993e364706816aba3e25717850c26c9cd0d89d.json"));
        assert_eq!(super::path(&ProcessEnvironment::default(), "x", "abc"), None);
    }

    #[cfg(unix)]
    #[test]
    fn files_are_replaced_with_the_permissions_that_they_had() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/er/x.json");
        let mode = || fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        write(&path, &json!({"a": 1})).unwrap();
        assert_eq!((fs::read_to_string(&path).unwrap().as_str(), mode()), ("{\"a\":1}", 0o600));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        write(&path, &json!([])).unwrap();
        assert_eq!((fs::read_to_string(&path).unwrap().as_str(), mode()), ("[]", 0o640));
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1, "nothing else is left");
        assert!(write(folder.path(), &json!(1)).is_err(), "a folder");
    }
}

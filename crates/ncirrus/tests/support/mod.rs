//! Shared code of the end-to-end tests of this crate and of the crates above it: sessions, datasets, folders.
#![allow(dead_code, reason = "each test binary uses a part of it")]
#![allow(clippy::allow_attributes, reason = "an expectation would fail in the binaries that use all of it")]
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use ncirrus::{Dataset, OpenOptions, Result, Selection, Session, Values, Variable};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// One session for all tests of a binary: datasets are small and many.
pub(crate) fn session() -> Session {
    Session::builder().threads(2).durable(false).build().unwrap()
}

pub(crate) fn open(path: &Path, session: &Session) -> Result<Dataset> {
    Dataset::open_with(path.to_str().unwrap(), &OpenOptions::default(), session)
}

pub(crate) fn json(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// All values of a variable.
pub(crate) fn values(variable: &Variable) -> Result<Values> {
    variable.values(&Selection::all(&variable.shape()))
}

pub(crate) fn temp() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_path_buf();
    (folder, path)
}

//! The credentials that are used, and why.
mod azure;
mod chain;
mod people;
mod requests;

use super::*;
use ncirrus_config::{ConfigSettings, ProcessEnvironment};
use ncirrus_http::NetworkContext;
use ncirrus_layout::Error;
use ncirrus_store::StoreOptions;
use std::sync::Arc;
use tempfile::TempDir;

/// A home folder with files in it.
fn home(files: &[(&str, &str)]) -> TempDir {
    let home = TempDir::new().unwrap();
    for (name, text) in files {
        let path = home.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    home
}

/// The options with that home folder and these variables.
fn context(home: &TempDir, variables: &[(&str, &str)]) -> CloudContext {
    let environment = ProcessEnvironment::default().at_home(home.path());
    let environment = variables.iter().fold(environment, |all, (name, value)| all.with(name, value));
    let config = Arc::new(ConfigSettings::gather(environment, None).unwrap());
    let options = StoreOptions { retries: 0, ..StoreOptions::default() };
    NetworkContext { config, ..options.into() }.into()
}

fn identity(address: &str, context: &CloudContext) -> std::result::Result<BucketIdentity, Error> {
    BucketIdentity::of(&Url::parse(address).unwrap(), context).map(|found| found.unwrap().1)
}

/// Without the home folder, whose name differs from run to run.
fn shown(text: &str, home: &TempDir) -> String {
    text.replace(&format!("{}/", home.path().display()), "~/")
}

//! The pictures of the README, from what the built command and the built Python package really show of a dataset on S3.
mod terminal;

use crate::peers;
use crate::run::{Outcome, command, program, project, target};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// NOAA's monthly sea-surface temperatures (ERSST v5), of the corpus that tests read.
const CORPUS: &str = "../shared/corpus";
const DATA: &str = "realdata/files/ersstv5_sst_2010-2020.nc";
const ADDRESS: &str = "s3://bucket/ersst.zarr";
const FOLDER: &str = "docs/pictures";
const MAX_BYTES: u64 = 250_000;
/// The pictures of docs/plotting.md, and what they show.
const PLOTS: [(&str, &[&str]); 2] = [
    ("plot-map.png", &["sst[6,:,:]"]),
    ("plot-lines.png", &["sst[:,44,100]", "sst[:,64,100]", "sst[:,24,100]"]),
];

/// The pictures of docs/viewing.md, which `viewer.py` takes.
const VIEWS: [&str; 2] = ["view-map.png", "view-storage.png"];

/// Arguments: `[FILE]`, a dataset with the variable `sst` of time, latitude and longitude. The release build of the command
/// is used, or what `NCIRRUS_BINARY` names, and the package that the Python of the peers has.
pub(crate) fn make(arguments: &[String]) -> Outcome {
    let own = || target().join("release").join(program("ncirrus"));
    let ncirrus = std::env::var_os("NCIRRUS_BINARY").map_or_else(own, PathBuf::from);
    let corpus = std::env::var_os("NCIRRUS_CORPUS").map_or_else(|| project().join(CORPUS), PathBuf::from);
    let data = arguments.first().map_or_else(|| corpus.join(DATA), PathBuf::from);
    let folder = project().join(FOLDER);
    std::fs::create_dir_all(&folder).map_err(|error| format!("{FOLDER}: {error}"))?;
    let server = S3Server::start()?;
    let shell = |arguments: &[&str]| shown(&ncirrus, arguments, &server);
    let chunks = ["-c", "sst:128,9,12", "-k", "zarr3"];
    shell(&[&["copy"], &chunks[..], &[&data.to_string_lossy(), ADDRESS]].concat())?;
    let sessions = [
        (format!("ncirrus info {ADDRESS}"), shell(&["info", ADDRESS])?),
        (format!("ncirrus explain {ADDRESS} 'sst[:,45,90]'"), shell(&["explain", ADDRESS, "sst[:,45,90]"])?),
    ];
    let (terminal, html) = (folder.join("terminal.svg"), folder.join("html.png"));
    std::fs::write(&terminal, terminal::svg(&sessions)).map_err(|error| format!("{FOLDER}: {error}"))?;
    let script = project().join("xtask/src/pictures/notebook.py");
    let arguments = [&script.to_string_lossy(), ADDRESS, &html.to_string_lossy()];
    let environment = server.environment();
    let environment: Vec<(&str, &str)> = environment.iter().map(|(name, value)| (*name, &**value)).collect();
    command(&peers::python().to_string_lossy(), &arguments, &environment)?;
    let plots = PLOTS.map(|(name, selects)| (folder.join(name), selects));
    for (picture, selects) in &plots {
        let output = picture.to_string_lossy();
        shell(&[&["plot", "-q", ADDRESS], *selects, &["--overwrite", "-o", &output]].concat())?;
    }
    view(&ncirrus, &server, &folder)?;
    let views = VIEWS.map(|name| folder.join(name));
    for picture in [terminal, html].into_iter().chain(plots.map(|(picture, _)| picture)).chain(views) {
        let bytes = picture.metadata().map_err(|error| format!("{}: {error}", picture.display()))?.len();
        println!("{}: {bytes} bytes", picture.display());
        if bytes > MAX_BYTES {
            return Err(format!("{} has more than {MAX_BYTES} bytes", picture.display()));
        }
    }
    Ok(())
}

/// What the command prints on a terminal, with colours.
fn shown(ncirrus: &PathBuf, arguments: &[&str], server: &S3Server) -> Result<String, String> {
    let mut command = Command::new(ncirrus);
    command.args(arguments).envs(server.environment()).env("CLICOLOR_FORCE", "1");
    let output = command.output().map_err(|error| format!("{} cannot be run: {error}", ncirrus.display()))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(format!("ncirrus {arguments:?}: {}", String::from_utf8_lossy(&output.stderr)))
    }
}

/// Pictures of the pages of `ncirrus view`.
fn view(ncirrus: &Path, server: &S3Server, folder: &Path) -> Outcome {
    let mut viewer = Command::new(ncirrus);
    viewer.args(["view", "--no-browser", ADDRESS]).envs(server.environment());
    let viewer = viewer.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
    let mut viewer = viewer.map_err(|error| format!("{} cannot be run: {error}", ncirrus.display()))?;
    let mut address = String::new();
    let taken = match viewer.stdout.take().map(|output| BufReader::new(output).read_line(&mut address)) {
        Some(Ok(_)) => {
            let script = project().join("xtask/src/pictures/viewer.py");
            let name = ADDRESS.rsplit('/').next().unwrap_or_default();
            let arguments = [&script.to_string_lossy(), address.trim(), name, &folder.to_string_lossy()];
            command(&peers::python().to_string_lossy(), &arguments, &[])
        }
        _ => Err("ncirrus view prints no address".to_owned()),
    };
    _ = viewer.kill();
    _ = viewer.wait();
    taken
}

/// A local S3 server of the peers; it ends when this is dropped.
struct S3Server {
    process: Child,
    described: serde_json::Value,
}

impl S3Server {
    fn start() -> Result<Self, String> {
        let mut command = Command::new(peers::python());
        command.arg(project().join("peers/moto_server.py")).stdin(Stdio::piped()).stdout(Stdio::piped());
        // It logs every request.
        command.stderr(Stdio::null());
        let mut process = command.spawn().map_err(|error| format!("moto cannot be run: {error}"))?;
        let mut line = String::new();
        let output = process.stdout.take().ok_or("moto has no output")?;
        BufReader::new(output).read_line(&mut line).map_err(|error| format!("moto: {error}"))?;
        let described = serde_json::from_str(&line).map_err(|error| format!("moto: {error}"))?;
        Ok(Self { process, described })
    }

    fn environment(&self) -> [(&'static str, String); 4] {
        let text = |name: &str| self.described[name].as_str().unwrap_or_default().to_owned();
        [
            ("AWS_ENDPOINT_URL", text("endpoint")),
            ("AWS_ACCESS_KEY_ID", text("key")),
            ("AWS_SECRET_ACCESS_KEY", text("secret")),
            ("AWS_REGION", "us-east-1".to_owned()),
        ]
    }
}

impl Drop for S3Server {
    fn drop(&mut self) {
        // The server ends with its input.
        drop(self.process.stdin.take());
        _ = self.process.wait();
    }
}

//! The servers that tests run against: one in process, and others when they are installed.
use super::google;
use super::server::{self, KEY, SECRET, Server};
use ncirrus::Session;
use ncirrus_testkit::corpus::{left_out, peers_python};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A server and a location on it.
pub(crate) struct Place {
    pub(crate) name: &'static str,
    /// The beginning of URLs, with a slash at its end.
    pub(crate) prefix: String,
    pub(crate) settings: BTreeMap<String, String>,
    /// The secrets of the settings, which must not occur in any text.
    pub(crate) secrets: Vec<String>,
    _running: Running,
}

/// A process that ends with the test.
struct Running {
    program: Option<Child>,
    _server: Option<Server>,
    _folder: Option<tempfile::TempDir>,
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(program) = &mut self.program {
            _ = program.kill();
            _ = program.wait();
        }
    }
}

impl Place {
    pub(crate) fn session(&self) -> Session {
        server::session(&self.settings)
    }

    pub(crate) fn url(&self, key: &str) -> String {
        format!("{}{key}", self.prefix)
    }

    /// Versions of an object, as boto3 lists them.
    pub(crate) fn versions(&self, url: &str) -> Vec<String> {
        let (bucket, key) = url.strip_prefix("s3://").unwrap().split_once('/').unwrap();
        let list = format!(
            "print(*[v['VersionId'] for v in s3.list_object_versions(Bucket={bucket:?}, Prefix={key:?})['Versions']])"
        );
        self.boto(&list).split_whitespace().map(str::to_owned).collect()
    }

    /// Begins a multipart upload and abandons it.
    pub(crate) fn begin_upload(&self, key: &str) {
        self.boto(&format!("s3.create_multipart_upload(Bucket='bucket', Key={key:?})"));
    }

    /// Puts an object, whatever its key.
    pub(crate) fn put(&self, key: &str) {
        self.boto(&format!("s3.put_object(Bucket='bucket', Key={key:?}, Body=b'x')"));
    }

    /// The output of a line of Python, in which `s3` is boto3's client.
    fn boto(&self, line: &str) -> String {
        let setting = |name: &str| &self.settings[name];
        let client = format!(
            "import boto3; s3 = boto3.client('s3', endpoint_url={:?}, region_name='us-east-1', aws_access_key_id={:?}, \
             aws_secret_access_key={:?}); {line}",
            setting("aws_endpoint_url"),
            setting("aws_access_key_id"),
            setting("aws_secret_access_key")
        );
        let output = Command::new(peers_python().unwrap()).args(["-c", &client]).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// A server that checks signatures, in process.
    pub(crate) fn here() -> Self {
        let server = Server::start();
        Self {
            name: "s3s",
            prefix: server.url(""),
            settings: server::settings(&server.address, KEY, SECRET),
            secrets: vec![SECRET.to_owned()],
            _running: Running { program: None, _server: Some(server), _folder: None },
        }
    }

    /// moto, with its authorisation switched on.
    pub(crate) fn moto() -> Option<(Self, Value)> {
        let python = peers_python()?;
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../peers/moto_server.py");
        let mut child = Command::new(python)
            .arg(script)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let reported: Value = serde_json::from_str(&line).unwrap();
        let text = |name: &str| reported[name].as_str().unwrap().to_owned();
        let place = Self {
            name: "moto",
            prefix: "s3://bucket/".to_owned(),
            settings: server::settings(&text("endpoint"), &text("key"), &text("secret")),
            secrets: vec![text("secret")],
            _running: Running { program: Some(child), _server: None, _folder: None },
        };
        Some((place, reported))
    }

    /// Google's API in front of a server in process.
    pub(crate) fn google() -> Self {
        let settings =
            [("google_base_url", google::start()), ("google_bearer_token", google::TOKEN.to_owned())];
        Self {
            name: "google",
            prefix: "gs://bucket/".to_owned(),
            settings: settings.map(|(name, value)| (name.to_owned(), value)).into(),
            secrets: vec![google::TOKEN.to_owned()],
            _running: Running { program: None, _server: None, _folder: None },
        }
    }

    /// Azurite, Azure's own emulator.
    pub(crate) fn azurite() -> Option<Self> {
        let program = azurite()?;
        let folder = tempfile::tempdir().unwrap();
        let port = free_port();
        let child = Command::new("node")
            .arg(program)
            .args([
                "--silent",
                "--disableTelemetry",
                "--skipApiVersionCheck",
                "--blobHost",
                "127.0.0.1",
                "--blobPort",
                &port.to_string(),
            ])
            .arg("--location")
            .arg(folder.path())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        wait_for(port);
        let endpoint = format!("http://127.0.0.1:{port}/{ACCOUNT}");
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../peers/azure_container.py");
        let made =
            Command::new("python3").arg(script).args([&endpoint, ACCOUNT, ACCOUNT_KEY, "container"]).status();
        assert!(made.unwrap().success());
        let settings = [
            ("azure_storage_endpoint", endpoint),
            ("azure_storage_account_name", ACCOUNT.to_owned()),
            ("azure_storage_account_key", ACCOUNT_KEY.to_owned()),
        ];
        Some(Self {
            name: "azurite",
            prefix: "az://container/".to_owned(),
            settings: settings.map(|(name, value)| (name.to_owned(), value)).into(),
            secrets: vec![ACCOUNT_KEY.to_owned()],
            _running: Running { program: Some(child), _server: None, _folder: Some(folder) },
        })
    }
}

/// The account that every Azurite has, and its key, which is not secret.
const ACCOUNT: &str = "devstoreaccount1";
const ACCOUNT_KEY: &str =
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

fn azurite() -> Option<std::path::PathBuf> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.node/node_modules/.bin/azurite-blob");
    let named = std::env::var_os("NCIRRUS_PEERS_AZURITE").map_or(own, Into::into);
    if named.exists() {
        return Some(named);
    }
    left_out("Azurite");
    None
}

fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

fn wait_for(port: u16) {
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        std::thread::sleep(Duration::from_millis(50));
    }
}

//! From nothing to the structure and a mean of a dataset on an S3 server, in five commands on a fresh Debian 13.
use super::system::{System, home};
use super::{Checks, python};
use crate::release::{create, deb, stage, tools};
use crate::run::{self, Outcome};
use std::fmt::Write as _;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

/// Runs the commands and returns their transcript.
pub(super) fn check(checks: &mut Checks) -> Result<String, String> {
    "Debian 13".clone_into(&mut checks.root);
    let server = Server::start()?;
    server.fill()?;
    let system = System::fresh("trixie", "scenario")?;
    python::offline(&system, "3.13", &["numpy>=1.25", "xarray>=2024.10", "cftime"])?;
    let mut text = String::from(
        "Five commands on a fresh Debian 13 with the artefacts in its folder `/release`. The server runs beside it. Packages \
         of Python come from a local folder. Of long outputs the first and the last lines are shown.\n\n```console\n",
    );
    let settings = server.settings();
    let mut outputs = Vec::new();
    for command in commands(&settings)? {
        // Each command has a shell of its own.
        let script = format!("cd /release\n{}{command}", if outputs.len() < 2 { "" } else { &settings });
        let (output, code) = system.transcribe(&script)?;
        _ = write!(text, "# {command}\n{}", shortened(&output));
        if code != 0 {
            _ = writeln!(text, "(exit code {code})");
        }
        outputs.push((output, code));
    }
    text.push_str("```\n");
    let outcome = judge(&outputs).map_err(|message| format!("{message}\n{text}"));
    checks.add("the command, the wheel", "from nothing to a mean on S3 in five commands", outcome);
    Ok(text)
}

/// What a person types.
fn commands(settings: &str) -> Result<[String; 5], String> {
    let (deb, wheel) = (deb::file("ncirrus"), python::name()?);
    Ok([
        format!("apt-get -qq update && apt-get -qq install -y ./{deb} python3-venv"),
        settings.trim_end().to_owned(),
        format!("ncirrus info {DATASET}"),
        format!("python3 -m venv ~/v && ~/v/bin/pip install -q './{wheel}[xarray]'"),
        format!(
            "~/v/bin/python -c \"import xarray; print(float(xarray.open_dataset('{DATASET}', engine='ncirrus').sst.mean()))\""
        ),
    ])
}

const DATASET: &str = "s3://climate/sst.zarr";
/// The mean of the example, as netCDF4-python computes it.
const MEAN: f64 = 19.50929;

/// All commands succeed, the structure has the variable, and the mean is right.
fn judge(outputs: &[(String, i32)]) -> Result<String, String> {
    if let Some(at) = outputs.iter().position(|(_, code)| *code != 0) {
        return Err(format!("command {} failed", at + 1));
    }
    let printed = |at: usize| outputs.get(at).map_or("", |(output, _)| output);
    if !["time", "lat", "lon", "sst"].iter().all(|name| printed(2).contains(name)) {
        return Err("the structure lacks a variable".to_owned());
    }
    let last = printed(4).lines().last().unwrap_or_default();
    match last.trim().parse::<f64>() {
        Ok(mean) if (mean - MEAN).abs() < 1e-4 => Ok(format!("mean {mean:.5}")),
        _ => Err(format!("the mean is {last:?}, not {MEAN}")),
    }
}

/// The first and the last lines of an output.
fn shortened(output: &str) -> String {
    let lines: Vec<&str> = output.lines().collect();
    let kept = |lines: &[&str]| lines.iter().map(|line| format!("{line}\n")).collect::<String>();
    if lines.len() <= 2 * SHOWN {
        return kept(&lines);
    }
    let left_out = lines.len() - 2 * SHOWN;
    format!("{}(... {left_out} lines ...)\n{}", kept(&lines[..SHOWN]), kept(&lines[lines.len() - SHOWN..]))
}

const SHOWN: usize = 12;

/// The S3 server of the benchmarks, on this machine.
struct Server {
    program: Child,
    endpoint: String,
}

impl Server {
    /// Serves an empty bucket.
    fn start() -> Result<Self, String> {
        let folder = home().join("s3");
        if folder.exists() {
            std::fs::remove_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        }
        create(&folder.join("climate"))?;
        let server = tools::helpers()?.join(run::program("ncirrus-bench"));
        let described = |error: std::io::Error| format!("{}: {error}", server.display());
        let mut program = Command::new(&server)
            .arg("s3")
            .arg(&folder)
            .arg("0")
            .stdout(Stdio::piped())
            .spawn()
            .map_err(described)?;
        let mut endpoint = String::new();
        if let Some(output) = program.stdout.take() {
            BufReader::new(output).read_line(&mut endpoint).map_err(described)?;
        }
        Ok(Self { program, endpoint: endpoint.trim().to_owned() })
    }

    /// Puts the example into the bucket, by the program that ships.
    fn fill(&self) -> Outcome {
        let program = stage::folder().join("bin/ncirrus");
        let copy = ["copy", "--overwrite", "-c", "time/1,lat/,lon/", "examples/sst.nc", DATASET];
        let environment = [("AWS_ENDPOINT_URL", self.endpoint.as_str()), ("AWS_NO_SIGN_REQUEST", "true")];
        run::command(&program.to_string_lossy(), &copy, &environment)
    }

    /// The line that a person types to use it.
    fn settings(&self) -> String {
        format!("export AWS_ENDPOINT_URL={} AWS_NO_SIGN_REQUEST=true\n", self.endpoint)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        _ = self.program.kill();
        _ = self.program.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_outputs_are_shortened() {
        let text: String = (0..30).map(|line| format!("{line}\n")).collect();
        let short = shortened(&text);
        assert!(short.starts_with("0\n1\n") && short.ends_with("28\n29\n"), "{short}");
        assert!(short.contains("11\n(... 6 lines ...)\n18\n"), "{short}");
        assert_eq!(shortened("a\nb\n"), "a\nb\n");
    }

    #[test]
    fn a_wrong_mean_or_exit_code_fails() {
        let outputs = |mean: &str, code| {
            let structure = "time lat lon sst".to_owned();
            [
                (String::new(), 0),
                (String::new(), 0),
                (structure, 0),
                (String::new(), code),
                (mean.to_owned(), 0),
            ]
        };
        assert_eq!(judge(&outputs("19.509292602539062\n", 0)), Ok("mean 19.50929".to_owned()));
        assert!(judge(&outputs("19.6\n", 0)).is_err());
        assert!(judge(&outputs("19.50929\n", 1)).is_err());
    }
}

//! Requests are traced on request.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test")]
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::Output;

/// Serves the example; the first answer is that the server is busy.
fn serve() -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/sst.nc");
    let bytes = std::fs::read(path).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://me:hunter2@{}/sst.nc?sig=hunter2", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for (number, mut stream) in listener.incoming().flatten().enumerate() {
            let lines = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
            let head: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
            let busy = "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
            let found =
                format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", bytes.len());
            let is_first = number == 0;
            let _ = stream.write_all(if is_first { busy } else { &found }.as_bytes());
            if !is_first && head[0].starts_with("GET /sst.nc") {
                let _ = stream.write_all(&bytes);
            }
        }
    });
    address
}

fn ncirrus(arguments: &[&str], variables: &[(&str, &str)]) -> Output {
    let mut command = crate::program::command();
    command.args(arguments).env_remove("NCTRACING").envs(variables.iter().copied());
    let output = command.output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    output
}

/// Lines of requests without their times, and the last line.
fn lines(text: &str) -> (Vec<String>, String) {
    let mut lines: Vec<String> =
        text.lines().map(|line| line.trim_start_matches("trace: ").to_owned()).collect();
    let last = lines.pop().unwrap();
    (lines, last)
}

fn check(text: &str) {
    let (lines, last) = lines(text);
    assert!(lines[0].starts_with("GET http://"), "{text}");
    assert!(lines[0].contains("/sst.nc [0-") && lines[0].contains("] 503, 0 bytes, "), "{text}");
    assert!(lines[0].ends_with(": server answered 503 Service Unavailable"), "{text}");
    assert!(lines[1].starts_with("server answered 503 Service Unavailable: trying again, in 0."), "{text}");
    assert!(lines[2].contains("] 200, ") && lines[2].ends_with(", request 2"), "{text}");
    assert!(last.contains("requests (1 failed, 1 made again), ") && last.ends_with(" s"), "{text}");
    assert!(!text.contains("hunter2"), "{text}");
}

#[test]
fn a_trace_on_standard_error_has_each_request() {
    let output = ncirrus(&["info", "--trace", &serve()], &[]);
    check(&String::from_utf8(output.stderr).unwrap());
    let output = ncirrus(&["info", &serve()], &[("NCTRACING", "1")]);
    check(&String::from_utf8(output.stderr).unwrap());
    let output = ncirrus(&["info", &serve()], &[("NCTRACING", "0")]);
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
}

#[test]
fn a_trace_goes_to_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("trace.txt");
    let there = folder.path().join("copy.nc");
    let argument = format!("--trace={}", file.to_str().unwrap());
    let output = ncirrus(&["copy", &argument, &serve(), there.to_str().unwrap()], &[]);
    let reported = String::from_utf8(output.stderr).unwrap();
    assert!(reported.lines().count() == 1 && reported.contains("does not support byte ranges"), "{reported}");
    check(&std::fs::read_to_string(&file).unwrap());
    assert!(Path::new(&there).exists());
}

#[test]
fn a_dump_reports_a_server_without_ranges() {
    let output = ncirrus(&["dump", "-h", &serve()], &[]);
    let reported = String::from_utf8(output.stderr).unwrap();
    assert!(
        reported.starts_with("ncirrus: note: http://") && reported.contains("does not support byte ranges"),
        "{reported}"
    );
    assert!(!reported.contains("hunter2") && reported.lines().count() == 1, "{reported}");
}

#[test]
fn addresses_and_netcdfs_files_request_a_log_of_local_stores_and_servers() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/sst.nc");
    let zarr = format!("file://{}#mode=nczarr,file", at("a.zarr"));
    let written = ncirrus(&["copy", example, &format!("{zarr}&log={}", at("written"))], &[]);
    assert_eq!(String::from_utf8(written.stderr).unwrap(), "");
    let text = std::fs::read_to_string(at("written")).unwrap();
    assert!(text.contains("write /") && text.contains("/sst/.zarray ") && text.contains("/sst/0"), "{text}");

    let shown = |address: &str, rc: &str| {
        std::fs::write(at("rc"), rc).unwrap();
        let output = ncirrus(&["dump", address], &[("NCRCENV_RC", &at("rc"))]);
        String::from_utf8(output.stderr).unwrap()
    };
    let text = shown(&format!("{zarr}&log"), "");
    assert!(text.lines().any(|line| line.starts_with("trace: read /") && line.contains("/.zmetadata [0-")));
    assert!(text.contains("/a.zarr/sst/0"), "{text}");
    assert_eq!(shown(&zarr, ""), "");
    assert!(shown(example, "log\n").contains("trace: read /"));
    assert_eq!(shown(example, &format!("log={}\n", at("logged"))), "");
    assert!(std::fs::read_to_string(at("logged")).unwrap().contains("read /"));
    let server = serve();
    let host = server.split("@").nth(1).unwrap().split('/').next().unwrap();
    let text = shown(&server, &format!("[http://{host}]log\n"));
    assert!(text.contains("trace: GET http://") && !text.contains("hunter2"), "{text}");
    assert!(!shown(&serve(), &format!("[http://{host}]log\n")).contains("trace: "));
}

#[test]
fn the_option_shows_local_reads_too() {
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/sst.nc");
    let output = ncirrus(&["dump", "--trace", example], &[]);
    let text = String::from_utf8(output.stderr).unwrap();
    let (lines, last) = lines(&text);
    assert!(lines.iter().all(|line| line.starts_with("read /")) && !lines.is_empty(), "{text}");
    assert!(last.starts_with("0 requests"), "{text}");
}

//! Files are closed when threads and programs end, and while others open them.
use super::calls::compiled_with;
use super::writing::assert_alike_on;
use super::{Library, loaded_from, printed};

#[test]
fn what_is_closed_after_the_end_of_threads_and_of_main_is_whole() {
    let folder = tempfile::tempdir().unwrap();
    let program = compiled_with(folder.path(), "late_calls", &["-lpthread"]);
    let of_threads = ["3", "4"]
        .into_iter()
        .flat_map(|kind| ["00", "01", "02", "10", "11", "12"].map(|how| format!("thread{kind}{how}.nc")));
    let of_program = ["first3.nc", "last3.nc", "last4.nc", "new3.nc", "new4.nc"].map(str::to_owned);
    let files: Vec<String> = of_threads.chain(of_program).collect();
    assert_alike_on(folder.path(), &program, &files.iter().map(String::as_str).collect::<Vec<_>>());
}

/// The limit is that of a process that would never end.
#[test]
fn a_process_whose_first_thread_ended_ends_with_its_last_one() {
    let folder = tempfile::tempdir().unwrap();
    let program = compiled_with(folder.path(), "first_thread", &["-lpthread"]);
    for (how, expected) in [("closes", "put 0\nsync 0\nclose 0\n"), ("leaves", "put 0\nsync 0\n")] {
        let said = printed(Library::Own, folder.path(), "timeout", &["300", &program, "a.nc", how]);
        assert_eq!(said, expected);
        let shown = printed(Library::Debian, folder.path(), "ncdump", &["a.nc"]);
        assert!(shown.contains("v = 4, 5, 6 ;"), "{shown}");
    }
}

#[test]
fn a_file_is_opened_while_other_threads_close_it() {
    let folder = tempfile::tempdir().unwrap();
    let program = compiled_with(folder.path(), "one_path", &["-lpthread"]);
    for kind in ["3", "4"] {
        let said = printed(Library::Own, folder.path(), &program, &[".", kind]);
        assert_eq!(said, "wrong: 0, lost: 0\n", "{kind}");
    }
}

#[test]
fn codecs_end_where_their_text_ends() {
    let folder = tempfile::tempdir().unwrap();
    let text = "netcdf d {\ndimensions:\n\tx = 30 ;\nvariables:\n\tint v(x) ;\ndata:\n v = 1, 2, 3 ;\n}\n";
    std::fs::write(folder.path().join("text.cdl"), text).unwrap();
    printed(Library::Debian, folder.path(), "ncgen", &["-k", "netCDF-4", "-o", "d.nc", "text.cdl"]);
    let target = format!("file://{}/d.zarr#mode=nczarr,file", folder.path().display());
    printed(Library::Own, folder.path(), "nccopy", &["-d", "4", "d.nc", &target]);
    let output = std::process::Command::new("ncdump")
        .args(["-sh", &target])
        .env("LD_LIBRARY_PATH", loaded_from(folder.path()))
        // New memory is not empty.
        .env("MALLOC_PERTURB_", "165")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let codecs = said.lines().find(|line| line.contains("v:_Codecs = ")).unwrap();
    assert!(codecs.contains("zlib") && codecs.ends_with("}]\" ;"), "{codecs}");
}

#[test]
fn an_address_with_log_is_logged() {
    let folder = tempfile::tempdir().unwrap();
    let text = "netcdf d {\ndimensions:\n\tx = 3 ;\nvariables:\n\tint v(x) ;\ndata:\n v = 1, 2, 3 ;\n}\n";
    std::fs::write(folder.path().join("text.cdl"), text).unwrap();
    let log = |name: &str| folder.path().join(name).display().to_string();
    let target = format!("file://{}#mode=nczarr,file", folder.path().join("d.zarr").display());
    let written = format!("{target}&log={}", log("written"));
    printed(Library::Own, folder.path(), "ncgen", &["-4", "-o", &written, "text.cdl"]);
    let text = std::fs::read_to_string(log("written")).unwrap();
    assert!(text.contains("/v/.zarray ") && text.contains("/v/0 12 bytes"), "{text}");
    printed(Library::Own, folder.path(), "ncdump", &[&format!("{target}&log={}", log("read"))]);
    assert!(std::fs::read_to_string(log("read")).unwrap().contains("/d.zarr/v/0 "));
    let told = super::run(Library::Own, folder.path(), "ncdump", &[&format!("{target}&log")]);
    assert!(String::from_utf8(told.stderr).unwrap().contains("trace: read /"));
}

#[test]
fn datasets_that_are_absent_have_one_code_in_every_store() {
    let folder = tempfile::tempdir().unwrap();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let host = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let lines = std::io::BufReader::new(stream.try_clone().unwrap());
            std::io::BufRead::lines(lines).map_while(Result::ok).take_while(|line| !line.is_empty()).count();
            let answer = "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
            let _ = std::io::Write::write_all(&mut stream, answer.as_bytes());
        }
    });
    let program = compiled_with(folder.path(), "absent", &[]);
    let at = folder.path().display();
    let addresses = [
        format!("file://{at}/none.zarr#mode=nczarr,file"),
        format!("file://{at}/none.zip#mode=nczarr,zip"),
        format!("http://{host}/none.zarr#mode=nczarr"),
        format!("http://{host}/bucket/none.zarr#mode=nczarr,s3"),
    ];
    let addresses: Vec<&str> = addresses.iter().map(String::as_str).collect();
    assert_eq!(printed(Library::Own, folder.path(), &program, &addresses), "-141\n".repeat(4));
}

//! `ncirrus rm` and `ncirrus clean` on local datasets.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test")]
use std::io::{Read, Write};
use std::path::Path;
use std::process::Output;

fn ncirrus(arguments: &[&str]) -> Output {
    crate::program::command().args(arguments).output().unwrap()
}

fn says(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

fn dataset(folder: &Path, name: &str) -> String {
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/sst.nc");
    let made = folder.join(name).to_str().unwrap().to_owned();
    let output = ncirrus(&["copy", example, &made]);
    assert!(output.status.success(), "{}", says(&output));
    made
}

#[test]
fn a_dataset_is_removed_and_nothing_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a.zarr", "a.nc", "a.zip"] {
        let (gone, beside) = (dataset(folder.path(), name), dataset(folder.path(), &format!("b{name}")));
        let tried = ncirrus(&["rm", &gone, "--dry-run"]);
        assert!(tried.status.success() && says(&tried).contains("nothing was removed"), "{}", says(&tried));
        assert!(says(&tried).contains("would remove"), "{}", says(&tried));
        assert!(Path::new(&gone).exists());
        let unconfirmed = ncirrus(&["rm", &gone]);
        assert!(!unconfirmed.status.success() && says(&unconfirmed).contains("-y"), "{}", says(&unconfirmed));
        let removed = ncirrus(&["rm", "-y", &gone]);
        assert!(removed.status.success(), "{}", says(&removed));
        assert!(!Path::new(&gone).exists() && Path::new(&beside).exists());
    }
}

#[test]
fn what_is_no_dataset_is_removed_by_force_only() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("home");
    std::fs::create_dir(&place).unwrap();
    std::fs::write(place.join("letter.txt"), "dear").unwrap();
    let place = place.to_str().unwrap();
    let refused = ncirrus(&["rm", "-y", place]);
    assert!(!refused.status.success() && says(&refused).contains("--force"), "{}", says(&refused));
    assert!(Path::new(place).join("letter.txt").exists());
    assert!(ncirrus(&["rm", "-y", "--force", place]).status.success());
    assert!(!Path::new(place).exists());
    assert_eq!(ncirrus(&["rm", "-y", place]).status.code(), Some(3));
}

#[test]
fn a_part_of_a_dataset_is_removed_by_force_only() {
    let folder = tempfile::tempdir().unwrap();
    let whole = dataset(folder.path(), "a.zarr");
    let part = format!("{whole}/sst");
    assert!(ncirrus(&["info", &part]).status.success());
    let refused = ncirrus(&["rm", "-y", &part]);
    assert!(
        !refused.status.success() && says(&refused).contains("may be part of the dataset"),
        "{}",
        says(&refused)
    );
    assert!(Path::new(&part).exists());
    assert!(ncirrus(&["rm", "-y", "--force", &part]).status.success());
    assert!(!Path::new(&part).exists() && Path::new(&whole).exists());
}

#[test]
fn old_temporary_files_are_cleaned_and_datasets_are_not() {
    let folder = tempfile::tempdir().unwrap();
    let kept = dataset(folder.path(), "kept.zarr");
    let left = folder.path().join(".data.nc.4711-0123456789abcdef.ncirrus-tmp");
    std::fs::write(&left, "half").unwrap();
    let place = folder.path().to_str().unwrap();
    let young = ncirrus(&["clean", place]);
    assert!(says(&young).contains("1 younger than 24h kept"), "{}", says(&young));
    let tried = ncirrus(&["clean", "--dry-run", "--older-than", "0s", place]);
    assert!(says(&tried).contains("would remove") && left.exists(), "{}", says(&tried));
    let removed = ncirrus(&["clean", "--older-than", "0s", place]);
    assert!(removed.status.success() && !left.exists() && Path::new(&kept).exists(), "{}", says(&removed));
}

/// A server that denies all requests, with Amazon's error codes, to the end of the test.
fn refusing() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            std::thread::spawn(move || {
                let mut request = [0; 8192];
                while stream.read(&mut request).is_ok_and(|len| len > 0) {
                    let xml = "<Error><Code>SignatureDoesNotMatch</Code></Error>";
                    let answer =
                        format!("HTTP/1.1 403 Forbidden\r\nContent-Length: {}\r\n\r\n{xml}", xml.len());
                    if stream.write_all(answer.as_bytes()).is_err() {
                        break;
                    }
                }
            });
        }
    });
    address
}

#[test]
fn no_secret_is_printed() {
    let (secret, token) = ("wJalrXUtnFEMI/K7MDENG/bPxRfiCYzEXAMPLEKEY", "FwoGZXIvYXdzEXAMPLETOKEN");
    let server = refusing();
    for arguments in [
        &["info", "s3://bucket/data"][..],
        &["rm", "-y", "s3://bucket/data"],
        &["rm", "-y", "--force", "s3://bucket/data"],
        &["clean", "s3://bucket/data"],
        &["--trace", "info", "s3://bucket/data"],
    ] {
        let output = crate::program::command()
            .args(arguments)
            .env("AWS_ENDPOINT_URL", &server)
            .env("AWS_REGION", "us-east-1")
            .env("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
            .env("AWS_SECRET_ACCESS_KEY", secret)
            .env("AWS_SESSION_TOKEN", token)
            .output()
            .unwrap();
        let said = says(&output);
        assert!(!output.status.success(), "{arguments:?}: {said}");
        assert!(said.contains("secret access key does not belong"), "{arguments:?}: {said}");
        for hidden in [secret, token, "Signature="] {
            assert!(!said.contains(hidden), "{arguments:?}: {said}");
        }
    }
}

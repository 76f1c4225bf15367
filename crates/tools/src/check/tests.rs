//! Datasets that are sound, and each way in which they are not.
use super::*;
use ncirrus::{
    Atomic, Attribute, CodecSpec, CreateOptions, DimensionLen, ErrorKind, Kind, OpenOptions, Storage, Values,
};
use std::path::{Path, PathBuf};

mod corpora;
mod shards;

fn session() -> Session {
    Session::new().unwrap()
}

fn address(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}

/// A dataset with a chunked variable `v` of floats, text and a coordinate.
fn create(url: &str, kind: Kind, filters: &[CodecSpec], more: impl FnOnce(&Dataset)) {
    let options = CreateOptions::new().kind(kind).overwrite(true);
    let new = Dataset::create_with(url, &options, &session()).unwrap();
    new.root().add_dimension("y", DimensionLen::Fixed(40)).unwrap();
    new.root().add_dimension("x", DimensionLen::Fixed(50)).unwrap();
    let v = new.root().add_variable("v", Atomic::Float, &["y", "x"]).unwrap();
    let y = new.root().add_variable("y", Atomic::Double, &["y"]).unwrap();
    if kind != Kind::Nc3 {
        v.set_storage(Storage::Chunked(vec![16, 16]), filters.to_vec()).unwrap();
    }
    more(&new);
    #[expect(clippy::cast_precision_loss, reason = "small numbers")]
    let numbers: Vec<f32> = (0..2000).map(|at| (at as f32 * 0.37).sin()).collect();
    v.write_all(&numbers).unwrap();
    y.write_all(&(0..40).map(f64::from).collect::<Vec<_>>()).unwrap();
    new.close().unwrap();
}

fn checked(url: &str, options: &CheckOptions<'_>) -> CheckReport {
    check(url, options, &session()).unwrap()
}

fn codes(report: &CheckReport) -> Vec<&'static str> {
    report.findings.iter().map(|finding| finding.code.name()).collect()
}

fn fletcher() -> Vec<CodecSpec> {
    vec![CodecSpec::Hdf5 { id: 3, parameters: Vec::new(), optional: false }]
}

/// Random numbers that are the same in each run.
struct Lcg(u64);

impl Lcg {
    fn below(&mut self, max: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % max
    }
}

/// How many bits are flipped.
fn flips() -> usize {
    std::env::var("NCIRRUS_CHECK_FLIPS").ok().and_then(|count| count.parse().ok()).unwrap_or(60)
}

/// Flips single bits in ranges of files and expects a finding for each.
fn find_flips(url: &str, ranges: &[(PathBuf, std::ops::Range<usize>)]) {
    assert!(checked(url, &CheckOptions::new()).is_sound(), "{}", checked(url, &CheckOptions::new()));
    let mut random = Lcg(7);
    let mut found = 0;
    for _ in 0..flips() {
        let (path, range) = &ranges[random.below(ranges.len())];
        let whole = std::fs::read(path).unwrap();
        let mut damaged = whole.clone();
        let at = range.start + random.below(range.len());
        damaged[at] ^= 1 << random.below(8);
        std::fs::write(path, &damaged).unwrap();
        let report = checked(url, &CheckOptions::new());
        std::fs::write(path, &whole).unwrap();
        let is_found = report.findings.iter().any(|finding| {
            matches!(finding.code, FindingCode::ChecksumWrong | FindingCode::ChunkDamaged)
                && finding.severity == Severity::Error
        });
        assert!(is_found, "byte {at} of {}: {report}", path.display());
        found += 1;
    }
    println!("{found} of {} flipped bits are found in {url}", flips());
}

/// The chunks of `v` that are ranges of a file.
fn chunk_ranges(url: &str, file: &Path) -> Vec<(PathBuf, std::ops::Range<usize>)> {
    let dataset = Dataset::open_with(url, &OpenOptions::default(), &session()).unwrap();
    let v = dataset.variable("v").unwrap();
    let chunks = v.chunks(&Selection::all(&v.shape())).unwrap();
    let ranges = chunks.iter().map(|chunk| match &chunk.stored.location {
        ncirrus::Location::Bytes(_, range) => {
            (file.to_owned(), usize::try_from(range.start).unwrap()..usize::try_from(range.end).unwrap())
        }
        other => panic!("{other:?}"),
    });
    ranges.collect()
}

#[test]
fn every_flipped_bit_of_a_file_with_fletcher32_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.nc");
    create(&address(&file), Kind::Nc4, &fletcher(), |_| {});
    find_flips(&address(&file), &chunk_ranges(&address(&file), &file));
}

#[test]
fn every_flipped_bit_of_chunks_with_crc32c_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let tree = folder.path().join("a.zarr");
    let crc = CodecSpec::V2(serde_json::from_str(r#"{"id": "crc32c"}"#).unwrap());
    create(&address(&tree), Kind::Zarr3, &[crc], |_| {});
    let mut files = Vec::new();
    for entry in walk(&tree.join("v").join("c")) {
        let len = usize::try_from(std::fs::metadata(&entry).unwrap().len()).unwrap();
        files.push((entry, 0..len));
    }
    assert_eq!(files.len(), 12);
    find_flips(&address(&tree), &files);
}

fn walk(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(walk(&path)) } else { found.push(path) }
    }
    found.sort();
    found
}

#[cfg(feature = "zip")]
#[test]
fn every_flipped_bit_of_a_zip_file_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.zip");
    let url = format!("file://{}#mode=zarr,zip", address(&file));
    create(&url, Kind::Zarr2, &[], |_| {});
    let bytes = std::fs::read(&file).unwrap();
    // Entries are stored: each starts with a header of 30 bytes, the name, and extra fields.
    let mut ranges = Vec::new();
    let mut at = 0;
    let number = |at: usize, len: usize| {
        bytes[at..at + len].iter().rev().fold(0, |sum, byte| sum << 8 | usize::from(*byte))
    };
    while bytes[at..].starts_with(b"PK\x03\x04") {
        let start = at + 30 + number(at + 26, 2) + number(at + 28, 2);
        let name = String::from_utf8_lossy(&bytes[at + 30..at + 30 + number(at + 26, 2)]).into_owned();
        let end = start + number(at + 22, 4);
        if name.contains("v/") && !name.contains("/.z") && end > start {
            ranges.push((file.clone(), start..end));
        }
        at = end;
    }
    assert_eq!(ranges.len(), 12);
    find_flips(&url, &ranges);
}

/// A dataset of which one object is listed and cannot be had is not opened, or found not to be sound; chunks are never
/// read as if they did not exist.
fn is_found(url: &str, name: &str, what: &str) {
    let report = match check(url, &CheckOptions::new(), &session()) {
        Ok(report) => report,
        Err(error) => return assert_ne!(error.kind(), ErrorKind::Internal, "{what}: {error}"),
    };
    assert!(report.findings.iter().any(|finding| finding.severity == Severity::Error), "{what}: {report:?}");
    if name.ends_with(|letter: char| letter.is_ascii_digit()) {
        let dataset = Dataset::open_with(url, &OpenOptions::default(), &session()).unwrap();
        let variable = dataset.variable(if name.contains("v/") { "v" } else { "y" }).unwrap();
        assert!(variable.read::<f64>().is_err(), "{what}");
    }
}

#[cfg(feature = "zip")]
#[test]
fn every_entry_of_a_zip_file_that_cannot_be_read_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.zip");
    let url = format!("file://{}#mode=zarr,zip", address(&file));
    for kind in [Kind::Zarr2, Kind::Zarr3, Kind::NcZarr] {
        create(&url, kind, &[], |_| {});
        let bytes = std::fs::read(&file).unwrap();
        let headers: Vec<usize> =
            (0..bytes.len()).filter(|at| bytes[*at..].starts_with(b"PK\x01\x02")).collect();
        assert!(headers.len() > 12, "{headers:?}");
        for at in headers {
            let len = usize::from(u16::from_le_bytes([bytes[at + 28], bytes[at + 29]]));
            let name = String::from_utf8_lossy(&bytes[at + 46..at + 46 + len]).into_owned();
            // Encrypted; a method without a name; a version that is not there yet.
            for (field, value) in [(8, 1), (10, 98), (6, 70)] {
                let mut damaged = bytes.clone();
                damaged[at + field] = value;
                std::fs::write(&file, damaged).unwrap();
                if !name.ends_with('/') {
                    is_found(&url, &name, &format!("{kind:?}: {value} at {field} of the header of {name}"));
                }
            }
        }
    }
}

#[cfg(unix)]
#[test]
fn every_object_that_is_a_link_to_nothing_is_found() {
    let folder = tempfile::tempdir().unwrap();
    for (name, kind) in [("a", Kind::Zarr2), ("b", Kind::Zarr3), ("c", Kind::NcZarr)] {
        let url = address(&folder.path().join(name));
        create(&url, kind, &[], |_| {});
        for path in walk(Path::new(&url)) {
            let name = path.strip_prefix(&url).unwrap().to_str().unwrap().to_owned();
            // With consolidated metadata the other documents are not needed.
            if name.contains(".z") && !name.contains("zmetadata") || name.ends_with("/zarr.json") {
                continue;
            }
            let aside = folder.path().join("aside");
            std::fs::rename(&path, &aside).unwrap();
            std::os::unix::fs::symlink("nowhere", &path).unwrap();
            is_found(&url, &name, &name);
            std::fs::remove_file(&path).unwrap();
            std::fs::rename(&aside, &path).unwrap();
        }
    }
}

#[test]
fn digests_are_the_same_in_every_kind() {
    let folder = tempfile::tempdir().unwrap();
    let first = address(&folder.path().join("a.nc"));
    create(&first, Kind::Nc3, &[], |new| {
        new.root().add_dimension("len", DimensionLen::Fixed(4)).unwrap();
        let text = new.root().add_variable("name", Atomic::Char, &["len"]).unwrap();
        let short = new.root().add_variable("short", Atomic::Short, &["x"]).unwrap();
        text.write_values(&Selection::all(&[4]), &Values::Char(b"abcd".to_vec())).unwrap();
        short.write_all(&(0..50).map(|at| at * 257).collect::<Vec<i16>>()).unwrap();
    });
    let digests = |url: &str| {
        let mut digests = checked(url, &CheckOptions::new().digest(true)).digests;
        digests.sort_by(|one, other| one.path.cmp(&other.path));
        digests
    };
    let expected = digests(&first);
    assert_eq!(expected.len(), 4);
    assert!(expected.iter().all(|digest| digest.sha256.as_ref().is_some_and(|text| text.len() == 64)));
    let source = Dataset::open_with(&first, &OpenOptions::default(), &session()).unwrap();
    for (name, kind) in
        [("b.nc", Kind::Nc4), ("c.zarr", Kind::NcZarr), ("d.zarr", Kind::Zarr3), ("e.zarr", Kind::Zarr2)]
    {
        let target = address(&folder.path().join(name));
        let options = crate::CopyOptions::new().create(CreateOptions::new().kind(kind));
        crate::copy(&source, &target, &options, &session()).unwrap();
        assert_eq!(digests(&target), expected, "{name}");
    }
}

#[test]
fn the_digest_of_numbers_is_that_of_their_little_endian_bytes() {
    use sha2::Digest as _;
    let folder = tempfile::tempdir().unwrap();
    let file = address(&folder.path().join("a.nc"));
    create(&file, Kind::Nc4, &[], |_| {});
    let y: Vec<u8> = (0..40).flat_map(|at| f64::from(at).to_le_bytes()).collect();
    let expected: String = sha2::Sha256::digest(&y).iter().map(|byte| format!("{byte:02x}")).collect();
    let report = checked(&file, &CheckOptions::new().digest(true));
    let digest = report.digests.iter().find(|digest| digest.path == "/y").unwrap();
    assert_eq!(digest.sha256.as_deref(), Some(expected.as_str()));
}

#[test]
fn a_file_that_was_cut_off_is_reported_with_the_chunks_that_are_gone() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.nc");
    create(&address(&file), Kind::Nc3, &[], |_| {});
    let bytes = std::fs::read(&file).unwrap();
    std::fs::write(&file, &bytes[..bytes.len() - 100]).unwrap();
    let report = checked(&address(&file), &CheckOptions::new().quick(true));
    assert!(codes(&report).contains(&"outside-object"), "{report}");
    assert_eq!(report.bytes, 0);
}

#[test]
fn what_makes_many_chunks_unreadable_is_reported_once() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.nc");
    // More chunks than are located together.
    create(&address(&file), Kind::Nc4, &[], |new| {
        new.root().add_dimension("t", DimensionLen::Fixed(40_000)).unwrap();
        let w = new.root().add_variable("w", Atomic::Byte, &["t"]).unwrap();
        w.set_storage(Storage::Chunked(vec![1]), Vec::new()).unwrap();
        w.write_all(&[1i8; 40_000]).unwrap();
    });
    let bytes = std::fs::read(&file).unwrap();
    std::fs::write(&file, &bytes[..bytes.len() / 4]).unwrap();
    let report = checked(&address(&file), &CheckOptions::new());
    assert!(!report.is_sound());
    for (at, finding) in report.findings.iter().enumerate() {
        assert!(!report.findings[..at].contains(finding), "{report}");
    }
}

#[test]
fn absent_chunks_are_counted_and_listed_and_leave_a_dataset_sound() {
    let folder = tempfile::tempdir().unwrap();
    let tree = folder.path().join("a.zarr");
    create(&address(&tree), Kind::Zarr2, &[], |_| {});
    std::fs::remove_file(tree.join("v").join("1.2")).unwrap();
    let report = checked(&address(&tree), &CheckOptions::new().absent(true));
    assert!(report.is_sound(), "{report}");
    assert_eq!(report.absent, [AbsentChunks { path: "/v".to_owned(), count: 1, starts: vec![vec![16, 32]] }]);
    assert_eq!(codes(&report), ["chunks-absent"]);
    assert_eq!(report.chunks, 12);
}

#[test]
fn objects_that_belong_to_nothing_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let tree = folder.path().join("a.zarr");
    create(&address(&tree), Kind::Zarr2, &[], |_| {});
    std::fs::write(tree.join("v").join("7.7"), b"old").unwrap();
    std::fs::write(tree.join("notes.txt"), b"?").unwrap();
    let report = checked(&address(&tree), &CheckOptions::new());
    assert_eq!(codes(&report), ["object-unnamed", "object-unnamed"], "{report}");
    assert_eq!(report.findings[0].place, "notes.txt");
    assert!(!report.is_sound());
}

#[test]
fn consolidated_metadata_that_are_stale_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let tree = folder.path().join("a.zarr");
    create(&address(&tree), Kind::Zarr2, &[], |new| {
        new.variable("v").unwrap().set_attribute(Attribute::text("units", "K")).unwrap();
    });
    assert!(tree.join(".zmetadata").exists());
    let attributes = tree.join("v").join(".zattrs");
    let text = std::fs::read_to_string(&attributes).unwrap();
    std::fs::write(&attributes, text.replace("\"K\"", "\"degC\"")).unwrap();
    let report = checked(&address(&tree), &CheckOptions::new().quick(true));
    assert_eq!(codes(&report), ["consolidated-stale"], "{report}");
    assert_eq!(report.findings[0].severity, Severity::Error);
}

#[test]
fn the_fill_value_of_another_type_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let tree = folder.path().join("a.zarr");
    create(&address(&tree), Kind::Zarr2, &[], |_| {});
    let mut findings = Findings::default();
    let dataset = Dataset::open_with(&address(&tree), &OpenOptions::default(), &session()).unwrap();
    let mut model = (*dataset.model().unwrap()).clone();
    let v = model.variable_at("/v").unwrap();
    let fill = Attribute::atomic("_FillValue", Values::Int(vec![1]));
    model.variable_mut(v).unwrap().attributes.known_mut().push_distinct(fill);
    definitions::check(&dataset, &model, &mut findings).unwrap();
    assert_eq!(findings.list[0].code, FindingCode::FillType);
    assert_eq!(findings.list[0].place, "/v:_FillValue");
    let message = &findings.list[0].message;
    assert!(message.starts_with("the fill value is of type int, the variable of "), "{message}");
    assert!(!message.contains('('), "{message}");
}

#[test]
fn what_cf_asks_is_checked_when_it_is_requested() {
    let folder = tempfile::tempdir().unwrap();
    let file = address(&folder.path().join("a.nc"));
    create(&file, Kind::Nc4, &[], |new| {
        let v = new.variable("v").unwrap();
        let x = new.root().add_variable("x", Atomic::Int, &["x"]).unwrap();
        x.write_all(&[3; 50]).unwrap();
        v.set_attribute(Attribute::text("units", "furlongs per fortnightish")).unwrap();
        v.set_attribute(Attribute::text("coordinates", "y nowhere")).unwrap();
        v.set_attribute(Attribute::text("grid_mapping", "crs: y x")).unwrap();
        v.set_attribute(Attribute::atomic("valid_range", Values::Float(vec![2.0, 1.0]))).unwrap();
        let y = new.variable("y").unwrap();
        y.set_attribute(Attribute::text("calendar", "lunar")).unwrap();
        y.set_attribute(Attribute::text("units", "days since 2000-01-01")).unwrap();
    });
    assert!(checked(&file, &CheckOptions::new()).is_sound());
    let report = checked(&file, &CheckOptions::new().cf(true));
    let mut found = codes(&report);
    found.sort_unstable();
    let expected =
        ["cf-calendar", "cf-empty-range", "cf-not-monotonic", "cf-reference", "cf-reference", "cf-units"];
    assert_eq!(found, expected, "{report}");
    let quick = checked(&file, &CheckOptions::new().cf(true).quick(true));
    assert!(!codes(&quick).contains(&"cf-not-monotonic"));
}

#[test]
fn a_dataset_that_cannot_be_opened_is_a_finding_and_one_that_is_not_there_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.nc");
    create(&address(&file), Kind::Nc4, &[], |_| {});
    let bytes = std::fs::read(&file).unwrap();
    std::fs::write(&file, &bytes[..60]).unwrap();
    let report = checked(&address(&file), &CheckOptions::new());
    assert_eq!(codes(&report), ["dataset-unreadable"], "{report}");
    let error = check(&address(&folder.path().join("b.nc")), &CheckOptions::new(), &session()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
}

#[test]
fn a_whole_check_of_a_large_variable_stays_within_blocks() {
    let folder = tempfile::tempdir().unwrap();
    let file = address(&folder.path().join("a.nc"));
    create(&file, Kind::Nc4, &[], |_| {});
    let small = Session::builder().memory(4 << 10).build().unwrap();
    let seen = std::sync::Mutex::new(Vec::new());
    let show = |progress: CheckProgress<'_>| seen.lock().unwrap().push(progress.done);
    let report = check(&file, &CheckOptions::new().progress(&show), &small).unwrap();
    assert!(report.is_sound(), "{report}");
    assert_eq!(report.bytes, 2000 * 4 + 40 * 8);
    assert!(seen.lock().unwrap().len() > 12, "blocks of at most 512 bytes");
}

#[test]
fn codes_are_all_different_and_the_schema_lists_them() {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/check.schema.json"))
        .unwrap();
    let schema: serde_json::Value = serde_json::from_str(&text).unwrap();
    let listed: Vec<&str> =
        schema["$defs"]["code"]["enum"].as_array().unwrap().iter().filter_map(|name| name.as_str()).collect();
    let names: Vec<&str> = FindingCode::ALL.iter().map(|code| code.name()).collect();
    assert_eq!(listed, names);
    let page =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/checking.md")).unwrap();
    for name in names {
        assert!(page.contains(&format!("`{name}`")), "docs/checking.md lacks {name}");
    }
}

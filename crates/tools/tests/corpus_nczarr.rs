//! The NCZarr corpus: every case opens, its values are those that zarr-python reads, and its CDL is that of the text
//! from which it was made, of the netCDF-C that wrote it and of the newest one, or the table of exceptions gives the
//! reason; damaged cases fail as they should, and mutated ones never cause a panic.
#![expect(clippy::unwrap_used, reason = "helpers of tests may panic")]

use crate::corpus::text::{Sources, same_as_reference, same_as_twin};
use crate::corpus::values;
use crate::support::{Exceptions, Tally, json, open, session};
use ncirrus::ErrorKind;
use ncirrus_testkit::corpus::corpus;
use serde_json::Value;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

/// One case of the manifest.
pub(crate) struct Case {
    pub(crate) id: String,
    dialect: String,
    writer: String,
    pub(crate) path: PathBuf,
    expected: PathBuf,
    source: Option<PathBuf>,
}

impl Case {
    fn new(root: &Path, case: &Value) -> Self {
        let text = |key: &str| case[key].as_str().unwrap().to_owned();
        Self {
            id: text("id"),
            dialect: text("dialect"),
            writer: text("writer"),
            path: root.join(text("path")),
            expected: root.join(text("expected_dir")),
            source: case["source_cdl"].as_str().map(|source| root.join(source)),
        }
    }

    /// Whether the newest netCDF-C supports the dialect: it reads the first ones as plain Zarr (docs/spec/nczarr.md
    /// 2.3).
    fn is_known_to_reference(&self) -> bool {
        let before = ["nczarr-v1", "nczarr-v2-uppercase"].iter().any(|start| self.dialect.starts_with(start));
        !before && !self.id.starts_with("zipmap-4.8") && self.id != "nczarr_test/ref_oldformat-zip"
    }

    fn is_no_dataset(&self) -> bool {
        self.dialect == "not zarr"
    }

    fn is_plain(&self) -> bool {
        self.dialect.starts_with("pure") || self.id.ends_with("-zarr")
    }

    /// The text whose contents an NCZarr dataset holds completely; plain Zarr loses some (docs/spec/nczarr.md 5.5).
    fn source(&self) -> Option<&Path> {
        self.source.as_deref().filter(|_| !self.is_plain())
    }

    /// The text whose characters a plain Zarr dataset holds as bytes (docs/spec/nczarr.md 3.12).
    fn plain_source(&self) -> Option<&Path> {
        self.source.as_deref().filter(|_| self.id.starts_with("pure-by-netcdf-4.9.0/"))
    }

    /// The same dataset in Zarr v2, for one in v3.
    fn twin(&self, cases: &[Case]) -> Option<PathBuf> {
        // These two differ on purpose.
        let differs = ["zarr-python-v3/codecs", "zarr-python-v3/layout"].contains(&self.id.as_str());
        let id = Some(self.id.replace("-v3/", "-v2/")).filter(|id| !differs && *id != self.id)?;
        Some(cases.iter().find(|case| case.id == id)?.path.clone())
    }

    /// The dump of an NCZarr dataset by the version of netCDF-C that wrote it.
    fn writers_dump(&self) -> Option<PathBuf> {
        let version = self.writer.strip_prefix("netcdf-c ")?.split(' ').next()?;
        let dump = self.expected.join(format!("{version}.cdl"));
        Some(dump).filter(|dump| !self.is_plain() && version != "4.10.1" && dump.exists())
    }
}

/// All cases; `None` if the corpus is not installed.
pub(crate) fn cases() -> Option<Vec<Case>> {
    let root = corpus("nczarr")?;
    let manifest = json(&root.join("manifest.json"));
    Some(manifest["cases"].as_array().unwrap().iter().map(|case| Case::new(&root, case)).collect())
}

type Check = (String, Result<(), String>);

#[test]
fn every_case_reads_as_the_specification_says() {
    let Some(cases) = cases() else { return };
    let exceptions = Exceptions::load("nczarr_exceptions.tsv");
    let (session, mut sources, mut tally) = (session(), Sources::default(), Tally::default());
    for case in &cases {
        let outcome = catch_unwind(AssertUnwindSafe(|| checks(case, &cases, &session, &mut sources)));
        let checks = outcome.unwrap_or_else(|_| vec![("panic".to_owned(), Err("it panicked".to_owned()))]);
        for (check, outcome) in checks {
            tally.record(&exceptions, &case.id, &check, outcome);
        }
    }
    tally.finish("corpus nczarr", &exceptions);
}

fn checks(case: &Case, cases: &[Case], session: &ncirrus::Session, sources: &mut Sources) -> Vec<Check> {
    let dataset = match open(&case.path, session) {
        Ok(_) if case.is_no_dataset() => return vec![("refused".to_owned(), Err("it opens".to_owned()))],
        Err(error) if case.is_no_dataset() && error.kind() == ErrorKind::Malformed => {
            return vec![("refused".to_owned(), Ok(()))];
        }
        Ok(dataset) => dataset,
        Err(error) => return vec![("open".to_owned(), Err(error.to_string()))],
    };
    let mut checks: Vec<Check> = vec![("open".to_owned(), Ok(()))];
    checks.extend(values::checks(&dataset, &case.expected));
    if let Some(outcome) = case.source().and_then(|source| sources.same(&dataset, source)) {
        checks.push(("source".to_owned(), outcome));
    }
    if let Some(outcome) = case.plain_source().and_then(|source| sources.same_chars(&dataset, source)) {
        checks.push(("chars".to_owned(), outcome));
    }
    if let Some(twin) = case.twin(cases) {
        checks.push(("twin".to_owned(), same_as_twin(&dataset, &open(&twin, session).unwrap())));
    }
    if let Some(dump) = case.writers_dump() {
        checks.push(("writer".to_owned(), same_as_reference(&dataset, &dump, false)));
    }
    for (check, file, special) in [("cdl", "4.10.1.cdl", false), ("special", "4.10.1.special.cdl", true)] {
        let file = case.expected.join(file);
        if case.is_known_to_reference() && file.exists() {
            checks.push((check.to_owned(), same_as_reference(&dataset, &file, special)));
        }
    }
    checks
}

/// A zlib frame around uncompressed bytes.
const ABCD_IN_ZLIB: [u8; 15] = [0x78, 1, 1, 4, 0, 0xfb, 0xff, b'a', b'b', b'c', b'd', 0x03, 0xd8, 0x01, 0x8b];

#[test]
fn compressed_chunks_show_that_a_cell_is_one_byte() {
    let folder = tempfile::tempdir().unwrap();
    let array = folder.path().join("a.zarr/c");
    std::fs::create_dir_all(&array).unwrap();
    std::fs::write(folder.path().join("a.zarr/.zgroup"), r#"{"zarr_format": 2}"#).unwrap();
    let metadata = r#"{"zarr_format": 2, "shape": [4], "dtype": "<U1", "chunks": [4], "fill_value": "", "order": "C",
        "compressor": {"id": "zlib", "level": 1}, "filters": null}"#;
    std::fs::write(array.join(".zarray"), metadata).unwrap();
    std::fs::write(array.join("0"), ABCD_IN_ZLIB).unwrap();
    let dataset = open(&folder.path().join("a.zarr"), &session()).unwrap();
    let values = crate::support::values(&dataset.variable("c").unwrap()).unwrap();
    assert_eq!(values, ncirrus::Values::Char(b"abcd".to_vec()));
}

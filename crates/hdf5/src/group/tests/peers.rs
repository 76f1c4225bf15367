//! Files with many kinds of links, made by h5py, compared with what h5py reads.
use crate::checksum::lookup3;
use crate::group::{LinkTarget, links, lookup};
use crate::object::ObjectRef;
use crate::superblock::load;
use crate::testing::{KEY, done, view};
use bytes::Bytes;
use flate2::read::ZlibDecoder;
use ncirrus_layout::{Error, Limits, Listing, Memo, ObjectBytes, ObjectId, Step, VariableRef, View, Want};
use ncirrus_model::{CodecSpec, Selection, Values};
use ncirrus_testkit::corpus::peers_python;
use ncirrus_testkit::{MemoryView, ObjectView};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::Read;
use std::ops::Range;
use std::process::Command;
use std::sync::Arc;

const SCRIPT: &str = include_str!("peers.py");

#[test]
fn links_are_those_that_h5py_wrote() {
    let Some(python) = peers_python() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let equal = equal_hashes();
    let mut command = Command::new(python);
    command.args(["-c", SCRIPT]).arg(folder.path()).args(&equal);
    let output = command.output().expect("Python runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let truth: Value = serde_json::from_slice(&output.stdout).expect("a JSON document");
    let files = truth.as_object().expect("files");
    assert_eq!(files.len(), 9);
    for (name, groups) in files {
        let bytes = std::fs::read(folder.path().join(name)).expect("a file");
        let view = InflatingView(view(bytes));
        let file = done(load(&view, &ObjectView::id(KEY))).expect("a file");
        let root = ObjectRef { addr: file.root, file: Arc::clone(&file) };
        for (path, expected) in groups.as_object().expect("groups") {
            let group =
                done(lookup(&view, &root, path)).unwrap_or_else(|error| panic!("{name} {path}: {error}"));
            let links = done(links(&view, &group)).unwrap_or_else(|error| panic!("{name} {path}: {error}"));
            assert!(links.losses.is_empty(), "{name} {path}: {:?}", links.losses);
            let found: Vec<Value> = links
                .list
                .iter()
                .map(|link| match &link.target {
                    LinkTarget::Hard(addr) => json!([link.name, "hard", addr.0]),
                    LinkTarget::Soft(to) => json!([link.name, "soft", to]),
                    LinkTarget::External { file, path } => json!([link.name, "external", [file, path]]),
                    LinkTarget::Unknown(kind) => json!([link.name, "unknown", kind]),
                })
                .collect();
            assert!(&json!(found) == expected, "{name} {path}: {} links", found.len());
        }
        let both: Vec<_> = equal
            .iter()
            .map(|equal| done(links(&view, &root)).expect("links").find(equal).cloned())
            .collect();
        assert_eq!(both.iter().all(Option::is_some), name == "equal.h5", "{name}");
    }
}

/// Two names of one hash.
fn equal_hashes() -> [String; 2] {
    let mut seen = HashMap::new();
    (0..u32::MAX)
        .find_map(|number| {
            let name = format!("equal {number}");
            let other = seen.insert(lookup3(name.as_bytes()), name.clone())?;
            Some([other, name])
        })
        .expect("two of them")
}

/// A view that decodes deflate.
struct InflatingView(MemoryView);

impl View for InflatingView {
    fn read(&self, object: &ObjectId, want: Want) -> Step<Option<ObjectBytes>> {
        self.0.read(object, want)
    }

    fn decoded(
        &self,
        object: &ObjectId,
        range: Range<u64>,
        codecs: &[CodecSpec],
        mask: u32,
        len: u64,
    ) -> Step<Bytes> {
        assert_eq!(codecs.iter().map(CodecSpec::identifier).collect::<Vec<_>>(), ["1"], "deflate");
        let blob = self.0.read(object, Want::Range(range))?.expect("an object");
        if mask & 1 != 0 {
            return Ok(blob.bytes);
        }
        let mut decoded = Vec::new();
        let read = ZlibDecoder::new(blob.bytes.as_ref()).read_to_end(&mut decoded);
        match read {
            Ok(read) if read as u64 == len => Ok(decoded.into()),
            other => Err(Error::malformed(format!("{other:?} instead of {len} bytes")).into()),
        }
    }

    fn values(&self, variable: &VariableRef, selection: &Selection) -> Step<Values> {
        self.0.values(variable, selection)
    }

    fn list(&self, prefix: &ObjectId, page: Option<&str>) -> Step<Listing> {
        self.0.list(prefix, page)
    }

    fn release(&self, object: &ObjectId, end: u64) {
        self.0.release(object, end);
    }

    fn memo(&self) -> &Memo {
        self.0.memo()
    }

    fn limits(&self) -> &Limits {
        self.0.limits()
    }
}

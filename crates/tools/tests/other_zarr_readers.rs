//! Copies of the corpus of Zarr v3, read by zarr-python, its pipeline zarrs, and TensorStore: what a reader reads of the source, it
//! reads of the copy.

use crate::support::session;
use ncirrus::{CreateOptions, Dataset, Dialect, Kind, OpenOptions, PackedArrays};
use ncirrus_testkit::corpus::{corpus, peers_python};
use ncirrus_tools::{CopyOptions, copy};
use std::process::Command;

/// Prints a line for each array that a reader reads otherwise, and at the end how many each reader has read.
const COMPARE: &str = r#"
import sys, json, pathlib, warnings
import numpy as np
warnings.simplefilter("ignore")
import zarr
zarr.config.set({"array.rectilinear_chunks": True})

def by_zarr(path):
    with zarr.config.set({"codec_pipeline.path": "zarr.core.codec_pipeline.BatchedCodecPipeline"}):
        return zarr.open_array(str(path), mode="r")[...]

readers = {"zarr": by_zarr}
try:
    import zarrs
    def by_zarrs(path):
        with zarr.config.set({"codec_pipeline.path": "zarrs.ZarrsCodecPipeline"}):
            return zarr.open_array(str(path), mode="r")[...]
    readers["zarrs"] = by_zarrs
except ImportError: pass
try:
    import tensorstore
    def by_tensorstore(path):
        spec = {"driver": "zarr3", "kvstore": {"driver": "file", "path": f"{path}/"}}
        return tensorstore.open(spec).result().read().result()
    readers["tensorstore"] = by_tensorstore
except ImportError: pass

def same(one, other):
    one, other = np.asarray(one), np.asarray(other)
    if one.shape != other.shape or one.dtype != other.dtype: return False
    if one.dtype.hasobject or one.dtype.kind in "UT": return one.tolist() == other.tolist()
    return np.ascontiguousarray(one).tobytes() == np.ascontiguousarray(other).tobytes()

counts = dict.fromkeys(readers, 0)
for source, copy in json.loads(pathlib.Path(sys.argv[1]).read_text()):
    source, copy = pathlib.Path(source), pathlib.Path(copy)
    for document in sorted(source.rglob("zarr.json")):
        if json.loads(document.read_text())["node_type"] != "array": continue
        inner = document.parent.relative_to(source)
        target = copy / inner
        # An array at the root is in a group of the copy.
        if json.loads((target / "zarr.json").read_text())["node_type"] != "array": continue
        # Structures in structures are stored as bytes (docs/formats/zarr-writing.md).
        if (source.parent.name, inner.name) == ("types-struct", "struct2"): continue
        for name, read in readers.items():
            try: due = read(document.parent)
            except Exception: continue
            try: found = read(target)
            except Exception as error: print(name, source.parent.name, inner, type(error).__name__, str(error)[:200]); continue
            counts[name] += 1
            if not same(due, found): print(name, source.parent.name, inner, "differs:", np.asarray(due).dtype, np.asarray(found).dtype)
print(json.dumps(counts), file=sys.stderr)
"#;

#[test]
fn what_readers_read_of_the_corpus_they_read_of_its_copies() {
    let (Some(python), Some(root)) = (peers_python(), corpus("zarr3")) else { return };
    let (session, folder) = (session(), tempfile::tempdir().unwrap());
    let mut pairs = Vec::new();
    for entry in std::fs::read_dir(&root).unwrap() {
        let store = entry.unwrap().path().join("store.zarr");
        let name = store.parent().unwrap().file_name().unwrap().to_str().unwrap().to_owned();
        if !store.join("zarr.json").exists() {
            continue;
        }
        let options = OpenOptions::new().packed(PackedArrays::Stored);
        let Ok(source) = Dataset::open_with(store.to_str().unwrap(), &options, &session) else { continue };
        let to = folder.path().join(&name);
        let create = CreateOptions::new().kind(Kind::Zarr3).dialect(Some(Dialect::Plain));
        copy(&source, to.to_str().unwrap(), &CopyOptions::new().create(create), &session)
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        pairs.push((store, to));
    }
    assert!(pairs.len() > 20, "{} stores", pairs.len());
    let list = folder.path().join("pairs.json");
    std::fs::write(&list, serde_json::to_vec(&pairs).unwrap()).unwrap();
    let output = Command::new(python).args(["-c", COMPARE]).arg(&list).output().unwrap();
    let (wrong, counts) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{counts}");
    assert!(wrong.is_empty(), "{counts}{wrong}");
}

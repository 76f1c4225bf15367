//! Every dataset of the corpus: shape, layout, filters and table of chunks.
use super::super::{ElementLayout, dataset, layout};
use super::reading::chunks;
use crate::group::{LinkTarget, links};
use crate::object::{ObjectRef, header, kind};
use crate::superblock::load;
use crate::testing::done;
use ncirrus_layout::Layout;
use ncirrus_model::CodecSpec;
use ncirrus_testkit::{MemoryView, ObjectView, corpus};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::Path;

/// The library lists the chunks of extensible arrays wrongly when the unlimited dimension is not the first.
const WRONG_LISTING: &str = "gen/idx_earray_2nd.h5";

/// All datasets of a file by path.
fn datasets(view: &MemoryView, root: ObjectRef) -> BTreeMap<String, ObjectRef> {
    let mut found = BTreeMap::new();
    let mut stack = vec![(String::new(), root, Vec::new())];
    while let Some((path, object, mut above)) = stack.pop() {
        let Ok(parsed) = done(header(view, &object)) else { continue };
        if parsed.find(kind::LAYOUT).is_some() {
            found.insert(path, object);
        } else if !above.contains(&object.addr) {
            above.push(object.addr);
            let Ok(links) = done(links(view, &object)) else { continue };
            for link in &links.list {
                if let LinkTarget::Hard(addr) = link.target {
                    let target = ObjectRef { file: object.file.clone(), addr };
                    stack.push((format!("{path}/{}", link.name), target, above.clone()));
                }
            }
        }
    }
    found
}

/// The expected description of a dataset, in the notation of the reference data.
fn describe(view: &MemoryView, object: &ObjectRef) -> ncirrus_layout::Result<Value> {
    let dataset = done(dataset(view, object))?;
    let (layout_name, chunk) = match &dataset.arrangement {
        ElementLayout::Compact(_) => ("compact", None),
        ElementLayout::Contiguous { .. } | ElementLayout::External(_) => ("contiguous", None),
        ElementLayout::Chunked { shape, .. } => ("chunked", Some(shape.clone())),
        ElementLayout::Virtual { .. } => ("virtual", None),
    };
    let id = |filter: &CodecSpec| filter.identifier().parse::<u32>().unwrap();
    let filters: Vec<u32> = dataset.filters.iter().map(id).collect();
    let mut said = json!({"shape": dataset.space.dims(), "layout": layout_name, "filters": filters});
    if let Some(chunk) = chunk {
        said["chunk"] = json!(chunk);
        if let Some(table) = chunks(view, object, &dataset, &chunk)? {
            said["nchunks"] = json!(table.len());
            said["cl"] = json!(table.iter().take(3).collect::<Vec<_>>());
            said["csha"] = json!(short_digest(serde_json::to_string(&table).unwrap().as_bytes()));
        }
    }
    if let (ElementLayout::Contiguous { .. }, Ok(Layout::Affine { extents, .. })) =
        (&dataset.arrangement, done(layout(view, object, &dataset)))
    {
        said["offset"] = extents.first().map_or(Value::Null, |extent| json!(extent.offset));
    }
    Ok(said)
}

fn short_digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

fn check_file(root: &Path, path: &str, differences: &mut Vec<String>) -> usize {
    let truth = root.join("truth").join(format!("{}.json", path.replace('/', "__")));
    let Ok(truth) = std::fs::read(truth) else { return 0 };
    let truth: Value = serde_json::from_slice(&truth).unwrap();
    let view = MemoryView::new(ObjectView::one(path, std::fs::read(root.join(path)).unwrap()));
    let Ok(file) = done(load(&view, &ObjectView::id(path))) else { return 0 };
    let addr = file.root;
    let found = datasets(&view, ObjectRef { file, addr });
    let expected = truth["objs"].as_object().cloned().unwrap_or_default();
    let mut compared = 0;
    for (name, wanted) in expected.iter().filter(|(_, wanted)| wanted["kind"] == "dataset") {
        let Some(object) = found.get(name) else {
            differences.push(format!("{path} {name}: not found"));
            continue;
        };
        match describe(&view, object) {
            Ok(said) => {
                let keys = ["shape", "layout", "filters", "chunk", "nchunks", "cl", "csha", "offset"];
                let is_known = |key: &str| !(path == WRONG_LISTING && key.starts_with('c'));
                let is_said = |key: &str| !(wanted[key].is_null() || said[key].is_null());
                for key in keys.into_iter().filter(|key| is_known(key) && is_said(key)) {
                    if said[key] != wanted[key] {
                        let (said, wanted) = (&said[key], &wanted[key]);
                        differences.push(format!("{path} {name}: {key} is {said}, not {wanted}"));
                    }
                }
                compared += 1;
            }
            Err(error) => differences.push(format!("{path} {name}: {error:?}")),
        }
    }
    compared
}

#[test]
fn datasets_of_real_files_are_described_as_the_library_describes_them() {
    let Some(root) = corpus::corpus("hdf5") else { return };
    let manifest = std::fs::read(root.join("manifest.json")).unwrap();
    let manifest: Value = serde_json::from_slice(&manifest).unwrap();
    let mut differences = Vec::new();
    let mut compared = 0;
    for case in manifest.as_array().unwrap() {
        if let Some(path) = case["path"].as_str() {
            compared += check_file(&root, path, &mut differences);
        }
    }
    assert!(differences.is_empty(), "{} differences:\n{}", differences.len(), differences.join("\n"));
    assert!(compared > 3000, "only {compared} datasets were compared");
}

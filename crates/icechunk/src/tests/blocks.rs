//! Manifests that are read in blocks: the same chunks as of manifests that are read whole, and little of them in memory.
use super::corpus::objects;
use crate::IcechunkDriver;
use crate::envelope::{self, ArrivingFile, FileBody, FileKind};
use ncirrus_layout::{CellList, Driver, ErrorKind, Layout, Limits, OpenOptions, Result};
use ncirrus_testkit::{ObjectView, StallingView, drive, law};
use proptest::prelude::*;

const BLOCK: u64 = 1000;
const AT_ONCE: u64 = 3;

fn in_blocks() -> IcechunkDriver {
    IcechunkDriver::default().reading_in_blocks(100, BLOCK, AT_ONCE)
}

/// Where the chunks along the diagonals of all variables are.
fn located(driver: &IcechunkDriver, view: &StallingView) -> Result<Vec<String>> {
    let root = ObjectView::id("repo");
    let catalog = drive(view, |view| driver.open(view, &root, &OpenOptions::default()))?;
    let model = drive(view, |view| catalog.tree(view))?;
    let mut found = Vec::new();
    for variable in model.variables() {
        let source = drive(view, |view| catalog.source(view, variable))?;
        let Layout::Grid { index, .. } = &source.layout else { continue };
        let rank = source.extent.len();
        let mut cells = CellList::one(&vec![0; rank]);
        (1..100).filter(|_| rank > 0).for_each(|number| cells.push(&vec![number; rank]));
        let chunks = drive(view, |view| index.locate(view, &cells))?;
        found.extend(chunks.iter().map(|chunk| format!("{:?}", chunk.location)));
    }
    Ok(found)
}

#[test]
fn chunks_are_the_same_in_blocks() {
    for case in ["many-chunks", "manifests-split", "single-v2", "history-v1", "http-nc3-v1", "http-named"] {
        let Some(objects) = objects(case) else { return };
        let (whole, blocks) = (StallingView::new(objects.clone()), StallingView::new(objects.clone()));
        let expected = located(&IcechunkDriver::default(), &whole).unwrap();
        assert_eq!(located(&in_blocks(), &blocks).unwrap(), expected, "{case}");
        assert!(expected.iter().any(|place| place != "Absent"), "{case}");
        // Nothing of them is left.
        let mut manifests = objects.keys().filter(|key| key.contains("/manifests/"));
        assert!(manifests.all(|key| blocks.held_bytes(key) == 0), "{case}");
        let found = law::availability(&in_blocks(), &objects, "repo", 3);
        assert!(found.contains("probe Ok(\"Yes\")") && !found.contains("open Err"), "{case}: {found}");
    }
}

#[test]
fn a_few_blocks_are_requested_at_the_same_time() {
    let Some(objects) = objects("many-chunks") else { return };
    let view = StallingView::new(objects.clone());
    located(&in_blocks(), &view).unwrap();
    let of_manifest = |key: &str| key.contains("/manifests/");
    let size = objects.keys().find(|key| of_manifest(key)).and_then(|key| objects.find(key)).unwrap().len();
    let requests = view.requests().iter().filter(|(key, _)| of_manifest(key)).count() as u64;
    assert_eq!(requests, (size as u64).div_ceil(BLOCK));
    // Two rounds for opening.
    assert_eq!(view.rounds() as u64, 2 + requests.div_ceil(AT_ONCE));
}

#[test]
fn a_manifest_that_is_cut_short_or_longer_than_stated_is_noticed() {
    let Some(objects) = objects("many-chunks") else { return };
    let key = objects.keys().find(|key| key.contains("/manifests/")).unwrap().to_owned();
    let body = objects.find(&key).unwrap().clone();
    for len in [0, 20, 39, 40, 999, 1000, 1001, body.len() - 1] {
        let mut cut = objects.clone();
        cut.put(&key, body.slice(..len));
        let error = located(&in_blocks(), &StallingView::new(cut)).unwrap_err();
        assert!(error.kind() == ErrorKind::Malformed && error.to_string().contains(&key), "{len}: {error}");
    }
    // What follows the frame is ignored, as in a manifest that is read whole.
    let mut longer = objects.clone();
    longer.put(&key, [body.as_ref(), &[0; 5000]].concat());
    let expected = located(&IcechunkDriver::default(), &StallingView::new(objects.clone())).unwrap();
    assert_eq!(located(&in_blocks(), &StallingView::new(longer)).unwrap(), expected);
    let mut absent = ObjectView::new();
    for other in objects.keys().filter(|other| *other != key) {
        absent.put(other, objects.find(other).unwrap().clone());
    }
    let error = located(&in_blocks(), &StallingView::new(absent)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound, "{error}");
}

#[test]
fn manifests_of_one_read_are_limited_together() {
    let Some(objects) = objects("many-chunks") else { return };
    let view = StallingView::new(objects).with_limits(Limits { metadata_bytes: 20_000, ..Limits::default() });
    let error = located(&in_blocks(), &view).unwrap_err();
    assert!(error.kind() == ErrorKind::Limit && error.message().contains("the manifests"), "{error}");
}

/// A file of that content, compressed or not.
fn file_of(content: &[u8], is_compressed: bool) -> Vec<u8> {
    let mut file = envelope::MAGIC.to_vec();
    file.extend_from_slice(b"ic-2.3.0                ");
    file.extend_from_slice(&[2, FileKind::Manifest as u8, u8::from(is_compressed)]);
    if is_compressed {
        let mut body = vec![0u8; zstd_safe::compress_bound(content.len())];
        let size = zstd_safe::compress(body.as_mut_slice(), content, 3).unwrap();
        file.extend_from_slice(&body[..size]);
    } else {
        file.extend_from_slice(content);
    }
    file
}

fn content_of(body: FileBody) -> Vec<u8> {
    match body {
        FileBody::Whole(body) => body.to_vec(),
        FileBody::Paged(pages) => {
            let mut content = vec![0; pages.len()];
            pages.copy(0, &mut content).unwrap().unwrap();
            content
        }
    }
}

/// The content of a file that arrives in parts.
fn arrived(file: &[u8], part: usize, limits: &Limits) -> Result<Vec<u8>> {
    let mut arriving = ArrivingFile::new(FileKind::Manifest, file.len() as u64, limits)?;
    for part in file.chunks(part) {
        arriving.add(arriving.arrived(), part)?;
    }
    assert_eq!(arriving.arrived(), arriving.size());
    arriving.finish().map(content_of)
}

#[test]
fn pages_take_no_more_memory_than_the_file_justifies() {
    // Blocks that repeat far apart: the file is small, and pages alone cannot be compressed.
    let mut state = 1u64;
    let random = |_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state.to_be_bytes()[0]
    };
    let block: Vec<u8> = (0..128 << 10).map(random).collect();
    let content = block.repeat((48 << 20) / block.len());
    let file = file_of(&content, true);
    assert!(file.len() < 1 << 20, "{}", file.len());
    let error = arrived(&file, 1 << 16, &Limits::default()).unwrap_err();
    assert!(error.kind() == ErrorKind::Limit && error.message().contains("33554432 bytes"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn content_does_not_depend_on_how_a_file_arrives(
        len in 0usize..400_000, period in 1usize..5000, part in 39usize..300_000, is_compressed: bool, cut in 1usize..500,
    ) {
        let content: Vec<u8> = (0..len).map(|at| u8::try_from((at % period) % 251).unwrap()).collect();
        let file = file_of(&content, is_compressed);
        prop_assert_eq!(arrived(&file, part, &Limits::default()).unwrap(), content);
        // A frame shows its end; content that is not compressed does not.
        if is_compressed && file.len() > cut + 39 {
            prop_assert!(arrived(&file[..file.len() - cut], part, &Limits::default()).is_err());
        }
        let limits = Limits { metadata_bytes: file.len() as u64 - 1, ..Limits::default() };
        prop_assert_eq!(arrived(&file, part, &limits).unwrap_err().kind(), ErrorKind::Limit);
    }
}

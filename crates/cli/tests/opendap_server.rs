//! Datasets of a server of OPeNDAP that serves what this program reads: values, requests, and what other programs read
//! from it.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test")]
use ncirrus::{Atomic, AxisSelection, Dataset, OpenOptions, Selection, Session, TypeRef, VarId};
use ncirrus_testkit::corpus::{corpus, program};
use ncirrus_testkit::dap_server::{DapBehaviour, DapServer, ServedDataset, crc32};
use std::path::{Path, PathBuf};
use std::time::Duration;

pub(crate) fn served(path: &Path) -> ServedDataset {
    let dataset = Dataset::open(path.to_str().unwrap()).unwrap();
    let model = dataset.model().unwrap();
    let read = move |id: VarId, selection: &Selection| {
        dataset.read_many(&[(id, selection.clone())]).map(|mut values| values.remove(0))
    };
    ServedDataset { model, read: Box::new(read) }
}

pub(crate) fn fixtures() -> Vec<PathBuf> {
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/sst.nc");
    let mut all = vec![PathBuf::from(example)];
    if let Some(folder) = corpus("dap") {
        all.extend(["src_groups.nc", "src_types3b.nc", "src_types4.nc"].map(|name| folder.join(name)));
    }
    all
}

pub(crate) fn name(path: &Path) -> String {
    path.file_name().unwrap().to_str().unwrap().to_owned()
}

pub(crate) fn start(paths: &[PathBuf], behaviour: DapBehaviour) -> DapServer {
    DapServer::start(paths.iter().map(|path| (name(path), served(path))), behaviour)
}

/// Numbers between 0 and a limit, the same in each run.
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit.max(1)
    }

    pub(crate) fn selection(&mut self, shape: &[u64]) -> Selection {
        let axes = shape.iter().map(|len| {
            if *len == 0 {
                return AxisSelection::Slice { start: 0, count: 0, stride: 1 };
            }
            let (start, stride) = (self.below(*len), 1 + self.below(3));
            let max = (len - start).div_ceil(stride);
            AxisSelection::Slice { start, count: 1 + self.below(max), stride }
        });
        Selection::new(axes.collect())
    }
}

/// Compares what both protocols give with the source: whole variables and parts.
fn compare(server: &DapServer, path: &Path, mode: &str) -> usize {
    let session = Session::new().unwrap();
    let source = Dataset::open(path.to_str().unwrap()).unwrap();
    let address = format!("{}#{mode}", server.url(&name(path)));
    let far = Dataset::open_with(&address, &OpenOptions::default(), &session).unwrap();
    let (ours, theirs) = (source.model().unwrap(), far.model().unwrap());
    let (mut numbers, mut compared) = (Numbers(7), 0);
    for id in ours.variables() {
        let path = ours.variable_path(id);
        let ty = ours.variable(id).unwrap().ty;
        let is_folded = matches!(ty, TypeRef::Atomic(Atomic::Char | Atomic::Int64 | Atomic::UInt64));
        let Some(other) = theirs.variable_at(&path).filter(|_| mode == "dap4" || !is_folded) else {
            continue;
        };
        assert_eq!(theirs.variable(other).unwrap().ty, ty, "{path}");
        let shape = ours.shape(id);
        assert_eq!(theirs.shape(other), shape, "{path}");
        for turn in 0..8 {
            let selection = if turn == 0 { Selection::all(&shape) } else { numbers.selection(&shape) };
            let expected = source.read_many(&[(id, selection.clone())]).unwrap().remove(0);
            let found = far.read_many(&[(other, selection.clone())]).unwrap().remove(0);
            assert!(found.is_identical(&expected), "{address} {path} {selection:?}: {found:?} {expected:?}");
        }
        compared += 1;
    }
    compared
}

#[test]
fn what_is_served_reads_equal_by_both_protocols() {
    let behaviours = [
        DapBehaviour::default(),
        DapBehaviour { big_endian: true, chunk_len: 7, ..DapBehaviour::default() },
        DapBehaviour { no_checksums: true, chunk_len: 1, ..DapBehaviour::default() },
        DapBehaviour { raw_brackets: true, ..DapBehaviour::default() },
    ];
    let fixtures = fixtures();
    let mut compared = 0;
    for behaviour in behaviours {
        let server = start(&fixtures, behaviour);
        for path in &fixtures {
            compared += compare(&server, path, "dap4") + compare(&server, path, "dap2");
        }
    }
    eprintln!("{compared} variables compared");
    assert!(compared >= 32, "{compared}");
}

fn example(behaviour: DapBehaviour) -> (DapServer, Dataset, VarId) {
    let fixtures = [fixtures().remove(0)];
    let server = start(&fixtures, behaviour);
    let session = Session::builder().chunk_cache(0).build().unwrap();
    let address = format!("{}#dap2", server.url("sst.nc"));
    let dataset = Dataset::open_with(&address, &OpenOptions::default(), &session).unwrap();
    let id = dataset.model().unwrap().variable_at("/sst").unwrap();
    assert_eq!(server.take_requests().len(), 2, "opening");
    (server, dataset, id)
}

#[test]
fn reads_take_the_requests_that_they_should() {
    let (server, dataset, id) = example(DapBehaviour::default());
    let series = Selection::slab(&[0, 3, 4], &[12, 1, 1]);
    dataset.read_many(&[(id, series)]).unwrap();
    assert_eq!(server.take_requests(), ["sst.nc.dods?sst%5B0:11%5D%5B3%5D%5B4%5D"]);
    dataset.read_many(&[(id, Selection::slab(&[0, 0, 0], &[0, 1, 1]))]).unwrap();
    assert!(server.take_requests().is_empty(), "nothing is asked for");
}

#[test]
fn four_requests_are_in_flight_at_most() {
    let behaviour = DapBehaviour { latency: Duration::from_millis(5), ..DapBehaviour::default() };
    let (server, dataset, id) = example(behaviour);
    let rows = AxisSelection::Indices((0..12).filter(|row| row % 3 != 1).collect());
    let columns = AxisSelection::Indices(vec![0, 5, 7, 13, 16]);
    let scattered =
        Selection::new(vec![rows, columns, AxisSelection::Slice { start: 2, count: 1, stride: 1 }]);
    dataset.read_many(&[(id, scattered)]).unwrap();
    assert!(server.take_requests().len() >= 20);
    assert_eq!(server.max_in_flight(), 4);
}

#[test]
fn checksums_of_the_structure_are_those_behind_the_values() {
    let (server, ..) = example(DapBehaviour::default());
    for name in ["lat", "sst%5B0:1%5D%5B2:3%5D%5B0:4%5D"] {
        let body = server.reply_to(&format!("sst.nc.dap?dap4.ce=/{name}&dap4.checksum=true"));
        let (mut rest, mut payloads) = (body.as_slice(), Vec::new());
        while let Some((head, after)) = rest.split_first_chunk::<4>() {
            let len = u32::from_be_bytes(*head) & 0x00ff_ffff;
            let (payload, after) = after.split_at(usize::try_from(len).unwrap());
            (rest, payloads) = (after, [payloads, vec![payload]].concat());
        }
        let structure = std::str::from_utf8(payloads.remove(0)).unwrap();
        let (_, reported) = structure.split_once("_DAP4_Checksum_CRC32").unwrap();
        let (_, reported) = reported.split_once("value=\"").unwrap();
        let reported: u32 = reported.split_once('"').unwrap().0.parse().unwrap();
        let data = payloads.concat();
        let (values, sum) = data.split_last_chunk::<4>().unwrap();
        assert_eq!((crc32(values), u32::from_le_bytes(*sum)), (reported, reported), "{name}");
    }
}

/// Everything after the first line, without blanks.
pub(crate) fn words(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let text = text.split_once('{').map_or(&*text, |(_, rest)| rest);
    text.split_whitespace().collect()
}

#[test]
fn ncdump_reads_from_it_what_this_program_shows() {
    let Some(ncdump) = program("ncdump") else { return };
    let fixtures = fixtures();
    let server = start(&fixtures, DapBehaviour::default());
    let mut different = Vec::new();
    for path in &fixtures {
        for mode in ["dap2", "dap4"] {
            // netCDF-C 4.9.0 reads the fill value -999 as -999.0004.
            if (mode, name(path).as_str()) == ("dap4", "sst.nc") {
                continue;
            }
            let address = format!("{}#{mode}", server.url(&name(path)));
            let theirs = std::process::Command::new(&ncdump).arg(&address).output().unwrap();
            let ours = crate::program::command().args(["ncdump", &address]).output().unwrap();
            let (ours, theirs) = (words(&ours.stdout), words(&theirs.stdout));
            assert!(theirs.contains("data:"), "{address}: ncdump reads nothing");
            if ours != theirs {
                let at = ours.bytes().zip(theirs.bytes()).position(|(one, other)| one != other).unwrap_or(0);
                let around =
                    |text: &str| text.chars().skip(at.saturating_sub(40)).take(120).collect::<String>();
                different.push((address, around(&ours), around(&theirs)));
            }
        }
    }
    assert!(different.is_empty(), "{different:#?}");
}

//! Copies that are rechunked with less memory than their size.
#![expect(clippy::unwrap_used, reason = "helpers of tests may panic")]

use crate::support::{exact, temp};
use ncirrus::{
    Atomic, CodecSpec, CreateOptions, Dataset, DimensionLen, Kind, OpenOptions, Selection, Session, Storage,
};
use ncirrus_tools::aggregate::{AggregateOptions, MasterOptions, aggregate};
use ncirrus_tools::{ChunkRule, CopyOptions, Filters};
use std::ops::Range;
use std::path::Path;

/// Where a separate, measured process works.
const MEASURED: &str = "NCIRRUS_TEST_RECHUNKED";
const MAPS: u64 = 96;
const SIDE: u64 = 512;
const TILE: u64 = 32;
/// A sixth of the variable.
const MEMORY: usize = 16 << 20;
/// Memory for code, threads, the allocator and chunk indexes.
const BESIDES: u64 = 28 << 20;

fn session(memory: usize) -> Session {
    Session::builder().threads(2).memory(memory).chunk_cache(0).durable(false).build().unwrap()
}

fn open(path: &str, session: &Session) -> Dataset {
    Dataset::open_with(path, &OpenOptions::default(), session).unwrap()
}

fn value(time: u64, place: u64) -> f32 {
    f32::from(u16::try_from((time * 31 + place * 7) % 60_000).unwrap())
}

fn map(time: u64, side: u64) -> Vec<f32> {
    (0..side * side).map(|place| value(time, place)).collect()
}

/// Maps, one chunk each.
fn write_maps(path: &str, maps: Range<u64>, side: u64) {
    let session = session(64 << 20);
    let options = CreateOptions::new().kind(Kind::Nc4);
    let dataset = Dataset::create_with(path, &options, &session).unwrap();
    let root = dataset.root();
    for (name, len) in [("t", maps.end - maps.start), ("y", side), ("x", side)] {
        root.add_dimension(name, DimensionLen::Fixed(len)).unwrap();
    }
    let variable = root.add_variable("v", Atomic::Float, &["t", "y", "x"]).unwrap();
    let deflate = vec![CodecSpec::hdf5(2, &[]), CodecSpec::hdf5(1, &[1])];
    variable.set_storage(Storage::Chunked(vec![1, side, side]), deflate).unwrap();
    for (at, time) in (0..).zip(maps) {
        variable.write(&Selection::slab(&[at, 0, 0], &[1, side, side]), &map(time, side)).unwrap();
    }
    dataset.close().unwrap();
}

/// The peak memory of this process.
fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? << 10)
}

#[test]
fn maps_become_series_within_the_memory_that_is_allowed() {
    if peak().is_none() {
        return;
    }
    let (_folder, root) = temp();
    let maps = root.join("maps.nc");
    write_maps(maps.to_str().unwrap(), 0..MAPS, SIDE);
    let run = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "rechunking::rechunking_in_a_process_of_its_own"])
        .env(MEASURED, &root)
        .output()
        .unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stdout));
    let grown: u64 = std::fs::read_to_string(root.join("grown")).unwrap().parse().unwrap();
    assert!(grown < MEMORY as u64 + BESIDES, "{} KiB", grown >> 10);
    let series = open(root.join("series.nc").to_str().unwrap(), &session(64 << 20));
    let variable = series.variable("v").unwrap();
    assert_eq!(variable.storage(), Storage::Chunked(vec![MAPS, TILE, TILE]));
    for time in [0, 1, MAPS / 2, MAPS - 1] {
        let read = variable.read_selection::<f32>(&Selection::slab(&[time, 0, 0], &[1, SIDE, SIDE])).unwrap();
        assert!(*read == *map(time, SIDE), "map {time}");
    }
}

/// Part of the test above.
#[test]
fn rechunking_in_a_process_of_its_own() {
    let Some(root) = std::env::var_os(MEASURED) else { return };
    let root = Path::new(&root);
    let scratch = root.join("scratch");
    let before = peak().unwrap();
    let session = Session::builder().threads(2).memory(MEMORY).chunk_cache(0).durable(false);
    let session = session.scratch_folder(&scratch).build().unwrap();
    let source = open(root.join("maps.nc").to_str().unwrap(), &session);
    let is_empty = || std::fs::read_dir(&scratch).unwrap().next().is_none();
    let nameless =
        |_: ncirrus_tools::Progress<'_>| assert!(!cfg!(unix) || is_empty(), "a scratch file has a name");
    let options = CopyOptions::new()
        .create(CreateOptions::new().kind(Kind::Nc4))
        .chunks(vec![ChunkRule::Shape { variable: "v".to_owned(), shape: vec![MAPS, TILE, TILE] }])
        .progress(&nameless);
    ncirrus_tools::copy(&source, root.join("series.nc").to_str().unwrap(), &options, &session).unwrap();
    let done = session.statistics();
    assert_eq!((done.chunks_decoded, done.chunks_stored), (MAPS, (SIDE / TILE).pow(2)));
    std::fs::write(root.join("grown"), (peak().unwrap() - before).to_string()).unwrap();
}

#[test]
fn every_kind_is_cut_anew_in_little_memory() {
    let (_folder, root) = temp();
    let at = |name: &str| root.join(name).to_str().unwrap().to_owned();
    let (wide, narrow) = (session(64 << 20), session(8 << 10));
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/sst.nc");
    let deflate = || Filters::Replace(vec![CodecSpec::hdf5(1, &[1])]);
    let options = |kind, chunks: &str, filters| {
        CopyOptions::new()
            .create(CreateOptions::new().kind(kind))
            .chunks(vec![ChunkRule::parse(chunks).unwrap()])
            .filters(filters)
            .fix_unlimited(true)
    };
    let chunked = [Kind::Nc4, Kind::NcZarr, Kind::Zarr3];
    for from in chunked {
        let maps = at(&format!("maps-{from:?}"));
        ncirrus_tools::copy(
            &open(example, &wide),
            &maps,
            &options(from, "time/1,lat/,lon/", deflate()),
            &wide,
        )
        .unwrap();
        let source = open(&maps, &narrow);
        for to in chunked {
            let series = at(&format!("series-{from:?}-{to:?}"));
            let how = options(to, "time/12,lat/4,lon/5", deflate());
            let plans = ncirrus_tools::plan_copy(&source, &series, &how, &narrow).unwrap();
            let sst = plans.variables.iter().find(|plan| plan.path == "/sst").unwrap();
            assert!(sst.scratch > 0 && sst.max_decoded == 1, "{from:?} {to:?}\n{plans}");
            ncirrus_tools::copy(&source, &series, &how, &narrow).unwrap();
            assert!(exact(&open(&series, &wide)) == exact(&source), "{from:?} {to:?}");
        }
        // Series become maps in files without chunks.
        let series = open(&at(&format!("series-{from:?}-Nc4")), &narrow);
        for to in [Kind::Nc3, Kind::Nc5] {
            let flat = at(&format!("flat-{from:?}-{to:?}"));
            let how = options(to, "time/1", Filters::Remove).chunks(Vec::new());
            ncirrus_tools::copy(&series, &flat, &how, &narrow).unwrap();
            assert!(exact(&open(&flat, &wide)) == exact(&series), "{from:?} {to:?}");
        }
    }
}

#[test]
fn chunks_of_fragments_are_decoded_once() {
    const SMALL: u64 = 64;
    let (_folder, root) = temp();
    let at = |name: &str| root.join(name).to_str().unwrap().to_owned();
    let (wide, narrow) = (session(64 << 20), session(1 << 18));
    // Files of different lengths, like months.
    let starts = [0, 9, 16, 24];
    let files: Vec<String> = starts.windows(2).map(|pair| at(&format!("maps-{}.nc", pair[0]))).collect();
    for (file, pair) in files.iter().zip(starts.windows(2)) {
        write_maps(file, pair[0]..pair[1], SMALL);
    }
    let options = AggregateOptions::new().axes(vec!["t".to_owned()]);
    aggregate(&at("all.nca"), &files, &options, &MasterOptions::default(), &wide).unwrap();
    let source = open(&at("all.nca"), &narrow);
    let how = CopyOptions::new()
        .create(CreateOptions::new().kind(Kind::Nc4))
        .chunks(vec![ChunkRule::Shape { variable: "v".to_owned(), shape: vec![24, 8, 8] }]);
    let plans = ncirrus_tools::plan_copy(&source, &at("series.nc"), &how, &narrow).unwrap();
    assert_eq!(plans.variables[0].scratch, 24 * SMALL * SMALL * 4, "{plans}");
    let before = narrow.statistics();
    ncirrus_tools::copy(&source, &at("series.nc"), &how, &narrow).unwrap();
    let after = narrow.statistics();
    assert_eq!(after.chunks_decoded - before.chunks_decoded, 24);
    assert_eq!(after.chunks_stored - before.chunks_stored, 64);
    let series = open(&at("series.nc"), &wide).variable("v").unwrap();
    for time in 0..24 {
        let read = series.read_selection::<f32>(&Selection::slab(&[time, 0, 0], &[1, SMALL, SMALL])).unwrap();
        assert!(*read == *map(time, SMALL), "map {time}");
    }
}

//! Chunk lookup in real files does not depend on which bytes arrive when; and the cost of a series.
use super::*;
use crate::group::lookup;
use crate::layout::{dataset, layout};
use crate::object::ObjectRef;
use crate::testing::files;
use ncirrus_layout::{Layout, Step};
use ncirrus_testkit::corpus::corpus;
use ncirrus_testkit::law::RandomSource;

/// The locations of these chunks of the dataset `d`.
fn located(view: &dyn View, cells: impl Fn(&[u64]) -> Vec<Vec<u64>>) -> Step<(usize, Vec<ChunkRef>)> {
    let file = load(view, &ObjectView::id(KEY))?;
    let root = ObjectRef { addr: file.root, file };
    let object = lookup(view, &root, "d")?;
    let dataset = dataset(view, &object)?;
    let Layout::Grid { grid, index, .. } = layout(view, &object, &dataset)? else {
        return Err(Error::unsupported("no chunks").into());
    };
    let counts: Vec<u64> = (0..grid.rank()).map(|axis| grid.cells_along(axis, dataset.shape[axis])).collect();
    let mut wanted = CellList::new(grid.rank());
    cells(&counts).iter().for_each(|cell| wanted.push(cell));
    Ok((wanted.len(), index.locate(view, &wanted)?))
}

/// Chunks from all over the grid, unordered.
fn scattered(counts: &[u64]) -> Vec<Vec<u64>> {
    let mut random = RandomSource(1);
    (0..60).map(|_| counts.iter().map(|count| random.below(*count)).collect()).collect()
}

/// The files of the corpus with an index of each kind: name and bytes.
fn indexes() -> Vec<(String, bytes::Bytes)> {
    let Some(folder) = corpus("hdf5/gen") else { return Vec::new() };
    files(&folder).into_iter().filter(|(name, _)| name.starts_with("idx_")).collect()
}

#[test]
fn chunks_are_found_however_bytes_arrive() {
    for (name, body) in indexes() {
        let expected = done(located(&view(body.clone()), scattered)).expect("chunks");
        for seed in 0..3 {
            let mut random = RandomSource(seed);
            let rounds = StallingView::new(ObjectView::one(KEY, body.clone()));
            let size = body.len() as u64;
            for _ in 0..random.below(4) {
                let start = random.below(size);
                rounds.hold(KEY, start..start + random.below(size - start));
            }
            let found = drive(&rounds, |view| {
                let found = located(view, scattered);
                if random.below(3) == 0 {
                    rounds.evict();
                }
                found
            });
            assert_eq!(found.expect("chunks"), expected, "{name}, seed {seed}");
        }
    }
}

#[test]
fn files_that_were_cut_give_what_is_there_or_an_error() {
    for (name, body) in indexes() {
        let expected = done(located(&view(body.clone()), scattered)).expect("chunks");
        let mut random = RandomSource(7);
        for _ in 0..40 {
            let len = random.below(body.len() as u64);
            let cut = body.slice(..usize::try_from(len).expect("small"));
            if let Ok(found) = done(located(&view(cut), scattered)) {
                assert_eq!(found, expected, "{name} cut to {len} bytes");
            }
        }
    }
}

#[test]
fn damaged_files_never_make_it_panic() {
    for (_, body) in indexes() {
        let mut random = RandomSource(11);
        for _ in 0..40 {
            let mut damaged = body.to_vec();
            for _ in 0..8 {
                let at = usize::try_from(random.below(damaged.len() as u64)).expect("small");
                damaged[at] = u8::try_from(random.below(256)).expect("a byte");
            }
            _ = done(located(&view(damaged), scattered));
        }
    }
}

/// Rounds and requests of a series along the first axis beyond those of a selection without chunks.
fn cost(body: &[u8]) -> (usize, Vec<u64>) {
    let series = |counts: &[u64]| {
        let rest = vec![0; counts.len() - 1];
        (0..counts[0])
            .step_by(usize::try_from(counts[0].div_ceil(40)).expect("small"))
            .map(|at| [&[at][..], &rest].concat())
            .collect()
    };
    let rounds = StallingView::new(ObjectView::one(KEY, body.to_vec()));
    drive(&rounds, |view| located(view, |_| Vec::new())).expect("no chunks");
    let (before, requested) = (rounds.rounds(), rounds.requests().len());
    drive(&rounds, |view| located(view, series)).expect("chunks");
    let lens = rounds.requests().into_iter().skip(requested).map(|(_, want)| match want {
        Some(Want::Range(range) | Want::Parse(range)) => range.end - range.start,
        other => panic!("{other:?} is asked for"),
    });
    (rounds.rounds() - before, lens.collect())
}

#[test]
fn series_cost_a_round_per_pointer_and_exactly_the_nodes_they_need() {
    let Some(folder) = corpus("hdf5/gen") else { return };
    // Rounds, requests, bytes; the first of the structures come along with the object header.
    let max = [
        ("idx_btree1_deep.h5", 3, 42, 88_000),
        ("idx_implicit.h5", 0, 0, 0),
        ("idx_single.h5", 0, 0, 0),
        ("idx_farray.h5", 2, 2, 500),
        ("idx_farray_paged.h5", 2, 5, 32_000),
        ("idx_farray_paged_verysparse.h5", 2, 9, 64_000),
        ("idx_earray_big.h5", 3, 34, 63_000),
        ("idx_btree2_deep.h5", 4, 32, 61_000),
    ];
    for (name, rounds, requests, len) in max {
        let (found, lens) = cost(&std::fs::read(folder.join(name)).expect("a file of the corpus"));
        assert!(found <= rounds, "{name}: {found} rounds");
        assert!(lens.len() <= requests, "{name}: {} requests", lens.len());
        assert!(lens.iter().sum::<u64>() <= len, "{name}: {lens:?}");
    }
}

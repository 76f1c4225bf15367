//! The result does not depend on which bytes arrive when, in which blocks, in which order; and reading takes few
//! rounds.
use super::described::describe;
use crate::testing::{KEY, done, files, view};
use ncirrus_testkit::corpus::corpus;
use ncirrus_testkit::law::RandomSource;
use ncirrus_testkit::{ObjectView, StallingView, drive};

#[test]
fn trees_do_not_depend_on_how_bytes_arrive() {
    let Some(folder) = corpus("hdf5") else { return };
    let mut checked = 0;
    for (path, bytes) in files(&folder) {
        let Ok(expected) = done(describe(&view(bytes.clone()))) else { continue };
        for seed in 0..2 {
            let mut random = RandomSource(seed);
            let rounds = StallingView::new(ObjectView::one(KEY, bytes.clone()));
            let size = bytes.len() as u64;
            for _ in 0..random.below(4) {
                let start = random.below(size);
                rounds.hold(KEY, start..start + random.below(size - start));
            }
            let found = drive(&rounds, |view| {
                let found = describe(view);
                if random.below(3) == 0 {
                    rounds.evict();
                }
                found
            });
            assert!(found.is_ok_and(|found| found == expected), "{path}, seed {seed}");
        }
        checked += 1;
    }
    assert!(checked >= 200, "only {checked} files were checked");
}

#[test]
fn a_dense_group_costs_as_many_rounds_as_its_pointers_are_deep() {
    let Some(folder) = corpus("hdf5/gen") else { return };
    for (name, max) in
        [("links_many_latest_no.h5", 7), ("links_many_earliest_no.h5", 6), ("basic_v114.h5", 2)]
    {
        let Ok(bytes) = std::fs::read(folder.join(name)) else { panic!("{name} is not there") };
        let rounds = StallingView::new(ObjectView::one(KEY, bytes));
        drive(&rounds, describe).expect("a tree");
        assert!(rounds.rounds() <= max, "{name}: {} rounds", rounds.rounds());
    }
}

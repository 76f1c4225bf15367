//! Laws for every implementation of a contract; each crate runs them on its own samples: [`availability`] on drivers,
//! [`chunk_index`] and [`chunk_indexes`] on chunk indexes, [`placer`] on writable formats.
mod chunk_index;
mod placer;

pub use chunk_index::{chunk_index, chunk_indexes};
pub use placer::placer;

use crate::{MemoryView, ObjectView, StallingView, drive};
use ncirrus_layout::{Catalog, CellList, Driver, Layout, OpenOptions, Result, Step, View};
use std::fmt::Write as _;

/// The availability law: what a driver reads from a dataset does not depend on which bytes arrive when, in which
/// blocks, in which order. Opens the dataset with all bytes available and, for each seed, with bytes arriving late, in
/// random extra blocks, with random loss between runs; returns what was read.
///
/// # Panics
/// If the results differ.
#[expect(clippy::panic, reason = "a broken law fails the test that runs it")]
pub fn availability(driver: &dyn Driver, objects: &ObjectView, root: &str, seeds: u64) -> String {
    let complete = MemoryView::new(objects.clone());
    let expected = describe_all(driver, root, |step| settle_complete(step(&complete)));
    for seed in 0..seeds {
        let rounds = StallingView::new(objects.clone());
        let mut random = RandomSource(seed);
        scatter_blocks(&rounds, objects, &mut random);
        let got = describe_all(driver, root, |step| {
            drive(&rounds, |view| {
                let result = step(view);
                if random.below(4) == 0 {
                    rounds.evict();
                }
                result
            })
        });
        if got != expected {
            panic!("seed {seed}: a driver's result depends on arrival:\n{expected}\n--- but got ---\n{got}");
        }
    }
    expected
}

/// Runs a step to its end.
type StepRunner<'a> = &'a mut dyn FnMut(&mut dyn FnMut(&dyn View) -> Step<String>) -> Result<String>;

/// The value of a step for which everything is available.
fn settle_complete<T>(step: Step<T>) -> Result<T> {
    match step {
        Ok(value) => Ok(value),
        Err(ncirrus_layout::Stall::Fail(error)) => Err(error),
        Err(ncirrus_layout::Stall::Need(needs)) => {
            Err(ncirrus_layout::Error::internal(format!("stalled with everything at hand: {needs:?}")))
        }
    }
}

fn describe_all(
    driver: &dyn Driver,
    root: &str,
    mut run: impl FnMut(&mut dyn FnMut(&dyn View) -> Step<String>) -> Result<String>,
) -> String {
    let root = ObjectView::id(root);
    let run: StepRunner<'_> = &mut run;
    let mut text = String::new();
    let probe = run(&mut |view| Ok(format!("{:?}", driver.probe(view, &root)?)));
    _ = writeln!(text, "probe {probe:?}");
    let mut opened = None;
    let open = run(&mut |view| {
        let catalog = driver.open(view, &root, &OpenOptions::default())?;
        let kind = catalog.kind().to_string();
        opened = Some(catalog);
        Ok(kind)
    });
    _ = writeln!(text, "open {open:?}");
    if let Some(catalog) = opened {
        describe_catalog(catalog.as_ref(), run, &mut text);
    }
    text
}

fn describe_catalog(catalog: &dyn Catalog, run: StepRunner<'_>, text: &mut String) {
    let mut model = None;
    let tree = run(&mut |view| {
        let tree = catalog.tree(view)?;
        let described = format!("{tree:?}");
        model = Some(tree);
        Ok(described)
    });
    _ = writeln!(text, "tree {tree:?}");
    let Some(model) = model else { return };
    let nodes = model.nodes();
    let attributes = run(&mut |view| Ok(format!("{:?}", catalog.attributes(view, &nodes)?)));
    _ = writeln!(text, "attributes {attributes:?}");
    for var in model.variables() {
        let source = run(&mut |view| {
            let source = catalog.source(view, var)?;
            let mut described = format!("{source:?}");
            if let Layout::Grid { grid, index, .. } = &source.layout {
                let first = CellList::one(&vec![0; grid.rank()]);
                _ = write!(described, " first {:?}", index.locate(view, &first)?);
            }
            Ok(described)
        });
        _ = writeln!(text, "source {} {source:?}", model.variable_path(var));
    }
}

/// Makes random blocks of random objects arrive before anything was requested.
fn scatter_blocks(rounds: &StallingView, objects: &ObjectView, random: &mut RandomSource) {
    for key in objects.keys() {
        let len = objects.find(key).map_or(0, |body| body.len() as u64);
        if random.below(2) == 0 && len > 0 {
            let start = random.below(len);
            rounds.hold(key, start..start + 1 + random.below(len - start));
        }
    }
}

/// A small deterministic source of random numbers (SplitMix64).
#[derive(Debug, Clone)]
pub struct RandomSource(pub u64);

impl RandomSource {
    /// The next number.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `limit`; 0 if the limit is 0.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.next_u64().checked_rem(limit).unwrap_or(0)
    }
}

//! Datasets of 1,000, 10,000 and 100,000 variables, dimensions, groups, attributes and types: created, opened, copied, printed,
//! generated. Work that is linear takes ten times as long from one column to the next. There are no peers.
use super::Figures;
use crate::run::Outcome;
use std::path::Path;

const KINDS: [&str; 3] = ["classic", "nc4", "nczarr"];
const MEMBERS: [&str; 5] = ["variables", "dimensions", "groups", "attributes", "types"];
const CASES: [&str; 5] = ["create", "open", "copy", "dump", "generate"];
const COUNTS: [&str; 3] = ["1000", "10000", "100000"];

/// Measures everything several times, and prints a table for each kind in Markdown.
pub(super) fn run(folder: &Path, rounds: usize) -> Outcome {
    for kind in KINDS {
        println!(
            "\n### Many members, {kind}\n\n| members | case | 1,000 | 10,000 | 100,000 |\n|---|---|---|---|---|"
        );
        for of in MEMBERS.into_iter().filter(|of| kind != "classic" || !matches!(*of, "groups" | "types")) {
            for case in CASES {
                let cells = COUNTS.map(|count| cell(&measured([case, kind, of, count], folder, rounds)));
                println!("| {of} | {case} | {} |", cells.join(" | "));
            }
            // Hundreds of thousands of files.
            std::fs::remove_dir_all(folder.join("members")).map_err(|error| error.to_string())?;
        }
    }
    Ok(())
}

fn measured([case, kind, of, count]: [&str; 4], folder: &Path, rounds: usize) -> Figures {
    let mut figures = Figures::new();
    for _ in 0..rounds {
        let mut command = super::program();
        command.args(["members", case, kind, of]).arg(folder.join("members")).args([count, "1"]);
        if let Some((seconds, peak)) = super::figures_of(&mut command) {
            let best = figures.entry((0, 0, 0)).or_insert((f64::INFINITY, 0.0));
            *best = (best.0.min(seconds), best.1.max(peak));
        }
    }
    figures
}

fn cell(figures: &Figures) -> String {
    match figures.values().next() {
        Some((seconds, _)) if seconds.is_infinite() => format!("over {} s", super::MAX_SECONDS),
        Some((seconds, peak)) => format!("{}, {peak:.0} MiB", super::described(*seconds)),
        None => "-".to_owned(),
    }
}

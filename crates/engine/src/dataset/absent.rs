//! A record of absent fragments and of chunks that were never written, to be shown to users.
use super::Dataset;
use crate::read::{AbsentFragment, ReadReport};
use crate::resources::MissingChunks;
use ncirrus_layout::LockExt;
use ncirrus_model::VarId;
use std::collections::BTreeSet;

/// The fragments that were found absent since the dataset was opened.
#[derive(Debug, Default)]
pub(super) struct AbsentObjects {
    fragments: BTreeSet<AbsentFragment>,
    /// Whether there were more than are remembered.
    more: bool,
    /// Chunks that were never written, with the path of their variable; only where the session is to report them.
    chunks: BTreeSet<(String, Vec<u64>)>,
}

/// Maximum number of fragments, and of chunks, that are remembered.
const REMEMBERED: usize = 1 << 16;
/// Maximum number of fragments, and of chunks, that a message names.
const NAMED: usize = 3;

impl Dataset {
    /// Remembers what a read of a variable filled in.
    pub(crate) fn note_filled(&self, variable: VarId, report: &ReadReport) {
        self.note_absent(&report.absent);
        if report.missing.is_empty() {
            return;
        }
        let path = self.inner.model.variable_path(variable);
        let chunks = &mut self.inner.absent.guard().chunks;
        let room = REMEMBERED.saturating_sub(chunks.len());
        chunks.extend(report.missing.iter().take(room).map(|chunk| (path.clone(), chunk.clone())));
    }

    /// How many different fragments and chunks were filled in since the dataset was opened, as far as they are remembered.
    pub fn filled_count(&self) -> usize {
        let absent = self.inner.absent.guard();
        absent.fragments.len() + absent.chunks.len()
    }

    /// Chunks that were never written and were read since the dataset was opened, where the session is to report them
    /// ([`MissingChunks::Report`]): how many, and the first of them.
    pub fn missing_chunks(&self) -> Option<String> {
        let absent = self.inner.absent.guard();
        let count = absent.chunks.len();
        let named = absent.chunks.iter().take(NAMED).map(|(path, chunk)| format!("{chunk:?} of {path}"));
        let named = named.collect::<Vec<_>>().join(", ");
        let rest = if count > NAMED { ", ..." } else { "" };
        let (noun, verb) = if count == 1 { ("chunk", "was") } else { ("chunks", "were") };
        (count > 0)
            .then(|| format!("{count} {noun} {verb} never written, the elements are fill: {named}{rest}"))
    }

    /// Remembers fragments that were filled in.
    fn note_absent(&self, found: &[AbsentFragment]) {
        if found.is_empty() {
            return;
        }
        let mut absent = self.inner.absent.guard();
        for fragment in found {
            if absent.fragments.len() >= REMEMBERED {
                absent.more |= !absent.fragments.contains(fragment);
                continue;
            }
            absent.fragments.insert(fragment.clone());
        }
    }

    /// The fragments that were filled in since the dataset was opened: their number and the first few, or all of them
    /// if the session is to report them.
    pub fn absence(&self) -> Option<String> {
        let absent = self.inner.absent.guard();
        let count = absent.fragments.len();
        let is_report = self.inner.session.shared.fragments_absent == Some(MissingChunks::Report);
        let max = if is_report { count } else { NAMED };
        let named: Vec<String> = absent.fragments.iter().take(max).map(AbsentFragment::to_string).collect();
        let rest = if count > max { ", ..." } else { "" };
        let min = if absent.more { "more than " } else { "" };
        let (noun, verb) = if count == 1 { ("fragment", "is") } else { ("fragments", "are") };
        (count > 0).then(|| {
            format!(
                "{min}{count} {noun} {verb} not there, the elements are missing: {}{rest}",
                named.join(", ")
            )
        })
    }

    /// The fragments that were filled in since the dataset was opened.
    pub fn absent_fragments(&self) -> Vec<AbsentFragment> {
        let absent = self.inner.absent.guard();
        absent.fragments.iter().cloned().collect()
    }
}

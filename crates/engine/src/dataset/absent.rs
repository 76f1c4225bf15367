//! A record of absent fragments, to be shown to users.
use super::Dataset;
use crate::read::AbsentFragment;
use crate::resources::MissingChunks;
use ncirrus_layout::LockExt;
use std::collections::BTreeSet;

/// The fragments that were found absent since the dataset was opened.
#[derive(Debug, Default)]
pub(super) struct AbsentObjects {
    fragments: BTreeSet<AbsentFragment>,
    /// Whether there were more than are remembered.
    more: bool,
}

/// Maximum number of fragments that are remembered.
const REMEMBERED: usize = 1 << 16;
/// Maximum number of fragments that a message names.
const NAMED: usize = 3;

impl Dataset {
    /// Remembers fragments that were filled in.
    pub(crate) fn note_absent(&self, found: &[AbsentFragment]) {
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
        let most = if is_report { count } else { NAMED };
        let named: Vec<String> = absent.fragments.iter().take(most).map(AbsentFragment::to_string).collect();
        let rest = if count > most { ", ..." } else { "" };
        let least = if absent.more { "more than " } else { "" };
        let (noun, verb) = if count == 1 { ("fragment", "is") } else { ("fragments", "are") };
        (count > 0).then(|| {
            format!(
                "{least}{count} {noun} {verb} not there, the elements are missing: {}{rest}",
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

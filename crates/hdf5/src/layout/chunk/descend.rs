//! Looking up many chunks in a tree at once.
use super::ChunkRecord;
use ncirrus_layout::{CellList, Result, Step, View, join};
use std::ops::Range;

/// The result of looking up a chunk in a node.
pub(super) enum NodeSeek<N> {
    /// Its location.
    Found(ChunkRecord),
    /// The child to look in.
    Below(N),
    /// It was never written.
    Absent,
}

/// Looks chunks up by their first `rank` coordinates. Each node is loaded once, all needed ones of a level together.
pub(super) fn descend<N: PartialEq, T>(
    view: &dyn View,
    (cells, rank): (&CellList, usize),
    root: N,
    mut load: impl FnMut(&N) -> Step<T>,
    seek: impl Fn(&T, &[u64]) -> Result<NodeSeek<N>>,
) -> Step<Vec<Option<ChunkRecord>>> {
    let cell = |index: usize| cells.get(index).get(..rank).unwrap_or_default();
    let mut order: Vec<usize> = (0..cells.len()).collect();
    order.sort_by(|a, b| cell(*a).cmp(cell(*b)));
    let mut found = vec![None; cells.len()];
    let mut level: Vec<(N, Range<usize>)> = vec![(root, 0..order.len())];
    let mut depth = 0;
    while !level.is_empty() && !order.is_empty() {
        view.limits().depth(depth, "a chunk index")?;
        let nodes = join(&level, |(node, _)| load(node))?;
        let mut next: Vec<(N, Range<usize>)> = Vec::new();
        for (node, (_, range)) in nodes.iter().zip(level) {
            for position in range {
                let Some(&index) = order.get(position) else { continue };
                match (seek(node, cell(index))?, next.last_mut()) {
                    (NodeSeek::Absent, _) => {}
                    (NodeSeek::Found(stored), _) => _ = found.get_mut(index).map(|slot| *slot = Some(stored)),
                    (NodeSeek::Below(child), Some((last, range)))
                        // Chunks are sorted, so those below the same child follow one another: it is loaded once.
                        if *last == child && range.end == position =>
                    {
                        range.end += 1;
                    }
                    (NodeSeek::Below(child), _) => next.push((child, position..position + 1)),
                }
            }
        }
        level = next;
        depth += 1;
    }
    Ok(found)
}

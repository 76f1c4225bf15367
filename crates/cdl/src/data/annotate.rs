//! Comments with indices (`-b`, `-f`; docs/spec/nczarr.md 12.4).
use crate::IndexOrder;

/// `v(0, 0-3)` or `v(1-4 ,1)`: the row that begins at the flat index `at`.
pub(super) fn row(name: &str, shape: &[u64], at: u64, order: IndexOrder) -> String {
    let last = shape.last().copied().unwrap_or(1);
    if last == 1 {
        return value(name, shape, at, order);
    }
    let outer = &indices(shape, at)[..shape.len().saturating_sub(1)];
    match order {
        IndexOrder::C => format!("// {name}({}, 0-{})", join(outer.iter().copied()), last.saturating_sub(1)),
        IndexOrder::Fortran => {
            format!("// {name}(1-{last} ,{})", join(outer.iter().rev().map(|index| index + 1)))
        }
    }
}

/// `v(0,0)`: the value at the flat index `at`.
pub(super) fn value(name: &str, shape: &[u64], at: u64, order: IndexOrder) -> String {
    let mut indices = indices(shape, at);
    if indices.is_empty() {
        indices.push(0);
    }
    match order {
        IndexOrder::C => format!("// {name}({})", join(indices.into_iter())),
        IndexOrder::Fortran => {
            format!("// {name}({})", join(indices.into_iter().rev().map(|index| index + 1)))
        }
    }
}

/// One index per axis.
fn indices(shape: &[u64], mut at: u64) -> Vec<u64> {
    let mut indices: Vec<u64> = shape
        .iter()
        .rev()
        .map(|&len| {
            let index = at % len.max(1);
            at /= len.max(1);
            index
        })
        .collect();
    indices.reverse();
    indices
}

fn join(indices: impl Iterator<Item = u64>) -> String {
    indices.map(|index| index.to_string()).collect::<Vec<_>>().join(",")
}

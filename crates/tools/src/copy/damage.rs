//! Damage recorded by a copy that continues past it.
use ncirrus_engine::SkippedPart;

/// Records a part that was skipped: each chunk once, and adjacent parts of a variable without chunks as one.
pub(super) fn note(all: &mut Vec<SkippedPart>, part: SkippedPart) {
    if let Some(last) = all.last_mut().filter(|last| last.path == part.path)
        && (is_same_chunk(last, &part) || joined(last, &part))
    {
        return;
    }
    let is_known = |other: &SkippedPart| other.path == part.path && is_same_chunk(other, &part);
    if !all.iter().any(is_known) {
        all.push(part);
    }
}

fn is_same_chunk(one: &SkippedPart, other: &SkippedPart) -> bool {
    one.chunk.is_some() && one.chunk == other.chunk
}

/// Adds a box that follows along the first axis to the one before it.
fn joined(last: &mut SkippedPart, part: &SkippedPart) -> bool {
    let (one, other) = (&mut last.region, &part.region);
    let (Some(((start, count), next)), Some(more)) =
        (one.start.first().zip(one.count.first_mut()).zip(other.start.first()), other.count.first())
    else {
        return false;
    };
    let rest = |list: &[u64]| list.get(1..).map(<[u64]>::to_vec);
    let follows = start.checked_add(*count) == Some(*next) && rest(&one.start) == rest(&other.start);
    let is_joined = last.chunk.is_none() && part.chunk.is_none() && follows;
    if is_joined {
        *count += more;
    }
    is_joined
}

#[cfg(test)]
mod tests {
    use super::*;
    use ncirrus::Error;
    use ncirrus_model::Region;

    fn part(path: &str, chunk: Option<&[u64]>, start: u64, count: u64) -> SkippedPart {
        let region = Region { start: vec![start, 0], count: vec![count, 5] };
        let error = Error::malformed("damage");
        SkippedPart { path: path.to_owned(), chunk: chunk.map(<[u64]>::to_vec), region, error }
    }

    #[test]
    fn a_chunk_is_reported_once_and_neighbours_as_one() {
        let mut all = Vec::new();
        for one in [
            part("/v", Some(&[0]), 0, 1),
            part("/v", Some(&[0]), 1, 1),
            part("/v", Some(&[2]), 2, 1),
            part("/w", None, 3, 2),
            part("/w", None, 5, 1),
            part("/w", None, 8, 1),
        ] {
            note(&mut all, one);
        }
        let reported: Vec<(&str, Option<u64>, u64)> = all
            .iter()
            .map(|one| (one.path.as_str(), one.chunk.as_ref().map(|at| at[0]), one.region.count[0]))
            .collect();
        assert_eq!(reported, [("/v", Some(0), 1), ("/v", Some(2), 1), ("/w", None, 3), ("/w", None, 1)]);
    }
}

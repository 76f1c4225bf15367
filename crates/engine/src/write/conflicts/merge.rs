//! Merging the changes of two writers.
use crate::convert;
use crate::write::contents::DirtyContents;
use bytes::{BufMut, Bytes, BytesMut};
use ncirrus_layout::{Error, Result};

/// Elements that differ between `base` and `ours`, bit by bit, and all others as in `theirs`.
pub(in crate::write) fn merge(
    base: &DirtyContents,
    ours: &DirtyContents,
    theirs: DirtyContents,
    element: Option<usize>,
) -> Result<DirtyContents> {
    match (base, ours, theirs) {
        (DirtyContents::Bytes(base), DirtyContents::Bytes(ours), DirtyContents::Bytes(mut theirs)) => {
            let len = element.unwrap_or(1).max(1);
            let changed = base.chunks(len).zip(ours.chunks(len)).zip(theirs.chunks_mut(len));
            for ((base, ours), theirs) in changed {
                if base != ours && ours.len() == theirs.len() {
                    theirs.copy_from_slice(ours);
                }
            }
            Ok(DirtyContents::Bytes(theirs))
        }
        (DirtyContents::Values(base), DirtyContents::Values(ours), DirtyContents::Values(mut theirs)) => {
            let count = theirs.len();
            if base.len() != count || ours.len() != count {
                return Err(Error::internal("staged cells of several lengths"));
            }
            let is_changed = |at: usize| !base.slice(at..at + 1).is_identical(&ours.slice(at..at + 1));
            // Values of variable length are taken from both states, one after the other: theirs first, then ours.
            let indices: Vec<usize> =
                (0..count).map(|at| if is_changed(at) { count + at } else { at }).collect();
            theirs.extend_from(ours, 0..count);
            Ok(DirtyContents::Values(convert::take(&theirs, &indices)?))
        }
        _ => Err(Error::internal("a staged cell of another kind")),
    }
}

/// The same JSON, with blanks after its first brace that encode a number.
pub(super) fn stamp_lease(body: &Bytes, number: u32) -> Option<Bytes> {
    let rest = body.strip_prefix(b"{")?.trim_ascii_start();
    let mut marked = BytesMut::with_capacity(rest.len() + 33);
    marked.put_u8(b'{');
    marked.extend((0..32).map(|bit| if number >> bit & 1 == 1 { b'\t' } else { b' ' }));
    marked.put_slice(rest);
    Some(marked.freeze())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ncirrus_model::Values;

    #[test]
    fn what_both_changed_is_taken_from_where_it_was_changed() {
        let bytes = |bytes: &[u8]| DirtyContents::Bytes(bytes.to_vec());
        let merged = merge(
            &bytes(&[1, 1, 2, 2, 3, 3]),
            &bytes(&[1, 1, 2, 9, 3, 3]),
            bytes(&[1, 8, 2, 2, 3, 3]),
            Some(2),
        );
        assert!(matches!(merged, Ok(DirtyContents::Bytes(merged)) if merged == [1, 8, 2, 9, 3, 3]));
        let strings = |list: &[&str]| {
            DirtyContents::Values(Values::String(list.iter().map(|text| Some(*text)).collect()))
        };
        let merged = merge(
            &strings(&["a", "b", ""]),
            &strings(&["a", "ours", ""]),
            strings(&["theirs", "b", ""]),
            None,
        );
        let wanted = strings(&["theirs", "ours", ""]);
        assert_eq!(format!("{:?}", merged.ok()), format!("{:?}", Some(wanted)));
    }

    #[test]
    fn elements_with_nan_that_were_not_touched_are_taken_from_the_other_writer() {
        let vlen = |list: &[&[f32]]| {
            let ends = list.iter().scan(0, |end, values| {
                *end += values.len();
                Some(*end)
            });
            let ends = ends.collect();
            DirtyContents::Values(Values::Vlen { ends, elements: Box::new(Values::Float(list.concat())) })
        };
        let compound = |first: &[f64], second: &[i32]| {
            let fields = vec![Values::Double(first.to_vec()), Values::Int(second.to_vec())];
            DirtyContents::Values(Values::Compound { len: first.len(), fields })
        };
        let nan = f64::NAN;
        let (odd, other) = (f32::from_bits(0x7fc0_0001), f32::from_bits(0x7fc0_0002));
        let cases = [
            // Base, ours, theirs, and the result.
            (
                vlen(&[&[1.0, f32::NAN], &[f32::NAN], &[3.0]]),
                vlen(&[&[1.0, f32::NAN], &[f32::NAN], &[4.0]]),
                vlen(&[&[7.0], &[8.0, 9.0], &[3.0]]),
                vlen(&[&[7.0], &[8.0, 9.0], &[4.0]]),
            ),
            (
                compound(&[nan, nan, 1.0], &[1, 2, 3]),
                compound(&[nan, nan, 1.0], &[1, 5, 3]),
                compound(&[6.0, nan, 1.0], &[1, 2, 9]),
                compound(&[6.0, nan, 1.0], &[1, 5, 9]),
            ),
            (
                vlen(&[&[0.0], &[odd]]),
                vlen(&[&[-0.0], &[other]]),
                vlen(&[&[0.0], &[odd]]),
                vlen(&[&[-0.0], &[other]]),
            ),
        ];
        for (base, ours, theirs, wanted) in cases {
            let merged = merge(&base, &ours, theirs, None).ok();
            let same = match (&merged, &wanted) {
                (Some(DirtyContents::Values(merged)), DirtyContents::Values(wanted)) => {
                    merged.is_identical(wanted)
                }
                _ => false,
            };
            assert!(same, "{merged:?} and not {wanted:?}");
        }
    }

    #[test]
    fn a_claim_is_the_same_json() {
        let marked = stamp_lease(&Bytes::from_static(b"{\"a\":1}"), 5).unwrap_or_default();
        let text = String::from_utf8_lossy(&marked).into_owned();
        assert_eq!((text.trim_start_matches(['{', ' ', '\t']), &text[..5]), ("\"a\":1}", "{\t \t "));
        assert_ne!(stamp_lease(&marked, 6), Some(marked.clone()));
        assert_eq!(stamp_lease(&marked, 6).map(|again| again.len()), Some(marked.len()));
        assert_eq!(stamp_lease(&Bytes::from_static(b"[]"), 1), None);
    }
}

//! Finding in an answer what was asked for (docs/spec/dap.md 3.3), and how long it has to be (8.4).
use crate::{Dds, DdsKind, DdsType, DdsVariable, DodsValues, WireName};
use ncirrus_model::Values;

/// How two names are compared.
type SameName = fn(&WireName, &WireName) -> bool;

impl Dds {
    /// The place of a variable in an answer, and the variable: by its whole path; else, since some servers send a member
    /// without what encloses it, by its last name; else likewise in any case of letters. Each number of the place counts
    /// members.
    pub fn find(&self, path: &[&WireName]) -> Option<(Vec<usize>, &DdsVariable)> {
        let exact: SameName = |ours, theirs| ours.wire == theirs.wire || ours.shown == theirs.shown;
        let any_case: SameName = |ours, theirs| ours.shown.to_lowercase() == theirs.shown.to_lowercase();
        [exact, any_case].into_iter().find_map(|same| {
            let last = path.get(path.len().saturating_sub(1)..)?;
            self.walk(path, same).or_else(|| self.walk(last, same))
        })
    }

    fn walk(&self, path: &[&WireName], same: SameName) -> Option<(Vec<usize>, &DdsVariable)> {
        let (first, rest) = path.split_first()?;
        let index = self.variables.iter().position(|variable| same(&variable.name, first))?;
        let (mut place, mut variable) = (vec![index], self.variables.get(index)?);
        for name in rest {
            let members = variable.members();
            let index = members.iter().position(|member| same(&member.name, name))?;
            variable = members.get(index)?;
            place.push(index);
        }
        Some((place, variable))
    }

    /// The bytes of an answer's data, from the mark on, if the structure alone determines them: without strings and sequences.
    /// Where values have no strings, only this length distinguishes an error text from them.
    pub fn exact_len(&self) -> Option<u64> {
        sum(self.variables.iter().map(exact_len))
    }
}

impl DodsValues {
    /// The values of a member by its place ([`Dds::find`]): one column over all compounds that enclose it.
    pub fn at(&self, place: &[usize]) -> Option<&Values> {
        let (first, rest) = place.split_first()?;
        rest.iter().try_fold(self.variables.get(*first)?, |values, index| {
            let compound = match values {
                Values::Vlen { elements, .. } => elements,
                values => values,
            };
            match compound {
                Values::Compound { fields, .. } => fields.get(*index),
                _ => None,
            }
        })
    }
}

fn sum(lengths: impl Iterator<Item = Option<u64>>) -> Option<u64> {
    let mut total = 0_u64;
    for len in lengths {
        total = total.checked_add(len?)?;
    }
    Some(total)
}

fn exact_len(variable: &DdsVariable) -> Option<u64> {
    if variable.dims.is_empty() || matches!(variable.kind, DdsKind::Grid { .. }) {
        return element_len(&variable.kind);
    }
    let (element, counts) = match &variable.kind {
        // Only in arrays are bytes packed.
        DdsKind::Atomic(DdsType::Byte) => (Some(1), 8),
        DdsKind::Atomic(DdsType::String | DdsType::Url) => (None, 4),
        kind @ DdsKind::Atomic(_) => (element_len(kind), 8),
        kind => (element_len(kind), 4),
    };
    let count = variable.element_count().ok()?;
    let bytes = if count == 0 { 0 } else { count.checked_mul(element?)? };
    bytes.checked_next_multiple_of(4)?.checked_add(counts)
}

/// The bytes of one element that is not in an array of its own, if its structure alone determines them.
pub(crate) fn element_len(kind: &DdsKind) -> Option<u64> {
    match kind {
        DdsKind::Atomic(DdsType::String | DdsType::Url) | DdsKind::Sequence(_) => None,
        DdsKind::Atomic(DdsType::Float64) => Some(8),
        DdsKind::Atomic(_) => Some(4),
        DdsKind::Structure(members) => sum(members.iter().map(exact_len)),
        DdsKind::Grid { array, maps } => sum(std::iter::once(&**array).chain(maps).map(exact_len)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DodsAnswer, XdrPeculiarities};
    use ncirrus_layout::Limits;

    fn dds(inside: &str) -> Dds {
        Dds::parse(format!("Dataset {{ {inside} }} x;").as_bytes(), &Limits::default()).unwrap()
    }

    fn place(inside: &str, path: &[&str]) -> Option<Vec<usize>> {
        let names: Vec<WireName> = path.iter().map(|name| WireName::new(name)).collect();
        dds(inside).find(&names.iter().collect::<Vec<_>>()).map(|(place, _)| place)
    }

    #[test]
    fn answers_have_what_was_requested_whole_or_bare() {
        let whole = "Byte a; Structure { Byte b; Byte a; } s;";
        assert_eq!(place(whole, &["s", "a"]), Some(vec![1, 1]));
        assert_eq!(place("Byte b; Byte a;", &["s", "a"]), Some(vec![1]));
        assert_eq!(place("Byte b; Byte A;", &["s", "a"]), Some(vec![1]));
        assert_eq!(place("Structure { Byte A; } S; Byte a;", &["s", "a"]), Some(vec![1]));
        assert_eq!(place("Byte a%2Eb;", &["a.b"]), Some(vec![0]));
        assert_eq!((place(whole, &["s", "c"]), place(whole, &[])), (None, None));
    }

    #[test]
    fn values_stand_at_the_place_of_their_variable() {
        let body = b"Dataset { Sequence { Int32 i; Structure { Int16 j; } t; } q; } x;\nData:\n\
            \x5a\0\0\0\0\0\0\x01\0\0\0\x02\x5a\0\0\0\0\0\0\x03\0\0\0\x04\xa5\0\0\0";
        let limits = Limits::default();
        let answer = DodsAnswer::parse(&body.to_vec().into(), &limits).unwrap();
        let values = answer.values(XdrPeculiarities::default(), &limits).unwrap();
        assert_eq!(values.at(&[0, 1, 0]), Some(&Values::Short(vec![2, 4])));
        assert_eq!((values.at(&[0, 2]), values.at(&[0, 0, 0]), values.at(&[])), (None, None, None));
    }

    #[test]
    fn lengths_are_known_of_numbers_only() {
        let cases = [
            ("Byte a; Int16 b; Float64 c;", Some(16)),
            ("Byte a[5]; Int16 b[3]; Float64 c[2][2];", Some(16 + 20 + 40)),
            ("Structure { Int32 a; Byte b[1]; } s[2];", Some(4 + 2 * 16)),
            ("Grid { Array: Byte g[x = 1]; Maps: Byte x[x = 1]; } g;", Some(24)),
            ("Int32 a[0]; String s[0];", Some(12)),
            ("String s;", None),
            ("Sequence { Int32 i; } q;", None),
            ("Float64 a[4000000000000000000];", None),
        ];
        for (inside, expected) in cases {
            assert_eq!(dds(inside).exact_len(), expected, "{inside}");
        }
    }
}

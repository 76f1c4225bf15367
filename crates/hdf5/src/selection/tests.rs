use super::*;
use proptest::prelude::*;

const LIMITS: Limits = Limits {
    metadata_bytes: 1 << 20,
    chunk_bytes: 1 << 20,
    depth: 64,
    group_depth: 64,
    count: 1 << 16,
    rank: 32,
};

fn read(bytes: &[u8]) -> Result<HyperslabSelection> {
    let mut cursor = ByteCursor::new(bytes, "a selection");
    let selection = HyperslabSelection::parse(&mut cursor, &LIMITS)?;
    assert_eq!(cursor.left(), 0, "all bytes belong to the selection");
    Ok(selection)
}

fn u32s(numbers: &[u32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

fn u16s(numbers: &[u16]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

fn u64s(numbers: &[u64]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

fn boxed(start: [u64; 2], count: [u64; 2]) -> Region {
    Region { start: start.to_vec(), count: count.to_vec() }
}

fn samples() -> Vec<(Vec<u8>, HyperslabSelection)> {
    let regular = |count, block| {
        let first = BlockProgression { start: 1, stride: 3, count: Some(2), block: Some(2) };
        HyperslabSelection::Regular(vec![first, BlockProgression { start: 0, stride: 5, count, block }])
    };
    let boxes =
        HyperslabSelection::Boxes { rank: 2, list: vec![boxed([0, 1], [1, 3]), boxed([4, 2], [2, 1])] };
    let points = HyperslabSelection::Points { rank: 2, coords: vec![3, 4, 0, 9] };
    let corners = [0, 1, 0, 3, 4, 2, 5, 2];
    vec![
        (u32s(&[0, 1, 0, 0]), HyperslabSelection::None),
        (u32s(&[3, 1, 0, 0]), HyperslabSelection::All),
        (u32s(&[&[2, 1, 0, 40, 2, 2][..], &corners].concat()), boxes.clone()),
        (
            [u32s(&[2, 2]), vec![1], u32s(&[68, 2]), u64s(&[1, 3, 2, 2, 0, 5, u64::MAX, 5])].concat(),
            regular(None, Some(5)),
        ),
        (
            [u32s(&[2, 3]), vec![1, 2], u32s(&[2]), u16s(&[1, 3, 2, 2, 0, 5, 1, u16::MAX])].concat(),
            regular(Some(1), None),
        ),
        ([u32s(&[2, 3]), vec![0, 2], u32s(&[2]), u16s(&[2, 0, 1, 0, 3, 4, 2, 5, 2])].concat(), boxes),
        (u32s(&[1, 1, 0, 24, 2, 2, 3, 4, 0, 9]), points.clone()),
        ([u32s(&[1, 2]), vec![2], u32s(&[2]), u16s(&[2, 3, 4, 0, 9])].concat(), points),
    ]
}

#[test]
fn selections_of_every_kind_and_version_are_read() {
    for (bytes, expected) in samples() {
        assert_eq!(read(&bytes).expect("a selection"), expected);
    }
}

#[test]
fn selections_are_shown_as_blocks_and_points() {
    let blocks = "{(1,0)-(2,4),(4,0)-(5,4)}";
    let boxes = "{(0,1)-(0,3),(4,2)-(5,2)}";
    let endless = |count, block| format!("{{start=(1,0) stride=(3,5) count=(2,{count}) block=(2,{block})}}");
    let (more, whole) = (endless("unlimited", "5"), endless("1", "unlimited"));
    let points = "{(3,4),(0,9)}";
    let wanted = ["{}", "{all}", boxes, &more, &whole, boxes, points, points];
    let shown: Vec<_> = samples().iter().map(|(_, selection)| selection.to_string()).collect();
    assert_eq!(shown, wanted);
    let regular = |rows, columns, block| {
        let first = BlockProgression { start: 1, stride: 3, count: Some(rows), block: Some(2) };
        let second = BlockProgression { start: 0, stride: 5, count: Some(columns), block: Some(block) };
        HyperslabSelection::Regular(vec![first, second]).to_string()
    };
    assert_eq!(regular(2, 1, 5), blocks);
    assert_eq!(regular(4, 8, 5).matches('-').count(), 32);
    assert_eq!(regular(3, 11, 5), "{start=(1,0) stride=(3,5) count=(3,11) block=(2,5)}");
    assert_eq!((regular(0, u64::MAX, 5), regular(u64::MAX, 2, 0)), ("{}".to_owned(), "{}".to_owned()));
}

#[test]
fn cut_selections_are_errors() {
    for (bytes, _) in samples() {
        assert!((0..bytes.len()).all(|len| read(&bytes[..len]).is_err()), "{bytes:?}");
    }
}

#[test]
fn impossible_selections_are_errors() {
    let regular = |numbers: &[u64]| [u32s(&[2, 3]), vec![1, 8], u32s(&[1]), u64s(numbers)].concat();
    let cases = [
        regular(&[0, 1, 2, 2]),
        regular(&[0, 0, 5, 1]),
        regular(&[0, 2, u64::MAX, u64::MAX]),
        regular(&[5, u64::MAX - 1, 3, 1]),
        u32s(&[2, 1, 0, 0, 1, 1, 5, 4]),
        u32s(&[2, 1, 0, 0, 33, 0]),
        u32s(&[2, 1, 0, 0, 0, 0]),
        u32s(&[2, 1, 0, 0, 1, u32::MAX]),
        u32s(&[7, 1, 0, 0]),
        u32s(&[2, 4, 0, 0]),
        [u32s(&[1, 2]), vec![8], u32s(&[1]), u64s(&[1, u64::MAX])].concat(),
        [u32s(&[2, 3]), vec![0, 8], u32s(&[1]), u64s(&[1, 0, u64::MAX])].concat(),
    ];
    for bytes in cases {
        assert!(read(&bytes).is_err(), "{bytes:?}");
    }
}

#[test]
fn a_progression_ends_where_its_last_index_is() {
    let progression = BlockProgression { start: 3, stride: 4, count: None, block: Some(2) };
    let indices = [3, 4, 7, 8, 11, 12];
    for len in 0..13 {
        let below = indices.iter().filter(|index| **index < len).count() as u64;
        assert_eq!(progression.count_below(len), below, "{len}");
    }
    for (count, index) in indices.iter().enumerate() {
        assert_eq!(progression.end_of(count as u64 + 1), index + 1);
    }
    let endless = BlockProgression { start: 3, stride: 1, count: Some(1), block: None };
    assert_eq!((endless.count_below(10), endless.end_of(7)), (7, 10));
}

/// All elements of a selection in order, found without arithmetic.
fn plain(selection: &HyperslabSelection, shape: &[u64], unlimited: u64) -> Vec<Vec<u64>> {
    let all = elements(&Region::all(shape));
    let inside = |region: &Region, at: &[u64]| {
        at.iter()
            .zip(&region.start)
            .zip(&region.count)
            .all(|((at, start), count)| at >= start && *at < start + count)
    };
    match selection {
        HyperslabSelection::None => Vec::new(),
        HyperslabSelection::All => all,
        HyperslabSelection::Regular(axes) => {
            let takes = |axis: &BlockProgression, at: u64| {
                let len = axis.count.zip(axis.block).map_or(unlimited, |(count, block)| count * block);
                let mut indices = Vec::new();
                for number in 0..len {
                    let block = axis.block.unwrap_or(u64::MAX);
                    indices.push(axis.start + number / block * axis.stride + number % block);
                }
                indices.contains(&at)
            };
            all.into_iter().filter(|at| axes.iter().zip(at).all(|(axis, at)| takes(axis, *at))).collect()
        }
        HyperslabSelection::Boxes { list, .. } => {
            all.into_iter().filter(|at| list.iter().any(|region| inside(region, at))).collect()
        }
        HyperslabSelection::Points { rank, coords } => coords.chunks(*rank).map(<[u64]>::to_vec).collect(),
    }
}

/// The elements of a region in row-major order.
pub(crate) fn elements(region: &Region) -> Vec<Vec<u64>> {
    let mut all = vec![Vec::new()];
    for (start, count) in region.start.iter().zip(&region.count) {
        let longer =
            |at: &Vec<u64>| (*start..start + count).map(|next| [at.as_slice(), &[next]].concat()).collect();
        all = all.iter().flat_map(|at| -> Vec<Vec<u64>> { longer(at) }).collect();
    }
    all
}

fn progression(len: u64) -> impl Strategy<Value = BlockProgression> {
    (0..len, 1u64..4, 0u64..4, 0u64..4).prop_map(move |(start, block, gap, count)| {
        let stride = block + gap;
        let count = count.min((len - start) / stride);
        BlockProgression { start, stride, count: Some(count), block: Some(block) }
    })
}

fn region(shape: [u64; 3]) -> impl Strategy<Value = Region> {
    let axis = |len: u64| (0..len).prop_flat_map(move |start| (Just(start), 1..=len - start));
    shape.map(axis).prop_map(|axes| Region {
        start: axes.iter().map(|(start, _)| *start).collect(),
        count: axes.iter().map(|(_, count)| *count).collect(),
    })
}

/// Any selection of a small dataset.
pub(crate) fn any_selection(shape: [u64; 3]) -> impl Strategy<Value = HyperslabSelection> {
    let point = (0..shape[0], 0..shape[1], 0..shape[2]);
    prop_oneof![
        Just(HyperslabSelection::All),
        shape.map(progression).prop_map(|axes| HyperslabSelection::Regular(axes.to_vec())),
        prop::collection::vec(region(shape), 1..4)
            .prop_map(|list| HyperslabSelection::Boxes { rank: 3, list }),
        prop::collection::vec(point, 0..12).prop_map(|points| {
            let coords = points.into_iter().flat_map(|(a, b, c)| [a, b, c]).collect();
            HyperslabSelection::Points { rank: 3, coords }
        }),
    ]
}

fn listed(rows: &[ElementRow]) -> Vec<(u64, Vec<u64>)> {
    let elements = rows.iter().flat_map(|row| {
        (0..row.len).map(|more| {
            let mut at = row.start.clone();
            *at.last_mut().expect("rank 3") += more;
            (row.position + more, at)
        })
    });
    elements.collect()
}

proptest! {
    #[test]
    fn sets_hold_the_elements_of_their_selections(
        selection in any_selection([4, 5, 9]),
        region in region([4, 5, 9]),
        (start, len) in (0u64..60, 0u64..60),
    ) {
        let set = ElementSet::new(&selection, &[4, 5, 9], 0, &LIMITS).expect("a set");
        let expected: Vec<(u64, Vec<u64>)> = (0..).zip(plain(&selection, &[4, 5, 9], 0)).collect();
        prop_assert_eq!(set.len().expect("a length"), expected.len() as u64);

        let bounds = set.bounds(3);
        let is_inside = |at: &[u64]| at.iter().zip(&bounds).all(|(at, range)| range.contains(at));
        prop_assert!(expected.iter().all(|(_, at)| is_inside(at)), "{:?}", bounds);

        let mut found = listed(&set.within(&region, &LIMITS).expect("rows"));
        found.sort_unstable();
        let meant = elements(&region);
        let wanted: Vec<_> = expected.iter().filter(|(_, at)| meant.contains(at)).cloned().collect();
        prop_assert_eq!(&found, &wanted);
        let runs = set.runs_within(&region);
        prop_assert_eq!(runs == 0, found.is_empty());
        prop_assert!(runs <= found.len() as u64);

        let end = (start + len).min(expected.len() as u64);
        let found = listed(&set.select(start.min(end)..end, &LIMITS).expect("rows"));
        let wanted: Vec<_> = expected.iter().filter(|(at, _)| (start..end).contains(at)).cloned().collect();
        prop_assert_eq!(found, wanted);
    }

    #[test]
    fn no_bytes_make_it_panic(
        kind in 0u32..4,
        version in 1u32..4,
        rest in prop::collection::vec(prop_oneof![Just(0u8), Just(255), any::<u8>()], 0..100),
    ) {
        let bytes = [u32s(&[kind, version]), rest].concat();
        if let Ok(selection) = HyperslabSelection::parse(&mut ByteCursor::new(&bytes, "a selection"), &LIMITS) {
            _ = ((0..3).map(|axis| selection.end_along(axis)).collect::<Vec<_>>(), selection.to_string());
            for shape in [&[7][..], &[7, 8], &[1 << 60, 1 << 60]] {
                let Ok(set) = ElementSet::new(&selection, shape, 3, &LIMITS) else { continue };
                _ = set.bounds(shape.len());
                if let Ok(len) = set.len() {
                    _ = set.within(&Region::all(&vec![3; shape.len()]), &LIMITS);
                    _ = set.select(len.saturating_sub(2)..len, &LIMITS);
                }
            }
        }
    }
}

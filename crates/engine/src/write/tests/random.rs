//! Random writes against an array in memory.
use super::*;

/// An array that grows along its first axis.
struct NaiveArray {
    row: Vec<usize>,
    elements: Vec<i32>,
}

const FILL: i32 = -2_147_483_647;

impl NaiveArray {
    fn row_len(&self) -> usize {
        self.row.iter().product()
    }

    fn rows(&self) -> u64 {
        (self.elements.len() / self.row_len()) as u64
    }

    fn each(&mut self, selection: &Selection, mut change: impl FnMut(usize, &mut i32)) {
        let end = usize::try_from(selection.axes()[0].end().unwrap()).unwrap() * self.row_len();
        if end > self.elements.len() && selection.element_count() != Some(0) {
            self.elements.resize(end, FILL);
        }
        let shape = selection.shape();
        for position in 0..selection.element_count().unwrap() {
            let (mut rest, mut at, mut stride) = (position, 0, 1);
            for (axis, picks) in selection.axes().iter().enumerate().rev() {
                let index = picks.index(rest % shape[axis]).unwrap();
                rest /= shape[axis];
                at += usize::try_from(index).unwrap() * stride;
                stride *= if axis == 0 { 1 } else { self.row[axis - 1] };
            }
            change(usize::try_from(position).unwrap(), &mut self.elements[at]);
        }
    }
}

fn axis(len: u64) -> impl Strategy<Value = AxisSelection> {
    let slice = (0..len, 1..4u64, 0..len).prop_map(move |(start, stride, count)| {
        let max = (len - 1 - start) / stride + 1;
        AxisSelection::Slice { start, count: 1 + count % max, stride }
    });
    let list = prop::collection::vec(0..len, 0..4).prop_map(AxisSelection::Indices);
    prop_oneof![4 => Just(AxisSelection::Slice { start: 0, count: len, stride: 1 }), 6 => slice, 1 => list]
}

#[derive(Debug, Clone)]
enum RandomOperation {
    Write(Vec<AxisSelection>),
    Read(Vec<AxisSelection>),
    Sync,
    Reopen,
}

fn ops() -> impl Strategy<Value = Vec<RandomOperation>> {
    let axes = || (axis(9), axis(7), axis(4)).prop_map(|(a, b, c)| vec![a, b, c]);
    let op = prop_oneof![
        6 => axes().prop_map(RandomOperation::Write),
        2 => axes().prop_map(RandomOperation::Read),
        1 => Just(RandomOperation::Sync),
        1 => Just(RandomOperation::Reopen)
    ];
    prop::collection::vec(op, 1..14)
}

fn check(flat: bool, memory: usize, filters: bool, ops: &[RandomOperation]) {
    let place = WritePlace { session: session(memory), ..place(flat) };
    let mut writer = place.create();
    let var = place.add(&writer, "v", Atomic::Int, &[7, 4], filters);
    let mut naive = NaiveArray { row: vec![7, 4], elements: Vec::new() };
    let mut number = 0;
    for op in ops {
        match op {
            RandomOperation::Write(axes) => {
                let selection = Selection::new(axes.clone());
                let count = i32::try_from(selection.element_count().unwrap()).unwrap();
                let values: Vec<i32> = (number..number + count).collect();
                number += count;
                place.run(writer.write(var, &selection, &Values::Int(values.clone()))).unwrap();
                naive.each(&selection, |position, element| *element = values[position]);
            }
            RandomOperation::Read(axes) => {
                let selection = Selection::new(axes.clone());
                if selection.check(&[naive.rows(), 7, 4]).is_ok() {
                    let mut expected = Vec::new();
                    naive.each(&selection, |_, element| expected.push(*element));
                    let read = place.run(writer.read(var, &selection)).unwrap();
                    assert_eq!(read, Values::Int(expected), "{selection:?}");
                }
            }
            RandomOperation::Sync => place.run(writer.sync()).unwrap(),
            RandomOperation::Reopen => {
                place.run(writer.close()).unwrap();
                writer = place.run(place.session.update(&place.open())).unwrap();
            }
        }
        let all = Selection::all(&[naive.rows(), 7, 4]);
        assert_eq!(place.run(writer.read(var, &all)).unwrap(), Values::Int(naive.elements.clone()));
    }
    place.run(writer.close()).unwrap();
    let read = place.run(place.open().read(var, &Selection::all(&[naive.rows(), 7, 4]))).unwrap();
    assert_eq!(read, Values::Int(naive.elements));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn any_writes_to_chunks_equal_an_array(ops in ops(), tiny in any::<bool>(), filters in any::<bool>()) {
        check(false, if tiny { 512 } else { 1 << 20 }, filters, &ops);
    }

    #[test]
    fn any_writes_to_a_file_equal_an_array(ops in ops(), tiny in any::<bool>()) {
        check(true, if tiny { 512 } else { 1 << 20 }, false, &ops);
    }
}

//! Variables that a server sends boxes of: what is asked for, and that it is put together right.

use crate::support::*;
use bytes::Bytes;
use ncirrus_engine::{Dataset, Session};
use ncirrus_layout::*;
use ncirrus_model::*;
use ncirrus_store::Store;
use std::sync::{Arc, Mutex};

/// A server of an array of ints whose values are their own indices.
#[derive(Debug)]
struct BoxServer {
    array: Array,
    answer: ObjectId,
    element_len: u64,
    /// The most elements that it sends.
    most: u64,
    asked: Mutex<Vec<QueryBox>>,
}

impl QuerySource for BoxServer {
    fn plan(&self, boxes: &[QueryBox]) -> Result<Vec<Query>> {
        let query = |(at, wanted): (usize, &QueryBox)| Query {
            object: self.answer.clone(),
            boxes: vec![at],
            bytes: wanted.count() * self.element_len,
            is_exact: true,
        };
        Ok(boxes.iter().enumerate().map(query).collect())
    }

    fn decode(&self, boxes: &[QueryBox], answer: &Bytes, _: &Limits) -> Result<Vec<Values>> {
        assert_eq!(&answer[..], b"answer");
        let [wanted] = boxes else { panic!("{boxes:?}") };
        assert!(wanted.axes.iter().all(|axis| axis.count > 0), "nothing is asked for: {wanted:?}");
        self.asked.lock().unwrap().push(wanted.clone());
        if wanted.count() > self.most {
            return Err(Error::limit("too large"));
        }
        let of = |get: fn(&QueryAxis) -> u64| wanted.axes.iter().map(get).collect::<Vec<_>>();
        let (start, count) = (of(|axis| axis.start), of(|axis| axis.count));
        let selection = Selection::strided(&start, &count, &of(|axis| axis.stride));
        Ok(vec![Values::Int(self.array.select(&selection))])
    }

    fn element_len(&self, _: usize) -> Option<u64> {
        Some(self.element_len)
    }

    fn is_too_large(&self, error: &Error) -> bool {
        error.kind() == ErrorKind::Limit
    }
}

struct Served {
    session: Session,
    server: Arc<BoxServer>,
    dataset: Dataset,
    variable: VarId,
    store: Arc<Late>,
}

fn served(shape: &[u64], element_len: u64, most: u64) -> Served {
    let array = Array::new(shape, shape);
    let store = memory([("answer".to_owned(), Bytes::from_static(b"answer"))]);
    let answer = store.root().child("answer");
    let asked = Mutex::default();
    let server = Arc::new(BoxServer { array: array.clone(), answer, element_len, most, asked });
    let layout = Layout::Query { source: Arc::clone(&server) as _, variable: 0 };
    let source = Source { layout, ..array.source(&store.root()) };
    let (driver, variable) = sample(shape, Atomic::Int.into(), source);
    let store = Arc::new(Late::new(store));
    let session = Session::builder().build().unwrap();
    let dataset = open(&session, Arc::clone(&store) as Arc<dyn Store>, driver);
    Served { session, server, dataset, variable, store }
}

impl Served {
    fn read(&self, selection: &Selection) -> Vec<QueryBox> {
        self.server.asked.lock().unwrap().clear();
        let values = self.session.block_on(self.dataset.read(self.variable, selection)).unwrap();
        assert_eq!(values, Values::Int(self.server.array.select(selection)), "{selection:?}");
        let mut memory = vec![0xff; values.len() * 4];
        let reading = self.dataset.read_into(self.variable, selection, &mut memory);
        self.session.block_on(reading).unwrap();
        assert_eq!(Values::from_native_bytes(Atomic::Int, &memory), Some(values));
        let mut asked = self.server.asked.lock().unwrap().clone();
        asked.truncate(asked.len() / 2);
        asked.sort_by_key(|asked| asked.axes.iter().map(|axis| axis.start).collect::<Vec<_>>());
        asked
    }
}

/// Start, count and stride along each axis.
type BoxAxes = Vec<[u64; 3]>;

fn axes(asked: &[QueryBox]) -> Vec<BoxAxes> {
    let axis = |axis: &QueryAxis| [axis.start, axis.count, axis.stride];
    asked.iter().map(|asked| asked.axes.iter().map(axis).collect()).collect()
}

#[test]
fn a_selection_becomes_few_boxes() {
    let served = served(&[40, 30], 4, u64::MAX);
    let slice = |start, count, stride| AxisSelection::Slice { start, count, stride };
    let list = |indices: &[u64]| AxisSelection::Indices(indices.to_vec());
    let all = || slice(0, 30, 1);
    let cases: [(AxisSelection, AxisSelection, Vec<BoxAxes>); 8] = [
        (slice(3, 5, 1), slice(7, 1, 1), vec![vec![[3, 5, 1], [7, 1, 1]]]),
        // What is between small elements comes with them, unless it is much more.
        (slice(0, 10, 4), all(), vec![vec![[0, 37, 1], [0, 30, 1]]]),
        (slice(0, 8, 5), all(), vec![vec![[0, 8, 5], [0, 30, 1]]]),
        (list(&[5, 6, 7, 8]), all(), vec![vec![[5, 4, 1], [0, 30, 1]]]),
        (
            list(&[9, 1, 20]),
            slice(0, 1, 1),
            vec![vec![[1, 1, 1], [0, 1, 1]], vec![[9, 1, 1], [0, 1, 1]], vec![[20, 1, 1], [0, 1, 1]]],
        ),
        (list(&[2, 2]), slice(4, 2, 1), vec![vec![[2, 1, 1], [4, 2, 1]], vec![[2, 1, 1], [4, 2, 1]]]),
        (slice(0, 0, 1), all(), vec![]),
        (list(&[]), all(), vec![]),
    ];
    for (first, second, expected) in cases {
        let selection = Selection::new(vec![first, second]);
        assert_eq!(axes(&served.read(&selection)), expected, "{selection:?}");
    }
}

#[test]
fn a_scalar_is_one_request() {
    let served = served(&[], 4, u64::MAX);
    assert_eq!(axes(&served.read(&Selection::all(&[]))), vec![BoxAxes::new()]);
}

#[test]
fn large_boxes_are_cut_and_those_that_are_refused_are_halved() {
    // Elements of 1 MiB: 16 of them are one box.
    let large = served(&[64, 2], 1 << 20, u64::MAX);
    let all = Selection::all(&[64, 2]);
    let asked = large.read(&all);
    assert_eq!((asked.len(), asked.iter().map(QueryBox::count).max()), (8, Some(16)));
    let plan = large.session.block_on(large.dataset.plan(large.variable, &all)).unwrap();
    assert_eq!((plan.requests, plan.bytes, plan.references), (8, 128 << 20, false));
    let refusing = served(&[64, 2], 1 << 20, 4);
    assert_eq!(refusing.read(&all).iter().filter(|asked| asked.count() <= 4).count(), 32);
    // Less than the least is not asked for again.
    let never = served(&[2], 1 << 20, 0);
    let error =
        never.session.block_on(never.dataset.read(never.variable, &Selection::all(&[2]))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit);
    assert_eq!(never.server.asked.lock().unwrap().len(), 2);
}

#[test]
fn points_that_lie_together_are_one_request() {
    let served = served(&[4000, 3000], 4, u64::MAX);
    let read = |points: &[[u64; 2]]| {
        let axis = |axis: usize| points.iter().map(|point| point[axis]).collect::<Vec<u64>>();
        let selection = PointSelection::new(vec![axis(0), axis(1)]).unwrap();
        served.server.asked.lock().unwrap().clear();
        let values =
            served.session.block_on(served.dataset.read_points(served.variable, &selection)).unwrap();
        let expected: Vec<i32> = points.iter().map(|point| value_at(point)).collect();
        assert_eq!(values, Values::Int(expected));
        served.server.asked.lock().unwrap().len()
    };
    assert_eq!(read(&[[5, 6], [5, 6], [7, 9], [6, 6]]), 1);
    assert_eq!(read(&[[0, 0], [3999, 2999]]), 2);
    assert_eq!(read(&[]), 0);
}

#[test]
fn answers_are_requested_whole_and_each_time() {
    let served = served(&[5], 4, u64::MAX);
    let before = served.store.requested().len();
    served.read(&Selection::all(&[5]));
    served.read(&Selection::all(&[5]));
    let requested = served.store.requested().split_off(before);
    assert_eq!(requested, vec![("answer".to_owned(), Want::All); 4]);
}

#[test]
fn an_absent_answer_names_the_object() {
    let (store, array) = (memory([]), Array::new(&[5], &[5]));
    let answer = store.root().child("gone");
    let server = BoxServer { array: array.clone(), answer, element_len: 4, most: 9, asked: Mutex::default() };
    let layout = Layout::Query { source: Arc::new(server), variable: 0 };
    let source = Source { layout, ..array.source(&store.root()) };
    let (driver, variable) = sample(&[5], Atomic::Int.into(), source);
    let session = Session::builder().build().unwrap();
    let dataset = open(&session, store.shared(), driver);
    let error = session.block_on(dataset.read(variable, &Selection::all(&[5]))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(error.to_string().contains("gone"), "{error}");
}

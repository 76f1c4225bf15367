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
    max: u64,
    /// Variables that come together.
    together: usize,
    /// Whether the first axis counts the rows of a sequence.
    rows: bool,
    requested: Mutex<Vec<QueryBox>>,
}

impl QuerySource for BoxServer {
    fn plan(&self, boxes: &[QueryBox]) -> Result<Vec<Query>> {
        let bytes = boxes.iter().map(|wanted| wanted.count() * self.element_len).sum();
        let boxes = (0..boxes.len()).collect();
        Ok(vec![Query { object: self.answer.clone(), boxes, bytes, is_exact: true }])
    }

    fn decode(&self, boxes: &[QueryBox], answer: &Bytes, _: &Limits) -> Result<Vec<Values>> {
        assert_eq!(&answer[..], b"answer");
        boxes.iter().map(|wanted| self.one(wanted)).collect()
    }

    fn decoder<'a>(&'a self, wanted: &'a QueryBox, _: &'a Limits) -> Box<dyn QueryDecoder + 'a> {
        Box::new(BoxDecoder { server: self, wanted, put: 0 })
    }

    fn is_damaged(&self, _: &Error) -> bool {
        false
    }

    fn element_len(&self, _: usize) -> Option<u64> {
        Some(self.element_len)
    }

    fn sequence(&self, variable: usize) -> Option<usize> {
        self.rows.then_some(variable)
    }

    fn take_arrived(&self) -> Vec<(QueryBox, Values)> {
        Vec::new()
    }

    fn companions(&self, variable: usize) -> Vec<QueryBox> {
        let whole = |variable| {
            let axis = |len: &u64| QueryAxis { start: 0, count: *len, stride: 1 };
            QueryBox { variable, axes: self.array.shape.iter().map(axis).collect() }
        };
        if self.together > 1 { (variable..variable + self.together).map(whole).collect() } else { Vec::new() }
    }

    fn adapts(&self, _: &Error) -> bool {
        false
    }

    fn is_too_large(&self, error: &Error) -> bool {
        error.kind() == ErrorKind::Limit
    }
}

/// Puts the elements of a box a few at a time, as many with each byte as are left.
#[derive(Debug)]
struct BoxDecoder<'a> {
    server: &'a BoxServer,
    wanted: &'a QueryBox,
    put: u64,
}

impl QueryDecoder for BoxDecoder<'_> {
    fn piece(&mut self, bytes: &[u8], put: &mut PutElements<'_>) -> Result<()> {
        assert_eq!(bytes, b"answer");
        if self.server.rows {
            return Ok(());
        }
        let values = self.server.one(self.wanted)?;
        for part in values.as_bytes().unwrap().chunks(7 * 4) {
            put(self.put, part)?;
            self.put += part.len() as u64 / 4;
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<Option<Values>> {
        if self.server.rows {
            return self.server.one(self.wanted).map(Some);
        }
        assert_eq!(self.put, self.wanted.count());
        Ok(None)
    }
}

impl BoxServer {
    fn one(&self, wanted: &QueryBox) -> Result<Values> {
        assert!(wanted.axes.iter().all(|axis| axis.count > 0), "nothing is asked for: {wanted:?}");
        self.requested.lock().unwrap().push(wanted.clone());
        if wanted.count() > self.max {
            return Err(Error::limit("too large"));
        }
        let of = |get: fn(&QueryAxis) -> u64| wanted.axes.iter().map(get).collect::<Vec<_>>();
        let (start, count) = (of(|axis| axis.start), of(|axis| axis.count));
        let selection = Selection::strided(&start, &count, &of(|axis| axis.stride));
        Ok(Values::Int(self.array.select(&selection)))
    }
}

struct Served {
    session: Session,
    server: Arc<BoxServer>,
    dataset: Dataset,
    variable: VarId,
    store: Arc<Late>,
}

fn served(shape: &[u64], element_len: u64, max: u64) -> Served {
    served_with(shape, (element_len, max), 0, 1)
}

fn served_with(shape: &[u64], lengths: (u64, u64), cache: usize, together: usize) -> Served {
    served_as(shape, lengths, cache, (together, false))
}

fn served_as(
    shape: &[u64],
    (element_len, max): (u64, u64),
    cache: usize,
    (together, rows): (usize, bool),
) -> Served {
    let array = Array::new(shape, shape);
    let store = memory([("answer".to_owned(), Bytes::from_static(b"answer"))]);
    let answer = store.root().child("answer");
    let requested = Mutex::default();
    let server =
        Arc::new(BoxServer { array: array.clone(), answer, element_len, max, together, rows, requested });
    let layout = Layout::Query { source: Arc::clone(&server) as _, variable: 0 };
    let source = Source { layout, ..array.source(&store.root()) };
    let (driver, variable) = sample(shape, Atomic::Int.into(), source);
    let store = Arc::new(Late::new(store));
    let session = Session::builder().chunk_cache(cache).build().unwrap();
    let dataset = open(&session, Arc::clone(&store) as Arc<dyn Store>, driver);
    Served { session, server, dataset, variable, store }
}

impl Served {
    fn read(&self, selection: &Selection) -> Vec<QueryBox> {
        self.server.requested.lock().unwrap().clear();
        let values = self.session.block_on(self.dataset.read(self.variable, selection)).unwrap();
        assert_eq!(values, Values::Int(self.server.array.select(selection)), "{selection:?}");
        let mut memory = vec![0xff; values.len() * 4];
        let reading = self.dataset.read_into(self.variable, selection, &mut memory);
        self.session.block_on(reading).unwrap();
        assert_eq!(Values::from_native_bytes(Atomic::Int, &memory), Some(values));
        let mut requested = self.server.requested.lock().unwrap().clone();
        requested.truncate(requested.len() / 2);
        requested.sort_by_key(|requested| requested.axes.iter().map(|axis| axis.start).collect::<Vec<_>>());
        requested
    }
}

/// Start, count and stride along each axis.
type BoxAxes = Vec<[u64; 3]>;

fn axes(requested: &[QueryBox]) -> Vec<BoxAxes> {
    let axis = |axis: &QueryAxis| [axis.start, axis.count, axis.stride];
    requested.iter().map(|requested| requested.axes.iter().map(axis).collect()).collect()
}

#[test]
fn parts_of_a_column_are_taken_from_all_of_its_rows() {
    let picks = Selection::new(vec![AxisSelection::Indices(vec![0, 1, 9, 30, 31, 90])]);
    for selection in [Selection::slab(&[7], &[5]), Selection::strided(&[1], &[9], &[10]), picks] {
        let served = served_as(&[100], (4, 1000), 0, (1, true));
        assert_eq!(axes(&served.read(&selection)), [[[0, 100, 1]]], "{selection:?}");
        let points = PointSelection::new(vec![vec![3, 99, 0]]).unwrap();
        served.server.requested.lock().unwrap().clear();
        let read = served.session.block_on(served.dataset.read_points(served.variable, &points)).unwrap();
        assert_eq!(read, Values::Int(vec![1003, 1099, 1000]));
        assert_eq!(served.server.requested.lock().unwrap().len(), 1);
    }
    // 24 MB are not cut, since each request would send all of them.
    let served = served_as(&[6_000_000], (4, u64::MAX), 0, (1, true));
    assert_eq!(axes(&served.read(&Selection::all(&[6_000_000]))), [[[0, 6_000_000, 1]]]);
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
    let requested = large.read(&all);
    assert_eq!((requested.len(), requested.iter().map(QueryBox::count).max()), (8, Some(16)));
    let plan = large.session.block_on(large.dataset.plan(large.variable, &all)).unwrap();
    assert_eq!((plan.requests, plan.bytes, plan.references), (8, 128 << 20, false));
    let refusing = served(&[64, 2], 1 << 20, 4);
    assert_eq!(refusing.read(&all).iter().filter(|requested| requested.count() <= 4).count(), 32);
    // Less than the least is not asked for again.
    let never = served(&[2], 1 << 20, 0);
    let error =
        never.session.block_on(never.dataset.read(never.variable, &Selection::all(&[2]))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit);
    assert_eq!(never.server.requested.lock().unwrap().len(), 2);
}

#[test]
fn points_that_lie_together_are_one_request() {
    let served = served(&[4000, 3000], 4, u64::MAX);
    let read = |points: &[[u64; 2]]| {
        let axis = |axis: usize| points.iter().map(|point| point[axis]).collect::<Vec<u64>>();
        let selection = PointSelection::new(vec![axis(0), axis(1)]).unwrap();
        served.server.requested.lock().unwrap().clear();
        let values =
            served.session.block_on(served.dataset.read_points(served.variable, &selection)).unwrap();
        let expected: Vec<i32> = points.iter().map(|point| value_at(point)).collect();
        assert_eq!(values, Values::Int(expected));
        served.server.requested.lock().unwrap().len()
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
    let requested = Mutex::default();
    let server = BoxServer {
        array: array.clone(),
        answer,
        element_len: 4,
        max: 9,
        together: 1,
        rows: false,
        requested,
    };
    let layout = Layout::Query { source: Arc::new(server), variable: 0 };
    let source = Source { layout, ..array.source(&store.root()) };
    let (driver, variable) = sample(&[5], Atomic::Int.into(), source);
    let session = Session::builder().build().unwrap();
    let dataset = open(&session, store.shared(), driver);
    let error = session.block_on(dataset.read(variable, &Selection::all(&[5]))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(error.to_string().contains("gone"), "{error}");
}

fn rows(served: &Served, count: u64) -> usize {
    let before = served.store.requested().len();
    for row in 0..count {
        let selection = Selection::slab(&[row, 0], &[1, 3]);
        let values = served.session.block_on(served.dataset.read(served.variable, &selection)).unwrap();
        assert_eq!(values, Values::Int(served.server.array.select(&selection)));
    }
    served.store.requested().len() - before
}

#[test]
fn a_loop_over_rows_is_two_requests() {
    assert_eq!(rows(&served_with(&[500, 3], (4, u64::MAX), 1 << 20, 1), 500), 2);
    assert_eq!(rows(&served(&[20, 3], 4, u64::MAX), 20), 20, "what is not kept is not fetched ahead");
}

#[test]
fn a_box_inside_one_that_was_read_is_no_request() {
    let served = served_with(&[50, 30], (4, u64::MAX), 1 << 20, 1);
    let read = |selection: &Selection| {
        let values = served.session.block_on(served.dataset.read(served.variable, selection)).unwrap();
        assert_eq!(values, Values::Int(served.server.array.select(selection)));
        served.store.requested().len()
    };
    let first = read(&Selection::slab(&[10, 0], &[20, 30]));
    assert_eq!(read(&Selection::strided(&[11, 3], &[4, 5], &[3, 5])), first);
    assert_eq!(
        read(&Selection::new(vec![AxisSelection::Indices(vec![12, 29]), AxisSelection::Indices(vec![1])])),
        first
    );
    assert_eq!(read(&Selection::slab(&[9, 0], &[20, 30])), first + 1);
}

#[test]
fn variables_that_belong_together_are_one_request() {
    let served = served_with(&[9], (4, u64::MAX), 1 << 20, 40);
    let before = served.store.requested().len();
    let all = Selection::all(&[9]);
    let values = served.session.block_on(served.dataset.read(served.variable, &all)).unwrap();
    assert_eq!(values, Values::Int(served.server.array.select(&all)));
    assert_eq!(served.store.requested().len() - before, 1);
    assert_eq!(served.server.requested.lock().unwrap().len(), 40);
}

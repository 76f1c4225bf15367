//! From which memory chunks are put.
use super::*;
use ncirrus_layout::LockExt;
use stores::UnpluggedStore;

/// Number of rows that are written, in chunks of two or three.
const ROWS: u64 = 60;

/// Writes a variable of that many columns twice: returns the memory range of the values, and the addresses of the
/// chunks' bytes when they were put.
fn put_from(columns: u64, filters: bool) -> (std::ops::Range<usize>, Vec<usize>) {
    let mut place = place(false);
    let (store, put_from) = UnpluggedStore::watched(&place.memory);
    place.store = store;
    let writer = place.create();
    let var = place.add(&writer, "v", Atomic::Int, &[columns], filters);
    let values = Values::Int((0..).take(usize::try_from(ROWS * columns).unwrap()).collect());
    let all = slab(&[0, 0], &[ROWS, columns]);
    for _ in 0..2 {
        place.run(writer.write(var, &all, &values)).unwrap();
    }
    let found = std::mem::take(&mut *put_from.guard());
    place.run(writer.close()).unwrap();
    assert_eq!(place.run(place.open().read(var, &all)).unwrap(), values);
    let own = values.as_bytes().unwrap().as_ptr_range();
    (own.start.addr()..own.end.addr(), found)
}

fn distinct(mut places: Vec<usize>) -> usize {
    places.sort_unstable();
    places.dedup();
    places.len()
}

#[test]
fn chunks_that_lie_in_one_piece_are_put_from_the_caller_s_memory() {
    let (own, found) = put_from(2, false);
    assert_eq!(found.len(), 60);
    assert!(found.iter().all(|at| own.contains(at) && (at - own.start) % 16 == 0), "{own:?}: {found:?}");
    assert_eq!(distinct(found), 30);
}

#[test]
fn chunks_that_are_gathered_or_encoded_are_put_from_a_buffer_of_each_thread() {
    for (columns, filters, count) in [(3, false, 120), (3, true, 40)] {
        let (own, found) = put_from(columns, filters);
        assert_eq!(found.len(), count);
        assert!(!found.iter().any(|at| own.contains(at)), "{own:?}: {found:?}");
        let threads = session(0).threads();
        assert!(distinct(found.clone()) <= threads, "{} buffers of {threads} threads", distinct(found));
    }
}

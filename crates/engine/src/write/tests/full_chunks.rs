//! Chunks that are filled part by part.
use super::*;
use crate::write::write_back_cache::Leaving;

const WIDTH: u64 = 900;

fn row(number: u64) -> Values {
    Values::Int((0..WIDTH).map(|column| i32::try_from(number * WIDTH + column).unwrap()).collect())
}

#[test]
fn chunks_are_encoded_once_they_are_full_and_not_before() {
    const ROWS: u64 = 150;
    let place = place(false);
    let writer = place.create();
    let var = place.add(&writer, "v", Atomic::Int, &[WIDTH], true);
    let (mut most, budget) = (0, writer.stage_budget());
    for number in 0..ROWS {
        place.run(writer.write(var, &slab(&[number, 0], &[1, WIDTH]), &row(number))).unwrap();
        most = most.max(writer.stage.held());
    }
    let (all, of_three_rows) = (ROWS * WIDTH * 4, WIDTH * 4 * 3);
    assert!(all > budget as u64, "they would not fit");
    assert!(most as u64 <= budget as u64 / 4 + of_three_rows, "{most} bytes were cached");
    place.run(writer.close()).unwrap();
    assert_eq!(place.session.statistics().chunks_stored, ROWS / 3 * (WIDTH / 3), "each was encoded once");
    let read = place.run(place.open().read(var, &slab(&[77, 0], &[1, WIDTH]))).unwrap();
    assert_eq!(read, row(77));
}

#[test]
fn chunks_with_room_for_more_records_stay_cached() {
    let place = place(false);
    let writer = place.create();
    let var = place.add(&writer, "v", Atomic::Int, &[WIDTH * 30], true);
    // Two of three rows of each chunk: all elements that the array has.
    for number in 0..2 {
        let values = Values::Int(vec![1; usize::try_from(WIDTH * 30).unwrap()]);
        place.run(writer.write(var, &slab(&[number, 0], &[1, WIDTH * 30]), &values)).unwrap();
    }
    assert_eq!(
        (writer.stage.staying(Leaving::OldestFull), writer.stage.held() as u64),
        (0, WIDTH * 30 * 3 * 4)
    );
    place.run(writer.close()).unwrap();
}

#[test]
fn calls_at_the_same_time_make_room_for_each_other() {
    const CHUNK: usize = 3 * 3 * 4;
    let place = place(false);
    let writer = place.create();
    let var = place.add(&writer, "v", Atomic::Int, &[12], true);
    for number in 0..3 {
        let values = Values::Int(vec![1; 12]);
        place.run(writer.write(var, &slab(&[number, 0], &[1, 12]), &values)).unwrap();
    }
    let stage = Arc::clone(&writer.stage);
    let staying = || stage.staying(Leaving::OldestFull);
    assert_eq!((staying(), stage.full_chunk_len()), (4 * CHUNK, CHUNK));
    let first = stage.take(Leaving::OldestFull, 2 * CHUNK);
    assert_eq!((first.len(), staying(), stage.held()), (2, 2 * CHUNK, 4 * CHUNK));
    assert!(stage.take(Leaving::OldestFull, 2 * CHUNK).is_empty(), "there will be room");
    let second = stage.take(Leaving::Oldest, CHUNK);
    assert_eq!((second.len(), staying()), (1, CHUNK), "what is being put makes no room for more");
    drop((first, second));
    assert_eq!((staying(), stage.staying(Leaving::Oldest)), (4 * CHUNK, 4 * CHUNK), "none was put");
    place.run(writer.close()).unwrap();
    assert_eq!((staying(), stage.held()), (0, 0));
}

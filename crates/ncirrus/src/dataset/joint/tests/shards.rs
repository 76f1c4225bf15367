//! Shards that are written by several processes.
use super::*;
use crate::Shards;

/// As [`super::create`], with shards of 4 x 8.
fn create(url: &str, index_first: bool, rows: u64, session: &Session) -> Dataset {
    let dataset = super::create(url, Kind::Zarr3, rows, session);
    let v = dataset.variable("v").unwrap().id();
    let shards = Shards { shape: vec![4, 8], index_first };
    let set = |model: &mut crate::Model| {
        model.variable_mut(v).unwrap().shards = Some(shards);
        Ok(())
    };
    dataset.edit(set).unwrap();
    dataset
}

#[test]
fn a_tree_of_shards_of_several_writers_is_that_of_one_byte_for_byte() {
    for index_first in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        let owner = session();
        let dataset = create(&place("joint.zarr"), index_first, ROWS, &owner);
        let ticket = dataset.ticket(&[dataset.variable("v").unwrap().id()]).unwrap();
        assert!(ticket.starts_with("ncirrus-ticket-2 "), "versions that write only chunks reject it");
        let mut receipts = Vec::new();
        for rows in [0..4, 4..8, 8..9] {
            let joined = Dataset::join(&ticket, &session()).unwrap();
            // Both shards of these rows, then one of them again.
            joined.write_bytes("v", &row_box(rows.clone()), &numbers(rows.clone())).unwrap();
            let last = Region { start: vec![rows.start, 8], count: vec![rows.end - rows.start, 2] };
            let elements: Vec<u8> =
                numbers(rows.clone()).chunks(40).flat_map(|row| row[32..].to_vec()).collect();
            joined.write_bytes("v", &last, &elements).unwrap();
            joined.write_chunk("v", &[rows.start / 4, 1], &elements).unwrap();
            receipts.push(joined.close().unwrap());
        }
        let error = dataset.clone().finish(&receipts[..2]).unwrap_err();
        assert_eq!((error.kind(), error.place().chunk.clone()), (ErrorKind::Missing, Some(vec![2, 0])));
        dataset.finish(&receipts).unwrap();
        let alone = create(&place("alone.zarr"), index_first, ROWS, &owner);
        alone.variable("v").unwrap().write_bytes(&row_box(0..ROWS).into(), &numbers(0..ROWS)).unwrap();
        alone.close().unwrap();
        assert_eq!(files(Path::new(&place("joint.zarr"))), files(Path::new(&place("alone.zarr"))));
    }
}

#[test]
fn a_part_of_a_shard_is_refused_with_the_shape_of_shards() {
    let folder = tempfile::tempdir().unwrap();
    let url = folder.path().join("a.zarr").to_str().unwrap().to_owned();
    let dataset = create(&url, false, ROWS, &session());
    let ticket = dataset.ticket(&[]).unwrap();
    let joined = Dataset::join(&ticket, &session()).unwrap();
    // Whole chunks, but parts of shards.
    for (rows, chunk) in [(0..2, vec![0, 0]), (2..8, vec![0, 0]), (4..6, vec![1, 0])] {
        let error = joined.write_bytes("v", &row_box(rows.clone()), &numbers(rows)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid);
        assert!(error.to_string().contains("whole shards of [4, 8]"), "{error}");
        assert_eq!(error.place().chunk, Some(chunk));
    }
    assert!(joined.write_bytes("v", &row_box(8..11), &numbers(8..11)).is_err(), "past the end");
    assert_eq!(joined.write_chunk("v", &[3, 0], &[]).unwrap_err().kind(), ErrorKind::Invalid);
    joined.write_bytes("v", &row_box(0..0), &[]).unwrap();
    let receipt = joined.close().unwrap();
    // What was not written by others is absent.
    dataset.finish(&[receipt]).unwrap();
    assert!(read(&url, &session()).chunks(4).all(|value| value == i32::MIN.wrapping_add(1).to_ne_bytes()));
}

#[test]
fn whole_shards_are_appended_and_the_shared_one_is_the_owners() {
    for is_handed in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let url = folder.path().join("a.zarr").to_str().unwrap().to_owned();
        let dataset = create(&url, false, 3, &session());
        dataset.variable("v").unwrap().write_bytes(&row_box(0..3).into(), &numbers(0..3)).unwrap();
        dataset.close().unwrap();
        let begin = || {
            let dataset = Dataset::update_with(&url, &OpenOptions::new(), &session()).unwrap();
            dataset.variable("v").unwrap().grow_to(&[ROWS, COLUMNS]).unwrap();
            dataset
        };
        let dataset = begin();
        let v = dataset.variable("v").unwrap().id();
        let ticket = if is_handed { dataset.clone().hand_over(&[v]) } else { dataset.ticket(&[v]) }.unwrap();
        let joined = Dataset::join(&ticket, &session()).unwrap();
        let error = joined.write_bytes("v", &row_box(0..4), &numbers(0..4)).unwrap_err();
        assert!(error.to_string().contains("the shard contains existing data"), "{error}");
        joined.write_bytes("v", &row_box(4..ROWS), &numbers(4..ROWS)).unwrap();
        let receipts = [joined.close().unwrap()];
        let dataset = if is_handed { begin() } else { dataset };
        dataset.variable("v").unwrap().write_bytes(&row_box(3..4).into(), &numbers(3..4)).unwrap();
        match is_handed {
            true => dataset.finish_for(&ticket, &receipts).unwrap(),
            false => dataset.finish(&receipts).unwrap(),
        }
        assert_eq!(read(&url, &session()), numbers(0..ROWS));
        let shards = std::fs::read_dir(folder.path().join("a.zarr/v/c")).unwrap().count();
        assert_eq!(shards, 3);
    }
}

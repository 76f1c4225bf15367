//! Copying between formats.
use super::*;
use crate::write::ValueTreatment;
use ncirrus_store::LocalStore;

fn filled(flat: bool, ty: Atomic) -> (WritePlace, VarId) {
    let place = place(flat);
    let writer = place.create();
    let var = place.add(&writer, "v", ty, &[50], !flat);
    let numbers = Values::Int((0..2000).collect());
    let values = convert::cast(&numbers, ty).unwrap().0;
    place.run(writer.write(var, &slab(&[0, 0], &[40, 50]), &values)).unwrap();
    place.run(writer.close()).unwrap();
    (place, var)
}

#[test]
fn a_variable_is_copied_between_formats_in_little_memory() {
    for (from_flat, to_flat) in [(true, false), (false, true), (false, false)] {
        let (from, var) = filled(from_flat, Atomic::Int);
        let to = WritePlace { session: session(1 << 14), ..place(to_flat) };
        let writer = to.create();
        let copy = to.add(&writer, "copy", Atomic::Int, &[50], !to_flat);
        let source = from.open();
        let copied = to.run(copy_variable(&source, var, &writer, copy)).unwrap();
        assert_eq!(copied, CopiedCounts { elements: 2000, out_of_range: 0 });
        to.run(writer.close()).unwrap();
        let read = to.run(to.open().read(copy, &slab(&[0, 0], &[40, 50]))).unwrap();
        assert_eq!(read, Values::Int((0..2000).collect()));
    }
}

#[test]
fn a_selection_is_copied_and_cast_with_a_report() {
    let (from, var) = filled(false, Atomic::Double);
    let to = place(true);
    let writer = to.create();
    let copy = to.add(&writer, "copy", Atomic::Byte, &[3], false);
    let axes =
        vec![AxisSelection::Slice { start: 1, count: 13, stride: 3 }, AxisSelection::Indices(vec![7, 0, 49])];
    let source = from.open();
    let selection = Selection::new(axes);
    let elements = std::sync::atomic::AtomicU64::new(0);
    let progress = |done: u64| _ = elements.fetch_add(done, std::sync::atomic::Ordering::Relaxed);
    let copied = to
        .run(copy_selection(
            (&source, var),
            &selection,
            (&writer, copy),
            ValueTreatment::default(),
            &progress,
        ))
        .unwrap();
    assert_eq!(copied.elements, 39);
    assert_eq!(elements.into_inner(), 39);
    let expected: Vec<i32> = (0..13).flat_map(|row| [7, 0, 49].map(|at| (1 + 3 * row) * 50 + at)).collect();
    let outside = expected.iter().filter(|value| **value > 127).count();
    assert_eq!(copied.out_of_range, outside as u64);
    to.run(writer.close()).unwrap();
    let Values::Byte(read) = to.run(to.open().read(copy, &slab(&[0, 0], &[13, 3]))).unwrap() else {
        panic!()
    };
    assert_eq!(read[..3], [57, 50, 99]);
    let narrow = to.run(copy_variable(&source, var, &to.create(), copy));
    assert!(narrow.is_err(), "the destination has no such variable");
}

/// A dataset of 40 x 50 numbers in chunks of 3 x 3, opened without a cache of chunks.
fn source() -> (WritePlace, VarId) {
    let (from, var) = filled(false, Atomic::Int);
    let session = Session::builder().threads(2).memory(1 << 20).chunk_cache(0).build().unwrap();
    (WritePlace { session, ..from }, var)
}

/// A place with that much memory and a variable of these chunks to copy to.
fn target(memory: usize, chunks: &[u64]) -> (WritePlace, DatasetWriter, VarId) {
    let to = WritePlace { session: session(memory), ..place(false) };
    let writer = to.create();
    let copy = to.add(&writer, "copy", Atomic::Int, &[50], true);
    let storage = Storage::Chunked(chunks.to_vec());
    let set = |model: &mut Model| {
        model.variable_mut(copy).unwrap().storage = storage;
        Ok(())
    };
    to.run(writer.edit(set)).unwrap();
    (to, writer, copy)
}

/// Copies, and returns the plan; what happened must match it.
fn copied_as_planned(memory: usize, chunks: &[u64]) -> CopyPlan {
    let (from, var) = source();
    let (to, writer, copy) = target(memory, chunks);
    let dataset = from.open();
    let all = slab(&[0, 0], &[40, 50]);
    let plan = to.run(plan_copy((&dataset, var), &all, (&writer, copy), ValueTreatment::default())).unwrap();
    let before = from.session.statistics();
    let copied = to.run(copy_variable(&dataset, var, &writer, copy)).unwrap();
    let after = from.session.statistics();
    assert_eq!(copied, CopiedCounts { elements: 2000, out_of_range: 0 });
    assert_eq!(after.chunks_decoded - before.chunks_decoded, plan.decoded, "{plan}");
    assert_eq!(after.requests - before.requests, plan.requests, "{plan}");
    to.run(writer.close()).unwrap();
    let read = to.run(to.open().read(copy, &all)).unwrap();
    assert_eq!(read, Values::Int((0..2000).collect()));
    plan
}

#[test]
fn chunks_of_the_same_kind_pass_through() {
    let plan = copied_as_planned(1 << 20, &[3, 3]);
    // The last ones along the growing axis hold elements outside it: they are encoded anew.
    assert_eq!((plan.chunks, plan.passed, plan.decoded, plan.written), (14 * 17, 13 * 17, 17, 17));
}

#[test]
fn where_memory_allows_no_chunk_is_decoded_twice() {
    let plan = copied_as_planned(1 << 14, &[5, 4]);
    assert_eq!((plan.passed, plan.decoded, plan.max_decoded), (0, 14 * 17, 1));
    assert_eq!((plan.written, plan.in_flight), (8 * 13, 2));
}

#[test]
fn chunks_that_were_never_written_are_left_out() {
    let from = place(false);
    let writer = from.create();
    let var = from.add(&writer, "v", Atomic::Int, &[6], true);
    from.run(writer.write(var, &slab(&[3, 3], &[3, 3]), &Values::Int((0..9).collect()))).unwrap();
    from.run(writer.close()).unwrap();
    let to = place(false);
    let writer = to.create();
    let copy = to.add(&writer, "v", Atomic::Int, &[6], true);
    let source = from.open();
    assert_eq!(to.run(copy_variable(&source, var, &writer, copy)).unwrap().elements, 36);
    to.run(writer.close()).unwrap();
    let all = slab(&[0, 0], &[6, 6]);
    assert_eq!(to.run(to.open().read(copy, &all)).unwrap(), from.run(source.read(var, &all)).unwrap());
    let is_there = |cell: &str| to.memory.stat(&to.root().child(&format!("v0/{cell}"))).unwrap().is_some();
    assert!(is_there("1.1") && !is_there("0.0"));
}

#[test]
fn what_is_overwritten_by_chunks_never_written_becomes_fill() {
    let from = place(false);
    let writer = from.create();
    let var = from.add(&writer, "v", Atomic::Int, &[6], true);
    from.run(writer.write(var, &slab(&[3, 3], &[3, 3]), &Values::Int((0..9).collect()))).unwrap();
    from.run(writer.close()).unwrap();
    let source = from.open();
    let to = place(false);
    let writer = to.create();
    let copy = to.add(&writer, "v", Atomic::Int, &[6], true);
    let all = slab(&[0, 0], &[6, 6]);
    to.run(writer.write(copy, &all, &Values::Int(vec![7; 36]))).unwrap();
    to.run(copy_variable(&source, var, &writer, copy)).unwrap();
    assert_eq!(to.run(writer.read(copy, &all)).unwrap(), from.run(source.read(var, &all)).unwrap());
}

#[test]
fn what_is_selected_and_chunks_that_have_fill_of_another_value_do_not_pass_through() {
    let (from, var) = source();
    let dataset = from.open();
    let (to, writer, copy) = target(1 << 20, &[3, 3]);
    let part = slab(&[1, 0], &[39, 50]);
    let plan = to.run(plan_copy((&dataset, var), &part, (&writer, copy), ValueTreatment::default())).unwrap();
    assert_eq!(plan.passed, 0);
    let set = |model: &mut Model| {
        model.variable_mut(copy).unwrap().fill = Fill::Apart(Values::Int(vec![7]));
        Ok(())
    };
    to.run(writer.edit(set)).unwrap();
    let all = slab(&[0, 0], &[40, 50]);
    let plan = to.run(plan_copy((&dataset, var), &all, (&writer, copy), ValueTreatment::default())).unwrap();
    // Of 14 rows of 17 chunks, the last is clipped along the axis that may grow: its fill would become visible.
    assert_eq!(plan.passed, 13 * 17);
}

#[test]
fn encoded_chunks_are_checked_before_any_is_stored() {
    let place = place(false);
    let writer = place.create();
    let var = place.add(&writer, "v", Atomic::Int, &[6], false);
    let body = bytes::Bytes::from(vec![0; 16]);
    let chunk = |cell: [u64; 2]| EncodedChunk { cell: cell.to_vec(), body: body.clone(), mask: 0 };
    place.run(writer.grow_to(var, &[4, 6])).unwrap();
    for bad in [
        vec![chunk([0, 0]), chunk([2, 0])],
        vec![chunk([0, 0]), chunk([0, 0])],
        vec![EncodedChunk { mask: 1, ..chunk([0, 0]) }],
        vec![EncodedChunk { body: bytes::Bytes::from(vec![0; 15]), ..chunk([0, 0]) }],
    ] {
        let error = place.run(writer.write_encoded(var, bad)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
    }
    place.run(writer.write_encoded(var, vec![chunk([1, 2]), chunk([0, 0])])).unwrap();
    let read = place.run(writer.read(var, &slab(&[0, 0], &[4, 2]))).unwrap();
    assert_eq!(read, Values::Int([vec![0; 4], vec![-2_147_483_647; 4]].concat()));
}

//! Copying between formats.
use super::*;

fn filled(flat: bool, ty: Atomic) -> (Place, VarId) {
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
        let to = Place { session: session(1 << 14), ..place(to_flat) };
        let writer = to.create();
        let copy = to.add(&writer, "copy", Atomic::Int, &[50], !to_flat);
        let source = from.open();
        let copied = to.run(copy_variable(&source, var, &writer, copy)).unwrap();
        assert_eq!(copied, Copied { elements: 2000, out_of_range: 0 });
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
    let copied =
        to.run(copy_selection((&source, var), &selection, (&writer, copy), None, &progress)).unwrap();
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

//! Copies through a scratch file.
use super::*;
use crate::write::ValueTreatment;
use ncirrus_store::{LocalStore, StoreOptions};

/// A session with that much memory and without a cache of chunks, whose scratch files go to a folder.
fn session_at(memory: usize, folder: Option<&str>) -> Session {
    let stores = StoreOptions { scratch: folder.map(Into::into), ..StoreOptions::default() };
    Session::builder().threads(4).memory(memory).chunk_cache(0).stores(stores.into()).build().unwrap()
}

/// A place with that much memory, local or remote.
fn place_of(memory: usize, is_far: bool) -> WritePlace {
    let place = place(false);
    let store: Arc<dyn Store> =
        if is_far { Arc::new(DistantStore(place.memory.clone())) } else { place.memory.shared() };
    WritePlace { session: session_at(memory, None), store, ..place }
}

/// Adds a variable of these chunks, with the rows on an unlimited dimension.
fn add(
    place: &WritePlace,
    writer: &DatasetWriter,
    name: &str,
    ty: Atomic,
    fixed: &[u64],
    chunks: &[u64],
) -> VarId {
    let var = place.add(writer, name, ty, fixed, true);
    let set = |model: &mut Model| {
        model.variable_mut(var).unwrap().storage = Storage::Chunked(chunks.to_vec());
        Ok(())
    };
    place.run(writer.edit(set)).unwrap();
    var
}

/// A dataset of consecutive numbers.
fn counted(place: &WritePlace, ty: Atomic, shape: &[u64], chunks: &[u64]) -> (Dataset, VarId) {
    let writer = place.create();
    let var = add(place, &writer, "v_big", ty, &shape[1..], chunks);
    place.run(writer.write(var, &Selection::all(shape), &numbers(ty, shape))).unwrap();
    place.run(writer.close()).unwrap();
    (open(place), var)
}

fn open(place: &WritePlace) -> Dataset {
    let drivers: [Arc<dyn ncirrus_layout::Driver>; 1] = [Arc::new(TestDriver(place.format.clone()))];
    let options = ncirrus_layout::OpenOptions::default();
    let opened = place.session.open(Arc::clone(&place.store), place.root(), &drivers, &options);
    place.run(opened).unwrap()
}

fn numbers(ty: Atomic, shape: &[u64]) -> Values {
    let count = i32::try_from(shape.iter().product::<u64>()).unwrap();
    convert::cast(&Values::Int((0..count).collect()), ty).unwrap().0
}

/// Copies through a scratch file: what happens matches the plan, and each chunk is decoded and encoded once.
fn copied(
    from: &WritePlace,
    (source, var): &(Dataset, VarId),
    to: &WritePlace,
    chunks: &[u64],
) -> (CopyPlan, Values) {
    let shape = source.model().shape(*var);
    let writer = to.create();
    let copy = add(to, &writer, "copy", Atomic::Int, &shape[1..], chunks);
    let all = Selection::all(&shape);
    let plan = to.run(plan_copy((source, *var), &all, (&writer, copy), ValueTreatment::default())).unwrap();
    assert!(plan.scratch > 0, "{plan}");
    let reported = std::sync::atomic::AtomicU64::new(0);
    let report = |elements: u64| _ = reported.fetch_add(elements, std::sync::atomic::Ordering::Relaxed);
    let (before, stored) = (from.session.statistics(), to.session.statistics().chunks_stored);
    let done = to
        .run(copy_selection((source, *var), &all, (&writer, copy), ValueTreatment::default(), &report))
        .unwrap();
    let after = from.session.statistics();
    let elements = shape.iter().product();
    assert_eq!((done.elements, reported.into_inner()), (elements, elements));
    assert_eq!((plan.decoded, plan.max_decoded), (plan.chunks, 1), "{plan}");
    assert_eq!(after.chunks_decoded - before.chunks_decoded, plan.chunks, "{plan}");
    let cells = shape.iter().zip(chunks).map(|(len, chunk)| len.div_ceil(*chunk)).product::<u64>();
    assert_eq!(plan.written, cells);
    if !std::ptr::eq(from, to) {
        assert_eq!(to.session.statistics().chunks_stored - stored, cells);
        assert_eq!(after.requests - before.requests, plan.requests, "{plan}");
    }
    to.run(writer.close()).unwrap();
    let read = to.run(open(to).read(copy, &all)).unwrap();
    (plan, read)
}

#[test]
fn each_chunk_is_decoded_once_and_encoded_once_however_little_memory_there_is() {
    let shape = [40, 12, 30];
    for (maps, series) in [([1, 12, 30], [40, 4, 3]), ([40, 1, 1], [2, 12, 30]), ([7, 5, 4], [3, 11, 30])] {
        for (from_far, to_far) in [(false, false), (true, false), (false, true)] {
            let (from, to) = (place_of(1 << 20, from_far), place_of(1 << 14, to_far));
            let source = counted(&from, Atomic::Int, &shape, &maps);
            let (plan, read) = copied(&from, &source, &to, &series);
            assert_eq!(read, numbers(Atomic::Int, &shape), "{plan}");
            assert_eq!(plan.scratch, 40 * 12 * 30 * 4, "{plan}");
            let text = plan.to_string();
            assert!(text.contains("scratch     a file of 57600 bytes in "), "{text}");
        }
    }
}

#[test]
fn where_memory_is_enough_there_is_no_scratch_file() {
    let (from, to) = (place_of(1 << 20, false), place_of(1 << 20, false));
    let (source, var) = counted(&from, Atomic::Int, &[40, 12, 30], &[1, 12, 30]);
    let writer = to.create();
    let copy = add(&to, &writer, "copy", Atomic::Int, &[12, 30], &[40, 4, 3]);
    let all = Selection::all(&[40, 12, 30]);
    let plan = to.run(plan_copy((&source, var), &all, (&writer, copy), ValueTreatment::default())).unwrap();
    assert_eq!((plan.scratch, plan.max_decoded, plan.no_scratch), (0, 1, None), "{plan}");
}

#[test]
fn chunks_that_were_never_written_stay_so() {
    let (from, to) = (place_of(1 << 20, false), place_of(1 << 13, false));
    let shape = [40, 12, 30];
    let writer = from.create();
    let var = add(&from, &writer, "v", Atomic::Int, &[12, 30], &[1, 6, 30]);
    // Half of some maps; the last one gives the array its full length.
    for map in [3, 4, 39] {
        let values = Values::Int(vec![map; 180]);
        from.run(writer.write(var, &slab(&[u64::try_from(map).unwrap(), 6, 0], &[1, 6, 30]), &values))
            .unwrap();
    }
    from.run(writer.close()).unwrap();
    let source = open(&from);
    let all = Selection::all(&shape);
    let expected = from.run(source.read(var, &all)).unwrap();
    let writer = to.create();
    let copy = add(&to, &writer, "copy", Atomic::Int, &[12, 30], &[20, 6, 5]);
    let plan = to.run(plan_copy((&source, var), &all, (&writer, copy), ValueTreatment::default())).unwrap();
    assert!(plan.scratch > 0, "{plan}");
    let before = to.session.statistics().chunks_stored;
    to.run(copy_variable(&source, var, &writer, copy)).unwrap();
    assert_eq!(to.session.statistics().chunks_stored - before, 2 * 6, "half of all cells are empty");
    to.run(writer.close()).unwrap();
    assert_eq!(to.run(open(&to).read(copy, &all)).unwrap(), expected);
    let is_there = |cell: &str| to.memory.stat(&to.root().child(&format!("v0/{cell}"))).unwrap().is_some();
    assert!(is_there("1.1.0") && !is_there("1.0.0"));
    // If the copy has another fill value, everything is written.
    let writer = to.create();
    let copy = add(&to, &writer, "other", Atomic::Int, &[12, 30], &[20, 6, 5]);
    let set = |model: &mut Model| {
        model.variable_mut(copy).unwrap().fill = Fill::Apart(Values::Int(vec![7]));
        Ok(())
    };
    to.run(writer.edit(set)).unwrap();
    to.run(copy_variable(&source, var, &writer, copy)).unwrap();
    assert_eq!(to.run(writer.read(copy, &all)).unwrap(), expected);
}

#[test]
#[cfg(target_os = "linux")]
fn without_room_for_a_file_chunks_are_decoded_more_than_once_and_the_plan_says_why() {
    let from = place_of(1 << 20, false);
    let (source, var) = counted(&from, Atomic::Int, &[40, 12, 30], &[1, 12, 30]);
    // This file system never has any room.
    let to = WritePlace { session: session_at(1 << 13, Some("/proc/scratch")), ..place(false) };
    let writer = to.create();
    let copy = add(&to, &writer, "copy", Atomic::Int, &[12, 30], &[40, 4, 3]);
    let all = Selection::all(&[40, 12, 30]);
    let plan = to.run(plan_copy((&source, var), &all, (&writer, copy), ValueTreatment::default())).unwrap();
    assert!(plan.scratch == 0 && plan.max_decoded > 1, "{plan}");
    assert!(
        plan.to_string().contains("no scratch  the folder of the setting scratch has no space left"),
        "{plan}"
    );
    to.run(copy_variable(&source, var, &writer, copy)).unwrap();
    assert_eq!(to.run(writer.read(copy, &all)).unwrap(), numbers(Atomic::Int, &[40, 12, 30]));
}

#[test]
fn values_of_no_fixed_size_take_the_other_way() {
    let texts = Values::String((0..2000).map(|at| Some("x".repeat(at % 7))).collect());
    let (from, to) = (place_of(1 << 20, false), place_of(1 << 13, false));
    let all = Selection::all(&[40, 50]);
    let writer = from.create();
    let var = add(&from, &writer, "v", Atomic::String, &[50], &[1, 50]);
    from.run(writer.write(var, &all, &texts)).unwrap();
    from.run(writer.close()).unwrap();
    let source = open(&from);
    let writer = to.create();
    let copy = add(&to, &writer, "copy", Atomic::String, &[50], &[40, 2]);
    let plan = to.run(plan_copy((&source, var), &all, (&writer, copy), ValueTreatment::default())).unwrap();
    assert_eq!((plan.scratch, plan.no_scratch), (0, Some("elements have no fixed size")), "{plan}");
    to.run(copy_variable(&source, var, &writer, copy)).unwrap();
    assert_eq!(to.run(writer.read(copy, &all)).unwrap(), texts);
}

#[test]
fn a_damaged_chunk_fails_the_copy_with_its_place() {
    let (from, to) = (place_of(1 << 20, false), place_of(1 << 13, false));
    let (source, var) = counted(&from, Atomic::Int, &[40, 12, 30], &[1, 12, 30]);
    let chunk = from.root().child(&format!("v{}/33.0.0", var.index()));
    from.memory
        .put_bytes(&chunk, bytes::Bytes::from_static(b"damaged"), &ncirrus_store::PutCondition::None)
        .unwrap();
    let writer = to.create();
    let copy = add(&to, &writer, "copy", Atomic::Int, &[12, 30], &[40, 4, 3]);
    let error = to.run(copy_variable(&source, var, &writer, copy)).unwrap_err();
    assert_eq!(error.place().chunk.as_deref(), Some(&[33, 0, 0][..]), "{error}");
}

#[test]
fn a_damaged_chunk_is_skipped_once_where_that_is_wanted() {
    let (from, to) = (place_of(1 << 20, false), place_of(1 << 13, false));
    let shape = [40, 12, 30];
    let (source, var) = counted(&from, Atomic::Int, &shape, &[1, 12, 30]);
    let chunk = from.root().child(&format!("v{}/33.0.0", var.index()));
    let damaged = bytes::Bytes::from_static(b"damaged");
    from.memory.put_bytes(&chunk, damaged, &ncirrus_store::PutCondition::None).unwrap();
    let writer = to.create();
    let copy = add(&to, &writer, "copy", Atomic::Int, &[12, 30], &[40, 4, 3]);
    let skipped = Mutex::new(Vec::new());
    let all = Selection::all(&shape);
    let report = |one: SkippedPart| skipped.lock().unwrap().push(one.chunk);
    let copying = copy_around_damage(
        (&source, var),
        &all,
        (&writer, copy),
        ValueTreatment::default(),
        &|_| (),
        &report,
    );
    to.run(copying).unwrap();
    assert_eq!(skipped.into_inner().unwrap(), [Some(vec![33, 0, 0])]);
    let Values::Int(read) = to.run(writer.read(copy, &all)).unwrap() else { panic!() };
    let map = 12 * 30;
    for (at, value) in read.into_iter().enumerate() {
        let expected = if at / map == 33 { -2_147_483_647 } else { i32::try_from(at).unwrap() };
        assert_eq!(value, expected);
    }
}

fn any_axis() -> impl Strategy<Value = (u64, u64, u64, u64, u64)> {
    (1..14u64, 1..9u64, 1..9u64)
        .prop_flat_map(|(len, source, target)| {
            (0..len).prop_flat_map(move |start| (Just((len, source, target)), Just(start), 1..=len - start))
        })
        .prop_map(|((len, source, target), start, count)| (len, source, target, start, count))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn boxes_are_copied_with_whatever_chunks_types_and_memory(
        axes in prop::collection::vec(any_axis(), 1..4),
        ty in prop::sample::select(vec![Atomic::Int, Atomic::Short, Atomic::Double]),
        memory in 64..20_000usize,
        (from_far, to_far) in any::<(bool, bool)>(),
        is_big in any::<bool>(),
        quantized in any::<bool>(),
    ) {
        let list = |pick: fn(&(u64, u64, u64, u64, u64)) -> u64| axes.iter().map(pick).collect::<Vec<_>>();
        let (shape, source_chunks, chunks) = (list(|axis| axis.0), list(|axis| axis.1), list(|axis| axis.2));
        let selection = slab(&list(|axis| axis.3), &list(|axis| axis.4));
        let (from, to) = (place_of(1 << 20, from_far), place_of(memory, to_far));
        let (source, var) = counted(&from, Atomic::Int, &shape, &source_chunks);
        let writer = to.create();
        let fixed = selection.shape()[1..].to_vec();
        let copy = add(&to, &writer, if is_big { "copy_big" } else { "copy" }, ty, &fixed, &chunks);
        let quantize = (quantized && ty == Atomic::Double).then_some(convert::Quantize::BitRound(3));
        let plan = to.run(plan_copy((&source, var), &selection, (&writer, copy), ValueTreatment { quantize, ..ValueTreatment::default() })).unwrap();
        to.run(copy_selection((&source, var), &selection, (&writer, copy), ValueTreatment { quantize, ..ValueTreatment::default() }, &|_| ())).unwrap();
        to.run(writer.close()).unwrap();
        let read = to.run(open(&to).read(copy, &Selection::all(&selection.shape()))).unwrap();
        let values = from.run(source.read(var, &selection)).unwrap();
        let mut expected = convert::cast(&values, ty).unwrap().0;
        if let Some(quantize) = quantize {
            quantize.apply(&mut expected, &Values::Double(vec![f64::MAX]));
        }
        prop_assert_eq!(read, expected, "{}", plan);
    }
}

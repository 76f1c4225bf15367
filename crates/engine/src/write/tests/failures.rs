//! The state after a failure, and what is refused.
use super::*;

/// Creates a dataset of two variables with rows of ones.
fn first_version(place: &WritePlace) -> (VarId, VarId) {
    let writer = place.create();
    let one = place.add(&writer, "one", Atomic::Int, &[4], false);
    let other = place.add(&writer, "other", Atomic::Int, &[2], !place.format.flat);
    place.run(writer.write(one, &slab(&[0, 0], &[4, 4]), &Values::Int(vec![1; 16]))).unwrap();
    place.run(writer.write(other, &slab(&[0, 0], &[4, 2]), &Values::Int(vec![1; 8]))).unwrap();
    place.run(writer.close()).unwrap();
    (one, other)
}

async fn second_version(writer: DatasetWriter, one: VarId, other: VarId) -> Result<()> {
    writer.write(one, &slab(&[0, 0], &[3, 4]), &Values::Int(vec![2; 12])).await?;
    writer.write(other, &slab(&[4, 0], &[3, 2]), &Values::Int(vec![2; 6])).await?;
    writer.edit(|model| Ok(model.add_variable(model.root(), "new", Atomic::Int.into(), &[])?)).await?;
    writer.close().await
}

#[test]
fn an_update_that_is_cut_off_anywhere_leaves_the_old_or_the_new_dataset() {
    let (mut cut, mut done) = (0, 0);
    for allowed in 0..40 {
        let place = place(false);
        let (one, other) = first_version(&place);
        let store = UnpluggedStore::after(&place.memory, allowed);
        let drivers: [Arc<dyn ncirrus_layout::Driver>; 1] = [Arc::new(TestDriver(place.format.clone()))];
        let options = ncirrus_layout::OpenOptions::default();
        let dataset = place.run(place.session.open(store, place.root(), &drivers, &options)).unwrap();
        let writer = place.run(place.session.update(&dataset)).unwrap();
        let result = place.run(second_version(writer, one, other));
        let after = place.open();
        let new = after.model().variable_at("/new").is_some();
        assert_eq!(result.is_ok(), new, "after {allowed} changes: {result:?}");
        assert_eq!(after.model().shape(other), if new { [7, 2] } else { [4, 2] });
        let Values::Int(ones) = place.run(after.read(one, &slab(&[0, 0], &[4, 4]))).unwrap() else {
            panic!()
        };
        for cell in [[0, 1, 4, 5], [2, 3, 6, 7], [8, 9, 12, 13]] {
            let values: Vec<i32> = cell.iter().map(|at| ones[*at]).collect();
            let wanted: &[&[i32]] = if cell[0] < 8 { &[&[1; 4], &[2; 4]] } else { &[&[1; 4], &[2, 2, 1, 1]] };
            assert!(wanted.contains(&values.as_slice()), "after {allowed} changes: {values:?}");
        }
        let Values::Int(old) = place.run(after.read(other, &slab(&[0, 0], &[4, 2]))).unwrap() else {
            panic!()
        };
        assert_eq!(old, [1; 8], "an append leaves the rows that were there alone");
        match result {
            Ok(()) => done += 1,
            Err(_) => cut += 1,
        }
    }
    assert!(cut > 8 && done > 0, "{cut} cut off, {done} done");
}

#[test]
fn a_creation_that_is_cut_off_anywhere_is_no_dataset() {
    for flat in [false, true] {
        let mut done = 0;
        for allowed in 0..40 {
            let near = place(flat);
            let place = WritePlace { store: UnpluggedStore::after(&near.memory, allowed), ..near };
            let writer = place.create();
            let var = place.add(&writer, "v", Atomic::Int, &[4], false);
            let whole = Values::Int((0..20).collect());
            let written = place.run(writer.write(var, &slab(&[0, 0], &[5, 4]), &whole));
            let closed = match written {
                Ok(()) => place.run(writer.close()),
                Err(error) => {
                    let again = place.run(writer.sync()).unwrap_err();
                    assert!(again.message().contains("earlier change"), "{again:?}");
                    Err(error)
                }
            };
            // A flat file exists before its header says so.
            let complete = if flat { head(&place) > 0 } else { place.try_open().is_ok() };
            assert_eq!(closed.is_ok(), complete, "after {allowed} changes");
            if complete {
                let read = place.run(place.open().read(var, &slab(&[0, 0], &[5, 4]))).unwrap();
                assert_eq!(read, whole);
                done += 1;
            }
        }
        assert!((1..40).contains(&done), "{done} done");
    }
}

fn head(place: &WritePlace) -> u64 {
    use ncirrus_store::LocalStore;
    let mut head = [0; 8];
    place.memory.read_into(&place.root(), 0, &mut head).unwrap();
    u64::from_le_bytes(head)
}

#[test]
fn what_the_format_refuses_is_taken_back() {
    let place = place(false);
    let writer = place.create();
    let var = place.add(&writer, "v", Atomic::Int, &[4], false);
    place.run(writer.sync()).unwrap();
    let bad =
        place.run(writer.edit(|model| Ok(model.add_variable(model.root(), "bad", Atomic::Int.into(), &[])?)));
    let bad = bad.unwrap();
    let error = place.run(writer.sync()).unwrap_err();
    assert_eq!((error.kind(), error.place().path.as_deref()), (ErrorKind::Unsupported, Some("/bad")));
    assert!(writer.model().variable(bad).is_none());
    place.run(writer.write(var, &slab(&[0, 0], &[1, 4]), &Values::Int(vec![1; 4]))).unwrap();
    place.run(writer.close()).unwrap();
    assert!(place.open().model().variable_at("/bad").is_none());
}

#[test]
fn a_commit_after_refused_definitions_reports_them_again() {
    let place = place(false);
    let writer = place.create();
    let var = place.add(&writer, "v", Atomic::Int, &[4], false);
    let bad =
        place.run(writer.edit(|model| Ok(model.add_variable(model.root(), "bad", Atomic::Int.into(), &[])?)));
    let ones = Values::Int(vec![1; 4]);
    place.run(writer.write(bad.unwrap(), &slab(&[], &[]), &Values::Int(vec![1]))).unwrap_err();
    let error = place.run(writer.sync()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.message().contains("were refused"), "{error}");
    assert!(writer.model().variable(var).is_none(), "what was defined in the same turn is taken back, too");
    let var = place.add(&writer, "v", Atomic::Int, &[4], false);
    place.run(writer.write(var, &slab(&[0, 0], &[1, 4]), &ones)).unwrap();
    place.run(writer.close()).unwrap();
}

#[test]
fn an_unknown_filter_is_an_error_that_names_it() {
    let place = place(false);
    let writer = place.create();
    let var = place.add(&writer, "v", Atomic::Int, &[4], false);
    let filter = ncirrus_model::CodecSpec::hdf5(54_321, &[]);
    let edit = |model: &mut Model| {
        model.variable_mut(var).unwrap().filters = vec![filter];
        Ok(())
    };
    place.run(writer.edit(edit)).unwrap();
    let error = place.run(writer.sync()).unwrap_err();
    assert!(error.message().contains("54321"), "{error}");
    assert_eq!(error.place().path.as_deref(), Some("/v"));
}

#[test]
fn filters_are_put_in_the_words_of_the_format() {
    let place = place(false);
    let writer = place.create();
    let var = place.add(&writer, "v", Atomic::Int, &[4], false);
    let edit = |model: &mut Model| {
        model.variable_mut(var).unwrap().filters = vec![ncirrus_model::CodecSpec::hdf5(1, &[5])];
        Ok(())
    };
    place.run(writer.edit(edit)).unwrap();
    place.run(writer.write(var, &slab(&[0, 0], &[2, 4]), &Values::Int(vec![3; 8]))).unwrap();
    place.run(writer.close()).unwrap();
    let dataset = place.open();
    assert_eq!(dataset.model().variable(var).unwrap().filters[0].identifier(), "zlib");
    assert_eq!(place.run(dataset.read(var, &slab(&[0, 0], &[2, 4]))).unwrap(), Values::Int(vec![3; 8]));
}

#[test]
fn wrong_values_change_nothing() {
    let place = place(false);
    let writer = place.create();
    let var = place.add(&writer, "v", Atomic::Int, &[4], false);
    let text = place.add(&writer, "text", Atomic::String, &[2], false);
    let refused = [
        (var, slab(&[0, 0], &[1, 4]), Values::Int(vec![1; 3])),
        (var, slab(&[0, 0], &[1, 4]), Values::UInt(vec![1; 4])),
        (var, slab(&[0, 1], &[1, 4]), Values::Int(vec![1; 4])),
        (var, slab(&[0], &[4]), Values::Int(vec![1; 4])),
        (text, slab(&[0, 0], &[1, 1]), Values::String(Strings::from_iter([Some("\0")]))),
    ];
    for (var, selection, values) in refused {
        let error = place.run(writer.write(var, &selection, &values)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
        assert!(error.place().path.is_some(), "{error}");
    }
    assert_eq!(writer.model().shape(var), [0, 4]);
    assert_eq!(writer.stage.held(), 0);
}

#[test]
fn storage_of_written_variables_is_settled_but_other_definitions_change() {
    let place = place(false);
    let writer = place.create();
    let var = place.add(&writer, "v", Atomic::Int, &[4], false);
    place.run(writer.write(var, &slab(&[0, 0], &[1, 1]), &Values::Int(vec![9]))).unwrap();
    let late = |model: &mut Model| Ok(model.set_fill(var, Values::Int(vec![0]))?);
    assert_eq!(place.run(writer.edit(late)).unwrap_err().kind(), ErrorKind::Invalid);
    let shorter = |model: &mut Model| {
        let dim = model.variable(var).unwrap().dims[1];
        Ok(model.set_dimension_len(dim, DimensionLen::Fixed(2))?)
    };
    assert_eq!(place.run(writer.edit(shorter)).unwrap_err().kind(), ErrorKind::Invalid);
    let more = |model: &mut Model| {
        model.rename_variable(var, "w")?;
        Ok(model.add_variable(model.root(), "late", Atomic::Byte.into(), &[])?)
    };
    let late = place.run(writer.edit(more)).unwrap();
    place.run(writer.write(late, &slab(&[], &[]), &Values::Byte(vec![5]))).unwrap();
    assert_eq!(place.run(writer.read(var, &slab(&[0, 0], &[1, 1]))).unwrap(), Values::Int(vec![9]));
    place.run(writer.edit(|model| Ok(model.remove_variable(late).map(|_| ())?))).unwrap();
    assert_eq!(place.run(writer.read(late, &slab(&[], &[]))).unwrap_err().kind(), ErrorKind::NotFound);
    place.run(writer.close()).unwrap();
    assert_eq!(place.run(place.open().read(var, &slab(&[0, 0], &[1, 1]))).unwrap(), Values::Int(vec![9]));
}

#[test]
fn a_second_sync_changes_nothing_and_what_is_dropped_is_lost() {
    let place = place(false);
    let writer = place.create();
    let var = place.add(&writer, "v", Atomic::Int, &[4], false);
    place.run(writer.write(var, &slab(&[0, 0], &[1, 3]), &Values::Int(vec![1, 2, 3]))).unwrap();
    place.run(writer.sync()).unwrap();
    let keys = place.memory.keys();
    let models = place.format.models.lock().unwrap().len();
    place.run(writer.sync()).unwrap();
    assert_eq!((place.memory.keys(), place.format.models.lock().unwrap().len()), (keys.clone(), models));
    place.run(writer.write(var, &slab(&[5, 0], &[1, 1]), &Values::Int(vec![1]))).unwrap();
    writer.abort();
    assert_eq!(place.memory.keys(), keys);
    assert_eq!(place.open().model().shape(var), [1, 4]);
}

#[test]
fn a_commit_that_is_abandoned_half_way_ends_the_writer() {
    let near = place(false);
    let place = WritePlace { store: Arc::new(DistantStore(near.memory.clone())), ..near };
    let writer = place.create();
    let var = place.add(&writer, "v", Atomic::Int, &[4], false);
    place.run(writer.sync()).unwrap();
    place.run(writer.write(var, &slab(&[0, 0], &[2, 4]), &Values::Int(vec![1; 8]))).unwrap();
    place.run(writer.drained()).unwrap();
    {
        let mut sync = std::pin::pin!(writer.sync());
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        assert!(sync.as_mut().poll(&mut context).is_pending());
    }
    let error = place.run(writer.sync()).unwrap_err();
    assert!(error.message().contains("can no longer be used"), "{error:?}");
}

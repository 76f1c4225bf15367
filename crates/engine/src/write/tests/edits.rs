//! Edits beside other edits, writes and commits.
use super::super::draft::COPIES;
use super::*;
use ncirrus_model::{Attribute, DimId};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// Runs a test that would hang if the code were wrong.
fn in_time<T: Send + 'static>(test: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || sender.send(test()));
    receiver.recv_timeout(Duration::from_secs(60)).expect("the call returns")
}

fn add_dimension(place: &WritePlace, writer: &DatasetWriter, name: &str) -> Result<()> {
    let add = |model: &mut Model| model.add_dimension(model.root(), name, DimensionLen::Fixed(1));
    place.run(writer.edit(|model| Ok(add(model).map(|_| ())?)))
}

#[test]
fn edits_of_several_threads_come_one_after_the_other() {
    in_time(|| {
        let place = place(false);
        let writer = place.create();
        thread::scope(|scope| {
            for thread in 0..8 {
                let (place, writer) = (&place, &writer);
                scope.spawn(move || {
                    for edit in 0..20 {
                        add_dimension(place, writer, &format!("d{thread}_{edit}")).unwrap();
                    }
                });
            }
        });
        let model = writer.model();
        assert_eq!(model.group(model.root()).unwrap().dims.len(), 160);
    });
}

#[test]
fn an_edit_that_waits_for_the_edit_of_another_thread_ends() {
    in_time(|| {
        let place = place(false);
        let writer = place.create();
        let outer = place.run(writer.edit(|model| {
            let inner = thread::scope(|scope| {
                scope.spawn(|| add_dimension(&place, &writer, "inner")).join().unwrap()
            });
            assert_eq!(inner.unwrap_err().kind(), ErrorKind::Conflict);
            Ok(model.add_dimension(model.root(), "outer", DimensionLen::Fixed(1))?)
        }));
        assert!(outer.is_ok());
        add_dimension(&place, &writer, "inner").unwrap();
        let model = writer.model();
        assert_eq!(model.group(model.root()).unwrap().dims.len(), 2);
    });
}

#[test]
fn an_edit_of_what_was_taken_back_meanwhile_is_refused() {
    in_time(|| {
        let place = place(false);
        let writer = place.create();
        let unknown = |model: &mut Model| {
            let var = model.add_variable(model.root(), "v", Atomic::Int.into(), &[])?;
            let unknown = serde_json::json!({"id": "nobody-knows-it"});
            let spec = ncirrus_model::CodecSpec::V2(unknown.as_object().unwrap().clone());
            model.variable_mut(var).unwrap().filters = vec![spec];
            Ok(())
        };
        place.run(writer.edit(unknown)).unwrap();
        let edited = place.run(writer.edit(|model| {
            assert!(place.run(writer.sync()).is_err(), "what the format does not know is taken back");
            Ok(model.add_dimension(model.root(), "d", DimensionLen::Fixed(1))?)
        }));
        assert_eq!(edited.unwrap_err().kind(), ErrorKind::Conflict);
        let model = writer.model();
        let root = model.group(model.root()).unwrap();
        assert!(root.dims.is_empty() && root.vars.is_empty());
        add_dimension(&place, &writer, "d").unwrap();
        place.run(writer.close()).unwrap();
    });
}

#[test]
fn a_variable_with_data_whose_fill_is_nan_stands_in_no_edits_way() {
    let place = place(false);
    let writer = place.create();
    let var = place.add(&writer, "v", Atomic::Float, &[2], false);
    let fill = |model: &mut Model| Ok(model.set_fill(var, Values::Float(vec![f32::NAN]))?);
    place.run(writer.edit(fill)).unwrap();
    place.run(writer.write(var, &slab(&[0, 0], &[1, 2]), &Values::Float(vec![1.0, 2.0]))).unwrap();
    add_dimension(&place, &writer, "d").unwrap();
    let other = |model: &mut Model| Ok(model.set_fill(var, Values::Float(vec![0.0]))?);
    assert_eq!(place.run(writer.edit(other)).unwrap_err().kind(), ErrorKind::Invalid);
    place.run(writer.close()).unwrap();
}

#[test]
fn the_attribute_fill_value_of_a_new_variable_is_what_is_never_written() {
    let place = place(false);
    let writer = place.create();
    let var = place.add(&writer, "v", Atomic::Int, &[4], false);
    let set = |values: Values| {
        move |model: &mut Model| {
            let attribute = Attribute::atomic("_FillValue", values);
            let variable = model.variable_mut(var).unwrap();
            variable.attributes.known_mut().set(attribute)?;
            Ok(())
        }
    };
    let own = || writer.model().variable(var).unwrap().own_fill().cloned();
    place.run(writer.edit(set(Values::Int(vec![7])))).unwrap();
    assert_eq!(own(), Some(Values::Int(vec![7])));
    // Readers do not take one of another type for it.
    place.run(writer.edit(set(Values::Double(vec![7.0])))).unwrap();
    assert_eq!(own(), None);
    place.run(writer.edit(set(Values::Int(vec![8])))).unwrap();
    place.run(writer.write(var, &slab(&[0, 0], &[1, 2]), &Values::Int(vec![1, 2]))).unwrap();
    // Some elements have been filled.
    place.run(writer.edit(set(Values::Int(vec![9])))).unwrap();
    assert_eq!(own(), Some(Values::Int(vec![8])));
    let variable = || writer.model().variable(var).unwrap().clone();
    assert_eq!(variable().fill_attribute(), Some(&Values::Int(vec![9])), "nothing is lost");
    let remove = |model: &mut Model| {
        model.variable_mut(var).unwrap().attributes.known_mut().remove("_FillValue");
        Ok(())
    };
    place.run(writer.edit(remove)).unwrap();
    assert_eq!((variable().fill, variable().fill_attribute()), (Fill::Apart(Values::Int(vec![8])), None));
    let chosen = |model: &mut Model| Ok(model.set_fill(var, Values::Int(vec![9]))?);
    assert_eq!(place.run(writer.edit(chosen)).unwrap_err().kind(), ErrorKind::Invalid);
    let same = |model: &mut Model| Ok(model.set_fill(var, Values::Int(vec![8]))?);
    place.run(writer.edit(same)).unwrap();
    assert_eq!((variable().fill, own()), (Fill::Attribute, Some(Values::Int(vec![8]))));
}

#[test]
fn an_attribute_that_comes_after_data_is_not_the_fill_value() {
    let place = place(false);
    let writer = place.create();
    let var = place.add(&writer, "v", Atomic::Float, &[4], false);
    place.run(writer.write(var, &slab(&[0, 0], &[1, 2]), &Values::Float(vec![1.0, 2.0]))).unwrap();
    let set = |model: &mut Model| {
        let attribute = Attribute::atomic("_FillValue", Values::Float(vec![f32::NAN]));
        Ok(model.set_attribute(NodeId::Variable(var), attribute)?)
    };
    place.run(writer.edit(set)).unwrap();
    let variable = writer.model().variable(var).unwrap().clone();
    assert_eq!((variable.own_fill(), &variable.fill), (None, &Fill::Default));
    assert!(variable.fill_attribute().is_some());
    place.run(writer.close()).unwrap();
    let read = place.run(place.open().read(var, &slab(&[0, 0], &[1, 4]))).unwrap();
    let Values::Float(read) = read else { panic!("of another type") };
    assert_eq!(read[2..], [9.969_21e36; 2]);
}

/// Defines so many of each kind, one by one, with changes that are refused between them.
fn define_one_by_one(place: &WritePlace, writer: &DatasetWriter, count: usize) {
    let edit = |change: &dyn Fn(&mut Model) -> Result<()>| place.run(writer.edit(|model| change(model)));
    for n in 0..count {
        let name = format!("n{n}");
        edit(&|model| Ok(model.add_group(model.root(), &format!("g{n}")).map(|_| ())?)).unwrap();
        edit(&|model| Ok(model.add_dimension(model.root(), &name, DimensionLen::Fixed(1)).map(|_| ())?))
            .unwrap();
        edit(&|model| {
            let dim = model.dimension_in(model.root(), &name).unwrap();
            let root = model.root();
            let var = model.add_variable(root, &name, TypeRef::Atomic(Atomic::Int), &[dim])?;
            Ok(model.set_fill(var, Values::Int(vec![3]))?)
        })
        .unwrap();
        edit(&|model| {
            let root = NodeId::Group(model.root());
            Ok(model.set_attribute(root, Attribute::text(name.as_str(), "x"))?)
        })
        .unwrap();
        let refused = edit(&|model| {
            model.add_variable(model.root(), "refused", TypeRef::Atomic(Atomic::Int), &[])?;
            model.variable_mut(model.variable_in(model.root(), &name).unwrap()).unwrap().name = "x".into();
            Err(Error::invalid("no"))
        });
        refused.unwrap_err();
    }
    let model = writer.model();
    assert_eq!(model.group(model.root()).unwrap().vars.len(), count);
    assert_eq!(model.group(model.root()).unwrap().dims.len(), count);
}

#[test]
fn definitions_one_by_one_copy_the_model_a_constant_number_of_times() {
    let copies = |count: usize| {
        let place = place(false);
        let writer = place.create();
        let before = COPIES.get();
        define_one_by_one(&place, &writer, count);
        COPIES.get() - before
    };
    let few = copies(10);
    assert!(few <= 3, "{few} copies");
    assert_eq!(copies(200), few);
}

#[test]
fn a_draft_copies_the_model_a_constant_number_of_times_and_counts_when_it_is_given() {
    let place = place(false);
    let writer = place.create();
    let time = add_time(&place, &writer);
    let before = COPIES.get();
    let mut draft = writer.draft();
    for n in 0..100 {
        let add = |model: &mut Model, name: &str| {
            model.add_variable(model.root(), name, TypeRef::Atomic(Atomic::Int), &[time])
        };
        draft.change(|model| Ok(add(model, &format!("v{n}"))?)).unwrap();
        draft.change(|model| Ok(add(model, &format!("v{n}"))?)).unwrap_err();
    }
    assert!(COPIES.get() - before <= 2, "{} copies", COPIES.get() - before);
    assert!(writer.model().variables().is_empty());
    place.run(writer.adopt_draft(&mut draft)).unwrap();
    assert_eq!(writer.model().variables().len(), 100);
    // Dimensions that grow meanwhile are as long afterwards.
    draft.change(|model| Ok(model.rename_dimension(time, "t")?)).unwrap();
    let var = writer.model().variables()[0];
    place.run(writer.write(var, &Selection::slab(&[0], &[5]), &Values::Int(vec![1; 5]))).unwrap();
    place.run(writer.adopt_draft(&mut draft)).unwrap();
    let now = writer.model().dimension(time).unwrap().clone();
    assert_eq!((now.name.as_str(), now.len), ("t", DimensionLen::Unlimited(5)));
    // Another one changed what this one began with.
    draft.change(|model| Ok(model.rename_dimension(time, "mine")?)).unwrap();
    place.run(writer.edit(|model| Ok(model.rename_dimension(time, "theirs")?))).unwrap();
    let refused = place.run(writer.adopt_draft(&mut draft)).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Conflict);
    writer.refresh_draft(&mut draft).unwrap();
    place.run(writer.adopt_draft(&mut draft)).unwrap();
    assert_eq!(writer.model().dimension(time).unwrap().name, "mine");
}

fn add_time(place: &WritePlace, writer: &DatasetWriter) -> DimId {
    let add = |model: &mut Model| model.add_dimension(model.root(), "time", DimensionLen::Unlimited(0));
    place.run(writer.edit(|model| Ok(add(model)?))).unwrap()
}

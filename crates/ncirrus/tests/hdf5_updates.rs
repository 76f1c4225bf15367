//! netCDF-4 files made by netCDF-C, h5py, h5netcdf and ncirrus, changed in place: how other programs read them then,
//! how they continue writing, and the state after the writer is killed.
#![expect(clippy::panic, clippy::unwrap_used, reason = "helpers of tests may panic")]

mod bench;
mod edits;
mod kills;

use crate::kills::stores::copy_of;
use bench::{Bench, bytes_of, root};
use edits::{EDITS, Edit, write};
use ncirrus_engine::Dataset;
use ncirrus_layout::Result;
use ncirrus_model::{Atomic, Attribute, DimensionLen, Model, NodeId, Selection, Values};
use ncirrus_store::{LocalStore, MemoryStore, PutCondition};
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

#[test]
fn files_of_every_maker_are_changed_and_other_programs_read_and_go_on() {
    let Some(bench) = Bench::new() else { return };
    for (maker, memory) in bench.made() {
        let mut sets: Vec<Vec<Edit>> = EDITS.iter().map(|edit| vec![*edit]).collect();
        sets.extend([EDITS.to_vec(), Vec::new(), vec![Edit::Remove, Edit::Add, Edit::Append]]);
        sets.push(vec![Edit::Ties, Edit::Add, Edit::Append]);
        sets.push(vec![Edit::Groups]);
        for edits in sets {
            let changed = copy_of(&memory);
            let names: Vec<&str> = edits.iter().map(|edit| edit.name()).collect();
            let name = format!("{maker}.{}.nc", names.join("+"));
            if let Err(error) = bench.update(changed.shared(), &edits, true) {
                panic!("{name}: {error:?}");
            }
            if edits.is_empty() {
                assert!(bytes_of(&changed) == bytes_of(&memory), "{name}: bytes changed");
            }
            bench.save(&changed, &name);
        }
    }
    let (fine, text) = bench.python(&["check", bench.folder()]);
    assert!(fine, "{text}");
}

/// Everything visible of a dataset, including failures.
async fn everything(dataset: &Dataset) -> BTreeMap<String, String> {
    let model = dataset.model();
    let mut seen = BTreeMap::new();
    let nodes = model.nodes();
    for (node, attributes) in nodes.iter().zip(dataset.attributes(&nodes).await) {
        let path = match node {
            NodeId::Group(id) => model.group_path(*id),
            NodeId::Variable(id) => model.variable_path(*id),
        };
        for attribute in attributes.iter().flat_map(|list| list.iter()) {
            seen.insert(format!("{path}@{}", attribute.name), format!("{:?}", attribute.values));
        }
    }
    for var in model.variables() {
        let shape = model.shape(var);
        if shape.iter().product::<u64>() < 1 << 20 {
            let values = dataset.read(var, &Selection::all(&shape)).await;
            let text = values.map_or_else(|error| format!("{:?}", error.kind()), |values| shown(&values));
            seen.insert(model.variable_path(var), format!("{shape:?} {text}"));
        }
    }
    seen
}

/// A text that differs for different values; of many numbers it is a hash of their bytes.
fn shown(values: &Values) -> String {
    let Some(bytes) = values.as_bytes().filter(|bytes| bytes.len() > 1000) else {
        return format!("{values:?}");
    };
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    format!("{:?} {} {:x}", values.atomic(), values.len(), hasher.finish())
}

fn note(model: &mut Model) -> Result<()> {
    let root = model.root();
    let known = model.attributes_mut(NodeId::Group(root)).unwrap().known_mut();
    known.put(Attribute::text("a_note_of_ncirrus", &"note".repeat(50)));
    let dim = model.add_dimension(root, "a_dimension_of_ncirrus", DimensionLen::Fixed(3))?;
    model.add_variable(root, "a_variable_of_ncirrus", Atomic::Int.into(), &[dim])?;
    Ok(())
}

#[test]
fn a_file_that_another_program_has_open_is_refused_with_the_way_out() {
    let Some(bench) = Bench::new() else { return };
    let (_, memory) = bench.made().into_iter().find(|(maker, _)| maker == "latest").unwrap();
    let path = bench.save(&memory, "marked.h5");
    let (fine, text) = bench.python(&["leave-open", &path]);
    assert!(fine, "{text}");
    let bytes = std::fs::read(path).unwrap();
    LocalStore::put(&memory, &root(&memory), &bytes, &PutCondition::None).unwrap();
    let error = bench.update(memory.shared(), &[Edit::Attributes], true).unwrap_err();
    assert!(error.to_string().contains("h5clear -s"), "{error}");
    assert!(bytes_of(&memory) == bytes);
}

#[test]
fn a_file_behind_a_user_block_is_changed() {
    let Some(bench) = Bench::new() else { return };
    for (maker, memory) in bench.made() {
        let bytes = [vec![b'#'; 1024], bytes_of(&memory)].concat();
        LocalStore::put(&memory, &root(&memory), &bytes, &PutCondition::None).unwrap();
        let edits = [Edit::Attributes, Edit::Append, Edit::Add];
        bench.update(memory.shared(), &edits, true).unwrap_or_else(|error| panic!("{maker}: {error:?}"));
        bench.save(&memory, &format!("{maker}.attributes+append+add.nc"));
    }
    let (fine, text) = bench.python(&["check", bench.folder()]);
    assert!(fine, "{text}");
}

#[test]
fn late_records_cost_no_more_than_early_ones() {
    let Some(bench) = Bench::new() else { return };
    for (maker, memory) in bench.made() {
        let dataset = bench.open(memory.shared()).unwrap();
        let lens: Result<Vec<usize>> = bench.session.block_on(async {
            let writer = bench.session.update(&dataset).await?;
            let mut lens = vec![bytes_of(&memory).len()];
            for record in 3..303u64 {
                write(&writer, "time", &[record], &[1], Values::Double(vec![0.5])).await?;
                write(&writer, "packed", &[record, 0], &[1, 4], Values::Int(vec![1, 2, 3, 4])).await?;
                writer.sync().await?;
                if (record - 2).is_multiple_of(100) {
                    lens.push(bytes_of(&memory).len());
                }
            }
            writer.close().await?;
            Ok(lens)
        });
        let lens = lens.unwrap_or_else(|error| panic!("{maker}: {error:?}"));
        let grown: Vec<usize> = lens.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(grown[2] * 2 <= grown[0] * 3, "{maker}: {grown:?} bytes per 100 records");
        bench.save(&memory, &format!("{maker}-300.h5"));
        let (fine, text) = bench.python(&["open", &format!("{}/{maker}-300.h5", bench.folder())]);
        assert!(fine, "{text}");
    }
}

#[test]
fn every_file_of_the_corpus_takes_a_note_and_keeps_all_else() {
    let (Some(bench), Some(corpus)) = (Bench::new(), ncirrus_testkit::corpus::corpus("hdf5")) else { return };
    let objects = ncirrus_testkit::ObjectView::from_dir(&corpus).unwrap();
    let (mut changed, mut refused, mut before, mut after) = (0, Vec::new(), Vec::new(), Vec::new());
    for key in objects.keys().filter(|key| !key.starts_with("truth")) {
        let bytes = objects.find(key).unwrap();
        if bytes.len() > 1 << 20 {
            continue;
        }
        let memory = MemoryStore::new("memory://updates");
        LocalStore::put(&memory, &root(&memory), bytes, &PutCondition::None).unwrap();
        let Ok(dataset) = bench.open(memory.shared()) else { continue };
        let old = bench.session.block_on(everything(&dataset));
        let outcome: Result<()> = bench.session.block_on(async {
            let writer = bench.session.update(&dataset).await?;
            writer.edit(note).await?;
            let number = Values::Int(vec![1, 2, 3]);
            write(&writer, "a_variable_of_ncirrus", &[0], &[3], number).await?;
            writer.close().await
        });
        if let Err(error) = outcome {
            assert!(bytes_of(&memory) == bytes[..], "{key}: {error}: bytes changed");
            refused.push(format!("{key}: {error}"));
            continue;
        }
        let new = bench.session.block_on(everything(&bench.open(memory.shared()).unwrap()));
        for (path, text) in &old {
            assert_eq!(new.get(path), Some(text), "{key}: {path}");
        }
        let added = "[3] Int([1, 2, 3])".to_owned();
        assert_eq!(new.get("/a_variable_of_ncirrus"), Some(&added), "{key}");
        assert!(new.contains_key("/@a_note_of_ncirrus"), "{key}");
        changed += 1;
        let name = key.replace('/', "-");
        after.push(bench.save(&memory, &format!("after-{name}")));
        let old_path = bench.folder.path().join(format!("before-{name}"));
        std::fs::write(&old_path, bytes).unwrap();
        before.push(old_path.to_str().unwrap().to_owned());
    }
    let failing = |paths: &[String]| -> Vec<String> {
        let arguments: Vec<&str> = std::iter::once("open").chain(paths.iter().map(String::as_str)).collect();
        let text = bench.python(&arguments).1;
        let names =
            text.lines().filter_map(|line| Some(line.split_once('-')?.1.split(": ").next()?.to_owned()));
        names.collect()
    };
    let (old, new) = (failing(&before), failing(&after));
    let worse: Vec<_> = new.iter().filter(|name| !old.contains(name)).collect();
    assert!(worse.is_empty(), "h5py cannot read {worse:?} any more");
    assert!(changed > 150, "{changed} files were changed; not: {refused:#?}");
}

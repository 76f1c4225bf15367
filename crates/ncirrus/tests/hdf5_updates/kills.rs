//! Writers that are killed: every part of the resulting state is old or new.
use super::bench::Bench;
use super::edits::Edit;
use crate::kills::stores::{Unplugged, copy_of};
use ncirrus_engine::Session;
use ncirrus_layout::Result;
use ncirrus_model::{NodeId, Selection, Values};
use ncirrus_store::{BlockingStore, MemoryStore, Store};
use ncirrus_testkit::sample::in_turn;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What a reader sees: attributes by node, and shape and values of each variable.
#[derive(Debug, Clone, PartialEq)]
struct Seen {
    attributes: BTreeMap<String, BTreeMap<String, String>>,
    variables: BTreeMap<String, (Vec<u64>, Vec<String>)>,
}

impl Bench {
    fn seen(&self, memory: &MemoryStore) -> Result<Seen> {
        let dataset = self.open(memory.shared())?;
        let model = dataset.model();
        let mut seen = Seen { attributes: BTreeMap::new(), variables: BTreeMap::new() };
        self.session.block_on(async {
            let nodes = model.nodes();
            for (node, attributes) in nodes.iter().zip(dataset.attributes(&nodes).await) {
                let path = match node {
                    NodeId::Group(id) => model.group_path(*id),
                    NodeId::Variable(id) => model.variable_path(*id),
                };
                let attributes = attributes?;
                assert!(attributes.faults.is_empty(), "{path}: {:?}", attributes.faults);
                let texts = attributes.iter().map(|one| (one.name.clone(), format!("{:?}", one.values)));
                seen.attributes.insert(path, texts.collect());
            }
            for var in model.variables() {
                let (path, shape) = (model.variable_path(var), model.shape(var));
                let values = dataset.read(var, &Selection::all(&shape)).await?;
                seen.variables.insert(path, (shape, texts(&values)));
            }
            Ok(seen)
        })
    }
}

/// The elements as text.
fn texts(values: &Values) -> Vec<String> {
    fn all<T: std::fmt::Debug>(list: &[T]) -> Vec<String> {
        list.iter().map(|one| format!("{one:?}")).collect()
    }
    match values {
        Values::Byte(list) => all(list),
        Values::UByte(list) => all(list),
        Values::Compound { fields, .. } => fields.iter().map(|field| format!("{field:?}")).collect(),
        Values::Short(list) => all(list),
        Values::Int(list) => all(list),
        Values::Int64(list) => all(list),
        Values::Float(list) => all(list),
        Values::Double(list) => all(list),
        Values::String(list) => list.iter().map(|one| format!("{one:?}")).collect(),
        other => panic!("{other:?}"),
    }
}

/// The element at position `at` of an array of another shape.
fn element<'a>((shape, texts): &'a (Vec<u64>, Vec<String>), of: &[u64], at: usize) -> Option<&'a String> {
    let (mut rest, mut index, mut stride) = (u64::try_from(at).unwrap(), 0, 1);
    for (len, other) in shape.iter().zip(of).rev() {
        let along = rest % other;
        rest /= other;
        if along >= *len {
            return None;
        }
        index += along * stride;
        stride *= len;
    }
    texts.get(usize::try_from(index).unwrap())
}

/// Every part of a state equals the old or the new one.
fn mixed(seen: &Seen, old: &Seen, new: &Seen) -> std::result::Result<(), String> {
    for (path, attributes) in &seen.attributes {
        let known = [old, new].into_iter().filter_map(|state| state.attributes.get(path));
        if !known.clone().any(|known| known == attributes) {
            return Err(format!("attributes of {path}: {attributes:?}"));
        }
    }
    let kept = old.variables.keys().filter(|path| new.variables.contains_key(*path));
    if let Some(lost) = kept.into_iter().find(|path| !seen.variables.contains_key(*path)) {
        return Err(format!("{lost} is lost"));
    }
    for (path, (shape, texts)) in &seen.variables {
        let known: Vec<_> = [old, new].into_iter().filter_map(|state| state.variables.get(path)).collect();
        if known.is_empty() {
            return Err(format!("{path} is neither old nor new"));
        }
        for (at, text) in texts.iter().enumerate() {
            let fine = known.iter().any(|known| element(known, shape, at) == Some(text));
            let is_fill = old.variables.get(path).is_none_or(|old| element(old, shape, at).is_none());
            let fills = ["-9", "-2147483647", "0", "0.0", "9.969209968386869e36"];
            if !(fine || is_fill && fills.contains(&text.as_str())) {
                return Err(format!("{path}: element {at} of {shape:?} is {text}"));
            }
        }
    }
    Ok(())
}

/// The edits after which the writer is killed: with several edits at once, intermediate states that are neither old nor
/// new would be valid.
const SINGLY: [&[Edit]; 7] = [
    &[Edit::Attributes],
    &[Edit::Append],
    &[Edit::Overwrite],
    &[Edit::Add, Edit::Attributes],
    &[Edit::Remove],
    &[Edit::Ties, Edit::Types],
    &[Edit::Groups],
];

/// More writes than any of these updates makes.
const MAX_WRITES: usize = 400;

#[test]
fn a_writer_that_is_killed_after_any_write_leaves_a_file_that_opens() {
    let Some(bench) = Bench::new() else { return };
    let mut paths = Vec::new();
    for (of_maker, (maker, base)) in bench.made().into_iter().enumerate() {
        let chosen = SINGLY.into_iter().enumerate().filter(|(number, _)| in_turn(of_maker + number, 2));
        for (_, edits) in chosen {
            let name = format!("{maker} {edits:?}");
            let done = copy_of(&base);
            bench.update(done.shared(), edits, false).unwrap_or_else(|error| panic!("{name}: {error:?}"));
            let (old, new) = (bench.seen(&base).unwrap(), bench.seen(&done).unwrap());
            let mut killed = 0;
            loop {
                let memory = copy_of(&base);
                let dying: Arc<dyn Store> = Arc::new(BlockingStore(Unplugged::after(&memory, killed)));
                let outcome = bench.update(dying, edits, false);
                let at = format!("{name}: after {killed} writes");
                let seen = bench.seen(&memory).unwrap_or_else(|error| panic!("{at}: {error:?}"));
                mixed(&seen, &old, &new).unwrap_or_else(|reason| panic!("{at}: {reason}"));
                let kind: String = edits.iter().map(|edit| edit.name()).collect();
                paths.push(bench.save(&memory, &format!("{maker}-{kind}-{killed}.h5")));
                if outcome.is_ok() {
                    assert_eq!(seen, new, "{at}");
                    break;
                }
                killed += 1;
            }
            assert!((2..MAX_WRITES).contains(&killed), "{name}: {killed} writes");
        }
    }
    for paths in paths.chunks(200) {
        let arguments: Vec<&str> = std::iter::once("open").chain(paths.iter().map(String::as_str)).collect();
        let (fine, text) = bench.python(&arguments);
        assert!(fine, "{text}");
    }
}

#[test]
fn lengths_and_attributes_of_one_commit_change_between_the_same_two_barriers() {
    let Some(mut bench) = Bench::new() else { return };
    bench.session = Session::builder().threads(2).durable(true).build().unwrap();
    for (maker, memory) in bench.made() {
        let old = bench.seen(&memory).unwrap();
        let store = Arc::new(BlockingStore(Unplugged::after(&memory, usize::MAX)));
        bench
            .update(Arc::<BlockingStore<Unplugged>>::clone(&store), &[Edit::Append, Edit::Attributes], false)
            .unwrap();
        let new = bench.seen(&memory).unwrap();
        let states = store.0.at_barriers();
        assert!(states.len() >= 3, "{maker}: {} barriers", states.len());
        for (number, state) in states.iter().enumerate() {
            let seen =
                bench.seen(state).unwrap_or_else(|error| panic!("{maker}: barrier {number}: {error:?}"));
            assert!(seen == old || seen == new, "{maker}: barrier {number} of {}: {seen:?}", states.len());
        }
    }
}

#[test]
fn lengths_and_attributes_of_one_commit_are_one_write() {
    let Some(bench) = Bench::new() else { return };
    for (maker, base) in bench.made() {
        let mut states = Vec::new();
        for killed in 0.. {
            let memory = copy_of(&base);
            let dying: Arc<dyn Store> = Arc::new(BlockingStore(Unplugged::after(&memory, killed)));
            let outcome = bench.update(dying, &[Edit::Append, Edit::Attributes], false);
            states.push(bench.seen(&memory).unwrap_or_else(|error| panic!("{maker}, {killed}: {error:?}")));
            if outcome.is_ok() {
                break;
            }
        }
        let (old, new) = (states[0].clone(), states.last().unwrap().clone());
        assert_ne!(old, new, "{maker}");
        for (killed, seen) in states.iter().enumerate() {
            assert!(*seen == old || *seen == new, "{maker}: after {killed} writes: {seen:?}");
        }
    }
}

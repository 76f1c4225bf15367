//! Anything that is defined, written, redefined and committed in any order reads back, and a file that is changed
//! shows its old state until the last phase of a commit.
use crate::support::file::{Writing3, apply, big_endian, for_each_index};
use crate::support::open;
use ncirrus_classic::{ClassicWriter, FormatVersion};
use ncirrus_layout::PutPhase;
use ncirrus_model::{Atomic, Attribute, DimensionLen, Fill, NodeId, TypeRef, Values, VarId};
use proptest::prelude::*;
use std::collections::{BTreeMap, HashMap, HashSet};

#[derive(Debug, Clone)]
enum Op {
    AddDimension(u64),
    AddVariable { ty: usize, dims: Vec<usize>, record: bool, fill: u8 },
    AddAttribute { var: usize, len: usize },
    Grow(u64),
    Write { var: usize, cell: usize, salt: u8 },
    Remove(usize),
    Rename { var: usize, len: usize },
    Commit,
    Reopen,
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let op = prop_oneof![
        2 => (1..6u64).prop_map(Op::AddDimension),
        4 => (0..11usize, prop::collection::vec(0..4usize, 0..3), any::<bool>(), 0..6u8)
            .prop_map(|(ty, dims, record, fill)| Op::AddVariable { ty, dims, record, fill }),
        1 => (0..6usize, 0..200usize).prop_map(|(var, len)| Op::AddAttribute { var, len }),
        2 => (1..4u64).prop_map(Op::Grow),
        8 => (0..6usize, 0..20usize, any::<u8>()).prop_map(|(var, cell, salt)| Op::Write { var, cell, salt }),
        1 => (0..6usize).prop_map(Op::Remove),
        1 => (0..6usize, 1..40usize).prop_map(|(var, len)| Op::Rename { var, len }),
        1 => Just(Op::Commit),
        1 => Just(Op::Reopen),
    ];
    prop::collection::vec(op, 1..40)
}

/// The written elements of a variable, and the value of its other elements (`None`: anything).
#[derive(Debug, Clone, Default)]
struct Expected {
    /// Elements that were written after the last commit.
    since: HashSet<Vec<u64>>,
    written: HashMap<Vec<u64>, Vec<u8>>,
    fill: Option<Vec<u8>>,
}

/// A state of the file: number of records, and variables by name.
#[derive(Debug, Clone, Default)]
struct State {
    records: u64,
    vars: BTreeMap<String, Expected>,
}

struct Run {
    /// Variables, by their name in the last commit, that were written to and then renamed or removed.
    gone_dirty: Vec<String>,
    writer: ClassicWriter,
    file: Writing3,
    now: State,
    committed: Option<State>,
    counter: usize,
}

impl Run {
    fn new(writer: ClassicWriter) -> Self {
        let mut file = Writing3::create(&writer);
        let dims = |model: &mut ncirrus_model::Model| {
            model.add_dimension(model.root(), "time", DimensionLen::Unlimited(0)).expect("a dimension");
            model.add_dimension(model.root(), "x", DimensionLen::Fixed(3)).expect("a dimension");
        };
        file.define(dims).expect("two dimensions");
        Self { gone_dirty: Vec::new(), writer, file, now: State::default(), committed: None, counter: 0 }
    }

    fn var(&self, pick: usize) -> Option<(VarId, String)> {
        let vars = self.file.model.variables();
        let id = *vars.get(pick % vars.len().max(1))?;
        Some((id, self.file.model.variable(id)?.name.clone()))
    }

    fn step(&mut self, op: &Op) {
        self.counter += 1;
        match op {
            Op::AddDimension(len) => {
                let (name, len) = (format!("d{}", self.counter), DimensionLen::Fixed(*len));
                let add = |model: &mut ncirrus_model::Model| model.add_dimension(model.root(), &name, len);
                self.file.define(add).expect("it fits").expect("a dimension");
            }
            Op::AddVariable { ty, dims, record, fill } => self.add_variable(*ty, dims, *record, *fill),
            Op::AddAttribute { var, len } => self.add_attribute(*var, *len),
            Op::Grow(by) => {
                self.now.records += by;
                let records = self.now.records;
                let grow = |model: &mut ncirrus_model::Model| {
                    let time = model.dimension_at("time").expect("a dimension");
                    model.grow(time, records).expect("it grows");
                };
                self.file.define(grow).expect("it fits");
            }
            Op::Write { var, cell, salt } => self.write(*var, *cell, *salt),
            Op::Remove(var) => {
                let Some((id, name)) = self.var(*var) else { return };
                self.file.define(|model| model.remove_variable(id)).expect("it fits").expect("removed");
                let expected = self.now.vars.remove(&name).expect("a known variable");
                self.gone_dirty.extend((!expected.since.is_empty()).then_some(name));
            }
            Op::Rename { var, len } => {
                let Some((id, name)) = self.var(*var) else { return };
                let new = format!("n{}{}", self.counter, "a".repeat(*len));
                self.file.define(|model| model.rename_variable(id, &new)).expect("it fits").expect("renamed");
                let expected = self.now.vars.remove(&name).expect("a known variable");
                self.gone_dirty.push(name);
                self.now.vars.insert(new, expected);
            }
            Op::Commit => self.commit(),
            Op::Reopen => {
                self.commit();
                self.file = Writing3::update(&self.writer, &self.file.bytes).expect("a sound file");
            }
        }
    }

    fn add_variable(&mut self, ty: usize, dims: &[usize], record: bool, fill: u8) {
        let types = Atomic::ALL.into_iter().filter(|atomic| self.writer.version.holds(*atomic));
        let types: Vec<Atomic> = types.collect();
        let (ty, name) = (types[ty % types.len()], format!("v{}", self.counter));
        let add = |model: &mut ncirrus_model::Model| {
            let all = model.group(model.root()).expect("a root").dims.clone();
            let inner = dims.iter().map(|pick| all[1 + pick % (all.len() - 1)]);
            let dims: Vec<_> = record.then_some(all[0]).into_iter().chain(inner).collect();
            let id = model.add_variable(model.root(), &name, TypeRef::Atomic(ty), &dims).expect("a variable");
            match fill {
                0 => model.variable_mut(id).expect("a variable").fill = Fill::None,
                1 => model.set_fill(id, Values::zeroed(ty, 1)).expect("a fill value"),
                _ => {}
            }
            id
        };
        let id = self.file.define(add).expect("it fits");
        let fill = (fill != 0).then(|| big_endian(&self.file.placer.encoding(id).expect("an encoding").fill));
        self.now.vars.insert(name, Expected { fill, ..Expected::default() });
    }

    fn add_attribute(&mut self, var: usize, len: usize) {
        let node = match self.var(var) {
            Some((id, _)) if var > 0 => NodeId::Variable(id),
            _ => NodeId::Group(self.file.model.root()),
        };
        let attribute = Attribute::text(format!("a{}", self.counter), &"t".repeat(len));
        let put = |model: &mut ncirrus_model::Model| {
            model.attributes_mut(node).expect("a node").known_mut().put(attribute);
        };
        self.file.define(put).expect("it fits");
    }

    fn write(&mut self, var: usize, cell: usize, salt: u8) {
        let Some((id, name)) = self.var(var) else { return };
        let (encoding, cells) = self.file.cells(id);
        if cells.is_empty() {
            return;
        }
        let size = usize::try_from(encoding.stored.byte_len().expect("a fixed size")).expect("small");
        let cell = cells.get(cell % cells.len()).to_vec();
        let expected = self.now.vars.get_mut(&name).expect("a known variable");
        let mut body = Vec::new();
        self.file.write_cell(id, &cell, &mut |index| {
            let sum = index.iter().fold(u64::from(salt), |sum, at| sum * 7 + at + 1);
            let element: Vec<u8> = (0..size).map(|at| sum.to_le_bytes()[at % 2] ^ salt).collect();
            expected.written.insert(index.to_vec(), element.clone());
            expected.since.insert(index.to_vec());
            body.extend(element.iter());
            element
        });
        assert_eq!(self.file.read_cell(id, &cell), Some(body), "a cell is read as it was written");
    }

    /// Every chunk that can be located holds what was written, or fill.
    fn check_staged(&self) {
        for id in self.file.model.variables() {
            let expected = &self.now.vars[&self.file.model.variable(id).expect("a variable").name];
            let (encoding, cells) = self.file.cells(id);
            let size = usize::try_from(encoding.stored.byte_len().expect("a fixed size")).expect("small");
            for cell in cells.iter() {
                let bytes = self.file.read_cell(id, cell);
                let shape = self.file.model.shape(id);
                let region = encoding.grid.clipped_region(cell, &shape).expect("a cell");
                let mut at = 0;
                for_each_index(&region.count, |index| {
                    let index: Vec<u64> = region.start.iter().zip(index).map(|(a, b)| a + b).collect();
                    let held = bytes.as_ref().and_then(|bytes| bytes.get(at * size..(at + 1) * size));
                    at += 1;
                    match (expected.written.get(&index), held) {
                        (Some(written), held) => assert_eq!(Some(written.as_slice()), held),
                        (None, Some(held)) if expected.fill.is_some() => {
                            assert_eq!(expected.fill.as_deref(), Some(held));
                        }
                        (None, _) => {}
                    }
                });
            }
        }
    }

    fn commit(&mut self) {
        self.check_staged();
        let phases = self.file.plan().expect("a commit");
        let (last, before) =
            phases.split_last().map_or((None, &[][..]), |(last, before)| (Some(last), before));
        if let Some(old) = &self.committed {
            let mut old = old.clone();
            for name in &self.gone_dirty {
                // Its elements may be the old or the new ones.
                old.vars.entry(name.clone()).and_modify(|expected| *expected = Expected::default());
            }
            check(&self.file.bytes, &old, Some(&self.now), "before the commit");
            let mut bytes = self.file.bytes.clone();
            let puts = before.iter().flat_map(|phase| &phase.puts);
            for put in puts {
                apply(&mut bytes, put);
                let seen = open(&bytes).expect("a sound file").model;
                let time = seen.dimension_at("time").and_then(|time| seen.dimension(time)).expect("time");
                assert_eq!(time.len.current(), old.records, "records appear with the last phase");
            }
        }
        before.iter().chain(last).for_each(|phase| apply_all(&mut self.file.bytes, phase));
        self.file.placer.committed();
        check(&self.file.bytes, &self.now, None, "after the commit");
        assert!(self.file.plan().expect("a commit").is_empty(), "nothing is left to commit");
        self.file.placer.committed();
        self.gone_dirty.clear();
        self.now.vars.values_mut().for_each(|expected| expected.since.clear());
        self.committed = Some(self.now.clone());
    }
}

fn apply_all(bytes: &mut Vec<u8>, phase: &PutPhase) {
    phase.puts.iter().for_each(|put| apply(bytes, put));
}

/// Checks that a file is in a state; elements that `newer` has changed since may have any value.
fn check(bytes: &[u8], state: &State, newer: Option<&State>, when: &str) {
    let opened = open(bytes).unwrap_or_else(|error| panic!("{when}: {error}"));
    assert_eq!(opened.model.variables().len(), state.vars.len(), "{when}: number of variables");
    for (name, expected) in &state.vars {
        let id = opened.var(name);
        let shape = opened.model.shape(id);
        if opened.model.growing(id).first() == Some(&true) {
            assert_eq!(shape[0], state.records, "{when}: records of {name}");
        }
        let stored = opened.stored_bytes(id).unwrap_or_else(|| panic!("{when}: {name} is cut off"));
        let size = opened.source(id).expect("a source").stored.byte_len().expect("a fixed size");
        let mut elements = stored.chunks(usize::try_from(size).expect("small"));
        let updated = newer.and_then(|newer| newer.vars.get(name));
        for_each_index(&shape, |index| {
            let found = elements.next().expect("an element");
            let wanted = expected.written.get(index).map(Vec::as_slice).or(expected.fill.as_deref());
            let changed = updated.is_some_and(|updated| updated.since.contains(index));
            let sound = changed || wanted.is_none_or(|wanted| wanted == found);
            assert!(sound, "{when}: {name}{index:?} is {found:?}, not {wanted:?}");
        });
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_history_of_changes_reads_back(
        version in 0..3usize,
        header_pad in prop_oneof![Just(0u64), Just(16), Just(512)],
        cell_bytes in prop_oneof![Just(16u64), Just(64), Just(300), Just(4 << 20)],
        ops in ops(),
    ) {
        let mut run = Run::new(ClassicWriter { version: FormatVersion::ALL[version], header_pad, cell_bytes });
        ops.iter().for_each(|op| run.step(op));
        run.commit();
    }
}

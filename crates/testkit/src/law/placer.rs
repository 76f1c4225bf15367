//! The law of placers: a dataset is created, changed, extended and reopened step by step, as the engine would.
mod stored;

use super::{RandomSource, chunk_indexes, settle_complete};
use crate::{MemoryView, ObjectView};
use bytes::Bytes;
use ncirrus_layout::{
    Catalog, CellList, Driver, EdgeChunks, Encoding, ErrorKind, ObjectId, OpenOptions, PhaseForm, Placer,
    PlacerWork, PutPhase, Step, StorePut, View, Writing,
};
use ncirrus_model::{DimId, Model, VarId};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// Checks a format's placers against their contract with a model whose variables have elements of fixed size: those of
/// new datasets, of what is written after the first commit, and of datasets that are changed in place, if the format
/// supports that. Their chunk indexes are checked with [`chunk_index`](super::chunk_index).
///
/// - Chunks that are placed can be found immediately, with their bytes, and puts of one chunk do not affect another.
/// - How a variable will be stored is known before it is defined.
/// - Only the commit makes definitions visible: before it, readers see the former tree, and until its last phase each
///   variable as it was or as it will be.
/// - After the commit every chunk reads back as it was placed last, and sparse ones that were never placed are absent.
/// - Looking up a chunk beyond the array causes at most an error.
///
/// # Panics
/// If the law is broken, or the format cannot write the model.
pub fn placer(driver: &dyn Driver, writing: &dyn Writing, root: &str, model: &Model) {
    let root = ObjectView::id(root);
    let objects = ObjectView::new();
    let made = writing.create(&root).unwrap_or_else(|error| fail("create", &error));
    let mut trial = PlacerTrial {
        driver,
        root,
        objects,
        model: model.clone(),
        placer: made,
        bodies: BTreeMap::new(),
        random: RandomSource(1),
        committed: None,
    };
    trial.define();
    trial.place(|_| true);
    trial.commit();
    // The same placer continues after its first commit.
    trial.place(|number| number % 3 == 1);
    trial.commit();
    trial.reopen();
    trial.place(|number| number % 4 == 0);
    trial.commit();
    trial.grow();
    trial.place(|number| number % 5 == 0);
    trial.commit();
    trial.reopen();
    trial.check();
}

#[expect(clippy::panic, reason = "a broken law fails the test that runs it")]
fn fail<T>(what: &str, error: &ncirrus_layout::Error) -> T {
    panic!("{what}: {error}")
}

const COMMIT: &str = "commit";

/// A chunk of a variable.
type Cell = (VarId, Vec<u64>);

struct PlacerTrial<'a> {
    driver: &'a dyn Driver,
    root: ObjectId,
    objects: ObjectView,
    model: Model,
    placer: Box<dyn Placer>,
    /// The contents of each placed chunk, and which elements of the array they were for.
    bodies: BTreeMap<Cell, (Bytes, Vec<u64>)>,
    random: RandomSource,
    /// The model that readers see.
    committed: Option<Model>,
}

impl PlacerTrial<'_> {
    fn view(&self) -> MemoryView {
        MemoryView::new(self.objects.clone())
    }

    /// Runs a step over all objects.
    fn done<T>(&self, what: &str, step: impl FnOnce(&dyn View) -> Step<T>) -> T {
        settle_complete(step(&self.view())).unwrap_or_else(|error| fail(what, &error))
    }

    fn define(&mut self) {
        let view = self.view();
        let foreseen = self.foreseen();
        let puts = settle_complete(self.placer.define(&view, &self.model, None));
        self.apply("define", puts.unwrap_or_else(|error| fail("define", &error)));
        for (var, foreseen) in foreseen {
            let defined = self.placer.encoding(var).unwrap_or_else(|error| fail("encoding", &error));
            assert_eq!(foreseen, defined, "{var:?} is stored in another way than was foreseen");
        }
    }

    /// How the variables will be stored, in formats with codecs.
    fn foreseen(&self) -> Vec<(VarId, Arc<Encoding>)> {
        if self.placer.abilities().codecs.is_none() {
            return Vec::new();
        }
        let encoding = |var| {
            let encoding = self.placer.encoding_in(&self.model, var);
            (var, encoding.unwrap_or_else(|error| fail("encoding_in", &error)))
        };
        self.model.variables().into_iter().map(encoding).collect()
    }

    fn apply(&mut self, what: &str, puts: Vec<StorePut>) {
        for put in puts {
            self.objects.apply(put);
            self.readers_see_no_more(what, what == COMMIT);
        }
    }

    /// Places chunks of all variables: those that `wanted` selects by number, those that changed their shape, and those
    /// that must not be left out.
    fn place(&mut self, wanted: impl Fn(u64) -> bool) {
        // The ranges that each chunk's puts wrote.
        let mut written: Vec<(Cell, String, Range<u64>)> = Vec::new();
        for var in self.model.variables() {
            let mut number = 0;
            for (cell, shape) in self.cells(var) {
                number += 1;
                let key = (var, cell);
                let known = self.bodies.get(&key).is_some_and(|(_, of)| *of == shape);
                let left_out = !self.placer.needs_fill(var) && number % 7 == 3;
                if (known && !wanted(number)) || (!known && left_out) {
                    continue;
                }
                let body = self.body(var, &key.1, &shape);
                for put in self.place_one(&key, body.clone()) {
                    if let Some((object, range)) = touched(&put) {
                        let meets = |(other, at, taken): &&(Cell, String, Range<u64>)| {
                            *other != key
                                && *at == object
                                && taken.start < range.end
                                && range.start < taken.end
                        };
                        let met = written.iter().find(meets);
                        assert!(met.is_none(), "{key:?} is put over {met:?}: {object} {range:?}");
                        written.push((key.clone(), object, range));
                    }
                    self.apply("place", vec![put]);
                }
                self.bodies.insert(key.clone(), (body, shape));
                self.is_found(&key);
            }
        }
        self.beyond();
    }

    fn place_one(&mut self, (var, cell): &Cell, body: Bytes) -> Vec<StorePut> {
        let work = [PlacerWork { var: *var, cells: CellList::one(cell) }];
        let prepared = self.done("prepare", |view| self.placer.prepare(view, &work));
        let puts = self.placer.place(&prepared, *var, cell, body, 0);
        puts.unwrap_or_else(|error| fail(&format!("place {var:?} {cell:?}"), &error))
    }

    /// Looking up chunks beyond the array must not panic.
    fn beyond(&self) {
        for var in self.model.variables() {
            let rank = self.model.shape(var).len();
            let found = self.placer.locate(&self.view(), var, &CellList::one(&vec![u64::MAX; rank]));
            let answers = settle_complete(found).map(|found| found.len());
            assert!(
                answers.is_err() || answers.is_ok_and(|count| count == 1),
                "one answer for a chunk beyond the array"
            );
        }
    }

    /// What was placed can be read before the commit.
    fn is_found(&self, (var, cell): &Cell) {
        let found = self.done("locate", |view| self.placer.locate(view, *var, &CellList::one(cell)));
        assert_eq!(found.len(), 1, "one answer for a chunk");
        let stored = found.first().and_then(|found| stored::bytes(&self.objects, found));
        let placed = self.bodies.get(&(*var, cell.clone())).map(|(body, _)| body.clone());
        assert!(
            stored::begins(stored.as_ref(), placed.as_ref()),
            "{var:?} {cell:?} is not found as it was placed"
        );
    }

    fn commit(&mut self) {
        let view = self.view();
        let phases = settle_complete(self.placer.plan_commit(&view, &self.model));
        let mut phases = phases.unwrap_or_else(|error| fail("commit", &error));
        let last = phases.pop();
        phases.into_iter().for_each(|phase| self.phase(phase, true));
        last.into_iter().for_each(|phase| self.phase(phase, false));
        self.placer.committed();
        self.committed = Some(self.model.clone());
        self.check();
    }

    fn phase(&mut self, phase: PutPhase, is_unseen: bool) {
        // A rewrite is visible at once.
        if is_unseen && phase.form != PhaseForm::Rewritten {
            self.apply(COMMIT, phase.puts);
        } else {
            phase.puts.into_iter().for_each(|put| self.objects.apply(put));
        }
    }

    fn catalog(&self) -> Arc<dyn Catalog> {
        self.done("open", |view| self.driver.open(view, &self.root, &OpenOptions::default()))
    }

    /// Before the commit readers see the former state; during it, each variable as it was or as it will be: formats
    /// with a document per variable have no single moment at which all of them become visible.
    fn readers_see_no_more(&self, what: &str, is_commit: bool) {
        let Some(committed) = &self.committed else { return };
        let catalog = self.catalog();
        let seen = tree_of(&self.done("tree", |view| catalog.tree(view)));
        let (old, new) = (tree_of(committed), tree_of(&self.model));
        let is_known =
            seen.iter().all(|variable| old.contains(variable) || (is_commit && new.contains(variable)));
        assert!(
            is_known && seen.len() >= old.len(),
            "{what}: readers see {seen:?}, and {old:?} is committed"
        );
    }

    /// Everything reads back as it was placed last.
    fn check(&self) {
        let catalog = self.catalog();
        let model = self.done("tree", |view| catalog.tree(view));
        assert_eq!(tree_of(&model), tree_of(&self.model), "the tree as it was committed");
        chunk_indexes(self.driver, &self.objects, self.root.key());
        for var in self.model.variables() {
            let path = self.model.variable_path(var);
            let Some(read) = model.variable_at(&path) else { continue };
            let source = self.done("source", |view| catalog.source(view, read));
            let grid = match self.placer.encoding(var) {
                Ok(encoding) => encoding.grid.clone(),
                Err(error) => fail("encoding", &error),
            };
            for (cell, shape) in self.cells(var) {
                let placed = self.bodies.get(&(var, cell.clone())).map(|(body, _)| body);
                let region = grid.region(&cell);
                let stored = self.done("read", |view| {
                    stored::read(view, &self.objects, &source, region.as_ref(), &cell, &shape)
                });
                assert!(
                    stored::begins(stored.as_ref(), placed),
                    "{path} {cell:?} does not read back as it was placed"
                );
            }
        }
    }

    fn reopen(&mut self) {
        let catalog = self.catalog();
        let model = self.done("tree", |view| catalog.tree(view));
        let Some(writing) = catalog.writing() else { return };
        let renumbered = |var: VarId| model.variable_at(&self.model.variable_path(var));
        let bodies = std::mem::take(&mut self.bodies);
        let moved =
            bodies.into_iter().filter_map(|((var, cell), body)| Some(((renumbered(var)?, cell), body)));
        let moved = moved.collect();
        match settle_complete(writing.update(&self.view(), &self.root, &model)) {
            Ok(placer) => self.placer = placer,
            Err(error) if error.kind() == ErrorKind::Unsupported => return,
            Err(error) => fail("update", &error),
        }
        self.bodies = moved;
        self.model = model.as_ref().clone();
        self.committed = Some(self.model.clone());
    }

    /// Extends all unlimited dimensions.
    fn grow(&mut self) {
        let dims: Vec<DimId> = self
            .model
            .walk()
            .into_iter()
            .filter_map(|group| self.model.group(group))
            .flat_map(|group| group.dims.clone())
            .collect();
        for dim in dims {
            let len = self.model.dimension(dim).map(|dimension| dimension.len);
            if let Some(len) = len.filter(|len| len.is_unlimited()) {
                let longer = self.model.grow(dim, len.current() + 3);
                assert!(longer.is_ok(), "{longer:?}");
            }
        }
        self.define();
    }

    /// The chunks of a variable, with the stored lengths of each.
    fn cells(&self, var: VarId) -> Vec<(Vec<u64>, Vec<u64>)> {
        let encoding = match self.placer.encoding(var) {
            Ok(encoding) => encoding,
            Err(error) => return fail("encoding", &error),
        };
        let shape = self.model.shape(var);
        let along = (0..shape.len())
            .map(|axis| encoding.grid.cells_along(axis, shape.get(axis).copied().unwrap_or(0)));
        let mut cells = vec![Vec::new()];
        for along in along {
            let longer = cells
                .iter()
                .flat_map(|cell: &Vec<u64>| (0..along).map(|at| [cell.as_slice(), &[at]].concat()));
            cells = longer.collect();
        }
        let stored = |cell: Vec<u64>| {
            let region = match encoding.edge {
                EdgeChunks::Full => encoding.grid.region(&cell),
                EdgeChunks::Clipped => encoding.grid.clipped_region(&cell, &shape),
            };
            Some((cell, region?.count))
        };
        cells.into_iter().filter_map(stored).collect()
    }

    /// Bytes for a chunk: as many as its elements have, or, with filters, any number.
    fn body(&mut self, var: VarId, _: &[u64], shape: &[u64]) -> Bytes {
        let byte_len = self.placer.encoding(var).ok().and_then(|encoding| encoding.stored.byte_len());
        let elements: u64 = shape.iter().product();
        let byte_len = byte_len.map_or(0, |len| elements * len);
        let is_filtered = self.model.variable(var).is_some_and(|variable| !variable.filters.is_empty());
        let len = if is_filtered { 1 + self.random.below(byte_len + 40) } else { byte_len };
        (0..len).map(|_| self.random.below(256).to_le_bytes()[0]).collect::<Vec<u8>>().into()
    }
}

/// The paths and shapes of all variables; not all formats keep their order.
fn tree_of(model: &Model) -> Vec<(String, Vec<u64>)> {
    let variables = model.variables().into_iter();
    let mut tree: Vec<_> = variables.map(|var| (model.variable_path(var), model.shape(var))).collect();
    tree.sort();
    tree
}

/// The bytes that a put of a chunk writes.
fn touched(put: &StorePut) -> Option<(String, Range<u64>)> {
    match put {
        StorePut::Object { object, .. } => Some((object.key().to_owned(), 0..u64::MAX)),
        StorePut::Patch { object, offset, body } => {
            Some((object.key().to_owned(), *offset..offset + body.len() as u64))
        }
        _ => None,
    }
}

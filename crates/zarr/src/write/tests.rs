//! Whole datasets: bytes as the reference has them, every position of a commit, and what other programs read.
use super::*;
use bytes::Bytes;
use ncirrus_layout::{Driver as _, OpenOptions, Phase, Prepared, Put};
use ncirrus_model::{Atomic, Attribute, DimensionLen, NodeId, VarId};
use ncirrus_testkit::{MemoryView, Objects};

mod bytes_of_dialects;
mod corpus;
mod fixtures;
mod peers;
mod positions;
mod round_trips;
mod updates;

/// A placer that is driven by hand, with the objects that it put.
struct Hand {
    placer: Box<dyn Placer>,
    objects: Objects,
    /// States of the store after every single put.
    history: Vec<Objects>,
}

impl Hand {
    fn create(writer: &ZarrWriter) -> Self {
        let placer = writer.create(&Objects::id("")).unwrap();
        Self { placer, objects: Objects::new(), history: Vec::new() }
    }

    fn define(&mut self, model: &Model) {
        let view = MemoryView::new(self.objects.clone());
        let puts = self.placer.define(&view, model).unwrap();
        self.apply(puts);
    }

    fn place(&mut self, var: VarId, cell: &[u64], body: &[u8]) {
        let puts =
            self.placer.place(&Prepared::nothing(), var, cell, Bytes::copy_from_slice(body), 0).unwrap();
        self.apply(puts);
    }

    fn commit(&mut self, model: &Model) {
        let view = MemoryView::new(self.objects.clone());
        let phases: Vec<Phase> = self.placer.plan_commit(&view, model).unwrap();
        phases.into_iter().for_each(|phase| self.apply(phase.puts));
        self.placer.committed();
    }

    fn apply(&mut self, puts: Vec<Put>) {
        for put in puts {
            apply(&mut self.objects, put);
            self.history.push(self.objects.clone());
        }
    }
}

fn apply(objects: &mut Objects, put: Put) {
    let below = |objects: &Objects, prefix: &str| -> Vec<String> {
        let prefix = format!("{prefix}/");
        objects.keys().filter(|key| key.starts_with(&prefix)).map(str::to_owned).collect()
    };
    match put {
        Put::Object { object, body } => objects.put(object.key(), body),
        Put::Delete { object } => _ = objects.remove(object.key()),
        Put::DeleteTree { prefix } => {
            below(objects, prefix.key()).iter().for_each(|key| _ = objects.remove(key));
        }
        Put::CopyTree { from, to } => {
            for key in below(objects, from.key()) {
                let body = objects.find(&key).cloned().unwrap();
                objects.put(&key.replacen(from.key(), to.key(), 1), body);
            }
        }
        other => unreachable!("zarr does not put {other:?}"),
    }
}

/// Creates a dataset of that model in one commit, without data.
fn created(writer: &ZarrWriter, model: &Model) -> Objects {
    let mut hand = Hand::create(writer);
    hand.define(model);
    hand.commit(model);
    hand.objects
}

fn text<'a>(objects: &'a Objects, key: &str) -> &'a str {
    std::str::from_utf8(objects.find(key).unwrap_or_else(|| panic!("no object {key}"))).unwrap()
}

/// The dataset as this crate's reader sees it; `None` when there is none.
fn opened(objects: &Objects) -> Option<std::sync::Arc<Model>> {
    let view = MemoryView::new(objects.clone());
    let catalog = ZarrDriver.open(&view, &Objects::id(""), &OpenOptions::default()).ok()?;
    Some(catalog.tree(&view).unwrap())
}

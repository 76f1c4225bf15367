//! Whole datasets: bytes as in the reference, every intermediate state of a commit, and what other programs read.
use super::*;
use crate::ZarrDriver;
use bytes::Bytes;
use ncirrus_layout::{Driver as _, OpenOptions, PreparedPlacement, PutPhase, StorePut};
use ncirrus_model::{Atomic, Attribute, DimensionLen, NodeId, VarId};
use ncirrus_testkit::{MemoryView, ObjectView};

mod bytes_of_dialects;
mod corpus;
mod fixtures;
mod foreign;
mod laws;
mod peers;
mod positions;
mod round_trips;
mod updates;

/// A placer that is driven by hand, with the objects that it put.
struct HandPlacer {
    placer: Box<dyn Placer>,
    objects: ObjectView,
    /// States of the store after every single put.
    history: Vec<ObjectView>,
}

impl HandPlacer {
    fn create(writer: &ZarrWriter) -> Self {
        let placer = writer.create(&ObjectView::id("")).unwrap();
        Self { placer, objects: ObjectView::new(), history: Vec::new() }
    }

    fn define(&mut self, model: &Model) {
        let view = MemoryView::new(self.objects.clone());
        let puts = self.placer.define(&view, model, None).unwrap();
        self.apply(puts);
    }

    fn place(&mut self, var: VarId, cell: &[u64], body: &[u8]) {
        let puts = self
            .placer
            .place(&PreparedPlacement::nothing(), var, cell, Bytes::copy_from_slice(body), 0)
            .unwrap();
        self.apply(puts);
    }

    fn commit(&mut self, model: &Model) {
        let view = MemoryView::new(self.objects.clone());
        let phases: Vec<PutPhase> = self.placer.plan_commit(&view, model).unwrap();
        phases.into_iter().for_each(|phase| self.apply(phase.puts));
        self.placer.committed();
    }

    fn apply(&mut self, puts: Vec<StorePut>) {
        for put in puts {
            apply(&mut self.objects, put);
            self.history.push(self.objects.clone());
        }
    }
}

fn apply(objects: &mut ObjectView, put: StorePut) {
    let below = |objects: &ObjectView, prefix: &str| -> Vec<String> {
        let prefix = format!("{prefix}/");
        objects.keys().filter(|key| key.starts_with(&prefix)).map(str::to_owned).collect()
    };
    match put {
        StorePut::Object { object, body } => objects.put(object.key(), body),
        StorePut::Delete { object } => _ = objects.remove(object.key()),
        StorePut::DeleteTree { prefix } => {
            below(objects, prefix.key()).iter().for_each(|key| _ = objects.remove(key));
        }
        StorePut::CopyTree { from, to } => {
            for key in below(objects, from.key()) {
                let body = objects.find(&key).cloned().unwrap();
                objects.put(&key.replacen(from.key(), to.key(), 1), body);
            }
        }
        other => unreachable!("zarr does not put {other:?}"),
    }
}

/// Creates a dataset of that model in one commit, without data.
fn created(writer: &ZarrWriter, model: &Model) -> ObjectView {
    let mut hand = HandPlacer::create(writer);
    hand.define(model);
    hand.commit(model);
    hand.objects
}

fn text<'a>(objects: &'a ObjectView, key: &str) -> &'a str {
    std::str::from_utf8(objects.find(key).unwrap_or_else(|| panic!("no object {key}"))).unwrap()
}

/// The dataset as this crate's reader sees it; `None` when there is none.
fn opened(objects: &ObjectView) -> Option<std::sync::Arc<Model>> {
    let view = MemoryView::new(objects.clone());
    let catalog = ZarrDriver.open(&view, &ObjectView::id(""), &OpenOptions::default()).ok()?;
    Some(catalog.tree(&view).unwrap())
}

//! Descriptions of aggregated variables.
use crate::limits;
use ncirrus_aggregate::AggregateOverlay;
use ncirrus_layout::{Catalog, Error, Layout, OpenOptions, Overlay, Result, Source, Step, View, Writing};
use ncirrus_model::{
    Atomic, Attribute, Attributes, DatasetKind, DimensionLen, Model, NodeId, Region, StorageFacts, TypeRef,
    VarId,
};
use ncirrus_testkit::{MemoryView, ObjectView};
use std::sync::Arc;

/// A dataset that consists of a model only.
#[derive(Debug)]
struct Master(Arc<Model>);

/// `cfa_array` (CFA-0.4) and `aggregated_data` (CFA-0.6 and later): the same text as both.
pub fn aggregation(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    for (attribute, more) in [
        ("cfa_array", [("cf_role", "cfa_variable"), ("cfa_dimensions", "x y")]),
        ("aggregated_data", [("aggregated_dimensions", "x y"), ("units", "K")]),
    ] {
        let more = more.map(|(name, value)| Attribute::text(name, value));
        let attributes = std::iter::once(Attribute::text(attribute, &text)).chain(more).collect();
        if let Some(model) = model(attributes) {
            look(model);
        }
    }
}

fn model(attributes: Attributes) -> Option<Model> {
    let mut model = Model::new();
    let root = model.root();
    let x = model.add_dimension(root, "x", DimensionLen::Fixed(6)).ok()?;
    model.add_dimension(root, "y", DimensionLen::Unlimited(0)).ok()?;
    for name in ["m", "u", "i"] {
        model.add_variable(root, name, TypeRef::Atomic(Atomic::String), &[x]).ok()?;
    }
    let v = model.add_variable(root, "v", TypeRef::Atomic(Atomic::Float), &[]).ok()?;
    *model.attributes_mut(NodeId::Variable(v))?.known_mut() = attributes;
    Some(model)
}

fn look(model: Model) {
    let catalog: Arc<dyn Catalog> = Arc::new(Master(Arc::new(model)));
    let view = MemoryView::new(ObjectView::new()).with_limits(limits());
    for lenient in [false, true] {
        let options = OpenOptions::new().lenient(lenient);
        let seen = AggregateOverlay.over(&view, &ObjectView::id("m.nca"), &catalog, &options);
        let Ok(Some(seen)) = seen else { continue };
        let Ok(model) = seen.tree(&view) else { continue };
        for id in model.variables() {
            let Ok(Source { layout: Layout::Mosaic { tiles }, extent, .. }) = seen.source(&view, id) else {
                continue;
            };
            _ = tiles.tiles(&view, &Region::all(&extent));
        }
    }
}

impl Catalog for Master {
    fn tree(&self, _: &dyn View) -> Step<Arc<Model>> {
        Ok(Arc::clone(&self.0))
    }

    fn attributes(&self, _: &dyn View, of: &[NodeId]) -> Step<Vec<Result<Attributes>>> {
        let known = |node: &NodeId| {
            let known = self.0.attributes(*node).and_then(|state| state.known());
            known.cloned().ok_or_else(|| Error::not_found("no such node"))
        };
        Ok(of.iter().map(known).collect())
    }

    fn source(&self, _: &dyn View, _: VarId) -> Step<Source> {
        Err(Error::unsupported("values").into())
    }

    fn kind(&self) -> DatasetKind {
        DatasetKind::hdf5(false)
    }

    fn facts(&self) -> StorageFacts {
        StorageFacts::default()
    }

    fn warnings(&self) -> Vec<String> {
        Vec::new()
    }

    fn writing(&self) -> Option<Arc<dyn Writing>> {
        None
    }
}

//! Masters made by hand: a model, values in memory, and a view that may lack them at first.
use crate::AggregateOverlay;
use ncirrus_layout::{
    Aggregation, ByteOrder, Catalog, Error, Layout, Limits, Listing, Memo, Need, ObjectBytes, ObjectId,
    OpenOptions, Overlay, Result, Source, Stall, Step, StoreId, StoredType, Tile, VariableRef, View, Want,
    Writing,
};
use ncirrus_model::{
    Atomic, Attribute, Attributes, CodecSpec, DatasetKind, DimensionLen, EnumMember, Model, NodeId, Region,
    Selection, StorageFacts, Strings, TypeRef, UserKind, UserType, Values, VarId,
};
use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// A dataset in memory.
#[derive(Debug, Default, Clone)]
pub(crate) struct MemoryMaster {
    pub(crate) model: Model,
    values: HashMap<String, Values>,
}

impl MemoryMaster {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Adds dimensions of the root: `x=6`, or `x=*3` for an unlimited one.
    pub(crate) fn dims(mut self, dims: &str) -> Self {
        for dim in dims.split_whitespace() {
            self = self.dim(dim);
        }
        self
    }

    fn dim(mut self, dim: &str) -> Self {
        let (path, len) = dim.split_once('=').unwrap();
        let (group, name) = path.rsplit_once('/').unwrap_or(("", path));
        let group = self.group(group);
        let len = match len.strip_prefix('*') {
            Some(len) => DimensionLen::Unlimited(len.parse().unwrap()),
            None => DimensionLen::Fixed(len.parse().unwrap()),
        };
        self.model.add_dimension(group, name, len).unwrap();
        self
    }

    fn group(&mut self, path: &str) -> ncirrus_model::GroupId {
        let mut at = self.model.root();
        for name in path.split('/').filter(|name| !name.is_empty()) {
            at = match self.model.subgroup(at, name) {
                Some(group) => group,
                None => self.model.add_group(at, name).unwrap(),
            };
        }
        at
    }

    /// Adds a variable: `x`, or `g/x(a b)`; its type is that of the values.
    pub(crate) fn var(mut self, text: &str, values: Values) -> Self {
        let (path, dims) = text.split_once('(').unwrap_or((text, ")"));
        let (group, name) = path.rsplit_once('/').unwrap_or(("", path));
        let group = self.group(group);
        let dims = dims.trim_end_matches(')').split_whitespace();
        let dims: Vec<_> = dims.map(|dim| self.model.visible_dimension(group, dim).unwrap()).collect();
        let ty = TypeRef::Atomic(values.atomic().unwrap());
        let id = self.model.add_variable(group, name, ty, &dims).unwrap();
        self.values.insert(self.model.variable_path(id), values);
        self
    }

    /// Adds a scalar variable of an enum of bytes.
    pub(crate) fn enumerated(mut self, name: &str) -> Self {
        let root = self.model.root();
        let members = vec![EnumMember { name: "none".to_owned(), value: 0 }];
        let kind = UserKind::Enum { base: Atomic::Byte, members };
        let ty = self.model.add_type(root, UserType { name: format!("{name}_t"), kind }).unwrap();
        self.model.add_variable(root, name, TypeRef::User(ty), &[]).unwrap();
        self
    }

    /// Gives a variable other values.
    pub(crate) fn replace(mut self, path: &str, values: Values) -> Self {
        self.values.insert(path.to_owned(), values);
        self
    }

    /// Adds an attribute to a variable.
    pub(crate) fn put(mut self, path: &str, name: &str, values: Values) -> Self {
        let id = self.model.variable_at(path).unwrap();
        let attributes = self.model.attributes_mut(NodeId::Variable(id)).unwrap().known_mut();
        attributes.put(Attribute::atomic(name, values));
        self
    }

    /// Adds a text attribute to a variable.
    pub(crate) fn text(self, path: &str, name: &str, text: &str) -> Self {
        self.put(path, name, Values::Char(text.as_bytes().to_vec()))
    }

    /// The overlay's catalog, with everything available at once and then with everything arriving late; both must
    /// agree.
    pub(crate) fn open_with(&self, options: &OpenOptions) -> Result<Option<OpenedMaster>> {
        let catalog: Arc<dyn Catalog> = Arc::new(self.clone());
        let root = ObjectId::new(StoreId::new("memory:"), "m.nca");
        let open = |view: &dyn View| AggregateOverlay.over(view, &root, &catalog, options);
        let complete = MasterDesk::complete(self);
        let found = finish(open(&complete))?;
        let desk = MasterDesk::empty(self);
        let late = desk.drive(open)?;
        match (found, late) {
            (None, None) => Ok(None),
            (Some(found), Some(late)) => {
                assert_eq!(format!("{:?}", found.tree(&complete)), format!("{:?}", late.tree(&complete)));
                Ok(Some(OpenedMaster { catalog: found, late, master: self.clone() }))
            }
            _ => panic!("the result depends on arrival"),
        }
    }

    pub(crate) fn open(&self) -> OpenedMaster {
        self.open_with(&OpenOptions::default()).unwrap().unwrap()
    }

    pub(crate) fn open_lenient(&self) -> OpenedMaster {
        let options = OpenOptions::new().lenient(true);
        self.open_with(&options).unwrap().unwrap()
    }
}

/// A dataset with its aggregated variables.
#[derive(Debug)]
pub(crate) struct OpenedMaster {
    pub(crate) catalog: Arc<dyn Catalog>,
    /// The same, opened with everything arriving late.
    late: Arc<dyn Catalog>,
    master: MemoryMaster,
}

impl OpenedMaster {
    pub(crate) fn model(&self) -> Arc<Model> {
        finish(self.catalog.tree(&MasterDesk::complete(&self.master))).unwrap()
    }

    pub(crate) fn id(&self, path: &str) -> VarId {
        self.model().variable_at(path).unwrap()
    }

    pub(crate) fn paths(&self) -> Vec<String> {
        let model = self.model();
        model.variables().into_iter().map(|id| model.variable_path(id)).collect()
    }

    pub(crate) fn source(&self, path: &str) -> Result<Source> {
        let id = self.id(path);
        finish(self.catalog.source(&MasterDesk::complete(&self.master), id))
    }

    pub(crate) fn aggregation(&self, path: &str) -> Result<Option<Aggregation>> {
        finish(self.catalog.aggregation(&MasterDesk::complete(&self.master), self.id(path)))
    }

    /// The tiles of a region, with everything available at once and with everything arriving late.
    pub(crate) fn tiles(&self, path: &str, start: &[u64], count: &[u64]) -> Result<Vec<Tile>> {
        let region = Region { start: start.to_vec(), count: count.to_vec() };
        let complete = MasterDesk::complete(&self.master);
        let id = self.id(path);
        let tiles = |catalog: &Arc<dyn Catalog>, view: &dyn View| -> Step<Vec<Tile>> {
            let Layout::Mosaic { tiles } = catalog.source(view, id)?.layout else { panic!("no mosaic") };
            tiles.tiles(view, &region)
        };
        let found = finish(tiles(&self.catalog, &complete));
        let desk = MasterDesk::empty(&self.master);
        let late = desk.drive(|view| tiles(&self.late, view));
        assert_eq!(format!("{found:?}"), format!("{late:?}"), "the result depends on arrival");
        found
    }

    /// The tiles of the whole variable.
    pub(crate) fn all(&self, path: &str) -> Result<Vec<Tile>> {
        let shape = self.model().shape(self.id(path));
        self.tiles(path, &vec![0; shape.len()], &shape)
    }

    /// How many values of other variables are needed to find the tiles of a region.
    pub(crate) fn cost(&self, path: &str, start: &[u64], count: &[u64]) -> u64 {
        let region = Region { start: start.to_vec(), count: count.to_vec() };
        let Layout::Mosaic { tiles } = self.source(path).unwrap().layout else { panic!("no mosaic") };
        let desk = MasterDesk::empty(&self.master);
        desk.drive(|view| tiles.tiles(view, &region)).unwrap();
        desk.fetched()
    }
}

/// One text per entry; an empty one is null.
pub(crate) fn strings(texts: &[&str]) -> Values {
    let texts = texts.iter().map(|text| (!text.is_empty()).then_some(*text));
    Values::String(texts.collect::<Strings>())
}

pub(crate) fn ints(values: &[i32]) -> Values {
    Values::Int(values.to_vec())
}

fn finish<T>(step: Step<T>) -> Result<T> {
    match step {
        Ok(value) => Ok(value),
        Err(Stall::Fail(error)) => Err(error),
        Err(Stall::Need(needs)) => panic!("stalled with everything at hand: {needs:?}"),
    }
}

impl Catalog for MemoryMaster {
    fn tree(&self, _: &dyn View) -> Step<Arc<Model>> {
        Ok(Arc::new(self.model.clone()))
    }

    fn attributes(&self, _: &dyn View, of: &[NodeId]) -> Step<Vec<Result<Attributes>>> {
        let of = of.iter().map(|node| Ok(self.model.attributes(*node).unwrap().known().unwrap().clone()));
        Ok(of.collect())
    }

    fn source(&self, _: &dyn View, id: VarId) -> Step<Source> {
        if !matches!(self.model.variable(id).unwrap().ty, TypeRef::User(_)) {
            return Err(Error::unsupported("sources of masters in memory").into());
        }
        Ok(Source {
            layout: Layout::Affine { extents: Vec::new().into(), base: 0, strides: Vec::new() },
            stored: StoredType::Integer { size: 1, signed: true, order: ByteOrder::NATIVE },
            extent: Vec::new(),
            fill: Values::Byte(vec![0]),
            resolver: None,
            swapped_fill: false,
        })
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

/// A view of a master's values: all of them, or only those that were requested before.
struct MasterDesk<'a> {
    master: &'a MemoryMaster,
    held: Option<RefCell<Vec<(VariableRef, Selection)>>>,
    memo: Memo,
    limits: Limits,
}

impl<'a> MasterDesk<'a> {
    fn complete(master: &'a MemoryMaster) -> Self {
        Self { master, held: None, memo: Memo::new(1 << 20), limits: Limits::default() }
    }

    fn empty(master: &'a MemoryMaster) -> Self {
        Self { held: Some(RefCell::default()), ..Self::complete(master) }
    }

    fn drive<T>(&self, step: impl Fn(&dyn View) -> Step<T>) -> Result<T> {
        for _ in 0..100 {
            match step(self) {
                Ok(value) => return Ok(value),
                Err(Stall::Fail(error)) => return Err(error),
                Err(Stall::Need(needs)) => {
                    for need in needs.iter() {
                        let Need::Values { variable, selection } = need else { panic!("{need:?}") };
                        let held = self.held.as_ref().unwrap();
                        held.borrow_mut().push((variable.clone(), selection.clone()));
                    }
                }
            }
        }
        panic!("100 rounds and no end")
    }

    fn fetched(&self) -> u64 {
        let held = self.held.as_ref().unwrap().borrow();
        held.iter().map(|(_, selection)| selection.element_count().unwrap()).sum()
    }

    fn select(&self, variable: &VariableRef, selection: &Selection) -> Result<Values> {
        let model = &self.master.model;
        let id = model.variable_at(&variable.path);
        let id = id.ok_or_else(|| Error::not_found(format!("no variable {}", variable.path)))?;
        let shape = model.shape(id);
        selection.check(&shape)?;
        let all = &self.master.values[&model.variable_path(id)];
        let mut found = all.empty_like();
        let counts = selection.shape();
        for number in 0..selection.element_count().unwrap() {
            let (mut rest, mut offset, mut stride) = (number, 0, 1);
            for (axis, len) in shape.iter().enumerate().rev() {
                let position = rest % counts[axis];
                rest /= counts[axis];
                offset += selection.axes()[axis].index(position).unwrap() * stride;
                stride *= len;
            }
            let offset = usize::try_from(offset).unwrap();
            // Values that are not given are the last one given, so that huge variables can be made.
            let offset = offset.min(all.len() - 1);
            found.extend_from(all, offset..offset + 1);
        }
        Ok(found)
    }
}

impl View for MasterDesk<'_> {
    fn read(&self, object: &ObjectId, _: Want) -> Step<Option<ObjectBytes>> {
        Err(Error::unsupported(format!("bytes of {object}")).into())
    }

    fn decoded(
        &self,
        object: &ObjectId,
        _: Range<u64>,
        _: &[CodecSpec],
        _: u32,
        _: u64,
    ) -> Step<bytes::Bytes> {
        Err(Error::unsupported(format!("bytes of {object}")).into())
    }

    fn values(&self, variable: &VariableRef, selection: &Selection) -> Step<Values> {
        if let Some(held) = &self.held {
            let wanted = (variable.clone(), selection.clone());
            if !held.borrow().contains(&wanted) {
                let (variable, selection) = wanted;
                return Err(Need::Values { variable, selection }.into());
            }
        }
        Ok(self.select(variable, selection)?)
    }

    fn list(&self, prefix: &ObjectId, _: Option<&str>) -> Step<Listing> {
        Err(Error::unsupported(format!("names below {prefix}")).into())
    }

    fn release(&self, _: &ObjectId, _: u64) {}

    fn memo(&self) -> &Memo {
        &self.memo
    }

    fn limits(&self) -> &Limits {
        &self.limits
    }
}

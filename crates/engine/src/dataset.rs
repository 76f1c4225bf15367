//! An open dataset.
mod absent;
mod chunks;
mod fragment;
mod fragments;
mod mosaic;
mod open_datasets;
mod opening;
mod points;
mod query;
mod referenced_datasets;
mod tag;

pub use chunks::{StoragePlacement, StoredChunk};
pub use fragments::{FragmentCheck, FragmentInfo, FragmentKind};

pub(crate) use open_datasets::OpenDatasets;

use crate::bound_source::{BoundSource, StorageLayout};
use crate::drive::ReadDepth;
use crate::drive::{DriveContext, NestedRead};
use crate::picked::Picked;
use crate::plan::ReadPlan;
use crate::read::{ReadReport, VariableRead};
use crate::resources::{ChunkCache, MissingChunks, SessionCounters};
use crate::session::Session;
use absent::AbsentObjects;
use futures_util::future::BoxFuture;
use mosaic::MosaicRead;
use ncirrus_layout::LockExt;
use ncirrus_layout::{
    Catalog, Driver, Error, Layout, Member, ObjectId, OpenOptions, RepositoryHistory, Result, Source, Tag,
    Tile, VariableRef,
};
use ncirrus_model::{AttributeState, Attributes, Model, NodeId, Region, Selection, Values, VarId};
use ncirrus_store::{Store, StoreExt, Url};
use query::QueryRead;
use referenced_datasets::ReferencedDatasets;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, Weak};

/// An open dataset for reading. Cheap to clone; any number of threads may read it concurrently.
#[derive(Clone)]
pub struct Dataset {
    inner: Arc<DatasetInner>,
}

struct DatasetInner {
    session: Session,
    context: DriveContext,
    root: ObjectId,
    /// Its address, for names that are relative to it.
    address: Option<Url>,
    driver: Arc<dyn Driver>,
    /// How datasets that this one refers to are opened.
    others: ReferredDatasets,
    catalog: Arc<dyn Catalog>,
    model: Arc<Model>,
    /// The dataset without what an overlay adds: the values that the overlay's steps request are read from it.
    under: Option<Dataset>,
    opening: u64,
    /// The tag of its state.
    tag: Option<String>,
    known: Mutex<KnownSources>,
    absent: Mutex<AbsentObjects>,
}

/// The datasets that a dataset refers to, and how they are opened.
struct ReferredDatasets {
    drivers: Arc<[Arc<dyn Driver>]>,
    options: OpenOptions,
    /// Those held by the dataset that the caller opened.
    open: Weak<ReferencedDatasets>,
    /// Set in the dataset that the caller opened, which owns them.
    owned: Option<Arc<ReferencedDatasets>>,
}

/// What was looked up so far.
#[derive(Default)]
struct KnownSources {
    attributes: HashMap<NodeId, Result<Attributes>>,
    bound: HashMap<VarId, Arc<BoundSource>>,
    /// Decoded chunks of variables that have a cache of their own.
    caches: HashMap<VarId, Arc<ChunkCache>>,
}

impl Dataset {
    /// Groups, dimensions, types and variables.
    pub fn model(&self) -> Arc<Model> {
        Arc::clone(&self.inner.model)
    }

    /// The format's view of the dataset.
    pub fn catalog(&self) -> &Arc<dyn Catalog> {
        &self.inner.catalog
    }

    /// The driver that opened the dataset.
    pub fn driver(&self) -> &Arc<dyn Driver> {
        &self.inner.driver
    }

    /// Gives a variable a cache of its own for decoded chunks, of so many bytes; it has none of the session's then. A
    /// variable whose chunks are larger than this is decoded whenever it is read.
    ///
    /// A chunk is kept when it is requested for the second time.
    pub fn set_chunk_cache(&self, variable: VarId, bytes: usize) {
        self.known().caches.insert(variable, Arc::new(ChunkCache::of_variable(bytes)));
    }

    /// Whether a decoded chunk of a variable, of so many bytes, is kept when it is requested again.
    pub fn keeps_chunk(&self, variable: VarId, byte_len: usize) -> bool {
        let own = self.known().caches.get(&variable).cloned();
        own.as_deref().unwrap_or(&self.inner.session.shared.chunks).keeps(byte_len)
    }

    /// What was repaired or ignored on opening.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = self.inner.catalog.warnings();
        let index = self.inner.session.shared.index.as_ref();
        warnings.extend(index.and_then(|index| index.warning()).map(str::to_owned));
        warnings.extend(self.absence());
        warnings.extend(self.missing_chunks());
        warnings.extend(self.store().warnings());
        warnings
    }

    /// The tag of the dataset's state: for one object what the store reports (an ETag, or time, size and inode), for a
    /// tree a digest of the tags of the objects that its definitions were read from. `None` if the store reports no
    /// tags.
    pub fn tag(&self) -> Option<&str> {
        self.inner.under.as_ref().map_or(self.inner.tag.as_deref(), Self::tag)
    }

    /// The object that holds the dataset, or the prefix of its objects.
    pub fn root(&self) -> &ObjectId {
        &self.inner.root
    }

    /// The store that holds the dataset.
    pub fn store(&self) -> &Arc<dyn Store> {
        self.inner.context.snapshot.store()
    }

    /// Checks that bytes which the caller fetched from an object belong to the state that the dataset reads: `tag` is the
    /// tag of the object that they came with.
    ///
    /// # Errors
    /// `Changed` if the object had another tag when the dataset first read it; `Unsupported` for an object of another
    /// store.
    pub fn check_state(&self, object: &ObjectId, tag: &Tag) -> Result<()> {
        let snapshot = &self.inner.context.snapshot;
        snapshot.check_store(object)?;
        snapshot.check(object, tag)
    }

    /// The session that the dataset was opened with.
    pub fn session(&self) -> &Session {
        &self.inner.session
    }

    /// The history of the repository that the dataset is a state of; `None` if it is in none.
    ///
    /// # Errors
    /// Errors of fetching it; damage of the history.
    pub async fn history(&self, changes: bool) -> Result<Option<RepositoryHistory>> {
        let context = self.context(ReadDepth::default());
        let catalog = self.plain().catalog();
        context.drive(|view| catalog.history(view, changes)).await
    }

    /// The attributes of groups and variables, one result per node; those that are not cached are read together.
    pub async fn attributes(&self, nodes: &[NodeId]) -> Vec<Result<Attributes>> {
        let pending: Vec<NodeId> = nodes.iter().copied().filter(|node| self.is_pending(*node)).collect();
        let failure = if pending.is_empty() { None } else { self.load_attributes(&pending).await.err() };
        nodes.iter().map(|node| self.attributes_of(*node, failure.as_ref())).collect()
    }

    /// Where a variable's values are stored.
    ///
    /// # Errors
    /// The reason why the variable is inaccessible.
    pub async fn source(&self, variable: VarId) -> Result<Arc<Source>> {
        Ok(Arc::clone(&self.bound(variable, &ReadDepth::default()).await?.source))
    }

    /// The tiles of a region of a variable that is assembled from others; none for other variables.
    ///
    /// # Errors
    /// The reason why the variable is inaccessible; `Limit` for too many tiles; a damaged description.
    pub async fn tiles(&self, variable: VarId, region: &Region) -> Result<Vec<Tile>> {
        let source = self.source(variable).await?;
        let Layout::Mosaic { tiles } = &source.layout else { return Ok(Vec::new()) };
        let context = self.context(ReadDepth::default());
        let tiles = context.drive(|view| tiles.tiles(view, region)).await?;
        context.shared.limits.count(tiles.len() as u64, "a list of tiles")?;
        Ok(tiles)
    }

    /// What reading a selection will do: requests, bytes, chunks. Only index nodes are fetched.
    ///
    /// # Errors
    /// `Invalid` if the selection does not fit; the reason why the variable is inaccessible.
    pub async fn plan(&self, variable: VarId, selection: &Selection) -> Result<ReadPlan> {
        let tally = Arc::new(SessionCounters::default());
        let plan = self.plan_deep(variable, selection, ReadDepth::counted(&tally)).await?;
        let metadata = tally.read();
        let (metadata_requests, metadata_bytes) = (metadata.requests, metadata.bytes_fetched);
        Ok(ReadPlan { metadata_requests, metadata_bytes, ..plan })
    }

    /// Where the chunks that a selection touches are stored, in row-major order, without those that are known never to
    /// have been written. A variable that is not chunked has none. A chunk that is a whole object may turn out to be
    /// absent.
    ///
    /// # Errors
    /// `Invalid` if the selection does not fit, `Limit` if it touches too many chunks; the reason why the variable is
    /// inaccessible; a damaged index.
    pub async fn chunks(&self, variable: VarId, selection: &Selection) -> Result<Vec<StoredChunk>> {
        let place = |error| self.located(error, variable);
        selection.check(&self.inner.model.shape(variable)).map_err(|error| place(error.into()))?;
        let context = self.context(ReadDepth::default());
        let source = context.drive(|view| self.inner.catalog.source(view, variable)).await.map_err(place)?;
        chunks::chunks(&context, &source, selection).await.map_err(place)
    }

    /// Where the elements of a variable and the structures of its chunk index are in the dataset's object.
    ///
    /// # Errors
    /// The reason why the variable is inaccessible; a damaged index.
    pub async fn placement(&self, variable: VarId) -> Result<StoragePlacement> {
        let place = |error| self.located(error, variable);
        let context = self.context(ReadDepth::default());
        let source = context.drive(|view| self.inner.catalog.source(view, variable)).await.map_err(place)?;
        chunks::placement(&context, &source, &self.inner.root).await.map_err(place)
    }

    /// The values of a selection, in row-major order.
    ///
    /// # Errors
    /// `Invalid` if the selection does not fit, `Limit` if the values do not fit in memory, otherwise errors of
    /// fetching and decoding.
    pub async fn read(&self, variable: VarId, selection: &Selection) -> Result<Values> {
        let (values, _) = self.read_reported(variable, selection, self.default_missing()).await?;
        Ok(values)
    }

    /// As [`read`](Self::read), with a policy for chunks that were never written, and with a report.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub async fn read_reported(
        &self,
        variable: VarId,
        selection: &Selection,
        missing: MissingChunks,
    ) -> Result<(Values, ReadReport)> {
        self.read_deep(variable, Picked::Selection(selection), missing, ReadDepth::default()).await
    }

    /// As [`read`](Self::read), into the caller's memory: elements of the model's type in the machine's byte order, the
    /// fields of compounds contiguous, without padding.
    ///
    /// # Errors
    /// As [`read`](Self::read); `Invalid` if the memory has another size, or the type has no fixed size.
    pub async fn read_into(&self, variable: VarId, selection: &Selection, out: &mut [u8]) -> Result<()> {
        self.read_into_reported(variable, selection, out, self.default_missing()).await.map(|_| ())
    }

    /// As [`read_into`](Self::read_into), with a policy for chunks that were never written, and with a report.
    pub(crate) async fn read_into_reported(
        &self,
        variable: VarId,
        selection: &Selection,
        out: &mut [u8],
        missing: MissingChunks,
    ) -> Result<ReadReport> {
        let bound = self.bound(variable, &ReadDepth::default()).await?;
        let picked = Picked::Selection(selection);
        let reading = self.reading(variable, &bound, picked, ReadDepth::default(), missing)?.packed();
        let read = match &bound.layout {
            StorageLayout::Mosaic(index) => {
                MosaicRead::new(self, &reading, index).read_into(selection, out).await
            }
            StorageLayout::Query(source, number) => {
                QueryRead::new(&reading, (source, *number)).read_into(selection, out).await
            }
            _ => reading.read_into(picked, out).await,
        };
        let read = read.map_err(|error| self.located(error, variable));
        let report = reading.into_report();
        self.note_filled(variable, &report);
        read.map(|()| report)
    }

    /// What steps of this dataset are driven with.
    pub(crate) fn context(&self, read_depth: ReadDepth) -> DriveContext {
        let whose = self.inner.under.as_ref().unwrap_or(self).clone();
        DriveContext { values: Some(whose.inner), read_depth, ..self.inner.context.clone() }
    }

    /// As [`read_reported`](Self::read_reported), nested in other reads.
    pub(crate) fn read_deep<'a>(
        &'a self,
        variable: VarId,
        picked: Picked<'a>,
        missing: MissingChunks,
        read_depth: ReadDepth,
    ) -> BoxFuture<'a, Result<(Values, ReadReport)>> {
        Box::pin(async move {
            let bound = self.bound(variable, &read_depth).await?;
            let reading = self.reading(variable, &bound, picked, read_depth, missing)?;
            let values = match (&bound.layout, picked) {
                // The elements of these two are in other datasets or computed by a server; all others are in chunks
                // of this dataset.
                (StorageLayout::Mosaic(index), Picked::Selection(selection)) => {
                    MosaicRead::new(self, &reading, index).read(selection).await
                }
                (StorageLayout::Mosaic(index), Picked::Points(points)) => {
                    MosaicRead::new(self, &reading, index).read_points(points).await
                }
                (StorageLayout::Query(source, number), Picked::Selection(selection)) => {
                    QueryRead::new(&reading, (source, *number)).read(selection).await
                }
                (StorageLayout::Query(source, number), Picked::Points(points)) => {
                    QueryRead::new(&reading, (source, *number)).read_points(points).await
                }
                _ => reading.read(picked).await,
            };
            let values = values.map_err(|error| self.located(error, variable))?;
            let report = reading.into_report();
            self.note_filled(variable, &report);
            Ok((values, report))
        })
    }

    /// As [`plan`](Self::plan), nested in other reads.
    pub(crate) fn plan_deep<'a>(
        &'a self,
        variable: VarId,
        selection: &'a Selection,
        read_depth: ReadDepth,
    ) -> BoxFuture<'a, Result<ReadPlan>> {
        Box::pin(async move {
            let bound = self.bound(variable, &read_depth).await?;
            let picked = Picked::Selection(selection);
            let reading = self.reading(variable, &bound, picked, read_depth, self.default_missing())?;
            let plan = match &bound.layout {
                StorageLayout::Mosaic(index) => MosaicRead::new(self, &reading, index).plan(selection).await,
                StorageLayout::Query(source, number) => {
                    QueryRead::new(&reading, (source, *number)).plan(selection)
                }
                _ => reading.plan(selection).await,
            };
            plan.map_err(|error| self.located(error, variable))
        })
    }

    fn reading<'a>(
        &'a self,
        variable: VarId,
        bound: &'a BoundSource,
        picked: Picked<'_>,
        read_depth: ReadDepth,
        missing: MissingChunks,
    ) -> Result<VariableRead<'a>> {
        let shape = self.inner.model.shape(variable);
        picked.check(&shape).map_err(|error| self.located(error.into(), variable))?;
        let context = match bound.layout {
            StorageLayout::Mosaic(_) => {
                let path = self.inner.model.variable_path(variable);
                let limits = &self.inner.session.shared.limits;
                let read_depth = read_depth.of_mosaic(&self.inner.root, &path, limits);
                self.context(read_depth.map_err(|error| self.located(error, variable))?)
            }
            _ => self.context(read_depth),
        };
        let own_cache = self.known().caches.get(&variable).cloned();
        let read =
            VariableRead::new((self.definitions(), variable), bound, context, self.inner.opening, missing);
        Ok(read.with_cache(own_cache))
    }

    /// A variable's bound source; reads that it needs are nested at `read_depth`.
    pub(crate) async fn bound(&self, variable: VarId, read_depth: &ReadDepth) -> Result<Arc<BoundSource>> {
        if let Some(bound) = self.known().bound.get(&variable) {
            return Ok(Arc::clone(bound));
        }
        let bound = self.bind(variable, read_depth).await.map_err(|error| self.located(error, variable))?;
        let bound = Arc::new(bound);
        self.known().bound.insert(variable, Arc::clone(&bound));
        Ok(bound)
    }

    async fn bind(&self, variable: VarId, read_depth: &ReadDepth) -> Result<BoundSource> {
        let model = &self.inner.model;
        let described = model.variable(variable);
        let described = described.ok_or_else(|| Error::not_found("no such variable"))?;
        let context = self.context(read_depth.clone());
        let source = context.drive(|view| self.inner.catalog.source(view, variable)).await;
        if let Some(fault) = &described.fault {
            // The driver's error has the place; the fault is its text only.
            return Err(source.err().unwrap_or_else(|| fault.clone().into()));
        }
        let source = source?;
        if let Layout::Query { source, .. } = &source.layout {
            query::keep_arrived(&context, self.inner.opening, source.as_ref());
        }
        BoundSource::new(source, model, (described.ty, &model.shape(variable)), &context.shared)
    }

    fn is_pending(&self, node: NodeId) -> bool {
        matches!(self.inner.model.attributes(node), Some(AttributeState::Pending))
            && !self.known().attributes.contains_key(&node)
    }

    async fn load_attributes(&self, nodes: &[NodeId]) -> Result<()> {
        let context = self.context(ReadDepth::default());
        let loaded = context.drive(|view| self.inner.catalog.attributes(view, nodes)).await?;
        self.known().attributes.extend(nodes.iter().copied().zip(loaded));
        Ok(())
    }

    fn attributes_of(&self, node: NodeId, failure: Option<&Error>) -> Result<Attributes> {
        match self.inner.model.attributes(node) {
            Some(AttributeState::Known(attributes)) => Ok(attributes.clone()),
            Some(AttributeState::Damaged(fault)) => Err(fault.clone().into()),
            Some(AttributeState::Pending) => match (self.known().attributes.get(&node), failure) {
                (Some(result), _) => result.clone(),
                (None, Some(failure)) => Err(failure.clone()),
                (None, None) => Err(Error::internal("attributes were asked for but not given")),
            },
            None => Err(Error::not_found("no such group or variable")),
        }
    }

    fn default_missing(&self) -> MissingChunks {
        self.inner.session.shared.missing
    }

    /// The definitions, valid for the lifetime of the dataset.
    pub(crate) fn definitions(&self) -> &Model {
        &self.inner.model
    }

    fn located(&self, error: Error, variable: VarId) -> Error {
        error.at_path(self.inner.model.variable_path(variable)).by(self.inner.driver.name())
    }

    fn known(&self) -> MutexGuard<'_, KnownSources> {
        self.inner.known.guard()
    }
}

impl NestedRead for DatasetInner {
    fn read_nested<'a>(
        self: Arc<Self>,
        variable: &'a VariableRef,
        selection: &'a Selection,
        read_depth: ReadDepth,
    ) -> BoxFuture<'a, Result<Values>> {
        Box::pin(async move {
            let dataset = Dataset { inner: self }.referred(variable.dataset.as_ref(), &read_depth).await?;
            let found = dataset.inner.model.variable_at(&variable.path);
            let found = found.ok_or_else(|| Error::no_member(Member::Variable, &variable.path))?;
            let picked = Picked::Selection(selection);
            let (values, _) = dataset.read_deep(found, picked, MissingChunks::Fill, read_depth).await?;
            Ok(values)
        })
    }
}

impl Drop for DatasetInner {
    fn drop(&mut self) {
        self.session.shared.chunks.forget(self.opening);
        self.session.shared.boxes.forget(self.opening);
        if self.others.owned.is_some() && self.under.is_none() {
            self.context.snapshot.save(&self.root, self.driver.name());
        }
    }
}

impl fmt::Debug for Dataset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dataset")
            .field("root", &self.inner.root.to_string())
            .field("driver", &self.inner.driver.name())
            .finish_non_exhaustive()
    }
}

//! A dataset: opened, created or opened for change.
use crate::create::{CreateOptions, StringLengths};
use crate::{Attribute, Error, Group, Member, Result, Session, Variable};
use futures_util::future::BoxFuture;
use ncirrus_engine::DatasetWriter;
use ncirrus_layout::LockExt;
use ncirrus_layout::{ErrorKind, ObjectId, OpenOptions};
use ncirrus_model::{AttributeState, Fault, Model, NodeId, VarId};
use ncirrus_store::{StagedDataset, Store};
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// A dataset: groups, dimensions, types, variables and attributes, and the values of the variables. Cheap to clone.
///
/// A dataset that was created or opened for update keeps its changes to itself until [`sync`](Self::sync) or
/// [`close`](Self::close); dropping the last handle of one that was never closed abandons what was not synced, and a
/// creation leaves nothing behind.
#[derive(Clone)]
pub struct Dataset(Arc<DatasetInner>);

struct DatasetInner {
    session: Session,
    name: String,
    url: String,
    state: DatasetState,
    /// Whether aggregated variables are shown as such, and checked.
    shows_aggregations: bool,
    complete: Mutex<Option<Arc<Model>>>,
}

pub(crate) enum DatasetState {
    Reading(ncirrus_engine::Dataset),
    Writing(Box<WritingState>),
}

pub(crate) struct WritingState {
    /// Where a new dataset waits until it is closed; gone afterwards. Dropped before the writer, whose session may be
    /// needed to take back what was sent.
    staged: Mutex<Option<StagedDataset>>,
    pub(crate) writer: DatasetWriter,
    closed: AtomicBool,
    kind: &'static str,
}

impl DatasetInner {
    fn new(session: &Session, url: &str, name: String, state: DatasetState) -> Self {
        let (session, url) = (session.clone(), url.to_owned());
        Self { session, name, url, state, shows_aggregations: false, complete: Mutex::default() }
    }
}

impl WritingState {
    /// Whether the place of a new dataset is still this program's.
    pub(crate) fn check_of_place(&self) -> BoxFuture<'static, Result<()>> {
        let staged = self.staged.guard();
        staged
            .as_ref()
            .map_or_else(|| Box::pin(async { Ok(()) }) as BoxFuture<'static, _>, StagedDataset::check)
    }
}

impl Dataset {
    /// Opens a dataset for reading, in a session of its own.
    ///
    /// # Errors
    /// `NotFound`, `Denied`, `Malformed` or `Unsupported`; the place names the object.
    pub fn open(url: &str) -> Result<Self> {
        Self::open_with(url, &OpenOptions::default(), &Session::new()?)
    }

    /// Opens a dataset for reading with options, in a session.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_with(url: &str, options: &OpenOptions, session: &Session) -> Result<Self> {
        let opened = session.wait_for_store(url, ncirrus_store::open(url, &session.stores))?;
        let mut options = options.clone().name(opened.name.clone());
        for (name, value) in session.settings().substitutions() {
            options.substitutions.entry(name.to_owned()).or_insert_with(|| value.value.clone());
        }
        let dataset =
            session.engine.block_on(session.engine.open_opened(&opened, &session.drivers, &options))?;
        let inner = DatasetInner::new(session, url, opened.name, DatasetState::Reading(dataset));
        Ok(Self(Arc::new(DatasetInner { shows_aggregations: !options.raw && !options.lenient, ..inner })))
    }

    /// Creates a dataset of the kind that the URL's mode or the name's ending tells, in a session of its own.
    ///
    /// # Errors
    /// `Conflict` when something is there already; `Denied`; `Invalid` when the kind cannot be told.
    pub fn create(url: &str) -> Result<Self> {
        Self::create_with(url, &CreateOptions::default(), &Session::new()?)
    }

    /// Creates a dataset with options, in a session, whose configuration says what the options do not. Nothing appears at
    /// the target before [`close`](Self::close).
    ///
    /// # Errors
    /// As [`create`](Self::create).
    pub fn create_with(url: &str, options: &CreateOptions, session: &Session) -> Result<Self> {
        Self::create_sized(url, options, &StringLengths::default(), session)
    }

    /// As [`create_with`](Self::create_with), where lengths of strings are known.
    pub(crate) fn create_sized(
        url: &str,
        options: &CreateOptions,
        lengths: &StringLengths,
        session: &Session,
    ) -> Result<Self> {
        let target = options.resolve(url, lengths, session.settings())?;
        let stores = options.stores(&session.stores);
        let staging = ncirrus_store::create(url, target.shape(), options.clobber(), &stores);
        let staged = session.wait_for_store(url, staging)?;
        let creation =
            session.engine.create(Arc::clone(&staged.store), staged.root.clone(), target.writing());
        let writer = session.engine.block_on(creation)?;
        Ok(Self::writing(session, url, writer, staged, target.kind_name()))
    }

    /// Opens a dataset for reading and changing, in a session of its own. Opening changes nothing. Other programs that
    /// lock files as HDF5 does cannot open a single file before the first sync, and cannot change it before it is
    /// closed.
    ///
    /// # Errors
    /// As [`open`](Self::open); `Conflict` when another program has the file open; `Unsupported` when the format or
    /// place cannot be changed.
    pub fn update(url: &str) -> Result<Self> {
        Self::update_with(url, &OpenOptions::default(), &Session::new()?)
    }

    /// As [`update`](Self::update), with options, in a session.
    ///
    /// # Errors
    /// As [`update`](Self::update).
    pub fn update_with(url: &str, options: &OpenOptions, session: &Session) -> Result<Self> {
        let staged = session.wait_for_store(url, ncirrus_store::update(url, &session.stores))?;
        let dataset = Self::open_in(session, &staged.store, &staged.root, &staged.name, options)?;
        refuse_whole_files(&dataset, url)?;
        let writer = session.engine.block_on(session.engine.update(&dataset))?;
        Ok(Self::writing(session, url, writer, staged, dataset.catalog().kind()))
    }

    /// What lies in a store, opened by whichever driver knows it, as it is stored.
    fn open_in(
        session: &Session,
        store: &Arc<dyn Store>,
        root: &ObjectId,
        name: &str,
        options: &OpenOptions,
    ) -> Result<ncirrus_engine::Dataset> {
        let options = options.clone().name(name.to_owned()).raw(true);
        let opening = session.engine.open(Arc::clone(store), root.clone(), &session.drivers, &options);
        session.engine.block_on(opening)
    }

    fn writing(
        session: &Session,
        url: &str,
        writer: DatasetWriter,
        staged: StagedDataset,
        kind: &'static str,
    ) -> Self {
        let name = staged.name.clone();
        let (staged, closed) = (Mutex::new(Some(staged)), AtomicBool::new(false));
        let state = DatasetState::Writing(Box::new(WritingState { writer, staged, closed, kind }));
        Self(Arc::new(DatasetInner::new(session, url, name, state)))
    }

    /// The root group.
    pub fn root(&self) -> Group {
        Group::new(self.clone(), self.snapshot().root())
    }

    /// The group at a path such as `/model/run1`.
    ///
    /// # Errors
    /// `NotFound`.
    pub fn group(&self, path: &str) -> Result<Group> {
        let id = self.snapshot().group_at(path);
        let id = id.ok_or_else(|| self.lacks(Member::Group, path))?;
        Ok(Group::new(self.clone(), id))
    }

    /// The variable at a path such as `/model/run1/sst`; the leading slash may be left out.
    ///
    /// # Errors
    /// `NotFound`.
    pub fn variable(&self, path: &str) -> Result<Variable> {
        let id = self.snapshot().variable_at(path);
        let id = id.ok_or_else(|| self.lacks(Member::Variable, path))?;
        Ok(Variable::new(self.clone(), id))
    }

    fn lacks(&self, what: Member, path: &str) -> Error {
        Error::no_member(what, format_args!("{path:?}")).at_object(&self.0.url)
    }

    /// The variable with an id of the [`model`](Self::model), whose members name each other so. Of one that is not there,
    /// or was removed, names and shapes are empty and values cannot be read.
    pub fn variable_by_id(&self, id: VarId) -> Variable {
        Variable::new(self.clone(), id)
    }

    /// All variables of all groups.
    pub fn variables(&self) -> Vec<Variable> {
        self.snapshot().variables().into_iter().map(|id| Variable::new(self.clone(), id)).collect()
    }

    /// A global attribute; `None` when there is none of that name.
    ///
    /// # Errors
    /// When attributes cannot be read.
    pub fn attribute(&self, name: &str) -> Result<Option<Attribute>> {
        self.root().attribute(name)
    }

    /// All definitions with all attributes.
    ///
    /// # Errors
    /// When the attributes cannot be fetched; damage of one member is recorded in its place.
    pub fn model(&self) -> Result<Arc<Model>> {
        let model = self.snapshot();
        if matches!(self.0.state, DatasetState::Writing(_)) {
            return Ok(model);
        }
        if let Some(complete) = &*self.0.complete.guard() {
            return Ok(Arc::clone(complete));
        }
        let complete = self.completed(model)?;
        *self.0.complete.guard() = Some(Arc::clone(&complete));
        Ok(complete)
    }

    /// The model with the attributes that were pending.
    fn completed(&self, model: Arc<Model>) -> Result<Arc<Model>> {
        let is_pending = |node: &NodeId| matches!(model.attributes(*node), Some(AttributeState::Pending));
        let pending: Vec<NodeId> = model.nodes().into_iter().filter(is_pending).collect();
        if pending.is_empty() {
            return Ok(model);
        }
        let mut complete = Model::clone(&model);
        for (node, attributes) in pending.iter().zip(self.fetch_attributes(&pending)?) {
            if let Some(state) = complete.attributes_mut(*node) {
                *state = match attributes {
                    Ok(attributes) => AttributeState::Known(attributes),
                    Err(error) => AttributeState::Damaged(Fault::from(&error)),
                };
            }
        }
        Ok(Arc::new(complete))
    }

    /// Kind of the dataset as `ncdump -k` names it, such as `classic` or `netCDF-4`.
    pub fn kind(&self) -> &'static str {
        match &self.0.state {
            DatasetState::Reading(dataset) => dataset.catalog().kind(),
            DatasetState::Writing(open) => open.kind,
        }
    }

    /// Whether aggregated variables are shown as such, and checked.
    pub(crate) fn shows_aggregations(&self) -> bool {
        self.0.shows_aggregations
    }

    /// Facts about the storage, such as the dialect: name and value.
    pub fn facts(&self) -> Vec<(&'static str, String)> {
        match &self.0.state {
            DatasetState::Reading(dataset) => dataset.catalog().facts(),
            DatasetState::Writing(_) => Vec::new(),
        }
    }

    /// Things that were repaired or ignored on opening.
    pub fn warnings(&self) -> Vec<String> {
        match &self.0.state {
            DatasetState::Reading(dataset) => dataset.warnings(),
            DatasetState::Writing(open) => {
                let staged = open.staged.guard();
                let mut warnings = staged.as_ref().map(|staged| staged.warnings.clone()).unwrap_or_default();
                warnings.extend(open.writer.warnings());
                warnings
            }
        }
    }

    /// Fragments of aggregated variables that were not there when they were read since the dataset was opened, and whose
    /// elements are missing values.
    pub fn absent_fragments(&self) -> Vec<ncirrus_engine::AbsentFragment> {
        match &self.0.state {
            DatasetState::Reading(dataset) => dataset.absent_fragments(),
            DatasetState::Writing(_) => Vec::new(),
        }
    }

    /// The same in words, the first of them by name; `None` when there are none.
    pub fn absence(&self) -> Option<String> {
        match &self.0.state {
            DatasetState::Reading(dataset) => dataset.absence(),
            DatasetState::Writing(_) => None,
        }
    }

    /// The dataset's name: the last segment of the URL without its ending.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// The URL or path it was opened by.
    pub fn url(&self) -> &str {
        &self.0.url
    }

    /// The session it was opened in.
    pub fn session(&self) -> &Session {
        &self.0.session
    }

    /// Ends writing: a last [`sync`](Self::sync), and a new dataset appears at its place. Nothing happens for one that
    /// is only read. Other handles of a dataset that was written are of no more use.
    ///
    /// # Errors
    /// When writing fails; a new dataset then does not appear. `Conflict` when another program took over the place of a new
    /// dataset on an object store: what is there then is theirs.
    pub fn close(self) -> Result<()> {
        let DatasetState::Writing(open) = &self.0.state else { return Ok(()) };
        let staged = || open.staged.guard();
        self.commit()?;
        open.closed.store(true, Ordering::Release);
        let staged = staged().take();
        staged.map_or(Ok(()), |staged| self.0.session.wait_for_store(&self.0.url, staged.commit_checked()))
    }

    /// Does something with the place where the dataset is written, unless it was closed.
    pub(crate) fn with_staged(&self, act: impl FnOnce(&StagedDataset) -> Result<()>) -> Result<()> {
        let DatasetState::Writing(open) = &self.0.state else { return Ok(()) };
        open.staged.guard().as_ref().map_or(Ok(()), act)
    }

    pub(crate) fn state(&self) -> &DatasetState {
        &self.0.state
    }

    pub(crate) fn engine(&self) -> &ncirrus_engine::Session {
        &self.0.session.engine
    }

    pub(crate) fn open_for_writing(&self) -> Result<&WritingState> {
        match &self.0.state {
            DatasetState::Writing(open) if open.closed.load(Ordering::Acquire) => {
                Err(Error::invalid("the dataset was closed").at_object(&self.0.url))
            }
            DatasetState::Writing(open) => Ok(open),
            DatasetState::Reading(_) => {
                let message = "the dataset is open for reading only";
                Err(Error::new(ErrorKind::Denied, message).at_object(&self.0.url))
            }
        }
    }

    pub(crate) fn reader(&self) -> Result<&ncirrus_engine::Dataset> {
        match &self.0.state {
            DatasetState::Reading(dataset) => Ok(dataset),
            DatasetState::Writing(_) => Err(Error::unsupported("not while the dataset is open for writing")),
        }
    }

    /// The path of a variable, for errors.
    pub(crate) fn path_of(&self, var: VarId) -> String {
        self.snapshot().variable_path(var)
    }
}

impl fmt::Debug for Dataset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dataset").field("url", &self.0.url).field("kind", &self.kind()).finish()
    }
}

/// A file on another machine can be replaced, but not changed in place.
fn refuse_whole_files(dataset: &ncirrus_engine::Dataset, url: &str) -> Result<()> {
    let is_file = dataset.catalog().writing().is_some_and(|writing| writing.is_single_object());
    if !is_file || dataset.store().local().is_some() {
        return Ok(());
    }
    let message = "a single file on an object store: changed only by fetching and sending all of it, which \
                   StoreOptions::rewrite allows";
    Err(Error::unsupported(message).at_object(url))
}

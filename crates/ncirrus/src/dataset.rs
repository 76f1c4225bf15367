//! A dataset, opened for reading, created, or opened for update.
mod asynchronous;
mod ending;
mod in_memory;
pub(crate) mod joint;

use crate::create::{CreateOptions, StringLengths};
use crate::pace::DatasetPace;
use crate::{Attribute, Error, Group, Member, Result, Session, Variable};
use ending::EndState;
use futures_util::future::BoxFuture;
use in_memory::MemoryPlace;
use joint::JointState;
use ncirrus_engine::DatasetWriter;
use ncirrus_layout::LockExt;
use ncirrus_layout::{ErrorKind, ObjectId, OpenOptions, RepositoryHistory};
use ncirrus_model::{AttributeState, DatasetKind, Model, NodeId, StorageFacts, VarId};
use ncirrus_store::{Opened, StagedDataset, Store, Url};
use std::fmt;
use std::sync::{Arc, Mutex};

/// A dataset: groups, dimensions, types, variables and attributes, and the values of the variables. Cheap to clone.
///
/// A dataset that was created or opened for update makes its changes visible only at [`sync`](Self::sync) or
/// [`close`](Self::close); dropping the last handle of one that was never closed discards what was not synced, and an
/// unfinished creation leaves nothing behind.
#[derive(Clone)]
pub struct Dataset(Arc<DatasetInner>);

struct DatasetInner {
    session: Session,
    name: String,
    url: String,
    state: DatasetState,
    /// Whether aggregated variables are presented as such, and checked.
    shows_aggregations: bool,
    complete: Mutex<Option<Arc<Model>>>,
    /// Where its bytes are, if they are to be returned.
    in_memory: Option<Arc<MemoryPlace>>,
    /// The part that other processes write.
    joint: Mutex<Option<JointState>>,
    /// What is read before it is asked for.
    pace: DatasetPace,
}

pub(crate) enum DatasetState {
    Reading(ncirrus_engine::Dataset),
    Writing(Box<WritingState>),
}

pub(crate) struct WritingState {
    /// A new dataset until it is closed. Dropped before the writer, whose session may be needed to remove what was
    /// sent.
    staged: Mutex<Option<StagedDataset>>,
    pub(crate) writer: DatasetWriter,
    ended: EndState,
    kind: DatasetKind,
}

impl WritingState {
    /// Notes that readers see what was written.
    pub(crate) fn note_sync(&self) {
        self.ended.note_sync();
    }
}

impl DatasetInner {
    fn new(session: &Session, url: &str, name: String, state: DatasetState) -> Self {
        let (session, url) = (session.clone(), url.to_owned());
        Self {
            session,
            name,
            url,
            state,
            shows_aggregations: false,
            complete: Mutex::default(),
            in_memory: None,
            joint: Mutex::default(),
            pace: DatasetPace::default(),
        }
    }
}

impl WritingState {
    /// A check whether this program still holds the location of a new dataset.
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

    /// Opens a dataset for reading in a session, with options.
    ///
    /// # Errors
    /// As [`open`](Self::open); `Changed` naming both states if the dataset is not in the state that the options
    /// expect.
    pub fn open_with(url: &str, options: &OpenOptions, session: &Session) -> Result<Self> {
        session.start_log(url)?;
        let plain = Url::parse(url)?;
        let error = match Self::open_at(&plain, url, options, session) {
            Err(error) => error,
            opened => return opened,
        };
        let open = |address| Self::open_at_async(address, url, options, session);
        session.wait_at(url, session.engine.open_computed(&plain, error, open))
    }

    /// Opens what is at an address, for one that is shown.
    fn open_at(address: &Url, url: &str, options: &OpenOptions, session: &Session) -> Result<Self> {
        let opened = session.wait_at(url, ncirrus_store::open_url(address, &session.stores))?;
        let options = substituted(options, &opened, session);
        let dataset = session.engine.wait(session.engine.open_opened(&opened, &session.drivers, &options))?;
        Self::reading(session, url, opened.name, dataset, &options)
    }

    /// The dataset that was opened for reading, if it is in the expected state.
    fn reading(
        session: &Session,
        url: &str,
        name: String,
        dataset: ncirrus_engine::Dataset,
        options: &OpenOptions,
    ) -> Result<Self> {
        ending::check_tag(options.expected_tag.as_deref(), dataset.tag(), url)?;
        let inner = DatasetInner::new(session, url, name, DatasetState::Reading(dataset));
        Ok(Self(Arc::new(DatasetInner { shows_aggregations: !options.raw && !options.lenient, ..inner })))
    }

    /// Creates a dataset of the kind that the URL's mode or the name's extension determines, in a session of its own.
    ///
    /// # Errors
    /// `Conflict` if something exists there; `Denied`; `Invalid` if the kind cannot be determined.
    pub fn create(url: &str) -> Result<Self> {
        Self::create_with(url, &CreateOptions::default(), &Session::new()?)
    }

    /// Creates a dataset in a session, with options; the session's configuration applies to those that are not set.
    /// Nothing appears at the target before [`close`](Self::close).
    ///
    /// # Errors
    /// As [`create`](Self::create).
    pub fn create_with(url: &str, options: &CreateOptions, session: &Session) -> Result<Self> {
        Self::create_sized(url, options, &StringLengths::default(), session)
    }

    /// As [`create_with`](Self::create_with), with known lengths of strings.
    pub(crate) fn create_sized(
        url: &str,
        options: &CreateOptions,
        lengths: &StringLengths,
        session: &Session,
    ) -> Result<Self> {
        let target = options.resolve(url, lengths, session.settings())?;
        // With `exact_path` the name of a file may look like an address.
        if !options.exact_path || url.contains("://") {
            session.start_log(url)?;
        }
        let stores = options.stores(&session.stores);
        let staging = ncirrus_store::create(url, target.shape(), options.clobber(), &stores);
        let staged = session.wait_at(url, staging)?;
        let creation =
            session.engine.create(Arc::clone(&staged.store), staged.root.clone(), target.writing());
        match session.engine.wait(creation) {
            Ok(writer) => Ok(Self::writing(session, url, writer, staged, target.kind())),
            Err(error) => {
                _ = session.complete_at(url, staged.abort());
                Err(error)
            }
        }
    }

    /// Opens a dataset for reading and changing, in a session of its own. Opening changes nothing. Programs that lock
    /// files as HDF5 does cannot open a single file before the first sync, nor change it before it is closed.
    ///
    /// # Errors
    /// As [`open`](Self::open); `Conflict` if another program has the file open; `Unsupported` if the format or store
    /// is read-only.
    pub fn update(url: &str) -> Result<Self> {
        Self::update_with(url, &OpenOptions::default(), &Session::new()?)
    }

    /// As [`update`](Self::update), in a session, with options.
    ///
    /// # Errors
    /// As [`update`](Self::update).
    pub fn update_with(url: &str, options: &OpenOptions, session: &Session) -> Result<Self> {
        session.start_log(url)?;
        let staged = session.wait_at(url, ncirrus_store::update(url, &session.stores))?;
        let dataset = Self::open_in(session, &staged.store, &staged.root, &staged.name, options)?;
        if options.expected_tag.is_some() {
            // The writer may work on a copy of the dataset, with a tag of its own.
            Self::open_with(url, &options.clone().raw(true), session)?;
        }
        refuse_whole_files(&dataset, url)?;
        let writer = session.engine.wait(session.engine.update(&dataset))?;
        Ok(Self::writing(session, url, writer, staged, dataset.catalog().kind()))
    }

    /// Opens what is in a store with whichever driver recognizes it, without overlays.
    fn open_in(
        session: &Session,
        store: &Arc<dyn Store>,
        root: &ObjectId,
        name: &str,
        options: &OpenOptions,
    ) -> Result<ncirrus_engine::Dataset> {
        let options = options.clone().name(name.to_owned()).raw(true);
        let opening = session.engine.open(Arc::clone(store), root.clone(), &session.drivers, &options);
        session.engine.wait(opening)
    }

    fn writing(
        session: &Session,
        url: &str,
        writer: DatasetWriter,
        staged: StagedDataset,
        kind: DatasetKind,
    ) -> Self {
        let name = staged.name.clone();
        let (staged, ended) = (Mutex::new(Some(staged)), EndState::default());
        let state = DatasetState::Writing(Box::new(WritingState { writer, staged, ended, kind }));
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

    /// The variable at a path such as `/model/run1/sst`; the leading slash is optional.
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

    /// The variable with an id of the [`model`](Self::model), whose members refer to each other by ids. If it does not
    /// exist or was removed, its names and shapes are empty and its values cannot be read.
    pub fn variable_by_id(&self, id: VarId) -> Variable {
        Variable::new(self.clone(), id)
    }

    /// All variables of all groups.
    pub fn variables(&self) -> Vec<Variable> {
        self.snapshot().variables().into_iter().map(|id| Variable::new(self.clone(), id)).collect()
    }

    /// A global attribute; `None` if there is none with that name.
    ///
    /// # Errors
    /// If attributes cannot be read.
    pub fn attribute(&self, name: &str) -> Result<Option<Attribute>> {
        self.root().attribute(name)
    }

    /// All definitions with all attributes.
    ///
    /// # Errors
    /// If the attributes cannot be fetched; damage to one member is recorded in its place.
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

    /// The model, with attributes that were not loaded yet.
    fn completed(&self, model: Arc<Model>) -> Result<Arc<Model>> {
        let is_pending = |node: &NodeId| matches!(model.attributes(*node), Some(AttributeState::Pending));
        let pending: Vec<NodeId> = model.nodes().into_iter().filter(is_pending).collect();
        if pending.is_empty() {
            return Ok(model);
        }
        let mut complete = Model::clone(&model);
        for (node, attributes) in pending.iter().zip(self.fetch_attributes(&pending)?) {
            complete.take_attributes(*node, attributes.into());
        }
        Ok(Arc::new(complete))
    }

    /// What the dataset is: its format for netCDF, which `ncdump -k` prints, and how it is stored.
    pub fn kind(&self) -> DatasetKind {
        match &self.0.state {
            DatasetState::Reading(dataset) => dataset.catalog().kind(),
            DatasetState::Writing(open) => open.kind,
        }
    }

    /// Whether it is stored which dimensions are unlimited. In plain Zarr of other programs it is not: any dimension may grow, and
    /// none is unlimited when it is opened again.
    pub fn keeps_unlimited(&self) -> bool {
        match &self.0.state {
            DatasetState::Reading(_) => true,
            DatasetState::Writing(open) => open.writer.abilities().keeps_unlimited,
        }
    }

    /// Whether aggregated variables are presented as such, and checked.
    pub(crate) fn shows_aggregations(&self) -> bool {
        self.0.shows_aggregations
    }

    /// Facts about the storage, such as who wrote it. Of a dataset that is changed those of its state when
    /// it was opened; none of a new one.
    pub fn facts(&self) -> StorageFacts {
        match &self.0.state {
            DatasetState::Reading(dataset) => dataset.catalog().facts(),
            DatasetState::Writing(open) => {
                open.writer.base().map(|base| base.catalog().facts()).unwrap_or_default()
            }
        }
    }

    /// The history of the Icechunk repository of which the dataset is a snapshot; `None` for all other datasets. With
    /// `changes` also what each snapshot changed, which takes a request for each.
    ///
    /// # Errors
    /// If the history cannot be fetched, or is damaged.
    pub fn history(&self, changes: bool) -> Result<Option<RepositoryHistory>> {
        match &self.0.state {
            DatasetState::Reading(dataset) => dataset.session().wait(dataset.history(changes)),
            DatasetState::Writing(_) => Ok(None),
        }
    }

    /// What was repaired or ignored on opening.
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

    /// Fragments of aggregated variables that have been found absent in reads since the dataset was opened, and whose
    /// elements are missing values.
    pub fn absent_fragments(&self) -> Vec<ncirrus_engine::AbsentFragment> {
        match &self.0.state {
            DatasetState::Reading(dataset) => dataset.absent_fragments(),
            DatasetState::Writing(_) => Vec::new(),
        }
    }

    /// The same as text, naming the first of them; `None` if there are none.
    pub fn absence(&self) -> Option<String> {
        match &self.0.state {
            DatasetState::Reading(dataset) => dataset.absence(),
            DatasetState::Writing(_) => None,
        }
    }

    /// How many different fragments and chunks were filled in since the dataset was opened, of those that
    /// [`absence`](Self::absence) and [`missing_chunks`](Self::missing_chunks) report.
    pub fn filled_count(&self) -> usize {
        match &self.0.state {
            DatasetState::Reading(dataset) => dataset.filled_count(),
            DatasetState::Writing(_) => 0,
        }
    }

    /// Chunks that were never written and were read since the dataset was opened, in words; `None` when there are none, and
    /// unless the session is to report them ([`MissingChunks::Report`](crate::MissingChunks::Report)).
    pub fn missing_chunks(&self) -> Option<String> {
        match &self.0.state {
            DatasetState::Reading(dataset) => dataset.missing_chunks(),
            DatasetState::Writing(_) => None,
        }
    }

    /// The dataset's name: the last segment of the URL without its extension.
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

    pub(crate) fn pace(&self) -> &DatasetPace {
        &self.0.pace
    }

    pub(crate) fn state(&self) -> &DatasetState {
        &self.0.state
    }

    pub(crate) fn engine(&self) -> &ncirrus_engine::Session {
        &self.0.session.engine
    }

    /// The writer through which a dataset that is being written is read.
    ///
    /// # Errors
    /// `Invalid` if it was abandoned.
    pub(crate) fn written<'a>(&self, open: &'a WritingState) -> Result<&'a DatasetWriter> {
        if open.ended.is_abandoned() { Err(open.ended.error(&self.0.url)) } else { Ok(&open.writer) }
    }

    pub(crate) fn open_for_writing(&self) -> Result<&WritingState> {
        match &self.0.state {
            DatasetState::Writing(open) if open.ended.is_ended() => Err(open.ended.error(&self.0.url)),
            DatasetState::Writing(open) => Ok(open),
            DatasetState::Reading(_) => {
                let message = "the dataset is open for reading only";
                Err(Error::new(ErrorKind::Denied, message).at_object(&self.0.url))
            }
        }
    }

    /// Whether it is one local file, open for reading, that surely is as it was when it was opened: not changed and not
    /// replaced. `false` where nothing is known of it.
    pub fn is_unchanged(&self) -> bool {
        self.reader().is_ok_and(ncirrus_engine::Dataset::is_unchanged)
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

/// The options with the name of the dataset, and the settings for names of fragments.
fn substituted(options: &OpenOptions, opened: &Opened, session: &Session) -> OpenOptions {
    let mut options = options.clone().name(opened.name.clone());
    for (name, value) in session.settings().substitutions() {
        options.substitutions.entry(name.to_owned()).or_insert_with(|| value.value.clone());
    }
    options
}

/// A remote file can be replaced, but not changed in place.
fn refuse_whole_files(dataset: &ncirrus_engine::Dataset, url: &str) -> Result<()> {
    let is_file = dataset.catalog().writing().is_some_and(|writing| writing.is_single_object());
    if !is_file || dataset.store().local().is_some() {
        return Ok(());
    }
    let message = "a single file on an object store: changed only by fetching and sending all of it, which \
                   StoreOptions::rewrite allows";
    Err(Error::unsupported(message).at_object(url))
}

#[cfg(test)]
mod tests;

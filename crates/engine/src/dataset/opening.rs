//! Opening datasets: those of callers, and those that others take values from.
use super::referenced_datasets::ReferencedDatasets;
use super::tag::tag_of;
use super::{Dataset, DatasetInner, ReferredDatasets};
use crate::drive::DriveContext;
use crate::drive::ReadDepth;
use crate::open;
use crate::session::Session;
use crate::snapshot::StoreSnapshot;
use ncirrus_layout::{
    AddressHints, Catalog, Confidence, DatasetView, Driver, Error, Members, Memo, ObjectId, OpenOptions,
    Result,
};
use ncirrus_model::Model;
use ncirrus_store::{Opened, OutsideStore, Store, Url};
use std::sync::{Arc, Mutex, Weak};

/// Minimum number of metadata bytes that a dataset keeps from which others take values.
const MIN_METADATA: usize = 1 << 20;

/// What an address says besides the place of its dataset.
fn hints(url: &Url) -> AddressHints {
    AddressHints {
        modes: url.fragment().modes().iter().map(str::to_owned).collect(),
        entries: url.fragment().entries().map(|(key, value)| (key.to_owned(), value.to_owned())).collect(),
        query: url.query().map(str::to_owned),
    }
}

/// Members that no document lists are looked for if that costs no requests.
fn with_members(options: &OpenOptions, context: &DriveContext) -> OpenOptions {
    let members = match (options.members, context.snapshot.store().local().is_some()) {
        (Members::Auto, false) => Members::Named,
        (members, _) => members,
    };
    options.clone().members(members)
}

impl Session {
    /// Opens the dataset at `root` with whichever of the drivers recognizes its format. Its address is unknown: it
    /// cannot refer to others by relative names.
    ///
    /// # Errors
    /// `NotFound` if nothing is there, `Unsupported` or `Malformed` if no driver recognizes what is there, otherwise
    /// errors of the driver.
    pub async fn open(
        &self,
        store: Arc<dyn Store>,
        root: ObjectId,
        drivers: &[Arc<dyn Driver>],
        options: &OpenOptions,
    ) -> Result<Dataset> {
        self.open_at(store, root, None, (drivers.into(), options), &ReadDepth::default()).await
    }

    /// As [`open`](Self::open), for an address that was looked up.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub async fn open_opened(
        &self,
        opened: &Opened,
        drivers: &[Arc<dyn Driver>],
        options: &OpenOptions,
    ) -> Result<Dataset> {
        let (store, root, url) = (Arc::clone(&opened.store), opened.root.clone(), opened.url.clone());
        self.open_at(store, root, Some(url), (drivers.into(), options), &ReadDepth::default()).await
    }

    /// As [`open_opened`](Self::open_opened), for a dataset that another one takes values from; its requests are
    /// counted with those of the read for which it is opened.
    pub(crate) async fn open_fragment(
        &self,
        opened: Opened,
        drivers: &Arc<[Arc<dyn Driver>]>,
        options: &OpenOptions,
        read_depth: &ReadDepth,
    ) -> Result<Dataset> {
        let Opened { store, root, url, .. } = opened;
        self.open_at(store, root, Some(url), (Arc::clone(drivers), options), read_depth).await
    }

    async fn open_at(
        &self,
        store: Arc<dyn Store>,
        root: ObjectId,
        address: Option<Url>,
        (drivers, options): (Arc<[Arc<dyn Driver>]>, &OpenOptions),
        read_depth: &ReadDepth,
    ) -> Result<Dataset> {
        let context = DriveContext { read_depth: read_depth.apart(), ..self.context(store) };
        let options = &options.clone().address(address.as_ref().map(hints).unwrap_or_default());
        let named = open::named(&options.address, &drivers)?;
        let known = match &named {
            Some(_) => named,
            None => self.known_driver(&context, &root, &drivers).await,
        };
        let driver = match known {
            Some(driver) => driver,
            None => match open::probe(&context, &root, &drivers, &options.address).await {
                // A zip file whose name does not say so. The dataset inside has the empty key, so this happens once.
                Err(error) if open::is_zip(&error) && !root.key().is_empty() => {
                    let (store, object) = (Arc::clone(context.snapshot.store()), root);
                    let inside = ncirrus_store::open_zip(store, object, self.shared.limits.clone());
                    let (store, root) = self.shared.network.run(inside)?.await?;
                    return Box::pin(self.open_at(store, root, address, (drivers, options), read_depth))
                        .await;
                }
                Err(error) => open::by_mode(&context, &root, options, &drivers).await.ok_or(error)?,
                Ok(driver) => driver,
            },
        };
        let owned = Arc::new(ReferencedDatasets::default());
        let open = Arc::downgrade(&owned);
        let others = ReferredDatasets { drivers, options: options.clone(), open, owned: Some(owned) };
        let plain = self.open_plain(context, root, driver, others, address).await?;
        plain.overlaid(read_depth).await
    }

    /// The driver that opened the dataset before, if the index cache has it and that driver is still certain.
    async fn known_driver(
        &self,
        context: &DriveContext,
        root: &ObjectId,
        drivers: &[Arc<dyn Driver>],
    ) -> Option<Arc<dyn Driver>> {
        let name = context.snapshot.driver_of(root)?;
        let driver = drivers.iter().find(|driver| driver.name() == name)?;
        match context.drive(|view| driver.probe(view, root)).await {
            Ok(Confidence::Yes) => Some(Arc::clone(driver)),
            _ => None,
        }
    }

    /// The dataset as its format presents it.
    async fn open_plain(
        &self,
        context: DriveContext,
        root: ObjectId,
        driver: Arc<dyn Driver>,
        others: ReferredDatasets,
        address: Option<Url>,
    ) -> Result<Dataset> {
        let options = with_members(&others.options, &context);
        let opened = context.drive(|view| driver.open(view, &root, &options)).await;
        let catalog = opened.map_err(|error| error.by(driver.name()))?;
        let tree = context.drive(|view| catalog.tree(view)).await;
        let model = tree.map_err(|error| error.by(driver.name()))?;
        let (session, opening) = (self.clone(), self.shared.next_opening());
        let (known, absent) = (Mutex::default(), Mutex::default());
        let tag = tag_of(&root, context.snapshot.tags());
        // Later reads are not nested in the read that opened this dataset.
        let context = DriveContext { read_depth: ReadDepth::default(), ..context };
        let context = self.reaching_outside(context, catalog.as_ref(), address.as_ref(), &root);
        let under = None;
        let inner = DatasetInner {
            session,
            context,
            root,
            address,
            driver,
            others,
            catalog,
            model,
            under,
            opening,
            tag,
            known,
            absent,
        };
        Ok(Dataset { inner: Arc::new(inner) })
    }

    /// The same, with a store that also reads the objects of other stores that a dataset refers to.
    fn reaching_outside(
        &self,
        context: DriveContext,
        catalog: &dyn Catalog,
        address: Option<&Url>,
        root: &ObjectId,
    ) -> DriveContext {
        let containers = catalog.outside();
        if containers.is_empty() {
            return context;
        }
        let Some(base) = address.cloned().or_else(|| Url::parse(&root.to_string()).ok()) else {
            return context;
        };
        let inner = Arc::clone(context.snapshot.store());
        let store = Arc::new(OutsideStore::new(inner, base, containers, &self.shared.stores));
        DriveContext { snapshot: Arc::new(context.snapshot.behind(store)), ..context }
    }

    /// What steps on objects of a store are driven with; nothing of the store is known yet.
    pub(crate) fn context(&self, store: Arc<dyn Store>) -> DriveContext {
        let budget = if self.is_of_others() {
            (self.shared.metadata_cache / self.open_datasets().map_or(1, |open| open.max())).max(MIN_METADATA)
        } else {
            self.shared.metadata_cache
        };
        DriveContext {
            shared: Arc::clone(&self.shared),
            snapshot: Arc::new(StoreSnapshot::new(store, budget, self.shared.index.clone())),
            memo: Arc::new(Memo::new(budget)),
            values: None,
            read_depth: ReadDepth::default(),
        }
    }
}

impl Dataset {
    /// The dataset in its present state.
    ///
    /// # Errors
    /// As [`Session::open`].
    pub(crate) async fn reopened(&self) -> Result<Self> {
        let DatasetInner { session, root, address, others, .. } = self.inner.as_ref();
        let (store, drivers) = (Arc::clone(self.store()), Arc::clone(&others.drivers));
        let read_depth = ReadDepth::default();
        session.open_at(store, root.clone(), address.clone(), (drivers, &others.options), &read_depth).await
    }

    /// The dataset that a reference in this one names: itself, or another one, which is opened when first needed.
    ///
    /// # Errors
    /// `Unsupported` if it is in another store, otherwise errors of opening it.
    pub(crate) async fn referred(&self, root: Option<&ObjectId>, read_depth: &ReadDepth) -> Result<Self> {
        let Some(root) = root.filter(|root| **root != self.inner.root) else { return Ok(self.clone()) };
        self.inner.context.snapshot.check_store(root)?;
        let others = self.inner.others.open.upgrade();
        let others = others.ok_or_else(|| Error::internal("a dataset outlives the one that opened it"))?;
        others.open(root, || self.open_other(root, read_depth)).await
    }

    async fn open_other(&self, root: &ObjectId, read_depth: &ReadDepth) -> Result<Self> {
        let DatasetInner { session, context, driver, others, .. } = self.inner.as_ref();
        let context = DriveContext { values: None, read_depth: read_depth.apart(), ..context.clone() };
        // A dataset usually refers to others of its own format: that one is tried first, before any other.
        let driver = match context.drive(|view| driver.probe(view, root)).await {
            Ok(Confidence::Yes) => Arc::clone(driver),
            _ => open::probe(&context, root, &others.drivers, &AddressHints::default()).await?,
        };
        let others = ReferredDatasets {
            options: others.options.clone().name(None::<String>).view(DatasetView::Own),
            owned: None,
            ..others.clone()
        };
        session.open_plain(context, root.clone(), driver, others, None).await
    }

    /// The dataset as overlays present it, unless the options disable them.
    async fn overlaid(self, read_depth: &ReadDepth) -> Result<Self> {
        let mut dataset = self;
        if dataset.inner.others.options.raw {
            return Ok(dataset);
        }
        let shared = Arc::clone(&dataset.inner.session.shared);
        for overlay in &shared.overlays {
            let DatasetInner { root, catalog, others, .. } = dataset.inner.as_ref();
            let context = DriveContext {
                values: Some(Arc::clone(&dataset.inner) as _),
                ..dataset.context(read_depth.apart())
            };
            let over = context.drive(|view| overlay.over(view, root, catalog, &others.options)).await;
            let Some(catalog) = over.map_err(|error| error.by(overlay.name()))? else { continue };
            let tree = context.drive(|view| catalog.tree(view)).await;
            let model = tree.map_err(|error| error.by(overlay.name()))?;
            dataset = dataset.under(catalog, model);
        }
        Ok(dataset)
    }

    /// This dataset, seen through another catalog.
    fn under(self, catalog: Arc<dyn Catalog>, model: Arc<Model>) -> Self {
        let DatasetInner { session, context, root, address, driver, others, .. } = self.inner.as_ref();
        let opening = session.shared.next_opening();
        let inner = DatasetInner {
            session: session.clone(),
            context: context.clone(),
            root: root.clone(),
            address: address.clone(),
            driver: Arc::clone(driver),
            others: others.clone(),
            catalog,
            model,
            under: Some(self.clone()),
            opening,
            tag: None,
            known: Mutex::default(),
            absent: Mutex::default(),
        };
        Self { inner: Arc::new(inner) }
    }

    /// Its address, if known.
    pub fn address(&self) -> Option<&Url> {
        self.inner.address.as_ref()
    }

    /// The dataset as its format presents it, if an overlay adds to it; otherwise itself.
    pub fn plain(&self) -> &Self {
        self.inner.under.as_ref().map_or(self, Self::plain)
    }

    /// The dataset without what an overlay adds, if there is one.
    pub(crate) fn beneath(&self) -> Option<&Self> {
        self.inner.under.as_ref()
    }

    /// Whether it still is in the state in which it was opened, as far as that costs no requests.
    ///
    /// # Errors
    /// If the file cannot be examined.
    pub fn is_current(&self) -> Result<bool> {
        let (store, root) = (self.store(), &self.inner.root);
        let (Some(local), Some(tag)) = (store.local(), self.inner.context.snapshot.tag(root)) else {
            return Ok(true);
        };
        Ok(local.stat_by_name(root)?.is_some_and(|(_, now)| now == tag))
    }

    /// Whether it is one local file that surely is as it was when it was opened.
    pub fn is_unchanged(&self) -> bool {
        let is_known =
            self.store().local().is_some() && self.inner.context.snapshot.tag(&self.inner.root).is_some();
        is_known && self.is_current().unwrap_or(false)
    }

    /// The options that it was opened with.
    pub fn options(&self) -> &OpenOptions {
        &self.inner.others.options
    }

    /// The drivers that it was opened with.
    pub(crate) fn drivers(&self) -> &Arc<[Arc<dyn Driver>]> {
        &self.inner.others.drivers
    }
}

impl Clone for ReferredDatasets {
    fn clone(&self) -> Self {
        Self {
            drivers: Arc::clone(&self.drivers),
            options: self.options.clone(),
            open: Weak::clone(&self.open),
            owned: self.owned.clone(),
        }
    }
}

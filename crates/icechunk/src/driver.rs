//! The format: from a repository to the snapshot that is shown.
use crate::catalog::IcechunkCatalog;
use crate::chunk_refs::ShownSnapshot;
use crate::long_manifest::{ArrivingManifests, BlockReading};
use crate::manifest::KeptManifests;
use crate::repository::{self, ChosenSnapshot};
use crate::snapshot_view::SnapshotView;
use crate::state::StateChoice;
use ncirrus_layout::{
    AddressHints, Catalog, Confidence, Consolidated, Driver, Members, ObjectId, OpenOptions, Step, Tag, View,
    both,
};
use ncirrus_zarr::ZarrDriver;
use std::sync::Arc;

/// Icechunk repositories.
#[derive(Debug, Clone, Default)]
pub struct IcechunkDriver {
    /// The state that is shown if an address names none.
    usual: AddressHints,
    reading: BlockReading,
}

impl IcechunkDriver {
    /// The driver that shows this state if an address names none: values of `branch`, `tag`, `snapshot` and `at`.
    #[must_use]
    pub fn new(usual: impl IntoIterator<Item = (String, String)>) -> Self {
        let usual = AddressHints { entries: usual.into_iter().collect(), ..AddressHints::default() };
        Self { usual, reading: BlockReading::default() }
    }

    /// For tests: manifests of more than `above` bytes are read in blocks of `block` bytes, `at_once` at the same time.
    #[doc(hidden)]
    #[must_use]
    pub fn reading_in_blocks(self, above: u64, block: u64, at_once: u64) -> Self {
        Self { reading: BlockReading { above, block, at_once }, ..self }
    }
}

impl Driver for IcechunkDriver {
    fn name(&self) -> &'static str {
        "icechunk"
    }

    fn probe(&self, view: &dyn View, root: &ObjectId) -> Step<Confidence> {
        repository::probe(view, root)
    }

    fn open(&self, view: &dyn View, root: &ObjectId, options: &OpenOptions) -> Step<Arc<dyn Catalog>> {
        let names_state = StateChoice::is_named(&options.address);
        let state = StateChoice::of(if names_state { &options.address } else { &self.usual })?;
        let info = repository::repo_info(view, root)?;
        let chosen = repository::choose(view, root, info.as_deref(), &state)?;
        let (snapshot, containers) = both(
            repository::snapshot(view, root, chosen.id),
            repository::containers(view, root, info.as_deref()),
        )?;
        let base = base_of(root, &chosen);
        let tag = Tag::new(format!("icechunk {}", chosen.id));
        let shown = Arc::new(ShownSnapshot {
            root: root.clone(),
            base,
            tag,
            snapshot,
            containers,
            manifests: KeptManifests::default(),
            arriving: ArrivingManifests::default(),
            reading: self.reading,
        });
        // The snapshot has all documents: members are found by its own list, and no copies of documents are needed.
        let name = options.name.clone().or_else(|| own_name(root));
        let inner = options.clone().members(Members::All).consolidated(Consolidated::Never).name(name);
        let inside = SnapshotView { view, shown: &shown };
        let catalog = ZarrDriver.open(&inside, &shown.base, &inner)?;
        Ok(Arc::new(IcechunkCatalog::new(catalog, shown, chosen)))
    }
}

/// Where the objects of a snapshot seem to be.
fn base_of(root: &ObjectId, chosen: &ChosenSnapshot) -> ObjectId {
    ObjectId::new(root.store.at(format!("{root}@{}", chosen.id)), "")
}

/// The name of an array at the root: the last part of the address.
fn own_name(root: &ObjectId) -> Option<String> {
    let address = root.store.as_str().trim_end_matches('/');
    let name =
        if root.key().is_empty() { address.rsplit('/').next().unwrap_or_default() } else { root.name() };
    (!name.is_empty()).then(|| name.to_owned())
}

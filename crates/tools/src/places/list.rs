//! The datasets below a prefix.
use super::kind::{PlaceKind, is_other, of_object, of_prefix};
use super::{PrefixLevel, PrefixMark, at_once, open};
use futures_util::stream::{StreamExt, iter};
use ncirrus::internals::SessionInternals;
use ncirrus::{Error, Result, Session};
use ncirrus_layout::{ErrorKind, Limits, ListEntry, Listing, ObjectId};
use ncirrus_store::{Store, StoreExt, Url};
use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

/// How datasets are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ListOptions {
    /// Also below prefixes that are not datasets themselves.
    pub recursive: bool,
    /// Also what is not a dataset.
    pub all: bool,
}

impl ListOptions {
    /// The defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Also below prefixes that are not datasets themselves.
    #[must_use]
    pub fn recursive(mut self, recursive: bool) -> Self {
        self.recursive = recursive;
        self
    }

    /// Also what is not a dataset.
    #[must_use]
    pub fn all(mut self, all: bool) -> Self {
        self.all = all;
        self
    }
}

/// A place and its kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundDataset {
    /// Path relative to the listed prefix, as it is written in its address; empty for the dataset at the address itself.
    pub path: String,
    /// What it is.
    pub kind: PlaceKind,
    /// Size in bytes, of an object.
    pub size: Option<u64>,
}

/// An iterator over the datasets below a prefix: level by level in the order of names, one page of names of each
/// level at a time; a directory that links lead to again is visited once. A place that cannot be inspected is an
/// error, after which iteration continues; if names cannot be listed it ends.
pub struct Places {
    session: Session,
    url: String,
    walk: PlaceWalk,
}

/// The position of a search.
struct PlaceWalk {
    store: Arc<dyn Store>,
    options: ListOptions,
    limits: Limits,
    /// The address, if those of what is found begin with it.
    url: Option<Url>,
    /// The address itself.
    first: Option<FoundDataset>,
    levels: Vec<(PrefixLevel, VecDeque<Result<SeenPlace>>)>,
    /// Visited prefixes: links may lead there again.
    known: HashSet<PrefixMark>,
}

/// A place with its kind; the names below a prefix were listed to determine it.
struct SeenPlace {
    found: FoundDataset,
    below: Option<(ObjectId, Listing)>,
}

/// The datasets below an address, which may be that of a dataset. Groups of a dataset are not visited.
///
/// # Errors
/// As [`Dataset::open`](ncirrus::Dataset::open); `Unsupported` for a web server, which cannot list.
pub fn list(url: &str, options: &ListOptions, session: &Session) -> Result<Places> {
    let opened = open(url, session)?;
    let (limits, options) = (session.engine().limits().clone(), *options);
    let mut walk = PlaceWalk {
        store: opened.store,
        options,
        limits,
        url: opened.container.is_none().then(|| Url::parse(url)).transpose()?,
        first: None,
        levels: Vec::new(),
        known: HashSet::new(),
    };
    session.wait_for_store(url, walk.start(opened.root))?;
    Ok(Places { session: session.clone(), url: url.to_owned(), walk })
}

impl Places {
    /// Warnings so far, for the user's information: keys that cannot be named are left out, for example.
    pub fn warnings(&self) -> Vec<String> {
        self.walk.store.warnings()
    }
}

impl Iterator for Places {
    type Item = Result<FoundDataset>;

    fn next(&mut self) -> Option<Self::Item> {
        self.session.wait_for_store(&self.url, self.walk.next()).transpose()
    }
}

impl PlaceWalk {
    /// Inspects the address itself: a dataset is the only result, a prefix is visited.
    async fn start(&mut self, root: ObjectId) -> Result<()> {
        let lists = self.store.facts().lists;
        let listing = if lists { self.store.list(&root, None).await? } else { Listing::default() };
        let path = String::new();
        match of_prefix(&listing.entries) {
            PlaceKind::Prefix if !listing.entries.is_empty() => {
                self.push(PrefixLevel::new(self.store.as_ref(), root, path, listing));
            }
            PlaceKind::Prefix => match of_object(&self.store, &root, &self.limits).await? {
                Some((kind, size)) if kind.is_dataset() || self.options.all => {
                    self.first = Some(FoundDataset { path, kind, size: Some(size) });
                }
                // Stores without listings return this error.
                _ if !lists => _ = self.store.list(&root, None).await?,
                None if !root.key().is_empty() => {
                    return Err(Error::not_found("no such object or prefix").at_object(root));
                }
                _ => {}
            },
            kind => self.first = Some(FoundDataset { path, kind, size: None }),
        }
        Ok(())
    }

    async fn next(&mut self) -> Result<Option<FoundDataset>> {
        if let Some(first) = self.first.take() {
            return Ok(Some(first));
        }
        while let Some((level, ready)) = self.levels.last_mut() {
            if let Some(seen) = ready.pop_front() {
                let SeenPlace { found, below } = seen?;
                if let Some((prefix, listing)) = below.filter(|_| self.options.recursive) {
                    self.descend(&found, prefix, listing)?;
                }
                if found.kind.is_dataset() || self.options.all {
                    return Ok(Some(found));
                }
                continue;
            }
            let at_once = at_once(self.store.as_ref());
            // What would not be returned need not be requested.
            let all = self.options.all;
            let may_be_listed = |entry: &ListEntry| all || entry.is_prefix || !is_other(&entry.name);
            let some: Vec<ListEntry> =
                level.entries.by_ref().filter(may_be_listed).take(BATCHES * at_once).collect();
            if !some.is_empty() {
                let url = self.url.as_ref();
                let seen = some.into_iter().map(|entry| look(&self.store, (url, level), entry, &self.limits));
                *ready = iter(seen).buffered(at_once).collect().await;
            } else if !level.turn(self.store.as_ref()).await? {
                self.levels.pop();
            }
        }
        Ok(None)
    }

    /// Visits a level, unless that was done under another name.
    fn push(&mut self, level: PrefixLevel) {
        if level.mark.is_none_or(|mark| self.known.insert(mark)) {
            self.levels.push((level, VecDeque::new()));
        }
    }

    fn descend(&mut self, found: &FoundDataset, prefix: ObjectId, listing: Listing) -> Result<()> {
        if self.levels.len() >= self.limits.depth as usize {
            let depth = self.levels.len();
            return Err(Error::limit(format!("more than {depth} levels of prefixes")).at_object(prefix));
        }
        let path = format!("{}/", found.path);
        self.push(PrefixLevel::new(self.store.as_ref(), prefix, path, listing));
        Ok(())
    }
}

/// How many rounds of concurrent inspections are made before the first results are returned.
const BATCHES: usize = 4;

/// Inspects one place of a level.
async fn look(
    store: &Arc<dyn Store>,
    (url, level): (Option<&Url>, &PrefixLevel),
    entry: ListEntry,
    limits: &Limits,
) -> Result<SeenPlace> {
    let place = level.prefix.child(&entry.name);
    let name = url.map_or_else(|| entry.name.as_str().into(), |url| url.written_key(&entry.name));
    let path = format!("{}{name}", level.path);
    if entry.is_prefix {
        let listing = store.list(&place, None).await?;
        let kind = of_prefix(&listing.entries);
        let below = (kind == PlaceKind::Prefix).then_some((place, listing));
        return Ok(SeenPlace { found: FoundDataset { path, kind, size: None }, below });
    }
    let seen = match of_object(store, &place, limits).await {
        // Pipes and devices are not useful objects.
        Err(error) if error.kind() == ErrorKind::Invalid => None,
        seen => seen?,
    };
    // It may have been removed meanwhile.
    let (kind, size) = seen.map_or((PlaceKind::Object, None), |(kind, size)| (kind, Some(size)));
    Ok(SeenPlace { found: FoundDataset { path, kind, size }, below: None })
}

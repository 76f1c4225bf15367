//! The objects of a store.
use super::{PrefixLevel, at_once, open};
use futures_util::stream::{StreamExt, TryStreamExt, iter};
use ncirrus::internals::SessionInternals;
use ncirrus::{Error, Result, Session};
use ncirrus_layout::{Limits, ObjectId, Want};
use ncirrus_store::{ObjectPage, Store, StoreExt};
use std::collections::VecDeque;
use std::io::Write;
use std::sync::Arc;

/// Which objects are listed, and with which details.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct KeysOptions {
    /// Only what is at or below this key.
    pub prefix: String,
    /// With their sizes, even if each needs a request.
    pub sizes: bool,
}

impl KeysOptions {
    /// The defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Only what is at or below this key.
    #[must_use]
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = prefix.into();
        self
    }

    /// With their sizes, even if each needs a request.
    #[must_use]
    pub fn sizes(mut self, sizes: bool) -> Self {
        self.sizes = sizes;
        self
    }
}

/// An object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// Its key, relative to the address; empty for the object at the address itself.
    pub key: String,
    /// Its size, if requested or listed.
    pub size: Option<u64>,
    /// Whether it can be read and written; `a//b` and `a/../b` cannot.
    pub is_named: bool,
}

/// An iterator over the objects below an address: a page at a time. It ends after an error.
pub struct Keys {
    session: Session,
    url: String,
    walk: KeyWalk,
}

struct KeyWalk {
    store: Arc<dyn Store>,
    root: ObjectId,
    limits: Limits,
    sizes: bool,
    found: VecDeque<Key>,
    place: ListingPlace,
}

/// The position in the listing.
enum ListingPlace {
    /// The store lists whatever lies below a prefix at once.
    Flat { prefix: ObjectId, next: Option<String> },
    /// One page of each level down to the current one.
    Levels(Vec<PrefixLevel>),
}

/// Number of keys collected before they are returned.
const BATCH: usize = 256;
/// How much of an object is fetched at a time.
const PART: u64 = 8 << 20;

/// The objects of the store at an address, and those below its dataset or prefix, whatever their keys: level by level
/// in the order of names, or in byte order if the store lists all at once.
///
/// # Errors
/// As [`Dataset::open`](ncirrus::Dataset::open); `Unsupported` for a web server, which cannot list.
pub fn keys(url: &str, options: &KeysOptions, session: &Session) -> Result<Keys> {
    let opened = open(url, session)?;
    let (store, root) = (opened.store, opened.root);
    let limits = session.engine().limits().clone();
    let place = ListingPlace::Levels(Vec::new());
    let mut walk = KeyWalk { store, root, limits, sizes: options.sizes, found: VecDeque::new(), place };
    session.wait_for_store(url, walk.start(options.prefix.trim_matches('/')))?;
    Ok(Keys { session: session.clone(), url: url.to_owned(), walk })
}

/// Writes the bytes of an object to `out`, a part at a time, and returns their number.
///
/// # Errors
/// `NotFound` if there is no such object, `Changed` if it changes meanwhile, and errors of `out`.
pub fn get(url: &str, key: &str, out: &mut dyn Write, session: &Session) -> Result<u64> {
    let opened = open(url, session)?;
    let object = opened.root.child(key.trim_start_matches('/'));
    let (mut at, mut tag) = (0, None);
    loop {
        let want = Want::Range(at..at + PART);
        let part = session.wait_for_store(url, opened.store.get(&object, &want))?;
        let part = part.ok_or_else(|| Error::not_found("no such object").at_object(&object))?;
        if *tag.get_or_insert_with(|| part.tag.clone()) != part.tag {
            return Err(Error::new(
                ncirrus_layout::ErrorKind::Changed,
                "the object changed while it was read",
            )
            .at_object(object));
        }
        let failed = |error: std::io::Error| {
            Error::new(ncirrus_layout::ErrorKind::Io { retryable: false }, format!("output: {error}"))
                .because(error)
        };
        out.write_all(&part.bytes).map_err(failed)?;
        at += part.bytes.len() as u64;
        if at >= part.size || part.bytes.is_empty() {
            return Ok(at);
        }
    }
}

impl Keys {
    /// Warnings so far, for the user's information.
    pub fn warnings(&self) -> Vec<String> {
        self.walk.store.warnings()
    }
}

impl Iterator for Keys {
    type Item = Result<Key>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.walk.found.is_empty()
            && let Err(error) = self.session.wait_for_store(&self.url, self.walk.find_more())
        {
            self.walk.place = ListingPlace::Levels(Vec::new());
            return Some(Err(error));
        }
        self.walk.found.pop_front().map(Ok)
    }
}

impl KeyWalk {
    async fn start(&mut self, prefix: &str) -> Result<()> {
        let below = self.root.child(prefix);
        let store = Arc::clone(&self.store);
        if let Some(first) = store.objects(&below, None) {
            let next = self.take(first.await?);
            self.place = ListingPlace::Flat { prefix: below.clone(), next };
        } else {
            let first = self.store.list(&below, None).await?;
            let path = if prefix.is_empty() { String::new() } else { format!("{prefix}/") };
            self.place =
                ListingPlace::Levels(vec![PrefixLevel::new(store.as_ref(), below.clone(), path, first)]);
        }
        if self.found.is_empty() {
            self.find_more().await?;
        }
        // An object of exactly that key.
        if !below.key().is_empty()
            && let Some(head) = self.store.get(&below, &Want::Range(0..0)).await?
        {
            self.found.push_front(Key { key: prefix.to_owned(), size: Some(head.size), is_named: true });
        }
        if self.found.is_empty() && !below.key().is_empty() {
            return Err(Error::not_found("no such object or prefix").at_object(below));
        }
        Ok(())
    }

    /// Stores the keys of a page, and returns where the next one starts.
    fn take(&mut self, page: ObjectPage) -> Option<String> {
        let from = self.root.key().len() + usize::from(!self.root.key().is_empty());
        let key = |key: &str, size: u64, is_named| {
            let key = key.get(from..).unwrap_or_default().to_owned();
            Key { key, size: Some(size), is_named }
        };
        self.found.extend(page.objects.iter().map(|(object, size)| key(object.key(), *size, true)));
        self.found.extend(page.unnamed.iter().map(|(unnamed, size)| key(unnamed, *size, false)));
        page.next
    }

    /// Finds at least one more object, unless there is none.
    async fn find_more(&mut self) -> Result<()> {
        match &mut self.place {
            ListingPlace::Flat { .. } => self.find_more_at_once().await,
            ListingPlace::Levels(levels) => {
                let found = of_levels(&self.store, levels, &self.limits).await?;
                let (store, root, sizes) = (&self.store, &self.root, self.sizes);
                let sized = found.into_iter().map(|key| async move {
                    let size = if sizes { size_of(store, &root.child(&key)).await? } else { None };
                    Ok::<_, Error>(Key { key, size, is_named: true })
                });
                self.found = iter(sized).buffered(at_once(store.as_ref())).try_collect().await?;
                Ok(())
            }
        }
    }

    async fn find_more_at_once(&mut self) -> Result<()> {
        let store = Arc::clone(&self.store);
        while self.found.is_empty()
            && let ListingPlace::Flat { prefix, next } = &mut self.place
            && let Some(page) = next.take()
        {
            let prefix = prefix.clone();
            let Some(listing) = store.objects(&prefix, Some(&page)) else { break };
            let next = self.take(listing.await?);
            self.place = ListingPlace::Flat { prefix, next };
        }
        Ok(())
    }
}

/// The keys of some more objects.
async fn of_levels(
    store: &Arc<dyn Store>,
    levels: &mut Vec<PrefixLevel>,
    limits: &Limits,
) -> Result<Vec<String>> {
    let mut found = Vec::new();
    while found.len() < BATCH
        && let Some(level) = levels.last_mut()
    {
        match level.entries.next() {
            Some(entry) if entry.is_prefix => {
                let prefix = level.prefix.child(&entry.name);
                let path = format!("{}{}/", level.path, entry.name);
                if levels.len() >= limits.depth as usize {
                    let depth = levels.len();
                    return Err(
                        Error::limit(format!("more than {depth} levels of prefixes")).at_object(prefix)
                    );
                }
                let first = store.list(&prefix, None).await?;
                let below = PrefixLevel::new(store.as_ref(), prefix, path, first);
                // A link to an enclosing folder would never end.
                if below.mark.is_none() || levels.iter().all(|level| level.mark != below.mark) {
                    levels.push(below);
                }
            }
            Some(entry) => found.push(format!("{}{}", level.path, entry.name)),
            None if level.turn(store.as_ref()).await? => {}
            None => _ = levels.pop(),
        }
    }
    Ok(found)
}

/// Size of an object; `None` if it no longer exists.
async fn size_of(store: &Arc<dyn Store>, object: &ObjectId) -> Result<Option<u64>> {
    match store.local() {
        Some(local) => Ok(local.stat(object)?.map(|(size, _)| size)),
        None => Ok(store.get(object, &Want::Range(0..0)).await?.map(|head| head.size)),
    }
}

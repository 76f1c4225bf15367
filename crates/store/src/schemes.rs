//! What opens addresses: stores of a program's own by their scheme, and networks.
use crate::StoreOptions;
use crate::store::Store;
use crate::upkeep::StoreUpkeep;
use crate::url::{BucketUrl, Scheme, Url};
use ncirrus_layout::{Detail, Error, ObjectId, Result};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// Connects addresses of one scheme with the stores that they lie in. Closures are factories too.
pub trait StoreFactory: Send + Sync {
    /// The store that an address lies in, and the dataset in it: an object, or the prefix of a tree. It is called for
    /// opening and for creating, whether or not there is anything.
    ///
    /// # Errors
    /// `Invalid` for an address that means nothing, `Denied`, `Io`.
    fn connect(&self, url: &Url) -> Result<(Arc<dyn Store>, ObjectId)>;
}

impl<F> StoreFactory for F
where
    F: Fn(&Url) -> Result<(Arc<dyn Store>, ObjectId)> + Send + Sync,
{
    fn connect(&self, url: &Url) -> Result<(Arc<dyn Store>, ObjectId)> {
        self(url)
    }
}

/// Opens addresses of a network. What it needs (connections, credentials, settings) it holds itself.
pub trait StoreOpener: Send + Sync {
    /// The store that an address lies in, and the dataset in it: an object, or the prefix of a tree; `None` when the
    /// address is for another opener. No request is sent.
    ///
    /// # Errors
    /// `Invalid` for an address or settings that mean nothing, `Unsupported` for what the library was built without.
    fn open(&self, url: &Url, options: &StoreOptions) -> Result<Option<(Arc<dyn Store>, ObjectId)>>;

    /// The bucket that an address lies in, by whatever name; `None` when it is in none.
    ///
    /// # Errors
    /// `Invalid` when the address names no bucket.
    fn bucket(&self, url: &Url) -> Result<Option<BucketUrl>>;

    /// The server that answers for an address in a bucket: of two addresses with one server, bucket and key the objects are
    /// the same. `None` when the address is in no bucket.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    fn server(&self, url: &Url, options: &StoreOptions) -> Result<Option<String>>;

    /// The store of an address as far as it can be tidied up, and what lies there; `None` where nothing can be removed.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    fn upkeep(&self, url: &Url, options: &StoreOptions) -> Result<Option<(Arc<dyn StoreUpkeep>, ObjectId)>>;
}

/// What opens addresses that are neither files nor stores in memory: stores of a program's own by scheme, and networks in
/// the order in which they were added.
#[derive(Clone, Default)]
pub struct SchemeRegistry {
    own: BTreeMap<String, Arc<dyn StoreFactory>>,
    networks: Vec<Arc<dyn StoreOpener>>,
}

impl SchemeRegistry {
    /// Lets a factory make the stores of a scheme.
    ///
    /// # Errors
    /// `Invalid` for a name that is none of a scheme (lower case letters and digits, `+`, `.` and `-`, at least two), or
    /// of one that is built in; `Conflict` for one that is taken.
    pub fn register(&mut self, scheme: &str, factory: Arc<dyn StoreFactory>) -> Result<()> {
        match Url::parse(&format!("{scheme}://name")) {
            Ok(url) if url.other_scheme() == Some(scheme) => {}
            Ok(url) if url.scheme() != Scheme::Other && url.scheme() != Scheme::File => {
                return Err(Error::invalid(format!("the scheme {scheme:?} is built in")));
            }
            _ => return Err(Error::invalid(format!("{scheme:?} cannot be the name of a scheme"))),
        }
        if self.own.contains_key(scheme) {
            return Err(crate::fault::conflict("has a store already", format!("scheme {scheme:?}")));
        }
        self.own.insert(scheme.to_owned(), factory);
        Ok(())
    }

    /// The names of the schemes, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.own.keys().map(String::as_str)
    }

    /// Adds an opener: of those that know an address, the one that was added first opens it.
    pub fn add(&mut self, opener: Arc<dyn StoreOpener>) {
        self.networks.push(opener);
    }

    /// The store of an address, and what lies there; no request is sent.
    pub(crate) fn open(&self, url: &Url, options: &StoreOptions) -> Result<(Arc<dyn Store>, ObjectId)> {
        if url.scheme() == Scheme::Other {
            return self.open_own(url);
        }
        let found = self.first(|network| network.open(url, options))?;
        found.ok_or_else(|| {
            let message = format!("addresses of the scheme {:?}: nothing opens them", url.scheme().as_str());
            Error::unsupported(message).at_object(url)
        })
    }

    /// The bucket that an address lies in.
    pub(crate) fn bucket(&self, url: &Url) -> Result<Option<BucketUrl>> {
        self.first(|network| network.bucket(url))
    }

    /// The server that answers for an address in a bucket.
    pub(crate) fn server(&self, url: &Url, options: &StoreOptions) -> Result<Option<String>> {
        self.first(|network| network.server(url, options))
    }

    /// The store of an address as far as it can be tidied up, and what lies there.
    pub(crate) fn upkeep(
        &self,
        url: &Url,
        options: &StoreOptions,
    ) -> Result<Option<(Arc<dyn StoreUpkeep>, ObjectId)>> {
        self.first(|network| network.upkeep(url, options))
    }

    /// What the first network says that knows something.
    fn first<T>(&self, ask: impl Fn(&dyn StoreOpener) -> Result<Option<T>>) -> Result<Option<T>> {
        self.networks.iter().find_map(|network| ask(network.as_ref()).transpose()).transpose()
    }

    /// An address of a scheme that is not built in.
    fn open_own(&self, url: &Url) -> Result<(Arc<dyn Store>, ObjectId)> {
        let scheme = url.other_scheme().unwrap_or_default();
        let factory = self.own.get(scheme).ok_or_else(|| self.unknown(scheme, url))?;
        let (store, root) = factory.connect(url)?;
        if root.store != *store.id() {
            return Err(Error::internal(format!(
                "the store of the scheme {scheme:?} has another name than its objects"
            ))
            .at_object(root));
        }
        Ok((store, root))
    }

    fn unknown(&self, scheme: &str, url: &Url) -> Error {
        let names: Vec<&str> = self.names().collect();
        let registered = match names.as_slice() {
            [] => String::new(),
            names => format!("; registered are {}", names.join(", ")),
        };
        Error::invalid(format!("unknown scheme {scheme:?} in {url}{registered}"))
            .with_detail(Detail::UnknownScheme)
    }
}

impl fmt::Debug for SchemeRegistry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.names()).finish()
    }
}

#[cfg(test)]
mod tests;

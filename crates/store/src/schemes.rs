//! Openers of addresses: custom stores by their scheme, and networks.
use crate::StoreOptions;
use crate::store::Store;
use crate::upkeep::StoreUpkeep;
use crate::url::{BucketUrl, Scheme, Url};
use ncirrus_layout::{Detail, Error, ObjectId, Result};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// Creates the stores for addresses of one scheme. Closures are factories too.
pub trait StoreFactory: Send + Sync {
    /// The store for an address, and the dataset in it: an object, or the prefix of a tree. It is called for opening
    /// and for creating, whether or not the dataset exists.
    ///
    /// # Errors
    /// `Invalid` for an invalid address, `Denied`, `Io`.
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

/// Opens addresses of a network. It holds what it needs (connections, credentials, settings).
pub trait StoreOpener: Send + Sync {
    /// The store for an address, and the dataset in it: an object, or the prefix of a tree; `None` if the address is
    /// for another opener. No request is sent.
    ///
    /// # Errors
    /// `Invalid` for an invalid address or settings, `Unsupported` for what the library was built without.
    fn open(&self, url: &Url, options: &StoreOptions) -> Result<Option<(Arc<dyn Store>, ObjectId)>>;

    /// The bucket of an address, by whatever name; `None` if it has none.
    ///
    /// # Errors
    /// `Invalid` if the address names no bucket.
    fn bucket(&self, url: &Url) -> Result<Option<BucketUrl>>;

    /// The server of an address in a bucket: two addresses with the same server, bucket and key name the same object.
    /// `None` if the address is not in a bucket.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    fn server(&self, url: &Url, options: &StoreOptions) -> Result<Option<String>>;

    /// The cleanup interface of an address's store, and the object or prefix in it; `None` if nothing can be removed.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    fn upkeep(&self, url: &Url, options: &StoreOptions) -> Result<Option<(Arc<dyn StoreUpkeep>, ObjectId)>>;
}

/// Openers of addresses that are neither files nor stores in memory: custom stores by scheme, and networks in the
/// order in which they were added.
#[derive(Clone, Default)]
pub struct SchemeRegistry {
    own: BTreeMap<String, Arc<dyn StoreFactory>>,
    networks: Vec<Arc<dyn StoreOpener>>,
}

impl SchemeRegistry {
    /// Registers a factory for the stores of a scheme.
    ///
    /// # Errors
    /// `Invalid` for a name that is not a valid scheme (lower case letters and digits, `+`, `.` and `-`, at least
    /// two), or is built in; `Conflict` for one that is taken.
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

    /// Adds an opener: of those that recognise an address, the first one added opens it.
    pub fn add(&mut self, opener: Arc<dyn StoreOpener>) {
        self.networks.push(opener);
    }

    /// The store of an address, and the object or prefix in it; no request is sent.
    pub(crate) fn open(&self, url: &Url, options: &StoreOptions) -> Result<(Arc<dyn Store>, ObjectId)> {
        if url.scheme() == Scheme::Other {
            return self.open_own(url);
        }
        let found = self.first(|network| network.open(url, options))?;
        found.ok_or_else(|| {
            let message = format!("no store is registered for the scheme {:?}", url.scheme().as_str());
            Error::unsupported(message).at_object(url)
        })
    }

    /// The bucket of an address.
    pub(crate) fn bucket(&self, url: &Url) -> Result<Option<BucketUrl>> {
        self.first(|network| network.bucket(url))
    }

    /// The server of an address in a bucket.
    pub(crate) fn server(&self, url: &Url, options: &StoreOptions) -> Result<Option<String>> {
        self.first(|network| network.server(url, options))
    }

    /// The cleanup interface of an address's store, and the object or prefix in it.
    pub(crate) fn upkeep(
        &self,
        url: &Url,
        options: &StoreOptions,
    ) -> Result<Option<(Arc<dyn StoreUpkeep>, ObjectId)>> {
        self.first(|network| network.upkeep(url, options))
    }

    /// The answer of the first network that recognises the address.
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
                "the store of the scheme {scheme:?} and its objects have different identities"
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

//! Stores of a program's own, by the scheme of their addresses.
use crate::open::Opened;
use crate::store::Store;
use crate::url::{Scheme, Url};
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

/// Stores of a program's own, by scheme.
#[derive(Clone, Default)]
pub struct SchemeRegistry(BTreeMap<String, Arc<dyn StoreFactory>>);

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
        if self.0.contains_key(scheme) {
            return Err(crate::fault::conflict("has a store already", format!("scheme {scheme:?}")));
        }
        self.0.insert(scheme.to_owned(), factory);
        Ok(())
    }

    /// The names of the schemes, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Opens an address of a scheme that is not built in.
    pub(crate) fn open(&self, url: &Url) -> Result<Opened> {
        let scheme = url.other_scheme().unwrap_or_default();
        let factory = self.0.get(scheme).ok_or_else(|| self.unknown(scheme, url))?;
        let (store, root) = factory.connect(url)?;
        if root.store != *store.id() {
            return Err(Error::internal(format!(
                "the store of the scheme {scheme:?} has another name than its objects"
            ))
            .at_object(root));
        }
        Ok(Opened::new(store, root, url))
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

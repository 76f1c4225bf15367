//! The store of a dataset whose chunks may be in objects of other stores: virtual chunks of Icechunk
//! (docs/spec/icechunk-format.md, "Virtual chunk containers").
use crate::reference::fetch;
use crate::store::{ObjectRange, ReadOnlyStore, Store, StoreFacts};
use crate::targets::{ChosenBy, TargetOpener, TargetPlace, cut_short};
use crate::url::{Scheme, Url, percent_decoded, percent_encoded};
use crate::{ContainerRule, LocalStore, StoreContext, StoreExt, directory};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use ncirrus_layout::{
    Error, ErrorKind, Listing, ObjectBytes, ObjectId, OutsideContainer, OutsideObject, Result, StoreId, Tag,
    Want,
};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// A store that reads objects of other stores, too: those in the containers that the dataset names, as far as the user
/// allows that. It only reads.
pub struct OutsideStore {
    inner: Arc<dyn Store>,
    containers: Vec<OutsideContainer>,
    opener: TargetOpener,
    facts: StoreFacts,
}

impl fmt::Debug for OutsideStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OutsideStore({:?}, {} containers)", self.inner, self.containers.len())
    }
}

impl OutsideStore {
    /// The store of a dataset at `base`. Nothing is opened yet.
    pub fn new(
        inner: Arc<dyn Store>,
        base: Url,
        containers: &[OutsideContainer],
        context: &StoreContext,
    ) -> Self {
        let opener = TargetOpener::new(base, context);
        let facts = inner.facts();
        let mut store = Self { inner, containers: containers.to_vec(), opener, facts };
        // A repository of this machine with chunks elsewhere is read as its chunks are.
        if let Some(nearest) = store.inner.local().and_then(|_| store.nearest_facts()) {
            store.facts = StoreFacts { lists: true, ..nearest };
        }
        store
    }

    /// The facts about the store of the first container that can be reached.
    fn nearest_facts(&self) -> Option<StoreFacts> {
        self.containers.iter().find_map(|container| {
            let address = Address::new(container.prefix.clone(), Some(container), &self.opener).ok()?;
            Some(address.open(&self.opener, true).ok()?.0.facts())
        })
    }

    async fn read(&self, object: &ObjectId, want: &Want) -> Result<Option<ObjectBytes>> {
        let Some(outside) = OutsideObject::of(object) else {
            return match self.inner.local() {
                Some(local) => local.read(object, want),
                None => self.inner.get(object, want).await,
            };
        };
        let name =
            Url::parse(&outside.address).map_or_else(|_| "an address".to_owned(), |url| url.to_string());
        let found = self.read_outside(&outside, want, &name).await;
        found.map(Some).map_err(|error| error.at_object(&name))
    }

    async fn read_outside(&self, outside: &OutsideObject, want: &Want, name: &str) -> Result<ObjectBytes> {
        let (store, object) = self.place(outside)?;
        let found = fetch(store.as_ref(), &object, want).await?;
        check_state(outside, &found.tag)?;
        match want {
            Want::Range(range) if found.size < range.end => Err(cut_short(name, found.size, range)),
            _ => Ok(found),
        }
    }

    fn place(&self, outside: &OutsideObject) -> Result<TargetPlace> {
        let container = self.container(&outside.address);
        // A cache knows the ETag of an object, but not when it was changed.
        let is_cached = outside.unmodified_since.is_none();
        Address::new(outside.address.to_string(), container, &self.opener)?.open(&self.opener, is_cached)
    }

    /// The container of an address: the one with the longest prefix.
    fn container(&self, address: &str) -> Option<&OutsideContainer> {
        let found = self.containers.iter().filter(|container| rest_in(&container.prefix, address).is_some());
        found.max_by_key(|container| container.prefix.len())
    }
}

/// An address of an object outside that may be reached.
struct Address<'a> {
    address: String,
    container: Option<&'a OutsideContainer>,
    by: ChosenBy,
}

impl<'a> Address<'a> {
    /// The address at which an object is really read.
    ///
    /// # Errors
    /// `Denied` if it may not be: for the container, or because no container has it; `Malformed` for an address that leads
    /// out of its container.
    fn new(address: String, container: Option<&'a OutsideContainer>, opener: &TargetOpener) -> Result<Self> {
        let options = &opener.context.options;
        let rule = |name: &str| {
            let mut rules = options.containers.iter().rev();
            rules.find(|(other, _)| other == name).map(|(_, rule)| rule)
        };
        if leaves_folder(&address) {
            return Err(Error::malformed(format!(
                "the address {address:?} of a virtual chunk has dots as a name"
            )));
        }
        let Some(container) = container else {
            let mut rules = options.containers.iter().rev();
            let own = rules.find(|(prefix, _)| prefix.contains("://") && rest_in(prefix, &address).is_some());
            return match own {
                Some((_, ContainerRule::Allow)) => Ok(Self { address, container: None, by: ChosenBy::User }),
                Some((prefix, ContainerRule::At(other))) => {
                    Ok(Self { address: moved(prefix, &address, other), container: None, by: ChosenBy::User })
                }
                _ => Err(denied(format!(
                    "the virtual chunk at {address:?} is in no virtual chunk container of the repository"
                ))),
            };
        };
        let shown = shown_name(container);
        let rule = container.name.as_deref().and_then(rule).or_else(|| rule(&container.prefix));
        let is_near = Url::parse(&address).as_ref().is_ok_and(TargetOpener::is_near);
        match rule {
            Some(ContainerRule::Allow) => {
                Ok(Self { address, container: Some(container), by: ChosenBy::User })
            }
            Some(ContainerRule::At(other)) => Ok(Self {
                address: moved(&container.prefix, &address, other),
                container: None,
                by: ChosenBy::User,
            }),
            Some(ContainerRule::Deny) => {
                Err(denied(format!("the virtual chunk container {shown} is denied")))
            }
            None if is_near && !options.local_references => Err(denied(format!(
                "the virtual chunk container {shown} has files of this machine, which are read only if that is allowed"
            ))),
            None => Ok(Self { address, container: Some(container), by: ChosenBy::Dataset }),
        }
    }

    fn open(&self, opener: &TargetOpener, is_cached: bool) -> Result<TargetPlace> {
        let named = self.container.map_or(Ok(None), |container| with_settings(&self.address, container))?;
        let name = named.as_deref().unwrap_or(&self.address);
        let url = Url::of_plain_name(name)?;
        let opened = opener.open(name, &url, self.by, is_cached);
        opened.map_err(|error| match self.container {
            Some(container) if error.kind() == ErrorKind::Denied => {
                let shown = shown_name(container);
                error.reworded(|text| format!("virtual chunk container {shown}: {text}"))
            }
            _ => error,
        })
    }
}

/// The name of a container in messages.
fn shown_name(container: &OutsideContainer) -> String {
    match &container.name {
        Some(name) => format!("{name:?} ({})", container.prefix),
        None => format!("{:?}", container.prefix),
    }
}

fn denied(message: String) -> Error {
    Error::new(ErrorKind::Denied, message)
}

/// What follows a prefix in an address; `None` if the address is not below it.
fn rest_in<'a>(prefix: &str, address: &'a str) -> Option<&'a str> {
    let rest = address.strip_prefix(prefix)?;
    (prefix.ends_with('/') || rest.is_empty() || rest.starts_with('/'))
        .then_some(rest.trim_start_matches('/'))
}

/// An address below another prefix.
fn moved(prefix: &str, address: &str, other: &str) -> String {
    format!("{}/{}", other.trim_end_matches('/'), rest_in(prefix, address).unwrap_or_default())
}

/// Whether an address has names that lead upwards, also in escapes: it would not be in the container whose prefix it has.
fn leaves_folder(address: &str) -> bool {
    let path = address.split(['?', '#']).next().unwrap_or_default();
    let is_dots = |name: &str| matches!(percent_decoded(name).as_str(), "." | "..");
    path.split(['/', '\\']).any(is_dots) || path.to_ascii_lowercase().contains("%2f..")
}

/// The address with the settings of its container: a server, a region, requests that are not signed.
fn with_settings(address: &str, container: &OutsideContainer) -> Result<Option<String>> {
    if let Some(rest) = address.strip_prefix("gcs://") {
        return Ok(Some(format!("gs://{rest}")));
    }
    let setting = |key: &str| {
        let found = container.settings.iter().find(|(name, _)| name == key);
        found.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    };
    let Some(url) = Url::parse(address).ok().filter(|url| url.scheme() == Scheme::S3) else {
        return Ok(None);
    };
    let mut fragment = Vec::new();
    if let Some(region) = setting("region") {
        fragment.push(format!("aws.region={region}"));
    }
    if setting("anonymous") == Some("true") {
        fragment.push("aws.profile=anonymous".to_owned());
    }
    let endpoint = setting("endpoint_url").map(|endpoint| endpoint.trim_end_matches('/'));
    let Some(endpoint) = endpoint else {
        return Ok((!fragment.is_empty()).then(|| format!("{address}#{}", fragment.join("&"))));
    };
    fragment.insert(0, "mode=s3".to_owned());
    let bucket = url.bucket()?.ok_or_else(|| Error::malformed(format!("{address:?} names no bucket")))?;
    let key = percent_encoded(&bucket.key);
    Ok(Some(format!("{endpoint}/{}/{key}#{}", bucket.name, fragment.join("&"))))
}

/// Checks that an object is in the state in which its chunks were found.
///
/// # Errors
/// `Changed` if it is not.
fn check_state(outside: &OutsideObject, tag: &Tag) -> Result<()> {
    let changed = |what: String| {
        let message = format!("the object changed after the repository had referred to it: {what}");
        Err(Error::new(ErrorKind::Changed, message))
    };
    if let Some(etag) = &outside.etag {
        let found = directory::etag_of(tag).unwrap_or_else(|| tag.as_str().to_owned());
        let found = found.split('\n').next().unwrap_or_default();
        if bare(found) != bare(etag) {
            return changed(format!("its ETag is {found:?} instead of {etag:?}"));
        }
    }
    if let (Some(since), Some(modified)) = (outside.unmodified_since, tag.modified())
        && modified > since
    {
        return changed(format!("it was modified {} seconds later", modified - since));
    }
    Ok(())
}

/// An ETag without its quotes: icechunk keeps them or not, depending on the store.
fn bare(etag: &str) -> &str {
    etag.strip_prefix("W/").unwrap_or(etag).trim_matches('"')
}

impl ReadOnlyStore for OutsideStore {
    fn id(&self) -> &StoreId {
        self.inner.id()
    }

    fn facts(&self) -> StoreFacts {
        self.facts
    }

    fn local(&self) -> Option<&dyn LocalStore> {
        None
    }

    fn get<'a>(&'a self, object: &'a ObjectId, want: &'a Want) -> BoxFuture<'a, Result<Option<ObjectBytes>>> {
        self.read(object, want).boxed()
    }

    fn list<'a>(&'a self, prefix: &'a ObjectId, page: Option<&'a str>) -> BoxFuture<'a, Result<Listing>> {
        self.inner.list(prefix, page)
    }

    fn rejection(&self) -> Error {
        Error::unsupported("writing to a repository that refers to other objects")
    }

    fn warnings(&self) -> Vec<String> {
        self.inner.warnings()
    }

    fn within(&self, object: &ObjectId) -> Option<(ObjectId, Range<u64>)> {
        self.inner.within(object)
    }

    fn within_many<'a>(
        &'a self,
        objects: &'a [ObjectId],
    ) -> Option<BoxFuture<'a, Result<Vec<Option<ObjectRange>>>>> {
        self.inner.abilities()?.within_many(objects)
    }

    fn answer<'a>(
        &'a self,
        _: &'a ObjectId,
        _: &'a mut dyn crate::AnswerReceiver,
    ) -> Option<BoxFuture<'a, Result<bool>>> {
        None
    }
}

#[cfg(test)]
mod tests;

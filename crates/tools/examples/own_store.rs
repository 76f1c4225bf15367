//! A store defined by a program: datasets are created, opened, copied and listed at `ledger://name/path`.
//!
//! Everything that is put is kept in a list that only grows, so that any former state of an object could be restored. A
//! store over a database or a tape archive has the same eight functions. `docs/extending.md` explains them; the test
//! `tests/places/own_store.rs` checks this store against the laws.
use ncirrus::store::implement::{
    self, BoxFuture, Bytes, ListEntry, Listing, ObjectBytes, StoreId, Tag, Want,
};
use ncirrus::store::{LocalStore, PutCondition, Store, StoreFacts, Url};
use ncirrus::{Error, ErrorKind, ObjectId, Result, Session};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// One put, or one removal.
#[derive(Debug)]
struct Line {
    key: String,
    body: Option<Bytes>,
}

/// Objects, stored as a list of all changes.
#[derive(Debug)]
pub(crate) struct Ledger {
    id: StoreId,
    lines: Mutex<Vec<Line>>,
}

impl Ledger {
    /// An empty ledger with that name.
    pub(crate) fn new(name: &str) -> Arc<Self> {
        Arc::new(Self { id: StoreId::new(format!("ledger://{name}")), lines: Mutex::default() })
    }

    /// The root of the store.
    pub(crate) fn root(&self) -> ObjectId {
        ObjectId::new(self.id.clone(), "")
    }

    /// The present state of an object: the number of its line, and its bytes.
    fn find(&self, key: &str) -> Option<(usize, Bytes)> {
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        let (number, line) = lines.iter().enumerate().rev().find(|(_, line)| line.key == key)?;
        Some((number, line.body.clone()?))
    }

    fn write(&self, key: &str, body: Option<Bytes>) -> Tag {
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        lines.push(Line { key: key.to_owned(), body });
        tag(lines.len() - 1)
    }

    /// The keys of all objects below a prefix, without the prefix.
    fn below(&self, prefix: &str) -> BTreeMap<String, usize> {
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        let folder = if prefix.is_empty() { String::new() } else { format!("{prefix}/") };
        let mut keys = BTreeMap::new();
        for (number, line) in lines.iter().enumerate() {
            let Some(rest) = line.key.strip_prefix(&folder) else { continue };
            match line.body {
                Some(_) => _ = keys.insert(rest.to_owned(), number),
                None => _ = keys.remove(rest),
            }
        }
        keys
    }

    fn read(&self, object: &ObjectId, want: &Want) -> Result<Option<ObjectBytes>> {
        let Some((number, body)) = self.find(implement::check_key(object)?) else { return Ok(None) };
        let range = implement::resolve(want, body.len() as u64);
        let index = |at: u64| usize::try_from(at).map_err(|_| Error::limit("an object is too large"));
        let bytes = body.slice(index(range.start)?..index(range.end)?);
        Ok(Some(ObjectBytes { bytes, offset: range.start, size: body.len() as u64, tag: tag(number) }))
    }

    fn replace(&self, object: &ObjectId, body: Bytes, when: &PutCondition) -> Result<Tag> {
        let key = implement::check_key(object)?;
        let state = self.find(key).map(|(number, _)| tag(number));
        let holds = match when {
            PutCondition::None => true,
            PutCondition::Absent => state.is_none(),
            PutCondition::Matches(tag) => state.as_ref() == Some(tag),
        };
        if !holds {
            return Err(Error::new(ErrorKind::Conflict, "is in another state").at_object(object));
        }
        Ok(self.write(key, Some(body)))
    }

    fn names(&self, prefix: &ObjectId, page: Option<&str>) -> Result<Listing> {
        let keys = self.below(implement::check_key(prefix)?);
        let mut names = BTreeMap::<&str, bool>::new();
        for key in keys.keys() {
            let (name, is_prefix) =
                key.split_once('/').map_or((key.as_str(), false), |(name, _)| (name, true));
            *names.entry(name).or_default() |= is_prefix;
        }
        let entries =
            names.into_iter().map(|(name, is_prefix)| ListEntry { name: name.to_owned(), is_prefix });
        Ok(implement::page(entries, page))
    }
}

/// The tag of an object's state.
fn tag(number: usize) -> Tag {
    Tag::new(format!("\"{number}\""))
}

impl Store for Ledger {
    fn id(&self) -> &StoreId {
        &self.id
    }

    fn facts(&self) -> StoreFacts {
        StoreFacts {
            latency: Duration::from_millis(1),
            concurrency: 8,
            merge_gap: 64 << 10,
            range_cap: 8 << 20,
            lists: true,
            writable: true,
            isolated: false,
        }
    }

    fn local(&self) -> Option<&dyn LocalStore> {
        None
    }

    fn get<'a>(&'a self, object: &'a ObjectId, want: &'a Want) -> BoxFuture<'a, Result<Option<ObjectBytes>>> {
        Box::pin(async move { self.read(object, want) })
    }

    fn put<'a>(
        &'a self,
        object: &'a ObjectId,
        body: Bytes,
        when: PutCondition,
    ) -> BoxFuture<'a, Result<Tag>> {
        Box::pin(async move { self.replace(object, body, &when) })
    }

    fn delete<'a>(&'a self, object: &'a ObjectId) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let key = implement::check_key(object)?;
            self.find(key).map(|_| self.write(key, None));
            Ok(())
        })
    }

    fn delete_tree<'a>(&'a self, prefix: &'a ObjectId) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let key = implement::check_key(prefix)?;
            for below in self.below(key).keys() {
                self.write(prefix.child(below).key(), None);
            }
            self.delete(prefix).await
        })
    }

    fn list<'a>(&'a self, prefix: &'a ObjectId, page: Option<&'a str>) -> BoxFuture<'a, Result<Listing>> {
        Box::pin(async move { self.names(prefix, page) })
    }

    fn abilities(&self) -> Option<&dyn ncirrus::store::StoreAbilities> {
        None
    }
}

/// A session that supports addresses such as `ledger://name/path`: all with the same name are in one ledger.
pub(crate) fn session() -> Result<Session> {
    let ledgers = Mutex::new(BTreeMap::<String, Arc<Ledger>>::new());
    let connect = move |url: &Url| -> Result<(Arc<dyn Store>, ObjectId)> {
        let mut ledgers = ledgers.lock().unwrap_or_else(PoisonError::into_inner);
        let ledger = ledgers.entry(url.host().to_owned()).or_insert_with(|| Ledger::new(url.host()));
        let root = ledger.root().child(url.path().trim_matches('/'));
        Ok((Arc::clone(ledger) as Arc<dyn Store>, root))
    };
    Session::builder().store("ledger", connect).build()
}

/// Creates a dataset in a ledger and prints its objects.
#[expect(clippy::print_stdout, reason = "this is what the example shows")]
pub(crate) fn main() -> Result<()> {
    let session = session()?;
    let dataset = ncirrus::Dataset::create_with("ledger://demo/sst.zarr", &Default::default(), &session)?;
    dataset.root().add_dimension("x", ncirrus::DimensionLen::Fixed(3))?;
    let variable = dataset.root().add_variable("sst", ncirrus::Atomic::Float, &["x"])?;
    variable.write_all(&[1.5f32, 2.5, 3.5])?;
    dataset.close()?;
    for key in ncirrus_tools::places::keys("ledger://demo/sst.zarr", &Default::default(), &session)? {
        println!("{}", key?.key);
    }
    Ok(())
}

//! Writes to a remote store that are cancelled, at each point where they wait: a later commit stores all that was accepted, or
//! reports an error.
#![expect(clippy::unwrap_used, reason = "helpers of tests may panic")]

use bytes::Bytes;
use futures_util::future::BoxFuture;
use ncirrus_engine::{Dataset, DatasetWriter, Session};
use ncirrus_layout::{
    Driver, Listing, ObjectBytes, ObjectId, OpenOptions, Result, StoreId, Tag, Want, Writing,
};
use ncirrus_model::{Atomic, DimensionLen, Model, Selection, Storage, Values};
use ncirrus_store::{LocalStore, MemoryStore, PutCondition, Store, StoreAbilities, StoreFacts};
use ncirrus_zarr::{Dialect, ZarrDriver, ZarrWriter};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

/// A store in memory whose answers have to be waited for.
#[derive(Debug)]
struct SlowStore(MemoryStore);

impl Store for SlowStore {
    fn id(&self) -> &StoreId {
        LocalStore::id(&self.0)
    }

    fn facts(&self) -> StoreFacts {
        StoreFacts { concurrency: 2, isolated: false, ..LocalStore::facts(&self.0) }
    }

    fn local(&self) -> Option<&dyn LocalStore> {
        None
    }

    fn get<'a>(&'a self, object: &'a ObjectId, want: &'a Want) -> BoxFuture<'a, Result<Option<ObjectBytes>>> {
        Box::pin(async move {
            wait().await;
            self.0.read(object, want)
        })
    }

    fn put<'a>(
        &'a self,
        object: &'a ObjectId,
        body: Bytes,
        when: PutCondition,
    ) -> BoxFuture<'a, Result<Tag>> {
        Box::pin(async move {
            wait().await;
            LocalStore::put(&self.0, object, &body, &when)
        })
    }

    fn delete<'a>(&'a self, object: &'a ObjectId) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move { LocalStore::delete(&self.0, object) })
    }

    fn delete_tree<'a>(&'a self, prefix: &'a ObjectId) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move { LocalStore::delete_tree(&self.0, prefix) })
    }

    fn list<'a>(&'a self, prefix: &'a ObjectId, page: Option<&'a str>) -> BoxFuture<'a, Result<Listing>> {
        Box::pin(async move { LocalStore::list(&self.0, prefix, page) })
    }

    fn abilities(&self) -> Option<&dyn StoreAbilities> {
        None
    }
}

async fn wait() {
    tokio::time::sleep(Duration::from_micros(100)).await;
}

/// A future that is dropped when it has been polled so many times: `None` then.
struct Cancelled<'a, T> {
    future: Option<Pin<Box<dyn Future<Output = T> + 'a>>>,
    polls: usize,
}

impl<T> Future for Cancelled<'_, T> {
    type Output = Option<T>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<T>> {
        let Some(future) = self.future.as_mut() else { return Poll::Ready(None) };
        if let Poll::Ready(done) = future.as_mut().poll(context) {
            return Poll::Ready(Some(done));
        }
        let Some(left) = self.polls.checked_sub(1) else {
            self.future = None;
            return Poll::Ready(None);
        };
        self.polls = left;
        Poll::Pending
    }
}

fn cancelled<'a, T>(polls: usize, future: impl Future<Output = T> + 'a) -> Cancelled<'a, T> {
    Cancelled { future: Some(Box::pin(future)), polls }
}

struct Place {
    session: Session,
    memory: MemoryStore,
}

/// Rows that are there before, of four values each, two rows to a chunk.
const ROWS: u64 = 5;

impl Place {
    /// A dataset with one variable that has no value but 1.
    fn new() -> Self {
        let session = Session::builder().threads(2).durable(false).build().unwrap();
        let place = Self { session, memory: MemoryStore::new("memory://cancelled") };
        let writing: Arc<dyn Writing> = Arc::new(ZarrWriter::new(Dialect::Attributes));
        let made = async {
            let writer = place.session.create(place.memory.shared(), place.root(), writing).await?;
            writer.edit(define).await?;
            write(&writer, "/v", (0, ROWS), 1).await?;
            writer.close().await
        };
        place.session.block_on(made).unwrap();
        place
    }

    fn root(&self) -> ObjectId {
        self.memory.root().child("data")
    }

    fn open(&self, store: Arc<dyn Store>) -> Dataset {
        let drivers: [Arc<dyn Driver>; 1] = [Arc::new(ZarrDriver)];
        let options = OpenOptions::default();
        self.session.block_on(self.session.open(store, self.root(), &drivers, &options)).unwrap()
    }

    fn update(&self) -> DatasetWriter {
        let dataset = self.open(Arc::new(SlowStore(self.memory.clone())));
        self.session.block_on(self.session.update(&dataset)).unwrap()
    }

    /// The rows of the only variable, each as its first value, and the name.
    fn rows(&self) -> (String, Vec<i32>) {
        let dataset = self.open(self.memory.shared());
        let model = dataset.model();
        let var = model.variables()[0];
        let values = self.session.block_on(dataset.read(var, &Selection::all(&model.shape(var)))).unwrap();
        let rows = if let Values::Int(values) = values { values } else { Vec::new() };
        (model.variable_path(var), rows.iter().step_by(4).copied().collect())
    }
}

fn define(model: &mut Model) -> Result<()> {
    let root = model.root();
    let t = model.add_dimension(root, "t", DimensionLen::Unlimited(0))?;
    let x = model.add_dimension(root, "x", DimensionLen::Fixed(4))?;
    let var = model.add_variable(root, "v", Atomic::Int.into(), &[t, x])?;
    model.variable_mut(var).unwrap().storage = Storage::Chunked(vec![2, 4]);
    Ok(())
}

async fn write(writer: &DatasetWriter, name: &str, (first, count): (u64, u64), value: i32) -> Result<()> {
    let var = writer.model().variable_at(name).unwrap();
    let values = Values::Int(vec![value; usize::try_from(4 * count).unwrap()]);
    writer.write(var, &Selection::slab(&[first, 0], &[count, 4]), &values).await
}

/// Cancels what `change` does after each number of polls, then closes; `check` sees the rows if that succeeds. Returns the
/// number of polls after which it was done, and how often closing failed.
fn cancel_everywhere(
    change: &impl AsyncFn(&DatasetWriter) -> Result<()>,
    check: impl Fn(usize, (String, Vec<i32>)),
) -> (usize, usize) {
    let mut reported = 0;
    let mut polls = 0;
    loop {
        assert!(polls < 1000, "it never ends");
        let place = Place::new();
        let writer = place.update();
        let done = place.session.block_on(cancelled(polls, change(&writer)));
        match place.session.block_on(writer.close()) {
            Ok(()) => check(polls, place.rows()),
            Err(error) => {
                reported += 1;
                assert!(!matches!(done, Some(Ok(()))), "{polls}: {error:?}");
                let (name, rows) = place.rows();
                assert!(rows.iter().take(5).all(|row| [1, 2].contains(row)), "{polls}: {name}: {rows:?}");
            }
        }
        if done.is_some() {
            return (polls, reported);
        }
        polls += 1;
    }
}

#[test]
fn a_cancelled_change_of_definitions_loses_no_values() {
    let change = async |writer: &DatasetWriter| {
        writer.edit(|model| Ok(model.rename_variable(model.variable_at("/v").unwrap(), "renamed")?)).await?;
        writer.check_definitions().await
    };
    let (polls, reported) = cancel_everywhere(&change, |polls, rows| {
        assert_eq!(rows, ("/renamed".to_owned(), vec![1; 5]), "after {polls} polls");
    });
    assert!(polls > 2 && reported > 0, "{polls} polls, {reported} failures");
}

#[test]
fn a_cancelled_commit_loses_no_values() {
    let change = async |writer: &DatasetWriter| {
        write(writer, "/v", (1, 6), 2).await?;
        writer.sync().await
    };
    let (polls, reported) = cancel_everywhere(&change, |polls, (_, rows)| {
        // What a cancelled write has not come to may be fill.
        let is_old = rows[..5] == [1; 5] && rows.len() == 5;
        let is_new = rows.len() == 7
            && rows[0] == 1
            && rows[1..5].iter().all(|row| [1, 2].contains(row))
            && rows[5..].iter().all(|row| [i32::MIN + 1, 2].contains(row));
        assert!(is_old || is_new, "after {polls} polls: {rows:?}");
    });
    assert!(polls > 2 && (1..polls).contains(&reported), "{polls} polls, {reported} failures");
}

#[test]
fn a_commit_that_follows_a_cancelled_one_stores_what_was_written_or_is_an_error() {
    for polls in 0.. {
        assert!(polls < 1000, "the commit never ends");
        let place = Place::new();
        let writer = place.update();
        // Parts of chunks, which wait in the cache; one of them is of a new extent.
        place.session.block_on(write(&writer, "/v", (0, 1), 2)).unwrap();
        place.session.block_on(write(&writer, "/v", (4, 3), 2)).unwrap();
        let done = place.session.block_on(cancelled(polls, writer.sync()));
        let closed = place.session.block_on(writer.close());
        if let Err(error) = &closed {
            let text = format!("{error:?}");
            assert!(done.is_none() && text.contains("abandoned half-way"), "{polls}: {text}");
        } else {
            assert_eq!(place.rows().1, [2, 1, 1, 1, 2, 2, 2], "after {polls} polls");
        }
        if let Some(done) = done {
            done.unwrap();
            closed.unwrap();
            return;
        }
    }
}

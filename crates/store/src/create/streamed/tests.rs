//! Objects that are sent while they are written, with an upload that keeps its parts.
use super::finish::StreamFinish;
use super::local::StreamedStore;
use super::*;
use crate::create::CommitAction;
use crate::store::{LocalStore, PutCondition};
use crate::{MemoryStore, OverwritePolicy};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use ncirrus_layout::{Tag, Want};
use proptest::prelude::*;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};

static RUNTIME: LazyLock<tokio::runtime::Runtime> = LazyLock::new(|| {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
});

/// Parts of 64 bytes, then of 128, and so on.
const SIZES: PartSizes = PartSizes { first: 64, run: 4, doublings: 8 };

/// Keeps what it gets.
#[derive(Debug, Default)]
struct KeptUpload {
    parts: Mutex<BTreeMap<usize, Bytes>>,
    order: Mutex<Vec<usize>>,
    whole: Mutex<Option<Vec<u8>>>,
    refused: Option<usize>,
    aborted: AtomicUsize,
}

impl MultipartUpload for KeptUpload {
    fn part(&self, index: usize, body: Bytes) -> BoxFuture<'_, Result<()>> {
        async move {
            tokio::task::yield_now().await;
            if self.refused == Some(index) {
                return Err(Error::new(ErrorKind::Denied, "refused"));
            }
            self.order.lock().unwrap().push(index);
            assert!(self.parts.lock().unwrap().insert(index, body).is_none(), "part {index} comes twice");
            Ok(())
        }
        .boxed()
    }

    fn complete(&self, _: PutCondition) -> BoxFuture<'_, Result<Tag>> {
        let parts = self.parts.lock().unwrap();
        assert!(parts.keys().copied().eq(0..parts.len()), "parts are missing");
        let last = parts.len() - 1;
        let cut = parts.iter().all(|(index, body)| {
            let size = usize::try_from(SIZES.size(*index as u64)).unwrap();
            if *index == last { (1..=size).contains(&body.len()) } else { body.len() == size }
        });
        assert!(cut, "parts have other sizes");
        *self.whole.lock().unwrap() = Some(parts.values().flatten().copied().collect());
        async { Ok(Tag::new("1")) }.boxed()
    }

    fn abort(&self) -> BoxFuture<'_, Result<()>> {
        self.aborted.fetch_add(1, Ordering::Relaxed);
        async { Ok(()) }.boxed()
    }
}

struct UploadRig {
    kept: Arc<KeptUpload>,
    store: MemoryStore,
    object: ObjectId,
    local: StreamedStore,
    finish: Box<StreamFinish>,
}

fn rig(
    budget: u64,
    scratch: Option<&std::path::Path>,
    clobber: OverwritePolicy,
    kept: KeptUpload,
) -> UploadRig {
    rig_on(RUNTIME.handle(), (budget, scratch), clobber, kept)
}

fn rig_on(
    runtime: &Handle,
    (budget, scratch): (u64, Option<&std::path::Path>),
    clobber: OverwritePolicy,
    kept: KeptUpload,
) -> UploadRig {
    let (kept, store) = (Arc::new(kept), MemoryStore::new("memory://m"));
    let object = store.root().child("x.nc");
    let stream = StreamedUpload {
        object: object.clone(),
        upload: Arc::clone(&kept) as Arc<dyn MultipartUpload>,
        runtime: runtime.clone(),
        sizes: SIZES,
        budget,
        scratch: scratch.map(Into::into),
        permits: Arc::new(Semaphore::new(2)),
        state: Mutex::default(),
        sent: Condvar::new(),
        tasks: Mutex::default(),
    };
    let finish = Box::new(StreamFinish::new(stream, &store.shared(), clobber));
    let local = StreamedStore(Arc::clone(&finish.stream));
    UploadRig { kept, store, object, local, finish }
}

impl UploadRig {
    fn write(&self, offset: u64, body: &[u8]) -> Result<()> {
        self.local.write_at(&self.object, offset, body)
    }

    fn commit(self) -> (Arc<KeptUpload>, MemoryStore, Result<()>) {
        let done = RUNTIME.block_on(self.finish.commit());
        (self.kept, self.store, done)
    }

    fn memory(&self) -> u64 {
        self.local.0.lock().memory
    }
}

/// Pieces of a file, in any order, some of them never written; and whether the end is written.
fn pieces() -> impl Strategy<Value = (Vec<(u64, Vec<u8>)>, Vec<u8>)> {
    let lens = prop::collection::vec((1_usize..200, prop::bool::weighted(0.9)), 1..40);
    lens.prop_flat_map(|lens| {
        let mut at = 0;
        let mut pieces = Vec::new();
        let mut file = Vec::new();
        for (len, is_written) in lens {
            let body: Vec<u8> = (at..at + len).map(|at| u8::try_from(at % 251).unwrap() + 1).collect();
            if is_written {
                file.resize(at, 0);
                file.extend_from_slice(&body);
                pieces.push((at as u64, body));
            }
            at += len;
        }
        (Just(pieces).prop_shuffle(), Just(file))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn any_order_gives_the_same_object_as_a_file((pieces, file) in pieces(), budget in 0_u64..2000) {
        let folder = tempfile::tempdir().unwrap();
        let rig = rig(budget, Some(folder.path()), OverwritePolicy::Never, KeptUpload::default());
        let max = budget.max(3 * SIZES.size(SIZES.count(file.len() as u64)));
        for (offset, body) in &pieces {
            rig.write(*offset, body).unwrap();
            prop_assert!(rig.memory() <= max, "{} bytes are held, {max} allowed", rig.memory());
        }
        let (kept, store, done) = rig.commit();
        done.unwrap();
        prop_assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        prop_assert_eq!(kept.aborted.load(Ordering::Relaxed), 0);
        if file.len() as u64 <= SIZES.first && kept.order.lock().unwrap().is_empty() {
            let put = store.read(&store.root().child("x.nc"), &Want::All).unwrap().unwrap();
            prop_assert_eq!(put.bytes, file);
        } else {
            prop_assert_eq!(kept.order.lock().unwrap().last().copied(), Some(0));
            prop_assert_eq!(kept.whole.lock().unwrap().take(), Some(file));
        }
    }
}

#[test]
fn many_threads_wait_for_memory_together() {
    // A thread may be stalled while the others continue: its gap then waits in the scratch file.
    let folder = tempfile::tempdir().unwrap();
    let rig = rig(512, Some(folder.path()), OverwritePolicy::Never, KeptUpload::default());
    let file: Vec<u8> = (0..20_000_u32).map(|at| (at % 251) as u8).collect();
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some(body) = file.chunks(40).nth(next.fetch_add(1, Ordering::Relaxed)) {
                    let at = body.as_ptr().addr() - file.as_ptr().addr();
                    rig.write(at as u64, body).unwrap();
                    assert!(rig.memory() <= 512.max(3 * SIZES.size(SIZES.count(20_000))));
                }
            });
        }
    });
    let (kept, _, done) = rig.commit();
    done.unwrap();
    assert_eq!(kept.whole.lock().unwrap().as_ref(), Some(&file));
}

#[test]
fn a_small_object_is_put_at_once() {
    let first = rig(512, None, OverwritePolicy::Never, KeptUpload::default());
    first.write(3, b"small").unwrap();
    let (kept, store, done) = first.commit();
    done.unwrap();
    assert!(kept.order.lock().unwrap().is_empty());
    let object = store.root().child("x.nc");
    assert_eq!(store.read(&object, &Want::All).unwrap().unwrap().bytes.as_ref(), b"\0\0\0small");
    let second = rig(512, None, OverwritePolicy::Never, KeptUpload::default());
    second.store.put(&second.object, b"theirs", &PutCondition::None).unwrap();
    second.write(0, b"mine").unwrap();
    let (kept, _, done) = second.commit();
    assert_eq!(done.unwrap_err().kind(), ErrorKind::Conflict);
    assert_eq!(kept.aborted.load(Ordering::Relaxed), 1);
}

#[test]
fn what_was_sent_is_neither_read_nor_written_again() {
    let folder = tempfile::tempdir().unwrap();
    let rig = rig(0, Some(folder.path()), OverwritePolicy::Never, KeptUpload::default());
    assert_eq!(rig.local.stat(&rig.object).unwrap(), None);
    for at in [0, 64, 512, 1024, 1536] {
        rig.write(at, b"held or in a scratch file").unwrap();
    }
    rig.write(128, &[1; 64]).unwrap();
    let read = |at| {
        let blob = rig.local.read(&rig.object, &Want::Range(at..at + 4))?.unwrap();
        Ok::<_, Error>(blob.bytes)
    };
    for at in [0, 64, 512, 1024, 1536] {
        assert_eq!(read(at).unwrap(), b"held"[..]);
    }
    assert_eq!(read(300).unwrap(), [0; 4][..]);
    for refused in [
        read(130).unwrap_err(),
        rig.write(191, b"1").unwrap_err(),
        rig.local.resize(&rig.object, 100).unwrap_err(),
        rig.local.read(&rig.object, &Want::All).unwrap_err(),
        rig.finish.check_sync().unwrap_err(),
    ] {
        assert_eq!(refused.kind(), ErrorKind::Unsupported, "{refused}");
        assert!(refused.to_string().contains("x.nc"), "{refused}");
    }
    rig.local.resize(&rig.object, 1540).unwrap();
    rig.local.resize(&rig.object, 1700).unwrap();
    let (kept, _, done) = rig.commit();
    done.unwrap();
    let whole = kept.whole.lock().unwrap().take().unwrap();
    assert_eq!((whole.len(), &whole[1536..1544]), (1700, &b"held\0\0\0\0"[..]));
}

#[test]
fn gaps_need_memory_or_a_scratch_file() {
    let rig = rig(0, None, OverwritePolicy::Never, KeptUpload::default());
    let refused = (0..8).find_map(|part| rig.write(part * 64, b"1").err()).unwrap();
    assert_eq!(refused.kind(), ErrorKind::Limit);
    assert!(refused.message().contains("a scratch file"), "{refused}");
    drop(rig.finish);
    assert_eq!(rig.kept.aborted.load(Ordering::Relaxed), 1);
}

#[test]
fn a_part_that_is_refused_ends_the_upload() {
    let rig =
        rig(512, None, OverwritePolicy::Never, KeptUpload { refused: Some(2), ..KeptUpload::default() });
    let failed = (0..1000).find_map(|part| rig.write(part * 64 % 4096, &[1; 64]).err()).unwrap();
    assert_eq!((failed.kind(), failed.message()), (ErrorKind::Denied, "refused"));
    let (kept, _, done) = rig.commit();
    assert_eq!(done.unwrap_err().message(), "refused");
    assert_eq!((kept.aborted.load(Ordering::Relaxed), kept.whole.lock().unwrap().take()), (1, None));
}

#[test]
fn an_upload_that_is_dropped_is_taken_back() {
    let dropped = rig(512, None, OverwritePolicy::Never, KeptUpload::default());
    dropped.write(0, &[1; 1000]).unwrap();
    drop(dropped.finish);
    assert_eq!(dropped.kept.aborted.load(Ordering::Relaxed), 1);
    assert_eq!(
        dropped.local.write_at(&dropped.object, 0, b"1").unwrap_err().message(),
        "the upload has ended"
    );
    let aborted = rig(512, None, OverwritePolicy::Never, KeptUpload::default());
    aborted.write(0, &[1; 1000]).unwrap();
    RUNTIME.block_on(aborted.finish.abort()).unwrap();
    assert_eq!(aborted.kept.aborted.load(Ordering::Relaxed), 1);
}

#[test]
fn writers_report_that_the_network_is_gone() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
    let rig = rig_on(runtime.handle(), (0, None), OverwritePolicy::Never, KeptUpload::default());
    runtime.shutdown_background();
    let failed = (0..10).find_map(|part| rig.write(part * 64, &[1; 64]).err()).unwrap();
    assert_eq!(failed.message(), "the upload was abandoned");
}

use super::*;
use futures_util::FutureExt;
use ncirrus_config::TransferSettings;
use ncirrus_layout::ErrorKind;
use ncirrus_store::StoreExt;
use object_store::memory::InMemory;
use object_store::{PutResult, UploadPart};
use rstest::rstest;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

fn store(transfer: TransferSettings) -> CloudStore {
    let store = CloudStore::new("s3://bucket", Arc::new(InMemory::new()));
    CloudStore { transfer: Arc::new(transfer), ..store }
}

fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

#[rstest]
#[case(None, PART, ONE_PIECE)]
#[case(Some(50_000_000), 50_000_000, 50_000_000)]
#[case(Some(1), 5 << 20, 5 << 20)]
#[case(Some(u64::MAX), 512 << 20, 512 << 20)]
fn parts_are_as_the_server_wants_them_and_grow_with_the_object(
    #[case] part_size: Option<u64>,
    #[case] part: u64,
    #[case] one_piece: u64,
) {
    let store = store(TransferSettings { part_size, ..TransferSettings::default() });
    assert_eq!((store.part_len(33 << 20), store.one_piece()), (part, one_piece));
    let largest = 5u64 << 40;
    assert!(largest.div_ceil(store.part_len(largest)) <= 10_000);
}

#[test]
fn a_server_without_parts_gets_objects_whole() {
    let off = store(TransferSettings { multipart_upload: Some(false), ..TransferSettings::default() });
    assert_eq!(off.one_piece(), LARGEST_PUT);
    let next = || Err(Error::internal("nothing is asked for"));
    let error = run(off.send_pieces(&off.root().child("x"), next, PutCondition::None)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit, "{error}");
    let parts = Arc::new(InMemory::new());
    assert!(StoreExt::multipart(&off.clone().in_parts(parts.clone()), &off.root().child("x")).is_none());
    let on = store(TransferSettings { part_size: Some(1), parts: Some(3), ..TransferSettings::default() })
        .in_parts(parts);
    let upload = StoreExt::multipart(&on, &on.root().child("x")).unwrap();
    assert_eq!((upload.part_size(), upload.at_once()), (Some(5 << 20), Some(3)));
}

/// Counts the parts in flight.
#[derive(Debug, Default)]
struct CountingUpload {
    now: Arc<AtomicUsize>,
    max: Arc<AtomicUsize>,
}

#[async_trait::async_trait]
impl MultipartUpload for CountingUpload {
    fn put_part(&mut self, _: PutPayload) -> UploadPart {
        let now = Arc::clone(&self.now);
        self.max.fetch_max(now.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
        async move {
            tokio::task::yield_now().await;
            now.fetch_sub(1, Ordering::Relaxed);
            Ok(())
        }
        .boxed()
    }

    async fn complete(&mut self) -> object_store::Result<PutResult> {
        Err(object_store::Error::NotImplemented { operation: String::new(), implementer: String::new() })
    }

    async fn abort(&mut self) -> object_store::Result<()> {
        Ok(())
    }
}

#[rstest]
#[case(1)]
#[case(3)]
fn no_more_parts_are_under_way_than_the_server_wants(#[case] at_once: usize) {
    let mut upload = CountingUpload::default();
    let mut bodies = vec![Bytes::from_static(b"x"); 9].into_iter();
    run(send_parts(&mut upload, || Ok(bodies.next().unwrap_or_default()), at_once)).unwrap();
    assert_eq!(upload.max.load(Ordering::Relaxed), at_once);
}

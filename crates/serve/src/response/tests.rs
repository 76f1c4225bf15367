//! The order of pieces, their number ahead of the client, and the workers that they take.
use super::*;
use crate::{ServerBuilder, ServerLimits};
use axum::body::BodyDataStream;
use axum::http::StatusCode;
use futures_util::StreamExt;
use ncirrus::Session;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

/// Bytes of the pieces of long bodies.
const PIECE: usize = 512 << 10;

fn state(workers: usize) -> ServerState {
    let session = Session::builder().threads(1).build().unwrap();
    let limits = ServerLimits { workers, ..ServerLimits::default() };
    let server = ServerBuilder::new([], &session).limits(limits).build().unwrap();
    server.state().clone()
}

/// A body without an end, and the number of its pieces that were produced.
fn endless(state: &ServerState) -> (BodyDataStream, Arc<AtomicUsize>) {
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    let body = streamed(state, move || {
        counted.fetch_add(1, Ordering::Relaxed);
        Ok(Some(Bytes::from(vec![7; PIECE])))
    });
    (body.into_data_stream(), count)
}

/// The pieces of a body and whether it ended with an error, read with pauses or without.
async fn read(mut body: BodyDataStream, pause: Duration) -> (Vec<Bytes>, bool) {
    let mut pieces = Vec::new();
    while let Some(piece) = body.next().await {
        let Ok(piece) = piece else { return (pieces, true) };
        pieces.push(piece);
        if !pause.is_zero() {
            tokio::time::sleep(pause).await;
        }
    }
    (pieces, false)
}

#[tokio::test(flavor = "multi_thread")]
async fn pieces_arrive_in_their_order_and_an_error_behind_those_before_it() {
    let state = state(2);
    for (pause, len) in [(0, 10), (0, 300 << 10), (PATIENCE.as_millis() + 1, 300 << 10)] {
        for fails in [false, true] {
            let mut number = 0_u8;
            let body = streamed(&state, move || {
                number += 1;
                match number {
                    ..40 => Ok(Some(Bytes::from(vec![number; len + usize::from(number)]))),
                    _ if fails => Err(HttpError::internal("no more")),
                    _ => Ok(None),
                }
            });
            let pause = Duration::from_millis(pause.try_into().unwrap());
            let (pieces, has_failed) = read(body.into_data_stream(), pause).await;
            assert_eq!(has_failed, fails);
            let wanted = (1..40_u8).map(|number| (number, len + usize::from(number)));
            assert!(wanted.eq(pieces.iter().map(|piece| (piece[0], piece.len()))), "{pause:?} {len}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_does_not_read_holds_few_pieces_and_no_worker() {
    let state = state(1);
    let (mut unread, count) = endless(&state);
    assert_eq!(count.load(Ordering::Relaxed), 0, "the body is not read yet");
    unread.next().await.unwrap().unwrap();
    // The only worker.
    assert_eq!(state.work(|| Ok(5)).await.unwrap(), 5);
    // The one that was taken, and 512 KiB.
    let since = Instant::now();
    while count.load(Ordering::Relaxed) < 2 && since.elapsed() < Duration::from_secs(60) {
        tokio::time::sleep(PATIENCE).await;
    }
    tokio::time::sleep(4 * PATIENCE).await;
    assert_eq!(count.load(Ordering::Relaxed), 2);
    assert_eq!(state.work(|| Ok(5)).await.unwrap(), 5);
}

#[tokio::test(flavor = "multi_thread")]
async fn responses_take_turns_on_a_worker() {
    let state = state(1);
    let counts = [endless(&state), endless(&state), endless(&state)].map(|(mut body, count)| {
        let reading = tokio::spawn(async move { while body.next().await.is_some() {} });
        (reading, count)
    });
    let have_all = || counts.iter().all(|(_, count)| count.load(Ordering::Relaxed) > 100);
    let since = Instant::now();
    while !have_all() && since.elapsed() < Duration::from_secs(60) {
        assert_eq!(state.work(|| Ok(5)).await.unwrap(), 5);
    }
    assert!(have_all());
    counts.iter().for_each(|(reading, _)| reading.abort());
}

#[tokio::test(flavor = "multi_thread")]
async fn producing_ends_when_the_client_goes_away() {
    let state = state(1);
    let (dropped, is_dropped) = mpsc::channel::<()>();
    let body = streamed(&state, move || {
        let _kept = &dropped;
        Ok(Some(Bytes::from(vec![7; PIECE])))
    });
    let mut body = body.into_data_stream();
    body.next().await.unwrap().unwrap();
    drop(body);
    let ended = is_dropped.recv_timeout(Duration::from_secs(60));
    assert_eq!(ended, Err(mpsc::RecvTimeoutError::Disconnected));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_panic_ends_the_body_with_an_error() {
    let mut is_first = true;
    let body = streamed(&state(1), move || {
        assert!(std::mem::take(&mut is_first), "the second piece");
        Ok(Some(Bytes::from_static(b"one")))
    });
    let (pieces, has_failed) = read(body.into_data_stream(), Duration::ZERO).await;
    assert_eq!((pieces, has_failed), (vec![Bytes::from_static(b"one")], true));
}

#[test]
fn a_full_queue_has_room_again_when_half_of_it_is_taken() {
    let queue = PieceQueue::default();
    let context = Context::from_waker(std::task::Waker::noop());
    let piece = || Ok(Some(Bytes::from(vec![7; PIECE / 4])));
    let mut pushed = 0;
    while queue.poll_room(&context).is_ready() {
        queue.push(piece());
        pushed += 1;
    }
    assert_eq!(pushed, 4);
    assert!(!queue.has_room_within(Duration::from_millis(1)));
    let mut taken = 0;
    while queue.poll_room(&context).is_pending() {
        assert!(queue.poll_take(&context).is_ready());
        taken += 1;
    }
    assert_eq!(taken, 2);
    queue.push(Err(HttpError::not_found("gone")));
    queue.push(Ok(None));
    let next = || match queue.poll_take(&context) {
        Poll::Ready(Ok(piece)) => piece.map(|piece| piece.len()).ok_or(StatusCode::OK),
        Poll::Ready(Err(error)) => Err(error.status),
        Poll::Pending => panic!("nothing is there"),
    };
    let all: Vec<_> = std::iter::repeat_with(next).take(5).collect();
    let ends = [Err(StatusCode::NOT_FOUND), Err(StatusCode::OK), Err(StatusCode::OK)];
    assert_eq!(all, [&[Ok(PIECE / 4); 2][..], &ends].concat());
}

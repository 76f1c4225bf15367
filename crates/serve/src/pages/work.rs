//! Work of a request, which ends with the request.
use super::PageOptions;
use super::failure::Failure;
use super::parameters::Call;
use axum::response::Response;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How often blocking work looks whether its request was cancelled.
const INTERVAL: Duration = Duration::from_millis(20);

/// Runs what blocks on a worker thread. If the client goes away, the server drops this future: reads of the work end with
/// an error then, and their requests are cancelled.
pub(crate) async fn work(
    call: Call,
    work: impl FnOnce(&Call) -> Result<Response, Failure> + Send + 'static,
) -> Response {
    let options = Arc::clone(&call.options);
    let result = watched(call, work).await;
    Call::respond(&options, result)
}

async fn watched(
    call: Call,
    work: impl FnOnce(&Call) -> Result<Response, Failure> + Send + 'static,
) -> Result<Response, Failure> {
    let request = OpenRequest(Arc::default());
    let is_over = Arc::clone(&request.0);
    let state = call.state.clone();
    let run = move || {
        let stops = move || is_over.load(Ordering::Relaxed);
        Ok(ncirrus::watch(INTERVAL, stops, || work(&call)))
    };
    let done = state.work(run).await;
    drop(request);
    done?
}

/// Marks a request as over when it is dropped.
struct OpenRequest(Arc<AtomicBool>);

impl Drop for OpenRequest {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The response of a handler that does not block.
pub(crate) fn at_once(options: &PageOptions, result: Result<Response, Failure>) -> Response {
    Call::respond(options, result)
}

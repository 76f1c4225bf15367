//! Work of a request, which ends with the request.
use super::PageOptions;
use super::failure::Failure;
use super::parameters::Call;
use axum::response::Response;
use std::sync::Arc;

/// Runs what blocks on a worker thread. If the client goes away, the server drops this future: reads of the work end with
/// an error then, and their requests are cancelled.
pub(crate) async fn work(
    call: Call,
    work: impl FnOnce(&Call) -> Result<Response, Failure> + Send + 'static,
) -> Response {
    let options = Arc::clone(&call.options);
    let state = call.state.clone();
    let done = state.work(move || Ok(work(&call))).await;
    Call::respond(&options, done.unwrap_or_else(|error| Err(error.into())))
}

/// The response of a handler that does not block.
pub(crate) fn at_once(options: &PageOptions, result: Result<Response, Failure>) -> Response {
    Call::respond(options, result)
}

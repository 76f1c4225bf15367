//! An S3 server on this machine that answers with a delay, like a remote one.
use crate::Failure;
use hyper::Method;
use hyper::header::{IF_MATCH, IF_NONE_MATCH};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use s3s::service::S3ServiceBuilder;
use s3s_fs::FileSystem;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::RwLock;

/// Serves the subfolders of a folder as buckets until the program ends; every answer is delayed by `latency`. Reports
/// its address once.
pub(crate) fn serve(folder: &str, latency: Duration, announce: impl FnOnce(String)) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let files = FileSystem::new(folder).map_err(|error| format!("{folder}: {error:?}"))?;
    let service = S3ServiceBuilder::new(files).build();
    let folder = std::path::PathBuf::from(folder);
    // The file system's server looks at the condition of a put and puts one after the other, so that two writers could
    // both succeed; what a get reads must not change between its content and its tag either.
    let state = Arc::new(RwLock::new(()));
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        announce(format!("http://{}", listener.local_addr()?));
        loop {
            let (stream, _) = listener.accept().await?;
            stream.set_nodelay(true)?;
            let service = service.clone();
            let folder = folder.clone();
            let state = Arc::clone(&state);
            let late = hyper::service::service_fn(move |request: hyper::Request<hyper::body::Incoming>| {
                let (service, state) = (service.clone(), Arc::clone(&state));
                let is_conditional = request.method() == Method::PUT
                    && [IF_MATCH, IF_NONE_MATCH].iter().any(|name| request.headers().contains_key(name));
                let is_folder = folder.join(request.uri().path().trim_start_matches('/')).is_dir();
                async move {
                    tokio::time::sleep(latency).await;
                    // The server fails in cases in which Amazon reports no such object.
                    if is_folder && request.uri().query().is_none() {
                        let mut absent = hyper::Response::new(s3s::Body::empty());
                        *absent.status_mut() = hyper::StatusCode::NOT_FOUND;
                        return Ok(absent);
                    }
                    let request = request.map(s3s::Body::from);
                    if is_conditional {
                        let _alone = state.write().await;
                        return service.call(request).await;
                    }
                    let _unchanged = state.read().await;
                    service.call(request).await
                }
            });
            tokio::spawn(async move {
                let served = Builder::new(TokioExecutor::new());
                _ = served.serve_connection(TokioIo::new(stream), late).await;
            });
        }
    })
}

//! An S3 server on this machine that answers with a delay, like a remote one.
use crate::Failure;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use s3s::service::S3ServiceBuilder;
use s3s_fs::FileSystem;
use std::time::Duration;
use tokio::net::TcpListener;

/// Serves the subfolders of a folder as buckets until the program ends; every answer is delayed by `latency`. Reports
/// its address once.
pub(crate) fn serve(folder: &str, latency: Duration, tell: impl FnOnce(String)) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let files = FileSystem::new(folder).map_err(|error| format!("{folder}: {error:?}"))?;
    let service = S3ServiceBuilder::new(files).build();
    let folder = std::path::PathBuf::from(folder);
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        tell(format!("http://{}", listener.local_addr()?));
        loop {
            let (stream, _) = listener.accept().await?;
            stream.set_nodelay(true)?;
            let service = service.clone();
            let folder = folder.clone();
            let late = hyper::service::service_fn(move |request: hyper::Request<hyper::body::Incoming>| {
                let service = service.clone();
                let is_folder = folder.join(request.uri().path().trim_start_matches('/')).is_dir();
                async move {
                    tokio::time::sleep(latency).await;
                    // The server fails in cases in which Amazon reports no such object.
                    if is_folder && request.uri().query().is_none() {
                        let mut absent = hyper::Response::new(s3s::Body::empty());
                        *absent.status_mut() = hyper::StatusCode::NOT_FOUND;
                        return Ok(absent);
                    }
                    service.call(request.map(s3s::Body::from)).await
                }
            });
            tokio::spawn(async move {
                let served = Builder::new(TokioExecutor::new());
                _ = served.serve_connection(TokioIo::new(stream), late).await;
            });
        }
    })
}

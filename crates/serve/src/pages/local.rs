//! The server of `ncirrus view`, for the user who started it alone.
use super::{PageOptions, guard, routes};
use crate::published::Published;
use crate::state::Front;
use crate::{AccessLog, ServerLimits, ServerState};
use axum::Router;
use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use ncirrus::{Error, ErrorKind, Result, Session};
use std::net::{Ipv4Addr, SocketAddr};
use tokio::net::TcpListener;

/// Bytes of a secret: 128 bits cannot be guessed.
const SECRET: usize = 16;

/// The part of an address that only the user who started the server knows. Other users of the machine, and pages of other
/// sites in the user's browser, reach the port, but not what is served.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// A new secret of the operating system's random numbers.
    ///
    /// # Errors
    /// If there are none.
    pub fn new() -> Result<Self> {
        let mut bytes = [0; SECRET];
        getrandom::fill(&mut bytes).map_err(|error| fault("random numbers", error))?;
        Ok(Self(bytes.iter().map(|byte| format!("{byte:02x}")).collect()))
    }
}

/// A server of the pages on the loopback interface, for one dataset or folder.
pub struct LocalViewer {
    pub(super) state: ServerState,
    pub(super) options: PageOptions,
}

impl LocalViewer {
    /// A viewer of the dataset or folder at an address.
    ///
    /// # Errors
    /// If the address cannot be read.
    pub fn new(address: &str, options: PageOptions, session: &Session, secret: &Secret) -> Result<Self> {
        Self::with_limits(address, options, session, secret, ServerLimits::default())
    }

    pub(super) fn with_limits(
        address: &str,
        options: PageOptions,
        session: &Session,
        secret: &Secret,
        limits: ServerLimits,
    ) -> Result<Self> {
        // Here a name with `=` is a path.
        let is_path = !address.contains("://") && address.contains('=') && !address.contains('/');
        let address = if is_path { format!("./{address}") } else { address.to_owned() };
        let published = Published::new(&[address], session, &limits)?;
        let base_path = format!("/{}", secret.0);
        let front = Front { base_path, is_behind_proxy: false, log: AccessLog::none() };
        let state = ServerState::new(published, session.clone(), limits, front);
        Ok(Self { state, options: PageOptions { is_local: true, ..options } })
    }

    /// The routes, for requests to this port of the loopback interface.
    pub fn router(&self, port: u16) -> Router {
        let pages = routes(self.options).fallback(nothing);
        let base = self.state.base_path().to_owned();
        let guarded = from_fn(move |request: Request, next: Next| guard::only_loopback(port, request, next));
        Router::new().nest(&base, pages).fallback(nothing).layer(guarded).with_state(self.state.clone())
    }

    /// As [`run`](Self::run), until the program is interrupted (Ctrl-C).
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn run_until_interrupted(self, port: u16, listening: impl FnOnce(&str)) -> Result<()> {
        self.run(port, listening, async {
            if tokio::signal::ctrl_c().await.is_err() {
                // Without a handler the signal ends the program.
                std::future::pending::<()>().await;
            }
        })
    }

    /// Serves until `shutdown` is ready. `listening` receives the address of the first page when connections are accepted;
    /// port 0 becomes a free one. Blocks.
    ///
    /// # Errors
    /// If the port is not free.
    pub fn run(
        self,
        port: u16,
        listening: impl FnOnce(&str),
        shutdown: impl Future<Output = ()> + Send,
    ) -> Result<()> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
        let runtime = runtime.map_err(|error| fault("threads", error))?;
        let served: Result<()> = runtime.block_on(async {
            let bind = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
            let listener = TcpListener::bind(bind).await.map_err(|error| fault(bind, error))?;
            let bound = listener.local_addr().map_err(|error| fault(bind, error))?;
            let serving = axum::serve(listener, self.router(bound.port()));
            listening(&format!("http://{bound}{}/view/", self.state.base_path()));
            tokio::select! {
                served = serving => served.map_err(|error| fault(bind, error)),
                () = shutdown => Ok(()),
            }
        });
        // Work that does not end at once is not waited for.
        runtime.shutdown_background();
        served
    }
}

async fn nothing() -> crate::HttpError {
    crate::HttpError::not_found("no such page")
}

fn fault(place: impl std::fmt::Display, error: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::Io { retryable: false }, format!("{place}: {error}"))
}

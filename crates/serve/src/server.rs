//! The server: its address, its routes, and its connections.
use crate::access::AccessLog;
use crate::pages::PageOptions;
use crate::state::Front;
use crate::{HttpError, Published, ServerLimits, ServerState};
use axum::Router;
use ncirrus::{Error, Result, Session};
use std::net::SocketAddr;

/// Builds a [`Server`].
pub struct ServerBuilder {
    session: Session,
    addresses: Vec<String>,
    limits: ServerLimits,
    base_path: String,
    is_behind_proxy: bool,
    log: AccessLog,
    routes: Router<ServerState>,
    pages: Option<PageOptions>,
}

impl ServerBuilder {
    /// A server of datasets and folders at these addresses; see [`Published::new`].
    pub fn new(addresses: impl IntoIterator<Item = String>, session: &Session) -> Self {
        Self {
            session: session.clone(),
            addresses: addresses.into_iter().collect(),
            limits: ServerLimits::default(),
            base_path: String::new(),
            is_behind_proxy: false,
            log: AccessLog::none(),
            routes: Router::new(),
            pages: None,
        }
    }

    /// Limits.
    #[must_use]
    pub fn limits(mut self, limits: ServerLimits) -> Self {
        self.limits = limits;
        self
    }

    /// A path before all routes, such as `/data`, or one with a secret. Other paths are not found.
    #[must_use]
    pub fn base_path(mut self, path: &str) -> Self {
        let path = path.trim_matches('/');
        self.base_path = if path.is_empty() { String::new() } else { format!("/{path}") };
        self
    }

    /// Whether a proxy in front of the server sends `X-Forwarded-For` with the addresses of clients. Without a proxy
    /// clients could claim any address.
    #[must_use]
    pub fn behind_proxy(mut self, is_behind_proxy: bool) -> Self {
        self.is_behind_proxy = is_behind_proxy;
        self
    }

    /// Where a line for each response is written.
    #[must_use]
    pub fn log(mut self, log: AccessLog) -> Self {
        self.log = log;
        self
    }

    /// Adds routes.
    #[must_use]
    pub fn mount(mut self, routes: Router<ServerState>) -> Self {
        self.routes = self.routes.merge(routes);
        self
    }

    /// Adds the [pages](crate::pages) below `view/`, to which browsers are led. All clients see them, whatever
    /// [`PageOptions::is_local`] is.
    #[must_use]
    pub fn pages(mut self, options: PageOptions) -> Self {
        self.pages = Some(PageOptions { is_local: false, ..options });
        self
    }

    /// The server.
    ///
    /// # Errors
    /// If an address cannot be read.
    pub fn build(self) -> Result<Server> {
        let published = Published::new(&self.addresses, &self.session, &self.limits)?;
        let Self { session, limits, base_path, is_behind_proxy, log, routes, pages, .. } = self;
        let front = Front { base_path, is_behind_proxy, log };
        let state = ServerState::new(published, session, limits, front);
        Ok(Server { state, routes, pages })
    }
}

/// A server.
pub struct Server {
    state: ServerState,
    routes: Router<ServerState>,
    pages: Option<PageOptions>,
}

impl Server {
    /// What its handlers share.
    pub fn state(&self) -> &ServerState {
        &self.state
    }

    /// All routes, under the base path.
    pub fn router(&self) -> Router {
        let routes = Router::new()
            .merge(crate::dap::routes())
            .merge(crate::zarr::routes())
            .merge(crate::nc::routes())
            .merge(crate::catalog::routes())
            .merge(crate::metrics::routes())
            .merge(self.routes.clone())
            .fallback(nothing);
        let routes = match (self.pages, self.state.base_path()) {
            (None, "") => routes,
            (None, base) => Router::new().nest(base, routes).fallback(nothing),
            (Some(options), base) => with_pages(routes, options, base).fallback(nothing),
        };
        let guard = axum::middleware::from_fn_with_state(self.state.clone(), crate::guard::guard);
        routes.layer(guard).with_state(self.state.clone())
    }

    /// Serves until the process is asked to end, by SIGTERM or Ctrl-C; see [`run`](Self::run).
    ///
    /// # Errors
    /// If the address cannot be bound.
    pub fn run_until_signal(self, bind: SocketAddr, listening: impl FnOnce(SocketAddr)) -> Result<()> {
        self.run(bind, listening, signal())
    }

    /// Serves until `shutdown` is ready, then finishes the responses that were begun, for at most 30 seconds. `listening`
    /// receives the address once connections are accepted (port 0 becomes a free one). Blocks.
    ///
    /// # Errors
    /// If the address cannot be bound.
    pub fn run(
        self,
        bind: SocketAddr,
        listening: impl FnOnce(SocketAddr),
        shutdown: impl Future<Output = ()> + Send,
    ) -> Result<()> {
        let fault = |error: std::io::Error| {
            let message = format!("{bind}: {error}");
            Error::new(ncirrus::ErrorKind::Io { retryable: false }, message)
        };
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
        let runtime = runtime.map_err(fault)?;
        let served: Result<()> = runtime.block_on(async {
            let listener = tokio::net::TcpListener::bind(bind).await.map_err(fault)?;
            listening(listener.local_addr().map_err(fault)?);
            crate::connections::serve(listener, self.router(), &self.state, shutdown).await;
            Ok(())
        });
        // Work whose client is gone is not waited for.
        runtime.shutdown_background();
        served
    }
}

/// Is ready when the process is asked to end: by SIGTERM or Ctrl-C.
async fn signal() {
    let interrupted = tokio::signal::ctrl_c();
    #[cfg(unix)]
    {
        let terminated = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate());
        let Ok(mut terminated) = terminated else {
            _ = interrupted.await;
            return;
        };
        tokio::select! {
            _ = interrupted => {}
            _ = terminated.recv() => {}
        }
    }
    #[cfg(not(unix))]
    {
        _ = interrupted.await;
    }
}

/// The routes and the pages under the base path, to which its address leads with and without a slash.
fn with_pages(routes: Router<ServerState>, options: PageOptions, base: &str) -> Router<ServerState> {
    let routes = routes.merge(crate::pages::routes(options));
    let Some((_, last)) = base.rsplit_once('/') else {
        return routes.route("/", crate::pages::front("view/".to_owned()));
    };
    Router::new()
        .nest(base, routes)
        .route(base, crate::pages::front(format!("{last}/view/")))
        .route(&format!("{base}/"), crate::pages::front("view/".to_owned()))
}

async fn nothing() -> HttpError {
    HttpError::not_found("no such page")
}

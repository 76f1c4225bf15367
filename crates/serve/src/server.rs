//! The server: its address, its routes, and its connections.
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
    routes: Router<ServerState>,
}

impl ServerBuilder {
    /// A server of datasets and folders at these addresses; see [`Published::new`].
    pub fn new(addresses: impl IntoIterator<Item = String>, session: &Session) -> Self {
        Self {
            session: session.clone(),
            addresses: addresses.into_iter().collect(),
            limits: ServerLimits::default(),
            base_path: String::new(),
            routes: Router::new(),
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

    /// Adds routes.
    #[must_use]
    pub fn mount(mut self, routes: Router<ServerState>) -> Self {
        self.routes = self.routes.merge(routes);
        self
    }

    /// The server.
    ///
    /// # Errors
    /// If an address cannot be read.
    pub fn build(self) -> Result<Server> {
        let published = Published::new(&self.addresses, &self.session, &self.limits)?;
        let state = ServerState::new(published, self.session, self.limits, self.base_path);
        Ok(Server { state, routes: self.routes })
    }
}

/// A server.
pub struct Server {
    state: ServerState,
    routes: Router<ServerState>,
}

impl Server {
    /// What its handlers share.
    pub fn state(&self) -> &ServerState {
        &self.state
    }

    /// All routes, under the base path.
    pub fn router(&self) -> Router {
        let routes = Router::new().merge(crate::dap::routes()).merge(self.routes.clone()).fallback(nothing);
        let routes = match self.state.base_path() {
            "" => routes,
            base => Router::new().nest(base, routes).fallback(nothing),
        };
        routes.with_state(self.state.clone())
    }

    /// Serves until `shutdown` is ready, then finishes the responses that were begun. `listening` receives the address
    /// once connections are accepted (port 0 becomes a free one). Blocks.
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
        runtime.map_err(fault)?.block_on(async {
            let listener = tokio::net::TcpListener::bind(bind).await.map_err(fault)?;
            listening(listener.local_addr().map_err(fault)?);
            let serving = axum::serve(listener, self.router());
            tokio::select! {
                served = serving => served.map_err(fault),
                () = shutdown => Ok(()),
            }
        })
    }
}

async fn nothing() -> HttpError {
    HttpError::not_found("no such page")
}

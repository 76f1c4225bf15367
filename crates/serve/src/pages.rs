//! Pages that show datasets in a browser: a folder, a dataset, a variable as a map, an image or a line.
//!
//! The pages are files without a build step (the folder `site`), embedded in the program. They request numbers and metadata from
//! the routes below `view/api`, which `docs/design/031-view.md` describes, and colour and draw them in the browser.
//! A request that the client cancels ends its reads. [`LocalViewer`] is the server of `ncirrus view`: on the loopback interface
//! alone, with a secret in the path. `ncirrus serve` shows the same pages to all clients, without addresses of the data.
mod chunks;
mod coastlines;
mod code;
mod coordinates;
mod csv;
mod dataset;
mod download;
mod failure;
mod folder;
mod guard;
mod local;
mod parameters;
mod site;
mod texts;
mod values;
mod variable;
mod visible;
mod work;

pub use local::{LocalViewer, Secret};
pub(crate) use site::front;

use crate::ServerState;
use axum::Router;
use axum::routing::get;
use ncirrus::Error;
use std::sync::Arc;

/// Points of coastlines: longitude and latitude in degrees, line by line.
pub type CoastlinePoints = Vec<Vec<(f64, f64)>>;

/// What a program that shows the pages supplies.
#[derive(Clone, Copy, Default)]
pub struct PageOptions {
    /// Advice on an error.
    pub hint: Option<fn(&Error) -> Option<&'static str>>,
    /// Coastlines, detailed ones if the argument is true.
    pub coastlines: Option<fn(bool) -> CoastlinePoints>,
    /// Whether only the user who started the program sees the pages: errors name addresses then, and code samples contain
    /// them. Otherwise code samples contain the addresses of the server, and reads have its limits.
    pub is_local: bool,
}

/// The routes of the pages: `view/` and what it needs.
pub fn routes(options: PageOptions) -> Router<ServerState> {
    let routes = Router::new()
        .route("/view", get(site::to_start))
        .route("/view/", get(site::start))
        .route("/view/static/{name}", get(site::file))
        .route("/view/api/start", get(folder::start))
        .route("/view/api/list", get(folder::list))
        .route("/view/api/coastlines", get(coastlines::coastlines))
        .route("/view/api/dataset", get(dataset::dataset))
        .route("/view/api/cdl", get(dataset::cdl))
        .route("/view/api/variable", get(variable::variable))
        .route("/view/api/axis", get(variable::axis))
        .route("/view/api/values", get(values::values))
        .route("/view/api/cost", get(values::cost))
        .route("/view/api/texts", get(texts::texts))
        .route("/view/api/chunks", get(chunks::chunks))
        .route("/view/api/download", get(download::download));
    // The statistics are those of all users.
    let routes =
        if options.is_local { routes.route("/view/api/activity", get(folder::activity)) } else { routes };
    routes
        .layer(axum::middleware::from_fn(guard::with_headers))
        .layer(axum::Extension(Arc::new(options)))
        .layer(axum::Extension(Arc::new(coastlines::EncodedCoastlines::default())))
}

#[cfg(test)]
mod tests;

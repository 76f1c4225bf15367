//! `/metrics`: the counters of the server, as Prometheus reads them.
use crate::ServerState;
use crate::access::Gauges;
use axum::Router;
use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;
use axum::routing::get;

pub(crate) fn routes() -> Router<ServerState> {
    Router::new().route("/metrics", get(metrics))
}

async fn metrics(State(state): State<ServerState>) -> impl IntoResponse {
    let gauges = Gauges { responses: state.clients().count(), datasets: state.published().open_count() };
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], state.metrics().text(gauges))
}

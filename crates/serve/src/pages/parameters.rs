//! The query of a request.
use super::PageOptions;
use super::failure::Failure;
use crate::ServerState;
use crate::published::ServedDataset;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::response::Response;
use ncirrus::{Dataset, Selection, Variable, VariableSelect};
use std::convert::Infallible;
use std::sync::Arc;

/// What a request names, and what its handler needs.
pub(crate) struct Call {
    pub(crate) state: ServerState,
    pub(crate) options: Arc<PageOptions>,
    query: Vec<(String, String)>,
}

impl FromRequestParts<ServerState> for Call {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &ServerState) -> Result<Self, Infallible> {
        let options = parts.extensions.get::<Arc<PageOptions>>().cloned().unwrap_or_default();
        Ok(Self::new(state.clone(), options, parts.uri.query().unwrap_or_default()))
    }
}

impl Call {
    pub(super) fn new(state: ServerState, options: Arc<PageOptions>, query: &str) -> Self {
        let query = form_urlencoded::parse(query.as_bytes()).into_owned().collect();
        Self { state, options, query }
    }

    /// A parameter; empty if it is not given.
    pub(crate) fn text(&self, name: &str) -> &str {
        self.query.iter().find(|(key, _)| key == name).map_or("", |(_, value)| value)
    }

    /// Whether the user has accepted the cost of the read.
    pub(crate) fn accepts_cost(&self) -> bool {
        self.text("accept") == "1"
    }

    /// The dataset that `path` names. Blocks.
    pub(crate) fn dataset(&self) -> Result<Arc<ServedDataset>, Failure> {
        let (dataset, rest) = self.state.published().open(self.text("path"))?;
        if rest.is_empty() {
            return Ok(dataset);
        }
        Err(Failure::not_found(format!("{:?} is a dataset, not a folder", dataset.name())))
    }

    /// The variable `var` of a dataset.
    pub(crate) fn variable(&self, dataset: &Dataset) -> Result<Variable, Failure> {
        Ok(dataset.variable(self.text("var"))?)
    }

    /// The elements that `select` names, in brackets.
    pub(crate) fn selection(&self, variable: &Variable) -> Result<Selection, Failure> {
        Ok(self.select(variable)?.resolve(&variable.shape())?)
    }

    /// The same, not yet applied to a shape.
    pub(crate) fn select(&self, variable: &Variable) -> Result<VariableSelect, Failure> {
        let select = self.text("select");
        if !select.is_empty() && !select.starts_with('[') {
            return Err(Failure::invalid(format!("the selection {select:?} has no brackets")));
        }
        // Names may have brackets themselves.
        let mut parsed = VariableSelect::parse(&format!("v{select}"))?;
        parsed.path = variable.path();
        Ok(parsed)
    }

    /// Indices that are separated by commas.
    pub(crate) fn indices(&self, name: &str) -> Result<Vec<u64>, Failure> {
        let parts = self.text(name).split(',').filter(|part| !part.is_empty());
        let number = |part: &str| {
            part.parse().map_err(|_| Failure::invalid(format!("{name}: {part:?} is not an index")))
        };
        parts.map(number).collect()
    }

    /// The response, or that of the failure.
    pub(crate) fn respond(options: &PageOptions, result: Result<Response, Failure>) -> Response {
        result.unwrap_or_else(|failure| failure.respond(options))
    }
}

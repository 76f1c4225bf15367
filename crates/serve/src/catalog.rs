//! The catalogue of THREDDS, version 1.0: `/catalog.xml`, and `/catalog/FOLDER/catalog.xml`.
use crate::{Entry, EntryKind, HttpError, ServerState, http};
use axum::Router;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderName};
use axum::response::Response;
use axum::routing::get;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use quick_xml::escape::escape;
use std::fmt::Write as _;

/// What a segment of a path has unencoded besides letters and digits.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

pub(crate) fn routes() -> Router<ServerState> {
    Router::new().route("/catalog.xml", get(top)).route("/catalog/{*path}", get(folder))
}

async fn top(state: State<ServerState>, headers: HeaderMap) -> Result<Response, HttpError> {
    catalog(&state, "", &headers).await
}

async fn folder(
    state: State<ServerState>,
    Path(path): Path<String>,
    headers: HeaderMap,
) -> Result<Response, HttpError> {
    let folder = path.strip_suffix("catalog.xml").filter(|rest| rest.is_empty() || rest.ends_with('/'));
    let folder =
        folder.ok_or_else(|| HttpError::not_found("the catalogue of a folder is FOLDER/catalog.xml"))?;
    catalog(&state, folder.trim_end_matches('/'), &headers).await
}

async fn catalog(state: &ServerState, folder: &str, headers: &HeaderMap) -> Result<Response, HttpError> {
    let entries = state.entries(folder).await?;
    let document = document(folder, &entries, &prefix(state, headers));
    Ok(http::bytes(headers, "application/xml", None, &document.into()))
}

/// The path of the server as clients see it.
fn prefix(state: &ServerState, headers: &HeaderMap) -> String {
    let given =
        headers.get(HeaderName::from_static("x-forwarded-prefix")).filter(|_| state.is_behind_proxy());
    let given = given.and_then(|prefix| prefix.to_str().ok()).unwrap_or_default().trim_matches('/');
    let is_path = given.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~/%".contains(&byte));
    let given = if given.is_empty() || !is_path { String::new() } else { format!("/{given}") };
    format!("{given}{}", state.base_path())
}

/// A path with its segments encoded.
pub(crate) fn encoded(path: &str) -> String {
    path.split('/')
        .map(|segment| utf8_percent_encode(segment, SEGMENT).to_string())
        .collect::<Vec<_>>()
        .join("/")
}

fn document(folder: &str, entries: &[Entry], prefix: &str) -> String {
    let title = if folder.is_empty() { "ncirrus" } else { folder };
    let prefix = escape(prefix);
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <catalog xmlns=\"http://www.unidata.ucar.edu/namespaces/thredds/InvCatalog/v1.0\" \
         xmlns:xlink=\"http://www.w3.org/1999/xlink\" name=\"{}\" version=\"1.0.1\">\n\
         <service name=\"all\" serviceType=\"Compound\" base=\"\">\n\
         <service name=\"dap2\" serviceType=\"OPENDAP\" base=\"{prefix}/dap/\"/>\n\
         <service name=\"dap4\" serviceType=\"DAP4\" base=\"{prefix}/dap/\"/>\n\
         <service name=\"nc\" serviceType=\"HTTPServer\" base=\"{prefix}/nc/\"/>\n\
         <service name=\"zarr\" serviceType=\"Zarr\" base=\"{prefix}/zarr/\"/>\n\
         </service>\n<dataset name=\"{}\" ID=\"{}\">\n\
         <metadata inherited=\"true\"><serviceName>all</serviceName></metadata>\n",
        escape(title),
        escape(title),
        escape(if folder.is_empty() { "/" } else { folder })
    );
    for entry in entries {
        let path = if folder.is_empty() { entry.name.clone() } else { format!("{folder}/{}", entry.name) };
        let (name, id, address) = (escape(&entry.name), escape(&path), encoded(&path));
        match entry.kind {
            EntryKind::Folder => {
                _ = writeln!(
                    text,
                    "<catalogRef xlink:title=\"{name}\" xlink:href=\"{prefix}/catalog/{address}/catalog.xml\" ID=\"{id}\" name=\"\"/>"
                );
            }
            EntryKind::Dataset(_) => {
                _ = writeln!(text, "<dataset name=\"{name}\" ID=\"{id}\" urlPath=\"{address}\">");
                if let Some(size) = entry.size {
                    _ = writeln!(text, "<dataSize units=\"bytes\">{size}</dataSize>");
                }
                text.push_str("</dataset>\n");
            }
        }
    }
    text + "</dataset>\n</catalog>\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_escaped_and_encoded() {
        let entry = |name: &str, kind| Entry {
            name: name.to_owned(),
            kind,
            size: Some(7),
            modified: None,
            address: String::new(),
        };
        let entries = [entry("a b&c.nc", EntryKind::Dataset(None)), entry("more", EntryKind::Folder)];
        let text = document("x/y", &entries, "/base");
        for part in [
            "urlPath=\"x/y/a%20b%26c.nc\"",
            "name=\"a b&amp;c.nc\"",
            "<dataSize units=\"bytes\">7</dataSize>",
            "xlink:href=\"/base/catalog/x/y/more/catalog.xml\"",
            "serviceType=\"OPENDAP\" base=\"/base/dap/\"",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }
}

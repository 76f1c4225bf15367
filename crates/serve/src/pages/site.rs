//! The files of the pages, as they are in the folder `site`.
use crate::{HttpError, ServerState, http};
use axum::extract::Path;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{MethodRouter, get};
use bytes::Bytes;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Name, type and content.
macro_rules! files {
    ($($name:literal $kind:ident),* $(,)?) => {
        &[$(($name, $kind, include_str!(concat!("site/", $name)))),*]
    };
}

const SCRIPT: &str = "text/javascript; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";
const IMAGE: &str = "image/svg+xml";
const PAGE: &str = "text/html; charset=utf-8";

const FILES: &[(&str, &str, &str)] = files![
    "api.js" SCRIPT,
    "app.js" SCRIPT,
    "axis.js" SCRIPT,
    "chart.js" SCRIPT,
    "coast.js" SCRIPT,
    "colours.js" SCRIPT,
    "dataset.js" SCRIPT,
    "dom.js" SCRIPT,
    "downloads.js" SCRIPT,
    "folder.js" SCRIPT,
    "format.js" SCRIPT,
    "icon.svg" IMAGE,
    "map.js" SCRIPT,
    "picture.js" SCRIPT,
    "plane.js" SCRIPT,
    "sliders.js" SCRIPT,
    "state.js" SCRIPT,
    "storage.js" SCRIPT,
    "style.css" STYLE,
    "tiles.js" SCRIPT,
    "variable.js" SCRIPT,
];

const INDEX: &str = include_str!("site/index.html");

/// The only page; what it shows is in the fragment of its address.
pub(super) async fn start(headers: HeaderMap) -> Response {
    respond(&headers, PAGE, INDEX)
}

/// Links of the page are relative to an address that ends with a slash. So is this one: a proxy may have changed the path.
pub(super) async fn to_start() -> Redirect {
    Redirect::permanent("view/")
}

/// The address above all routes: browsers are led to the pages, `to` relative to it. Programs find nothing here.
pub(crate) fn front(to: String) -> MethodRouter<ServerState> {
    get(move |headers: HeaderMap| async move {
        let mut response = if accepts_pages(&headers) {
            Redirect::temporary(&to).into_response()
        } else {
            HttpError::not_found("no such page").into_response()
        };
        response.headers_mut().insert(header::VARY, HeaderValue::from_static("accept"));
        response
    })
}

/// Whether a request is one of a browser for a page (RFC 9110, 12.5.1). Programs accept everything, or nothing in particular.
fn accepts_pages(headers: &HeaderMap) -> bool {
    let lists = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let mut ranges = lists.flat_map(|list| list.split(','));
    ranges.any(|range| {
        let mut parts = range.split(';').map(str::trim);
        let is_page = parts.next().is_some_and(|kind| kind.eq_ignore_ascii_case("text/html"));
        let is_refused = parts.any(|part| part.strip_prefix("q=").is_some_and(|q| q.parse() == Ok(0.0)));
        is_page && !is_refused
    })
}

pub(super) async fn file(Path(name): Path<String>, headers: HeaderMap) -> Result<Response, HttpError> {
    let found = FILES.iter().find(|(known, _, _)| *known == name);
    let (_, kind, content) = found.ok_or_else(|| HttpError::not_found("no such file"))?;
    Ok(respond(&headers, kind, content))
}

/// A new version of the program has the same addresses: browsers ask whether the content changed.
fn respond(headers: &HeaderMap, kind: &'static str, content: &'static str) -> Response {
    let mut hasher = DefaultHasher::new();
    content.hash(&mut hasher);
    let etag = format!("\"{:016x}\"", hasher.finish());
    let unchanged = http::unchanged(headers, Some(&etag));
    unchanged
        .unwrap_or_else(|| http::bytes(headers, kind, Some(&etag), &Bytes::from_static(content.as_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn browsers_are_told_from_programs_by_what_they_accept() {
        let accepts = |accept: &'static str| {
            accepts_pages(&HeaderMap::from_iter([(header::ACCEPT, HeaderValue::from_static(accept))]))
        };
        for browser in [
            "text/html",
            "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
            "a/b, TEXT/HTML;q=0.1",
        ] {
            assert!(accepts(browser), "{browser}");
        }
        for program in
            ["*/*", "", "application/json", "text/html;q=0", "text/htmlx", "text/html; level=1; q=0.0"]
        {
            assert!(!accepts(program), "{program}");
        }
        assert!(!accepts_pages(&HeaderMap::new()));
    }

    #[test]
    fn every_file_of_the_folder_is_served_and_names_no_other_host() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/pages/site");
        let mut names: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.retain(|name| name != "index.html");
        names.sort();
        assert_eq!(names, FILES.iter().map(|(name, _, _)| (*name).to_owned()).collect::<Vec<_>>());
        for (name, _, content) in FILES.iter().chain([&("index.html", PAGE, INDEX)]) {
            let text = content.replace("http://www.w3.org/2000/svg", "");
            assert!(!text.contains("http://") && !text.contains("https://"), "{name}");
            assert!(!text.contains("innerHTML") && !text.contains("style=\""), "{name}");
        }
    }
}

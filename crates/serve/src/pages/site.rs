//! The files of the pages, as they are in the folder `site`.
use crate::HttpError;
use crate::ServerState;
use axum::extract::{Path, State};
use axum::http::{HeaderName, header};
use axum::response::{IntoResponse, Redirect, Response};

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
pub(super) async fn start() -> Response {
    respond(PAGE, INDEX)
}

/// Links of the page are relative to an address that ends with a slash.
pub(super) async fn to_start(State(state): State<ServerState>) -> Redirect {
    Redirect::permanent(&format!("{}/view/", state.base_path()))
}

pub(super) async fn file(Path(name): Path<String>) -> Result<Response, HttpError> {
    let found = FILES.iter().find(|(known, _, _)| *known == name);
    let (_, kind, content) = found.ok_or_else(|| HttpError::not_found("no such file"))?;
    Ok(respond(kind, content))
}

fn respond(kind: &'static str, content: &'static str) -> Response {
    // A new version of the program has the same addresses.
    let headers: [(HeaderName, &str); 2] =
        [(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, "no-cache")];
    (headers, content).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

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

//! Entry points of the fuzz targets (the folder `fuzz` of the project). They are not an interface for other programs, and
//! change without notice. Each returns for any input, or panics because a law of its parser does not hold.
use crate::compress::ContentCoding;
use crate::nc::query::SubsetQuery;
use crate::zarr::key::KeyForm;
use crate::{PageOptions, Server, ServerBuilder, ServerLimits, http, pages};
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::ConnectInfo;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode, Uri, header};
use ncirrus::Session;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};
use tower::ServiceExt;

/// Bytes of a response that are looked at.
const RESPONSE: usize = 4 << 20;

/// Headers of a request, a line each: ranges, tags, codings.
pub fn headers(data: &[u8]) {
    let headers = header_lines(data.split(|byte| *byte == b'\n'));
    let etag = Some("\"a\"");
    for len in [0, 1, 10, u64::MAX] {
        if let Some(Some(range)) = http::range_of(&headers, etag, len) {
            assert!(range.start < range.end && range.end <= len, "{range:?} of {len}");
        }
    }
    if let Some(response) = http::unchanged(&headers, etag) {
        assert_eq!(response.status(), StatusCode::NOT_MODIFIED);
        assert!(headers.contains_key(header::IF_NONE_MATCH));
    }
    assert!(ContentCoding::preferred(&headers).is_none() || headers.contains_key(header::ACCEPT_ENCODING));
}

fn header_lines<'a>(lines: impl Iterator<Item = &'a [u8]>) -> HeaderMap {
    let header = |line: &[u8]| {
        let at = line.iter().position(|byte| *byte == b':')?;
        let name = HeaderName::from_bytes(line.get(..at)?).ok()?;
        let value = HeaderValue::from_bytes(line.get(at + 1..)?.trim_ascii()).ok()?;
        Some((name, value))
    };
    let mut headers = HeaderMap::new();
    for (name, value) in lines.take(32).filter_map(header) {
        headers.append(name, value);
    }
    headers
}

/// The key of a chunk, for arrays of several ranks: no other key names the same chunk.
pub fn chunk_key(key: &str) {
    for form in [KeyForm::V3, KeyForm::V2('.'), KeyForm::V2('/')] {
        for rank in 0..5 {
            if let Some(cell) = form.parse(key, rank) {
                assert_eq!(written(form, &cell), key, "{form:?}");
            }
        }
    }
}

fn written(form: KeyForm, cell: &[u64]) -> String {
    let numbers = |separator: &str| cell.iter().map(u64::to_string).collect::<Vec<_>>().join(separator);
    match (form, cell) {
        (KeyForm::V3, []) => "c".to_owned(),
        (KeyForm::V2(_), []) => "0".to_owned(),
        (KeyForm::V3, _) => format!("c/{}", numbers("/")),
        (KeyForm::V2(separator), _) => numbers(&separator.to_string()),
    }
}

/// A server of a folder, without a network.
pub struct FuzzServer {
    server: Server,
    router: Router,
}

impl FuzzServer {
    /// A server of the datasets in a folder, and of the pages that show them.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub fn new(folder: &str, session: &Session) -> ncirrus::Result<Self> {
        let limits = ServerLimits {
            response_bytes: RESPONSE as u64,
            response_time: Duration::from_secs(60),
            recheck: Duration::from_secs(3600),
            ..ServerLimits::default()
        };
        let server = ServerBuilder::new([folder.to_owned()], session)
            .limits(limits)
            .behind_proxy(true)
            .mount(pages::routes(PageOptions::default()))
            .build()?;
        let router = server.router();
        Ok(Self { server, router })
    }

    /// The path of a request: what is found has a listed name, and the rest of the path is what follows it.
    pub fn path(&self, path: &str) {
        let published = self.server.state().published();
        let joined =
            |path: &str| path.split('/').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("/");
        match published.open(path) {
            Ok((dataset, rest)) => {
                assert!(!dataset.name().split('/').any(|part| part.starts_with('.')), "{path:?}");
                assert_eq!(joined(&format!("{}/{rest}", dataset.name())), joined(path));
            }
            Err(error) => assert_eq!(error.status, StatusCode::NOT_FOUND, "{path:?}: {error}"),
        }
        if let Err(error) = published.entries(path) {
            assert_eq!(error.status, StatusCode::NOT_FOUND, "{path:?}: {error}");
        }
    }

    /// The query of a subset of a dataset: each selection is one of its variable.
    pub fn subset(&self, name: &str, query: &str) {
        let Ok(parsed) = SubsetQuery::parse(query) else { return };
        let Ok((served, _)) = self.server.state().published().open(name) else { return };
        let Ok(boxes) = parsed.boxes(served.dataset()) else { return };
        for select in &boxes.selections {
            let variable = served.dataset().variable(&select.path);
            let resolved = variable.and_then(|variable| select.resolve(&variable.shape()));
            assert!(resolved.is_ok(), "{query:?}: {select:?}");
        }
    }

    /// The response to a request: a line `METHOD TARGET`, and lines of headers. `None` if that is not a request, as HTTP has it.
    /// The body is `None` if it was cut.
    pub fn respond(&self, data: &[u8]) -> Option<(u16, Option<Vec<u8>>)> {
        thread_local! {
            static RUNTIME: Option<Runtime> = Builder::new_current_thread().enable_all().build().ok();
        }
        let mut lines = data.split(|byte| *byte == b'\n');
        let (method, target) = std::str::from_utf8(lines.next()?).ok()?.split_once(' ')?;
        let mut request = Request::new(Body::empty());
        *request.method_mut() = Method::from_bytes(method.as_bytes()).ok()?;
        *request.uri_mut() = Uri::try_from(target).ok()?;
        *request.headers_mut() = header_lines(lines);
        request.extensions_mut().insert(ConnectInfo(SocketAddr::from(([127, 0, 0, 1], 9))));
        let router = self.router.clone();
        RUNTIME.with(|runtime| {
            runtime.as_ref()?.block_on(async {
                let Ok(response) = router.oneshot(request).await;
                let (parts, body) = response.into_parts();
                let body = to_bytes(body, 16 * RESPONSE).await.ok();
                Some((parts.status.as_u16(), body.map(Vec::from)))
            })
        })
    }
}

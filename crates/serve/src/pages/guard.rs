//! Which requests are served, and the headers that keep the pages to themselves.
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

/// Everything comes from this server: no other host, no inline script or style, no frame.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Adds the headers of all pages. The address of a page may hold a secret: no other server receives it as a referrer.
pub(super) async fn with_headers(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.insert("cross-origin-resource-policy", HeaderValue::from_static("same-origin"));
    headers.insert("cross-origin-opener-policy", HeaderValue::from_static("same-origin"));
    response
}

/// Rejects requests whose host is not the loopback interface at this port: a page of another site, whose name was made to
/// lead here, sends the name of that site (DNS rebinding).
pub(super) async fn only_loopback(port: u16, request: Request, next: Next) -> Response {
    if is_own_host(request.headers(), port) {
        return next.run(request).await;
    }
    (StatusCode::MISDIRECTED_REQUEST, "the host is not this server\n").into_response()
}

fn is_own_host(headers: &HeaderMap, port: u16) -> bool {
    let mut hosts = headers.get_all(header::HOST).iter();
    let (Some(host), None) = (hosts.next(), hosts.next()) else { return false };
    let Some((name, given)) = host.to_str().ok().and_then(|host| host.rsplit_once(':')) else { return false };
    given == port.to_string() && (name == "127.0.0.1" || name.eq_ignore_ascii_case("localhost"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_loopback_interface_at_the_port_is_the_own_host() {
        let is_own = |hosts: &[&'static str]| {
            let mut headers = HeaderMap::new();
            for host in hosts {
                headers.append(header::HOST, HeaderValue::from_static(host));
            }
            is_own_host(&headers, 8080)
        };
        for own in ["127.0.0.1:8080", "localhost:8080", "LocalHost:8080"] {
            assert!(is_own(&[own]), "{own}");
        }
        for other in [
            "127.0.0.1",
            "127.0.0.1:80",
            "evil.example:8080",
            "localhost.evil.example:8080",
            "127.0.0.1.evil.example:8080",
            "",
            ":8080",
        ] {
            assert!(!is_own(&[other]), "{other}");
        }
        assert!(!is_own(&[]));
        assert!(!is_own(&["127.0.0.1:8080", "evil.example:8080"]));
    }
}

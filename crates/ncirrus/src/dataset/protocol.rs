//! Plain addresses of web servers that turn out to be datasets of OPeNDAP (docs/spec/dap.md 1.3).
use crate::{Detail, Error, ErrorKind};
use ncirrus_model::Found;
use ncirrus_store::Url;

/// The addresses that name each protocol, if nothing that a file or a tree could be is at a plain address: a server may
/// compute what is there.
pub(super) fn addresses(url: &str, error: &Error) -> Vec<String> {
    let may_be_computed = Url::parse(url).is_ok_and(|url| {
        let is_plain = url.is_http() && url.fragment().modes().is_empty();
        // A query may be a signature, which only allows what it was made for.
        is_plain && (url.query().is_none() || error.kind() == ErrorKind::NotFound)
    });
    let is_nothing = matches!(
        error.kind(),
        ErrorKind::NotFound | ErrorKind::Unsupported | ErrorKind::Denied | ErrorKind::Io { retryable: false }
    );
    // Some servers have a page for people at the address itself.
    let is_page = error.detail() == Some(&Detail::Found(Found::Page));
    if !(cfg!(feature = "http") && may_be_computed && (is_nothing || is_page)) {
        return Vec::new();
    }
    let mark = if url.contains('#') { '&' } else { '#' };
    ["dap4", "dap2"].map(|protocol| format!("{url}{mark}{protocol}")).into()
}

#[cfg(all(test, feature = "http"))]
mod tests {
    use super::*;

    #[test]
    fn only_plain_addresses_of_web_servers_may_be_computed() {
        let nothing = Error::not_found("no such object");
        let is_tried = |url: &str, error: &Error| !addresses(url, error).is_empty();
        assert_eq!(addresses("https://host/x", &nothing), ["https://host/x#dap4", "https://host/x#dap2"]);
        assert_eq!(
            addresses("https://host/x#view=netcdf-c", &nothing)[0],
            "https://host/x#view=netcdf-c&dap4"
        );
        for url in
            ["https://host/x#mode=zarr", "https://host/x#dap2", "s3://bucket/x", "/data/x", "file:///x"]
        {
            assert!(!is_tried(url, &nothing), "{url}");
        }
        let denied = Error::new(ErrorKind::Denied, "no");
        let page = Error::malformed("an HTML page").with_detail(Detail::Found(Found::Page));
        assert!(is_tried("https://host/x", &page));
        assert!(is_tried("https://host/x", &denied) && !is_tried("https://host/x?signature=1", &denied));
        assert!(!is_tried("https://host/x", &Error::malformed("a damaged file")));
    }
}

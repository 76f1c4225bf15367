//! Plain addresses of web servers that turn out to be datasets of OPeNDAP (docs/spec/dap.md 1.3).
use super::Session;
use crate::open::PROTOCOLS;
use futures_util::future::join_all;
use ncirrus_layout::{Detail, Error, ErrorKind, Found, Result};
use ncirrus_store::Url;

/// The addresses that name each protocol, if nothing that a file or a tree could be is at a plain address: a server may
/// compute what is there. `error` is why nothing opens at the address itself.
fn computed_addresses(url: &Url, error: &Error) -> Vec<(&'static str, Url)> {
    let is_plain = url.is_http() && url.fragment().modes().is_empty();
    // A query may be a signature, which only allows what it was made for.
    let may_be_computed = is_plain && (url.query().is_none() || error.kind() == ErrorKind::NotFound);
    let is_nothing = matches!(
        error.kind(),
        ErrorKind::NotFound | ErrorKind::Unsupported | ErrorKind::Denied | ErrorKind::Io { retryable: false }
    );
    // Some servers have a page for people at the address itself.
    let is_page = error.detail() == Some(&Detail::Found(Found::Page));
    if !(may_be_computed && (is_nothing || is_page)) {
        return Vec::new();
    }
    PROTOCOLS.into_iter().map(|protocol| (protocol, url.with_mode(protocol))).collect()
}

impl Session {
    /// Opens the dataset that a server computes for a plain address. All protocols are tried together, which takes one trip,
    /// and the preferred one that has a dataset is taken; where that of the host is known, it is tried first. `error` is why
    /// nothing opens at the address itself.
    ///
    /// # Errors
    /// That error, if there is none.
    pub async fn open_computed<T, F>(&self, url: &Url, error: Error, open: impl Fn(Url) -> F) -> Result<T>
    where
        F: Future<Output = Result<T>>,
    {
        let (known, others): (Vec<_>, Vec<_>) = {
            let known = self.shared.protocols.find(url);
            computed_addresses(url, &error).into_iter().partition(|(protocol, _)| known == Some(*protocol))
        };
        for addresses in [known, others] {
            let tried = join_all(addresses.iter().map(|(_, address)| open(address.clone()))).await;
            let mut opened = addresses
                .iter()
                .zip(tried)
                .filter_map(|((protocol, _), opened)| Some((protocol, opened.ok()?)));
            if let Some((protocol, opened)) = opened.next() {
                self.shared.protocols.note(url, protocol);
                return Ok(opened);
            }
        }
        Err(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tried(url: &str, error: &Error) -> Vec<Url> {
        computed_addresses(&Url::parse(url).unwrap(), error).into_iter().map(|(_, url)| url).collect()
    }

    #[test]
    fn only_plain_addresses_of_web_servers_may_be_computed() {
        let nothing = Error::not_found("no such object");
        for (plain, protocols) in [
            ("https://host/x", ["https://host/x#dap4", "https://host/x#dap2"]),
            ("https://host/x?a[0]", ["https://host/x?a[0]#dap4", "https://host/x?a[0]#dap2"]),
            (
                "https://host/x#view=netcdf-c",
                ["https://host/x#dap4&view=netcdf-c", "https://host/x#dap2&view=netcdf-c"],
            ),
        ] {
            assert_eq!(tried(plain, &nothing), protocols.map(|url| Url::parse(url).unwrap()), "{plain}");
        }
        let is_tried = |url: &str, error: &Error| !tried(url, error).is_empty();
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

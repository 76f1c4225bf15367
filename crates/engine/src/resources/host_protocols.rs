//! Which protocol the datasets of a host turned out to have.
use ncirrus_layout::LockExt;
use ncirrus_store::Url;
use std::collections::HashMap;
use std::sync::Mutex;

/// The mode word of each host whose plain addresses are datasets that it computes.
#[derive(Debug, Default)]
pub(crate) struct HostProtocols(Mutex<HashMap<Host, &'static str>>);

/// Name and port.
type Host = (String, Option<u16>);

/// Hosts that are remembered: they are forgotten rather than many.
const MAX_HOSTS: usize = 4096;

impl HostProtocols {
    /// The protocol of the host of an address, if it is known.
    pub(crate) fn find(&self, url: &Url) -> Option<&'static str> {
        self.0.guard().get(&host(url)).copied()
    }

    /// Notes that a plain address is a dataset of that protocol.
    pub(crate) fn note(&self, url: &Url, protocol: &'static str) {
        let mut known = self.0.guard();
        if known.len() >= MAX_HOSTS {
            known.clear();
        }
        known.insert(host(url), protocol);
    }
}

fn host(url: &Url) -> Host {
    (url.host().to_owned(), url.port())
}

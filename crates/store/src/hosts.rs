//! Which hosts may be reached for an address.
use crate::url::{Scheme, Url};
use std::collections::BTreeSet;

/// Which hosts may be reached for an address. Addresses that a dataset names which came over the network must not lead into the
/// reader's own network: to a service of a cloud machine, or a device behind its firewall.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HostAccess {
    /// All: the user gave the address, or a file on this machine names it.
    #[default]
    Any,
    /// Hosts of public networks; those of private ones only if the dataset that names the address is at one, too: its host, none
    /// for one in an object store.
    NamedBy(Option<String>),
}

impl HostAccess {
    /// That for addresses that the dataset at an address names: `s3://server/bucket/key` names a server, too.
    #[must_use]
    pub fn of_dataset_at(&self, base: &Url) -> Self {
        match base.scheme() {
            Scheme::File | Scheme::Memory => self.clone(),
            _ if base.is_http() || base.is_computed() => Self::NamedBy(Some(base.host().to_owned())),
            _ => {
                let has_server = base.bucket().ok().flatten().is_some_and(|bucket| bucket.endpoint.is_some());
                Self::NamedBy(has_server.then(|| base.host().to_owned()))
            }
        }
    }

    /// Whether all hosts may be reached.
    pub fn is_any(&self) -> bool {
        *self == Self::Any
    }
}

/// Names of hosts in a text, separated by commas or blanks.
pub fn hosts_in(text: &str) -> BTreeSet<String> {
    let names = text.split([',', ' ', ';']).map(|name| name.trim().to_ascii_lowercase());
    names.filter(|name| !name.is_empty()).collect()
}

/// Whether a list of hosts has a host: its name, or with `.example.org` all names below that domain. The list is in lower
/// case.
pub fn has_host(hosts: &BTreeSet<String>, host: &str) -> bool {
    let host = host.to_ascii_lowercase();
    let mut domains = host.match_indices('.').filter_map(|(at, _)| host.get(at..));
    hosts.contains(&host) || domains.any(|domain| hosts.contains(domain))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_domain_is_all_names_below_it() {
        let hosts = hosts_in("a.org, .B.org, 10.0.0.1");
        for (host, is_there) in [
            ("a.org", true),
            ("A.ORG", true),
            ("x.a.org", false),
            ("x.b.org", true),
            ("y.x.b.org", true),
            ("b.org", false),
            ("xb.org", false),
            ("10.0.0.1", true),
            ("", false),
        ] {
            assert_eq!(has_host(&hosts, host), is_there, "{host}");
        }
    }

    #[test]
    fn what_comes_over_the_network_is_not_trusted_with_private_hosts() {
        let of = |address: &str| HostAccess::Any.of_dataset_at(&Url::parse(address).unwrap());
        assert_eq!(of("/a/b.json"), HostAccess::Any);
        assert_eq!(of("memory://a/b"), HostAccess::Any);
        assert_eq!(of("https://h.org/a"), HostAccess::NamedBy(Some("h.org".to_owned())));
        assert_eq!(of("s3://bucket/a"), HostAccess::NamedBy(None));
        assert_eq!(of("s3://10.0.0.1:9000/bucket/a"), HostAccess::NamedBy(Some("10.0.0.1".to_owned())));
        assert_eq!(of("s3://minio:9000/bucket/a"), HostAccess::NamedBy(Some("minio".to_owned())));
        assert_eq!(
            hosts_in("a.org, 10.0.0.1  B"),
            BTreeSet::from(["10.0.0.1", "a.org", "b"].map(str::to_owned))
        );
    }
}

//! The context of requests to object stores.
use super::codes::MfaCodes;
use super::known::CredentialRegistry;
use ncirrus_http::NetworkContext;
use ncirrus_store::StoreOptions;

/// The context of requests to object stores: the network, cached credentials, and the callback for MFA codes.
#[derive(Debug, Clone, Default)]
pub struct CloudContext {
    /// Options, configuration, connections.
    pub network: NetworkContext,
    /// Facts about buckets, and credentials that are still valid.
    pub identities: CredentialRegistry,
    /// Provides the codes for profiles with `mfa_serial`; none by default.
    pub codes: MfaCodes,
}

impl From<NetworkContext> for CloudContext {
    fn from(network: NetworkContext) -> Self {
        Self { network, ..Self::default() }
    }
}

impl From<StoreOptions> for CloudContext {
    fn from(options: StoreOptions) -> Self {
        NetworkContext::from(options).into()
    }
}

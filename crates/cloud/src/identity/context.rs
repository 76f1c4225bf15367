//! What requests to object stores go by.
use super::{CredentialRegistry, MfaCodes};
use ncirrus_http::NetworkContext;
use ncirrus_store::StoreOptions;

/// What requests to object stores go by: the network, credentials that are kept, and who types codes.
#[derive(Debug, Clone, Default)]
pub struct CloudContext {
    /// Options, configuration, connections.
    pub network: NetworkContext,
    /// What was learnt of buckets, and credentials that are still good.
    pub identities: CredentialRegistry,
    /// Who types the codes that profiles with `mfa_serial` want; nobody unless given.
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

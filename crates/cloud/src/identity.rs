//! The credentials, region and server used for a bucket, and why (`docs/credentials.md`).
mod amazon;
mod azure;
mod codes;
mod context;
mod fetch;
mod google;
mod known;
mod place;
mod shared_key;
mod sign;
mod source;
#[cfg(test)]
mod tests;

pub use codes::MfaCodes;
pub use context::CloudContext;
pub(crate) use fetch::{FixedConnector, escaped};
pub(crate) use google::file as google_file;
pub use known::CredentialRegistry;
pub(crate) use shared_key::SharedKey;
pub(crate) use sign::BucketSigner;
use source::CredentialSource;

use crate::profile::ProfileFiles;
use ncirrus_layout::Result;
use ncirrus_store::{BucketUrl, CloudProvider, Url, UrlFragment};

/// The credentials, region and server used for a bucket, and the reason for each.
#[derive(Debug, Clone)]
pub struct BucketIdentity {
    /// The server.
    pub endpoint: SourcedValue<String>,
    /// Region of the bucket, if the provider has regions.
    pub region: Option<SourcedValue<String>>,
    /// Profile of Amazon's files that was named, or `default` if that is used.
    pub profile: Option<SourcedValue<String>>,
    /// The source of the credentials, without secrets.
    pub credentials: SourcedValue<String>,
    /// Whether requests are not signed.
    pub anonymous: bool,
    /// Whether a read that is denied is retried once without a signature.
    pub unsigned_retry: bool,
    /// Whether you pay for requests to requester-pays buckets.
    pub requester_pays: Option<SourcedValue<bool>>,
    /// What was ignored.
    pub warnings: Vec<String>,
    pub(crate) source: CredentialSource,
}

/// A value and why it is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourcedValue<T> {
    /// The value.
    pub value: T,
    /// Why it is used.
    pub why: String,
}

impl<T> SourcedValue<T> {
    fn new(value: impl Into<T>, why: impl Into<String>) -> Self {
        Self { value: value.into(), why: why.into() }
    }
}

impl BucketIdentity {
    /// The credentials that would be used for an address; `None` if it is not in an object store. No request is sent.
    ///
    /// # Errors
    /// As for opening the address: profiles that do not exist, settings that contradict each other.
    pub fn of(url: &Url, context: &CloudContext) -> Result<Option<(BucketUrl, Self)>> {
        let Some(bucket) = context.network.config.bucket(url)? else { return Ok(None) };
        let identity = Self::resolve(&bucket, url.fragment(), context)?;
        Ok(Some((bucket, identity)))
    }

    /// The credentials used for a bucket.
    pub(crate) fn resolve(
        bucket: &BucketUrl,
        fragment: &UrlFragment,
        context: &CloudContext,
    ) -> Result<Self> {
        match bucket.provider {
            CloudProvider::S3 => {
                let profiles = ProfileFiles::read(context.network.config.environment());
                amazon::IdentityQuery { bucket, fragment, context, profiles: &profiles }.resolve()
            }
            CloudProvider::Gcs => Ok(google::resolve(bucket, context)),
            CloudProvider::Azure => Ok(azure::resolve(bucket, context)),
        }
    }
}

/// Whether the program gave a setting whose name contains one of these parts.
fn given(context: &CloudContext, parts: &[&str]) -> bool {
    let has_part = |name: &str| parts.iter().any(|part| name.to_ascii_lowercase().contains(part));
    context.network.options.settings.keys().any(|name| has_part(name))
}

/// A setting given by the program, or a variable with that name in upper case.
fn setting(context: &CloudContext, name: &str) -> Option<(String, String)> {
    let given = context.network.options.settings.iter().find(|(key, _)| key.eq_ignore_ascii_case(name));
    if let Some((_, value)) = given {
        return Some((value.clone(), "the program".to_owned()));
    }
    let variable = name.to_ascii_uppercase();
    let value = context.network.config.environment().variable(&variable)?.to_owned();
    Some((value, variable))
}

/// The credentials that the provider's own client finds, or anonymous.
fn of_provider(endpoint: SourcedValue<String>, what: Option<&'static str>, why: String) -> BucketIdentity {
    let source = what.map_or(CredentialSource::Nobody, CredentialSource::Provider);
    BucketIdentity {
        endpoint,
        region: None,
        profile: None,
        credentials: SourcedValue::new(source.to_string(), why),
        anonymous: what.is_none(),
        unsigned_retry: false,
        requester_pays: None,
        warnings: Vec::new(),
        source,
    }
}

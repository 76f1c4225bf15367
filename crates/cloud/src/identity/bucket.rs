//! What is used for a bucket, and what the program set.
use super::context::CloudContext;
use super::source::CredentialSource;

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
    pub(super) fn new(value: impl Into<T>, why: impl Into<String>) -> Self {
        Self { value: value.into(), why: why.into() }
    }
}

/// Whether the program gave a setting whose name contains one of these parts.
pub(super) fn given(context: &CloudContext, parts: &[&str]) -> bool {
    let has_part = |name: &str| parts.iter().any(|part| name.to_ascii_lowercase().contains(part));
    context.network.options.settings.keys().any(|name| has_part(name))
}

/// A setting given by the program, or a variable with that name in upper case.
pub(super) fn setting(context: &CloudContext, name: &str) -> Option<(String, String)> {
    let given = context.network.options.settings.iter().find(|(key, _)| key.eq_ignore_ascii_case(name));
    if let Some((_, value)) = given {
        return Some((value.clone(), "the program".to_owned()));
    }
    let variable = name.to_ascii_uppercase();
    let value = context.network.config.environment().variable(&variable)?.to_owned();
    Some((value, variable))
}

/// The credentials that the provider's own client finds, or anonymous.
pub(super) fn of_provider(
    endpoint: SourcedValue<String>,
    what: Option<&'static str>,
    why: String,
) -> BucketIdentity {
    let source = what.map_or(CredentialSource::Anonymous, CredentialSource::Provider);
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

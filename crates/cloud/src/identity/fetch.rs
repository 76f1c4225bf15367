//! Credentials that are fetched, cached while they are valid, and renewed.
mod answer;
mod cached;
mod mfa;
mod process;
mod sso;
mod sts;

pub(super) use answer::FreshCredentials;

use super::codes::MfaCodes;
use super::source::{AssumedRole, CredentialSource};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use ncirrus_config::ProcessEnvironment;
use ncirrus_layout::{Error, ErrorKind, Result};
use object_store::aws::{AmazonS3Builder, AwsCredential, AwsCredentialProvider};
use object_store::client::{HttpClient, HttpConnector};
use object_store::{ClientOptions, RetryConfig};
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};
use tokio::sync::Mutex;

/// Credentials from one source.
pub(crate) struct CredentialCache {
    source: CredentialSource,
    token_client: TokenClient,
    kept: Mutex<CachedCredentials>,
    /// The provider's own way to fetch them.
    provider: Option<AwsCredentialProvider>,
}

/// The result of the last time that credentials were fetched.
#[derive(Default)]
struct CachedCredentials {
    fresh: Option<FreshCredentials>,
    failed: Option<(Instant, Error)>,
}

/// How to reach services that provide credentials.
#[derive(Clone)]
pub(crate) struct TokenClient {
    pub(super) client: HttpClient,
    pub(super) environment: ProcessEnvironment,
    /// Provides MFA codes.
    pub(super) codes: MfaCodes,
    /// Region if a source has none.
    pub(super) region: String,
}

/// Credentials are renewed when they are valid for less than this.
const MARGIN: Duration = Duration::from_secs(300);

/// How long a failure is repeated without a new attempt.
const FAILED: Duration = Duration::from_secs(1);

impl CredentialCache {
    pub(super) fn new(source: &CredentialSource, token_client: TokenClient) -> Self {
        let provider = own_provider(source, &token_client);
        Self { source: source.clone(), token_client, kept: Mutex::default(), provider }
    }

    /// Valid credentials; `None` if the machine has none and needs none.
    pub(super) async fn open(&self) -> Result<Option<Arc<AwsCredential>>> {
        if let Some(provider) = &self.provider {
            return match (provider.get_credential().await, &self.source) {
                (Ok(credential), _) => Ok(Some(credential)),
                (Err(_), CredentialSource::Instance { must_be: false }) => Ok(None),
                (Err(error), source) => Err(denied(source, &error)),
            };
        }
        let since = Instant::now();
        let mut kept = self.kept.lock().await;
        if let Some(fresh) = kept.fresh.as_ref().filter(|fresh| fresh.is_good(SystemTime::now() + MARGIN)) {
            return Ok(Some(Arc::clone(&fresh.credential)));
        }
        // A task that waited for another one's attempt does not ask a user or a service again, nor does the search
        // for the dataset at several places.
        let is_fresh = |at: &Instant| *at > since || at.elapsed() < FAILED;
        if let Some((_, error)) = kept.failed.as_ref().filter(|(at, _)| is_fresh(at)) {
            return Err(error.clone());
        }
        match fetch(&self.source, &self.token_client).await {
            Ok(fetched) => {
                let credential = fetched.as_ref().map(|fresh| Arc::clone(&fresh.credential));
                *kept = CachedCredentials { fresh: fetched, failed: None };
                Ok(credential)
            }
            Err(error) => {
                kept.failed = Some((Instant::now(), error.clone()));
                Err(error)
            }
        }
    }

    /// Discards what is cached: a server reported that it has expired.
    pub(super) async fn refused(&self, credential: &AwsCredential) {
        let mut kept = self.kept.lock().await;
        if kept.fresh.as_ref().is_some_and(|fresh| *fresh.credential == *credential) {
            kept.fresh = None;
        }
    }

    /// Whether other credentials may be obtained when these are rejected.
    pub(super) fn can_renew(&self) -> bool {
        match &self.source {
            CredentialSource::Keys(keys) => keys.profile.is_some(),
            source => matches!(
                source,
                CredentialSource::Process(_) | CredentialSource::Sso(_) | CredentialSource::Role(_)
            ),
        }
    }
}

fn fetch<'a>(
    source: &'a CredentialSource,
    token_client: &'a TokenClient,
) -> BoxFuture<'a, Result<Option<FreshCredentials>>> {
    async move {
        match source {
            CredentialSource::Anonymous | CredentialSource::Provider(_) => Ok(None),
            CredentialSource::Keys(keys) => {
                Ok(Some(FreshCredentials::lasting(&keys.current(&token_client.environment))))
            }
            CredentialSource::Process(command) => process::run(command).await.map(Some),
            CredentialSource::Sso(sso) => sso::fetch(sso, token_client).await.map(Some),
            CredentialSource::Role(role) => take_on(role, token_client).await.map(Some),
            CredentialSource::WebIdentity { .. }
            | CredentialSource::Container
            | CredentialSource::Instance { .. } => {
                let Some(provider) = own_provider(source, token_client) else { return Ok(None) };
                let credential = provider.get_credential().await.map_err(|error| denied(source, &error))?;
                Ok(Some(FreshCredentials { credential, until: None }))
            }
        }
    }
    .boxed()
}

async fn take_on(role: &AssumedRole, token_client: &TokenClient) -> Result<FreshCredentials> {
    let Some(device) = &role.device else { return assume(role, None, token_client).await };
    if let Some(kept) = mfa::kept(role, token_client) {
        return Ok(kept);
    }
    let code = mfa::code(role, device, token_client).await?;
    let fresh = assume(role, Some(&code), token_client).await?;
    mfa::keep(role, token_client, &fresh);
    Ok(fresh)
}

async fn assume(
    role: &AssumedRole,
    code: Option<&str>,
    token_client: &TokenClient,
) -> Result<FreshCredentials> {
    match fetch(&role.base, token_client).await? {
        Some(base) => sts::assume(role, &base.credential, code, token_client).await,
        None => Err(Error::new(
            ErrorKind::Denied,
            format!("there are no credentials to assume role {} with", role.arn),
        )),
    }
}

/// What the provider's client fetches itself: tokens from files, containers, machines.
fn own_provider(source: &CredentialSource, token_client: &TokenClient) -> Option<AwsCredentialProvider> {
    use object_store::aws::AmazonS3ConfigKey as ConfigKey;
    let variable = |name: &str| token_client.environment.variable(name);
    let new = || {
        let builder = AmazonS3Builder::new().with_bucket_name("none").with_region(&token_client.region);
        let retry = RetryConfig { max_retries: 0, ..RetryConfig::default() };
        builder.with_retry(retry).with_http_connector(FixedConnector(token_client.client.clone()))
    };
    let set = |builder: AmazonS3Builder, key: ConfigKey, value: Option<&str>| match value {
        Some(value) => builder.with_config(key, value),
        None => builder,
    };
    let builder = match source {
        CredentialSource::WebIdentity { file, role, session } => {
            let file = token_client.environment.expanded(file).display().to_string();
            let builder = new()
                .with_config(ConfigKey::WebIdentityTokenFile, file)
                .with_config(ConfigKey::RoleArn, role);
            let builder = set(builder, ConfigKey::RoleSessionName, session.as_deref());
            set(builder, ConfigKey::StsEndpoint, variable("AWS_ENDPOINT_URL_STS"))
        }
        CredentialSource::Container => {
            let relative = variable("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
            let builder = set(new(), ConfigKey::ContainerCredentialsRelativeUri, relative);
            let full = variable("AWS_CONTAINER_CREDENTIALS_FULL_URI");
            let builder = set(builder, ConfigKey::ContainerCredentialsFullUri, full);
            let token = variable("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE");
            set(builder, ConfigKey::ContainerAuthorizationTokenFile, token)
        }
        CredentialSource::Instance { .. } => {
            set(new(), ConfigKey::MetadataEndpoint, variable("AWS_EC2_METADATA_SERVICE_ENDPOINT"))
        }
        _ => return None,
    };
    Some(Arc::clone(builder.build().ok()?.credentials()))
}

/// Provides the existing connections.
#[derive(Debug)]
pub(crate) struct FixedConnector(pub(crate) HttpClient);

impl HttpConnector for FixedConnector {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(self.0.clone())
    }
}

/// No credentials were obtained. The answer is not shown: it may be secret.
fn denied(source: &CredentialSource, error: &object_store::Error) -> Error {
    use std::error::Error as StdError;
    let mut cause: &dyn StdError = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    let reported: String = cause.to_string().chars().take(200).collect();
    let reported = if reported.contains("://") { "no answer".to_owned() } else { reported };
    Error::new(ErrorKind::Denied, format!("no credentials from {source}: {reported}"))
}

impl fmt::Debug for CredentialCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CredentialCache({})", self.source)
    }
}

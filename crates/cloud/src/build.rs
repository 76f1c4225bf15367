//! Creation of the providers' clients.
use crate::asking::BucketClient;
use crate::connector::{PooledConnector, PooledService};
use crate::identity::{BucketIdentity, BucketSigner, CloudContext, FixedConnector, SharedKey, google_file};
use ncirrus_config::TransferSettings;
use ncirrus_layout::{Error, Result};
use ncirrus_store::{BucketUrl, CloudProvider, UrlFragment};
use object_store::aws::{AmazonS3, AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::client::{HttpClient, HttpConnector};
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::list::PaginatedListStore;
use object_store::multipart::MultipartStore;
use object_store::{ClientOptions, ObjectStore, RetryConfig};
use std::str::FromStr;
use std::sync::Arc;

/// A client of a provider, through three interfaces.
pub(crate) struct ProviderClient {
    pub(crate) objects: Arc<dyn ObjectStore>,
    pub(crate) pages: Arc<dyn PaginatedListStore>,
    pub(crate) parts: Arc<dyn MultipartStore>,
    /// Identifies the credentials if they are not those of the environment: two users never share a cache.
    pub(crate) who: Option<String>,
    /// The server.
    pub(crate) server: String,
    /// For requests to S3-compatible stores that the client does not support.
    pub(crate) asking: Option<BucketClient>,
    /// The host's settings from the configuration.
    pub(crate) transfer: TransferSettings,
}

pub(crate) fn connect(
    bucket: &BucketUrl,
    fragment: &UrlFragment,
    context: &CloudContext,
) -> Result<ProviderClient> {
    let transfer = transfer(bucket, context);
    let context = &with_waits(context, &transfer);
    let identity = BucketIdentity::resolve(bucket, fragment, context)?;
    identity.warnings.iter().for_each(|warning| context.identities.note(warning.clone()));
    let service = context.network.service((&bucket.address(), AT_ONCE))?;
    let service = match &bucket.endpoint {
        Some(endpoint) => service.at_server(endpoint, &context.network),
        None => service,
    };
    let built = match bucket.provider {
        CloudProvider::S3 => amazon(bucket, &identity, context, HttpClient::new(PooledService(service)))
            .map(|(store, asking)| ProviderClient { asking, ..ProviderClient::of(store) }),
        CloudProvider::Gcs => {
            google(bucket, &identity, context, PooledConnector(service)).build().map(ProviderClient::of)
        }
        CloudProvider::Azure => {
            let builder = azure(bucket, &identity, context);
            let is_emulator = is_yes(builder.get_config_value(&AzureConfigKey::UseEmulator));
            if builder.get_config_value(&AzureConfigKey::AccountName).is_none() && !is_emulator {
                return Err(Error::invalid(NO_ACCOUNT));
            }
            let key = builder.get_config_value(&AzureConfigKey::AccessKey);
            let key = key.or_else(|| is_emulator.then(|| EMULATOR_KEY.to_owned()));
            let (client, known) = (HttpClient::new(PooledService(service)), context.identities.clone());
            let signer = SharedKey::new(client, key.as_deref(), known, &bucket.address());
            builder.with_http_connector(signer).build().map(ProviderClient::of)
        }
    };
    // The message names settings, not their values.
    let built = built.map_err(|error| Error::invalid(format!("object store cannot be used: {error}")))?;
    let (who, server) = (who(bucket, fragment, context), identity.endpoint.value);
    Ok(ProviderClient { who, server, transfer, ..built })
}

/// Concurrent requests to one bucket.
pub(crate) const AT_ONCE: usize = 64;

/// The key of every Azure emulator.
const EMULATOR_KEY: &str =
    "Eby8vdM02xNOcqFlUqwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

const NO_ACCOUNT: &str = "no storage account is given: use abfs://container@account.dfs.core.windows.net/key or set AZURE_STORAGE_ACCOUNT_NAME";

/// The configured settings of a bucket's host, by its alias or its address.
fn transfer(bucket: &BucketUrl, context: &CloudContext) -> TransferSettings {
    let by_alias = bucket.alias.as_ref().and_then(|alias| context.network.config.host(alias));
    let by_address = || Some(context.network.config.host_at(bucket.endpoint.as_ref()?)?.1);
    by_alias.or_else(by_address).map(|host| host.transfer.clone()).unwrap_or_default()
}

/// The context with the host's own timeouts.
fn with_waits(context: &CloudContext, transfer: &TransferSettings) -> CloudContext {
    let mut context = context.clone();
    let options = &mut context.network.options;
    options.timeout = transfer.timeout.unwrap_or(options.timeout);
    options.retry_policy.connect = transfer.connect_timeout.unwrap_or(options.retry_policy.connect);
    context
}

fn who(bucket: &BucketUrl, fragment: &UrlFragment, context: &CloudContext) -> Option<String> {
    let settings = (!context.network.options.settings.is_empty())
        .then(|| context.network.connections.mark(&context.network.options.settings));
    let profile = || fragment.profile().map(|(_, name)| name.to_owned());
    settings.or_else(profile).or_else(|| bucket.alias.clone())
}

impl ProviderClient {
    fn of<S: ObjectStore + PaginatedListStore + MultipartStore>(store: S) -> Self {
        let store = Arc::new(store);
        let (objects, pages) = (Arc::clone(&store) as Arc<dyn ObjectStore>, Arc::clone(&store) as _);
        Self {
            objects,
            pages,
            parts: store,
            who: None,
            server: String::new(),
            asking: None,
            transfer: TransferSettings::default(),
        }
    }
}

/// A client that signs nothing: requests are signed below it, when they are sent.
fn amazon(
    bucket: &BucketUrl,
    identity: &BucketIdentity,
    context: &CloudContext,
    client: HttpClient,
) -> object_store::Result<(AmazonS3, Option<BucketClient>)> {
    use AmazonS3ConfigKey as ConfigKey;
    let builder = AmazonS3Builder::new().with_bucket_name(&bucket.name).with_allow_http(true);
    let mut builder =
        configured("AWS_", context, builder, |builder, key, value| builder.with_config(key, value));
    let region = identity.region.as_ref().map(|region| region.value.as_str()).unwrap_or_default();
    let alias = bucket.alias.as_ref().and_then(|alias| context.network.config.host(alias));
    let has_bucket_in_host = match (alias, &bucket.endpoint) {
        (Some(host), _) => host.virtual_hosted,
        (None, Some(_)) => false,
        (None, None) => is_yes(builder.get_config_value(&ConfigKey::VirtualHostedStyleRequest)),
    };
    let signs_payload = !is_yes(builder.get_config_value(&ConfigKey::UnsignedPayload));
    let is_express = is_yes(builder.get_config_value(&ConfigKey::S3Express));
    let signer = BucketSigner::new(identity, &bucket.address(), client.clone(), context, signs_payload);
    builder = builder.with_region(region).with_virtual_hosted_style_request(has_bucket_in_host);
    builder = builder.with_credentials(Arc::new(signer.clone())).with_retry(no_retries());
    if is_express {
        // These have sessions of their own, which the client signs with.
        return Ok((builder.with_http_connector(FixedConnector(client)).build()?, None));
    }
    let server = endpoint(&identity.endpoint.value, &bucket.name, has_bucket_in_host);
    let address = if has_bucket_in_host { server.clone() } else { format!("{server}/{}", bucket.name) };
    let asking = BucketClient::new(address, signer.connect(&ClientOptions::default())?);
    let builder = builder.with_config(ConfigKey::S3Endpoint, server).with_skip_signature(true);
    Ok((builder.with_http_connector(signer).build()?, Some(asking)))
}

/// The server, with the bucket in the host name where needed.
fn endpoint(server: &str, bucket: &str, has_bucket_in_host: bool) -> String {
    match server.split_once("://") {
        Some((scheme, host)) if has_bucket_in_host && !host.starts_with(&format!("{bucket}.")) => {
            format!("{scheme}://{bucket}.{host}")
        }
        _ => server.to_owned(),
    }
}

fn google(
    bucket: &BucketUrl,
    identity: &BucketIdentity,
    context: &CloudContext,
    connector: PooledConnector,
) -> GoogleCloudStorageBuilder {
    let builder = GoogleCloudStorageBuilder::new().with_bucket_name(&bucket.name);
    let mut builder =
        configured("GOOGLE_", context, builder, |builder, key, value| builder.with_config(key, value));
    let is_named = builder.get_config_value(&GoogleConfigKey::ApplicationCredentials).is_some();
    if let Some(path) = google_file(context).filter(|_| !is_named && !identity.anonymous) {
        builder = builder.with_application_credentials(path.display().to_string());
    }
    if let Some(endpoint) = &bucket.endpoint {
        builder = builder.with_config(GoogleConfigKey::BaseUrl, endpoint);
    }
    let builder = builder.with_skip_signature(identity.anonymous);
    builder.with_retry(no_retries()).with_http_connector(connector)
}

fn azure(bucket: &BucketUrl, identity: &BucketIdentity, context: &CloudContext) -> MicrosoftAzureBuilder {
    let builder = MicrosoftAzureBuilder::new().with_container_name(&bucket.name).with_allow_http(true);
    let mut builder =
        configured("AZURE_", context, builder, |builder, key, value| builder.with_config(key, value));
    if let Some(account) = &bucket.account {
        builder = builder.with_account(account);
    }
    if let Some(endpoint) = &bucket.endpoint {
        builder = builder.with_endpoint(endpoint.clone());
    }
    let builder = builder.with_skip_signature(identity.anonymous);
    builder.with_retry(no_retries())
}

/// What the provider's own client reads from variables and from settings of the program; the latter take precedence.
fn configured<B, K: FromStr>(
    prefix: &str,
    context: &CloudContext,
    builder: B,
    set: impl Fn(B, K, &str) -> B,
) -> B {
    let variables = context.network.config.environment().variables(prefix);
    let settings =
        context.network.options.settings.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let keys = variables
        .chain(settings)
        .filter_map(|(name, value)| Some((name.to_ascii_lowercase().parse::<K>().ok()?, value)));
    keys.fold(builder, |builder, (key, value)| set(builder, key, value))
}

fn is_yes(value: Option<String>) -> bool {
    value.is_some_and(|value| ["true", "1", "yes", "on"].iter().any(|yes| value.eq_ignore_ascii_case(yes)))
}

/// Retries happen below, in the connector of all stores.
fn no_retries() -> RetryConfig {
    RetryConfig { max_retries: 0, ..RetryConfig::default() }
}

#[cfg(test)]
mod tests;

//! Making clients of the providers.
use super::asking::BucketClient;
use super::identity::{BucketIdentity, BucketSigner, FixedConnector, SharedKey, google_file};
use crate::StoreOptions;
use crate::config::TransferSettings;
use crate::net::PooledConnector;
use crate::url::{BucketUrl, CloudProvider, UrlFragment};
use ncirrus_layout::{Error, Result};
use object_store::aws::{AmazonS3, AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::client::{HttpClient, HttpConnector};
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::list::PaginatedListStore;
use object_store::multipart::MultipartStore;
use object_store::{ClientOptions, ObjectStore, RetryConfig};
use std::str::FromStr;
use std::sync::Arc;

/// A client of a provider, seen in three ways.
pub(super) struct ProviderClient {
    pub(super) objects: Arc<dyn ObjectStore>,
    pub(super) pages: Arc<dyn PaginatedListStore>,
    pub(super) parts: Arc<dyn MultipartStore>,
    /// Who asks, where it is not whom the environment names: two users never share a cache.
    pub(super) who: Option<String>,
    /// The server that is asked.
    pub(super) server: String,
    /// For what the client does not know to ask, at Amazon and its kin.
    pub(super) asking: Option<BucketClient>,
    /// What the configuration says of the server.
    pub(super) transfer: TransferSettings,
}

pub(super) fn connect(
    bucket: &BucketUrl,
    fragment: &UrlFragment,
    options: &StoreOptions,
) -> Result<ProviderClient> {
    let transfer = transfer(bucket, options);
    let options = &with_waits(options, &transfer);
    let identity = BucketIdentity::resolve(bucket, fragment, options)?;
    identity.warnings.iter().for_each(|warning| options.identities.note(warning.clone()));
    let service = options.connections.service(options, (&bucket.address(), super::AT_ONCE))?;
    let built = match bucket.provider {
        CloudProvider::S3 => amazon(bucket, &identity, options, HttpClient::new(service))
            .map(|(store, asking)| ProviderClient { asking, ..ProviderClient::of(store) }),
        CloudProvider::Gcs => {
            google(bucket, &identity, options, PooledConnector(service)).build().map(ProviderClient::of)
        }
        CloudProvider::Azure => {
            let builder = azure(bucket, &identity, options);
            let is_emulator = is_yes(builder.get_config_value(&AzureConfigKey::UseEmulator));
            if builder.get_config_value(&AzureConfigKey::AccountName).is_none() && !is_emulator {
                return Err(Error::invalid(NO_ACCOUNT));
            }
            let key = builder.get_config_value(&AzureConfigKey::AccessKey);
            let key = key.or_else(|| is_emulator.then(|| EMULATOR_KEY.to_owned()));
            let (client, known) = (HttpClient::new(service), options.identities.clone());
            let signer = SharedKey::new(client, key.as_deref(), known, &bucket.address());
            builder.with_http_connector(signer).build().map(ProviderClient::of)
        }
    };
    // The message names settings, not their values.
    let built = built.map_err(|error| Error::invalid(format!("object store cannot be used: {error}")))?;
    let (who, server) = (who(bucket, fragment, options), identity.endpoint.value);
    Ok(ProviderClient { who, server, transfer, ..built })
}

/// The key that every emulator of Azure has.
const EMULATOR_KEY: &str =
    "Eby8vdM02xNOcqFlUqwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

const NO_ACCOUNT: &str = "no account is named: abfs://container@account.dfs.core.windows.net/key names one, AZURE_STORAGE_ACCOUNT_NAME, too";

/// What the configuration says of the server of a bucket, by its alias or its address.
fn transfer(bucket: &BucketUrl, options: &StoreOptions) -> TransferSettings {
    let by_alias = bucket.alias.as_ref().and_then(|alias| options.config.host(alias));
    let by_address = || Some(options.config.host_at(bucket.endpoint.as_ref()?)?.1);
    by_alias.or_else(by_address).map(|host| host.transfer.clone()).unwrap_or_default()
}

/// The options with the waits that a server has of its own.
fn with_waits(options: &StoreOptions, transfer: &TransferSettings) -> StoreOptions {
    let mut options = options.clone();
    options.timeout = transfer.timeout.unwrap_or(options.timeout);
    options.patience.connect = transfer.connect_timeout.unwrap_or(options.patience.connect);
    options
}

fn who(bucket: &BucketUrl, fragment: &UrlFragment, options: &StoreOptions) -> Option<String> {
    let settings = (!options.settings.is_empty()).then(|| options.connections.mark(&options.settings));
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
    options: &StoreOptions,
    client: HttpClient,
) -> object_store::Result<(AmazonS3, Option<BucketClient>)> {
    use AmazonS3ConfigKey as ConfigKey;
    let builder = AmazonS3Builder::new().with_bucket_name(&bucket.name).with_allow_http(true);
    let mut builder =
        configured("AWS_", options, builder, |builder, key, value| builder.with_config(key, value));
    let region = identity.region.as_ref().map(|region| region.value.as_str()).unwrap_or_default();
    let alias = bucket.alias.as_ref().and_then(|alias| options.config.host(alias));
    let has_bucket_in_host = match (alias, &bucket.endpoint) {
        (Some(host), _) => host.virtual_hosted,
        (None, Some(_)) => false,
        (None, None) => is_yes(builder.get_config_value(&ConfigKey::VirtualHostedStyleRequest)),
    };
    let signs_payload = !is_yes(builder.get_config_value(&ConfigKey::UnsignedPayload));
    let is_express = is_yes(builder.get_config_value(&ConfigKey::S3Express));
    let signer = BucketSigner::new(identity, &bucket.address(), client.clone(), options, signs_payload);
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

/// The server, with the bucket in front where it belongs there.
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
    options: &StoreOptions,
    connector: PooledConnector,
) -> GoogleCloudStorageBuilder {
    let builder = GoogleCloudStorageBuilder::new().with_bucket_name(&bucket.name);
    let mut builder =
        configured("GOOGLE_", options, builder, |builder, key, value| builder.with_config(key, value));
    let is_named = builder.get_config_value(&GoogleConfigKey::ApplicationCredentials).is_some();
    if let Some(path) = google_file(options).filter(|_| !is_named && !identity.anonymous) {
        builder = builder.with_application_credentials(path.display().to_string());
    }
    if let Some(endpoint) = &bucket.endpoint {
        builder = builder.with_config(GoogleConfigKey::BaseUrl, endpoint);
    }
    let builder = builder.with_skip_signature(identity.anonymous);
    builder.with_retry(no_retries()).with_http_connector(connector)
}

fn azure(bucket: &BucketUrl, identity: &BucketIdentity, options: &StoreOptions) -> MicrosoftAzureBuilder {
    let builder = MicrosoftAzureBuilder::new().with_container_name(&bucket.name).with_allow_http(true);
    let mut builder =
        configured("AZURE_", options, builder, |builder, key, value| builder.with_config(key, value));
    if let Some(account) = &bucket.account {
        builder = builder.with_account(account);
    }
    if let Some(endpoint) = &bucket.endpoint {
        builder = builder.with_endpoint(endpoint.clone());
    }
    let builder = builder.with_skip_signature(identity.anonymous);
    builder.with_retry(no_retries())
}

/// What the provider's own client knows of variables and of settings of the program; these go first.
fn configured<B, K: FromStr>(
    prefix: &str,
    options: &StoreOptions,
    builder: B,
    set: impl Fn(B, K, &str) -> B,
) -> B {
    let variables = options.config.environment().variables(prefix);
    let settings = options.settings.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let keys = variables
        .chain(settings)
        .filter_map(|(name, value)| Some((name.to_ascii_lowercase().parse::<K>().ok()?, value)));
    keys.fold(builder, |builder, (key, value)| set(builder, key, value))
}

fn is_yes(value: Option<String>) -> bool {
    value.is_some_and(|value| ["true", "1", "yes", "on"].iter().any(|yes| value.eq_ignore_ascii_case(yes)))
}

/// Requests are made again below, by the connector of all stores.
fn no_retries() -> RetryConfig {
    RetryConfig { max_retries: 0, ..RetryConfig::default() }
}

#[cfg(test)]
mod tests;

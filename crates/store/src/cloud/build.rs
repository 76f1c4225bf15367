//! Making clients of the providers.
use super::profile::{self, Profile};
use crate::net::Connector;
use crate::url::{Bucket, Fragment, Provider};
use crate::{Credentials, StoreOptions};
use ncirrus_layout::{Error, Result};
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::list::PaginatedListStore;
use object_store::multipart::MultipartStore;
use object_store::{ObjectStore, RetryConfig};
use std::env;
use std::path::Path;
use std::sync::Arc;

/// A client of a provider, seen in three ways.
pub(super) struct Built {
    pub(super) objects: Arc<dyn ObjectStore>,
    pub(super) pages: Arc<dyn PaginatedListStore>,
    pub(super) parts: Arc<dyn MultipartStore>,
}

pub(super) fn connect(bucket: &Bucket, fragment: &Fragment, options: &StoreOptions) -> Result<Built> {
    let connector = Connector(options.connections.service(options)?);
    let built = match bucket.provider {
        Provider::S3 => amazon(bucket, fragment, options, connector)?.build().map(Built::of),
        Provider::Gcs => google(bucket, options, connector).build().map(Built::of),
        Provider::Azure => azure(bucket, options, connector).build().map(Built::of),
    };
    // The message names settings, not their values.
    built.map_err(|error| Error::invalid(format!("object store cannot be used: {error}")))
}

impl Built {
    fn of<S: ObjectStore + PaginatedListStore + MultipartStore>(store: S) -> Self {
        let store = Arc::new(store);
        let (objects, pages) = (Arc::clone(&store) as Arc<dyn ObjectStore>, Arc::clone(&store) as _);
        Self { objects, pages, parts: store }
    }
}

/// Settings of the bucket's URL go before those of the options, these before the environment, that before the profile
/// (`nczarr.md` 9.4, 9.5, with the order that every other tool has).
fn amazon(
    bucket: &Bucket,
    fragment: &Fragment,
    options: &StoreOptions,
    connector: Connector,
) -> Result<AmazonS3Builder> {
    let named = fragment.value("aws.profile").map(str::to_owned).or_else(|| env::var("AWS_PROFILE").ok());
    let is_nobody = matches!(named.as_deref(), Some("no" | "none"));
    let profile = match &named {
        Some(name) if !is_nobody => profile::find(name, fragment.value("aws.profile").is_some())?,
        _ => profile::find("default", false)?,
    };
    let mut builder = AmazonS3Builder::from_env().with_bucket_name(&bucket.name).with_allow_http(true);
    let from_environment = has_any(AMAZON);
    if let Some(profile) = profile.as_ref().filter(|_| !is_nobody) {
        builder =
            with_profile(builder, profile, fragment.value("aws.profile").is_some() || !from_environment);
    }
    for (name, value) in &options.settings {
        if let Ok(key) = name.to_ascii_lowercase().parse::<AmazonS3ConfigKey>() {
            builder = builder.with_config(key, value);
        }
    }
    if let Some(region) = &bucket.region {
        builder = builder.with_region(region);
    }
    if let Some(endpoint) = &bucket.endpoint {
        builder = builder.with_endpoint(endpoint).with_virtual_hosted_style_request(false);
    }
    let known =
        from_environment || profile.is_some_and(|profile| profile.value("aws_access_key_id").is_some());
    if is_nobody || is_anonymous(options, known) {
        builder = builder.with_skip_signature(true);
    }
    Ok(builder.with_retry(no_retries()).with_http_connector(connector))
}

fn with_profile(mut builder: AmazonS3Builder, profile: &Profile, with_keys: bool) -> AmazonS3Builder {
    use AmazonS3ConfigKey as Key;
    let keys = [
        ("aws_access_key_id", Key::AccessKeyId),
        ("aws_secret_access_key", Key::SecretAccessKey),
        ("aws_session_token", Key::Token),
    ];
    for (name, key) in keys.into_iter().filter(|_| with_keys) {
        if let Some(value) = profile.value(name) {
            builder = builder.with_config(key, value);
        }
    }
    let has_region = env::var_os("AWS_REGION").is_some() || env::var_os("AWS_DEFAULT_REGION").is_some();
    if let Some(region) = profile.value("region").or(profile.value("aws_region")).filter(|_| !has_region) {
        builder = builder.with_region(region);
    }
    match profile.value("endpoint_url").filter(|_| env::var_os("AWS_ENDPOINT_URL").is_none()) {
        Some(endpoint) => builder.with_endpoint(endpoint),
        None => builder,
    }
}

fn google(bucket: &Bucket, options: &StoreOptions, connector: Connector) -> GoogleCloudStorageBuilder {
    let mut builder = GoogleCloudStorageBuilder::from_env().with_bucket_name(&bucket.name);
    for (name, value) in &options.settings {
        if let Ok(key) = name.to_ascii_lowercase().parse::<GoogleConfigKey>() {
            builder = builder.with_config(key, value);
        }
    }
    if let Some(endpoint) = &bucket.endpoint {
        builder = builder.with_config(GoogleConfigKey::BaseUrl, endpoint);
    }
    let home = env::home_dir().unwrap_or_default();
    let known = has_any(GOOGLE) || home.join(GOOGLE_FILE).is_file();
    let builder = builder.with_skip_signature(is_anonymous(options, known));
    builder.with_retry(no_retries()).with_http_connector(connector)
}

fn azure(bucket: &Bucket, options: &StoreOptions, connector: Connector) -> MicrosoftAzureBuilder {
    let mut builder =
        MicrosoftAzureBuilder::from_env().with_container_name(&bucket.name).with_allow_http(true);
    for (name, value) in &options.settings {
        if let Ok(key) = name.to_ascii_lowercase().parse::<AzureConfigKey>() {
            builder = builder.with_config(key, value);
        }
    }
    if let Some(account) = &bucket.account {
        builder = builder.with_account(account);
    }
    if let Some(endpoint) = &bucket.endpoint {
        builder = builder.with_endpoint(endpoint.clone());
    }
    let builder = builder.with_skip_signature(is_anonymous(options, has_any(AZURE)));
    builder.with_retry(no_retries()).with_http_connector(connector)
}

/// Environment variables that mean that somebody is known.
const AMAZON: &[&str] = &[
    "AWS_ACCESS_KEY_ID",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
];
const GOOGLE: &[&str] = &[
    "GOOGLE_SERVICE_ACCOUNT",
    "GOOGLE_SERVICE_ACCOUNT_PATH",
    "GOOGLE_SERVICE_ACCOUNT_KEY",
    "GOOGLE_APPLICATION_CREDENTIALS",
];
const AZURE: &[&str] = &[
    "AZURE_STORAGE_ACCOUNT_KEY",
    "AZURE_STORAGE_ACCESS_KEY",
    "AZURE_STORAGE_KEY",
    "AZURE_STORAGE_SAS_TOKEN",
    "AZURE_STORAGE_SAS_KEY",
    "AZURE_STORAGE_TOKEN",
    "AZURE_STORAGE_CLIENT_ID",
    "AZURE_CLIENT_ID",
    "AZURE_FEDERATED_TOKEN_FILE",
];
/// Where Google's tools keep who is known, below the home directory.
const GOOGLE_FILE: &str = ".config/gcloud/application_default_credentials.json";

fn has_any(names: &[&str]) -> bool {
    names.iter().any(|name| env::var_os(name).is_some_and(|value| !value.is_empty()))
}

/// Whether requests are not signed. Settings count as knowing somebody.
fn is_anonymous(options: &StoreOptions, known: bool) -> bool {
    let has_settings = options.settings.keys().any(|name| {
        let name = name.to_ascii_lowercase();
        ["key", "token", "secret", "service_account", "client_id"].iter().any(|part| name.contains(part))
    });
    match options.credentials {
        Credentials::Anonymous => true,
        Credentials::Chain => false,
        Credentials::Auto => !known && !has_settings,
    }
}

/// Requests are made again below, by the connector of all stores.
fn no_retries() -> RetryConfig {
    RetryConfig { max_retries: 0, ..RetryConfig::default() }
}

/// A file below the home directory, unless an environment variable names another.
pub(super) fn configuration_file(variable: &str, default: &str) -> Option<std::path::PathBuf> {
    match env::var_os(variable) {
        Some(path) => Some(path.into()),
        None => env::home_dir().map(|home| home.join(Path::new(default))),
    }
}

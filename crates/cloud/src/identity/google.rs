//! Credentials for Google Cloud Storage: those that Google's own client finds, otherwise anonymous.
use super::bucket::{self, BucketIdentity, SourcedValue};
use super::context::CloudContext;
use ncirrus_store::{BucketUrl, Credentials};
use std::path::PathBuf;

/// Variables that provide credentials.
const VARIABLES: [&str; 5] = [
    "GOOGLE_BEARER_TOKEN",
    "GOOGLE_SERVICE_ACCOUNT",
    "GOOGLE_SERVICE_ACCOUNT_PATH",
    "GOOGLE_SERVICE_ACCOUNT_KEY",
    "GOOGLE_APPLICATION_CREDENTIALS",
];
/// Where Google's tools store credentials, below the home folder.
const FILE: &str = ".config/gcloud/application_default_credentials.json";

pub(super) fn resolve(bucket: &BucketUrl, context: &CloudContext) -> BucketIdentity {
    let environment = context.network.config.environment();
    let given = bucket::given(context, &["service_account", "credentials", "bearer_token"]);
    let variable = VARIABLES.into_iter().find(|name| environment.variable(name).is_some());
    let (what, why) = match (context.network.options.credentials, given, variable, file(context)) {
        (Credentials::Anonymous, ..) => (None, "the program".to_owned()),
        (_, true, ..) => (Some("a Google account"), "the program".to_owned()),
        (_, _, Some(name), _) => (Some("a Google account"), name.to_owned()),
        (_, _, None, Some(path)) => (Some("a Google account"), path.display().to_string()),
        (Credentials::Chain, ..) => (Some("the machine's own identity"), "the program".to_owned()),
        (Credentials::Auto, ..) => (None, "no credentials were found".to_owned()),
    };
    let endpoint = match (&bucket.endpoint, bucket::setting(context, "google_base_url")) {
        (Some(server), _) => SourcedValue::new(server.as_str(), "the url"),
        (None, Some((server, why))) => SourcedValue::new(server, why),
        (None, None) => SourcedValue::new("https://storage.googleapis.com", "Google's own"),
    };
    bucket::of_provider(endpoint, what, why)
}

/// The file of Google's tools, if it exists.
pub(crate) fn file(context: &CloudContext) -> Option<PathBuf> {
    let path = context.network.config.environment().home()?.join(FILE);
    path.is_file().then_some(path)
}

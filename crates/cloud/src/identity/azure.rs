//! Credentials for Azure Blob Storage: those that Azure's own client finds, otherwise anonymous.
use super::bucket::{self, BucketIdentity, SourcedValue};
use super::context::CloudContext;
use ncirrus_store::{BucketUrl, Credentials};

/// Variables that provide credentials, and what they are.
const VARIABLES: [(&str, &str); 9] = [
    ("AZURE_STORAGE_ACCOUNT_KEY", "the account's key"),
    ("AZURE_STORAGE_ACCESS_KEY", "the account's key"),
    ("AZURE_STORAGE_KEY", "the account's key"),
    ("AZURE_STORAGE_SAS_TOKEN", "a shared access signature"),
    ("AZURE_STORAGE_SAS_KEY", "a shared access signature"),
    ("AZURE_STORAGE_TOKEN", "a bearer token"),
    ("AZURE_STORAGE_CLIENT_ID", "an application registration (client secret)"),
    ("AZURE_CLIENT_ID", "an application registration (client secret)"),
    ("AZURE_FEDERATED_TOKEN_FILE", "a web identity token"),
];

pub(super) fn resolve(bucket: &BucketUrl, context: &CloudContext) -> BucketIdentity {
    let environment = context.network.config.environment();
    let given = bucket::given(context, &["key", "token", "client_id"]);
    let variable = VARIABLES.into_iter().find(|(name, _)| environment.variable(name).is_some());
    let (what, why) = match (context.network.options.credentials, given, variable) {
        (Credentials::Anonymous, ..) => (None, "the program".to_owned()),
        (_, true, _) => (Some("an Azure account"), "the program".to_owned()),
        (_, _, Some((name, what))) => (Some(what), name.to_owned()),
        (Credentials::Chain, ..) => (Some("the machine's own identity"), "the program".to_owned()),
        (Credentials::Auto, ..) => (None, "no credentials were found".to_owned()),
    };
    bucket::of_provider(endpoint(bucket, context), what, why)
}

fn endpoint(bucket: &BucketUrl, context: &CloudContext) -> SourcedValue<String> {
    if let Some(server) = &bucket.endpoint {
        return SourcedValue::new(server.as_str(), "the url");
    }
    if let Some((server, why)) = bucket::setting(context, "azure_storage_endpoint") {
        return SourcedValue::new(server, why);
    }
    let account = match &bucket.account {
        Some(account) => Some((account.clone(), "the url".to_owned())),
        None => bucket::setting(context, "azure_storage_account_name"),
    };
    match account {
        Some((account, why)) => SourcedValue::new(format!("https://{account}.blob.core.windows.net"), why),
        None => SourcedValue::new("", "no account is given"),
    }
}

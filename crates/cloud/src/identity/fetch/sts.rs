//! Assumed roles (`AssumeRole`).
use super::super::source::{AssumedRole, StaticKeys};
use super::TokenClient;
use super::answer::{FreshCredentials, ask_signed, request, seconds};
use crate::xml;
use ncirrus_layout::{Error, ErrorKind, Result};
use ncirrus_store::query_encoded;
use object_store::aws::{AwsAuthorizer, AwsCredential};
use std::time::{SystemTime, UNIX_EPOCH};

/// Requests credentials of a role, signed with other credentials.
pub(super) async fn assume(
    role: &AssumedRole,
    base: &AwsCredential,
    code: Option<&str>,
    token_client: &TokenClient,
) -> Result<FreshCredentials> {
    let region = role.region.as_deref().unwrap_or(&token_client.region);
    let server = match token_client.environment.variable("AWS_ENDPOINT_URL_STS") {
        Some(server) => server.trim_end_matches('/').to_owned(),
        None => format!("https://sts.{region}.amazonaws.com"),
    };
    let mut request = request(&format!("{server}/?{}", query(role, code)))?;
    let who = format!("role {}", role.arn);
    let failed = |why: &str| Error::new(ErrorKind::Denied, format!("no credentials from {who}: {why}"));
    let signed = AwsAuthorizer::new(base, "sts", region).try_authorize(&mut request, None);
    signed.map_err(|_| failed("the request cannot be signed"))?;
    let (status, text) = ask_signed(request, base, (region, "sts"), token_client, &who).await?;
    match read(&text).filter(|_| status.is_success()) {
        Some(fresh) => Ok(fresh),
        None => {
            let code = xml::word(&text, "Code");
            Err(failed(code.as_deref().unwrap_or("the answer does not contain credentials")))
        }
    }
}

fn query(role: &AssumedRole, code: Option<&str>) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let session = role.session.clone().unwrap_or_else(|| format!("ncirrus-{now}"));
    let mut fields = vec![
        ("Action", "AssumeRole"),
        ("RoleArn", &role.arn),
        ("RoleSessionName", &session),
        ("Version", "2011-06-15"),
    ];
    fields.extend(role.duration.as_deref().map(|duration| ("DurationSeconds", duration)));
    fields.extend(role.external_id.as_deref().map(|id| ("ExternalId", id)));
    fields.extend(role.device.as_deref().map(|device| ("SerialNumber", device)));
    fields.extend(code.map(|code| ("TokenCode", code)));
    fields.sort_unstable();
    let fields: Vec<String> =
        fields.iter().map(|(name, value)| format!("{name}={}", query_encoded(value))).collect();
    fields.join("&")
}

fn read(text: &str) -> Option<FreshCredentials> {
    let answer = xml::parse(text)?;
    let found = answer.find("Credentials")?;
    let value = |name: &str| found.text_of(name).map(str::trim);
    let keys =
        StaticKeys::new(value("AccessKeyId")?, value("SecretAccessKey")?, value("SessionToken")).ok()?;
    Some(FreshCredentials::new(&keys, Some(seconds(value("Expiration")?)?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_whole_or_not_at_all() {
        let text = "<AssumeRoleResponse><AssumeRoleResult><Credentials><AccessKeyId>ASIA</AccessKeyId>\
            <SecretAccessKey>hunter2/+=</SecretAccessKey><SessionToken>t</SessionToken>\
            <Expiration>2030-01-02T03:04:05Z</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>";
        let fresh = read(text).unwrap();
        assert_eq!(
            (fresh.credential.key_id.as_str(), fresh.credential.token.as_deref()),
            ("ASIA", Some("t"))
        );
        for end in 0..text.len() {
            assert!(read(&text[..end]).is_none());
        }
    }

    #[test]
    fn names_of_roles_are_escaped() {
        assert_eq!(query_encoded("arn:aws:iam::1:role/a b"), "arn%3Aaws%3Aiam%3A%3A1%3Arole%2Fa%20b");
    }
}

//! Roles that require an MFA code (`mfa_serial`).
use super::super::source::AssumedRole;
use super::TokenClient;
use super::answer::{FreshCredentials, keys_of};
use super::{MARGIN, cached};
use ncirrus_layout::{Error, ErrorKind, Result};
use serde_json::{Value as Json, json};
use std::fmt::Write;
use std::path::PathBuf;
use std::time::SystemTime;

/// Where Amazon's command line caches the credentials of roles.
const FOLDER: &str = ".aws/cli/cache";
const NAMES: [&str; 4] = ["AccessKeyId", "SecretAccessKey", "SessionToken", "Expiration"];

/// Cached credentials from this library or Amazon's command line, while they are valid.
pub(super) fn kept(role: &AssumedRole, token_client: &TokenClient) -> Option<FreshCredentials> {
    let text = token_client.environment.text(&path(role, token_client)?).ok()??;
    let json: Json = serde_json::from_str(&text).ok()?;
    keys_of(json.get("Credentials")?, NAMES).filter(|fresh| fresh.is_good(SystemTime::now() + MARGIN))
}

/// Caches credentials for other programs, so that no second code has to be typed.
pub(super) fn keep(role: &AssumedRole, token_client: &TokenClient, fresh: &FreshCredentials) {
    let (Some(path), Some(until)) = (path(role, token_client), fresh.until()) else { return };
    let keys = &fresh.credential;
    let keys = json!({
        "AccessKeyId": keys.key_id, "SecretAccessKey": keys.secret_key, "SessionToken": keys.token,
        "Expiration": until
    });
    // They are usable this time even if they cannot be cached.
    _ = cached::write(&path, &json!({ "Credentials": keys }));
}

/// Asks for a code.
pub(super) async fn code(role: &AssumedRole, device: &str, token_client: &TokenClient) -> Result<String> {
    let denied = |why: &str| {
        let message = format!("role {} requires a code from {device} (mfa_serial): {why}", role.arn);
        Error::new(ErrorKind::Denied, message)
    };
    let code = match token_client.codes.ask(device).await {
        Some(code) => code.map_err(|error| denied(error.message()))?,
        None => return Err(denied("no one is there to type it")),
    };
    let code = code.trim();
    let is_code = (6..=8).contains(&code.len()) && code.bytes().all(|byte| byte.is_ascii_digit());
    if is_code { Ok(code.to_owned()) } else { Err(denied("an MFA code has six digits")) }
}

fn path(role: &AssumedRole, token_client: &TokenClient) -> Option<PathBuf> {
    cached::path(&token_client.environment, FOLDER, &name(role)?)
}

/// The text whose hash is the file name: the request, as Amazon's command line writes it (Python's `json.dumps` with
/// sorted keys).
fn name(role: &AssumedRole) -> Option<String> {
    let mut fields = Vec::new();
    if let Some(duration) = &role.duration {
        fields.push(("DurationSeconds", duration.parse::<u32>().ok()?.to_string()));
    }
    let texts = [
        ("ExternalId", role.external_id.as_deref()),
        ("RoleArn", Some(role.arn.as_str())),
        ("RoleSessionName", role.session.as_deref()),
        ("SerialNumber", role.device.as_deref()),
    ];
    fields.extend(texts.into_iter().filter_map(|(name, text)| Some((name, quoted(text?)))));
    let fields: Vec<String> = fields.iter().map(|(name, value)| format!("\"{name}\": {value}")).collect();
    Some(format!("{{{}}}", fields.join(", ")))
}

/// A JSON string as Python writes it: in ASCII.
fn quoted(text: &str) -> String {
    let mut out = String::new();
    for letter in Json::from(text).to_string().chars() {
        if letter.is_ascii() && letter != '\u{7f}' {
            out.push(letter);
            continue;
        }
        for unit in letter.encode_utf16(&mut [0; 2]) {
            _ = write!(out, "\\u{unit:04x}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::source::CredentialSource;

    #[test]
    fn files_of_roles_are_named_after_the_request() {
        let mut role = AssumedRole {
            arn: "arn:aws:iam::1:role/r".to_owned(),
            session: None,
            external_id: None,
            duration: None,
            region: None,
            device: Some("arn:aws:iam::1:mfa/me".to_owned()),
            base: CredentialSource::Anonymous,
        };
        let short = "{\"RoleArn\": \"arn:aws:iam::1:role/r\", \"SerialNumber\": \"arn:aws:iam::1:mfa/me\"}";
        assert_eq!(name(&role).unwrap(), short);
        role.session = Some("s".to_owned());
        role.external_id = Some("\"\u{e9}\u{1f600}\u{7f}\n".to_owned());
        role.duration = Some("900".to_owned());
        let long = "{\"DurationSeconds\": 900, \"ExternalId\": \"\\\"\\u00e9\\ud83d\\ude00\\u007f\\n\", \
            \"RoleArn\": \"arn:aws:iam::1:role/r\", \"RoleSessionName\": \"s\", \
            \"SerialNumber\": \"arn:aws:iam::1:mfa/me\"}";
        assert_eq!(name(&role).unwrap(), long);
    }
}

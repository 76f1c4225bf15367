//! Credentials of somebody who signed in by the browser (`aws sso login`).
use super::super::source::Sso;
use super::Asker;
use super::answer::{Fresh, ask, keys_of, request, seconds, with_secret};
use super::sts::escaped;
use crate::config::{Environment, Secret};
use ncirrus_layout::{Error, ErrorKind, Result};
use serde_json::Value as Json;
use std::time::{SystemTime, UNIX_EPOCH};

/// Asks for the credentials of a role with the token that the sign-in left behind.
pub(super) async fn fetch(sso: &Sso, asker: &Asker) -> Result<Fresh> {
    let who = format!("single sign-on ({})", sso.name);
    let failed = |why: &str| {
        let hint = format!("sign in with `aws sso login --profile {}`", sso.profile);
        Error::new(ErrorKind::Denied, format!("no credentials from {who}: {why}; {hint}"))
    };
    let token = token(sso, &asker.environment).map_err(|why| failed(&why))?;
    let server = match asker.environment.variable("AWS_ENDPOINT_URL_SSO") {
        Some(server) => server.trim_end_matches('/').to_owned(),
        None => format!("https://portal.sso.{}.amazonaws.com", sso.region),
    };
    let query = format!("account_id={}&role_name={}", escaped(&sso.account), escaped(&sso.role));
    let mut request = request(&format!("{server}/federation/credentials?{query}"))?;
    with_secret(&mut request, "x-amz-sso_bearer_token", token.exposed())?;
    let (is_good, text) = ask(request, asker, &who).await?;
    let json: Json = serde_json::from_str(&text).unwrap_or_default();
    let names = ["accessKeyId", "secretAccessKey", "sessionToken", "expiration"];
    let found = json.get("roleCredentials").and_then(|keys| keys_of(keys, names)).filter(|_| is_good);
    found.ok_or_else(|| failed("the sign-in is not accepted"))
}

/// The token of a sign-in that is not over.
fn token(sso: &Sso, environment: &Environment) -> std::result::Result<Secret, String> {
    let home = environment.home().ok_or("there is no home folder")?;
    let path = home.join(".aws/sso/cache").join(format!("{}.json", sha1(&sso.name)));
    let text = environment.text(&path)?.ok_or("nobody signed in")?;
    let json: Json = serde_json::from_str(&text).map_err(|_| format!("{} is broken", path.display()))?;
    let value = |name: &str| json.get(name).and_then(Json::as_str);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let is_over =
        value("expiresAt").and_then(seconds).is_none_or(|until| u64::try_from(until).unwrap_or(0) <= now);
    match value("accessToken") {
        Some(_) if is_over => Err("the sign-in is over".to_owned()),
        Some(token) => Ok(Secret::new(token)),
        None => Err(format!("{} has no token", path.display())),
    }
}

/// What the file of the token is named after.
fn sha1(text: &str) -> String {
    let digest = ring::digest::digest(&ring::digest::SHA1_FOR_LEGACY_USE_ONLY, text.as_bytes());
    digest.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_tokens_are_named_as_amazon_names_them() {
        assert_eq!(sha1("abc"), "a9993e364706816aba3e25717850c26c9cd0d89d");
    }
}

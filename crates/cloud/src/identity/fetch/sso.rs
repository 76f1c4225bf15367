//! Credentials of a browser sign-in (`aws sso login`).
use super::super::source::SsoLogin;
use super::TokenClient;
use super::answer::{FreshCredentials, ask, keys_of, request, seconds, time, with_secret};
use super::cached;
use ncirrus_config::{ProcessEnvironment, SecretText};
use ncirrus_layout::{Error, ErrorKind, Result};
use ncirrus_store::query_encoded;
use object_store::HeaderValue;
use object_store::client::HttpRequestBody;
use reqwest::header::CONTENT_TYPE;
use reqwest::{Method, StatusCode};
use serde_json::{Value as Json, json};
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

/// Where Amazon's tools cache the tokens of sign-ins.
const FOLDER: &str = ".aws/sso/cache";

/// Requests the credentials of a role with the token of the sign-in.
pub(super) async fn fetch(sso: &SsoLogin, token_client: &TokenClient) -> Result<FreshCredentials> {
    let who = format!("single sign-on ({})", sso.name);
    let failed = |why: &str| {
        let hint = format!("sign in with `aws sso login --profile {}`", sso.profile);
        Error::new(ErrorKind::Denied, format!("no credentials from {who}: {why}; {hint}"))
    };
    let mut sign_in = SignIn::read(sso, &token_client.environment).map_err(|why| failed(&why))?;
    let was_over = sign_in.is_over("expiresAt");
    let token = sign_in.token(sso, token_client).await.map_err(|why| failed(&why))?;
    let (mut status, mut text) = credentials(sso, &token, token_client, &who).await?;
    // A token may be revoked before it expires.
    if status == StatusCode::UNAUTHORIZED && !was_over {
        let token = sign_in.renew(sso, token_client).await.map_err(|why| failed(&why))?;
        (status, text) = credentials(sso, &token, token_client, &who).await?;
    }
    let json: Json = serde_json::from_str(&text).unwrap_or_default();
    let names = ["accessKeyId", "secretAccessKey", "sessionToken", "expiration"];
    let found = json.get("roleCredentials").and_then(|keys| keys_of(keys, names));
    found.filter(|_| status.is_success()).ok_or_else(|| failed("the sign-in was not accepted"))
}

/// The portal's answer to a request with that token.
async fn credentials(
    sso: &SsoLogin,
    token: &SecretText,
    token_client: &TokenClient,
    who: &str,
) -> Result<(StatusCode, String)> {
    let server = server(token_client, "AWS_ENDPOINT_URL_SSO", "portal.sso", sso);
    let query = format!("account_id={}&role_name={}", query_encoded(&sso.account), query_encoded(&sso.role));
    let mut request = request(&format!("{server}/federation/credentials?{query}"))?;
    with_secret(&mut request, "x-amz-sso_bearer_token", token.exposed())?;
    ask(request, token_client, who).await
}

fn server(token_client: &TokenClient, variable: &str, service: &str, sso: &SsoLogin) -> String {
    match token_client.environment.variable(variable) {
        Some(server) => server.trim_end_matches('/').to_owned(),
        None => format!("https://{service}.{}.amazonaws.com", sso.region),
    }
}

/// The cached result of a sign-in.
struct SignIn {
    path: PathBuf,
    content: Json,
}

impl SignIn {
    fn read(sso: &SsoLogin, environment: &ProcessEnvironment) -> std::result::Result<Self, String> {
        let path = cached::path(environment, FOLDER, &sso.name).ok_or("no home directory is known")?;
        let text = environment.text(&path)?.ok_or("no one has signed in")?;
        let content = serde_json::from_str(&text).map_err(|_| format!("{} is broken", path.display()))?;
        Ok(Self { path, content })
    }

    /// A token that is valid as far as is known: renewed if it has expired.
    async fn token(
        &mut self,
        sso: &SsoLogin,
        token_client: &TokenClient,
    ) -> std::result::Result<SecretText, String> {
        match self.text("accessToken") {
            None => Err(format!("{} has no token", self.path.display())),
            Some(token) if !self.is_over("expiresAt") => Ok(SecretText::new(token)),
            Some(_) => self.renew(sso, token_client).await,
        }
    }

    /// A new token, cached for other programs.
    async fn renew(
        &mut self,
        sso: &SsoLogin,
        token_client: &TokenClient,
    ) -> std::result::Result<SecretText, String> {
        let renewed = self.renewed(sso, token_client).await?;
        if let Json::Object(content) = &mut self.content {
            content.extend(renewed.0);
            // It is usable this time even if it cannot be cached.
            _ = cached::write(&self.path, &self.content);
        }
        Ok(renewed.1)
    }

    /// Requests a new token (`CreateToken` of OIDC with a refresh token): returns the changes to the file, and the
    /// token.
    async fn renewed(
        &self,
        sso: &SsoLogin,
        token_client: &TokenClient,
    ) -> std::result::Result<(serde_json::Map<String, Json>, SecretText), String> {
        const OVER: &str = "the sign-in has expired";
        let values = ["clientId", "clientSecret", "refreshToken"].map(|name| self.text(name));
        let [Some(id), Some(secret), Some(refresh)] = values else { return Err(OVER.to_owned()) };
        if self.text("registrationExpiresAt").is_some() && self.is_over("registrationExpiresAt") {
            return Err(OVER.to_owned());
        }
        let server = server(token_client, "AWS_ENDPOINT_URL_SSO_OIDC", "oidc", sso);
        let body = json!({
            "grantType": "refresh_token", "clientId": id, "clientSecret": secret, "refreshToken": refresh
        });
        let mut request = request(&format!("{server}/token")).map_err(|error| error.message().to_owned())?;
        *request.method_mut() = Method::POST;
        request.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        *request.body_mut() = HttpRequestBody::from(bytes::Bytes::from(body.to_string()));
        let requested = ask(request, token_client, "").await;
        let (status, text) =
            requested.map_err(|_| format!("{OVER}, and the service that renews it does not answer"))?;
        let mut answer: Json = serde_json::from_str(&text).unwrap_or_default();
        // Only a word is shown: the answer may contain secrets.
        let why = answer.get("error").and_then(Json::as_str).filter(|why| is_word(why));
        let refused = format!(
            "{OVER} and could not be renewed{}",
            why.map(|why| format!(" ({why})")).unwrap_or_default()
        );
        let until = answer.get("expiresIn").and_then(Json::as_i64).and_then(|lasts| now().checked_add(lasts));
        let token = answer.get("accessToken").and_then(Json::as_str).map(SecretText::new);
        let (true, Some(token), Some(until)) = (status.is_success(), token, until.and_then(time)) else {
            return Err(refused);
        };
        let mut changes = serde_json::Map::new();
        changes.insert("expiresAt".to_owned(), until.into());
        // The service may send a new token for the next renewal; without it the old one stays valid.
        for name in ["accessToken", "refreshToken"] {
            let value = answer.get_mut(name).map(Json::take).filter(Json::is_string);
            changes.extend(value.map(|value| (name.to_owned(), value)));
        }
        Ok((changes, token))
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.content.get(name).and_then(Json::as_str)
    }

    fn is_over(&self, name: &str) -> bool {
        self.text(name).and_then(seconds).is_none_or(|until| until <= now())
    }
}

/// Whether a text is just an error code.
fn is_word(text: &str) -> bool {
    text.len() < 40 && text.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'_')
}

fn now() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    i64::try_from(now).unwrap_or(i64::MAX)
}
